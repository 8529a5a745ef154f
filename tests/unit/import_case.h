/* import_case: imports bytes and checks the result. */
#ifndef HONE_IMPORT_CASE_H
#define HONE_IMPORT_CASE_H
#include "compiler/import/import.h"
#include "onnx_bytes.h"

struct loaded {
  hone_status status;
  struct graph *graph;
  struct model_file file;
  struct ctx ctx;
  struct arena *arena;
  int warnings;
  struct buf bytes;
  struct import_options options;
  bool has_own_limit;
};

static inline void count_warning(void *user, const char *message) {
  (void)message;
  ++*(int *)user;
}

/* Takes the bytes over. limit: one that is `most` (LIMIT_COUNT: none). */
static inline struct loaded load_within(struct buf *model, const struct import_options *options,
                                        int limit, int64_t most) {
  struct loaded l = {.bytes = *model, .has_own_limit = limit < LIMIT_COUNT};
  *model = (struct buf){0};
  if (options) l.options = *options;
  ctx_init(&l.ctx);
  if (limit < LIMIT_COUNT) l.ctx.limits[limit] = most;
  l.ctx.warn = count_warning;
  l.ctx.warn_user = &l.warnings;
  assert_int_equal(arena_create(&l.ctx, 0, &l.arena), HONE_OK);
  l.status = import_bytes(&l.ctx, l.arena, l.bytes.at ? l.bytes.at : (const uint8_t *)"", l.bytes.n,
                          options, &l.file, &l.graph);
  return l;
}

static inline struct loaded load(struct buf *model, const struct import_options *options) {
  return load_within(model, options, LIMIT_COUNT, 0);
}

static inline void unload(struct loaded *l) {
  model_file_close(&l->file);
  arena_destroy(l->arena);
  free(l->bytes.at);
}

/* A file, or (path NULL) bytes, read with each of the first `most` allocations refused once: that fails with the limit's
   error, and the rest as wanted. */
static inline void refuse_allocations(const char *path, const struct buf *bytes,
                                      const struct import_options *options, int most,
                                      hone_status wanted) {
  size_t enough = 1;
  struct import_options own = {0};
  if (options) own = *options;
  own.symbols = NULL; /* they would be of an arena that ends here */
  for (int attempts = 0; enough && attempts < most; attempts++) {
    struct ctx ctx;
    struct arena *arena;
    struct model_file file;
    struct graph *graph;
    ctx_init(&ctx);
    if (enough > (size_t)ctx.limits[LIMIT_arena_bytes]) return; /* nor is it had as things are */
    ctx.limits[LIMIT_arena_bytes] = (int64_t)enough;
    assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
    hone_status status =
        path ? import_model(&ctx, arena, path, &own, &file, &graph)
             : import_bytes(&ctx, arena, bytes->at ? bytes->at : (const uint8_t *)"", bytes->n,
                            &own, &file, &graph);
    const char *says = strstr(ctx.message, "memory of one phase exceeds ");
    if (!status) model_file_close(&file);
    if (says) {
      size_t limit;
      assert_int_equal(status, HONE_E_LIMIT);
      assert_int_equal(
          sscanf(says, "memory of one phase exceeds %zu bytes: it needs %zu", &limit, &enough), 2);
    } else {
      assert_int_equal(status, wanted);
      enough = 0;
    }
    arena_destroy(arena);
  }
}

enum { SMALL_MODEL = 4096 };

static inline int first_allocations(void) { return getenv("HONE_TEST_FULL") ? 200 : 20; }

/* The result of a small model, also with little memory. */
static inline void assert_ok(const struct loaded *l) {
  if (l->status) print_error("%s\n", l->ctx.message);
  assert_int_equal(l->status, HONE_OK);
  if (l->bytes.at && l->bytes.n <= SMALL_MODEL && !l->has_own_limit)
    refuse_allocations(NULL, &l->bytes, &l->options, first_allocations(), HONE_OK);
}

/* The import ends with this status, and its message holds this text (NULL: any); that of a small model also where memory
   ends early. */
static inline void expect(struct buf *model, const struct import_options *options,
                          hone_status status, const char *says) {
  struct loaded l = load(model, options);
  if (l.status != status || (says && !strstr(l.ctx.message, says)))
    print_error("expected %s \"%s\", got: %s\n", hone_status_name(status), says ? says : "",
                l.status ? l.ctx.message : "OK");
  assert_int_equal(l.status, status);
  if (says) assert_non_null(strstr(l.ctx.message, says));
  if (l.bytes.n <= SMALL_MODEL)
    refuse_allocations(NULL, &l.bytes, options, first_allocations(), status);
  unload(&l);
}
#endif

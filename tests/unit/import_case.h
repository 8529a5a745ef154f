/* import_case: import bytes and look at what came out. */
#ifndef HONE_IMPORT_CASE_H
#define HONE_IMPORT_CASE_H
#include "import/import.h"
#include "onnx_bytes.h"

struct loaded {
  hone_status status;
  struct graph *graph;
  struct model_file file;
  struct ctx ctx;
  struct arena *arena;
  int warnings;
  struct buf bytes;
};

static inline void count_warning(void *user, const char *message) {
  (void)message;
  ++*(int *)user;
}

/* Takes the bytes over. limit: one that is `most` (LIMIT_COUNT: none). */
static inline struct loaded load_within(struct buf *model, const struct import_options *options,
                                        int limit, int64_t most) {
  struct loaded l = {.bytes = *model};
  *model = (struct buf){0};
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

static inline void assert_ok(const struct loaded *l) {
  if (l->status) print_error("%s\n", l->ctx.message);
  assert_int_equal(l->status, HONE_OK);
}

/* The import ends with this status, and its message holds this text (NULL: any). */
static inline void expect(struct buf *model, const struct import_options *options,
                          hone_status status, const char *says) {
  struct loaded l = load(model, options);
  if (l.status != status || (says && !strstr(l.ctx.message, says)))
    print_error("expected %s \"%s\", got: %s\n", hone_status_name(status), says ? says : "",
                l.status ? l.ctx.message : "OK");
  assert_int_equal(l.status, status);
  if (says) assert_non_null(strstr(l.ctx.message, says));
  unload(&l);
}

/* A file, or (path NULL) bytes, read with each allocation refused once: that fails with the limit's error, and the rest as
   wanted. */
static inline void refuse_allocations(const char *path, const struct buf *bytes,
                                      hone_status wanted) {
  size_t enough = 1;
  for (int attempts = 0; enough; attempts++) {
    struct ctx ctx;
    struct arena *arena;
    struct model_file file;
    struct graph *graph;
    assert_true(attempts < 20000);
    ctx_init(&ctx);
    ctx.limits[LIMIT_arena_bytes] = (int64_t)enough;
    assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
    hone_status status = path ? import_model(&ctx, arena, path, NULL, &file, &graph)
                              : import_bytes(&ctx, arena, bytes->at, bytes->n, NULL, &file, &graph);
    const char *says = strstr(ctx.message, "memory of one phase would pass ");
    if (!status) model_file_close(&file);
    if (says) {
      size_t limit;
      assert_int_equal(status, HONE_E_LIMIT);
      assert_int_equal(
          sscanf(says, "memory of one phase would pass %zu bytes and be %zu", &limit, &enough), 2);
    } else {
      assert_int_equal(status, wanted);
      enough = 0;
    }
    arena_destroy(arena);
  }
}
#endif

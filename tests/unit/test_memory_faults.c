/* Allocation faults, one by one (once, and from then on for ever): every operation of the compiler
 * answers E_OOM or succeeds with the result that it has without the fault, never crashes, and leaves
 * nothing allocated. This program's malloc replaces glibc's own. */
#include "onnx_bytes.h"
#include "compiler/pipeline/pipeline.h"
#include "compiler/export/export.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *pointer, size_t size);
void __libc_free(void *pointer);

static struct {
  bool armed, for_ever;
  long countdown, live;
} faults;

static bool must_fail(void) {
  if (!faults.armed) return false;
  faults.countdown--;
  return faults.countdown == 0 || (faults.for_ever && faults.countdown < 0);
}
static void *counted(void *pointer) {
  faults.live += pointer != NULL;
  return pointer;
}
void *malloc(size_t size) { return must_fail() ? NULL : counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) {
  return must_fail() ? NULL : counted(__libc_calloc(count, size));
}
void *realloc(void *pointer, size_t size) {
  if (must_fail()) return NULL;
  return pointer ? __libc_realloc(pointer, size) : counted(__libc_malloc(size));
}
void *reallocarray(void *pointer, size_t count, size_t size) {
  return __builtin_mul_overflow(count, size, &size) ? NULL : realloc(pointer, size);
}
void free(void *pointer) {
  faults.live -= pointer != NULL;
  __libc_free(pointer);
}

static const char model_text[] =
    "graph(x: f32[2,3,9,9], k: bool[]) -> (y) {\n"
    "  w = const f32[8,3,3,3] seed=1\n"
    "  d = const f32[10,8] seed=2\n"
    "  b = const f32[10] seed=3\n"
    "  a = Conv(x, w) pads=[1,1,1,1]\n"
    "  r = Relu(a)\n"
    "  p = GlobalAveragePool(r)\n"
    "  f = Flatten(p)\n"
    "  g = Gemm(f, d, b) transB=1\n"
    "  n = const i64[] [2]\n"
    "  l = Loop(n, -, g) body=graph(i: i64[], e: bool[], v: f32[2,10]) -> (o, u) {\n"
    "    o = Identity(e)\n"
    "    u = Neg(v)\n"
    "  }\n"
    "  y = If(k) then_branch=graph() -> (s) {\n"
    "    s = Softmax(l) axis=-1\n"
    "  } else_branch=graph() -> (t) {\n"
    "    t = Add(l, b)\n"
    "  }\n"
    "}\n";
static struct target target; /* before the faults: cache sizes that cannot be read are assumed */
static struct strbuf model_bytes; /* the same as ONNX */
static char result[64];           /* hash of what the last operation that succeeded made */

static void put_result(const void *bytes, size_t size) { hash_hex(result, bytes, size); }
static hone_status put_graph(struct ctx *ctx, const struct graph *graph) {
  struct strbuf text = {0};
  hone_status status = graph_print(ctx, &text, graph, op_names, NULL);
  if (!status) status = strbuf_finish(ctx, &text);
  if (!status) put_result(text.at, text.length);
  strbuf_deinit(&text);
  return status;
}

static hone_status read_text(struct ctx *ctx, struct arena *arena, struct graph **out) {
  TRY(graph_parse(ctx, arena, model_text, sizeof model_text - 1, op_find, out));
  return graph_infer(ctx, *out);
}

static hone_status compile_graph(struct ctx *ctx, struct arena *arena, struct graph *graph) {
  struct plan *plan;
  struct emitted emitted;
  struct pipeline_options pipeline = {0};
  TRY(passes_run(ctx, graph, &pipeline));
  TRY(plan_build(ctx, arena, graph, &(struct plan_options){.target = &target, .threads = 2},
                 &plan));
  TRY(emit_plan(ctx, arena, plan, &(struct emit_options){NULL}, &emitted));
  put_result(emitted.build_id, strlen(emitted.build_id)); /* a hash of the C text and the weights */
  emitted_deinit(&emitted);
  return HONE_OK;
}

static hone_status do_compile(struct ctx *ctx, struct arena *arena) {
  struct graph *graph;
  TRY(read_text(ctx, arena, &graph));
  return compile_graph(ctx, arena, graph);
}

static hone_status do_export(struct ctx *ctx, struct arena *arena) {
  struct graph *graph;
  struct strbuf bytes = {0};
  TRY(read_text(ctx, arena, &graph));
  hone_status status = export_onnx(ctx, graph, 17, &bytes);
  if (!status) put_result(bytes.at, bytes.length);
  strbuf_deinit(&bytes);
  return status;
}

static hone_status read_bytes(struct ctx *ctx, struct arena *arena, const void *bytes, size_t size,
                              const char *side_files_from) {
  struct import_options options = {.side_files_from = side_files_from};
  struct model_file file;
  struct graph *graph;
  memset(&file, 0, sizeof file);
  hone_status status = import_bytes(ctx, arena, bytes, size, &options, &file, &graph);
  if (!status) status = put_graph(ctx, graph);
  model_file_close(&file);
  return status;
}

static hone_status do_import(struct ctx *ctx, struct arena *arena) {
  return read_bytes(ctx, arena, model_bytes.at, model_bytes.length, NULL);
}

/* y = w + v, each in a file of its own */
static char folder[4096];
static struct buf side_model;

static void make_side_files(struct ctx *ctx) {
  static const char *const names[] = {"w", "v"};
  static const float content[4] = {1, 2, 3, 4};
  struct buf graph = {0};
  assert_int_equal(dir_temporary(ctx, folder), HONE_OK);
  for (size_t i = 0; i < COUNT(names); i++) {
    struct buf t = tensor_head(names[i], 1, (int64_t[]){4}, 1);
    char path[sizeof folder + 8];
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, sizeof content, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    put_int(&t, 14, 1);
    external_entry(&t, "location", names[i], 1);
    put_msg(&graph, 5, &t);
  }
  put_node(&graph, "Add", "w,v", "y", NULL);
  put_output(&graph, "y");
  side_model = model_of(13, &graph);
}

static hone_status do_side_files(struct ctx *ctx, struct arena *arena) {
  return read_bytes(ctx, arena, side_model.at, side_model.n, folder);
}

static hone_status do_reference(struct ctx *ctx, struct arena *arena) {
  static float x[2 * 3 * 9 * 9], y[20];
  struct graph *graph;
  static uint8_t k = 1;
  hone_tensor in[2] = {{x, HONE_F32, 4, {2, 3, 9, 9}}, {&k, HONE_BOOL, 0, {0}}},
              out = {y, HONE_F32, 2, {2, 10}};
  TRY(read_text(ctx, arena, &graph));
  memset(y, 0, sizeof y);
  TRY(reference_run(ctx, graph, in, &out));
  put_result(y, sizeof y);
  return HONE_OK;
}

typedef hone_status operation(struct ctx *ctx, struct arena *arena);

static hone_status attempt(operation *run) {
  static struct ctx ctx;
  struct arena *arena;
  ctx_init(&ctx);
  hone_status status = arena_create(&ctx, 0, &arena);
  if (status) return status;
  status = run(&ctx, arena);
  arena_destroy(arena);
  return status;
}

/* Until the operation needs fewer allocations than the one that fails. */
static void survive(operation *run, bool for_ever) {
  enum { MOST = 5000 };
  char wanted[sizeof result];
  assert_int_equal(attempt(run), HONE_OK); /* what is allocated once for ever is there */
  memcpy(wanted, result, sizeof wanted);
  long n = 1;
  for (; n < MOST; n++) {
    long before = faults.live;
    faults.for_ever = for_ever;
    faults.countdown = n;
    faults.armed = true;
    result[0] = 0;
    hone_status status = attempt(run);
    faults.armed = false;
    bool reached = faults.countdown <= 0;
    assert_int_equal(faults.live, before);
    if (!reached) {
      assert_int_equal(status, HONE_OK);
      break;
    }
    if (status)
      assert_int_equal(status, HONE_E_OOM);
    else if (strcmp(result, wanted)) {
      print_error("allocation %ld fails%s: another result\n", n,
                  for_ever ? " and all later ones" : "");
      assert_string_equal(result, wanted);
    }
  }
  assert_true(n > 2 && n < MOST);
}

static void every_operation_survives(void **state) {
  static operation *const operations[] = {do_compile, do_export, do_import, do_side_files,
                                          do_reference};
  (void)state;
  struct ctx ctx;
  struct arena *arena;
  struct graph *graph;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(read_text(&ctx, arena, &graph), HONE_OK);
  assert_int_equal(target_init(&ctx, NULL, "baseline", &target), HONE_OK);
  assert_int_equal(export_onnx(&ctx, graph, 17, &model_bytes), HONE_OK);
  arena_destroy(arena);
  make_side_files(&ctx);
  for (size_t i = 0; i < COUNT(operations); i++) {
    survive(operations[i], false);
    survive(operations[i], true);
  }
  strbuf_deinit(&model_bytes);
  free(side_model.at);
  dir_remove_tree(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_operation_survives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

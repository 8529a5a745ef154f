/* The measuring overhead of each backend: latency of an identity model of four floats on the same
 * path. It is shown, never subtracted. A lead smaller than the difference of two overheads is a
 * tie.
 */
#include "study_internal.h"
#include "bench/wire/transport.h"

#include <math.h>
#include <stdlib.h>

#define OVERHEAD_CONFIG "floor"
#define OVERHEAD_WARMUP_NS 50000000ll
#define OVERHEAD_SLICE_NS 30000000ll
#define OVERHEAD_SAMPLES 30

/* graph g(x: f32[4]) -> (y: f32[4]) { y = Identity(x) }, a ModelProto: field tags and lengths by
   onnx.proto; accepted by onnx.checker. */
static const uint8_t identity_model[] = {
    0x08, 8,                                              /* ir_version */
    0x3a, 55,                                             /* graph */
    0x0a, 16,  0x0a, 1,   'x',  0x12, 1,   'y',  0x22, 8, /* node */
    'I',  'd', 'e',  'n', 't',  'i',  't', 'y',           /* its op_type */
    0x12, 1,   'g',                                       /* name */
    0x5a, 15,  0x0a, 1,   'x',  0x12, 10,  0x0a, 8,    8, 1, 0x12, 4, 0x0a, 2, 8, 4, /* input */
    0x62, 15,  0x0a, 1,   'y',  0x12, 10,  0x0a, 8,    8, 1, 0x12, 4, 0x0a, 2, 8, 4, /* output */
    0x42, 4,   0x0a, 0,   0x10, 13, /* opset_import */
};

static hone_status write_data(struct ctx *ctx, const char *dir) {
  for (int set = 0; set < BENCH_SETS; set++) {
    float values[4] = {1.0f + (float)set, -2.0f, 0.5f, 3.0f};
    const hone_tensor tensor = {.data = values, .dtype = HONE_F32, .rank = 1, .shape = {4}};
    char path[4096];
    data_path(path, dir, "in", set, 0);
    TRY(npy_write(ctx, path, &tensor));
    data_path(path, dir, "out", set, 0);
    TRY(npy_write(ctx, path, &tensor));
  }
  return HONE_OK;
}

static hone_status make_case(struct bench *bench, struct bench_case *out) {
  *out = (struct bench_case){
      .model = "identity", .batch = 1, .is_described = true, .input_count = 1, .output_count = 1};
  TRY(NEW(bench->ctx, bench->arena, out->inputs));
  TRY(NEW(bench->ctx, bench->arena, out->outputs));
  out->shapes = "x[4]";
  out->open_dimensions = "";
  snprintf(out->data_dir, sizeof out->data_dir, "%.4000s/floor", bench->dir);
  snprintf(out->path, sizeof out->path, "%.4000s/floor/identity.onnx", bench->dir);
  snprintf(out->inputs[0].name, sizeof out->inputs[0].name, "x");
  snprintf(out->outputs[0].name, sizeof out->outputs[0].name, "y");
  TRY(dir_create(bench->ctx, out->data_dir));
  TRY(file_write_atomic(bench->ctx, out->path, identity_model, sizeof identity_model, 0600));
  return write_data(bench->ctx, out->data_dir);
}

static double median_of_file(struct worker *worker) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/block_0.npy", worker->dir);
  struct ctx ctx;
  ctx_init(&ctx);
  hone_tensor tensor = {.data = NULL};
  if (worker->transport->get(&ctx, worker, "block_0.npy") || npy_read(&ctx, path, NULL, &tensor))
    return NAN;
  double median = NAN;
  size_t count = tensor.rank == 1 && tensor.dtype == HONE_U64 ? (size_t)tensor.shape[0] : 0;
  double *x = malloc((count + 1) * sizeof *x);
  for (size_t i = 0; x && i < count; i++) x[i] = (double)((const uint64_t *)tensor.data)[i];
  if (x && count) {
    sort_doubles(x, count);
    median = percentile_sorted(x, count, 0.5);
  }
  free(x);
  free(tensor.data);
  return median;
}

/* NaN if the backend cannot run it; the configuration itself reports why. */
static double converse(struct worker *worker, const struct bench_case *identity, json_t *open) {
  struct worker_end end;
  if (!send_case(worker, identity, open, &end)) {
    json_decref(open);
    return NAN;
  }
  json_t *reply = worker_ask(worker, open, "opened", ASK_PATIENT, &end);
  if (!reply) return NAN;
  json_decref(reply);
  reply = worker_ask(
      worker, json_pack("{s:s, s:I}", "do", "warmup", "max_ns", (json_int_t)OVERHEAD_WARMUP_NS),
      "warm", ASK_TIMED, &end);
  if (!reply) return NAN;
  json_decref(reply);
  reply = worker_ask(worker,
                     json_pack("{s:s, s:i, s:i, s:I}", "do", "slice", "round", 0, "min_samples",
                               OVERHEAD_SAMPLES, "min_ns", (json_int_t)OVERHEAD_SLICE_NS),
                     "block", ASK_TIMED, &end);
  double floor = reply && message_bool(reply, "is_within") ? median_of_file(worker) : NAN;
  json_decref(reply);
  return floor;
}

static bool same_path(const struct config *a, const struct config *b) {
  return !strcmp(a->backend, b->backend) && !strcmp(a->options, b->options) &&
         !strcmp(a->device, b->device) && a->threads == b->threads;
}

hone_status measure_overhead(struct bench *bench, size_t index) {
  const struct bench_study *study = &bench->study;
  const struct config *config = &study->configs[index];
  for (size_t k = 0; k < study->config_count; k++)
    if (same_path(&study->configs[k], config) && isfinite(bench->overheads[k])) {
      bench->overheads[index] = bench->overheads[k];
      return HONE_OK;
    }
  if (!bench->identity) {
    TRY(NEW(bench->ctx, bench->arena, bench->identity));
    TRY(make_case(bench, bench->identity));
  }
  bench_report(bench, config, bench->identity->model, "floor");
  struct worker worker;
  TRY(bench_config_worker(bench, config, OVERHEAD_CONFIG, &worker));
  worker.checked_case = bench->identity;
  json_t *open = open_command(bench, config, bench->identity, true);
  if (open) json_object_del(open, "scenario"); /* the overhead is that of single requests */
  bench->overheads[index] = converse(&worker, bench->identity, open);
  worker_close(&worker, 0);
  return HONE_OK;
}

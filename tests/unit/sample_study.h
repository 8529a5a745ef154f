/* A study as hone bench would store it: three models, several backends, seeded samples with a tail,
 * failures of each kind. Backend names are those of real engines; the generator below invents every
 * figure. */
#ifndef HONE_SAMPLE_STUDY_H
#define HONE_SAMPLE_STUDY_H

#include <math.h>

struct sample_backend {
  const char *name, *version, *variant;
  double ms, spread, tail; /* median, relative spread, share of slow samples */
  double compile_ms, load_ms, steady_mb, size_mb, rel_l2;
  enum record_status status;
  enum record_stage stage;
  const char *reason;
  uint32_t flags;
  int label;
};
struct sample_model {
  const char *name, *shapes;
  double scale, limit_ms;
  const struct sample_backend *backends;
  size_t count;
};

static const struct sample_backend sample_resnet[] = {
    {"onnxruntime", "1.19.2", "default", 9.61, .012, .02, 412, 96, 318, 97.8, 2.1e-7, STATUS_ok, 0,
     "", 0, 0},
    {"native", "0.1.0", "default", 7.92, .008, .01, 2830, 9, 141, 98.1, 1.6e-7, STATUS_ok, 0, "", 0,
     0},
    {"native", "0.1.0", "default", 7.94, .008, .01, 2830, 9, 141, 98.1, 1.6e-7, STATUS_ok, 0, "", 0,
     1},
    {"openvino", "2024.6", "default", 7.97, .010, .015, 1240, 205, 402, 98.6, 2.4e-7, STATUS_ok, 0,
     "", 0, 0},
    {"tvm", "0.18", "default", 12.85, .02, .03, 96400, 31, 233, 102, 3.3e-7, STATUS_ok, 0, "", 0,
     0},
    {"iree", "3.1.0", "default", 18.3, .05, .05, 21300, 44, 187, 99.4, 2.9e-7, STATUS_ok, 0, "",
     FLAG_MASK(noisy), 0},
    {"xla", "0.4.35", "default", 11.1, .02, .02, 5120, 120, 611, 104, 8.8e-3, STATUS_wrong,
     STAGE_verify, "relative L2 of output \"logits\" is 8.8e-03, allowed 1e-04", 0, 0},
    {"tflite", "", "default", 0, 0, 0, 0, 0, 0, 0, 0, STATUS_not_installed, STAGE_none,
     "hone doctor shows how to install it", 0, 0},
};
static const struct sample_backend sample_bert[] = {
    {"onnxruntime", "1.19.2", "default", 41.7, .01, .02, 690, 310, 902, 438, 3.4e-6, STATUS_ok, 0,
     "", 0, 0},
    {"openvino", "2024.6", "default", 36.9, .009, .01, 2510, 402, 1240, 439, 2.2e-6, STATUS_ok, 0,
     "", 0, 0},
    {"native", "0.1.0", "default", 39.1, .008, .008, 4120, 22, 468, 438, 1.9e-6, STATUS_ok, 0, "",
     0, 0},
    {"tvm", "0.18", "default", 58.8, .03, .03, 183000, 77, 611, 441, 2.7e-6, STATUS_ok, 0, "",
     FLAG_MASK(unsteady), 0},
    {"iree", "3.1.0", "default", 0, 0, 0, 0, 0, 0, 0, 0, STATUS_crashed, STAGE_compile,
     "signal 11 in iree-compile after 41 s", 0, 0},
    {"xla", "0.4.35", "default", 0, 0, 0, 0, 0, 0, 0, 0, STATUS_timeout, STAGE_compile,
     "600 s passed while compiling", 0, 0},
};
static const struct sample_backend sample_mlp[] = {
    {"native", "0.1.0", "default", .0184, .02, .01, 610, 1, 12, 1.1, 9e-8, STATUS_ok, 0, "", 0, 0},
    {"onnxruntime", "1.19.2", "default", .0431, .03, .04, 38, 12, 88, 1.1, 1.1e-7, STATUS_ok, 0, "",
     0, 0},
    {"openvino", "2024.6", "default", .0712, .04, .05, 140, 33, 131, 1.2, 1.3e-7, STATUS_ok, 0, "",
     0, 0},
};
static const struct sample_model sample_models[] = {
    {"resnet50.onnx", "x[1,3,224,224]", 1, 4.9, sample_resnet, COUNT(sample_resnet)},
    {"bert-base.onnx", "input_ids[1,128],attention_mask[1,128]", 1, 21.3, sample_bert,
     COUNT(sample_bert)},
    {"zoo:mlp", "", 1, .0061, sample_mlp, COUNT(sample_mlp)},
};

static hone_status sample_blocks(struct ctx *ctx, struct arena *arena, struct random *random,
                                 const struct sample_backend *backend, struct config_data *data) {
  enum { PROCESSES = 3, ROUNDS = 12 };
  const size_t count = backend->ms > 20 ? 30 : backend->ms > 1 ? 60 : 400;
  TRY(NEW_ARRAY(ctx, arena, data->blocks, PROCESSES * ROUNDS));
  data->block_count = PROCESSES * ROUNDS;
  for (int p = 0; p < PROCESSES; p++) {
    const double of_process = backend->ms * exp(backend->spread * .25 * random_normal(random));
    for (int r = 0; r < ROUNDS; r++) {
      struct block *block = &data->blocks[p * ROUNDS + r];
      const double of_round = of_process * exp(backend->spread * .3 * random_normal(random));
      *block = (struct block){.process_record = p, .round = r, .verified = 2};
      memcpy(block->config, data->config.key, sizeof block->config);
      block->noise = (struct noise){.002 * random_uniform(random), 3, .01, -1};
      TRY(NEW_ARRAY(ctx, arena, block->samples, count));
      block->sample_count = count;
      for (size_t i = 0; i < count; i++) {
        double ms = of_round * exp(backend->spread * fabs(random_normal(random)));
        if (random_uniform(random) < backend->tail) ms *= 1 + .6 * random_uniform(random);
        block->samples[i] = (uint64_t)(ms * 1e6);
      }
    }
  }
  return HONE_OK;
}

static void sample_facts(const struct sample_backend *backend, int number,
                         struct process_record *out) {
  const double mb = 1e6;
  *out = (struct process_record){
      .number = number,
      .status = backend->status,
      .stage = backend->stage,
      .flags = backend->flags,
      .compile_ms = backend->compile_ms > 0 ? backend->compile_ms * (1 + .02 * number) : NAN,
      .load_ms = backend->load_ms > 0 ? backend->load_ms : NAN,
      .first_inference_ms = backend->ms > 0 ? backend->ms * 3 : NAN,
      .warmup_ms = backend->ms > 0 ? backend->ms * 20 : NAN,
      .import_ms = backend->ms > 0 ? 12.5 : NAN,
      .cached_compile_ms = NAN,
      .rss_import = -1,
      .rss_compile = -1,
      .rss_load = -1,
      .rss_steady = backend->steady_mb > 0 ? (int64_t)(backend->steady_mb * mb) : -1,
      .rss_peak = backend->steady_mb > 0 ? (int64_t)(backend->steady_mb * 1.35 * mb) : -1,
      .rss_slope = backend->ms > 0 ? 0 : NAN,
      .artifact_bytes = backend->size_mb > 0 ? (int64_t)(backend->size_mb * mb) : -1,
      .arena_bytes = -1,
      .floor_ns = backend->ms > 0 ? 900 : NAN,
      .effective_threads = backend->ms > 0 ? 8 : -1,
      .fallback_share = backend->ms > 0 ? 0 : NAN,
      .max_abs_diff = backend->ms > 0 ? backend->rel_l2 * 12 : NAN,
      .max_rel_diff = backend->ms > 0 ? backend->rel_l2 * 3 : NAN,
      .rel_l2 = backend->ms > 0 ? backend->rel_l2 : NAN,
      .cosine = backend->ms > 0 ? 1 - backend->rel_l2 * backend->rel_l2 : NAN,
      .top1 = backend->ms > 0 ? 1 : NAN,
  };
  snprintf(out->reason, sizeof out->reason, "%s", backend->reason);
  snprintf(out->engine_version, sizeof out->engine_version, "%s", backend->version);
  snprintf(out->effective_device, sizeof out->effective_device, "%s", backend->ms > 0 ? "cpu" : "");
  snprintf(out->effective_precision, sizeof out->effective_precision, "%s",
           backend->ms > 0 ? "fp32" : "");
}

static hone_status sample_config(struct ctx *ctx, struct arena *arena, struct random *random,
                                 const struct sample_model *model,
                                 const struct sample_backend *backend, struct config_data *data) {
  struct config *config = &data->config;
  snprintf(config->model, sizeof config->model, "%s", model->name);
  snprintf(config->model_path, sizeof config->model_path, "models/%s", model->name);
  hash_hex(config->model_hash, model->name, strlen(model->name));
  snprintf(config->shapes, sizeof config->shapes, "%s", model->shapes);
  snprintf(config->backend, sizeof config->backend, "%s", backend->name);
  snprintf(config->variant, sizeof config->variant, "%s", backend->variant);
  strcpy(config->route, "onnx");
  strcpy(config->device, "cpu");
  strcpy(config->precision, "fp32");
  strcpy(config->scenario, "single");
  strcpy(config->cache_state, "warm");
  config->batch = 1;
  config->threads = 8;
  config->label = backend->label;
  config->limit_ms = model->limit_ms;
  config_key(config);
  data->process_count = backend->ms > 0 ? 3 : 1;
  TRY(NEW_ARRAY(ctx, arena, data->processes, data->process_count));
  for (size_t i = 0; i < data->process_count; i++)
    sample_facts(backend, (int)i, &data->processes[i]);
  return backend->ms > 0 ? sample_blocks(ctx, arena, random, backend, data) : HONE_OK;
}

/* `slower` scales the native row, for a second study to compare with. */
static hone_status sample_study(struct ctx *ctx, struct arena *arena, uint64_t seed, double slower,
                                struct study_data *out) {
  struct random random;
  random_init(&random, seed);
  *out = (struct study_data){0};
  snprintf(out->row.key, sizeof out->row.key, "5a3f09c1d2e4b6a7980123456789ab%02x",
           (unsigned)seed & 255);
  strcpy(out->row.fingerprint, "0f1e2d3c4b5a69788796a5b4c3d2e1f0");
  strcpy(out->row.name, "nightly");
  strcpy(out->row.command,
         "hone bench resnet50.onnx bert-base.onnx zoo:mlp --threads 8 --aa --html report.html");
  strcpy(out->row.machine_json,
         "{\"fingerprint\": {\"cpu_model\": \"Example CPU 8-core @ 3.2 GHz\", \"features\": \"avx2 "
         "fma avx512 vnni\","
         " \"kernel\": \"Linux 6.1.0\", \"libc\": \"glibc 2.36\", \"compiler\": \"gcc 12.2.0\","
         " \"governor\": \"performance\", \"hypervisor\": \"none\", \"cores_usable\": 8, "
         "\"cores_online\": 8,"
         " \"ram_bytes\": 34359738368, \"l2_bytes\": 1310720, \"l3_bytes\": 33554432},"
         " \"peaks\": {\"f32_flops\": 8.1e11, \"copy_floor_ns\": 18}}");
  out->row.started_unix_ms = 1767225600000;
  out->row.finished = true;
  size_t count = 0;
  for (size_t m = 0; m < COUNT(sample_models); m++) count += sample_models[m].count;
  TRY(NEW_ARRAY(ctx, arena, out->cells, count));
  for (size_t m = 0; m < COUNT(sample_models); m++)
    for (size_t b = 0; b < sample_models[m].count; b++) {
      struct sample_backend backend = sample_models[m].backends[b];
      if (!strcmp(backend.name, "native")) backend.ms *= slower;
      struct config_data *data = &out->cells[out->config_count++];
      TRY(sample_config(ctx, arena, &random, &sample_models[m], &backend, data));
    }
  return HONE_OK;
}

#endif

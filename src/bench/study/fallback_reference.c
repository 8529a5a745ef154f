/* Reference outputs for a model that hone cannot read or evaluate. Every suitable engine is asked
 * once for its outputs within one time limit. If two agree within the tolerance, their outputs are
 * the reference. If no two agree, the model's rows are `unverified`: shown, not ranked. If none
 * answers in time, each row reports its own engine's failure.
 */
#include "study_internal.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

void engine_output_dir(const struct bench *bench, struct bench_case *one, char out[4096]) {
  snprintf(out, 4096, "%.3900s/witness-%.33s-%d-%zu", bench->dir, one->hash, one->batch,
           one->engine_output_count++);
}

#define PEER_CONFIG "peer"
#define MAX_PEERS 32

/* Options of a test engine; other engines run with their defaults. */
static const char *script_of(const struct bench *bench, const struct backend *backend) {
  const struct bench_options *o = &bench->options;
  for (size_t i = 0; backend->testing_only && i < o->backend_option_count; i++)
    if (!strcmp(o->backend_options[i].name, backend->name)) return o->backend_options[i].value;
  return "";
}

/* Reference data is made in the precision of the file, independent of the rows' precision. */
static const char *reference_precision(const struct bench_options *o) {
  for (size_t i = 0; i < o->precision_count; i++)
    if (!strcmp(o->precisions[i], "as-is")) return "as-is";
  return "fp32";
}

static void make_config(const struct bench *bench, const struct backend *backend,
                        struct config *out) {
  *out = (struct config){.batch = 1, .threads = usable_core_count()};
  snprintf(out->backend, sizeof out->backend, "%s", backend->name);
  snprintf(out->precision, sizeof out->precision, "%s", reference_precision(&bench->options));
  snprintf(out->options, sizeof out->options, "%s", script_of(bench, backend));
}

/* hone itself is not a peer: reference and native share an importer. A test engine is one by
   option. */
bool backend_is_peer(const struct bench *bench, const struct backend *backend) {
  char value[256];
  if (backend->testing_only) return option_get(script_of(bench, backend), "peer", value);
  return backend->package != NULL && !backend->worker;
}

/* The first engine that runs the model makes the inputs and describes the model. */
static bool probe(struct bench *bench, const struct config *config, struct bench_case *one,
                  const char *engine_outputs, struct worker *worker) {
  json_t *command = open_command(bench, config, one, true);
  json_object_set_new(command, "do", json_string("probe"));
  json_object_set_new(command, "witness", json_string(engine_outputs));
  struct worker_end end;
  json_t *reply = worker_ask(worker, command, "described", ASK_PATIENT, &end);
  struct bench_case seen = *one;
  bool is_made = reply && case_take_description(bench, reply, &seen);
  if (is_made) {
    if (one->file_bytes) seen.file_bytes = one->file_bytes;
    seen.batch = one->batch;
    *one = seen;
    one->is_described = true;
  }
  json_decref(reply);
  return is_made;
}

/* Further engines get the same inputs. */
static bool follow(struct bench *bench, const struct config *config, const struct bench_case *one,
                   const char *engine_outputs, struct worker *worker) {
  json_t *command = open_command(bench, config, one, true);
  json_object_set_new(command, "is_judged", json_false());
  json_object_set_new(command, "witness", json_string(engine_outputs));
  struct worker_end end;
  json_t *reply = worker_ask(worker, command, "opened", ASK_PATIENT, &end);
  json_decref(reply);
  return reply != NULL;
}

static hone_status ask_peer(struct bench *bench, const struct backend *backend,
                            struct bench_case *one, const char *engine_outputs, bool *out_is_made) {
  struct config config;
  struct worker worker;
  make_config(bench, backend, &config);
  bench_report(bench, &config, one->model, "reference");
  TRY(bench_config_worker(bench, &config, PEER_CONFIG, &worker));
  *out_is_made = one->is_described ? follow(bench, &config, one, engine_outputs, &worker)
                                   : probe(bench, &config, one, engine_outputs, &worker);
  worker_close(&worker, 0);
  return HONE_OK;
}

/* Moves the outputs of the first pair that agrees into the case's folder. */
static bool adopt_agreeing(struct bench_case *one, char (*dirs)[4096], size_t count,
                           const char *precision) {
  struct accuracy accuracy;
  for (size_t a = 0; a < count; a++)
    for (size_t b = a + 1; b < count; b++) {
      if (!engine_outputs_agree(one, dirs[a], dirs[b], precision, &accuracy)) continue;
      bool is_moved = true;
      for (int set = 0; set < BENCH_SETS; set++)
        for (size_t i = 0; i < one->output_count; i++) {
          char from[4096], to[4096];
          data_path(from, dirs[a], "out", set, i);
          data_path(to, one->data_dir, "out", set, i);
          is_moved = !rename(from, to) && is_moved;
        }
      return is_moved;
    }
  return false;
}

/* Prepares what the worker opens: the user's file and shapes, in a folder of this study. */
static hone_status begin_case(struct bench *bench, struct bench_case *one) {
  if (!one->shapes[0] && bench->options.shapes) one->shapes = bench->options.shapes;
  if (one->data_dir[0]) return HONE_OK; /* hone made the inputs */
  snprintf(one->data_dir, sizeof one->data_dir, "%.4000s/peer-%d", bench->dir,
           bench->worker_number);
  return dir_create(bench->ctx, one->data_dir);
}

/* Each engine gets half of the time left, so one that hangs leaves time for the others. */
static hone_status ask_all(struct bench *bench, struct bench_case *one, char (*dirs)[4096]) {
  size_t count = 0;
  reference_deadline_begin(bench);
  const uint64_t end = bench->harness.deadline_ns;
  for (size_t k = 0; k < backend_count && count < MAX_PEERS; k++) {
    bool is_made = false;
    if (!backend_is_peer(bench, backend_list[k]) || bench_is_interrupted(bench)) continue;
    if (one->format[0] && !backend_reads(backend_list[k], one->format)) continue;
    uint64_t now = clock_ns();
    if (now >= end) break;
    bench->harness.deadline_ns = now + (end - now) / 2;
    engine_output_dir(bench, one, dirs[count]);
    TRY(ask_peer(bench, backend_list[k], one, dirs[count], &is_made));
    count += is_made;
  }
  adopt_agreeing(one, dirs, count, reference_precision(&bench->options));
  return HONE_OK;
}

hone_status case_from_peers(struct bench *bench, struct bench_case *one) {
  if (!strncmp(one->model, "zoo:", 4) && !one->path[0]) return HONE_OK; /* no file exists */
  char(*dirs)[4096] = malloc(MAX_PEERS * sizeof *dirs);
  hone_status status =
      dirs ? begin_case(bench, one)
           : fail(bench->ctx, HONE_E_OOM, place_none(), "no memory for engines' outputs");
  if (!status) status = ask_all(bench, one, dirs);
  reference_deadline_end(bench);
  free(dirs);
  one->status = STATUS_ok;
  one->stage = STAGE_none;
  one->reason[0] = 0;
  one->is_from_peers = true;
  return status;
}

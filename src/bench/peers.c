/* A model that hone cannot read or evaluate still has a row for every engine that runs it. One
 * engine makes inputs and outputs; if a second one agrees within the tolerance, theirs serve as the
 * reference. If none does, the outputs are taken away again and every row of the model is
 * `unverified`: shown, never ranked.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define PEER_CELL "peer"

/* What the study tells a test engine to do; other engines serve with their defaults. */
static const char *script_of(const struct bench *bench, const struct backend *backend) {
  const struct bench_options *o = &bench->options;
  for (size_t i = 0; backend->testing_only && i < o->backend_option_count; i++)
    if (!strcmp(o->backend_options[i].name, backend->name)) return o->backend_options[i].value;
  return "";
}

static void make_cell(const struct bench *bench, const struct backend *backend, struct cell *out) {
  *out = (struct cell){.batch = 1, .threads = usable_core_count()};
  snprintf(out->backend, sizeof out->backend, "%s", backend->name);
  snprintf(out->precision, sizeof out->precision, "%s", bench->options.precision);
  snprintf(out->options, sizeof out->options, "%s", script_of(bench, backend));
}

/* hone itself is no peer: it is what could not read the model. A test engine is one if told so. */
static bool may_serve(const struct bench *bench, const struct backend *backend) {
  char value[256];
  if (backend->testing_only) return option_get(script_of(bench, backend), "peer", value);
  return backend->package != NULL;
}

static bool make_outputs(struct bench *bench, const struct backend *backend, struct bench_case *one,
                         hone_status *out_status) {
  struct cell cell;
  make_cell(bench, backend, &cell);
  struct worker worker;
  *out_status = bench_worker(bench, PEER_CELL, cell.threads, &worker);
  if (*out_status) return false;
  json_t *command = open_command(bench, &cell, one, true);
  json_object_set_new(command, "do", json_string("probe"));
  struct worker_end end;
  json_t *reply = worker_ask(&worker, command, "described", ASK_PATIENT, &end);
  struct bench_case seen = *one;
  bool is_made = reply && case_take_description(reply, &seen);
  if (is_made && one->input_count) { /* hone read it before: its own facts stand */
    memcpy(seen.hash, one->hash, sizeof seen.hash);
    seen.flops = one->flops;
    seen.weights_bytes = one->weights_bytes;
    seen.bytes = one->bytes;
    memcpy(seen.tolerance, one->tolerance, sizeof seen.tolerance);
    memcpy(seen.steps, one->steps, sizeof seen.steps);
  }
  if (is_made) *one = seen;
  json_decref(reply);
  worker_close(&worker, 0);
  return is_made;
}

static bool agrees(struct bench *bench, const struct backend *backend, const struct bench_case *one,
                   hone_status *out_status) {
  struct cell cell;
  make_cell(bench, backend, &cell);
  struct worker worker;
  *out_status = bench_worker(bench, PEER_CELL, cell.threads, &worker);
  if (*out_status) return false;
  struct worker_end end;
  json_t *reply =
      worker_ask(&worker, open_command(bench, &cell, one, true), "opened", ASK_PATIENT, &end);
  bool is_same = reply != NULL;
  json_decref(reply);
  worker_close(&worker, 0);
  return is_same;
}

static void remove_outputs(const struct bench_case *one) {
  char path[4096];
  for (int set = 0; set < BENCH_SETS; set++)
    for (size_t i = 0; i < one->output_count; i++) {
      data_path(path, one->data_dir, "out", set, i);
      unlink(path);
    }
}

/* What the worker opens: the user's file and shapes, in a folder of this study. */
static hone_status begin_case(struct bench *bench, struct bench_case *one) {
  if (!one->shapes[0] && bench->options.shapes)
    snprintf(one->shapes, sizeof one->shapes, "%s", bench->options.shapes);
  snprintf(one->data_dir, sizeof one->data_dir, "%.4000s/peer-%d", bench->dir,
           bench->worker_number);
  return dir_create(bench->ctx, one->data_dir);
}

hone_status case_from_peers(struct bench *bench, struct bench_case *one) {
  bool is_zoo = !strncmp(one->model, "zoo:", 4);
  bool has_inputs = bench->options.input_count || bench->options.inputs_dir; /* not to be made up */
  if ((is_zoo && !one->path[0]) || has_inputs || bench_is_interrupted(bench)) return HONE_OK;
  TRY(begin_case(bench, one));
  size_t first = 0;
  hone_status status = HONE_OK;
  while (!status && first < backend_count &&
         !(may_serve(bench, backend_list[first]) &&
           make_outputs(bench, backend_list[first], one, &status)))
    first++;
  if (status || first == backend_count) return status; /* nobody runs it: the first reason stands */
  one->status = STATUS_ok;
  one->stage = STAGE_none;
  one->reason[0] = 0;
  one->is_from_peers = true;
  for (size_t k = 0; !status && k < backend_count; k++)
    if (k != first && may_serve(bench, backend_list[k]) &&
        agrees(bench, backend_list[k], one, &status))
      return HONE_OK;
  remove_outputs(one);
  return status;
}

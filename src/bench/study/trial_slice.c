/* Measures one slice of a configuration: a block of samples. */
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* One in so many slices checks a random inference; every slice checks its last. */
#define SLICES_PER_CHECK 3
#define REWARM_NS 5000000ull

json_t *slice_ask(int round, int64_t min_samples, double min_ns, double max_ns, bool checks,
                  double rate_per_s) {
  json_t *command =
      json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:i}", "do", "slice", "round", round, "min_samples",
                (json_int_t)min_samples, "min_ns", (json_int_t)min_ns, "max_ns", (json_int_t)max_ns,
                "rewarm_ns", (json_int_t)REWARM_NS, "checks", checks);
  if (command && rate_per_s > 0) message_set_number(command, "rate", rate_per_s);
  return command;
}

static json_t *slice_command(struct bench *bench, const struct trial *trial, int round) {
  const struct bench_options *o = &bench->options;
  int rounds = trial->wanted_rounds * o->processes;
  int64_t min_samples = (o->min_samples + rounds - 1) / rounds;
  return slice_ask(round, min_samples, o->min_time_s * 1e9 / rounds, o->max_time_s * 1e9 / rounds,
                   round == 0 || random_below(&bench->random, SLICES_PER_CHECK) == 0,
                   trial->progress->rate_per_s);
}

bool slice_samples(struct trial *trial, const char *kind, enum times times, int round,
                   int64_t count, uint64_t wall_ns, uint64_t **out) {
  char path[4096 + 64], file[48];
  snprintf(file, sizeof file, "%s_%d.npy", kind, round);
  snprintf(path, sizeof path, "%s/%s", trial->worker.dir, file);
  struct ctx ctx;
  ctx_init(&ctx);
  hone_tensor tensor = {.data = NULL};
  if (trial->worker.transport->get(&ctx, &trial->worker, file) ||
      npy_read(&ctx, path, NULL, &tensor))
    return false;
  uint64_t *samples = tensor.data, sum = 0;
  bool is_valid = tensor.dtype == HONE_U64 && tensor.rank == 1 && tensor.shape[0] == count;
  for (int64_t i = 0; is_valid && i < count; i++)
    is_valid = (samples[i] > 0 || times == TIMES_INSTANTS) && samples[i] <= wall_ns &&
               checked_add(sum, samples[i], &sum);
  unlink(path);
  *out = samples;
  if (is_valid && (times != TIMES_IN_TURN || sum <= wall_ns)) return true;
  free(samples);
  *out = NULL;
  return false;
}

static void add_point(struct trial *trial, double x, double y) {
  trial->n++;
  trial->sum_x += x;
  trial->sum_y += y;
  trial->sum_xx += x * x;
  trial->sum_xy += x * y;
}

static void take_block(struct trial *trial, const json_t *reply, const struct block *block,
                       uint64_t wall_ns) {
  trial->rounds++;
  trial->verified += block->verified;
  trial->rss = message_int(reply, "rss", -1);
  trial->rss_peak = message_int(reply, "rss_peak", -1);
  const int busy = (int)message_int(reply, "busy_threads", -1);
  if (busy > trial->record.busy_threads) trial->record.busy_threads = busy;
  trial->noise.steal_fraction += fmax(0, block->noise.steal_fraction);
  trial->noise.pressure_some += fmax(0, block->noise.pressure_some);
  trial->noise.involuntary_switches += block->noise.involuntary_switches;
  trial->measured_ns += (double)wall_ns;
  if (trial->rounds > 1) /* the allocator's caches grow in the first round */
    add_point(trial, message_number(reply, "iterations"), (double)trial->rss);
  trial_accuracy(reply, trial);
  if (message_bool(reply, "is_within")) return;
  struct worker_end end = {.status = STATUS_wrong, .stage = STAGE_verify, .rel_l2 = NAN};
  snprintf(end.reason, sizeof end.reason,
           "inside the timed run, after a correct first inference: %s",
           message_text(reply, "where"));
  trial_end(trial, &end);
}

/* Copy times, if the worker reports them: a few input copies per slice, the output copy of each
   sample. */
static bool take_copies(struct trial *trial, const json_t *reply, struct block *block,
                        uint64_t wall_ns) {
  const int64_t in = message_int(reply, "copy_in", 0), out = message_int(reply, "copy_out", 0);
  if (in &&
      !slice_samples(trial, "copy_in", TIMES_INSTANTS, block->round, in, wall_ns, &block->copy_in))
    return false;
  block->copy_in_count = (size_t)in;
  if (!out) return true;
  if (out != (int64_t)block->sample_count ||
      !slice_samples(trial, "copy_out", TIMES_INSTANTS, block->round, out, wall_ns,
                     &block->copy_out))
    return false;
  block->copy_out_count = (size_t)out;
  for (size_t i = 0; i < block->sample_count; i++)
    if (block->copy_out[i] > block->samples[i]) return false;
  return true;
}

static hone_status store_block(struct bench *bench, struct trial *trial, const json_t *reply,
                               struct block *block, uint64_t wall_ns) {
  int64_t count = message_int(reply, "samples", 0), rewarm = message_int(reply, "rewarm", 0);
  const bool is_single = !strcmp(trial->config->scenario, "single");
  bool is_valid =
      message_int(reply, "round", -1) == block->round &&
      slice_samples(trial, "block", is_single ? TIMES_IN_TURN : TIMES_OVERLAPPING, block->round,
                    count, wall_ns, &block->samples) &&
      slice_samples(trial, "rewarm", TIMES_IN_TURN, block->round, rewarm, wall_ns, &block->rewarm);
  if (is_valid && !is_single)
    is_valid = slice_samples(trial, "scheduled", TIMES_INSTANTS, block->round, count, wall_ns,
                             &block->scheduled) &&
               slice_samples(trial, "started", TIMES_INSTANTS, block->round, count, wall_ns,
                             &block->started);
  block->sample_count = (size_t)count;
  is_valid = is_valid && take_copies(trial, reply, block, wall_ns);
  hone_status status = HONE_OK;
  if (!is_valid) {
    struct worker_end end = {.status = STATUS_protocol_error, .stage = STAGE_run, .rel_l2 = NAN};
    snprintf(end.reason, sizeof end.reason, "the samples of the worker do not match its message");
    trial_end(trial, &end);
  } else {
    if (!is_single) block->scheduled_count = block->started_count = (size_t)count;
    block->rewarm_count = (size_t)rewarm;
    take_block(trial, reply, block, wall_ns);
    const struct bench_callbacks *callbacks = bench->callbacks;
    /* samples with wrong outputs are not stored */
    if (callbacks->block && trial->is_live) status = callbacks->block(callbacks->user, block);
    if (!status && trial->is_live)
      status = slice_log_add(bench->ctx, bench->arena, &trial->progress->slices,
                             block->process_record, block);
  }
  free(block->samples);
  free(block->rewarm);
  free(block->scheduled);
  free(block->started);
  free(block->copy_in);
  free(block->copy_out);
  return status;
}

hone_status trial_slice(struct bench *bench, struct trial *trial, int round) {
  struct block block = {.process_record = trial->record.number, .round = round};
  snprintf(block.study, sizeof block.study, "%s", bench->study.key);
  snprintf(block.config, sizeof block.config, "%s", trial->config->key);
  bench_report(bench, trial->config, trial->config->model, "measure");
  block.started_unix_ms = clock_unix_ms();
  const int load = trial->config->load;
  if (load) TRY(neighbours_run(bench, load));
  struct noise_mark mark;
  noise_begin(&mark);
  uint64_t start = clock_ns();
  struct worker_end end;
  json_t *reply =
      worker_ask(&trial->worker, slice_command(bench, trial, round), "block", ASK_TIMED, &end);
  uint64_t wall_ns = clock_ns() - start;
  if (trial->worker.transport->shares_files) block.energy_uj = noise_energy(&mark);
  if (load) neighbours_rest(bench);
  if (!reply) {
    trial_end(trial, &end);
    return HONE_OK;
  }
  if (!worker_stop(&trial->worker)) trial->record.flags |= FLAG_MASK(noisy);
  block.verified = (int)message_int(reply, "verified", 0);
  noise_end(&mark, message_int(reply, "involuntary", -1), &block.noise);
  hone_status status = store_block(bench, trial, reply, &block, wall_ns);
  json_decref(reply);
  return status;
}

/* Every row of tests/faults/faults.def: a study of a faulty configuration and an intact one. The
 * faulty one ends exactly as its row says, the intact one is measured completely, and no process,
 * descriptor or folder remains. This program is its own worker.
 */
#include "identity_case.h"

#include "bench/study/study.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The shortest is for an idle machine. If a busy one does not finish the intact engine, the next is
   tried. */
static const double limits_s[] = {0.8, 8, 80};
#define PATIENT_S 80
#define MEMORY_LIMIT (100u << 20)
#define ROUNDS 2

static const struct fault_row {
  const char *name, *options;
  enum record_status status;
  enum record_stage stage;
  const char *reason;
  uint32_t flags;
} rows[] = {
#define FAULT(name, options, status, stage, reason, flags) \
  {#name, options, STATUS_##status, STAGE_##stage, reason, flags},
#include "../faults/faults.def"
#undef FAULT
};

struct outcome {
  struct config cells[4];
  size_t config_count;
  struct process_record ends[16];
  size_t end_count;
  int blocks[4];
  bool is_verified;
};

static hone_status take_study(void *user, const struct bench_study *study) {
  struct outcome *out = user;
  assert_true(study->config_count <= COUNT(out->cells));
  out->config_count = study->config_count;
  memcpy(out->cells, study->configs, study->config_count * sizeof *out->cells);
  return HONE_OK;
}

static size_t config_of(const struct outcome *outcome, const char *key) {
  for (size_t i = 0; i < outcome->config_count; i++)
    if (!strcmp(outcome->cells[i].key, key)) return i;
  assert_string_equal(key, "the key of a cell");
  return 0;
}

static hone_status take_block(void *user, const struct block *block) {
  struct outcome *out = user;
  out->blocks[config_of(out, block->config)]++;
  assert_true(block->sample_count > 0);
  for (size_t i = 0; i < block->sample_count; i++) assert_true(block->samples[i] > 0);
  return HONE_OK;
}

static hone_status take_process(void *user, const struct process_record *process_record) {
  struct outcome *out = user;
  assert_true(out->end_count < COUNT(out->ends));
  out->ends[out->end_count++] = *process_record;
  return HONE_OK;
}

static hone_status run_with(const char *fake_options, double timeout_s,
                            const volatile sig_atomic_t *interrupted, struct outcome *out) {
  const char *models[] = {model_path}, *backends[] = {"fake", "null"};
  const int threads[] = {1};
  const struct bench_pair pairs[] = {{"fake", fake_options}};
  const struct bench_options options = {.models = models,
                                        .model_count = 1,
                                        .backends = backends,
                                        .backend_count = 2,
                                        .threads = threads,
                                        .thread_count = 1,
                                        .backend_options = pairs,
                                        .backend_option_count = 1,
                                        .min_samples = 100, /* more than any row's `after` */
                                        .min_time_s = 0.02,
                                        .warmup_s = 0.01,
                                        .processes = 1,
                                        .rounds = ROUNDS,
                                        .timeout_s = timeout_s,
                                        .memory_limit_bytes = MEMORY_LIMIT,
                                        .seed = 7,
                                        .cache_dir = folder,
                                        .interrupted = interrupted};
  const struct bench_callbacks callbacks = {
      .user = out, .begin = take_study, .block = take_block, .process_record = take_process};
  struct ctx ctx;
  ctx_init(&ctx);
  *out = (struct outcome){.config_count = 0};
  hone_status status = bench_run(&ctx, &options, &callbacks);
  if (status && status != HONE_E_INTERRUPTED) print_message("%s\n", ctx.message);
  return status;
}

static const struct process_record *end_of(const struct outcome *outcome, const char *backend) {
  const struct process_record *found = NULL;
  for (size_t i = 0; i < outcome->end_count; i++)
    if (!strcmp(outcome->cells[config_of(outcome, outcome->ends[i].config)].backend, backend)) {
      assert_null(found); /* one process, one end */
      found = &outcome->ends[i];
    }
  assert_non_null(found);
  return found;
}

/* Processes that run this program as a worker: all of ours are gone when a study is over. */
static int living_workers(void) {
  char self[4096];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  assert_true(length > 0);
  self[length] = 0;
  int count = 0;
  DIR *dir = opendir("/proc");
  for (struct dirent *entry; (entry = readdir(dir));) {
    int64_t pid;
    if (!parse_i64(entry->d_name, 1, INT32_MAX, &pid) || pid == getpid()) continue;
    char path[64], other[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, other, sizeof other - 1);
    if (n <= 0) continue;
    other[n] = 0;
    count += !strcmp(other, self);
  }
  closedir(dir);
  return count;
}

static void check_row(const struct fault_row *row) {
  int descriptors = open_descriptors();
  struct outcome outcome;
  const struct process_record *faulty, *sound;
  size_t turn = row->status == STATUS_timeout ? 0 : COUNT(limits_s) - 1;
  do {
    assert_int_equal(run_with(row->options, limits_s[turn], NULL, &outcome), HONE_OK);
    faulty = end_of(&outcome, "fake");
    sound = end_of(&outcome, "null");
  } while ((sound->status != STATUS_ok || faulty->stage != row->stage) && ++turn < COUNT(limits_s));
  uint32_t other = FLAG_MASK(synthetic) | FLAG_MASK(noisy) | FLAG_MASK(unsteady);
  bool is_as_told = faulty->status == row->status && faulty->stage == row->stage &&
                    strstr(faulty->reason, row->reason) && (faulty->flags & ~other) == row->flags;
  if (!is_as_told)
    print_message("%s: status %s, stage %s, flags %x, reason: %s\n", row->name,
                  status_text(faulty->status), stage_text(faulty->stage), faulty->flags,
                  faulty->reason);
  assert_true(is_as_told);
  /* the next cell is unaffected */
  assert_int_equal(sound->status, STATUS_ok);
  assert_int_equal(sound->flags & ~other, 0);
  assert_int_equal(outcome.blocks[config_of(&outcome, sound->config)], ROUNDS);
  if (row->status == STATUS_ok)
    assert_int_equal(outcome.blocks[config_of(&outcome, faulty->config)], ROUNDS);
  /* and nothing is left */
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  assert_int_equal(living_workers(), 0);
  assert_int_equal(open_descriptors(), descriptors);
}

static void every_fault_ends_as_its_row_says(void **state) {
  (void)state;
  const char *only = getenv("HONE_FAULT"); /* one row: HONE_FAULT=deaf build/tests/test_faults */
  for (size_t i = 0; i < COUNT(rows); i++)
    if (!only || !strcmp(only, rows[i].name)) check_row(&rows[i]);
}

/* From the limit to the end of the whole tree: at once, or 2 s for one that ignores SIGTERM. Both sleep for much longer
   than a busy machine may add to that. */
static void timeouts_end_soon(void **state) {
  (void)state;
  static const char *const cases[] = {"fault=sleep;at=open", "fault=escape;at=open"};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct outcome outcome;
    const uint64_t start = clock_ns();
    assert_int_equal(run_with(cases[i], limits_s[0], NULL, &outcome), HONE_OK);
    assert_int_equal(end_of(&outcome, "fake")->status, STATUS_timeout);
    assert_true(clock_ns() - start < 120000000000u);
  }
}

static void memory_peak_is_recorded(void **state) {
  (void)state;
  struct outcome outcome;
  assert_int_equal(run_with("fault=memory;n=30000;after=1", PATIENT_S, NULL, &outcome), HONE_OK);
  assert_true(end_of(&outcome, "fake")->rss_peak >= (int64_t)MEMORY_LIMIT);
}

static void an_interrupt_keeps_the_rest(void **state) {
  (void)state;
  const volatile sig_atomic_t interrupted = 1;
  struct outcome outcome;
  assert_int_equal(run_with("", PATIENT_S, &interrupted, &outcome), HONE_E_INTERRUPTED);
  assert_int_equal(living_workers(), 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "worker")) return worker_main(argc, argv);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_fault_ends_as_its_row_says),
      cmocka_unit_test(timeouts_end_soon),
      cmocka_unit_test(memory_peak_is_recorded),
      cmocka_unit_test(an_interrupt_keeps_the_rest),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}

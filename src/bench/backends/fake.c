/* fake: scripted timings and faults, to test the harness without an engine. Like null it copies its
 * input; options choose what else happens:
 *
 *   latency_us=N   each inference takes N us of this thread's time; jitter_us=N adds up to N more
 *   fault=NAME     a row of `faults`, at=prepare|open|again|bind|submit|close, after=N submits;
 *                  again: when a process opens that is not the configuration's first
 *   mark=FILE      faults begin once it exists: the end of a session makes it
 *   n=N            the fault's number: exit code, MiB, ...
 *   cheat=NAME     a wrong kind of output, a row of `cheats`; from the after-th submit on
 *
 * It exists only with HONE_TESTING=1, and its records have the flag synthetic.
 */
#include "core/os/os.h"
#include "backends.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONG_LINE (65u << 20) /* bytes: more than the harness reads of one line */
#define RESULT_FD 4           /* the descriptor on which the worker answers */

struct session {
  struct {
    const float *input;
    float *output;
  } sets[BACKEND_MAX_SETS];
  size_t count;
  uint64_t latency_ns, jitter_ns;
  int64_t submits, after;
  enum cheat {
    CHEAT_NONE,
    CHEAT_WRONG,
    CHEAT_NAN,
    CHEAT_SKIP,
    CHEAT_PREVIOUS,
    CHEAT_SMALL,
    CHEAT_FIRST,
    CHEAT_HALF,
    CHEAT_LATE,
    CHEAT_ROUNDED
  } cheat;
  int previous, first, late; /* sets; -1: none */
  struct random random;
  char options[512];
};

/* -- faults: none of them returns a status; what is left of the process decides */

static void say(const char *line) { write_all(RESULT_FD, line, strlen(line)); }

static void raise_default(int number) {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(number, SIG_DFL);
  raise(number);
}
static void fault_exit(int64_t n) { _exit((int)n); }
static void fault_signal(int64_t n) { raise_default((int)n); }
static void fault_sleep(int64_t n) {
  (void)n;
  for (;;) pause();
}
static void fault_spin(int64_t n) {
  for (volatile uint64_t i = (uint64_t)n;; i++) continue;
}
static void fault_deaf(int64_t n) {
  signal(SIGTERM, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  fault_sleep(n);
}
/* Starts a grandchild in its own session, and hangs. */
static void fault_escape(int64_t n) {
  pid_t pid = fork();
  if (!pid) {
    setsid();
    if (fork()) _exit(0);
    fault_deaf(n);
  }
  fault_deaf(n);
}
/* Starts the same grandchild and continues normally. */
static void fault_orphan(int64_t n) {
  pid_t pid = fork();
  if (!pid) {
    setsid();
    if (fork()) _exit(0);
    fault_deaf(n);
  }
  while (waitpid(pid, NULL, 0) < 0) continue;
}
static void fault_forks(int64_t n) {
  for (int64_t i = 0; i < n && i < 64; i++)
    if (!fork()) fault_deaf(n);
  fault_sleep(n);
}
static void fault_memory(int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    char *block = malloc(1 << 20);
    if (!block) break;
    memset(block, 1, 1 << 20);
  }
  fault_sleep(n);
}
static void fault_disk(int64_t n) {
  int fd = open("fill", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  static const char block[1 << 16];
  for (int64_t i = 0; i < n * 16; i++)
    if (write(fd, block, sizeof block) < 0) break;
  close(fd);
}
static void fault_stdout(int64_t n) {
  char block[4096];
  for (size_t i = 0; i < sizeof block; i++) block[i] = (char)(i * 7);
  for (int64_t i = 0; i < n * 256; i++) write_all(1, block, sizeof block);
  static const char line[] = "\n{\"event\":\"block\",\"round\":0}\n\x1b[2J\x1b]0;x\a";
  write_all(1, line, sizeof line - 1);
}
static void fault_garbage(int64_t n) {
  (void)n;
  say("this is not JSON\n");
}
static void fault_half(int64_t n) {
  (void)n;
  say("{\"event\":\"blo");
  _exit(0);
}
static void fault_long(int64_t n) {
  (void)n;
  char block[4096];
  memset(block, 'x', sizeof block);
  for (size_t i = 0; i <= LONG_LINE / sizeof block; i++) write_all(RESULT_FD, block, sizeof block);
}
static void fault_unknown_key(int64_t n) {
  (void)n;
  say("{\"event\":\"stage\",\"stage\":\"run\",\"surprise\":1}\n");
}
static void fault_wrong_cell(int64_t n) {
  (void)n;
  say("{\"event\":\"failed\",\"cell\":\"0123456789abcdef0123456789abcdef\",\"stage\":\"run\","
      "\"status\":\"error\",\"reason\":\"x\"}\n");
}
static void fault_deep(int64_t n) {
  (void)n;
  for (int i = 0; i < 100000; i++) say("[");
  say("\n");
}
static void fault_child_writes(int64_t n) {
  pid_t pid = fork();
  if (!pid) {
    fault_garbage(n);
    _exit(0);
  }
  while (waitpid(pid, NULL, 0) < 0) continue;
}
static void fault_close_fds(int64_t n) {
  (void)n;
  for (int fd = 0; fd < 64; fd++) close(fd);
}
/* Changes of the process that must not affect the next configuration. */
static void fault_litter(int64_t n) {
  (void)n;
  umask(0777);
  if (chdir("/")) return;
  cpu_set_t none;
  CPU_ZERO(&none);
  CPU_SET(0, &none);
  sched_setaffinity(0, sizeof none, &none);
}

static const struct fault {
  const char *name;
  void (*act)(int64_t number);
} faults[] = {
    {"child_writes", fault_child_writes},
    {"close_fds", fault_close_fds},
    {"deaf", fault_deaf},
    {"deep", fault_deep},
    {"disk", fault_disk},
    {"escape", fault_escape},
    {"exit", fault_exit},
    {"forks", fault_forks},
    {"garbage", fault_garbage},
    {"half", fault_half},
    {"litter", fault_litter},
    {"long", fault_long},
    {"memory", fault_memory},
    {"orphan", fault_orphan},
    {"signal", fault_signal},
    {"sleep", fault_sleep},
    {"spin", fault_spin},
    {"stdout", fault_stdout},
    {"unknown_key", fault_unknown_key},
    {"wrong_cell", fault_wrong_cell},
};

/* Failures that the engine reports. */
static const struct {
  const char *name;
  hone_status status;
} reports[] = {{"error", HONE_E_FORMAT},
               {"missing", HONE_E_MISSING},
               {"oom", HONE_E_OOM},
               {"unsupported", HONE_E_UNSUP}};

/* -- script */

/* Acts by the options for this stage. */
static hone_status act(struct ctx *ctx, const char *options, const char *stage) {
  char at[256], name[256], mark[256];
  int64_t number;
  TRY(option_int(ctx, options, "n", 0, 0, INT64_MAX, &number));
  if (!option_get(options, "at", at)) snprintf(at, sizeof at, "submit");
  if (!option_get(options, "fault", name) || strcmp(at, stage)) return HONE_OK;
  if (option_get(options, "mark", mark) && access(mark, F_OK)) return HONE_OK;
  for (size_t i = 0; i < COUNT(reports); i++)
    if (!strcmp(reports[i].name, name))
      return fail(ctx, reports[i].status, place_name("fake"), "scripted %s in %s", name, stage);
  for (size_t i = 0; i < COUNT(faults); i++)
    if (!strcmp(faults[i].name, name)) {
      faults[i].act(number);
      return HONE_OK;
    }
  return fail(ctx, HONE_E_USAGE, place_name(name), "fake has no such fault");
}

static enum cheat find_cheat(const char *options) {
  static const char *const cheats[] = {"none",  "wrong", "nan",  "skip", "previous",
                                       "small", "first", "half", "late", "rounded"};
  char name[256];
  if (option_get(options, "cheat", name))
    for (size_t i = 0; i < COUNT(cheats); i++)
      if (!strcmp(cheats[i], name)) return (enum cheat)i;
  return CHEAT_NONE;
}

/* -- the seven functions */

static hone_status prepare(struct ctx *ctx, const struct backend_request *request,
                           struct backend_facts *facts) {
  (void)facts;
  return act(ctx, request->options, "prepare");
}

static hone_status read_script(struct ctx *ctx, const char *options, struct session *s) {
  int64_t latency, jitter, seed;
  TRY(option_int(ctx, options, "latency_us", 20, 0, 1000000000, &latency));
  TRY(option_int(ctx, options, "jitter_us", 0, 0, 1000000000, &jitter));
  TRY(option_int(ctx, options, "seed", 1, 0, INT64_MAX, &seed));
  TRY(option_int(ctx, options, "after", 0, 0, INT64_MAX, &s->after));
  s->latency_ns = (uint64_t)latency * 1000;
  s->jitter_ns = (uint64_t)jitter * 1000;
  s->cheat = find_cheat(options);
  s->previous = s->first = s->late = -1;
  random_init(&s->random, (uint64_t)seed);
  snprintf(s->options, sizeof s->options, "%s", options);
  return HONE_OK;
}

static hone_status open_session(struct ctx *ctx, struct session *s,
                                const struct backend_request *request, struct backend_facts *facts,
                                struct backend_io *out_io) {
  char wanted[256];
  size_t bytes = 0;
  TRY(act(ctx, request->options, "open"));
  if (request->use_cache) TRY(act(ctx, request->options, "again"));
  TRY(identity_io(ctx, request, out_io, &bytes));
  TRY(read_script(ctx, request->options, s));
  hone_tensor *y = &out_io->outputs[0].info;
  if (option_get(request->options, "output", wanted)) {
    if (!strcmp(wanted, "shape")) y->shape[0]++;
    if (!strcmp(wanted, "dtype")) y->dtype = HONE_I32;
  }
  s->count = bytes / sizeof(float);
  identity_facts(request, facts);
  return HONE_OK;
}

static hone_status bind_set(struct ctx *ctx, struct session *s, int set, const hone_tensor *inputs,
                            const hone_tensor *outputs) {
  s->sets[set].input = inputs[0].data;
  s->sets[set].output = outputs[0].data;
  return set ? HONE_OK : act(ctx, s->options, "bind");
}

static uint32_t f32_bits(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static void write_output(struct session *s, int set) {
  float *y = s->sets[set].output;
  const float *x = s->sets[set].input;
  enum cheat cheat = s->submits > s->after ? s->cheat : CHEAT_NONE;
  if (cheat == CHEAT_SKIP) return;
  if (cheat == CHEAT_PREVIOUS && s->previous >= 0) x = s->sets[s->previous].input;
  if (s->first < 0) s->first = set;
  if (cheat == CHEAT_FIRST) x = s->sets[s->first].input;
  if (cheat == CHEAT_LATE) { /* reports completion, but writes at the next call */
    const int late = s->late;
    s->late = set;
    if (late < 0) return;
    y = s->sets[late].output;
    x = s->sets[late].input;
  }
  memcpy(y, x, (cheat == CHEAT_HALF ? s->count / 2 : s->count) * sizeof *y);
  for (size_t i = 0; cheat == CHEAT_ROUNDED && i < s->count; i++)
    y[i] = bf16_to_f32((uint16_t)(f32_bits(y[i]) >> 16));
  if (cheat == CHEAT_WRONG) y[s->count - 1] += 1.0f;
  if (cheat == CHEAT_NAN) y[0] = NAN;
  if (cheat == CHEAT_SMALL) y[0] *= 1.0f + 1e-6f; /* within the tolerance: not wrong */
}

static hone_status submit(struct ctx *ctx, struct session *s, int set) {
  uint64_t start = clock_ns(), took = s->latency_ns;
  if (s->jitter_ns) took += random_below(&s->random, s->jitter_ns);
  s->submits++;
  if (s->submits == s->after + 1) TRY(act(ctx, s->options, "submit"));
  write_output(s, set);
  s->previous = set;
  while (clock_ns() - start < took) continue;
  return HONE_OK;
}

static void make_mark(const char *options) {
  char mark[256];
  const int fd =
      option_get(options, "mark", mark) ? open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (fd >= 0) close(fd);
}

static void close_session(struct session *s) {
  struct ctx ctx;
  ctx_init(&ctx);
  make_mark(s->options);
  hone_status ignored = act(&ctx, s->options, "close");
  (void)ignored;
}

const struct backend backend_fake = {
    .name = "fake",
    .title = "fake",
    .formats = "onnx",
    .testing_only = true,
    .describe = describe_built_in,
    .prepare = prepare,
    .session_size = sizeof(struct session),
    .open = open_session,
    .bind = bind_set,
    .submit = submit,
    .wait = wait_nothing,
    .close = close_session,
};

/* team.c, stages.h: every chunk of a stage is done once and the next stage sees it, under
 * repetition and with more threads than cores; sleeping teams wake; no barrier waits for a thread
 * that does not exist. loader.c: intact files load, damaged ones are errors. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/run/run.h"

/* Delays reads of other threads' writes in this file's stages, so that rare interleavings become
   frequent. */
static _Atomic bool is_late;
static void be_late(void) {
  if (is_late) usleep(20);
}
static uint64_t load_64(const _Atomic uint64_t *p, memory_order order) {
  be_late();
  return atomic_load_explicit(p, order);
}
static uint32_t load_32(const _Atomic uint32_t *p, memory_order order) {
  be_late();
  return atomic_load_explicit(p, order);
}
static int load_int(const _Atomic int *p, memory_order order) {
  be_late();
  return atomic_load_explicit(p, order);
}
#undef atomic_load_explicit
#define atomic_load_explicit(p, order) \
  _Generic((p), _Atomic uint64_t *: load_64, _Atomic uint32_t *: load_32, _Atomic int *: load_int)(p, order)
#include "compiler/run/stages.h"
#include "toy_artifact.h"

enum { STAGES = 20, MOST = 8, CHUNKS = 40 };

/* Stage k has k * 7 % 41 + 1 chunks at most, so that shares are uneven and some threads have none. */
struct walk {
  struct hone_job job;
  int stage, chunks;
  int32_t slots[CHUNKS][32]; /* a cache line and more for each chunk */
  int32_t scratch[MOST];     /* of a thread */
  atomic_int errors, calls;
};

/* Plain memory all along: ThreadSanitizer sees stages that are not in order, and two threads that are
   one. */
static void begin_stage(void *argument, int32_t thread, struct hone_stage *stage) {
  struct walk *walk = argument;
  for (int i = 0; i < walk->chunks; i++)
    if (walk->slots[i][0] != walk->stage) atomic_fetch_add(&walk->errors, 1);
  walk->scratch[thread]++;
  if (walk->stage++ == STAGES) {
    walk->stage = walk->chunks = stage->chunks = 0;
    return;
  }
  if (walk->stage % 3 == 0 && stage->threads > 2) stage->threads = 2;
  int most = stage->chunks * stage->threads, wanted = walk->stage * 7 % CHUNKS + 1;
  walk->chunks = stage->chunks = wanted < most ? wanted : most;
}

static void do_chunk(void *argument, int32_t chunk, int32_t thread) {
  struct walk *walk = argument;
  walk->scratch[thread]++;
  walk->slots[chunk][0] = walk->stage;
  atomic_fetch_add(&walk->calls, 1);
}

static void walk_init(struct walk *walk) {
  memset(walk, 0, sizeof *walk);
  walk->job = (struct hone_job){walk, begin_stage, do_chunk};
}

static int calls_of_a_run(int threads) {
  int calls = 0;
  for (int stage = 1; stage <= STAGES; stage++) {
    int count = stage % 3 == 0 && threads > 2 ? 2 : threads, most = STAGES_SHARE_CHUNKS * count;
    calls += stage * 7 % CHUNKS + 1 < most ? stage * 7 % CHUNKS + 1 : most;
  }
  return calls;
}

static void stages_are_in_order(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  for (int threads = 2; threads <= MOST; threads++) {
    struct team *team;
    assert_int_equal(team_create(&ctx, threads, false, &team), HONE_OK);
    const struct hone_team *interface = team_interface(team);
    struct walk walk;
    walk_init(&walk);
    assert_int_equal(interface->thread_count, threads);
    int runs = threads <= usable_core_count() ? 500 : 50;
    for (int i = 0; i < runs; i++) interface->run(interface->self, &walk.job);
    assert_int_equal(atomic_load(&walk.errors), 0);
    assert_int_equal(atomic_load(&walk.calls), runs * calls_of_a_run(threads));
    team_destroy(team);
  }
}

static void team_of_one(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct team *team;
  assert_int_equal(team_create(&ctx, 1, false, &team), HONE_OK);
  struct walk walk;
  walk_init(&walk);
  team_interface(team)->run(team_interface(team)->self, &walk.job);
  assert_int_equal(atomic_load(&walk.errors), 0);
  assert_int_equal(atomic_load(&walk.calls), STAGES); /* all in one chunk */
  team_destroy(team);
}

/* One team, several callers: each job is done once and in order, on any thread. */
struct caller {
  const struct hone_team *team;
  struct walk walk;
  int runs;
};
static void *call(void *argument) {
  struct caller *caller = argument;
  for (int i = 0; i < caller->runs; i++) caller->team->run(caller->team->self, &caller->walk.job);
  return NULL;
}
static void callers_share_a_team(void **state) {
  (void)state;
  enum { CALLERS = 8, RUNS = 300 };
  static struct caller callers[CALLERS];
  struct ctx ctx;
  ctx_init(&ctx);
  for (int threads = 1; threads <= 4; threads++) {
    struct team *team;
    pthread_t ids[CALLERS];
    assert_int_equal(team_create(&ctx, threads, false, &team), HONE_OK);
    for (int i = 0; i < CALLERS; i++) {
      callers[i] = (struct caller){.team = team_interface(team), .runs = RUNS};
      walk_init(&callers[i].walk);
      assert_int_equal(pthread_create(&ids[i], NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
      const int least = RUNS * STAGES, most = RUNS * calls_of_a_run(4);
      assert_int_equal(pthread_join(ids[i], NULL), 0);
      assert_int_equal(atomic_load(&callers[i].walk.errors), 0);
      assert_in_range(atomic_load(&callers[i].walk.calls), least, most);
    }
    team_destroy(team);
  }
}

/* A child created by fork() during its parent's runs: it runs and ends the team, and neither
   process hangs. */
static void a_child_has_a_team_too(void **state) {
#ifdef __SANITIZE_THREAD__
  skip(); /* it does not know threads that a child starts */
#endif
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct team *team;
  static struct caller caller;
  pthread_t busy;
  assert_int_equal(team_create(&ctx, 3, false, &team), HONE_OK);
  caller = (struct caller){.team = team_interface(team), .runs = 2000};
  walk_init(&caller.walk);
  assert_int_equal(pthread_create(&busy, NULL, call, &caller), 0);
  for (int i = 0; i < 10; i++) {
    pid_t child = fork();
    if (!child) {
      alarm(60);
      struct caller own = {.team = team_interface(team), .runs = 20};
      walk_init(&own.walk);
      call(&own);
      bool ok =
          !atomic_load(&own.walk.errors) && atomic_load(&own.walk.calls) == 20 * calls_of_a_run(3);
      team_destroy(team);
      _exit(ok ? 0 : 1);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
  }
  assert_int_equal(pthread_join(busy, NULL), 0);
  assert_int_equal(atomic_load(&caller.walk.errors), 0);
  team_destroy(team);
}

/* Threads that never come, come in the middle, come for the end of a run that others did. */
static void nobody_waits_for_the_absent(void **state) {
  (void)state;
  _Alignas(128) struct stages_share shares[4] = {{0}};
  struct stages stages = {.thread_count = 4, .shares = shares};
  struct walk walk;
  walk_init(&walk);
  for (int i = 0; i < 50; i++) stages_run(&stages, &walk.job);
  assert_int_equal(atomic_load(&walk.errors), 0);
  assert_int_equal(atomic_load(&walk.calls), 50 * calls_of_a_run(4));
  for (int32_t t = 0; t < 4; t++) assert_int_equal(walk.scratch[t] != 0, t == 0);
}

/* A thread that looked at a round and slept over its end takes nothing of a later one. */
static void what_was_seen_late_is_not_taken(void **state) {
  (void)state;
  struct stages_share share = {0};
  uint64_t at;
  assert_true(stages_take(&share, 7, 2, true, &at) && at == 0);
  assert_true(stages_take(&share, 7, 2, false, &at) && at == 0);
  assert_false(stages_take(&share, 7, 2, true, &at));
  assert_true(stages_take(&share, 9, 3, true, &at) && at == 0);
  assert_false(stages_take(&share, 7, 2, true, &at));
  assert_false(stages_take(&share, 8, 200, false, &at));
  assert_true(stages_take(&share, 9, 3, true, &at) && at == 1);
}

static void sleeping_team_wakes(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct team *team;
  assert_int_equal(team_create(&ctx, 3, false, &team), HONE_OK);
  struct walk walk;
  walk_init(&walk);
  for (int i = 0; i < 200; i++) {
    /* around the 50 us after which workers sleep, so that both sides of the hand-over are met */
    struct timespec pause = {0, i % 20 * 8000};
    nanosleep(&pause, NULL);
    team_interface(team)->run(team_interface(team)->self, &walk.job);
  }
  assert_int_equal(atomic_load(&walk.errors), 0);
  assert_int_equal(atomic_load(&walk.calls), 200 * calls_of_a_run(3));
  team_destroy(team);
}

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Workers that begin while the team ends miss neither its end nor the bell: where the end was looked for before the round
   one in some 50,000 teams slept for ever. */
static struct stages short_lived;
static void *serve(void *argument) {
  stages_serve(&short_lived, *(int32_t *)argument);
  return NULL;
}
static void teams_end_as_they_begin(void **state) {
  (void)state;
  static struct stages_share shares[3];
  int32_t index[] = {1, 2};
  is_late = true;
  for (int i = 0; i < 300; i++) {
    short_lived = (struct stages){.thread_count = 3, .shares = shares};
    pthread_t threads[COUNT(index)];
    for (size_t k = 0; k < COUNT(index); k++)
      assert_int_equal(pthread_create(&threads[k], NULL, serve, &index[k]), 0);
    stages_end(&short_lived);
    for (size_t k = 0; k < COUNT(index); k++) assert_int_equal(pthread_join(threads[k], NULL), 0);
  }
}

static void idle_team_uses_no_processor(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct team *team;
  assert_int_equal(team_create(&ctx, 2, false, &team), HONE_OK);
  struct walk walk;
  walk_init(&walk);
  team_interface(team)->run(team_interface(team)->self, &walk.job);
  double before = cpu_seconds();
  struct timespec pause = {0, 200000000};
  nanosleep(&pause, NULL);
  assert_true(cpu_seconds() - before < 0.02);
  team_destroy(team);
}

/* One stage of a chunk for each thread; a chunk ends when all have begun, so that each does one. */
struct meeting {
  atomic_int present;
  int stage, chunks;
  /* of chunk 0, before it ends, and the CPU time of all threads meanwhile */
  double sleeps_s, slept_cpu_s;
  int cpus[MOST];
};

static void meet(void *argument, int32_t thread, struct hone_stage *stage) {
  struct meeting *meeting = argument;
  (void)thread;
  stage->chunks = meeting->chunks = meeting->stage++ ? 0 : stage->threads;
}

static void be_there(void *argument, int32_t chunk, int32_t thread) {
  struct meeting *meeting = argument;
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  meeting->cpus[thread] = CPU_COUNT(&set);
  atomic_fetch_add(&meeting->present, 1);
  while (atomic_load(&meeting->present) < meeting->chunks) sched_yield();
  struct timespec pause = {0, (long)(meeting->sleeps_s * 1e9)};
  if (chunk) return;
  /* until here a busy machine may keep one waiting for the other */
  const double before = cpu_seconds();
  nanosleep(&pause, NULL);
  meeting->slept_cpu_s = cpu_seconds() - before;
}

/* The others sleep while one chunk takes long: spinning is bounded within a run too. */
static void waiting_ends_in_sleep(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct team *team;
  assert_int_equal(team_create(&ctx, 2, false, &team), HONE_OK);
  struct meeting meeting = {.sleeps_s = 0.3};
  const struct hone_job job = {&meeting, meet, be_there};
  team_interface(team)->run(team_interface(team)->self, &job);
  assert_true(meeting.slept_cpu_s < 0.1);
  team_destroy(team);
}

static void pinning_is_undone(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof before, &before);
  struct team *team;
  assert_int_equal(team_create(&ctx, 3, true, &team), HONE_OK);
  struct meeting meeting = {0};
  const struct hone_job job = {&meeting, meet, be_there};
  team_interface(team)->run(team_interface(team)->self, &job);
  for (int t = 0; t < 3; t++) assert_int_equal(meeting.cpus[t], 1);
  team_destroy(team);
  sched_getaffinity(0, sizeof after, &after);
  assert_true(CPU_EQUAL(&before, &after));
}

static void bad_thread_counts(void **state) {
  (void)state;
  static const int counts[] = {0, -1, 1025, INT32_MAX};
  for (size_t i = 0; i < COUNT(counts); i++) {
    struct ctx ctx;
    ctx_init(&ctx);
    struct team *team;
    assert_int_equal(team_create(&ctx, counts[i], false, &team), HONE_E_USAGE);
    assert_null(team);
  }
}

/* -- loader */

static char folder[4096];

static int make_folder(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  if (dir_temporary(&ctx, folder)) return -1;
  char path[4200];
  snprintf(path, sizeof path, "%s/whole.so", folder);
  return toy_build(&ctx, NULL, path, "hone_model", false, 0) ? -1 : 0;
}

static int remove_folder(void **state) {
  (void)state;
  dir_remove_tree(folder);
  return 0;
}

static hone_status load_bytes(const void *data, size_t size, char message[2048]) {
  struct ctx ctx;
  ctx_init(&ctx);
  char path[4200];
  snprintf(path, sizeof path, "%s/damaged.so", folder);
  assert_int_equal(file_write_atomic(&ctx, path, data, size, 0600), HONE_OK);
  struct loaded loaded;
  hone_status status = artifact_load(&ctx, path, NULL, &loaded);
  if (!status) artifact_unload(&loaded);
  memcpy(message, ctx.message, sizeof ctx.message);
  return status;
}

static void arena_is_aligned_and_writable(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  char path[4200];
  snprintf(path, sizeof path, "%s/whole.so", folder);
  struct loaded loaded;
  assert_int_equal(artifact_load(&ctx, path, NULL, &loaded), HONE_OK);
  assert_int_equal((uintptr_t)loaded.arena % 64, 0);
  assert_int_equal(loaded.arena_bytes, 128);
  memset(loaded.arena, 1, loaded.arena_bytes);
  assert_memory_equal(loaded.weights, toy_weights, sizeof toy_weights);
  artifact_unload(&loaded);
  artifact_unload(&loaded); /* harmless */
}

/* Runs that overlap have arenas of their own; one more than may go on waits, and in a child made by fork()
   what the parent's threads had is idle again. */
static _Atomic bool has_waited;
static void *take_one(void *argument) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct arena_pool *pool = argument;
  struct run_arena *arena;
  void *memory;
  assert_int_equal(arenas_take(&ctx, pool, &arena, &memory), HONE_OK);
  has_waited = true;
  arenas_give(pool, arena);
  return NULL;
}
static void arenas_of_runs_that_overlap(void **state) {
  (void)state;
  enum { LEAST = 2, MOST_HERE = 1024 };
  struct ctx ctx;
  ctx_init(&ctx);
  char path[4200];
  snprintf(path, sizeof path, "%s/whole.so", folder);
  struct loaded loaded;
  assert_int_equal(artifact_load(&ctx, path, NULL, &loaded), HONE_OK);
  static struct run_arena *taken[MOST_HERE];
  static char *memory[MOST_HERE];
  int count = usable_core_count();
  size_t bytes;
  cpu_set_t *cpus = allowed_cpus(&bytes);
  if (cpus) count = CPU_COUNT_S(bytes, cpus);
  if (cpus) CPU_FREE(cpus);
  if (count < LEAST) count = LEAST;
  assert_in_range(count, LEAST, MOST_HERE);
  for (int i = 0; i < count; i++) {
    void *at;
    assert_int_equal(arenas_take(&ctx, loaded.arenas, &taken[i], &at), HONE_OK);
    memory[i] = at;
    memset(at, i & 127, loaded.arena_bytes);
  }
  for (int i = 0; i < count; i++)
    for (size_t k = 0; k < loaded.arena_bytes; k++) assert_int_equal(memory[i][k], i & 127);
  pid_t child = fork();
  if (!child) {
    alarm(60);
    void *at;
    for (int i = 0; i < count; i++)
      if (arenas_take(&ctx, loaded.arenas, &taken[i], &at)) _exit(1);
    artifact_unload(&loaded);
    _exit(0);
  }
  int how = 0;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_int_equal(how, 0);
  pthread_t another;
  assert_int_equal(pthread_create(&another, NULL, take_one, loaded.arenas), 0);
  usleep(20000);
  assert_false(has_waited);
  arenas_give(loaded.arenas, taken[0]);
  assert_int_equal(pthread_join(another, NULL), 0);
  assert_true(has_waited);
  artifact_unload(&loaded);
}

static void damaged_libraries(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  char path[4200], message[2048];
  snprintf(path, sizeof path, "%s/whole.so", folder);
  struct mapping map;
  assert_int_equal(file_map(&ctx, path, &map), HONE_OK);
  assert_int_equal(load_bytes(map.data, map.size, message), HONE_OK);
  assert_int_equal(load_bytes("", 0, message), HONE_E_FORMAT);
  assert_int_equal(load_bytes("int main(void) { return 0; }", 28, message), HONE_E_FORMAT);
  /* cut before the end of what is mapped: an error, not SIGBUS */
  for (size_t size = 1; size < map.size / 2; size += 97)
    assert_int_equal(load_bytes(map.data, size, message), HONE_E_FORMAT);
  uint8_t *other = malloc(map.size);
  memcpy(other, map.data, map.size);
  other[18] = 0xf3, other[19] = 0; /* e_machine: RISC-V */
  assert_int_equal(load_bytes(other, map.size, message), HONE_E_UNSUP);
  free(other);
  file_unmap(&map);
}

static void missing_files_and_symbols(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct loaded loaded;
  char path[4200];
  snprintf(path, sizeof path, "%s/none.so", folder);
  assert_int_equal(artifact_load(&ctx, path, NULL, &loaded), HONE_E_NOFILE);
  ctx_clear(&ctx);
  assert_int_equal(artifact_load(&ctx, folder, NULL, &loaded), HONE_E_IO);
  ctx_clear(&ctx);
  snprintf(path, sizeof path, "%s/whole.so", folder);
  assert_int_equal(artifact_load(&ctx, path, "other_artifact", &loaded), HONE_E_FORMAT);
  assert_non_null(strstr(ctx.message, "other_artifact"));
  assert_null(loaded.library);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stages_are_in_order),
      cmocka_unit_test(team_of_one),
      cmocka_unit_test(callers_share_a_team),
      cmocka_unit_test(a_child_has_a_team_too),
      cmocka_unit_test(arenas_of_runs_that_overlap),
      cmocka_unit_test(nobody_waits_for_the_absent),
      cmocka_unit_test(what_was_seen_late_is_not_taken),
      cmocka_unit_test(waiting_ends_in_sleep),
      cmocka_unit_test(sleeping_team_wakes),
      cmocka_unit_test(teams_end_as_they_begin),
      cmocka_unit_test(idle_team_uses_no_processor),
      cmocka_unit_test(pinning_is_undone),
      cmocka_unit_test(bad_thread_counts),
      cmocka_unit_test(arena_is_aligned_and_writable),
      cmocka_unit_test(damaged_libraries),
      cmocka_unit_test(missing_files_and_symbols),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

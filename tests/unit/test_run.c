/* team.c: every thread runs once, barriers separate phases, under repetition and with more threads
 * than cores; sleeping teams wake. loader.c: whole files load, damaged ones are errors. */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "run/run.h"
#include "toy_artifact.h"

enum { PHASES = 20, MOST = 8 };

struct phases {
  const struct hone_team *team;
  int32_t slots[MOST][32]; /* a cache line and more for each thread */
  atomic_int errors;
  atomic_int calls;
};

/* Each phase writes a slot, passes the barrier and reads everybody's slot of this phase. Plain
   memory: ThreadSanitizer sees a barrier that does not order it. */
static void walk(void *argument, int32_t t, int32_t count) {
  struct phases *phases = argument;
  atomic_fetch_add(&phases->calls, 1);
  for (int32_t phase = 1; phase <= PHASES; phase++) {
    phases->slots[t][0] = phase;
    phases->team->barrier(phases->team->self);
    for (int32_t i = 0; i < count; i++)
      if (phases->slots[i][0] != phase) atomic_fetch_add(&phases->errors, 1);
    phases->team->barrier(phases->team->self);
  }
}

static void barriers_separate_phases(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  for (int threads = 1; threads <= MOST; threads++) {
    struct team *team;
    assert_int_equal(team_create(&ctx, threads, false, &team), HONE_OK);
    struct phases phases = {.team = team_interface(team)};
    assert_int_equal(phases.team->thread_count, threads);
    int runs = threads <= usable_core_count() ? 500 : 20;
    for (int i = 0; i < runs; i++) phases.team->run(phases.team->self, walk, &phases);
    assert_int_equal(atomic_load(&phases.errors), 0);
    assert_int_equal(atomic_load(&phases.calls), runs * threads);
    team_destroy(team);
  }
}

static void sleeping_team_wakes(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct team *team;
  assert_int_equal(team_create(&ctx, 3, false, &team), HONE_OK);
  struct phases phases = {.team = team_interface(team)};
  for (int i = 0; i < 200; i++) {
    /* around the 50 us after which workers sleep, so that both sides of the hand-over are met */
    struct timespec pause = {0, i % 20 * 8000};
    nanosleep(&pause, NULL);
    phases.team->run(phases.team->self, walk, &phases);
  }
  assert_int_equal(atomic_load(&phases.errors), 0);
  assert_int_equal(atomic_load(&phases.calls), 600);
  team_destroy(team);
}

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void idle_team_uses_no_processor(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct team *team;
  assert_int_equal(team_create(&ctx, 2, false, &team), HONE_OK);
  struct phases phases = {.team = team_interface(team)};
  phases.team->run(phases.team->self, walk, &phases);
  double before = cpu_seconds();
  struct timespec pause = {0, 200000000};
  nanosleep(&pause, NULL);
  assert_true(cpu_seconds() - before < 0.02);
  team_destroy(team);
}

static void where(void *argument, int32_t t, int32_t count) {
  (void)count;
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  ((int *)argument)[t] = CPU_COUNT(&set);
}

static void pinning_is_undone(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof before, &before);
  struct team *team;
  assert_int_equal(team_create(&ctx, 3, true, &team), HONE_OK);
  int counts[3] = {0};
  team_interface(team)->run(team_interface(team)->self, where, counts);
  for (int t = 0; t < 3; t++) assert_int_equal(counts[t], 1);
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

/* -- loader ----------------------------------------------------------------------------------- */

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
      cmocka_unit_test(barriers_separate_phases),
      cmocka_unit_test(sleeping_team_wakes),
      cmocka_unit_test(idle_team_uses_no_processor),
      cmocka_unit_test(pinning_is_undone),
      cmocka_unit_test(bad_thread_counts),
      cmocka_unit_test(arena_is_aligned_and_writable),
      cmocka_unit_test(damaged_libraries),
      cmocka_unit_test(missing_files_and_symbols),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

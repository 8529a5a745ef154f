/* machine: levels and flags that compilers accept, features against /proc/cpuinfo, cores under an
 * affinity mask, a fingerprint without host or user names, plausible peaks. */
#include "core/os/os.h"
#include "unit.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/machine/probes.h"
#include "compiler/run/artifact.h"
#include "compiler/run/embedded/features.h"

static const struct {
  const char *triple, *level;
  int vector_bytes;
} levels[] = {
    {"x86_64-linux-gnu", "baseline", 16},   {"x86_64-linux-gnu", "avx2", 32},
    {"x86_64-linux-gnu", "avxvnni", 32},    {"x86_64-linux-gnu", "avx512", 64},
    {"x86_64-linux-gnu", "avx512vnni", 64}, {"x86_64-linux-gnu", "avx512bf16", 64},
    {"x86_64-linux-gnu", "amx", 64},        {"aarch64-linux-gnu", "neon", 16},
    {"aarch64-linux-gnu", "baseline", 16},  {"aarch64-linux-gnu", "dotprod", 16},
    {"aarch64-linux-gnu", "i8mm", 16},      {"aarch64-linux-gnu", "bf16", 16},
    {"riscv64-linux-gnu", "baseline", 16},
};

static void levels_are_known(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(levels); i++) {
    struct ctx ctx;
    ctx_init(&ctx);
    struct target target;
    assert_int_equal(target_init(&ctx, levels[i].triple, levels[i].level, &target), HONE_OK);
    assert_string_equal(target.triple, levels[i].triple);
    assert_int_equal(target.vector_bytes, levels[i].vector_bytes);
    assert_true(target.vector_registers == 16 || target.vector_registers == 32);
    assert_true(target.l1_bytes >= 16 << 10 && target.l2_bytes >= target.l1_bytes);
    size_t count = 0;
    while (count < COUNT(target.flags) && target.flags[count]) count++;
    assert_in_range(count, 1, COUNT(target.flags) - 1);
    for (size_t k = 0; k < count; k++) assert_null(strstr(target.flags[k], "native"));
  }
}

static void unknown_targets(void **state) {
  (void)state;
  static const char *const bad[][2] = {{NULL, "avx1024"},
                                       {NULL, ""},
                                       {"x86_64-linux-gnu", "neon"},
                                       {"aarch64-linux-gnu", "avx2"},
                                       {"m68k-linux-gnu", NULL},
                                       {"riscv64-linux-gnu", "host"},
                                       {"", NULL}};
  for (size_t i = 0; i < COUNT(bad); i++) {
#if defined(__riscv)
    if (bad[i][0] && !strncmp(bad[i][0], "riscv", 5)) continue;
#endif
    struct ctx ctx;
    ctx_init(&ctx);
    struct target target;
    assert_int_equal(target_init(&ctx, bad[i][0], bad[i][1], &target), HONE_E_UNSUP);
    assert_true(strlen(ctx.message) > 20);
  }
}

static void host_runs_here(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct target a, b, foreign;
  assert_int_equal(target_init(&ctx, NULL, NULL, &a), HONE_OK);
  assert_int_equal(target_init(&ctx, NULL, "host", &b), HONE_OK);
  assert_string_equal(a.level, b.level);
  assert_true(target_runs_here(&a));
  /* the named level is the same code as the found one */
  assert_int_equal(target_init(&ctx, NULL, a.level, &b), HONE_OK);
  assert_int_equal(a.features, b.features);
  assert_int_equal(
      target_init(&ctx, strncmp(a.triple, "riscv64", 7) ? "riscv64-linux-gnu" : "x86_64-linux-gnu",
                  "baseline", &foreign),
      HONE_OK);
  assert_false(target_runs_here(&foreign));
}

/* A known processor has its own speeds at every level; an unknown one has the level's speeds. */
static void speeds_of_processors(void **state) {
  (void)state;
  static const char *const names[] = {"avx2", "avx512", "avx512bf16", "amx"};
  const struct processor emerald = {"GenuineIntel", 6, 207}, genoa = {"AuthenticAMD", 25, 17},
                         milan = {"AuthenticAMD", 25, 1};
  struct ctx ctx = {0};
  for (size_t i = 0; i < COUNT(names); i++) {
    struct target target;
    assert_int_equal(target_init(&ctx, "x86_64-linux-gnu", names[i], &target), HONE_OK);
    const struct speeds level = target.speeds;
    processor_speeds(&milan, target.features, &target.speeds);
    assert_memory_equal(&target.speeds, &level, sizeof level);
    /* Zen 4 splits a 512-bit instruction in two; narrower ones are not slower */
    processor_speeds(&genoa, target.features, &target.speeds);
    const double halves = i ? 2 : 1;
    assert_true(target.speeds.f32_macs * halves == level.f32_macs);
    assert_true(target.speeds.bf16_macs * halves == level.bf16_macs);
    assert_true(target.speeds.i8_macs * halves == level.i8_macs);
    assert_true(target.speeds.memory_bytes < level.memory_bytes);
    target.speeds = level;
    processor_speeds(&emerald, target.features, &target.speeds);
    assert_true(target.speeds.l2_bytes > level.l2_bytes);
    assert_true(target.speeds.memory_bytes < level.memory_bytes);
    assert_true(target.speeds.f32_macs == level.f32_macs);
    /* AMX has more bf16 multiply-adds per cycle than f32, vdpbf16ps fewer */
    const bool dots = !strcmp(names[i], "avx512bf16");
    assert_true(target.speeds.bf16_macs == (dots ? 16 : level.bf16_macs));
  }
  struct processor own;
  processor_read(&own);
#if defined(__x86_64__)
  assert_true(strlen(own.vendor) > 0 && own.family > 0);
#else
  assert_string_equal(own.vendor, "");
#endif
}

/* Whether 512-bit multiplications are split in two, by processor model: the ends of each range of
   models, and the models next to it. */
static void processors_by_model(void **state) {
  (void)state;
  static const struct {
    struct processor processor;
    double macs; /* over the level's */
    bool transforms_slowly;
  } cases[] = {
      {{"GenuineIntel", 6, 0x55}, 1, false},   /* Skylake, server */
      {{"GenuineIntel", 6, 0x6a}, 1, false},   /* Ice Lake, server */
      {{"GenuineIntel", 6, 0x7e}, 0.5, false}, /* Ice Lake, client */
      {{"GenuineIntel", 6, 0x8c}, 0.5, false}, /* Tiger Lake */
      {{"GenuineIntel", 6, 0xa7}, 0.5, false}, /* Rocket Lake */
      {{"GenuineIntel", 6, 0xae}, 1, false},   /* Granite Rapids */
      {{"AuthenticAMD", 25, 0x0f}, 1, false},  /* Zen 3 */
      {{"AuthenticAMD", 25, 0x10}, 0.5, true}, /* Zen 4 */
      {{"AuthenticAMD", 25, 0x1f}, 0.5, true}, /* Zen 4 */
      {{"AuthenticAMD", 25, 0x20}, 1, false},  /* Zen 3 */
      {{"AuthenticAMD", 25, 0x5f}, 1, false},  /* Zen 3 */
      {{"AuthenticAMD", 25, 0x61}, 0.5, true}, /* Zen 4 */
      {{"AuthenticAMD", 25, 0x74}, 0.5, true}, /* Zen 4 */
      {{"AuthenticAMD", 25, 0xa0}, 0.5, true}, /* Zen 4c */
      {{"AuthenticAMD", 25, 0xaf}, 0.5, true}, /* Zen 4c */
      {{"AuthenticAMD", 26, 0x02}, 1, false},  /* Zen 5 */
      {{"AuthenticAMD", 26, 0x11}, 1, false},  /* Zen 5c */
      {{"AuthenticAMD", 26, 0x24}, 0.5, true}, /* Zen 5 of half the width */
      {{"AuthenticAMD", 26, 0x44}, 1, false},  /* Zen 5 */
      {{"AuthenticAMD", 26, 0x60}, 0.5, true}, /* Zen 5 of half the width */
      {{"AuthenticAMD", 26, 0x70}, 1, false},  /* Zen 5 */
  };
  struct ctx ctx = {0};
  struct target target;
  assert_int_equal(target_init(&ctx, "x86_64-linux-gnu", "avx512vnni", &target), HONE_OK);
  const struct speeds level = target.speeds;
  for (size_t i = 0; i < COUNT(cases); i++) {
    target.speeds = level;
    processor_speeds(&cases[i].processor, target.features, &target.speeds);
    assert_true(target.speeds.f32_macs == cases[i].macs * level.f32_macs);
    assert_true(target.speeds.i8_macs == cases[i].macs * level.i8_macs);
    assert_true((target.speeds.transform_cycles > level.transform_cycles) ==
                cases[i].transforms_slowly);
    assert_true(target.speeds.clock_ghz > 1 && target.speeds.l2_bytes >= 32);
  }
}

/* Both compilers know every flag of every x86 level. */
static void compilers_accept_flags(void **state) {
  (void)state;
  static const char *const compilers[] = {"gcc", "clang"};
  for (size_t c = 0; c < COUNT(compilers); c++) {
    for (size_t i = 0; i < COUNT(levels); i++) {
      struct ctx ctx;
      ctx_init(&ctx);
      struct target host, target;
      assert_int_equal(target_init(&ctx, NULL, NULL, &host), HONE_OK);
      assert_int_equal(target_init(&ctx, levels[i].triple, levels[i].level, &target), HONE_OK);
      if (strcmp(host.triple, target.triple)) continue;
      const char *argv[40] = {compilers[c], "-Werror", "-fsyntax-only", "-x", "c"};
      size_t n = 5;
      for (size_t k = 0; target.flags[k]; k++) argv[n++] = target.flags[k];
      argv[n] = "/dev/null";
      struct process_result result;
      struct process_options options = {.argv = argv, .fd_in = -1, .fd_out = -1};
      hone_status status = process_run(&ctx, &options, &result);
      if (status == HONE_E_MISSING) break;
      assert_int_equal(status, HONE_OK);
      if (result.exit_code) print_error("%s %s: %s\n", argv[0], levels[i].level, result.output.at);
      assert_int_equal(result.exit_code, 0);
      strbuf_deinit(&result.output);
    }
  }
}

/* The kernel's own list: a flag there means that processor and OS have it. */
static void features_equal_cpuinfo(void **state) {
  (void)state;
#if defined(__x86_64__)
  static const struct {
    uint32_t feature;
    const char *flag;
  } pairs[] = {{CPU_SSE42, " sse4_2 "},
               {CPU_AVX, " avx "},
               {CPU_AVX2, " avx2 "},
               {CPU_FMA, " fma "},
               {CPU_F16C, " f16c "},
               {CPU_BMI2, " bmi2 "},
               {CPU_AVX512, " avx512vl "},
               {CPU_AVX512_VNNI, " avx512_vnni "},
               {CPU_AVX512_VBMI, " avx512vbmi "},
               {CPU_AVX512_BF16, " avx512_bf16 "},
               {CPU_AVX512_FP16, " avx512_fp16 "},
               {CPU_AMX_TILE, " amx_tile "},
               {CPU_AMX_INT8, " amx_int8 "},
               {CPU_AMX_BF16, " amx_bf16 "},
               {CPU_AVX_VNNI, " avx_vnni "}};
  FILE *file = fopen("/proc/cpuinfo", "r");
  assert_non_null(file);
  char line[8192];
  while (fgets(line, sizeof line - 2, file) && strncmp(line, "flags", 5)) continue;
  fclose(file);
  line[strcspn(line, "\n")] = ' ';
  for (size_t i = 0; i < COUNT(pairs); i++)
    assert_int_equal((cpu_features() & pairs[i].feature) != 0, strstr(line, pairs[i].flag) != NULL);
#endif
}

static void cores_follow_affinity(void **state) {
  (void)state;
  cpu_set_t before, one;
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  int count = usable_core_count();
  assert_in_range(count, 1, CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  assert_int_equal(usable_core_count(), 1);
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
  assert_int_equal(usable_core_count(), count);
}

/* Files of a control group tree made by hand: version 2 with a tighter group outside, version 1. */
static void quotas_bind(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {"v2/list", "1:name=systemd:/x\n0::/outer/inner\n"},
      {"v2/outer/cpu.max", "150000 100000\n"},
      {"v2/outer/inner/cpu.max", "max 100000\n"},
      {"v2/outer/inner/memory.max", "1073741824\n"},
      {"v2/memory.max", "max\n"},
      {"v1/list", "4:memory:/a\n3:cpuset:/a\n2:cpu,cpuacct:/a\n0::/\n"},
      {"v1/cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n"},
      {"v1/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"},
      {"v1/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
      {"v1/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
      {"v1/memory/memory.limit_in_bytes", "536870912\n"},
      {"none/list", "0::/\n"},
      {"odd/list", "0::/../..\nrubbish\n:::\n"},
      {"odd/cpu.max", "x y z\n"},
  };
  struct ctx ctx;
  ctx_init(&ctx);
  char root[4096], path[4400];
  assert_int_equal(dir_temporary(&ctx, root), HONE_OK);
  for (size_t i = 0; i < COUNT(files); i++) {
    snprintf(path, sizeof path, "%s/%s", root, files[i][0]);
    *strrchr(path, '/') = 0;
    assert_int_equal(dir_create(&ctx, path), HONE_OK);
    snprintf(path, sizeof path, "%s/%s", root, files[i][0]);
    assert_int_equal(file_write_atomic(&ctx, path, files[i][1], strlen(files[i][1]), 0600),
                     HONE_OK);
  }
  static const struct {
    const char *name;
    double cpus, memory;
  } cases[] = {{"v2", 1.5, 1 << 30}, {"v1", 2.5, 1 << 29}, {"none", 0, 0}, {"odd", 0, 0}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    char tree[4200];
    snprintf(tree, sizeof tree, "%s/%s", root, cases[i].name);
    snprintf(path, sizeof path, "%s/list", tree);
    struct cgroups groups = {path, tree};
    assert_true(cgroup_cpus(&groups) == cases[i].cpus);
    assert_true(cgroup_memory(&groups) == cases[i].memory);
    if (cases[i].memory > 0) assert_true(usable_ram_bytes_in(&groups) <= cases[i].memory);
  }
  dir_remove_tree(root);
  assert_true(cgroup_cpus(&(struct cgroups){"/nonexistent", "/nonexistent"}) == 0);
}

/* `ulimit -v` also lowers usable memory and the limits on memory sizes; other limits stay. */
static void memory_is_what_may_be_used(void **state) {
  (void)state;
  const pid_t child = fork();
  if (!child) {
    const struct rlimit limit = {3u << 30, 3u << 30};
    struct ctx ctx;
    ctx_init(&ctx);
    const int64_t nodes = ctx.limits[LIMIT_nodes], strings = ctx.limits[LIMIT_string_tensor_bytes];
    if (setrlimit(RLIMIT_AS, &limit)) _exit(2);
    if (usable_ram_bytes() > 3u << 30) _exit(3);
    limit_to_memory(&ctx, usable_ram_bytes());
    if (ctx.limits[LIMIT_value_bytes] > (int64_t)(3u << 30)) _exit(4);
    _exit(ctx.limits[LIMIT_nodes] != nodes || ctx.limits[LIMIT_string_tensor_bytes] != strings ? 5
                                                                                               : 0);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static bool has_word(const struct fingerprint *f, const char *word) {
  return strstr(f->cpu_model, word) || strstr(f->kernel, word) || strstr(f->compiler, word);
}

static void fingerprint_holds_facts_only(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct fingerprint a, b;
  assert_int_equal(fingerprint_read(&ctx, &a), HONE_OK);
  assert_int_equal(fingerprint_read(&ctx, &b), HONE_OK);
  assert_memory_equal(&a, &b, sizeof a);
  assert_int_equal(strlen(a.key), 32);
  assert_true(a.cpu_model[0] && a.kernel[0] && a.libc[0] && a.governor[0] && a.hypervisor[0]);
  assert_true(a.cores_usable >= 1 && a.cores_online >= 1 && a.numa_nodes >= 1);
  assert_true(a.ram_bytes > 64u << 20);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  if (strlen(host) > 5) assert_false(has_word(&a, host));
  cpu_set_t before, one;
  sched_getaffinity(0, sizeof before, &before);
  if (CPU_COUNT(&before) < 2) return;
  CPU_ZERO(&one);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  assert_int_equal(fingerprint_read(&ctx, &b), HONE_OK);
  sched_setaffinity(0, sizeof before, &before);
  assert_string_not_equal(a.key, b.key);
}

/* A simulated machine and clock: a round takes 2 us; some windows are slower by a factor. */
static void disturbed_windows_do_not_raise_a_peak(void **state) {
  (void)state;
  static const double disturbed[][12] = {
      {1},           {1000},          {600, 1000},       {1, 600},
      {1, 1, 1, 50}, {1, 700, 1, 90}, {0.5, 1000, 1, 1}, {1000, 1000, 1000, 1000, 1000, 1000},
  };
  for (size_t k = 0; k < COUNT(disturbed); k++)
    for (long first = 1; first <= 100000; first *= 10) {
      struct windows w = {.rounds = first};
      for (size_t i = 0; i < 40 || w.count < 5; i++) {
        const double times = i < COUNT(disturbed[k]) && disturbed[k][i] > 0 ? disturbed[k][i] : 1;
        windows_add(&w, (double)w.rounds * 2000 * fmax(1, times));
      }
      assert_true(fabs(w.best_ns / (double)w.rounds - 2000) < 1e-6);
    }
}

/* No peak is above what the instructions can do in the cycles that were counted. */
static void peaks_are_bounded(void **state) {
  (void)state;
  struct ctx ctx = {0};
  struct peaks peaks;
  assert_int_equal(peaks_measure(&ctx, 1, 20000000, &peaks), HONE_OK);
  const double most_hz = 7e9;
  assert_true(peaks.f32_flops <= most_hz * probe_best()->fma.flops_per_cycle);
  for (int i = 0; i < peaks.bandwidth_count; i++)
    assert_true(peaks.bandwidth[i].bytes_per_s <= most_hz * READ_BYTES_PER_CYCLE);
}

static void peaks_are_plausible(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct peaks peaks;
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof before, &before);
  for (int threads = 1; threads <= 3; threads++) { /* 3: a split that does not divide */
    assert_int_equal(peaks_measure(&ctx, threads, 20000000, &peaks), HONE_OK);
    assert_true(peaks.f32_flops > 1e8 && peaks.f32_flops < 1e15);
    assert_in_range(peaks.bandwidth_count, 5, 16);
    for (int i = 0; i < peaks.bandwidth_count; i++) {
      assert_true(peaks.bandwidth[i].bytes_per_s > 1e7 && peaks.bandwidth[i].bytes_per_s < 1e14);
      assert_true(peaks.bandwidth[i].bytes == (double)(256u << 10) * (double)(1u << i));
    }
    assert_true(peaks.copy_floor_ns > 0 && peaks.copy_floor_ns < 10000);
  }
  sched_getaffinity(0, sizeof after, &after);
  assert_true(CPU_EQUAL(&before, &after));
  assert_int_equal(peaks_measure(&ctx, 0, 1, &peaks), HONE_E_USAGE);
}

static void bandwidth_is_interpolated(void **state) {
  (void)state;
  struct peaks peaks = {.bandwidth = {{1024, 100}, {2048, 50}, {8192, 10}}, .bandwidth_count = 3};
  assert_true(peaks_bandwidth(&peaks, 1) == 100);
  assert_true(peaks_bandwidth(&peaks, 1024) == 100);
  assert_true(peaks_bandwidth(&peaks, 2048) == 50);
  assert_true(fabs(peaks_bandwidth(&peaks, 4096) - 30) < 1e-9);
  assert_true(peaks_bandwidth(&peaks, 1e12) == 10);
  assert_true(peaks_bandwidth(&peaks, (double)NAN) == 100);
  peaks.bandwidth_count = 0;
  assert_true(peaks_bandwidth(&peaks, 4096) == 0);
}

static void missing_features_are_named(void **state) {
  struct ctx ctx;
  (void)state;
  ctx_init(&ctx);
  uint32_t has = cpu_features();
  assert_int_equal(features_check(&ctx, place_none(), has), HONE_OK);
  assert_int_equal(features_check(&ctx, place_none(), 0), HONE_OK);
  /* no processor is both x86 and Arm */
  uint32_t foreign = has & CPU_NEON ? CPU_AVX512 : CPU_DOTPROD;
  assert_int_equal(features_check(&ctx, place_none(), has | foreign), HONE_E_UNSUP);
  assert_non_null(strstr(ctx.message, has & CPU_NEON ? "avx512" : "dotprod"));
  ctx_clear(&ctx);
  assert_int_equal(features_check(&ctx, place_none(), 1u << 31), HONE_E_UNSUP);
}

/* A later probe raises the peaks that it exceeds, and lowers none. */
static void peaks_only_rise(void **state) {
  (void)state;
  struct peaks peaks = {
      .f32_flops = 10, .bandwidth = {{1, 5}, {2, 6}, {4, 7}}, .bandwidth_count = 3};
  const struct peaks later = {.f32_flops = 12, .bandwidth = {{1, 4}, {2, 9}}, .bandwidth_count = 2};
  peaks_raise(&peaks, &later);
  assert_true(peaks.f32_flops == 12 && peaks.bandwidth_count == 3);
  assert_true(peaks.bandwidth[0].bytes_per_s == 5 && peaks.bandwidth[1].bytes_per_s == 9 &&
              peaks.bandwidth[2].bytes_per_s == 7);
  peaks_raise(&peaks, &(struct peaks){.f32_flops = 1});
  assert_true(peaks.f32_flops == 12);
}

static void energy_counters_wrap(void **state) {
  (void)state;
  const struct energy from = {2, {0, 1}, {100, 900}, {1000, 1000}};
  struct energy to = {2, {0, 1}, {150, 50}, {1000, 1000}};
  assert_int_equal(energy_between(&from, &to), 50 + 150);
  to.number[1] = 2; /* another package */
  assert_int_equal(energy_between(&from, &to), -1);
  to = (struct energy){.package_count = 0};
  assert_int_equal(energy_between(&from, &to), -1);
  assert_int_equal(energy_between(&to, &to), -1);
  to = (struct energy){1, {0}, {50}, {90}}; /* a counter that was beyond its own range */
  const struct energy beyond = {1, {0}, {100}, {90}};
  assert_int_equal(energy_between(&beyond, &to), -1);
}

/* A feature that only one of the two knows stops every program of the levels that need it. */
static void programs_see_the_same_features(void **state) {
  (void)state;
  assert_int_equal(processor_features(), cpu_features());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(peaks_only_rise),
      cmocka_unit_test(disturbed_windows_do_not_raise_a_peak),
      cmocka_unit_test(peaks_are_bounded),
      cmocka_unit_test(levels_are_known),
      cmocka_unit_test(unknown_targets),
      cmocka_unit_test(host_runs_here),
      cmocka_unit_test(speeds_of_processors),
      cmocka_unit_test(processors_by_model),
      cmocka_unit_test(compilers_accept_flags),
      cmocka_unit_test(missing_features_are_named),
      cmocka_unit_test(features_equal_cpuinfo),
      cmocka_unit_test(programs_see_the_same_features),
      cmocka_unit_test(cores_follow_affinity),
      cmocka_unit_test(quotas_bind),
      cmocka_unit_test(memory_is_what_may_be_used),
      cmocka_unit_test(fingerprint_holds_facts_only),
      cmocka_unit_test(peaks_are_plausible),
      cmocka_unit_test(bandwidth_is_interpolated),
      cmocka_unit_test(energy_counters_wrap),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

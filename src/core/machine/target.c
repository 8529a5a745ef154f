/* Targets of code generation. A level is a row: the features it guarantees, its vector size and the
 * -mtune of a typical processor; the compiler's -m flags follow from the features alone, so the
 * same level gives the same code on every build machine.
 *
 * "host" is the last row of this architecture whose features both cpuid and the OS (XCR0, AMX
 * permission) provide. Cache sizes, and speeds of known processors, come from this machine if no
 * triple is given, else from the row. A way of x86's L1 has the size of a page, because its sets
 * are indexed by the offset in a page (Intel SDM 3A, 11.5.1). */
#include "machine_internal.h"

#include <stdlib.h>
#include <unistd.h>

#define BASE_AVX2 (CPU_SSE42 | CPU_AVX | CPU_AVX2 | CPU_FMA | CPU_F16C | CPU_BMI2)
#define BASE_AVX512 (BASE_AVX2 | CPU_AVX512)
/* VBMI: in all processors with BF16 except Cooper Lake Xeons, which are treated as avx512vnni. */
#define BASE_BF16 (BASE_AVX512 | CPU_AVX512_VNNI | CPU_AVX512_VBMI | CPU_AVX512_BF16)
#define BASE_AMX (BASE_BF16 | CPU_AVX512_FP16 | CPU_AMX_TILE | CPU_AMX_INT8 | CPU_AMX_BF16)

/* Assumed equal on all processors, the end of each row: Winograd's transforms, timed on a Zen 5
 * (floats) and a Zen 4 (bf16), one thread; start and end of an AMX tile, estimated; a
 * compare-and-swap of a cache line owned by another core; how far ahead weights are best fetched, measured on a
 * Zen 5. */
#define OVERHEADS 3.5, 4.75, 1.08, 60, 100, 8192

/* Speeds of a typical processor of each kind: clock, multiply-adds (f32, bf16, i8), FMA latency,
 * loads, L2, memory. Two vector units; without instructions for 8-bit and bf16 products these are
 * widened. Memory bandwidth as measured by bench/kernels on an otherwise idle Zen 5 (40 GB/s at 3.8
 * GHz); instruction rates: Intel's and AMD's optimisation manuals. */
static const struct speeds speeds_sse = {3.0, 8, 4, 16, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_avx2 = {3.8, 16, 8, 32, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_avxvnni = {3.8, 16, 8, 64, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_avx512 = {3.8, 32, 16, 64, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_vnni = {3.8, 32, 16, 128, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_bf16 = {3.8, 32, 64, 128, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_amx = {3.0, 32, 512, 1024, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_neon = {3.0, 8, 4, 16, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_dotprod = {3.0, 8, 4, 32, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_i8mm = {3.0, 8, 4, 64, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_arm_bf16 = {3.0, 8, 16, 64, 4, 2, 32, 9, 1.5, OVERHEADS},
                           speeds_generic = {1.5, 1, 1, 1, 5, 1, 16, 4, 1.5, OVERHEADS},
                           speeds_lane = {2.0, 2, 0.5, 1, 4, 2, 8, 4, 1.5, OVERHEADS},
                           /* Arm's technical reference manuals: a multiply-add in 1 (M7, M55) to 3
                              cycles (M4), two 16-bit products in one, one load in a cycle */
    speeds_m4 = {0.168, 0.33, 0.1, 1, 3, 0.5, 4, 4, 1, OVERHEADS},
                           speeds_m7 = {0.48, 1, 0.2, 1.5, 3, 1, 8, 4, 1, OVERHEADS},
                           speeds_rv32 = {0.16, 0.25, 0.1, 0.2, 3, 0.5, 4, 4, 1, OVERHEADS};

#define ANY_ARCH "*"
static const struct level {
  const char *arch, *name;
  uint32_t features;
  int vector_bytes, vector_registers;
  size_t l1_bytes, l2_bytes, l3_bytes; /* of a common processor of the level */
  size_t l1_way_bytes;
  const struct speeds *speeds;
  const char *flags[4]; /* -march if the features do not determine it, -mtune */
} levels[] = {
    /* x86-64-v2: SSE4.2, POPCNT, CMPXCHG16B; every x86-64 server since 2009 */
    {"x86_64",
     "baseline",
     CPU_SSE42,
     16,
     16,
     32 << 10,
     256 << 10,
     8 << 20,
     4 << 10,
     &speeds_sse,
     {"-mtune=generic"}},
    {"x86_64",
     "avx2",
     BASE_AVX2,
     32,
     16,
     32 << 10,
     256 << 10,
     8 << 20,
     4 << 10,
     &speeds_avx2,
     {"-mtune=haswell"}},
    {"x86_64",
     "avxvnni",
     BASE_AVX2 | CPU_AVX_VNNI,
     32,
     16,
     48 << 10,
     1 << 20,
     16 << 20,
     4 << 10,
     &speeds_avxvnni,
     {"-mtune=haswell"}},
    {"x86_64",
     "avx512",
     BASE_AVX512,
     64,
     32,
     32 << 10,
     1 << 20,
     16 << 20,
     4 << 10,
     &speeds_avx512,
     {"-mtune=skylake-avx512"}},
    {"x86_64",
     "avx512vnni",
     BASE_AVX512 | CPU_AVX512_VNNI,
     64,
     32,
     32 << 10,
     1 << 20,
     16 << 20,
     4 << 10,
     &speeds_vnni,
     {"-mtune=skylake-avx512"}},
    {"x86_64",
     "avx512bf16",
     BASE_BF16,
     64,
     32,
     32 << 10,
     1 << 20,
     32 << 20,
     4 << 10,
     &speeds_bf16,
     {"-mtune=skylake-avx512"}},
    {"x86_64",
     "amx",
     BASE_AMX,
     64,
     32,
     48 << 10,
     2 << 20,
     32 << 20,
     4 << 10,
     &speeds_amx,
     {"-mtune=sapphirerapids"}},
    {"aarch64",
     "neon",
     CPU_NEON,
     16,
     32,
     64 << 10,
     512 << 10,
     4 << 20,
     16 << 10,
     &speeds_neon,
     {"-march=armv8-a"}},
    {"aarch64",
     "dotprod",
     CPU_NEON | CPU_DOTPROD,
     16,
     32,
     64 << 10,
     1 << 20,
     16 << 20,
     16 << 10,
     &speeds_dotprod,
     {"-march=armv8.2-a+dotprod"}},
    {"aarch64",
     "i8mm",
     CPU_NEON | CPU_DOTPROD | CPU_I8MM,
     16,
     32,
     64 << 10,
     1 << 20,
     16 << 20,
     16 << 10,
     &speeds_i8mm,
     {"-march=armv8.2-a+dotprod+i8mm"}},
    {"aarch64",
     "bf16",
     CPU_NEON | CPU_DOTPROD | CPU_I8MM | CPU_BF16,
     16,
     32,
     64 << 10,
     1 << 20,
     16 << 20,
     16 << 10,
     &speeds_arm_bf16,
     {"-march=armv8.2-a+dotprod+i8mm+bf16"}},
    {"riscv64",
     "baseline",
     0,
     16,
     16,
     32 << 10,
     512 << 10,
     2 << 20,
     4 << 10,
     &speeds_generic,
     {"-march=rv64gc", "-mabi=lp64d"}},
    /* Microcontrollers: one lane, two 8-bit products per SMLAD; uniform memory. */
    {"arm",
     "cortex-m4",
     0,
     4,
     13,
     64 << 10,
     256 << 10,
     0,
     64 << 10,
     &speeds_m4,
     {"-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"}},
    {"arm",
     "cortex-m7",
     0,
     4,
     13,
     16 << 10,
     256 << 10,
     0,
     4 << 10,
     &speeds_m7,
     {"-mcpu=cortex-m7", "-mthumb", "-mfpu=fpv5-d16", "-mfloat-abi=hard"}},
    {"arm",
     "cortex-m55",
     0,
     4,
     13,
     16 << 10,
     256 << 10,
     0,
     4 << 10,
     &speeds_m7,
     {"-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"}},
    {"riscv32",
     "baseline",
     0,
     4,
     16,
     16 << 10,
     256 << 10,
     0,
     4 << 10,
     &speeds_rv32,
     {"-march=rv32imafc", "-mabi=ilp32f", "--specs=picolibc.specs"}}, /* Debian's libc */
    /* Any processor: plain C11. */
    {ANY_ARCH, "portable", 0, 4, 16, 32 << 10, 256 << 10, 0, 4 << 10, &speeds_lane, {NULL}},
};

/* Processors that differ from the rows of their levels, by ranges of model numbers; 0: as in the
 * row. Memory bandwidth is the same for all code. Emerald Rapids and Genoa are measured, including
 * Winograd's transforms (8 to 13 cycles for floats, 4 to 8 for bf16). The others are derived from
 * published data: which core a model has, whether its 512-bit units are full width, its highest
 * clock, bytes per cycle from L2.
 *
 * Intel: Golden Cove starts two 512-bit FMA per cycle, vdpbf16ps in two: half as many products of
 * bf16 as of floats. Older client processors fuse two 256-bit units into one of 512 bits.
 *
 * AMD: Zen 4 splits each 512-bit instruction in two, and with 512-bit loads reads weights fastest if it fetches
 * them 512 to 2048 bytes ahead (31 to 35 GB/s; 8192: 22). Zen 5 has full-width units and reads 64 bytes
 * per cycle from L2, except for two mobile processors with the units of Zen 4. */
static const struct {
  const char *vendor;
  int family, first_model, last_model;
  bool splits_512;
  double clock_ghz, dot_bf16_macs, l2_bytes, memory_bytes, memory_sharing;
  double transform_cycles, transform_half_cycles, fetch_ahead;
} processors[] = {
    {"GenuineIntel", 6, 0x7d, 0x7e, true, 3.9, 0, 0, 0, 0, 0, 0, 0},         /* Ice Lake, client */
    {"GenuineIntel", 6, 0x8c, 0x8d, true, 4.8, 0, 0, 0, 0, 0, 0, 0},         /* Tiger Lake */
    {"GenuineIntel", 6, 0xa7, 0xa7, true, 5.0, 0, 0, 0, 0, 0, 0, 0},         /* Rocket Lake */
    {"GenuineIntel", 6, 0x8f, 0x8f, false, 3.0, 16, 48, 4, 1.8, 0, 0, 0},    /* Sapphire Rapids */
    {"GenuineIntel", 6, 0xad, 0xae, false, 3.0, 16, 48, 4, 1.8, 0, 0, 0},    /* Granite Rapids */
    {"GenuineIntel", 6, 0xcf, 0xcf, false, 3.0, 16, 48, 4, 1.8, 0, 0, 0},    /* Emerald Rapids */
    {"AuthenticAMD", 25, 0x10, 0x1f, true, 3.7, 0, 32, 6, 1.8, 10, 5, 1024}, /* Zen 4: Genoa */
    {"AuthenticAMD", 25, 0x60, 0x6f, true, 5.0, 0, 32, 0, 0, 10, 5, 1024},   /* Zen 4: Raphael */
    {"AuthenticAMD", 25, 0x70, 0x7f, true, 5.0, 0, 32, 0, 0, 10, 5, 1024},   /* Zen 4: Phoenix */
    {"AuthenticAMD", 25, 0xa0, 0xaf, true, 3.1, 0, 32, 6, 1.8, 10, 5,
     1024},                                                             /* Zen 4c: Bergamo, Siena */
    {"AuthenticAMD", 26, 0x00, 0x1f, false, 4.1, 0, 64, 0, 0, 0, 0, 0}, /* Zen 5 and 5c: Turin */
    {"AuthenticAMD", 26, 0x20, 0x2f, true, 5.0, 0, 0, 0, 0, 10, 5, 0},  /* Zen 5: Strix Point */
    {"AuthenticAMD", 26, 0x40, 0x4f, false, 5.4, 0, 64, 0, 0, 0, 0, 0}, /* Zen 5: Granite Ridge */
    {"AuthenticAMD", 26, 0x60, 0x6f, true, 5.0, 0, 0, 0, 0, 10, 5, 0},  /* Zen 5: Krackan Point */
    {"AuthenticAMD", 26, 0x70, 0x7f, false, 5.1, 0, 64, 0, 0, 0, 0, 0}, /* Zen 5: Strix Halo */
};

static void take_known(double *speed, double known) {
  if (known > 0) *speed = known;
}

void processor_speeds(const struct processor *processor, uint32_t features, struct speeds *speeds) {
  for (size_t i = 0; i < COUNT(processors); i++) {
    if (strcmp(processors[i].vendor, processor->vendor) != 0 ||
        processors[i].family != processor->family || processor->model < processors[i].first_model ||
        processor->model > processors[i].last_model)
      continue;
    take_known(&speeds->clock_ghz, processors[i].clock_ghz);
    take_known(&speeds->l2_bytes, processors[i].l2_bytes);
    take_known(&speeds->memory_bytes, processors[i].memory_bytes);
    take_known(&speeds->memory_sharing, processors[i].memory_sharing);
    if ((features & (CPU_AVX512_BF16 | CPU_AMX_BF16)) == CPU_AVX512_BF16)
      take_known(&speeds->bf16_macs, processors[i].dot_bf16_macs);
    if (!(features & CPU_AVX512)) continue;
    take_known(&speeds->transform_cycles, processors[i].transform_cycles);
    take_known(&speeds->transform_half_cycles, processors[i].transform_half_cycles);
    take_known(&speeds->fetch_ahead, processors[i].fetch_ahead);
    if (processors[i].splits_512) {
      speeds->f32_macs /= 2;
      speeds->bf16_macs /= 2;
      speeds->i8_macs /= 2;
    }
  }
}

/* Triples by architecture; bare: without an operating system. */
static const struct {
  const char *arch, *triple;
  bool is_bare;
} triples[] = {{"x86_64", "x86_64-linux-gnu", false},
               {"aarch64", "aarch64-linux-gnu", false},
               {"riscv64", "riscv64-linux-gnu", false},
               {"arm", "arm-none-eabi", true},
               {"riscv32", "riscv32-unknown-elf", true}};

const char *target_triple(size_t i) { return i < COUNT(triples) ? triples[i].triple : NULL; }

/* Compiler flags of a feature; features implied by others are not repeated. */
static const struct {
  uint32_t feature;
  const char *flags[6];
} feature_flags[] = {
    {CPU_SSE42, {"-msse4.2", "-mpopcnt", "-mcx16"}},
    {CPU_AVX2, {"-mavx2"}},
    {CPU_FMA, {"-mfma"}},
    {CPU_F16C, {"-mf16c"}},
    {CPU_BMI2, {"-mbmi", "-mbmi2"}},
    {CPU_AVX512,
     {"-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512"}},
    {CPU_AVX512_VNNI, {"-mavx512vnni"}},
    {CPU_AVX512_VBMI, {"-mavx512vbmi"}},
    {CPU_AVX512_BF16, {"-mavx512bf16"}},
    {CPU_AVX512_FP16, {"-mavx512fp16"}},
    {CPU_AVX_VNNI, {"-mavxvnni"}},
    {CPU_AMX_TILE, {"-mamx-tile"}},
    {CPU_AMX_INT8, {"-mamx-int8"}},
    {CPU_AMX_BF16, {"-mamx-bf16"}},
};

static const char *host_arch(void) {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#elif defined(__riscv)
  return "riscv64";
#else
  return "unknown";
#endif
}

/* "arm64-apple-..." and "amd64" are other names of the same architectures. */
static hone_status arch_of(struct ctx *ctx, const char *triple, const char **out) {
  static const char *const names[][2] = {
      {"x86_64", "x86_64"},   {"amd64", "x86_64"}, {"aarch64", "aarch64"}, {"arm64", "aarch64"},
      {"riscv64", "riscv64"}, {"arm", "arm"},      {"thumbv7em", "arm"},   {"riscv32", "riscv32"}};
  size_t length = strcspn(triple, "-");
  for (size_t i = 0; i < COUNT(names); i++)
    if (strlen(names[i][0]) == length && !strncmp(triple, names[i][0], length)) {
      *out = names[i][1];
      return HONE_OK;
    }
  return fail(ctx, HONE_E_UNSUP, place_name(triple),
              "unknown target: x86_64-linux-gnu, aarch64-linux-gnu, riscv64-linux-gnu, "
              "arm-none-eabi and riscv32-unknown-elf exist");
}

static hone_status no_level(struct ctx *ctx, const char *arch, const char *name) {
  struct strbuf known = {0};
  for (size_t i = 0; i < COUNT(levels); i++)
    if (!strcmp(levels[i].arch, arch) || !strcmp(levels[i].arch, ANY_ARCH))
      strbuf_printf(&known, "%s%s", known.length ? ", " : "", levels[i].name);
  hone_status status = fail(ctx, HONE_E_UNSUP, place_name(name),
                            "unknown level of %s: host, %s exist", arch, known.at ? known.at : "");
  strbuf_deinit(&known);
  return status;
}

static hone_status find_level(struct ctx *ctx, const char *arch, const char *name,
                              const struct level **out) {
  bool is_host = !strcmp(arch, host_arch());
  bool best = !name || !strcmp(name, "host");
  if (best && name && !is_host)
    return fail(ctx, HONE_E_UNSUP, place_name(name), "this machine is not a %s: name a level",
                arch);
  uint32_t features = cpu_features();
  *out = NULL;
  for (size_t i = 0; i < COUNT(levels); i++) {
    const struct level *level = &levels[i];
    if (!best && !strcmp(level->arch, ANY_ARCH) && !strcmp(level->name, name)) *out = level;
    if (strcmp(level->arch, arch)) continue;
    if (!best && !strcmp(level->name, name)) *out = level;
    /* the first row of an architecture is its minimum, also called baseline */
    if (!best && !strcmp(name, "baseline") && !*out) *out = level;
    if (best && (is_host ? !(level->features & ~features) : !*out)) *out = level;
  }
  if (*out) return HONE_OK;
  if (best) /* an x86-64 older than 2009 */
    return fail(ctx, HONE_E_UNSUP, place_none(), "this processor has none of the known levels");
  return no_level(ctx, arch, name);
}

static void collect_flags(const struct level *level, struct target *out) {
  size_t n = 0;
  for (size_t i = 0; i < COUNT(feature_flags); i++) {
    if (!(level->features & feature_flags[i].feature)) continue;
    for (size_t j = 0; j < COUNT(feature_flags[i].flags) && feature_flags[i].flags[j]; j++)
      if (n + 1 < COUNT(out->flags)) out->flags[n++] = feature_flags[i].flags[j];
  }
  for (size_t j = 0; j < COUNT(level->flags) && level->flags[j]; j++)
    if (n + 1 < COUNT(out->flags)) out->flags[n++] = level->flags[j];
}

/* Reads the properties of this machine. */
static void read_here(struct target *out) {
  struct processor processor;
  processor_read(&processor);
  processor_speeds(&processor, out->features, &out->speeds);
  caches_read(&out->l1_bytes, &out->l2_bytes, &out->l3_bytes);
}

const char *target_level_name(size_t index) {
  return index < COUNT(levels) ? levels[index].name : NULL;
}

hone_status target_init(struct ctx *ctx, const char *triple, const char *name, struct target *out) {
  memset(out, 0, sizeof *out);
  const char *arch = host_arch();
  if (triple) TRY(arch_of(ctx, triple, &arch));
  const struct level *level;
  TRY(find_level(ctx, arch, name, &level));
  for (size_t i = 0; i < COUNT(triples); i++)
    if (!strcmp(triples[i].arch, arch)) {
      snprintf(out->triple, sizeof out->triple, "%s", triples[i].triple);
      out->is_bare = triples[i].is_bare;
    }
  out->is_portable = !strcmp(level->arch, ANY_ARCH);
  snprintf(out->level, sizeof out->level, "%s", level->name);
  out->features = level->features;
  out->vector_bytes = level->vector_bytes;
  out->vector_registers = level->vector_registers;
  out->l1_bytes = level->l1_bytes;
  out->l2_bytes = level->l2_bytes;
  out->l3_bytes = level->l3_bytes;
  out->l1_way_bytes = level->l1_way_bytes;
  out->speeds = *level->speeds;
  if (!triple && !out->is_portable) read_here(out);
  collect_flags(level, out);
  return HONE_OK;
}

/* The index of a level in the table. */
static size_t row_of(const struct target *target) {
  size_t i = 0;
  while (i < COUNT(levels) &&
         (strcmp(levels[i].name, target->level) || levels[i].features != target->features))
    i++;
  return i;
}

static hone_status add_target(struct ctx *ctx, const char *triple, const char *name,
                              struct target out[TARGET_LEVELS_MAX], size_t *count) {
  struct target target;
  TRY(target_init(ctx, triple, name, &target));
  if (target.is_portable)
    return fail(ctx, HONE_E_USAGE, place_name("portable"), "must be used alone");
  size_t at = 0;
  while (at < *count && row_of(&out[at]) < row_of(&target)) at++;
  if (at < *count && !strcmp(out[at].level, target.level)) return HONE_OK;
  if (*count == TARGET_LEVELS_MAX)
    return fail(ctx, HONE_E_LIMIT, place_name(name), "more than %d levels", TARGET_LEVELS_MAX);
  memmove(out + at + 1, out + at, (*count - at) * sizeof *out);
  out[at] = target;
  ++*count;
  return HONE_OK;
}

hone_status targets_init(struct ctx *ctx, const char *triple, const char *list,
                         struct target out[TARGET_LEVELS_MAX], size_t *out_count) {
  const char *arch = host_arch();
  char name[32];
  *out_count = 0;
  if (triple) TRY(arch_of(ctx, triple, &arch));
  if (!strcmp(list, "all")) {
    for (size_t i = 0; i < COUNT(levels); i++)
      if (!strcmp(levels[i].arch, arch))
        TRY(add_target(ctx, triple, levels[i].name, out, out_count));
    return HONE_OK;
  }
  for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
    size_t length = strcspn(at, ",");
    if (!length || length >= sizeof name)
      return fail(ctx, HONE_E_USAGE, place_name(list), "levels are a list such as avx2,avx512");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    TRY(add_target(ctx, triple, name, out, out_count));
  }
  return *out_count
             ? HONE_OK
             : fail(ctx, HONE_E_USAGE, place_name(list), "levels are a list such as avx2,avx512");
}

bool target_runs_here(const struct target *target) {
  size_t length = strlen(host_arch());
  return !strncmp(target->triple, host_arch(), length) && target->triple[length] == '-' &&
         !(target->features & ~cpu_features());
}

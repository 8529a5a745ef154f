/* Processor features and cache sizes. A feature counts only if the OS saves the registers that it
 * needs (XCR0) and, for AMX, permits the use of tiles.
 *
 * Sources: Intel SDM volume 1 chapter 13 and volume 2 CPUID; Linux
 * Documentation/arch/x86/xstate.rst. */
#include "machine_internal.h"

#include <stdlib.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>

enum { LEAF_1_C, LEAF_7_B, LEAF_7_C, LEAF_7_D, LEAF_7_1_A, REGISTER_COUNT };
enum { STATE_AVX = 0x6, STATE_AVX512 = 0xe6, STATE_AMX = 0x60000 };
#define BIT(n) (1u << (n))

/* A feature needs all bits of `bits` in register `at`, and the register state `state`. */
static const struct {
  uint32_t feature;
  int at;
  uint32_t bits;
  uint64_t state;
} table[] = {
    {CPU_SSE42, LEAF_1_C, BIT(20) | BIT(23) | BIT(13) | BIT(9), 0}, /* SSE4.2 POPCNT CX16 SSSE3 */
    {CPU_AVX, LEAF_1_C, BIT(28), STATE_AVX},
    {CPU_AVX2, LEAF_7_B, BIT(5), STATE_AVX},
    {CPU_FMA, LEAF_1_C, BIT(12), STATE_AVX},
    {CPU_F16C, LEAF_1_C, BIT(29), STATE_AVX},
    {CPU_AVX512, LEAF_7_B, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31), STATE_AVX512},
    {CPU_AVX512_VNNI, LEAF_7_C, BIT(11), STATE_AVX512},
    {CPU_AVX512_VBMI, LEAF_7_C, BIT(1), STATE_AVX512},
    {CPU_AVX512_BF16, LEAF_7_1_A, BIT(5), STATE_AVX512},
    {CPU_AVX512_FP16, LEAF_7_D, BIT(23), STATE_AVX512},
    {CPU_AMX_TILE, LEAF_7_D, BIT(24), STATE_AMX},
    {CPU_AMX_INT8, LEAF_7_D, BIT(25), STATE_AMX},
    {CPU_AMX_BF16, LEAF_7_D, BIT(22), STATE_AMX},
    {CPU_AVX_VNNI, LEAF_7_1_A, BIT(4), STATE_AVX},
    {CPU_BMI2, LEAF_7_B, BIT(3) | BIT(8), 0},
};

static uint64_t enabled_state(uint32_t leaf_1_c) {
  if (!(leaf_1_c & BIT(27))) return 0; /* OSXSAVE */
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

/* A process must request tiles before it uses them; the permission is permanent and has no other
 * effect. */
static bool amx_permitted(void) {
  enum { ARCH_REQ_XCOMP_PERM_ = 0x1023, XTILEDATA = 18 };
  return !syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM_, XTILEDATA);
}

void processor_read(struct processor *out) {
  uint32_t a = 0, b = 0, c = 0, d = 0, words[3];
  *out = (struct processor){0};
  if (!__get_cpuid(0, &a, &b, &c, &d) || a < 1) return;
  words[0] = b, words[1] = d, words[2] = c;
  memcpy(out->vendor, words, sizeof words);
  __get_cpuid(1, &a, &b, &c, &d);
  out->family = (int)(a >> 8 & 15);
  out->model = (int)(a >> 4 & 15);
  if (out->family == 6 || out->family == 15) out->model += (int)(a >> 16 & 15) << 4;
  if (out->family == 15) out->family += (int)(a >> 20 & 255);
}

uint32_t cpu_features(void) {
  uint32_t r[REGISTER_COUNT] = {0}, a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
  r[LEAF_1_C] = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    r[LEAF_7_B] = b, r[LEAF_7_C] = c, r[LEAF_7_D] = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) r[LEAF_7_1_A] = a;
  }
  uint64_t state = enabled_state(r[LEAF_1_C]);
  if ((state & STATE_AMX) == STATE_AMX && (r[LEAF_7_D] & BIT(24)) && !amx_permitted())
    state &= ~(uint64_t)STATE_AMX;
  uint32_t features = 0;
  for (size_t i = 0; i < COUNT(table); i++)
    if ((r[table[i].at] & table[i].bits) == table[i].bits &&
        (state & table[i].state) == table[i].state)
      features |= table[i].feature;
  return features;
}

void hypervisor_name(char *out, size_t size) {
  static const char *const known[][2] = {{"KVMKVMKVM", "kvm"},          {"Microsoft Hv", "hyper-v"},
                                         {"VMwareVMware", "vmware"},    {"XenVMMXenVMM", "xen"},
                                         {"TCGTCGTCGTCG", "qemu"},      {"bhyve bhyve ", "bhyve"},
                                         {"VBoxVBoxVBox", "virtualbox"}};
  uint32_t a = 0, b = 0, c = 0, d = 0;
  __get_cpuid(1, &a, &b, &c, &d);
  if (!(c & BIT(31))) {
    snprintf(out, size, "none");
    return;
  }
  uint32_t words[4] = {0};
  __cpuid(0x40000000, a, words[0], words[1], words[2]);
  char name[13] = {0};
  memcpy(name, words, 12);
  for (size_t i = 0; i < COUNT(known); i++)
    if (!strncmp(name, known[i][0], strlen(known[i][0]))) {
      snprintf(out, size, "%s", known[i][1]);
      return;
    }
  safe_copy(out, size, name[0] ? name : "unknown");
}

#elif defined(__aarch64__)
#include <sys/auxv.h>

void processor_read(struct processor *out) { *out = (struct processor){0}; }

uint32_t cpu_features(void) {
  unsigned long has = getauxval(AT_HWCAP), has2 = getauxval(AT_HWCAP2);
  uint32_t features = CPU_NEON;
  if (has & 1ul << 20) features |= CPU_DOTPROD; /* HWCAP_ASIMDDP */
  if (has2 & 1ul << 13) features |= CPU_I8MM;   /* HWCAP2_I8MM */
  if (has2 & 1ul << 14) features |= CPU_BF16;   /* HWCAP2_BF16 */
  return features;
}

void hypervisor_name(char *out, size_t size) { snprintf(out, size, "n/a"); }

#else

void processor_read(struct processor *out) { *out = (struct processor){0}; }
uint32_t cpu_features(void) { return 0; }
void hypervisor_name(char *out, size_t size) { snprintf(out, size, "n/a"); }

#endif

void features_print(uint32_t features, char *out, size_t size) {
  static const struct {
    uint32_t feature;
    const char *name;
  } names[] = {
      {CPU_SSE42, "sse4.2"},
      {CPU_AVX, "avx"},
      {CPU_AVX2, "avx2"},
      {CPU_FMA, "fma"},
      {CPU_F16C, "f16c"},
      {CPU_BMI2, "bmi2"},
      {CPU_AVX_VNNI, "avxvnni"},
      {CPU_AVX512, "avx512"},
      {CPU_AVX512_VNNI, "avx512vnni"},
      {CPU_AVX512_VBMI, "avx512vbmi"},
      {CPU_AVX512_BF16, "avx512bf16"},
      {CPU_AVX512_FP16, "avx512fp16"},
      {CPU_AMX_TILE, "amx-tile"},
      {CPU_AMX_INT8, "amx-int8"},
      {CPU_AMX_BF16, "amx-bf16"},
      {CPU_NEON, "neon"},
      {CPU_DOTPROD, "dotprod"},
      {CPU_I8MM, "i8mm"},
      {CPU_BF16, "bf16"},
  };
  size_t n = 0;
  out[0] = 0;
  for (size_t i = 0; i < COUNT(names); i++) {
    if (!(features & names[i].feature)) continue;
    int k = snprintf(out + n, size - n, "%s%s", n ? " " : "", names[i].name);
    if (k < 0 || (size_t)k >= size - n) return;
    n += (size_t)k;
  }
}

hone_status features_check(struct ctx *ctx, struct place place, uint32_t needed) {
  char names[256];
  uint32_t missing = needed & ~cpu_features();
  if (!missing) return HONE_OK;
  features_print(missing, names, sizeof names);
  return fail(ctx, HONE_E_UNSUP, place,
              "needs %s, which this processor lacks; compile the model with another --cpu",
              names[0] ? names : "features unknown to this version of hone");
}

/* "48K", "2M", "245760K" */
static size_t parse_size(const char *text) {
  char digits[24];
  size_t n = strspn(text, "0123456789");
  int64_t value;
  if (!n || n >= sizeof digits) return 0;
  memcpy(digits, text, n);
  digits[n] = 0;
  if (!parse_i64(digits, 0, INT64_MAX >> 31, &value)) return 0;
  return (size_t)value << (text[n] == 'K' ? 10 : text[n] == 'M' ? 20 : text[n] == 'G' ? 30 : 0);
}

/* Linux lists what cpuid reports, per core; sysconf is the fallback without /sys. */
void caches_read(size_t *l1d_bytes, size_t *l2_bytes, size_t *l3_bytes) {
  size_t sizes[4] = {0};
  int cpu = allowed_cpu(0);
  for (int index = 0; index < 8; index++) {
    char path[128], line[32];
    const char *format = "/sys/devices/system/cpu/cpu%d/cache/index%d/%s";
    snprintf(path, sizeof path, format, cpu < 0 ? 0 : cpu, index, "type");
    if (!read_line(path, line, sizeof line)) break;
    if (!strcmp(line, "Instruction")) continue;
    snprintf(path, sizeof path, format, cpu < 0 ? 0 : cpu, index, "level");
    if (!read_line(path, line, sizeof line) || line[0] < '1' || line[0] > '3') continue;
    int level = line[0] - '0';
    snprintf(path, sizeof path, format, cpu < 0 ? 0 : cpu, index, "size");
    if (read_line(path, line, sizeof line)) sizes[level] = parse_size(line);
  }
  static const int names[] = {0, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                              _SC_LEVEL3_CACHE_SIZE};
  size_t *out[] = {NULL, l1d_bytes, l2_bytes, l3_bytes};
  for (int level = 1; level <= 3; level++) {
    long size = sizes[level] ? (long)sizes[level] : sysconf(names[level]);
    if (size > 0) *out[level] = (size_t)size;
  }
}

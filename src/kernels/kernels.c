/* kernels: the table of kernels.def, the choice by it, and problem lines ("gemm f32 m128 n256
 * k64"). A line holds the kind, the element type and the numbers of the kind that are not zero; it
 * prints and parses without loss. */
#include "kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

/* From the embedded files; made by tools/embed.sh. */
const char *hone_embedded_text(const char *name, size_t *out_length);

#define PACKED(family) family##_packed_bytes, family##_pack
#define UNPACKED NULL, NULL
#define KERNEL(...) KERNEL_ROW(__VA_ARGS__)
#define KERNEL_ROW(name, kind, text, features, family, bytes, pack, pack_text, pack_units, \
                   scratch, cost)                                                          \
  {#name,           PROBLEM_##kind, text,  features, family##_accepts,                     \
   family##_choose, family##_units, bytes, pack,     pack_text,                            \
   pack_units,      scratch,        cost},
const struct kernel kernel_table[] = {
#include "kernels.def"
};
#undef KERNEL
const size_t kernel_count = sizeof kernel_table / sizeof kernel_table[0];

const struct kernel *kernel_choose(const struct problem *problem,
                                   const struct kernel_target *target) {
  const struct kernel *best = NULL;
  double best_cost = 0;
  for (size_t i = 0; i < kernel_count; i++) {
    const struct kernel *kernel = &kernel_table[i];
    if (kernel->kind != problem->kind || (kernel->features & ~target->features)) continue;
    if (!kernel->accepts(problem, target)) continue;
    double cost = kernel->cost ? kernel->cost(problem, target) : 0;
    if (best && !(cost < best_cost)) continue;
    best = kernel;
    best_cost = cost;
  }
  return best;
}

const struct kernel *kernel_find(const char *name) {
  for (size_t i = 0; i < kernel_count; i++)
    if (!strcmp(kernel_table[i].name, name)) return &kernel_table[i];
  return NULL;
}

const char *kernel_text(const char *file, size_t *out_length) {
  char name[128];
  int length = snprintf(name, sizeof name, "kernels/%s", file);
  if (length < 0 || (size_t)length >= sizeof name) return NULL;
  return hone_embedded_text(name, out_length);
}

/* Problem lines ---------------------------------------------------------------------------------
 */
struct number {
  const char *name;
  size_t offset;
};
static const struct number numbers[] = {
#define NUMBER(name, text) {#name, offsetof(struct problem, name)},
#include "numbers.def"
#undef NUMBER
};
struct kind {
  const char *name, *numbers; /* names with spaces between them */
};
static const struct kind kinds[PROBLEM_KIND_COUNT] = {
#define KIND(name, numbers, text) {#name, numbers},
#include "problems.def"
#undef KIND
};
static const struct {
  int dtype;
  const char *name;
} dtypes[] = {{1, "f32"}, {10, "f16"}, {16, "bf16"}, {11, "f64"},
              {3, "i8"},  {2, "u8"},   {6, "i32"},   {7, "i64"}};

static const struct number *find_number(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (strlen(numbers[i].name) == length && !memcmp(numbers[i].name, name, length))
      return &numbers[i];
  return NULL;
}

/* The index-th number of the kind; NULL past the last. */
static const struct number *kind_number(enum problem_kind kind, int index) {
  if ((unsigned)kind >= PROBLEM_KIND_COUNT || index < 0) return NULL;
  const char *at = kinds[kind].numbers;
  while (index-- > 0) {
    at = strchr(at, ' ');
    if (!at) return NULL;
    at++;
  }
  return find_number(at, strcspn(at, " "));
}

static int64_t *number_in(struct problem *problem, const struct number *number) {
  return (int64_t *)(void *)((char *)problem + number->offset);
}

const char *problem_number_name(enum problem_kind kind, int index) {
  const struct number *number = kind_number(kind, index);
  return number ? number->name : NULL;
}

int64_t problem_number(const struct problem *problem, int index) {
  const struct number *number = kind_number(problem->kind, index);
  if (!number) return 0;
  struct problem copy = *problem;
  return *number_in(&copy, number);
}

int problem_number_count(enum problem_kind kind) {
  int count = 0;
  while (kind_number(kind, count)) count++;
  return count;
}

const char *problem_kind_name(enum problem_kind kind) {
  return (unsigned)kind < PROBLEM_KIND_COUNT ? kinds[kind].name : NULL;
}

static const char *dtype_name(int dtype) {
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
    if (dtypes[i].dtype == dtype) return dtypes[i].name;
  return "?";
}

int problem_print(char *out, size_t size, const struct problem *problem) {
  size_t length = 0;
  int count = problem_number_count(problem->kind);
  for (int i = -1; i < count; i++) {
    char *at = length < size ? out + length : NULL;
    size_t left = length < size ? size - length : 0;
    int wrote = 0;
    if (i < 0)
      wrote = snprintf(at, left, "%s %s", kinds[problem->kind].name, dtype_name(problem->dtype));
    else if (problem_number(problem, i))
      wrote = snprintf(at, left, " %s%lld", problem_number_name(problem->kind, i),
                       (long long)problem_number(problem, i));
    if (wrote > 0) length += (size_t)wrote;
  }
  return (int)length;
}

/* The next word of *line, spaces skipped; its length, 0 at the end. */
static size_t next_word(const char **line) {
  *line += strspn(*line, " ");
  return strcspn(*line, " ");
}

/* "m128", "a_row256": a number of the kind, then its value. */
static bool parse_number(const char *word, size_t length, struct problem *out) {
  size_t digits = strcspn(word, "-0123456789");
  for (size_t split = digits; split < length; split++) {
    const struct number *number = find_number(word, split);
    if (!number) continue;
    bool in_kind = false;
    for (int i = 0; i < problem_number_count(out->kind); i++)
      in_kind |= kind_number(out->kind, i) == number;
    char *end = NULL;
    errno = 0;
    long long value = strtoll(word + split, &end, 10);
    if (!in_kind || errno || end != word + length) continue;
    *number_in(out, number) = value;
    return true;
  }
  return false;
}

bool problem_parse(const char *line, struct problem *out) {
  memset(out, 0, sizeof *out);
  size_t length = next_word(&line);
  int kind = 0;
  while (kind < PROBLEM_KIND_COUNT &&
         (strlen(kinds[kind].name) != length || memcmp(kinds[kind].name, line, length)))
    kind++;
  if (kind == PROBLEM_KIND_COUNT) return false;
  out->kind = (enum problem_kind)kind;
  line += length;
  length = next_word(&line);
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
    if (strlen(dtypes[i].name) == length && !memcmp(dtypes[i].name, line, length))
      out->dtype = dtypes[i].dtype;
  if (!out->dtype) return false;
  line += length;
  while ((length = next_word(&line))) {
    if (!parse_number(line, length, out)) return false;
    line += length;
  }
  return true;
}

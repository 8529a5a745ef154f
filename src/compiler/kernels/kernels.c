/* kernels: the table of kernels.def, the choice from it, and the notation of problems ("gemm f32
 * m128 n256 k64": kind, types, the kind's nonzero numbers) and choices ("gemm_f32 vectors2 ...":
 * row, its nonzero values). Both print and parse without loss.
 */
#include "kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

/* Made from the embedded files by tools/embed.sh. */
const char *hone_embedded_text(const char *name, size_t *out_length);

/* Sets of types: a, b, acc, c. */
#define F32 (1u << TYPE_F32)
#define ALL_F32 F32, F32, F32, F32
#define I8 (1u << TYPE_I8)
#define BYTES (1u << TYPE_U8 | 1u << TYPE_I8)
#define I32 (1u << TYPE_I32)
#define BF16 (1u << TYPE_BF16)
#define HALVES (BF16 | 1u << TYPE_F16)
#define NIBBLES (1u << TYPE_U4 | 1u << TYPE_I4)
#define FLOATS (F32 | HALVES)
#define VNNI_AND_VBMI (FEATURE_AVX512_VNNI | FEATURE_AVX512_VBMI)
#define AMX(type) (FEATURE_AMX_TILE | FEATURE_AMX_##type)
#define PACKED(family) family##_packed_bytes, family##_pack
#define UNPACKED NULL, NULL
#define SHARED(source, family) source, family##_shared_defines
#define LITERAL NULL, NULL
#define KERNEL(...) KERNEL_ROW(__VA_ARGS__)
#define KERNEL_ROW(name, kind, a, b, acc, c, source, shared, shares, features, family, names, \
                   bytes, pack, pack_source, pack_units, scratch, traits)                     \
  {#name,                                                                                     \
   PROBLEM_##kind,                                                                            \
   {a, b, acc, c},                                                                            \
   source,                                                                                    \
   features,                                                                                  \
   names,                                                                                     \
   family##_accepts,                                                                          \
   family##_enumerate,                                                                        \
   family##_fits,                                                                             \
   family##_defines,                                                                          \
   shared,                                                                                    \
   shares,                                                                                    \
   family##_units,                                                                            \
   bytes,                                                                                     \
   pack,                                                                                      \
   pack_source,                                                                               \
   pack_units,                                                                                \
   scratch,                                                                                   \
   traits},
const struct kernel kernel_table[] = {
#include "kernels.def"
};
#undef KERNEL
#undef F32
#undef I8
#undef BYTES
#undef I32
#undef BF16
#undef HALVES
#undef FLOATS
#undef VNNI_AND_VBMI
#undef AMX
const size_t kernel_count = sizeof kernel_table / sizeof kernel_table[0];

static bool in_set(uint32_t set, uint8_t type) { return type < 32 && (set >> type & 1); }

bool kernel_serves(const struct kernel *kernel, const struct problem *problem,
                   const struct kernel_target *target) {
  const struct type_sets *sets = &kernel->types;
  const struct problem_types *types = &problem->types;
  return kernel->kind == problem->kind && !(kernel->features & ~target->features) &&
         in_set(sets->a, types->a) && in_set(sets->b, types->b) && in_set(sets->acc, types->acc) &&
         in_set(sets->c, types->c) && kernel->accepts(problem, target);
}

int kernel_signed_shift(const struct kernel *kernel) {
  return kernel->features & FEATURE_AMX_INT8 ? 0 : 128;
}

/* A later choice of a row must be clearly cheaper: predictions are accurate to a few percent. */
#define CLEARLY 0.97

bool kernel_choose_in(const struct kernel *kernel, const struct problem *problem,
                      const struct kernel_target *target, struct choice *out) {
  struct choice now;
  for (int index = 0;; index++) {
    now = (struct choice){.kernel = kernel};
    if (!kernel->enumerate(problem, target, index, &now)) return index > 0;
    if (!index || now.cost < CLEARLY * out->cost ||
        (now.cost <= out->cost && now.cycles < CLEARLY * out->cycles))
      *out = now;
  }
}

bool kernel_choose(const struct problem *problem, const struct kernel_target *target,
                   struct choice *out) {
  bool found = false;
  for (size_t i = 0; i < kernel_count; i++) {
    struct choice now;
    if (!kernel_serves(&kernel_table[i], problem, target)) continue;
    if (!kernel_choose_in(&kernel_table[i], problem, target, &now)) continue;
    bool better = !found || (now.cost > 0 && (out->cost <= 0 || now.cost < out->cost));
    if (better) *out = now;
    found = true;
  }
  return found;
}

const struct kernel *kernel_find(const char *name) {
  for (size_t i = 0; i < kernel_count; i++)
    if (!strcmp(kernel_table[i].name, name)) return &kernel_table[i];
  return NULL;
}

const char *const kernel_helpers[] = {"simd.h", "dot.h", "tiles.h", "int4.h", NULL};

const char *kernel_source(const char *file, size_t *out_length) {
  char name[128];
  int length = snprintf(name, sizeof name, "kernels/%s", file);
  if (length < 0 || (size_t)length >= sizeof name) return NULL;
  return hone_embedded_text(name, out_length);
}

const char *kernel_source_part(const char *at, const char *end, size_t *out_length,
                               char out_file[KERNEL_FILE_MAX]) {
  static const char head[] = "#include \"";
  const size_t head_length = sizeof head - 1;
  out_file[0] = 0;
  for (const char *line = at; line < end;) {
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    const char *next = newline ? newline + 1 : end;
    const char *name = line + head_length;
    if ((size_t)(next - line) > head_length && !memcmp(line, head, head_length)) {
      const char *quote = memchr(name, '"', (size_t)(next - name));
      if (quote && quote - name < KERNEL_FILE_MAX) {
        memcpy(out_file, name, (size_t)(quote - name));
        out_file[quote - name] = 0;
        *out_length = (size_t)(line - at);
        return next;
      }
    }
    line = next;
  }
  *out_length = (size_t)(end - at);
  return end;
}

/* -- Problem lines */
struct number {
  const char *name;
  size_t offset;
};
static const struct number numbers[] = {
#define NUMBER(name, meaning) {#name, offsetof(struct problem, name)},
#include "numbers.def"
#undef NUMBER
};
struct kind {
  const char *name, *numbers; /* names separated by spaces */
};
static const struct kind kinds[PROBLEM_KIND_COUNT] = {
#define KIND(name, numbers, operands) {#name, numbers},
#include "problems.def"
#undef KIND
};
static const struct {
  uint8_t type;
  const char *name;
} types[] = {{TYPE_F32, "f32"}, {TYPE_F16, "f16"}, {TYPE_BF16, "bf16"}, {TYPE_U4, "u4"},
             {TYPE_I4, "i4"},   {TYPE_F64, "f64"}, {TYPE_I8, "i8"},     {TYPE_U8, "u8"},
             {TYPE_I32, "i32"}, {TYPE_I64, "i64"}};

/* The index-th word of a space-separated list; its length, 0 past the last. */
static size_t word_at(const char *list, int index, const char **out) {
  for (*out = list; index-- > 0; (*out)++) {
    *out = strchr(*out, ' ');
    if (!*out) return 0;
  }
  return strcspn(*out, " ");
}

static const struct number *find_number(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (strlen(numbers[i].name) == length && !memcmp(numbers[i].name, name, length))
      return &numbers[i];
  return NULL;
}

/* The index-th number of the kind; NULL past the last. */
static const struct number *kind_number(enum problem_kind kind, int index) {
  const char *at;
  if ((unsigned)kind >= PROBLEM_KIND_COUNT || index < 0) return NULL;
  size_t length = word_at(kinds[kind].numbers, index, &at);
  return length ? find_number(at, length) : NULL;
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

static const char *type_name(uint8_t type) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (types[i].type == type) return types[i].name;
  return "?";
}

/* "f32", "u8*i8:i32:f32" */
static int print_types(char *out, size_t size, const struct problem_types *t) {
  if (t->a == t->b && t->a == t->acc && t->a == t->c)
    return snprintf(out, size, "%s", type_name(t->a));
  return snprintf(out, size, "%s*%s:%s:%s", type_name(t->a), type_name(t->b), type_name(t->acc),
                  type_name(t->c));
}

struct problem problem_before_choice(const struct problem *problem) {
  struct problem p = *problem;
  p.a_split = p.limit_operand = 0;
  return p;
}

int problem_print(char *out, size_t size, const struct problem *problem) {
  char name[64];
  print_types(name, sizeof name, &problem->types);
  int length = snprintf(out, size, "%s %s", kinds[problem->kind].name, name);
  const struct number *number;
  for (int i = 0; (number = kind_number(problem->kind, i)); i++) {
    size_t at = (size_t)length < size ? (size_t)length : size;
    struct problem copy = *problem;
    int64_t value = *number_in(&copy, number);
    if (value)
      length +=
          snprintf(size ? out + at : NULL, size - at, " %s%lld", number->name, (long long)value);
  }
  return length;
}

/* The next word of *line after spaces; its length, 0 at the end. */
static size_t next_word(const char **line) {
  *line += strspn(*line, " ");
  return strcspn(*line, " ");
}

/* "m128", "a_row256": the value after a name of `split` characters. */
static bool parse_value(const char *word, size_t length, size_t split, int64_t *out) {
  char *end = NULL;
  errno = 0;
  long long value = strtoll(word + split, &end, 10);
  *out = value;
  return !errno && end == word + length &&
         (word[split] == '-' || (word[split] >= '0' && word[split] <= '9'));
}

/* A number of the kind. A name may end in digits (batch0), so the value begins where one of the
   kind's names ends. */
static bool parse_number(const char *word, size_t length, struct problem *out) {
  int64_t value;
  const char *name = kinds[out->kind].numbers;
  for (size_t split; (split = strcspn(name, " ")); name += split + (name[split] == ' ')) {
    if (split >= length || memcmp(word, name, split)) continue;
    if (!parse_value(word, length, split, &value)) continue;
    *number_in(out, find_number(name, split)) = value;
    return true;
  }
  return false;
}

static bool parse_type(const char *word, size_t length, uint8_t *out) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strlen(types[i].name) == length && !memcmp(types[i].name, word, length)) {
      *out = types[i].type;
      return true;
    }
  return false;
}

/* One name, or a*b:acc:c. */
static bool parse_types(const char *word, size_t length, struct problem_types *out) {
  uint8_t *const parts[] = {&out->a, &out->b, &out->acc, &out->c};
  if (parse_type(word, length, &out->a)) {
    *out = SAME_TYPES(out->a);
    return true;
  }
  for (int i = 0; i < 4; i++) {
    size_t part = i < 3 ? strcspn(word, i ? ":" : "*") : length;
    if (part > length || (i < 3 && part == length) || !parse_type(word, part, parts[i]))
      return false;
    if (i == 3) break;
    word += part + 1;
    length -= part + 1;
  }
  return true;
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
  if (!parse_types(line, length, &out->types)) return false;
  line += length;
  while ((length = next_word(&line))) {
    if (!parse_number(line, length, out)) return false;
    line += length;
  }
  return true;
}

/* -- Choices */
int choice_print(char *out, size_t size, const struct choice *choice) {
  const char *name;
  size_t name_length;
  int length = snprintf(out, size, "%s", choice->kernel->name);
  for (int i = 0; (name_length = word_at(choice->kernel->names, i, &name)); i++) {
    size_t at = (size_t)length < size ? (size_t)length : size;
    if (choice->value[i])
      length += snprintf(size ? out + at : NULL, size - at, " %.*s%lld", (int)name_length, name,
                         (long long)choice->value[i]);
  }
  return length;
}

int64_t choice_value(const struct choice *choice, const char *name, int64_t otherwise) {
  const char *word;
  size_t length;
  for (int i = 0; (length = word_at(choice->kernel->names, i, &word)); i++)
    if (strlen(name) == length && !memcmp(name, word, length)) return choice->value[i];
  return otherwise;
}

bool choice_parse(const char *text, struct choice *out) {
  char row[64];
  size_t length = next_word(&text), name_length;
  *out = (struct choice){0};
  if (length >= sizeof row) return false;
  memcpy(row, text, length);
  row[length] = 0;
  out->kernel = kernel_find(row);
  if (!out->kernel) return false;
  text += length;
  while ((length = next_word(&text))) {
    const char *name;
    int index = 0;
    bool known = false;
    for (; (name_length = word_at(out->kernel->names, index, &name)) && !known; index++)
      if (name_length < length && !memcmp(name, text, name_length))
        known = parse_value(text, length, name_length, &out->value[index]);
    if (!known) return false;
    text += length;
  }
  return true;
}

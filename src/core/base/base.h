/* base: what C lacks. Context and fail, arena, checked sizes, strings, element types, hashes,
 * clock.
 *
 * Every fallible function returns hone_status and stores the message in the context: the first
 * failure wins. Nothing here prints or exits. Memory of a phase comes from an arena: one
 * arena_destroy frees it, so TRY may return anywhere. */
#ifndef HONE_BASE_H
#define HONE_BASE_H

#include <hone.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF(at, first) __attribute__((format(printf, at, first)))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TRY(call)              \
  do {                         \
    hone_status try_ = (call); \
    if (try_) return try_;     \
  } while (0)

/* -- context.c: errors, warnings, limits */

struct place {
  enum place_kind { PLACE_NONE, PLACE_OFFSET, PLACE_NODE, PLACE_NAME, PLACE_FILE } kind;
  int64_t number;       /* byte offset or node index */
  const char *name;     /* quoted when shown; any bytes */
  const char *operator; /* operator of a node, shown if the node has no name; any bytes, or NULL */
};
static inline struct place place_none(void) { return (struct place){.kind = PLACE_NONE}; }
static inline struct place place_offset(size_t offset) {
  return (struct place){.kind = PLACE_OFFSET, .number = (int64_t)offset};
}
static inline struct place place_of_node(int64_t index, const char *name, const char *operator) {
  return (struct place){PLACE_NODE, index, name, operator};
}
static inline struct place place_name(const char *name) {
  return (struct place){.kind = PLACE_NAME, .name = name};
}
static inline struct place place_file(const char *path) {
  return (struct place){.kind = PLACE_FILE, .name = path};
}

enum limit_id {
#define LIMIT(name, value, text) LIMIT_##name,
#include "limits.def"
#undef LIMIT
  LIMIT_COUNT
};

struct ctx {
  hone_status status; /* of the first failure, HONE_OK before */
  char message[2048]; /* "E_SHAPE at node 3 \"conv1\": ...", control characters escaped */
  char hint[640];     /* what to do about it; "" until a hint is given */
  /* verb of the command line, so that hints can name its help; NULL in a library */
  const char *verb;
  int64_t limits[LIMIT_COUNT];
  void (*warn)(void *user, const char *message); /* NULL: warnings are dropped */
  void *warn_user;
  /* strings in the outputs of the latest run with a hone_context, which frees them; else NULL */
  void *strings;
};

void ctx_init(struct ctx *ctx);
/* Forgets the failure, keeps limits. */
void ctx_clear(struct ctx *ctx);
MUST_USE PRINTF(4, 5) hone_status
    fail(struct ctx *ctx, hone_status id, struct place at, const char *format, ...);
/* What to do about the failure in ctx. Set where the failure occurs, or by a caller that knows
 * more. The first hint stays; without a failure nothing happens. */
PRINTF(2, 3) void hint(struct ctx *ctx, const char *format, ...);
/* The same in one expression: return advise(ctx, fail(...), "..."). */
MUST_USE PRINTF(3, 4) hone_status
    advise(struct ctx *ctx, hone_status status, const char *format, ...);
/* The failure's hint, else the remedy in errors.def; "" if there is neither. */
const char *ctx_hint(struct ctx *ctx);
PRINTF(2, 3) void warn(struct ctx *ctx, const char *format, ...);
const char *status_meaning(hone_status status);
const char *status_remedy(hone_status status); /* a remedy that is always correct, or "" */
int status_exit_code(hone_status status);
/* name = "nodes"; -1 if unknown. */
int limit_find(const char *name);
const char *limit_name(int id);
const char *limit_text(int id);

/* -- checked sizes: true = fits; callers must test the result */

#define checked_add(a, b, out) (!__builtin_add_overflow((a), (b), (out)))
#define checked_sub(a, b, out) (!__builtin_sub_overflow((a), (b), (out)))
#define checked_mul(a, b, out) (!__builtin_mul_overflow((a), (b), (out)))
/* Rounds up to a multiple of `alignment`, a power of two. */
MUST_USE bool checked_align(size_t n, size_t alignment, size_t *out);

/* An unsigned number of `width` bytes, at most 8, the lowest byte first. */
static inline uint64_t little_endian(const uint8_t *bytes, size_t width) {
  uint64_t x = 0;
  for (size_t i = 0; i < width; i++) x |= (uint64_t)bytes[i] << (8 * i);
  return x;
}

/* -- arena.c */

struct arena;
/* limit_bytes 0: ctx->limits[LIMIT_arena_bytes]. */
MUST_USE hone_status arena_create(struct ctx *ctx, size_t limit_bytes, struct arena **out_arena);
void arena_destroy(struct arena *arena); /* NULL is fine */
/* Zeroed, 64-byte aligned for size >= 64, else 16. count 0 gives a valid pointer. */
MUST_USE hone_status arena_alloc(struct ctx *ctx, struct arena *arena, size_t count, size_t size,
                                 void *out_pointer);
/* Copies `length` bytes and adds a NUL. */
MUST_USE hone_status arena_string(struct ctx *ctx, struct arena *arena, const char *bytes,
                                  size_t length, const char **out_string);
MUST_USE PRINTF(4, 5) hone_status arena_printf(struct ctx *ctx, struct arena *arena,
                                               const char **out_string, const char *format, ...);
size_t arena_used(const struct arena *arena);
#define NEW(ctx, arena, pointer) arena_alloc((ctx), (arena), 1, sizeof *(pointer), &(pointer))
#define NEW_ARRAY(ctx, arena, pointer, count) \
  arena_alloc((ctx), (arena), (count), sizeof *(pointer), &(pointer))

/* Growing array in an arena: struct { T *at; size_t count, capacity; }. VEC(T) declares one. */
#define VEC(T)              \
  struct {                  \
    T *at;                  \
    size_t count, capacity; \
  }
MUST_USE hone_status vec_grow(struct ctx *ctx, struct arena *arena, void *at_pointer, size_t count,
                              size_t *capacity, size_t size);
/* Room for one more, then count++; the new element is vec.at[vec.count - 1]. */
#define VEC_PUSH(ctx, arena, vec, ...)                                                            \
  do {                                                                                            \
    TRY(vec_grow((ctx), (arena), &(vec)->at, (vec)->count, &(vec)->capacity, sizeof *(vec)->at)); \
    (vec)->at[(vec)->count++] = (__VA_ARGS__);                                                    \
  } while (0)

/* -- strbuf.c: a growing string on the heap; failure to grow is remembered, seen by strbuf_finish */

struct strbuf {
  char *at; /* NUL-terminated; NULL if empty */
  size_t length, capacity;
  bool failed;
};
PRINTF(2, 3) void strbuf_printf(struct strbuf *text, const char *format, ...);
void strbuf_vprintf(struct strbuf *text, const char *format, va_list args);
void strbuf_append(struct strbuf *text, const char *bytes, size_t length);
void strbuf_puts(struct strbuf *text, const char *string);
void strbuf_deinit(struct strbuf *text);
/* E_OOM if any append failed. */
MUST_USE hone_status strbuf_finish(struct ctx *ctx, const struct strbuf *text);
/* Bytes at `bytes` that a UTF-8 character (RFC 3629) of *out_length bytes can begin with, at most
   `size` (not 0) and its length; 0, and length 0: none begins so. */
size_t utf8_begin(const void *bytes, size_t size, size_t *out_length);
/* Bytes of the character at `bytes`, 0 if there is none. */
size_t utf8_length(const void *bytes, size_t size);
/* The code point there, U+FFFD for a byte that begins none; *out_size: bytes read. Accepts
   surrogates and overlong forms. */
uint32_t utf8_read(const void *bytes, size_t size, size_t *out_size);
/* Bytes written; code: at most 0x10ffff. */
size_t utf8_write(uint32_t code, char out[4]);
/* Escapes untrusted text: C0/C1/bidi controls and invalid UTF-8 as \u{..}; at most max bytes. */
void strbuf_put_safe(struct strbuf *text, const char *string, size_t max);
/* One escaped character of s into out (at most 12 bytes and the NUL); returns the bytes of s used.
 */
size_t shown_as(const char *s, char out[16]);
/* Escapes a whole string into a fixed buffer, always terminated. */
void safe_copy(char *out, size_t size, const char *string);
/* Strict decimal; false on trailing bytes, blanks, overflow or out of [min, max]. */
MUST_USE bool parse_i64(const char *string, int64_t min, int64_t max, int64_t *out);
MUST_USE bool parse_f64(const char *string, double min, double max, double *out);
/* amount.c: a number with a unit of its kind, converted to the base unit: ms, s, bytes (decimal),
 * share, mJ. PERCENT: a bare number is per cent, SHARE: it is the share itself. Strict; false out
 * of [min, max]. */
enum amount_kind {
  AMOUNT_MS,
  AMOUNT_SECONDS,
  AMOUNT_BYTES,
  AMOUNT_SHARE,
  AMOUNT_PERCENT,
  AMOUNT_NUMBER,
  AMOUNT_MJ
};
MUST_USE bool parse_amount(const char *text, enum amount_kind kind, double min, double max,
                           double *out);
const char *amount_example(enum amount_kind kind); /* "a time as 5ms, 300us or 0.5s" */
/* Shortest decimal that reads back equal, with '.' in every locale; NaN/Inf as "NaN", "Infinity". */
void format_f64(char out[32], double x);
/* "97.5 MB": three digits, decimal units, '.' in every locale; bytes >= 0 and finite. */
void format_bytes(char out[32], double bytes);
/* Parses "[1,3,224]" at p, at most HONE_MAX_RANK numbers >= 0. Returns the end, or NULL on any
 * other text. */
const char *parse_dims(const char *p, int32_t *out_rank, int64_t out_dims[HONE_MAX_RANK]);
/* Levenshtein distance; for "did you mean". */
size_t edit_distance(const char *a, const char *b);
/* The name closest to a mistyped word, or NULL if none is close. */
const char *nearest_name(const char *word, const char *const *names, size_t count);
/* For qsort over strings: const char *. */
int by_text(const void *a, const void *b);
/* [a-z0-9._-]{1,64} from any text, no leading dot or dash. */
void slug(char out[65], const char *text);

/* -- memory.c: what this process may use */

/* First line of a small file without its newline; false if it cannot be read. */
bool read_line(const char *path, char *out, size_t size);
/* Where the control groups of a process are listed, and the mounted tree. */
struct cgroups {
  const char *list, *root;
};
/* The CPUs that this thread may use, in a set of any size; NULL: unknown. For CPU_FREE. */
cpu_set_t *allowed_cpus(size_t *out_bytes);
/* The smallest limit of a process's groups (NULL: this process's) and their parents, in CPUs and in
 * bytes; 0: none. */
double cgroup_cpus(const struct cgroups *groups);
double cgroup_memory(const struct cgroups *groups);
/* Bytes: physical memory, or less where a control group or the address space (RLIMIT_AS) limits it.
 * Call it wherever memory is planned: sysconf does not see container limits. */
uint64_t usable_ram_bytes(void);
uint64_t usable_ram_bytes_in(const struct cgroups *groups);
/* Lowers the memory limits to `bytes`: a model that needs more fails with E_LIMIT, and the process
 * is not killed. */
void limit_to_memory(struct ctx *ctx, uint64_t bytes);

/* -- dtype.c */

enum dtype_kind {
  DTYPE_NONE,
  DTYPE_FLOAT, /* of 16 bits and more */
  DTYPE_TINY,  /* floats of 8 or 4 bits */
  DTYPE_SIGNED,
  DTYPE_UNSIGNED,
  DTYPE_BOOL,
  DTYPE_TEXT
};
enum { DTYPE_COUNT = HONE_I2 + 1 }; /* numbers below it, HONE_UNDEFINED included */
struct dtype_facts {                /* a row of dtypes.def */
  const char *name;                 /* "f32", "i64", "bool"; "?" if unknown */
  unsigned bits;                    /* per element, 0 for unknown and string */
  enum dtype_kind kind;
  const char *c_type, *numpy, *onnx, *stablehlo; /* NULL: it has none */
  int tflite;                                    /* -1: none */
};
const struct dtype_facts *dtype_facts(hone_dtype dtype);
/* The smallest or largest number of an integer type, or of bool; u64: as its bits. */
int64_t integer_edge(hone_dtype dtype, bool largest);
bool dtype_is_signed(hone_dtype dtype);
bool dtype_is_unsigned(hone_dtype dtype); /* bool excluded */
/* Bits per element, 0 for unknown and string. */
unsigned dtype_bits(hone_dtype dtype);
const char *dtype_name(hone_dtype dtype); /* "f32", "i64", "bool"; "?" if unknown */
hone_dtype dtype_parse(const char *name); /* HONE_UNDEFINED if unknown */
/* The type with this number in a file, HONE_UNDEFINED if there is none. */
hone_dtype dtype_of_number(int64_t number);
/* In which kernels compute with it: floats below 32 bits in f32, integers below a byte in bytes. */
hone_dtype dtype_widened(hone_dtype dtype);
bool dtype_is_float(hone_dtype dtype);
bool dtype_is_wide_float(hone_dtype dtype); /* of 16 bits and more */
bool dtype_is_half(hone_dtype dtype);       /* f16, bf16 */
bool dtype_is_tiny_float(hone_dtype dtype); /* of 8 or 4 bits */
bool dtype_is_integer(hone_dtype dtype);    /* bool excluded */
bool dtype_is_byte(hone_dtype dtype);       /* i8, u8 */
/* Element i as a number: booleans as 0 and 1, types without a C type as their byte, NaN for
 * strings. */
double element_number(const void *data, hone_dtype dtype, size_t i);
/* The number of elements of a shape whose dimensions are known and in range. */
size_t tensor_elements(const hone_tensor *tensor);
float f16_to_f32(uint16_t half);
uint16_t f32_to_f16(float x); /* round to nearest even */
float bf16_to_f32(uint16_t x);
uint16_t f32_to_bf16(float x);
/* Codes of the floats of 8 and 4 bits: the value is exact in double. Rounds half to even; e8m0,
 * which holds only powers of two, rounds as requested. Above the largest value: that value, or
 * without `saturate` infinity or NaN, depending on the type; f4e2m1 always saturates. */
enum tiny_rounding { TINY_UP, TINY_DOWN, TINY_NEAREST };
double tiny_to_f64(hone_dtype dtype, unsigned bits);
unsigned f64_to_tiny(hone_dtype dtype, double x, enum tiny_rounding rounding, bool saturate);

/* -- precision.c */

enum precision {
#define PRECISION(id, name, dtype, rel_l2, max_rel, can_ask) PRECISION_##id,
#include "precisions.def"
#undef PRECISION
  PRECISION_COUNT
};
extern const struct precision_facts {
  const char *name;
  hone_dtype dtype;       /* HONE_UNDEFINED: none of its own */
  double rel_l2, max_rel; /* tolerances */
  bool can_ask;           /* by --precision */
} precisions[PRECISION_COUNT];
/* By the name; by the element type; by the word of an engine ("float16"). PRECISION_COUNT: none. */
enum precision precision_find(const char *name);
enum precision precision_of(hone_dtype dtype);
enum precision precision_of_word(const char *word);
/* Those that can be asked for: "fp32, as-is, bf16, fp16". */
void precision_names(char *out, size_t size);

/* -- hash.c */

/* XXH3-128 as 32 hex digits. */
void hash_hex(char out[33], const void *data, size_t size);
/* The same; `done` is called after each part of so many bytes. */
void hash_hex_in_parts(char out[33], const void *data, size_t size, size_t part,
                       void (*done)(const void *at, size_t bytes));
uint64_t hash_64(const void *data, size_t size); /* XXH3, 64 bits */
/* SHA-256 as 64 hex digits. E_INTERNAL if libcrypto fails. */
MUST_USE hone_status sha256_hex(struct ctx *ctx, char out[65], const void *data, size_t size);
/* Appends RFC 4648 base64 in one line. E_LIMIT above 1 GiB. */
MUST_USE hone_status base64_put(struct ctx *ctx, struct strbuf *out, const void *data, size_t size);

/* -- clock.c */

uint64_t clock_ns(void);      /* CLOCK_MONOTONIC_RAW */
uint64_t clock_unix_ms(void); /* calendar time: for records, never for durations */

/* -- random.c: splitmix64/xoshiro256**, seeded, the same on every machine */

struct random {
  uint64_t s[4];
};
void random_init(struct random *random, uint64_t seed);
static inline uint64_t random_rotate_(uint64_t x, int k) { return x << k | x >> (64 - k); }
static inline uint64_t random_u64(struct random *random) { /* inline: models have 10^8 weights */
  uint64_t *s = random->s, result = random_rotate_(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = random_rotate_(s[3], 45);
  return result;
}
double random_uniform(struct random *random); /* [0, 1) */
double random_normal(struct random *random);  /* mean 0, variance 1 */
/* [0, n), unbiased, n > 0 */
uint64_t random_below(struct random *random, uint64_t n);
void random_shuffle(struct random *random, size_t *order, size_t count);

/* -- embedded files: every file under src/ROOM/embedded/ and src/compiler/run/artifact.h, by
 * "ROOM/NAME" */

/* "kernels/simd.h", "run/main.c", "compiler/run/artifact.h"; NULL if there is none. NUL-terminated. Made by
   tools/embed.sh at build time. */
const char *hone_embedded_text(const char *name, size_t *out_length);

#endif

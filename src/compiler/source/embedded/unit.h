#define PLAIN_LINES 64 /* that one unit of a plain kernel does together */
/* What steps call: the units of work [begin, end). */
typedef void kernel_function(const void *a, const void *b, void *c, const void *const *e,
                             void *scratch, long begin, long end);
typedef void pack_function(const void *b, void *packed, long begin, long end);
typedef void loop_function(void *to, const void *const *from, long begin, long end);
typedef void open_loop_function(void *to, const void *const *from, long begin, long end,
                                const long *restrict less);
typedef int plain_function(const void *const *in, void *const *out, void *scratch, long begin,
                           long end);

/* New text of a run; `used` goes up as threads take room. */
struct texts {
  char *at;
  uint64_t used, size;
};

#if !defined __GNUC__
#define NOIPA
#elif !defined __clang__
#define NOIPA __attribute__((noipa)) /* gcc 12 takes some loops for functions without effect */
#else
#define NOIPA __attribute__((noinline))
#endif
#define C(k) splat_((float)(k))
#if defined __GNUC__
#define HIDDEN __attribute__((visibility("hidden"))) /* between units */
#define EXPORTED __attribute__((visibility("default")))
#define SET_STATUS_(to, x) __atomic_store_n(&(to), (x), __ATOMIC_RELAXED)
#else
#define HIDDEN
#define EXPORTED
#define SET_STATUS_(to, x) ((to) = (x))
#endif
#if defined __GNUC__
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* omp */
#endif

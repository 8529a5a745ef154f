#define PLAIN_LINES 64 /* lines per work item of a generic kernel */
/* What steps call: computes the work items [begin, end). */
typedef void kernel_function(const void *a, const void *b, void *c, const void *const *e,
                             void *scratch, long begin, long end);
typedef void pack_function(const void *b, void *packed, long begin, long end);
typedef void loop_function(void *to, const void *const *from, long begin, long end);
typedef void open_loop_function(void *to, const void *const *from, long begin, long end,
                                const long *restrict less);
typedef int plain_function(const void *const *in, void *const *out, void *scratch, long begin,
                           long end);

/* New strings of a run; `used` grows as threads allocate. */
struct texts {
  char *at;
  uint64_t used, size;
};

#if !defined __GNUC__
#define NOIPA
#elif !defined __clang__
/* gcc 12 takes some loops for functions without side effects */
#define NOIPA __attribute__((noipa))
#else
#define NOIPA __attribute__((noinline))
#endif
#define C(k) splat_((float)(k))
#if defined __GNUC__
#define HIDDEN __attribute__((visibility("hidden"))) /* between translation units */
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

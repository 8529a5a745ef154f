/* Shared by ScatterElements and ScatterND: how an update is applied, and the function's head. */
#if defined ATTR_reduction_IS_add
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) + (ACC)(b)))
#elif defined ATTR_reduction_IS_mul
#define APPLY(a, b) ((a) = (OUT0_T)((ACC)(a) * (ACC)(b)))
#elif defined ATTR_reduction_IS_max
#define APPLY(a, b) ((a) = (a) > (b) || (a) != (a) ? (a) : (b))
#elif defined ATTR_reduction_IS_min
#define APPLY(a, b) ((a) = (a) < (b) || (a) != (a) ? (a) : (b))
#else
#define APPLY(a, b) ((a) = (b))
#endif
#if OUT0_TYPE == 1 /* f32 */
#define ACC float
#elif OUT0_TYPE == 11 /* f64 */
#define ACC double
#else
#define ACC uint64_t
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const IN1_T *restrict indices = in[1];
  const IN2_T *restrict updates = in[2];
  OUT0_T *restrict to = out[0];

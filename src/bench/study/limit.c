/* Roofline limit of a model on this machine, over the contractions, which no fusion can remove. P
 * and B are the machine's measured peaks for the thread count and precision, so one formula holds
 * for every backend. bf16 uses the higher of the bf16 and f32 peaks. Weights in fp16 are multiplied
 * as floats.
 */
#include "study_internal.h"

#include <math.h>

#define SMALLEST_WORKING_SET 262144.0 /* smallest size in the measured bandwidth curve */

static double move_s(const struct peaks *peaks, double bytes) {
  return bytes / peaks_bandwidth(peaks, fmax(bytes, SMALLEST_WORKING_SET));
}

static double limit_ms(const struct bench_case *one, const struct peaks *peaks, bool winograd,
                       const char *precision) {
  const enum precision asked = precision_find(precision);
  const bool is_bf16 = asked == PRECISION_BF16;
  const double peak = is_bf16 ? fmax(peaks->bf16_flops, peaks->f32_flops) : peaks->f32_flops;
  const double size = is_bf16 || asked == PRECISION_FP16 ? 0.5 : 1;
  if (!isfinite(one->flops) || one->weights_bytes < 0 || !(peak > 0)) return NAN;
  double sum_s = 0;
  for (size_t i = 0; i < one->contraction_count; i++) {
    const struct bench_step *step = &one->contractions[i];
    const double flops = winograd ? step->winograd_flops : step->flops;
    sum_s += fmax(flops / peak, move_s(peaks, step->bytes * size));
  }
  double compulsory_s = move_s(peaks, (double)one->value_bytes + (double)one->weights_bytes * size);
  return 1e3 * fmax(sum_s, compulsory_s);
}

double bench_limit_ms(const struct bench_case *one, const struct peaks *peaks,
                      const char *precision) {
  return limit_ms(one, peaks, false, precision);
}
double bench_winograd_limit_ms(const struct bench_case *one, const struct peaks *peaks,
                               const char *precision) {
  const bool is_bf16 = precision_find(precision) == PRECISION_BF16;
  return limit_ms(one, peaks, !is_bf16, precision); /* too coarse for Winograd's transforms */
}

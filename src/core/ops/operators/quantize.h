/* quantize: shared by the quantised operators. real = (q - zero_point) * scale. */
#ifndef HONE_OPS_QUANTIZE_H
#define HONE_OPS_QUANTIZE_H

#include "core/ops/ops_internal.h"

/* i8 or u8; E_TYPE otherwise. */
MUST_USE hone_status want_byte(struct ctx *ctx, const struct node *node, size_t input);
/* Input k (if present) has one element, or one per channel; E_SHAPE otherwise. */
MUST_USE hone_status want_channel_operand(struct ctx *ctx, const struct node *node, size_t input,
                                          int64_t channels);
/* The largest and smallest integer of a quantised type; false for other types. */
bool integer_range(hone_dtype dtype, double *out_min, double *out_max);
/* Rounds half to even, adds the zero point, saturates; NaN gives the zero point. */
double requantize(double x, double zero_point, hone_dtype dtype);
/* A double copy of x minus its zero point (NULL: 0), a scalar or one value along `axis`. */
MUST_USE hone_status centred_f64(struct ctx *ctx, struct arena *scratch, const struct tensor *x,
                                 const struct tensor *zero_point, int axis, double **out);
/* a_scale * b_scale[i] / y_scale in float, as engines compute it; E_NUM unless finite, positive. */
MUST_USE hone_status combined_scale(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                    const struct tensor *a, const struct tensor *b,
                                    const struct tensor *y, int64_t channels, double **out);

#endif

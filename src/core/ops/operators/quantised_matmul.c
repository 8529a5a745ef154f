/* quantised_matmul: hone.MatMulWeights, a matmul of floats with a matrix that stays in 4 or 8
 * bits.
 * y[.., n] = sum over k of a[.., k] * (b[k, n] - zero[k / block, n]) * scale[k / block, n]
 * b: u4, i4, u8 or i8 [k, n]; scale: f32 [blocks, n]; zero (0 if omitted): type of b. With transB = 1
 * all three are transposed. If the last input is f32, it is what is added to an element after the scale, its block's minimum. Attribute
 * block_size. Attribute a_digits = 2: elements of a may be rounded to 16 bits of the largest in a
 * block, as GGUF models allow. Passes make it from MatMul with DequantizeLinear, which hands the
 * attribute on. */
#include "quantize.h"

hone_status infer_matmul_weights(struct ctx *ctx, struct graph *graph, struct node *node) {
  (void)graph;
  const struct value *a = node->inputs[0], *b = node->inputs[1];
  int64_t block = node_int(node, "block_size", 0);
  double low, high;
  if (a->dtype != HONE_F32 || node->inputs[2]->dtype != HONE_F32 ||
      !integer_range(b->dtype, &low, &high) || dtype_bits(b->dtype) > 8)
    return fail(ctx, HONE_E_TYPE, node_place(node), "a matmul of %s with %s is not supported",
                dtype_name(a->dtype), dtype_name(b->dtype));
  const bool turned = node_int(node, "transB", 0);
  if (a->shape.rank < 1 || b->shape.rank != 2 || block < 1 ||
      a->shape.dims[a->shape.rank - 1] != b->shape.dims[turned])
    return fail(ctx, HONE_E_SHAPE, node_place(node), "a and b do not fit, or block_size %lld",
                (long long)block);
  const int64_t k = b->shape.dims[turned], n = b->shape.dims[!turned];
  struct shape scales = {2, {n, n}}, out = a->shape;
  scales.dims[turned] = k / block + (k % block != 0);
  for (size_t i = 2; i < node->input_count; i++)
    if (node->inputs[i] && !shape_equal(&node->inputs[i]->shape, &scales))
      return fail(ctx, HONE_E_SHAPE, node_place(node),
                  "input %zu does not have one element per block", i);
  if (has_input(node, 3) && node->inputs[3]->dtype != b->dtype &&
      node->inputs[3]->dtype != HONE_F32)
    return fail(ctx, HONE_E_TYPE, node_place(node), "the zero points are %s, the weights %s",
                dtype_name(node->inputs[3]->dtype), dtype_name(b->dtype));
  out.dims[out.rank - 1] = n;
  return set_output(ctx, node, 0, HONE_F32, &out);
}

hone_status eval_matmul_weights(struct ctx *ctx, struct arena *scratch, const struct node *node,
                                const struct tensor *const *in, struct tensor *const *out) {
  const bool turned = node_int(node, "transB", 0);
  const size_t k = (size_t)in[1]->shape.dims[turned], n = (size_t)in[1]->shape.dims[!turned];
  size_t block = (size_t)node_int(node, "block_size", 0), rows = n ? tensor_count(out[0]) / n : 0;
  const size_t blocks = (size_t)in[2]->shape.dims[turned];
  const struct tensor *zero = node->input_count > 3 ? in[3] : NULL;
  const struct tensor *minimum = zero && zero->dtype == HONE_F32 ? zero : NULL;
  if (minimum) zero = NULL;
  double *sums;
  TRY(NEW_ARRAY(ctx, scratch, sums, rows));
  for (size_t j = 0; j < n; j++) {
    memset(sums, 0, rows * sizeof *sums);
    for (size_t i = 0; i < k; i++) {
      const size_t at = turned ? j * blocks + i / block : i / block * n + j;
      double w =
          tensor_f64(in[1], turned ? j * k + i : i * n + j) - (zero ? tensor_f64(zero, at) : 0);
      w = w * tensor_f64(in[2], at) + (minimum ? tensor_f64(minimum, at) : 0);
      for (size_t r = 0; r < rows; r++) sums[r] += tensor_f64(in[0], r * k + i) * w;
    }
    for (size_t r = 0; r < rows; r++) tensor_set_f64(out[0], r * n + j, sums[r]);
  }
  return HONE_OK;
}

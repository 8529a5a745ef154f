/* pt2_kinds: the table of ATen operators that are read, sorted by target, and nodes built by it. */
#include "pt2.h"

static pt_build_fn build_wrapped;

static const struct {
  const char *target;
  pt_build_fn *build;
  int parameter;
} kinds[] = {
    {"_operator.add", build_number, '+'},
    {"_operator.and_", build_number_test, '&'},
    {"_operator.eq", build_number_test, '='},
    {"_operator.floordiv", build_number, 'd'},
    {"_operator.ge", build_number_test, 'g'},
    {"_operator.gt", build_number_test, '>'},
    {"_operator.le", build_number_test, 'l'},
    {"_operator.lt", build_number_test, '<'},
    {"_operator.mod", build_number, '%'},
    {"_operator.mul", build_number, '*'},
    {"_operator.ne", build_number_test, '!'},
    {"_operator.neg", build_number, 'n'},
    {"_operator.or_", build_number_test, '|'},
    {"_operator.pos", build_number, 'i'},
    {"_operator.pow", build_number, '^'},
    {"_operator.sub", build_number, '-'},
    {"_operator.truediv", build_number, '/'},
    {"aten.__and__.Scalar", build_binary, OP_BitwiseAnd},
    {"aten.__and__.Tensor", build_binary, OP_BitwiseAnd},
    {"aten.__or__.Scalar", build_binary, OP_BitwiseOr},
    {"aten.__or__.Tensor", build_binary, OP_BitwiseOr},
    {"aten.__xor__.Scalar", build_binary, OP_BitwiseXor},
    {"aten.__xor__.Tensor", build_binary, OP_BitwiseXor},
    {"aten._adaptive_avg_pool2d.default", build_adaptive_pool, 0},
    {"aten._adaptive_avg_pool3d.default", build_adaptive_pool, 0},
    {"aten._assert_async.default", build_nothing, 0},
    {"aten._assert_async.msg", build_nothing, 0},
    {"aten._assert_scalar.default", build_nothing, 0},
    {"aten._assert_tensor_metadata.default", build_nothing, 0},
    {"aten._cdist_forward.default", build_distances, 0},
    {"aten._conj.default", build_conjugate, 0},
    {"aten._conj_physical.default", build_conjugate, 0},
    {"aten._convolution.default", build_conv, 0},
    {"aten._embedding_bag.default", build_embedding_bag, 0},
    {"aten._embedding_bag_forward_only.default", build_embedding_bag, 0},
    {"aten._fft_c2c.default", build_fft, FFT_CORE},
    {"aten._fft_c2r.default", build_fft, FFT_CORE | FFT_HALF | FFT_INVERSE},
    {"aten._fft_r2c.default", build_fft, FFT_CORE | FFT_HALF},
    {"aten._grouped_mm.default", build_grouped_product, 1},
    {"aten._local_scalar_dense.default", build_item, 0},
    {"aten._log_softmax.default", build_softmax, OP_LogSoftmax},
    {"aten._native_batch_norm_legit.no_stats", build_batch_norm_fresh, 0},
    {"aten._native_batch_norm_legit_no_training.default", build_batch_norm, 0},
    {"aten._pdist_forward.default", build_distance, 2},
    {"aten._prelu_kernel.default", build_prelu, 0},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default", build_attention, 0},
    {"aten._softmax.default", build_softmax, OP_Softmax},
    {"aten._to_copy.default", build_to, 0},
    {"aten._trilinear.default", build_trilinear, 0},
    {"aten._unsafe_index.Tensor", build_index, 0},
    {"aten._unsafe_index_put.default", build_index_put, 0},
    {"aten._unsafe_view.default", build_view, 0},
    {"aten._upsample_bicubic2d_aa.default", build_upsample, 5},
    {"aten._upsample_bicubic2d_aa.vec", build_upsample, 5},
    {"aten._upsample_bilinear2d_aa.default", build_upsample, 4},
    {"aten._upsample_bilinear2d_aa.vec", build_upsample, 4},
    {"aten._upsample_nearest_exact1d.default", build_upsample, 3},
    {"aten._upsample_nearest_exact1d.vec", build_upsample, 3},
    {"aten._upsample_nearest_exact2d.default", build_upsample, 3},
    {"aten._upsample_nearest_exact2d.vec", build_upsample, 3},
    {"aten._weight_norm.default", build_weight_norm, 0},
    {"aten.abs.default", build_abs, OP_Abs},
    {"aten.absolute.default", build_abs, OP_Abs},
    {"aten.acos.default", build_unary, OP_Acos},
    {"aten.acosh.default", build_unary, OP_Acosh},
    {"aten.adaptive_avg_pool1d.default", build_adaptive_pool, 0},
    {"aten.adaptive_avg_pool2d.default", build_adaptive_pool, 0},
    {"aten.adaptive_avg_pool3d.default", build_adaptive_pool, 0},
    {"aten.adaptive_max_pool1d.default", build_adaptive_pool, 1},
    {"aten.adaptive_max_pool2d.default", build_adaptive_pool, 1},
    {"aten.adaptive_max_pool3d.default", build_adaptive_pool, 1},
    {"aten.add.Scalar", build_binary, OP_Add},
    {"aten.add.Tensor", build_arithmetic, OP_Add},
    {"aten.addbmm.default", build_add_product, 3},
    {"aten.addcdiv.default", build_addcmul, 1},
    {"aten.addcmul.default", build_addcmul, 0},
    {"aten.addmm.default", build_addmm, 0},
    {"aten.addmv.default", build_add_product, 1},
    {"aten.addr.default", build_add_product, 2},
    {"aten.affine_grid_generator.default", build_affine_grid, 0},
    {"aten.alias.default", build_copy, 0},
    {"aten.all.default", build_reduce_truth, OP_ReduceMin},
    {"aten.all.dim", build_reduce_truth, OP_ReduceMin},
    {"aten.all.dims", build_reduce_truth, OP_ReduceMin},
    {"aten.alpha_dropout.default", build_copy, 0},
    {"aten.amax.default", build_reduce, OP_ReduceMax},
    {"aten.amin.default", build_reduce, OP_ReduceMin},
    {"aten.aminmax.default", build_both_extremes, 0},
    {"aten.angle.default", build_angle, 0},
    {"aten.any.default", build_reduce_truth, OP_ReduceMax},
    {"aten.any.dim", build_reduce_truth, OP_ReduceMax},
    {"aten.any.dims", build_reduce_truth, OP_ReduceMax},
    {"aten.arange.default", build_arange, 0},
    {"aten.arange.start", build_arange, 0},
    {"aten.arange.start_step", build_arange, 0},
    {"aten.arccos.default", build_unary, OP_Acos},
    {"aten.arcsin.default", build_unary, OP_Asin},
    {"aten.arctan.default", build_unary, OP_Atan},
    {"aten.arctan2.default", build_atan2, 0},
    {"aten.argmax.default", build_arg, OP_ArgMax},
    {"aten.argmin.default", build_arg, OP_ArgMin},
    {"aten.argsort.default", build_topk, 2},
    {"aten.argsort.stable", build_topk, 2},
    {"aten.argwhere.default", build_nonzero, 0},
    {"aten.as_strided.default", build_strided, 0},
    {"aten.asin.default", build_unary, OP_Asin},
    {"aten.asinh.default", build_unary, OP_Asinh},
    {"aten.atan.default", build_unary, OP_Atan},
    {"aten.atan2.default", build_atan2, 0},
    {"aten.atanh.default", build_unary, OP_Atanh},
    {"aten.atleast_1d.Sequence", build_at_least, 1},
    {"aten.atleast_1d.default", build_at_least, 1},
    {"aten.atleast_2d.Sequence", build_at_least, 2},
    {"aten.atleast_2d.default", build_at_least, 2},
    {"aten.atleast_3d.Sequence", build_at_least, 3},
    {"aten.atleast_3d.default", build_at_least, 3},
    {"aten.avg_pool1d.default", build_pool, 0},
    {"aten.avg_pool2d.default", build_pool, 0},
    {"aten.avg_pool3d.default", build_pool, 0},
    {"aten.baddbmm.default", build_add_product, 0},
    {"aten.batch_norm.default", build_batch_norm, 0},
    {"aten.bilinear.default", build_bilinear, 0},
    {"aten.bitwise_and.Scalar", build_binary, OP_BitwiseAnd},
    {"aten.bitwise_and.Tensor", build_binary, OP_BitwiseAnd},
    {"aten.bitwise_not.default", build_unary, OP_BitwiseNot},
    {"aten.bitwise_or.Scalar", build_binary, OP_BitwiseOr},
    {"aten.bitwise_or.Tensor", build_binary, OP_BitwiseOr},
    {"aten.bitwise_xor.Scalar", build_binary, OP_BitwiseXor},
    {"aten.bitwise_xor.Tensor", build_binary, OP_BitwiseXor},
    {"aten.blackman_window.default", build_window, 0},
    {"aten.blackman_window.periodic", build_window, 0},
    {"aten.bmm.default", build_matmul, 0},
    {"aten.broadcast_to.default", build_expand, 0},
    {"aten.bucketize.Scalar", build_search, 0},
    {"aten.bucketize.Tensor", build_search, 0},
    {"aten.cat.default", build_cat, 0},
    {"aten.cdist.default", build_distances, 0},
    {"aten.ceil.default", build_unary, OP_Ceil},
    {"aten.celu.default", build_alpha, OP_Celu},
    {"aten.channel_shuffle.default", build_channel_shuffle, 0},
    {"aten.chunk.default", build_split, 2},
    {"aten.clamp.Tensor", build_clamp_tensor, 0},
    {"aten.clamp.default", build_clamp, 0},
    {"aten.clamp_max.Tensor", build_clamp_tensor, 0},
    {"aten.clamp_max.default", build_clamp_tensor, 0},
    {"aten.clamp_min.Tensor", build_clamp_tensor, 0},
    {"aten.clamp_min.default", build_clamp_tensor, 0},
    {"aten.clip.Tensor", build_clamp_tensor, 0},
    {"aten.clip.default", build_clamp, 0},
    {"aten.clone.default", build_clone, 0},
    {"aten.col2im.default", build_col2im, 0},
    {"aten.column_stack.default", build_join, 0},
    {"aten.complex.default", build_complex, 0},
    {"aten.concat.default", build_cat, 0},
    {"aten.concatenate.default", build_cat, 0},
    {"aten.conj.default", build_conjugate, 0},
    {"aten.conj_physical.default", build_conjugate, 0},
    {"aten.constant_pad_nd.default", build_pad, 0},
    {"aten.contiguous.default", build_copy, 0},
    {"aten.conv1d.default", build_conv, 0},
    {"aten.conv1d.padding", build_conv, 0},
    {"aten.conv2d.default", build_conv, 0},
    {"aten.conv2d.padding", build_conv, 0},
    {"aten.conv3d.default", build_conv, 0},
    {"aten.conv3d.padding", build_conv, 0},
    {"aten.conv_transpose1d.default", build_conv, 1},
    {"aten.conv_transpose2d.input", build_conv, 1},
    {"aten.conv_transpose3d.input", build_conv, 1},
    {"aten.convolution.default", build_conv, 0},
    {"aten.copy.default", build_copy_into, 0},
    {"aten.copysign.Tensor", build_formula, 0},
    {"aten.cos.default", build_unary, OP_Cos},
    {"aten.cosh.default", build_unary, OP_Cosh},
    {"aten.cosine_similarity.default", build_cosine, 0},
    {"aten.count_nonzero.default", build_count, 0},
    {"aten.count_nonzero.dim_IntList", build_count, 0},
    {"aten.cross.default", build_cross, 1},
    {"aten.cummax.default", build_scan, OP_ReduceMax},
    {"aten.cummin.default", build_scan, OP_ReduceMin},
    {"aten.cumprod.default", build_cumulative, OP_CumProd},
    {"aten.cumsum.default", build_cumulative, OP_CumSum},
    {"aten.deg2rad.default", build_formula, 0},
    {"aten.detach.default", build_copy, 0},
    {"aten.detach_copy.default", build_copy, 0},
    {"aten.diag.default", build_diagonal_matrix, 0},
    {"aten.diag_embed.default", build_diagonal_matrix, 0},
    {"aten.diagonal.default", build_diagonal, 0},
    {"aten.diagonal_copy.default", build_diagonal, 0},
    {"aten.diff.default", build_diff, 0},
    {"aten.dist.default", build_distance, 0},
    {"aten.div.Scalar", build_arithmetic, OP_Div},
    {"aten.div.Scalar_mode", build_binary, OP_Div},
    {"aten.div.Tensor", build_arithmetic, OP_Div},
    {"aten.div.Tensor_mode", build_binary, OP_Div},
    {"aten.divide.Scalar", build_arithmetic, OP_Div},
    {"aten.divide.Scalar_mode", build_binary, OP_Div},
    {"aten.divide.Tensor", build_arithmetic, OP_Div},
    {"aten.divide.Tensor_mode", build_binary, OP_Div},
    {"aten.dot.default", build_matmul, 0},
    {"aten.dropout.default", build_copy, 0},
    {"aten.dstack.default", build_join, 3},
    {"aten.einsum.default", build_einsum, 0},
    {"aten.elu.default", build_alpha, OP_Elu},
    {"aten.embedding.default", build_embedding, 0},
    {"aten.embedding_bag.default", build_embedding_bag, 0},
    {"aten.embedding_bag.padding_idx", build_embedding_bag, 0},
    {"aten.empty.memory_format", build_full, 0},
    {"aten.empty_like.default", build_full, 0},
    {"aten.empty_permuted.default", build_full, 0},
    {"aten.empty_strided.default", build_full, 0},
    {"aten.eq.Scalar", build_binary, OP_Equal},
    {"aten.eq.Tensor", build_binary, OP_Equal},
    {"aten.erf.default", build_unary, OP_Erf},
    {"aten.exp.default", build_unary, OP_Exp},
    {"aten.exp2.default", build_exp2, 0},
    {"aten.expand.default", build_expand, 0},
    {"aten.expand_as.default", build_like, 0},
    {"aten.expm1.default", build_expm1, 0},
    {"aten.eye.default", build_eye, 0},
    {"aten.eye.m", build_eye, 0},
    {"aten.feature_dropout.default", build_copy, 0},
    {"aten.fft_fft.default", build_fft, 0},
    {"aten.fft_fft2.default", build_fft, FFT_MANY | FFT_TWO},
    {"aten.fft_fftn.default", build_fft, FFT_MANY},
    {"aten.fft_ifft.default", build_fft, FFT_INVERSE},
    {"aten.fft_ifft2.default", build_fft, FFT_MANY | FFT_TWO | FFT_INVERSE},
    {"aten.fft_ifftn.default", build_fft, FFT_MANY | FFT_INVERSE},
    {"aten.fft_irfft.default", build_fft, FFT_HALF | FFT_INVERSE},
    {"aten.fft_rfft.default", build_fft, FFT_HALF},
    {"aten.fft_rfft2.default", build_fft, FFT_MANY | FFT_TWO | FFT_HALF},
    {"aten.fft_rfftn.default", build_fft, FFT_MANY | FFT_HALF},
    {"aten.fill.Scalar", build_full, 2},
    {"aten.fill.Tensor", build_copy_into, 1},
    {"aten.fix.default", build_trunc, 0},
    {"aten.flatten.using_ints", build_flatten, 0},
    {"aten.flip.default", build_flip, 0},
    {"aten.fliplr.default", build_flip, 2},
    {"aten.flipud.default", build_flip, 1},
    {"aten.floor.default", build_unary, OP_Floor},
    {"aten.floor_divide.Scalar", build_floor_divide, 0},
    {"aten.floor_divide.default", build_floor_divide, 0},
    {"aten.fmax.default", build_formula, 0},
    {"aten.fmin.default", build_formula, 0},
    {"aten.fmod.Scalar", build_remainder, 0},
    {"aten.fmod.Tensor", build_remainder, 0},
    {"aten.frac.default", build_trunc, 1},
    {"aten.frobenius_norm.dim", build_norm, 0},
    {"aten.full.default", build_full, 2},
    {"aten.full_like.default", build_full, 2},
    {"aten.gather.default", build_gather, 0},
    {"aten.ge.Scalar", build_binary, OP_GreaterOrEqual},
    {"aten.ge.Tensor", build_binary, OP_GreaterOrEqual},
    {"aten.gelu.default", build_gelu, 0},
    {"aten.ger.default", build_outer, 0},
    {"aten.glu.default", build_glu, 0},
    {"aten.greater.Scalar", build_binary, OP_Greater},
    {"aten.greater.Tensor", build_binary, OP_Greater},
    {"aten.greater_equal.Scalar", build_binary, OP_GreaterOrEqual},
    {"aten.greater_equal.Tensor", build_binary, OP_GreaterOrEqual},
    {"aten.grid_sampler.default", build_grid_sample, 0},
    {"aten.grid_sampler_2d.default", build_grid_sample, 0},
    {"aten.grid_sampler_3d.default", build_grid_sample, 0},
    {"aten.group_norm.default", build_group_norm, 0},
    {"aten.gru.input", build_recurrent, OP_GRU},
    {"aten.gru_cell.default", build_recurrent_cell, OP_GRU},
    {"aten.gt.Scalar", build_binary, OP_Greater},
    {"aten.gt.Tensor", build_binary, OP_Greater},
    {"aten.hamming_window.default", build_window, 0},
    {"aten.hamming_window.periodic", build_window, 0},
    {"aten.hamming_window.periodic_alpha", build_window, 0},
    {"aten.hamming_window.periodic_alpha_beta", build_window, 0},
    {"aten.hann_window.default", build_window, 0},
    {"aten.hann_window.periodic", build_window, 0},
    {"aten.hardshrink.default", build_shrink, 0},
    {"aten.hardsigmoid.default", build_hard_sigmoid, 0},
    {"aten.hardswish.default", build_unary, OP_HardSwish},
    {"aten.hardtanh.default", build_clamp, 1},
    {"aten.histc.default", build_histogram, 0},
    {"aten.hstack.default", build_join, 1},
    {"aten.hypot.default", build_formula, 0},
    {"aten.im2col.default", build_im2col, 0},
    {"aten.imag.default", build_complex_part, 1},
    {"aten.index.Tensor", build_index, 0},
    {"aten.index_add.default", build_index_add, 0},
    {"aten.index_copy.default", build_index_add, 1},
    {"aten.index_fill.int_Scalar", build_index_add, 2},
    {"aten.index_fill.int_Tensor", build_index_add, 2},
    {"aten.index_put.default", build_index_put, 0},
    {"aten.index_select.default", build_index_select, 0},
    {"aten.inner.default", build_tensordot, 1},
    {"aten.instance_norm.default", build_instance_norm, 0},
    {"aten.isclose.default", build_is_close, 0},
    {"aten.isfinite.default", build_is_finite, 0},
    {"aten.isin.Tensor_Scalar", build_is_in, 0},
    {"aten.isin.Tensor_Tensor", build_is_in, 0},
    {"aten.isinf.default", build_unary, OP_IsInf},
    {"aten.isnan.default", build_unary, OP_IsNaN},
    {"aten.isneginf.default", build_formula, 0},
    {"aten.isposinf.default", build_formula, 0},
    {"aten.istft.default", build_istft, 0},
    {"aten.item.default", build_item, 0},
    {"aten.kron.default", build_kronecker, 0},
    {"aten.kthvalue.default", build_order_statistic, 0},
    {"aten.layer_norm.default", build_layer_norm, 0},
    {"aten.ldexp.Tensor", build_formula, 0},
    {"aten.le.Scalar", build_binary, OP_LessOrEqual},
    {"aten.le.Tensor", build_binary, OP_LessOrEqual},
    {"aten.leaky_relu.default", build_alpha, OP_LeakyRelu},
    {"aten.lerp.Scalar", build_lerp, 0},
    {"aten.lerp.Tensor", build_lerp, 0},
    {"aten.less.Scalar", build_binary, OP_Less},
    {"aten.less.Tensor", build_binary, OP_Less},
    {"aten.less_equal.Scalar", build_binary, OP_LessOrEqual},
    {"aten.less_equal.Tensor", build_binary, OP_LessOrEqual},
    {"aten.lift_fresh.default", build_copy, 0},
    {"aten.lift_fresh_copy.default", build_copy, 0},
    {"aten.linalg_cross.default", build_cross, 0},
    {"aten.linalg_diagonal.default", build_diagonal, 0},
    {"aten.linalg_matrix_norm.default", build_norm, 2},
    {"aten.linalg_matrix_norm.str_ord", build_norm, 2},
    {"aten.linalg_norm.default", build_norm, 1},
    {"aten.linalg_vector_norm.default", build_norm, 0},
    {"aten.linear.default", build_linear, 0},
    {"aten.linspace.default", build_linspace, 0},
    {"aten.log.default", build_unary, OP_Log},
    {"aten.log10.default", build_log_base, 10},
    {"aten.log1p.default", build_log1p, 0},
    {"aten.log2.default", build_log_base, 2},
    {"aten.log_sigmoid.default", build_log_sigmoid, 0},
    {"aten.log_sigmoid_forward.default", build_log_sigmoid, 0},
    {"aten.log_softmax.int", build_softmax, OP_LogSoftmax},
    {"aten.logaddexp.default", build_formula, 0},
    {"aten.logaddexp2.default", build_formula, 0},
    {"aten.logcumsumexp.default", build_scan, OP_ReduceLogSumExp},
    {"aten.logical_and.default", build_binary, OP_And},
    {"aten.logical_not.default", build_unary, OP_Not},
    {"aten.logical_or.default", build_binary, OP_Or},
    {"aten.logical_xor.default", build_binary, OP_Xor},
    {"aten.logsumexp.default", build_reduce, OP_ReduceLogSumExp},
    {"aten.lstm.input", build_recurrent, OP_LSTM},
    {"aten.lstm_cell.default", build_recurrent_cell, OP_LSTM},
    {"aten.lt.Scalar", build_binary, OP_Less},
    {"aten.lt.Tensor", build_binary, OP_Less},
    {"aten.masked_fill.Scalar", build_masked_fill, 0},
    {"aten.masked_fill.Tensor", build_masked_fill, 0},
    {"aten.masked_scatter.default", build_masked_scatter, 0},
    {"aten.masked_select.default", build_masked_select, 0},
    {"aten.matmul.default", build_matmul, 0},
    {"aten.max.default", build_reduce, OP_ReduceMax},
    {"aten.max.dim", build_extreme, OP_ReduceMax},
    {"aten.max.other", build_binary, OP_Max},
    {"aten.max_pool1d.default", build_pool, 1},
    {"aten.max_pool2d.default", build_pool, 1},
    {"aten.max_pool2d_with_indices.default", build_pool, 1},
    {"aten.max_pool3d.default", build_pool, 1},
    {"aten.max_pool3d_with_indices.default", build_pool, 1},
    {"aten.max_unpool2d.default", build_unpool, 0},
    {"aten.max_unpool3d.default", build_unpool, 0},
    {"aten.maximum.default", build_binary, OP_Max},
    {"aten.mean.default", build_reduce, OP_ReduceMean},
    {"aten.mean.dim", build_reduce, OP_ReduceMean},
    {"aten.median.default", build_order_statistic, 1},
    {"aten.median.dim", build_order_statistic, 1},
    {"aten.meshgrid.default", build_meshgrid, 0},
    {"aten.meshgrid.indexing", build_meshgrid, 0},
    {"aten.min.default", build_reduce, OP_ReduceMin},
    {"aten.min.dim", build_extreme, OP_ReduceMin},
    {"aten.min.other", build_binary, OP_Min},
    {"aten.minimum.default", build_binary, OP_Min},
    {"aten.mish.default", build_unary, OP_Mish},
    {"aten.mm.default", build_matmul, 0},
    {"aten.moveaxis.intlist", build_movedim, 0},
    {"aten.movedim.intlist", build_movedim, 0},
    {"aten.mul.Scalar", build_arithmetic, OP_Mul},
    {"aten.mul.Tensor", build_arithmetic, OP_Mul},
    {"aten.multiply.Scalar", build_arithmetic, OP_Mul},
    {"aten.multiply.Tensor", build_arithmetic, OP_Mul},
    {"aten.mv.default", build_matmul, 0},
    {"aten.nan_to_num.default", build_nan_to_num, 0},
    {"aten.narrow.default", build_narrow, 0},
    {"aten.native_dropout.default", build_copy, 0},
    {"aten.native_group_norm.default", build_group_norm, 0},
    {"aten.native_layer_norm.default", build_layer_norm, 0},
    {"aten.ne.Scalar", build_not_equal, 0},
    {"aten.ne.Tensor", build_not_equal, 0},
    {"aten.neg.default", build_unary, OP_Neg},
    {"aten.negative.default", build_unary, OP_Neg},
    {"aten.new_empty.default", build_full, 0},
    {"aten.new_full.default", build_full, 2},
    {"aten.new_ones.default", build_full, 1},
    {"aten.new_zeros.default", build_full, 0},
    {"aten.nonzero.default", build_nonzero, 0},
    {"aten.norm.Scalar", build_norm, 0},
    {"aten.norm.ScalarOpt_dim", build_norm, 0},
    {"aten.norm.ScalarOpt_dim_dtype", build_norm, 0},
    {"aten.norm.ScalarOpt_dtype", build_norm, 0},
    {"aten.not_equal.Scalar", build_not_equal, 0},
    {"aten.not_equal.Tensor", build_not_equal, 0},
    {"aten.numpy_T.default", build_permute, 2},
    {"aten.one_hot.default", build_one_hot, 0},
    {"aten.ones.default", build_full, 1},
    {"aten.ones_like.default", build_full, 1},
    {"aten.outer.default", build_outer, 0},
    {"aten.pad.default", build_pad, 0},
    {"aten.pairwise_distance.default", build_distance, 1},
    {"aten.pdist.default", build_distance, 2},
    {"aten.permute.default", build_permute, 0},
    {"aten.pixel_shuffle.default", build_pixel_shuffle, 0},
    {"aten.pixel_unshuffle.default", build_pixel_shuffle, 1},
    {"aten.polar.default", build_complex, 1},
    {"aten.positive.default", build_copy, 0},
    {"aten.pow.Scalar", build_binary, OP_Pow},
    {"aten.pow.Tensor_Scalar", build_binary, OP_Pow},
    {"aten.pow.Tensor_Tensor", build_binary, OP_Pow},
    {"aten.prelu.default", build_prelu, 0},
    {"aten.prod.default", build_reduce, OP_ReduceProd},
    {"aten.prod.dim_int", build_reduce, OP_ReduceProd},
    {"aten.rad2deg.default", build_formula, 0},
    {"aten.ravel.default", build_flatten, 0},
    {"aten.real.default", build_complex_part, 0},
    {"aten.reciprocal.default", build_unary, OP_Reciprocal},
    {"aten.reflection_pad1d.default", build_pad, 1},
    {"aten.reflection_pad2d.default", build_pad, 1},
    {"aten.reflection_pad3d.default", build_pad, 1},
    {"aten.relu.default", build_unary, OP_Relu},
    {"aten.relu6.default", build_clamp, 2},
    {"aten.remainder.Scalar", build_remainder, 1},
    {"aten.remainder.Tensor", build_remainder, 1},
    {"aten.repeat.default", build_repeat, 0},
    {"aten.repeat_interleave.Tensor", build_repeat_by_list, 0},
    {"aten.repeat_interleave.self_Tensor", build_repeat_by_list, 0},
    {"aten.repeat_interleave.self_int", build_repeat_interleave, 0},
    {"aten.replication_pad1d.default", build_pad, 2},
    {"aten.replication_pad2d.default", build_pad, 2},
    {"aten.replication_pad3d.default", build_pad, 2},
    {"aten.reshape.default", build_view, 0},
    {"aten.reshape_as.default", build_like, 1},
    {"aten.resolve_conj.default", build_clone, 0},
    {"aten.resolve_neg.default", build_copy, 0},
    {"aten.rms_norm.default", build_rms_norm, 0},
    {"aten.rnn_tanh.input", build_recurrent, OP_RNN},
    {"aten.rnn_tanh_cell.default", build_recurrent_cell, OP_RNN},
    {"aten.roll.default", build_roll, 0},
    {"aten.round.default", build_unary, OP_Round},
    {"aten.row_stack.default", build_join, 2},
    {"aten.rsqrt.default", build_rsqrt, 0},
    {"aten.rsub.Scalar", build_rsub, 0},
    {"aten.rsub.Tensor", build_rsub, 0},
    {"aten.scalar_tensor.default", build_full, 2},
    {"aten.scaled_dot_product_attention.default", build_attention, 0},
    {"aten.scatter.reduce", build_scatter, 2},
    {"aten.scatter.src", build_scatter, 0},
    {"aten.scatter.value", build_scatter, 0},
    {"aten.scatter.value_reduce", build_scatter, 2},
    {"aten.scatter_add.default", build_scatter, 1},
    {"aten.scatter_reduce.two", build_scatter, 2},
    {"aten.searchsorted.Tensor", build_search, 1},
    {"aten.select.int", build_select, 0},
    {"aten.select_scatter.default", build_slice_scatter, 1},
    {"aten.selu.default", build_unary, OP_Selu},
    {"aten.sgn.default", build_unary, OP_Sign},
    {"aten.sigmoid.default", build_unary, OP_Sigmoid},
    {"aten.sign.default", build_unary, OP_Sign},
    {"aten.signbit.default", build_formula, 0},
    {"aten.silu.default", build_silu, 0},
    {"aten.sin.default", build_unary, OP_Sin},
    {"aten.sinc.default", build_formula, 0},
    {"aten.sinh.default", build_unary, OP_Sinh},
    {"aten.slice.Tensor", build_slice, 0},
    {"aten.slice_scatter.default", build_slice_scatter, 0},
    {"aten.softmax.int", build_softmax, OP_Softmax},
    {"aten.softplus.default", build_softplus, 0},
    {"aten.softshrink.default", build_shrink, 1},
    {"aten.softsign.default", build_unary, OP_Softsign},
    {"aten.sort.default", build_topk, 1},
    {"aten.sort.stable", build_topk, 1},
    {"aten.special_erf.default", build_unary, OP_Erf},
    {"aten.special_exp2.default", build_exp2, 0},
    {"aten.special_expit.default", build_unary, OP_Sigmoid},
    {"aten.special_expm1.default", build_expm1, 0},
    {"aten.special_log1p.default", build_log1p, 0},
    {"aten.special_log_softmax.int", build_softmax, OP_LogSoftmax},
    {"aten.special_sinc.default", build_formula, 0},
    {"aten.special_softmax.int", build_softmax, OP_Softmax},
    {"aten.special_xlog1py.default", build_formula, 0},
    {"aten.special_xlogy.default", build_formula, 0},
    {"aten.split.Tensor", build_split, 0},
    {"aten.split.sizes", build_split, 1},
    {"aten.split_copy.Tensor", build_split, 0},
    {"aten.split_with_sizes.default", build_split, 1},
    {"aten.split_with_sizes_copy.default", build_split, 1},
    {"aten.sqrt.default", build_unary, OP_Sqrt},
    {"aten.square.default", build_square, 0},
    {"aten.squeeze.default", build_squeeze, 0},
    {"aten.squeeze.dim", build_squeeze, 1},
    {"aten.squeeze.dims", build_squeeze, 0},
    {"aten.stack.default", build_cat, 1},
    {"aten.std.correction", build_variance, 1},
    {"aten.std.default", build_variance, 1},
    {"aten.std.dim", build_variance, 1},
    {"aten.std_mean.correction", build_variance, 3},
    {"aten.std_mean.default", build_variance, 3},
    {"aten.std_mean.dim", build_variance, 3},
    {"aten.stft.center", build_stft, 1},
    {"aten.stft.default", build_stft, 0},
    {"aten.sub.Scalar", build_binary, OP_Sub},
    {"aten.sub.Tensor", build_arithmetic, OP_Sub},
    {"aten.subtract.Scalar", build_binary, OP_Sub},
    {"aten.subtract.Tensor", build_arithmetic, OP_Sub},
    {"aten.sum.default", build_reduce, OP_ReduceSum},
    {"aten.sum.dim_IntList", build_reduce, OP_ReduceSum},
    {"aten.swapaxes.default", build_permute, 1},
    {"aten.swapdims.default", build_permute, 1},
    {"aten.sym_constrain_range.default", build_nothing, 0},
    {"aten.sym_constrain_range_for_size.default", build_nothing, 0},
    {"aten.sym_numel.default", build_sym_numel, 0},
    {"aten.sym_size.int", build_sym_size, 0},
    {"aten.t.default", build_permute, 2},
    {"aten.take_along_dim.default", build_take_along, 0},
    {"aten.tan.default", build_unary, OP_Tan},
    {"aten.tanh.default", build_unary, OP_Tanh},
    {"aten.tensordot.default", build_tensordot, 0},
    {"aten.threshold.default", build_threshold, 0},
    {"aten.tile.default", build_repeat, 1},
    {"aten.to.device", build_to, 0},
    {"aten.to.dtype", build_to, 0},
    {"aten.to.dtype_layout", build_to, 0},
    {"aten.to.other", build_cast, 0},
    {"aten.topk.default", build_topk, 0},
    {"aten.trace.default", build_trace, 0},
    {"aten.transpose.int", build_permute, 1},
    {"aten.tril.default", build_triangle, 0},
    {"aten.tril_indices.default", build_triangle_places, 0},
    {"aten.triu.default", build_triangle, 1},
    {"aten.triu_indices.default", build_triangle_places, 1},
    {"aten.true_divide.Scalar", build_arithmetic, OP_Div},
    {"aten.true_divide.Tensor", build_arithmetic, OP_Div},
    {"aten.trunc.default", build_trunc, 0},
    {"aten.type_as.default", build_cast, 0},
    {"aten.unbind.int", build_unbind, 0},
    {"aten.unflatten.int", build_unflatten, 0},
    {"aten.unfold.default", build_unfold, 0},
    {"aten.unsafe_chunk.default", build_split, 2},
    {"aten.unsafe_split.Tensor", build_split, 0},
    {"aten.unsqueeze.default", build_unsqueeze, 0},
    {"aten.upsample_bicubic2d.default", build_upsample, 2},
    {"aten.upsample_bicubic2d.vec", build_upsample, 2},
    {"aten.upsample_bilinear2d.default", build_upsample, 1},
    {"aten.upsample_bilinear2d.vec", build_upsample, 1},
    {"aten.upsample_linear1d.default", build_upsample, 1},
    {"aten.upsample_linear1d.vec", build_upsample, 1},
    {"aten.upsample_nearest1d.default", build_upsample, 0},
    {"aten.upsample_nearest1d.vec", build_upsample, 0},
    {"aten.upsample_nearest2d.default", build_upsample, 0},
    {"aten.upsample_nearest2d.vec", build_upsample, 0},
    {"aten.upsample_nearest3d.default", build_upsample, 0},
    {"aten.upsample_nearest3d.vec", build_upsample, 0},
    {"aten.upsample_trilinear3d.default", build_upsample, 1},
    {"aten.upsample_trilinear3d.vec", build_upsample, 1},
    {"aten.var.correction", build_variance, 0},
    {"aten.var.default", build_variance, 0},
    {"aten.var.dim", build_variance, 0},
    {"aten.var_mean.correction", build_variance, 2},
    {"aten.var_mean.default", build_variance, 2},
    {"aten.var_mean.dim", build_variance, 2},
    {"aten.view.default", build_view, 0},
    {"aten.view_as.default", build_like, 1},
    {"aten.view_as_complex.default", build_view_as_complex, 0},
    {"aten.view_as_real.default", build_view_as_real, 0},
    {"aten.vstack.default", build_join, 2},
    {"aten.where.Scalar", build_where, 0},
    {"aten.where.ScalarOther", build_where, 0},
    {"aten.where.ScalarSelf", build_where, 0},
    {"aten.where.self", build_where, 0},
    {"aten.xlogy.Tensor", build_formula, 0},
    {"aten.zero.default", build_full, 0},
    {"aten.zeros.default", build_full, 0},
    {"aten.zeros_like.default", build_full, 0},
    {"higher_order.wrap_with_autocast", build_wrapped, 1},
    {"higher_order.wrap_with_set_grad_enabled", build_wrapped, 0},
    {"math.trunc", build_number, 't'},
    {"quantized_decomposed.dequantize_per_channel.default", build_dequantize, 1},
    {"quantized_decomposed.dequantize_per_tensor.default", build_dequantize, 0},
    {"quantized_decomposed.quantize_per_channel.default", build_quantize, 1},
    {"quantized_decomposed.quantize_per_tensor.default", build_quantize, 0},
    {"torch.sym_float", build_number, 'i'},
    {"torch.sym_int", build_number, 't'},
    {"torch.sym_max", build_number, 'M'},
    {"torch.sym_min", build_number, 'm'},
    {"torch.sym_not", build_number_test, '='},
    {"torch.sym_sqrt", build_number, 'r'},
    {"torchvision.deform_conv2d.default", build_deform_conv, 0},
    {"torchvision.roi_align.default", build_roi_align, 0},
    {"transformers.grouped_mm_fallback.default", build_grouped_product, 0},
};

static bool find_kind(struct pt_op *op, const char *target, pt_build_fn **out) {
  size_t low = 0, high = COUNT(kinds);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(target, kinds[middle].target);
    if (!order) {
      op->parameter = kinds[middle].parameter;
      *out = kinds[middle].build;
      return true;
    }
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return false;
}

const char *pt_target(const json_t *node) {
  static const char prefix[] = "torch.ops.";
  const char *target = pt_words(json_object_get(node, "target"));
  return strncmp(target, prefix, sizeof prefix - 1) ? target : target + sizeof prefix - 1;
}

hone_status pt_plain_target(struct pt *pt, const char *target, const char **out) {
  const char *mark = strstr(target, "_.");
  *out = NULL;
  if (!mark || strncmp(target, "aten.", 5) || mark[-1] == '_') return HONE_OK;
  return arena_printf(pt->ctx, pt->arena, out, "%.*s%s", (int)(mark - target), target, mark + 1);
}

/* What an in-place operator made is what it wrote to from now on, and its result is another name for that. */
static hone_status write_through(struct pt_op *op, const char *result, const char *self) {
  struct pt_item *made;
  TRY(pt_find(op->pt, pt_place(op), result, &made));
  TRY(pt_write(op, self, made));
  return pt_note_view(op, result, self, VIEW_SAME);
}

/* Results of a view share the storage of what it views; an in-place operator writes to it. */
static hone_status note_storage(struct pt_op *op, const char *plain) {
  const char *self = pt_self(op->node);
  json_t *result = NULL;
  for (size_t i = 0; i < json_array_size(op->outputs); i++) {
    const char *kind = pt_variant(json_array_get(op->outputs, i), &result);
    size_t count = !strcmp(kind, "as_tensors") ? json_array_size(result) : 1;
    for (size_t k = 0; k < count; k++) {
      const json_t *one = !strcmp(kind, "as_tensors") ? json_array_get(result, k) : result;
      const char *name = pt_words(json_object_get(one, "name"));
      if (!*name) continue;
      if (plain) return write_through(op, name, self);
      TRY(pt_note_view(op, name, self, pt_view_of(op->target)));
    }
  }
  return HONE_OK;
}

/* "aten.view_copy.default" as "aten.view.default": its result is a tensor of its own, which all of ours are. */
static hone_status find_copy(struct pt_op *op, pt_build_fn **build, bool *out_found) {
  static const char mark[] = "_copy.";
  const char *at = strstr(op->target, mark), *name;
  *out_found = false;
  if (!at) return HONE_OK;
  TRY(arena_printf(op->ctx, op->pt->arena, &name, "%.*s.%s", (int)(at - op->target), op->target,
                   at + sizeof mark - 1));
  *out_found = find_kind(op, name, build);
  return HONE_OK;
}

static hone_status pt_build(struct pt_op *op) {
  pt_build_fn *build = NULL;
  const char *plain = NULL;
  bool found = find_kind(op, op->target, &build);
  if (!found) TRY(find_copy(op, &build, &found));
  if (!found) {
    TRY(pt_plain_target(op->pt, op->target, &plain));
    found = plain && find_kind(op, plain, &build);
  }
  if (!found)
    return fail(op->ctx, HONE_E_UNSUP, pt_place(op), "PyTorch operator \"%.100s\"", op->target);
  TRY(pt_is_by_parts(op) ? pt_build_by_parts(op, build) : build(op));
  if (plain || pt_view_of(op->target)) return note_storage(op, plain);
  return HONE_OK;
}

hone_status pt_add_node(struct pt *pt, const json_t *node, size_t index) {
  struct pt_op op = {.pt = pt,
                     .ctx = pt->ctx,
                     .make = &pt->make,
                     .node = node,
                     .target = pt_target(node),
                     .inputs = json_object_get(node, "inputs"),
                     .outputs = json_object_get(node, "outputs")};
  pt->make.index = (int64_t)index;
  const char *name = pt_words(json_object_get(node, "name"));
  TRY(arena_string(pt->ctx, pt->arena, name, strlen(name), &pt->make.name));
  return pt_build(&op);
}

/* -- a graph within the graph ---- */

/* The tensor that a list of a graph's inputs or outputs names at place k. */
static const char *tensor_at(const json_t *list, size_t k) {
  json_t *tensor = NULL;
  if (strcmp(pt_variant(json_array_get(list, k), &tensor), "as_tensor")) return "";
  return pt_words(json_object_get(tensor, "name"));
}

/* Names inside are their own: the same item under the inner name, so that views and writes hold. */
static hone_status bind_name(struct pt_op *op, struct names *names, const char *name,
                             struct pt_item *item) {
  const char *copy;
  bool fresh;
  if (!*name) return pt_refuse(op, "takes or gives what is no tensor");
  TRY(name_copy(op->ctx, op->pt->arena, (const uint8_t *)name, strlen(name), 0, "a name", &copy));
  TRY(names_add(op->ctx, names, copy, item, &fresh));
  if (fresh) return HONE_OK;
  return fail(op->ctx, HONE_E_FORMAT, place_name(copy), "duplicate: defined twice");
}

static hone_status add_inner_nodes(struct pt_op *op, const json_t *nodes) {
  const struct make outer = *op->make;
  for (size_t i = 0; i < json_array_size(nodes); i++) {
    const json_t *node = json_array_get(nodes, i);
    const char *target = pt_target(node), *plain;
    TRY(pt_plain_target(op->pt, target, &plain));
    if (plain) return pt_refuse(op, "writes in place (%s)", target);
    TRY(pt_add_node(op->pt, node, (size_t)outer.index));
  }
  op->make->name = outer.name;
  return HONE_OK;
}

/* The graph where it is called. Gradients are none of ours; autocast (parameter 1) only where it is off. */
static hone_status build_wrapped(struct pt_op *op) {
  enum { MOST_DEPTH = 8 };
  struct pt *pt = op->pt;
  json_t *wrapped = NULL, *off = NULL;
  size_t first = 0, count = json_array_size(op->inputs);
  for (const char *kind = ""; first < count && strcmp(kind, "as_graph"); first++)
    kind = pt_variant(json_object_get(json_array_get(op->inputs, first), "arg"), &wrapped);
  if (op->parameter) {
    pt_variant(json_object_get(json_array_get(op->inputs, 2), "arg"), &off);
    if (!json_is_false(off)) return pt_refuse(op, "with autocast on");
  }
  const json_t *graph = json_object_get(wrapped, "graph");
  const json_t *inputs = json_object_get(graph, "inputs"),
               *outputs = json_object_get(graph, "outputs");
  if (json_array_size(inputs) != count - first || json_array_size(outputs) != pt_result_count(op))
    return fail(op->ctx, HONE_E_FORMAT, pt_place(op),
                "its graph has other inputs or outputs than it");
  if (pt->depth == MOST_DEPTH) return pt_refuse(op, "%d graphs deep", MOST_DEPTH);
  struct names outer = pt->items, inner;
  names_init(&inner, pt->arena);
  for (size_t i = first; i < count; i++) {
    struct pt_item *item;
    json_t *tensor = NULL;
    pt_variant(json_object_get(json_array_get(op->inputs, i), "arg"), &tensor);
    TRY(pt_find(pt, pt_place(op), pt_words(json_object_get(tensor, "name")), &item));
    TRY(bind_name(op, &inner, tensor_at(inputs, i - first), item));
  }
  pt->items = inner;
  pt->depth++;
  TRY(add_inner_nodes(op, json_object_get(graph, "nodes")));
  pt->depth--;
  inner = pt->items;
  pt->items = outer;
  for (size_t i = 0; i < json_array_size(outputs); i++) {
    struct pt_item *item = names_find(&inner, tensor_at(outputs, i));
    if (!item)
      return fail(op->ctx, HONE_E_FORMAT, pt_place(op), "its graph does not make its output %zu",
                  i);
    TRY(bind_name(op, &pt->items, tensor_at(op->outputs, i), item));
  }
  return HONE_OK;
}

/* Generic kernels against the reference: each case is printed as the emitter prints it, must
 * compile without warnings, and must give the result of the operator's evaluation. All cases go
 * into one library for each processor level and compiler; those that this processor can run are
 * run. */
#include <dlfcn.h>

#include "core/os/os.h"
#include "compiler/source/source.h"
#include "compiler/kernels/kernels.h"
#include "ops_case.h"
#include "compiler/plan/builder.h"
#include "compiler/toolchain/toolchain.h"

/* want: how many outputs to ask for, one word each. */
static const struct ops_case cases[] = {
    {"Gather", "axis=1", "f32[2,3,2]~rand i64[2,2]~0,-1,2,1", "*"},
    {"Gather", "", "i64[4]~rand i32[]~2", "*"},
    {"ConvTranspose", "strides=[2,2] pads=[1,0,0,1] output_padding=[1,0]",
     "f32[1,3,4,5]~rand f32[3,2,3,3]~rand f32[2]~rand", "*"},
    {"ConvTranspose", "group=2 dilations=[2]", "f32[2,4,6]~rand f32[4,3,2]~rand", "*"},
    {"ConvTranspose", "auto_pad=SAME_UPPER strides=[2,2]", "f32[1,1,3,3]~rand f32[1,2,3,3]~rand",
     "*"},
    {"ConvTranspose", "strides=[3,2,1]", "f32[1,2,2,3,3]~rand f32[2,2,2,2,2]~rand", "*"},
    {"AveragePool", "kernel_shape=[3,3] pads=[1,1,1,1] strides=[2,2]", "f32[2,2,6,7]~rand", "*"},
    {"AveragePool", "kernel_shape=[3] count_include_pad=1 pads=[1,1] ceil_mode=1 strides=[2]",
     "f32[1,2,8]~rand", "*"},
    {"AveragePool", "kernel_shape=[2,2,2] dilations=[1,2,1]", "f64[1,2,3,4,5]~rand", "*"},
    {"AveragePool", "kernel_shape=[2,2] auto_pad=SAME_LOWER", "f32[1,1,4,4]~rand", "*"},
    {"MaxPool", "kernel_shape=[3,3] pads=[1,1,1,1] strides=[2,2]", "f32[1,2,6,7]~rand", "* *"},
    {"MaxPool", "kernel_shape=[2,2] storage_order=1 dilations=[2,1]", "f32[1,2,5,6]~rand", "* *"},
    {"MaxPool", "kernel_shape=[3] ceil_mode=1 strides=[2]", "u8[1,2,8]~rand", "*"},
    {"Conv", "strides=[2,1] pads=[1,2,0,1] dilations=[1,2]",
     "f32[2,4,7,8]~rand f32[3,4,3,2]~rand f32[3]~rand", "*"},
    {"Conv", "group=2 auto_pad=SAME_UPPER strides=[2]", "f32[1,4,9]~rand f32[6,2,3]~rand", "*"},
    {"Conv", "pads=[1,1,1,1,1,1]", "f64[1,2,3,4,5]~rand f64[2,2,3,3,3]~rand", "*"},
    {"MatMul", "", "f32[2,1,3,70]~rand f32[4,70,65]~rand", "*"},
    {"MatMul", "", "i32[3]~rand i32[2,3,4]~rand", "*"},
    {"MatMul", "", "f64[2,3]~rand f64[3]~rand", "*"},
    {"Softmax", "axis=1", "f32[2,5,3]~rand", "*"},
    {"LogSoftmax", "axis=0", "f64[4,3]~rand", "*"},
    {"LogSoftmax", "axis=1", "f32[3,4]~0,-30,-31,-40,5,5,-20,nan,-inf,-inf,2,2", "*"},
    {"Hardmax", "axis=0", "f32[4,3]~0,nan,2,nan,3,2,nan,4,1,9,nan,0", "*"},
    {"ReduceSum", "keepdims=0", "f32[2,3,4]~rand i64[2]=-1,0", "*"},
    {"ReduceMean", "", "f32[2,3]~rand", "*"},
    {"ReduceMean", "", "i32[4,3]~rand i64[1]=0", "*"},
    {"ReduceMax", "", "i64[2,3]~rand i64[1]=1", "*"},
    {"ReduceMin", "", "f32[2,3,2]~rand i64[1]=1", "*"},
    {"ReduceProd", "", "f32[2,3]~rand i64[1]=0", "*"},
    {"ReduceMax", "", "f32[2,0]~rand i64[1]=1", "*"},
    {"ReduceMin", "", "i8[0,3]~rand i64[1]=0", "*"},
    {"ReduceMax", "", "i64[0]~rand", "*"},
    {"ReduceMax", "", "u8[0,1]~rand i64[1]=0", "*"},
    {"ReduceL1", "", "f32[2,3]~rand i64[1]=0", "*"},
    {"ReduceL2", "", "f32[2,3]~rand i64[1]=1", "*"},
    {"ReduceLogSumExp", "", "f32[2,3]~rand i64[1]=1", "*"},
    {"ReduceLogSum", "", "f32[2]~3,4 i64[1]=0", "*"},
    {"ReduceLogSum", "", "i32[2,3]~rand i64[1]=1", "*"},
    {"ReduceLogSumExp", "", "i32[2,3]~1,-4,3,2,9,9 i64[1]=1", "*"},
    {"ReduceLogSumExp", "", "u8[2,3]~1,4,3,2,9,9 i64[1]=0", "*"},
    {"ReduceL2", "", "i64[2,3]~-3,4,0,3000000000,4000000000,0 i64[1]=1", "*"},
    {"ReduceMean", "", "u64[2,1]~rand i64[1]=0", "*"},
    {"Gemm", "alpha=0.5 beta=0.3", "i32[3,4]~rand i32[4,5]~rand i32[5]~rand", "*"},
    {"Gemm", "alpha=2.0 transB=1", "i8[3,4]~rand i8[5,4]~rand i8[3,1]~rand", "*"},
    {"ReduceVariance", "", "f32[3,70,5]~rand i64[2]=0,2", "*"},
    {"ReduceVariance", "keepdims=0", "f32[3,70]~rand i64[1]=1", "*"},
    {"ReduceSumSquare", "noop_with_empty_axes=1", "f32[2,3]~rand", "*"},
    {"ArgMax", "axis=1 keepdims=0", "f32[2,4]~1,3,3,2,5,5,1,0", "*"},
    {"ArgMin", "axis=-1 select_last_index=1", "i32[2,4]~1,3,1,2,5,0,1,0", "*"},
    {"ArgMax", "axis=1", "u8[2,600,5]~rand", "*"}, /* more than a byte counts */
    {"ArgMin", "axis=0 select_last_index=1", "i8[256,70]~rand", "*"},
    {"ArgMax", "axis=0 keepdims=0", "f64[9,67]~rand", "*"},
    {"ArgMin", "axis=1", "f32[3,20,66]~rand", "*"},
    {"ArgMax", "axis=1", "f32[3,4]~1,nan,3,nan,5,5,1,0,nan,1,2,3", "*"}, /* NaN beats all */
    {"ArgMin", "axis=1 select_last_index=1", "f32[3,4]~1,nan,3,nan,5,5,1,0,nan,1,2,3", "*"},
    {"ArgMin", "axis=0", "f64[4,3]~1,nan,3,nan,5,5,1,0,nan,1,2,3", "*"},
    {"ArgMax", "axis=0 select_last_index=1", "f64[4,3]~1,nan,3,nan,5,5,1,0,nan,1,2,3", "*"},
    {"Resize", "mode=nearest", "f32[1,2,3,4]~rand - f32[4]=1,1,2,2", "*"},
    {"Resize", "mode=linear", "f32[1,2,3,4]~rand - f32[4]=1,1,1.7,0.6", "*"},
    {"Resize", "mode=linear coordinate_transformation_mode=align_corners",
     "f32[1,2,3,4]~rand - - i64[4]=1,2,5,7", "*"},
    {"Resize", "mode=nearest", "f32[2,3,4,300]~rand - f32[4]=1,1,1.5,2", "*"},
    {"Resize", "mode=linear", "f32[1,3,4,5]~rand - f32[4]=1,2,3,1.3", "*"},
    {"Resize", "mode=linear", "f32[7]~rand - f32[1]=50", "*"},
    {"Resize", "mode=nearest", "i64[3]~rand - - i64[1]=5", "*"},
    {"Resize", "mode=cubic coordinate_transformation_mode=align_corners",
     "f32[1,1,4,4]~rand - f32[4]=1,1,0.8,0.8", "*"},
    {"Resize", "mode=cubic exclude_outside=1", "f32[1,1,4,4]~rand - f32[4]=1,1,2,0.8", "*"},
    {"Resize", "mode=linear antialias=1", "f32[1,1,9,8]~rand - f32[4]=1,1,0.4,0.5", "*"},
    {"Resize", "mode=linear", "i8[1,2,5,6]~rand - f32[4]=1,1,1.7,2.3", "*"},
    {"Resize", "mode=cubic", "u8[1,1,5,6]~rand - f32[4]=1,1,1.7,2.3", "*"},
    {"Resize", "mode=cubic", "i8[1,1,5,6]~rand - f32[4]=1,1,1.7,2.3", "*"},
    {"Resize", "mode=cubic", "i64[1,1,5,6]~rand - f32[4]=1,1,1.7,2.3", "*"},
    {"Resize", "mode=linear antialias=1", "u8[1,1,9,8]~rand - f32[4]=1,1,0.4,0.45", "*"},
    {"Resize", "mode=cubic antialias=1", "i32[1,1,9,8]~rand - f32[4]=1,1,0.4,0.45", "*"},
    {"Resize",
     "mode=nearest nearest_mode=floor coordinate_transformation_mode=asymmetric axes=[2,3]",
     "u8[1,1,3,4]~rand - - i64[2]=7,2", "*"},
    {"Resize",
     "mode=linear coordinate_transformation_mode=tf_crop_and_resize extrapolation_value=9.0",
     "f32[1,1,4,4]~rand f32[8]~0,0,0.2,0.1,1,1,1.4,0.8 - i64[4]=1,1,3,3", "*"},
    {"ScatterElements", "axis=1 reduction=add", "f32[2,3]~rand i64[2,2]~0,-1,2,2 f32[2,2]~rand",
     "*"},
    {"ScatterElements", "reduction=max", "u8[3,2]~rand i32[2,2]~0,2,1,1 u8[2,2]~rand", "*"},
    {"ScatterND", "reduction=mul", "i64[4,2]~rand i64[2,1]~1,-1 i64[2,2]~rand", "*"},
    {"ScatterND", "", "f32[2,3]~rand i64[2,2]~1,1,0,2 f32[2]~rand", "*"},
    {"SpMM", "", "f32[4,91]~rand i32[4]=0,2,2,5 i64[5]~3,0,-1,2,0", "*"},
    {"SpMM", "reduction=max start=-0.2", "f32[4,91]~rand i32[4]=0,2,2,5 i64[5]~3,0,-1,2,0", "*"},
    {"SpMM", "", "f32[4,2,5]~rand i32[4]=0,2,2,5 i32[5]~3,0,1,2,0 f32[5,2,1]~rand i32[5]=4,3,2,1,0",
     "*"},
    {"GroupedMatMul", "", "f32[29,7]~rand f32[4,7,90]~rand i32[4]~0,14,16,27", "*"},
    {"GroupedMatMul", "", "f32[3,5]~rand f32[2,5,3]~rand i64[2]~3,3", "*"},
    {"GatherElements", "axis=1", "f32[2,3]~rand i64[2,2]~0,-1,2,1", "*"},
    {"CoupleProbabilities", "classes=3", "f32[3,3]~0.7,0.6,0.2,0.5,0.5,0.5,0.01,0.99,0.3", "*"},
    {"Eliminate", "determinant=0", "f32[3,5,7]~rand", "*"},
    {"Eliminate", "determinant=1", "f32[3,5,5]~rand", "*"},
    {"Eliminate", "determinant=1", "f32[2,2]~1,2,2,4", "*"},
    {"Trees", "targets=2",
     "f32[4,2]~1,9,1,-9,2,nan,nan,0 i32[2,3]=0,1,-1,3,-2,-3 f32[2]=1.5,0.5 i32[2]=0,-3 "
     "i32[4]=0,1,3,4 i32[4]=0,0,1,1 f32[4]=1,2,3,4",
     "*"},
    {"Trees", "targets=1 aggregate=2",
     "f64[3,1]~1,3,5 i32[1,3]=1,-1,-2 f64[1]=3 i32[9]=0,0,-1,0,-2,0,0,0,0 i32[3]=0,1,2 i32[2]=0,0 "
     "f64[2]=4,2",
     "*"},
    {"GatherND", "batch_dims=1", "f32[2,3,2]~rand i64[2,2,1]~0,-1,2,1", "*"},
    {"LSTM", "hidden_size=4 direction=bidirectional",
     "f32[3,2,5]~rand f32[2,16,5]~rand f32[2,16,4]~rand f32[2,32]~rand i32[2]~3,2 f32[2,2,4]~rand "
     "f32[2,2,4]~rand f32[2,12]~rand",
     "* * *"},
    {"LSTM", "hidden_size=3", "f32[2,1,2]~rand f32[1,12,2]~rand f32[1,12,3]~rand", "*"},
    {"LSTM", "hidden_size=3", "f64[2,1,2]~rand f64[1,12,2]~rand f64[1,12,3]~rand", "* * *"},
    {"GRU", "hidden_size=3", "f64[2,1,2]~rand f64[1,9,2]~rand f64[1,9,3]~rand", "* *"},
    {"RNN", "hidden_size=3", "f64[2,1,2]~rand f64[1,3,2]~rand f64[1,3,3]~rand", "* *"},
    {"GRU", "hidden_size=3 direction=reverse linear_before_reset=1",
     "f32[3,2,4]~rand f32[1,9,4]~rand f32[1,9,3]~rand f32[1,18]~rand", "* *"},
    {"GRU", "hidden_size=3 direction=bidirectional",
     "f32[3,2,4]~rand f32[2,9,4]~rand f32[2,9,3]~rand f32[2,18]~rand i32[2]~1,3", "* *"},
    {"RNN", "hidden_size=3 direction=bidirectional",
     "f32[3,2,4]~rand f32[2,3,4]~rand f32[2,3,3]~rand f32[2,6]~rand i32[2]~2,3 f32[2,2,3]~rand",
     "* *"},
    {"OneHot", "axis=1", "i64[2,2]~0,-1,7,2 i64[]=3 f32[2]~2,5", "*"},
    {"TopK", "axis=0", "f32[5,2]~rand i64[1]=3", "* *"},
    {"TopK", "largest=0 sorted=0", "i32[2,7]~rand i64[1]=4", "* *"},
    {"Trilu", "upper=0", "f32[2,3,4]~rand i64[]~-1", "*"},
    {"PadToBound", "axis=1 length=5", "f32[2,3,4]~rand f32[]~7", "*"},
    {"PadToBound", "axis=-1 length=6", "i64[2,4]~rand i64[]~-1", "*"},
    {"PadToBound", "axis=0 length=3", "u8[3]~rand u8[]~1", "*"},
    {"Pad", "mode=reflect", "f32[3,4]~rand i64[4]=1,2,2,5", "*"},
    {"Pad", "mode=edge", "i64[3,4]~rand i64[2]=-1,2 - i64[1]=-1", "*"},
    {"Pad", "mode=wrap", "f32[3]~rand i64[2]=4,2", "*"},
    {"Pad", "", "u8[2,2]~rand i64[4]=1,0,0,2 u8[]~7", "*"},
    {"LayerNormalization", "axis=1 epsilon=0.01", "f32[2,3,4]~rand f32[3,4]~rand f32[4]~rand",
     "* * *"},
    {"InstanceNormalization", "", "f32[2,3,4]~rand f32[3]~rand f32[3]~rand", "*"},
    {"LpNormalization", "axis=0 p=1", "f32[3,2]~rand", "*"},
    {"LRN", "size=3 alpha=0.1 beta=0.6 bias=2.0", "f32[1,5,2,2]~rand", "*"},
    {"CumSum", "exclusive=1 reverse=1", "f32[2,4]~rand i64[]=1", "*"},
    {"CumSum", "", "i32[2,4]~rand i32[]=-2", "*"},
    {"GlobalAveragePool", "", "f32[2,3,2,2]~rand", "*"},
    {"GlobalMaxPool", "", "f32[2,3,5]~rand", "*"},
    {"BatchNormalization", "", "f32[2,3,2]~rand f32[3]~rand f32[3]~rand f32[3]~rand f32[3]~1,2,3",
     "*"},
    {"Range", "", "f32[]=1 f32[]=3 f32[]=0.3", "*"},
    {"Range", "", "i32[]=9 i32[]=-3 i32[]=-4", "*"},
    {"EyeLike", "k=-1", "f64[3,4]~rand", "*"},
    {"ReverseSequence", "batch_axis=0 time_axis=1", "f32[2,3,2]~rand i64[2]~2,3", "*"},
    {"ReverseSequence", "", "i64[3,2]~rand i64[2]~2,3", "*"},
    {"BitShift", "direction=RIGHT", "i8[5]~-128,-128,127,-1,64 i8[5]~1,9,8,7,3", "*"},
    {"BitShift", "direction=LEFT", "u8[2,3]~rand u8[3]~1,7,8", "*"},
    {"Clip", "", "i64[2,3]~rand i64[]~3 i64[]~6", "*"},
    {"Clip", "", "f32[5]~nan,1,2,-inf,inf - f32[]~1.5", "*"},
    {"CumProd", "", "f32[3,2]~rand i64[]=0", "*"},
    {"Mod", "", "f32[2,3]~-7,7,5,1.5,-0.5,0 f32[3]~3,-3,0.7", "*"},
    {"PoolRegions", "output_height=3 output_width=2 spatial_scale=0.5 half_pixel=1",
     "f32[2,2,6,7]~rand f32[4,4]~0,1,9,11,4,3,5,3.5,-6,-2,40,30,5,5,1,1 i64[4]~0,1,1,0", "*"},
    {"PoolRegions", "output_height=2 output_width=3",
     "f32[2,2,6,7]~rand f32[4,4]~0,1,4.4,5,4,3,5,3.5,-6,-2,40,nan,5,5,1,1 i64[4]~0,1,1,0", "*"},
    {"PoolRegions", "output_height=2 output_width=3 spatial_scale=0.75 whole_pixels=1",
     "f32[2,2,6,7]~rand f32[4,4]~0,1,9,11,4,3,5,3.5,-6,-2,40,30,5,5,1,1 i64[4]~0,1,1,0", "*"},
    {"Pow", "", "f32[2]~2,3 i64[2,1]~3,-2", "*"},
    {"Pow", "", "i32[3]~2,3,-5 f32[3]~0.5,40,41", "*"},
    {"Hardmax", "axis=0", "f32[3,4]~rand", "*"},
    {"GroupNormalization", "num_groups=2", "f32[2,4,3]~rand f32[4]~rand f32[4]~rand", "*"},
    {"RMSNormalization", "axis=1", "f32[2,3,4]~rand f32[3,4]~rand", "*"},
    {"RMSNormalization", "", "f32[2,3]~1,inf,2,3,-inf,nan f32[3]~rand", "*"},
    {"RMSNormalization", "", "f64[3,4,3]~rand f64[3,1,1]~rand", "*"}, /* as many as a row has */
    {"LayerNormalization", "", "f32[2,5,7]~rand f32[2,1,7]~rand f32[5,1]~rand", "*"},
    {"LayerNormalization", "axis=2", "f32[7,2,7]~rand f32[7]~rand f32[7,1,1]~rand", "*"},
    {"MeanVarianceNormalization", "", "f32[2,3,4,2]~rand", "*"},
    {"LpPool", "kernel_shape=[2,3] p=1 pads=[1,0,0,1] strides=[2,1]", "f32[1,2,4,5]~rand", "*"},
    {"LpPool", "kernel_shape=[3] p=3", "f32[1,2,6]~rand", "*"},
    {"GlobalLpPool", "", "f32[2,3,4]~rand", "*"},
    {"Gemm", "transA=1 alpha=0.5 beta=2.0", "f32[3,2]~rand f32[3,4]~rand f32[2,1]~rand", "*"},
    {"Gemm", "transB=1", "f64[2,3]~rand f64[4,3]~rand f64[4]~rand", "*"},
    {"QuantizeLinear", "", "f32[2,3,4]~rand f32[]=0.02 u8[]=128", "*"},
    {"QuantizeLinear", "axis=1", "f32[2,3]~rand f32[3]=0.02,0.5,1 i8[3]=0,3,-5", "*"},
    {"QuantizeLinear", "axis=1 block_size=2", "f32[2,3]~rand f32[2,2]=0.02,0.5,1,0.1", "*"},
    {"QuantizeHalfAway", "", "f32[8]=0.5,1.5,-0.5,-2.5,0.49,3,200,-200 f32[]=1 i8[]=3", "*"},
    {"ResizeInt", "",
     "u8[1,2,3,3]~rand i32[2,4]=0,0,1,2,0,1,2,2 f32[2,4]=1,0.5,0.25,1,0,0.5,0.75,0 "
     "i32[2,2]=0,1,1,2 f32[2,2]=0.5,0.125,0.5,0.875",
     "*"},
    {"ResizeInt", "",
     "i8[2,1,2,3]~rand i32[2,3]=0,0,1,0,1,1 i64[2,3]=1024,512,1,0,512,1023 "
     "i32[2,2]=0,1,1,2 i64[2,2]=512,128,512,896",
     "*"},
    {"TableSoftmax", "to=3", "i8[3,7]~rand i32[256]~rand", "*"},
    {"TableSoftmax", "to=2 axis=0", "u8[3,7]~rand i32[256]~rand", "*"},
    {"TableSoftmax", "to=5", "i16[3,7]~rand i16[65536]~rand i16[513]~rand", "*"},
    {"NormalizeBytes", "zero_point=3", "i8[3,7]~rand", "*"},
    {"NormalizeBytes", "axis=0 zero_point=120", "u8[5,4]~rand", "*"},
    {"NormalizeWords", "least=37", "i16[5,6]~rand", "*"},
    {"NormalizeWords", "", "i16[2,9,16]~rand", "*"},
    {"NormalizeWords", "least=37", "i16[3,4]=0,0,0,0,5,5,5,5,32767,-32768,32767,-32768", "*"},
    {"Requantize", "axis=1 to=3 zero_point=5 low=-100 high=90",
     "i32[2,3,4]~rand i32[3]=1717986918,2147483647,1073741824 i32[3]=-3,0,2", "*"},
    {"Requantize", "to=2 offset=3 left_shift=20 low=7 high=255 zero_point=100",
     "i8[5,5]~rand i32[]=1395864371 i32[]=-17", "*"},
    {"Requantize", "to=3 low=-128 high=127 single_rounding=1",
     "i32[40]~rand i32[]=1395864371 i32[]=-4", "*"},
    {"Requantize", "to=5 low=-32768 high=32767", "i64[40]~rand i32[]=1395864371 i32[]=3", "*"},
    {"Requantize", "to=5 low=-32768 high=32767 single_rounding=1",
     "i64[40]~rand i32[]=1395864371 i32[]=3", "*"},
    {"Requantize", "to=5 low=-32768 high=32767 single_rounding=1",
     "i64[4]=123456789012,-123456789012,-1,98765432109876 i32[]=1395864371 i32[]=-25", "*"},
    {"DequantizeLinear", "axis=0", "u8[2,3]~rand f32[2]=0.02,0.5 u8[2]=3,4", "*"},
    {"DequantizeLinear", "", "i32[2,3]~rand f32[]=0.25", "*"},
    {"MatMulInteger", "", "u8[2,3,4]~rand i8[4,5]~rand u8[3]~1,2,3 i8[5]~-1,2,3,4,5", "*"},
    {"MatMulInteger", "", "i8[3]~rand i8[3,2]~rand", "*"},
    {"QLinearMatMul", "",
     "u8[2,4]~rand f32[]=0.5 u8[]=3 u8[4,3]~rand f32[3]=0.1,0.2,0.3 u8[3]=2,3,4 f32[]=0.7 u8[]=9",
     "*"},
    {"ConvInteger", "pads=[1,1,1,1] strides=[2,1]",
     "u8[1,2,5,5]~rand u8[3,2,3,3]~rand u8[]~4 u8[3]~1,2,3", "*"},
    {"QLinearConv", "group=2 pads=[1,0]",
     "u8[1,4,9]~rand f32[]=0.5 u8[]=3 i8[4,2,3]~rand f32[4]=0.1,0.2,0.3,0.1 i8[4]=0,0,0,0 "
     "f32[]=1.7 "
     "u8[]=9 i32[4]~rand",
     "*"},
    {"ConstantOfShape", "", "i64[2]=3,4", "*"},
    {"Shape", "start=1", "f32[2,3,4]", "*"},
    {"Size", "", "f32[2,3,4]", "*"},
};

/* Run-time indices that the entry must refuse: inference cannot see them. */
static const struct ops_case refused[] = {
    {"Gather", "", "f32[3]~rand i64[1]~3", "*"},
    {"Gather", "", "f32[3]~rand i64[1]~-4", "*"},
    {"GatherElements", "", "f32[3]~rand i64[1]~9", "*"},
    {"GatherND", "", "f32[3]~rand i64[1,1]~-4", "*"},
    {"ScatterElements", "", "f32[3]~rand i64[1]~3 f32[1]~1", "*"},
    {"ScatterND", "", "f32[3]~rand i64[1,1]~1e18 f32[1]~1", "*"},
    {"SpMM", "", "f32[3,2]~rand i32[2]=0,1 i64[1]~7", "*"},
    {"GroupedMatMul", "", "f32[3,2]~rand f32[2,2,2]~rand i64[2]~2,4", "*"},
    {"GroupedMatMul", "", "f32[3,2]~rand f32[2,2,2]~rand i64[2]~2,1", "*"},
    {"ReverseSequence", "", "f32[2,1]~rand i64[1]~3", "*"},
    {"PoolRegions", "", "f32[1,1,2,2]~rand f32[1,4]~0,0,1,1 i64[1]~1", "*"},
    {"PoolRegions", "", "f32[1,1,2,2]~rand f32[1,4]~0,0,1,1 i64[1]~-1", "*"},
};

static const char *c_type_of(hone_dtype dtype) {
  static const struct {
    hone_dtype dtype;
    const char *name;
  } types[] = {{HONE_F32, "float"},    {HONE_F64, "double"},        {HONE_I64, "int64_t"},
               {HONE_I32, "int32_t"},  {HONE_I16, "int16_t"},       {HONE_I8, "int8_t"},
               {HONE_U64, "uint64_t"}, {HONE_U32, "uint32_t"},      {HONE_U16, "uint16_t"},
               {HONE_U8, "uint8_t"},   {HONE_BOOL, "unsigned char"}};
  for (size_t i = 0; i < COUNT(types); i++)
    if (types[i].dtype == dtype) return types[i].name;
  return "float";
}

static void put_list(struct strbuf *text, const int64_t *ints, size_t count) {
  strbuf_puts(text, "{");
  for (size_t i = 0; i < count; i++) strbuf_printf(text, "%lld,", (long long)ints[i]);
  strbuf_puts(text, count ? "}\n" : "0}\n");
}

static void put_operand(struct strbuf *text, const char *side, size_t k,
                        const struct value *value) {
  int64_t count = 0;
  if (value) assert_true(shape_count(&value->shape, &count));
  strbuf_printf(text, "#define %s%zu_PRESENT %d\n#define %s%zu_T %s\n", side, k, value != NULL,
                side, k, value ? c_type_of(value->dtype) : "float");
  strbuf_printf(text, "#define %s%zu_TYPE %d\n", side, k, value ? (int)value->dtype : 0);
  strbuf_printf(text, "#define %s%zu_RANK %d\n#define %s%zu_COUNT %lldl\n#define %s%zu_DIMS ", side,
                k, value ? value->shape.rank : 0, side, k, (long long)count, side, k);
  put_list(text, value ? value->shape.dims : NULL, value ? (size_t)value->shape.rank : 0);
}

static void put_attribute(struct strbuf *text, const struct attribute *a) {
  if (a->kind == ATTRIBUTE_INT)
    strbuf_printf(text, "#define ATTR_%s %lldl\n", a->name, (long long)a->i);
  else if (a->kind == ATTRIBUTE_FLOAT)
    strbuf_printf(text, "#define ATTR_%s ((float)%.17g)\n", a->name, a->f);
  else if (a->kind == ATTRIBUTE_STRING)
    strbuf_printf(text, "#define ATTR_%s_IS_%s 1\n", a->name, a->s.bytes);
  if (a->kind != ATTRIBUTE_INTS) return;
  strbuf_printf(text, "#define ATTR_%s_COUNT %zu\n#define ATTR_%s ", a->name, a->count, a->name);
  put_list(text, a->ints, a->count);
}

/* As the plan computes it. */
static void put_window(struct strbuf *text, const struct node *node) {
  struct ctx ctx;
  struct builder builder = {.ctx = &ctx};
  const struct generic_window *window;
  const char *name;
  const int64_t *numbers;
  int rank;
  ctx_init(&ctx);
  assert_int_equal(arena_create(&ctx, 0, &builder.arena), HONE_OK);
  assert_int_equal(read_window(&builder, node, &window, &rank), HONE_OK);
  for (size_t i = 0; window && (name = generic_window_define(window, i, &numbers)); i++) {
    strbuf_printf(text, "#define %s ", name);
    put_list(text, numbers, GENERIC_SPATIAL);
  }
  arena_destroy(builder.arena);
}

/* #undef of every name that the text defines: the next case starts clean. */
static void put_undefs(struct strbuf *text, const char *defines, size_t length) {
  static const char mark[] = "#define ";
  for (const char *at = defines; (at = memmem(at, length - (size_t)(at - defines), mark, 8)); at++)
    strbuf_printf(text, "#undef %.*s\n", (int)strcspn(at + 8, " ("), at + 8);
}

static int64_t attribute(const void *node, const char *name, int64_t otherwise) {
  return node_int(node, name, otherwise);
}

/* Units of the case and bytes of each thread's scratch, as plan finds them. */
static int64_t count_units(const struct ops_case *c, const struct node *node, size_t *out_scratch) {
  const struct generic_kernel *plain = generic_find(c->op);
  struct generic_shape in[CASE_VALUES], out[CASE_VALUES];
  for (size_t k = 0; k < node->input_count; k++)
    in[k] = node->inputs[k]
                ? (struct generic_shape){node->inputs[k]->shape.rank, node->inputs[k]->shape.dims}
                : (struct generic_shape){-1, NULL};
  for (size_t k = 0; k < node->output_count; k++)
    out[k] = node->outputs[k] ? (struct generic_shape){node->outputs[k]->shape.rank,
                                                       node->outputs[k]->shape.dims}
                              : (struct generic_shape){-1, NULL};
  const struct generic_problem problem = {node->input_count, node->output_count, in, out, node,
                                          attribute};
  *out_scratch = plain->scratch_bytes ? plain->scratch_bytes(&problem) : 0;
  return plain->units(&problem);
}

static void put_case(struct ctx *ctx, struct strbuf *out, const struct ops_case *c,
                     const struct ops_run *run, size_t number) {
  const struct node *node = run->node;
  const struct generic_kernel *plain = generic_find(c->op);
  assert_non_null(plain);
  struct strbuf text = {0};
  size_t scratch;
  strbuf_printf(&text,
                "#define NAME plain_%zu\n#define UNITS %lldl\n#define IN_COUNT %zu\n"
                "#define OUT_COUNT %zu\n",
                number, (long long)count_units(c, node, &scratch), node->input_count,
                node->output_count);
  for (size_t k = 0; k < node->input_count; k++) put_operand(&text, "IN", k, node->inputs[k]);
  for (size_t k = 0; k < node->output_count; k++) put_operand(&text, "OUT", k, node->outputs[k]);
  put_window(&text, node);
  for (size_t k = 0; k < node->attribute_count; k++) put_attribute(&text, &node->attributes[k]);
  if (plain->define) strbuf_printf(&text, "#define %s\n", plain->define);
  strbuf_append(out, text.at, text.length);
  REQUIRE(emit_kernel_source(ctx, plain->source, out));
  put_undefs(out, text.at, text.length);
  strbuf_printf(out,
                "int run_%zu(const void *const *in, void *const *out, void *scratch, long begin, "
                "long end) { return plain_%zu(in, out, scratch, begin, end); }\n",
                number, number);
  strbuf_deinit(&text);
}

static void run_compiler(struct ctx *ctx, const char *folder, const struct target *target,
                         const char *const *argv) {
  struct process_options options = {
      .argv = argv, .directory = folder, .fd_in = -1, .fd_out = -1, .timeout_ns = 600000000000u};
  struct process_result result;
  REQUIRE(process_run(ctx, &options, &result));
  if (result.exit_code)
    case_fails("%s for %s%s: %.9000s", argv[0], target->level,
               result.timed_out ? " took too long" : "", result.output.at ? result.output.at : "");
  strbuf_deinit(&result.output);
}

/* Compiles folder/plain-PART.c to plain-PART.o for a level: by their own names, so that a compiler cache knows them
   again. -Wmaybe-uninitialized is off: at -O3 gcc reports variables that are initialised. */
static void compile_part(struct ctx *ctx, const char *folder, const char *cc,
                         const struct target *target, size_t part) {
  char source[32], object[32];
  snprintf(source, sizeof source, "plain-%zu.c", part);
  snprintf(object, sizeof object, "plain-%zu.o", part);
  const char *argv[64] = {cc,
                          "-std=gnu11",
                          "-O3",
                          "-fopenmp-simd",
                          "-ffp-contract=fast",
                          "-fno-math-errno",
                          "-fno-trapping-math",
                          "-Wall",
                          "-Werror",
                          "-Wno-unused-function",
                          "-Wno-tautological-compare",
                          "-Wno-type-limits",
                          "-fPIC",
                          "-c",
                          "-o",
                          object,
                          source};
  size_t count = 0;
  while (argv[count]) count++;
  for (size_t i = 0; target->flags[i]; i++) {
    assert_true(count + 1 < COUNT(argv));
    argv[count++] = target->flags[i];
  }
  run_compiler(ctx, folder, target, argv);
}

typedef int generic_fn(const void *const *in, void *const *out, void *scratch, long begin,
                       long end);

/* Runs the compiled kernel, `step` units a call, the last ones first, over copies whose ends the
   sanitizers watch; the first status that is not 0. */
static int call_kernel(void *library, size_t number, const struct ops_case *c,
                       const struct ops_run *run, int64_t step, void *out[CASE_VALUES]) {
  char symbol[32];
  const void *in[CASE_VALUES] = {NULL};
  size_t scratch_bytes;
  int64_t units = count_units(c, run->node, &scratch_bytes);
  snprintf(symbol, sizeof symbol, "run_%zu", number);
  generic_fn *function;
  *(void **)&function = dlsym(library, symbol);
  assert_non_null(function);
  for (size_t k = 0; k < run->input_count; k++)
    if (run->in[k]) in[k] = run->in[k]->data;
  for (size_t k = 0; k < run->node->output_count; k++) {
    out[k] = run->out[k] ? malloc(run->out[k]->bytes + 1) : NULL;
    if (run->out[k]) memset(out[k], 0xa5, run->out[k]->bytes + 1);
  }
  int status = 0;
  for (int64_t rest = units; rest > 0 && !status; rest -= step) {
    void *scratch = scratch_bytes ? malloc(scratch_bytes) : NULL;
    if (scratch) memset(scratch, 0xa5, scratch_bytes);
    status = function(in, out, scratch, rest > step ? rest - step : 0, rest);
    free(scratch);
  }
  return status;
}

/* The same bits however the units are split among threads. */
static void compare_splits(void *library, size_t number, const struct ops_case *c,
                           const struct ops_run *run, void *const whole[CASE_VALUES]) {
  static const int64_t steps[] = {1, 3, 64};
  for (size_t s = 0; s < COUNT(steps); s++) {
    void *out[CASE_VALUES] = {NULL};
    assert_int_equal(call_kernel(library, number, c, run, steps[s], out), 0);
    for (size_t k = 0; k < run->node->output_count; k++) {
      if (out[k] && memcmp(out[k], whole[k], run->out[k]->bytes + 1))
        case_fails("%s %s (%s): output %zu changes with %lld units a call", c->op, c->attributes,
                   c->inputs, k, (long long)steps[s]);
      free(out[k]);
    }
  }
}

static void compare(const struct ops_case *c, const struct ops_run *run, void *out[CASE_VALUES]) {
  for (size_t k = 0; k < run->node->output_count; k++) {
    if (!run->out[k]) continue;
    struct tensor got = *run->out[k];
    got.data = out[k];
    assert_int_equal(((unsigned char *)out[k])[got.bytes], 0xa5);
    for (size_t i = 0; i < tensor_count(&got); i++)
      if (!same_number(tensor_f64(&got, i), tensor_f64(run->out[k], i), 2e-5))
        case_fails("%s %s (%s): output %zu [%zu] is %.9g, reference %.9g", c->op, c->attributes,
                   c->inputs, k, i, tensor_f64(&got, i), tensor_f64(run->out[k], i));
    free(out[k]);
  }
}

#define ALL (COUNT(cases) + COUNT(refused))
static struct ops_run runs[ALL];

static void check_library(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) case_fails("%s", dlerror());
  for (size_t i = 0; i < ALL; i++) {
    const struct ops_case *c = i < COUNT(cases) ? &cases[i] : &refused[i - COUNT(cases)];
    void *out[CASE_VALUES] = {NULL};
    int status = call_kernel(library, i, c, &runs[i], INT64_MAX, out);
    if (status != (i < COUNT(cases) ? 0 : (int)HONE_E_SHAPE))
      case_fails("%s %s (%s): kernel returns %d", c->op, c->attributes, c->inputs, status);
    if (i < COUNT(cases)) {
      compare_splits(library, i, c, &runs[i], out);
      compare(c, &runs[i], out);
    } else {
      free(out[0]);
    }
  }
  dlclose(library);
}

/* So many cases a C file: a change of one kernel is compiled again with few others. */
enum { CASES_AT_ONCE = 24, PARTS = (ALL + CASES_AT_ONCE - 1) / CASES_AT_ONCE };

static void begin_part(struct ctx *ctx, struct strbuf *text) {
  strbuf_puts(text,
              "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"
              "#define PLAIN_LINES 64\n#define NOIPA __attribute__((noinline))\n"
              "#if defined __GNUC__ && !defined __clang__\n"
              "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n#endif\n");
  REQUIRE(emit_kernel_source(ctx, "simd.h", text));
}

static void write_cases(struct ctx *ctx, const char *folder) {
  for (size_t part = 0; part < PARTS; part++) {
    struct strbuf text = {0};
    char source[4200];
    begin_part(ctx, &text);
    for (size_t i = part * CASES_AT_ONCE; i < ALL && i < (part + 1) * CASES_AT_ONCE; i++) {
      const struct ops_case *c = i < COUNT(cases) ? &cases[i] : &refused[i - COUNT(cases)];
      hone_status status = run_case(c, &runs[i]);
      if (status != (i < COUNT(cases) ? HONE_OK : HONE_E_SHAPE))
        case_fails("%s %s (%s): reference: %s", c->op, c->attributes, c->inputs,
                   runs[i].ctx.message);
      put_case(ctx, &text, c, &runs[i], i);
    }
    snprintf(source, sizeof source, "%s/plain-%zu.c", folder, part);
    REQUIRE(file_write_atomic(ctx, source, text.at, text.length, 0600));
    strbuf_deinit(&text);
  }
}

/* Compiles all parts to `library`, a name in the folder. */
static void compile_library(struct ctx *ctx, const char *folder, const char *cc,
                            const struct target *target, const char *library) {
  char objects[PARTS][32];
  const char *argv[PARTS + 8] = {cc, "-shared", "-o", library};
  size_t count = 4;
  for (size_t part = 0; part < PARTS; part++) {
    compile_part(ctx, folder, cc, target, part);
    snprintf(objects[part], sizeof objects[part], "plain-%zu.o", part);
    argv[count++] = objects[part];
  }
  argv[count] = "-lm";
  run_compiler(ctx, folder, target, argv);
}

/* gcc's warnings depend on what it optimises and so on the level; clang's do not. */
static void kernels_equal_the_reference(void **state) {
  static const struct {
    const char *cc, *level;
  } builds[] = { /* `make test` compiles by the first two */
#if defined __x86_64__
                 {"gcc", "avx2"},
                 {"clang", "avx2"},
                 {"gcc", "baseline"},
                 {"gcc", "avx512"},
#else
                 {"gcc", "host"},
                 {"clang", "host"},
#endif
  };
  char folder[4096], library[4200], name[32];
  const size_t build_count = getenv("HONE_TEST_FULL") ? COUNT(builds) : 2;
  struct ctx ctx;
  (void)state;
  ctx_init(&ctx);
  REQUIRE(dir_temporary(&ctx, folder));
  write_cases(&ctx, folder);
  for (size_t i = 0; i < build_count; i++) {
    struct target target;
    char described[128];
    struct ctx attempt = ctx;
    if (toolchain_describe(&attempt, builds[i].cc, NULL, described)) {
      print_message("skipped: %s is not installed\n", builds[i].cc);
      continue;
    }
    REQUIRE(target_init(&ctx, NULL, builds[i].level, &target));
    snprintf(name, sizeof name, "plain-%zu.so", i);
    snprintf(library, sizeof library, "%s/%s", folder, name);
    compile_library(&ctx, folder, builds[i].cc, &target, name);
    if (target_runs_here(&target)) check_library(library);
  }
  for (size_t i = 0; i < ALL; i++) arena_destroy(runs[i].arena);
  dir_remove_tree(folder);
}

/* Sizes and texts come from a run: tests/compile/open-sizes.hg, open-loops.hg and strings.hg instead of a case here. */
static const char *const compiled[] = {
    "Compact",      "Compress",          "FindTokens", "HashBytes",        "Lookup",
    "MatchStrings", "NonMaxSuppression", "NonZero",    "NormalizeStrings", "StringConcat",
    "StringEqual",  "StringSplit",       "Strings",    "SuppressBoxes",    "Unique",
    "LoopBegin",    "LoopCollect",       "LoopCount",  "LoopNext"};

/* Every generic source has a case, and every serial one a reason; Shape is serial. */
static void table_is_whole(void **state) {
  (void)state;
  size_t alone = 0;
  while (alone < generic_count && strcmp(generic_table[alone].op, "Shape")) alone++;
  assert_true(alone < generic_count);
  for (size_t i = 0; i < generic_count; i++) {
    const char *op = generic_table[i].op;
    if (i) assert_true(strcmp(generic_table[i - 1].op, op) < 0);
    bool is_step = strcmp(op, "Compact") == 0 || strcmp(op, "Strings") == 0 ||
                   strncmp(op, "Loop", 4) == 0; /* of no node */
    if (!is_step && !op_find("", op)) assert_non_null(op_find("hone", op));
    bool has_case = strcmp(op, "Scatter") == 0; /* the old name of ScatterElements */
    for (size_t k = 0; k < COUNT(compiled); k++) has_case |= strcmp(op, compiled[k]) == 0;
    for (size_t k = 0; k < COUNT(cases); k++) has_case |= strcmp(cases[k].op, op) == 0;
    if (!has_case) case_fails("no case for %s", op);
    assert_true(generic_table[i].units != NULL);
    if ((generic_table[i].units == generic_table[alone].units) != (generic_table[i].serial != NULL))
      case_fails("%s: units and reason disagree", op);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_equal_the_reference),
                                     cmocka_unit_test(table_is_whole)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

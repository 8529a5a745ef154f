"""Makes tests/cases/pt2/operators.zip: for each case a module of one ATen operator (or a few), as torch.export
writes it, with inputs and PyTorch's outputs. Needs torch and torchao; tests/cli/test_pt2_operators.py needs only the file.

A case is NAME/model.json, NAME/weights.json, NAME/w0.. (payload), NAME/in0.npy.., NAME/out0.npy... Names ending
in "-core" are the same modules after run_decompositions: operators of the Core ATen set alone."""
import io
import json
import math
import pathlib
import sys
import tempfile
import zipfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_rows
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

FILE = pathlib.Path(__file__).resolve().parent.parent / "cases/pt2/operators.zip"


def rand(*shape):
    return torch.randn(*shape)


def ints(*shape, high=5, low=0):
    return torch.randint(low, high, shape)


class Call(nn.Module):
    def __init__(self, function, weights=()):
        super().__init__()
        self.function = function
        for i, w in enumerate(weights):
            self.register_buffer(f"w{i}", w)
        self.count = len(weights)

    def forward(self, *args):
        return self.function(*args, *[getattr(self, f"w{i}") for i in range(self.count)])


X, IMAGE = (3, 5), (2, 4, 7, 6)
SPECIAL = torch.tensor([0.0, -1e-6, 1e-6, -0.75, 0.75, 3.5, -3.5, 30.0, -30.0])
CASES = {}


def case(name, function, *inputs, weights=(), module=None):
    assert name not in CASES, name
    CASES[name] = (module or Call(function, weights), inputs)


@torch.library.custom_op("transformers::grouped_mm_fallback", mutates_args=(), schema="(Tensor input, Tensor weight, Tensor offs) -> Tensor")
def grouped_fallback(input, weight, offs):
    """As that library defines it: rows up to each offset are multiplied by the next matrix; rows after the last are zero."""
    begin, out = 0, torch.zeros(input.size(0), weight.size(2))
    for matrix, end in zip(weight, offs.tolist()):
        out[begin:end] = input[begin:end] @ matrix
        begin = end
    return out


grouped_fallback.register_fake(lambda input, weight, offs: torch.empty(input.size(0), weight.size(2)))


def unary():
    for name in ("abs ceil floor round neg sign relu sigmoid tanh exp erf sin cos tan atan sinh cosh asinh expm1 trunc "
                 "square isnan isinf isfinite frac exp2 selu").split():
        case(name, getattr(F, name) if name == "selu" else getattr(torch, name), SPECIAL)
    for name in "sqrt rsqrt log log2 log10 log1p reciprocal acosh".split():
        case(name, getattr(torch, name), torch.tensor([1.0, 1 + 1e-5, 2.5, 100.0, 3e-4 + 1]))
    case("log1p-small", torch.log1p, torch.tensor([0.0, 1e-7, -1e-7, 0.3, -0.4, 1e8]))
    for name in "acos asin atanh".split():
        case(name, getattr(torch, name), torch.tensor([-0.9, 0.0, 1e-4, 0.5]))
    for name in ("hardsigmoid hardswish hardtanh relu6 elu celu leaky_relu softplus logsigmoid mish silu gelu softsign "
                 "hardshrink softshrink").split():
        case(name, getattr(F, name), SPECIAL)
    case("gelu-tanh", lambda x: F.gelu(x, approximate="tanh"), SPECIAL)
    case("softplus-beta", lambda x: F.softplus(x, beta=2, threshold=5), SPECIAL)
    case("threshold", lambda x: F.threshold(x, 0.5, -2), SPECIAL)
    case("nan_to_num", torch.nan_to_num, torch.tensor([math.nan, math.inf, -math.inf, 1.0]))
    case("nan_to_num-given", lambda x: torch.nan_to_num(x, 2, 3, -4), torch.tensor([math.nan, math.inf, -math.inf, 1.0]))
    case("sqrt-int", torch.sqrt, ints(4))
    case("logical_not", torch.logical_not, ints(6, high=2))
    case("bitwise_not", torch.bitwise_not, ints(6))
    case("bitwise_not-bool", torch.bitwise_not, ints(6, high=2).bool())
    case("glu", lambda x: F.glu(x, 1), rand(2, 6))
    case("prelu", lambda x, w: F.prelu(x, w), rand(2, 4, 3), weights=[torch.rand(4)])
    case("clamp", lambda x: x.clamp(-0.5, 0.5), rand(*X))
    case("clamp_min", lambda x: x.clamp(min=0.1), rand(*X))
    case("clamp-tensor", lambda x, a, b: torch.clamp(x, a, b), rand(*X), torch.full((5,), -0.3), torch.full((3, 1), 0.4))
    case("clamp_min-tensor", lambda x, a: torch.clamp_min(x, a), rand(*X), rand(5))


def binary():
    y = torch.tensor([2.0, -2.0, 0.7, -0.7, 3.0])
    for name in "add sub mul div pow atan2 maximum minimum fmod remainder eq ne lt le gt ge".split():
        x = torch.rand(3, 5) + 0.1 if name == "pow" else torch.randn(3, 5) * 3
        case(name, getattr(torch, name), x, y)
    for name in "add sub mul div floor_divide fmod remainder eq lt".split():
        case(name + "-int", getattr(torch, name), ints(3, 5, low=-9, high=9), torch.tensor([2, -2, 3, -3, 1]))
    case("atan2-axes", torch.atan2, torch.tensor([0.0, 1.0, -1.0, 0.0, 1.0, -1.0]), torch.tensor([0.0, 0.0, 0.0, 1.0, -1.0, -1.0]))
    case("add-alpha", lambda x, y: torch.add(x, y, alpha=2.5), rand(*X), rand(5))
    case("add-int-float", torch.add, ints(3, 5), rand(5))
    case("add-scalar-double", lambda x: x + torch.tensor(0.5, dtype=torch.float64), rand(*X))
    case("mul-int-number", lambda x: x * 1.5, ints(4))
    case("add-bool-number", lambda x: x + 2, ints(4, high=2).bool())
    case("div-floor", lambda x, y: torch.div(x, y, rounding_mode="floor"), rand(*X), y)
    case("div-trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc"), rand(*X), y)
    case("div-trunc-int", lambda x: torch.div(x, -2, rounding_mode="trunc"), ints(9, low=-9, high=9))
    case("floor_divide", torch.floor_divide, rand(*X) * 4, y)
    case("rsub", lambda x: 2 - x, rand(*X))
    case("rsub-alpha", lambda x: torch.rsub(x, 3, alpha=2), rand(*X))
    case("pow-scalar", lambda x: 2.5 ** x, rand(*X))
    case("pow-number", lambda x: x ** 3, rand(*X))
    for name in "and or xor".split():
        case(f"logical_{name}", getattr(torch, f"logical_{name}"), ints(6, high=2), ints(6, high=2))
        case(f"bitwise_{name}", getattr(torch, f"bitwise_{name}"), ints(6), ints(6))
        case(f"bitwise_{name}-bool", getattr(torch, f"bitwise_{name}"), ints(6, high=2).bool(), ints(6, high=2).bool())
    case("where", torch.where, ints(3, 5, high=2).bool(), rand(3, 5), rand(5))
    case("where-number", lambda c, x: torch.where(c, x, 0.5), ints(3, 5, high=2).bool(), rand(3, 5))
    case("masked_fill", lambda x, m: x.masked_fill(m, -math.inf), rand(*X), ints(5, high=2).bool())
    case("addcmul", lambda x, a, b: torch.addcmul(x, a, b, value=0.5), rand(*X), rand(5), rand(5))
    case("addcdiv", lambda x, a, b: torch.addcdiv(x, a, b), rand(*X), rand(5), y)
    case("lerp", lambda a, b: torch.lerp(a, b, 0.3), rand(*X), rand(*X))
    case("max-other", torch.max, rand(*X), rand(*X))


def shapes():
    case("flip", lambda x: x.flip(0, 2), rand(2, 3, 4))
    case("roll", lambda x: x.roll((1, -2), (0, 1)), rand(3, 5))
    case("roll-flat", lambda x: x.roll(4), rand(3, 5))
    case("unbind", lambda x: torch.unbind(x, 1), rand(2, 3, 4))
    case("narrow", lambda x: x.narrow(1, 1, 2), rand(2, 4))
    case("mT", lambda x: (x.mT, x.mT @ x), rand(2, 3, 4))
    case("movedim", lambda x: x.movedim((0, 2), (1, 0)), rand(2, 3, 4, 5))
    case("expand_as", lambda x, y: x.expand_as(y), rand(3, 1), rand(3, 4))
    case("unflatten", lambda x: x.unflatten(1, (2, -1)), rand(2, 6, 3))
    case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), rand(1, 8, 2, 3))
    case("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), rand(1, 2, 4, 6))
    case("channel_shuffle", lambda x: F.channel_shuffle(x, 2), rand(1, 6, 2, 3))
    case("meshgrid", lambda a, b: torch.meshgrid(a, b, indexing="ij"), rand(3), rand(4))
    case("meshgrid-xy", lambda a, b: torch.meshgrid(a, b, indexing="xy"), rand(3), rand(4))
    case("tile", lambda x: x.tile(2, 3), rand(2, 3, 4))
    case("stack", lambda x, y: torch.stack([x, y], 1), rand(2, 3), rand(2, 3))
    case("split", lambda x: x.split([1, 4], 1), rand(2, 5))
    case("chunk", lambda x: x.chunk(2, 1), rand(2, 5))
    case("repeat_interleave", lambda x: x.repeat_interleave(3, 1), rand(2, 3))
    case("squeeze", lambda x: x.squeeze(1), rand(2, 1, 3))
    case("diagonal", lambda x: x.diagonal(1, 0, 2), rand(4, 2, 3))
    case("unfold", lambda x: x.unfold(1, 3, 2), rand(2, 8, 3))
    case("tril", lambda x: x.tril(-1), rand(4, 4))
    for mode in ("reflect", "replicate", "circular"):
        case(f"pad-{mode}", lambda x, m=mode: F.pad(x, (1, 2, 2, 1), mode=m), rand(1, 2, 4, 5))
        case(f"pad1d-{mode}", lambda x, m=mode: F.pad(x, (1, 2), mode=m), rand(1, 2, 4))
    case("pad", lambda x: F.pad(x, (1, 2, 0, 1), value=3.0), rand(2, 3, 4))
    case("slice_scatter", lambda x, y: torch.slice_scatter(x, y, 1, 1, 6, 2), rand(2, 7), rand(2, 3))
    case("slice_scatter-dense", lambda x, y: torch.slice_scatter(x, y, 0, 1, 3), rand(4, 2), rand(2, 2))
    case("select_scatter", lambda x, y: torch.select_scatter(x, y, 1, -2), rand(2, 4), rand(2))


def makers():
    case("full", lambda x: x + torch.full((3,), 2.5), rand(2, 3))
    case("full-int", lambda x: x + torch.full((3,), 2), ints(2, 3))
    case("full_like", lambda x: x + torch.full_like(x, 7), rand(2, 3))
    case("zeros_ones", lambda x: x * torch.ones(3) + torch.zeros_like(x) + x.new_full((3,), 2) + x.new_zeros(3), rand(2, 3))
    case("eye", lambda x: x @ torch.eye(3) + torch.eye(2, 3), rand(2, 3))
    case("linspace", lambda x: x + torch.linspace(-1, 2, 7), rand(7))
    case("arange", lambda x: x + torch.arange(1, 8, 2), rand(4))
    case("scalar_tensor", lambda x: torch.where(x > 0, torch.scalar_tensor(2.0), x), rand(5))
    case("to", lambda x: x.to(torch.float64) * 2, rand(3))
    case("to-bool", lambda x: x.to(torch.bool), torch.tensor([0.0, -0.5, 2.0]))
    case("type_as", lambda x, y: x.type_as(y), ints(3), rand(1))


def put_inside(x, i, v):
    x = x.clone()
    x[:, i] = v
    return x


def indexing():
    case("index", lambda x, i: x[i], rand(5, 3), ints(2, 4))
    case("index-negative", lambda x, i: x[i], rand(5, 3), ints(4, low=-5, high=5))
    case("index-middle", lambda x, i: x[:, i], rand(2, 5, 3), ints(2, 4))
    case("index-two", lambda x, i, j: x[i, j], rand(5, 4, 3), ints(3), ints(2, 1, high=4))
    case("index-two-inside", lambda x, i, j: x[:, i, j], rand(2, 5, 4), ints(3), ints(2, 1, high=4))
    case("index-apart", lambda x, i, j: x[i, :, j], rand(5, 2, 4), ints(3), ints(2, 1, high=4))
    case("index_put", lambda x, i, v: torch.index_put(x, (i,), v), rand(5, 3), torch.tensor([4, 0]), rand(2, 3))
    case("index_put-add", lambda x, i, v: torch.index_put(x, (i,), v, accumulate=True), rand(5, 3), torch.tensor([4, 0, 4]), rand(3))
    case("index_put-inside", put_inside, rand(2, 5, 3), torch.tensor([4, 0]), rand(2, 2, 3))
    case("index_put-mask", lambda x, m: torch.index_put(x, (m,), torch.tensor(0.5)), rand(3, 4), ints(3, high=2).bool())
    case("gather", lambda x, i: x.gather(1, i), rand(3, 5), ints(3, 2))
    case("scatter", lambda x, i, s: x.scatter(1, i, s), rand(3, 5), torch.tensor([[0, 4], [1, 2], [3, 0]]), rand(3, 3))
    case("scatter-value", lambda x, i: x.scatter(1, i, 7.5), rand(3, 5), torch.tensor([[0, 4], [1, 2], [3, 0]]))
    case("scatter_add", lambda x, i, s: x.scatter_add(0, i, s), rand(3, 2), ints(4, 2, high=3), rand(4, 2))
    for how in "sum prod amax amin".split():
        case(f"scatter_reduce-{how}", lambda x, i, s, h=how: x.scatter_reduce(0, i, s, h), rand(3, 2), ints(4, 2, high=3), rand(4, 2))
    case("index_select", lambda x, i: x.index_select(1, i), rand(2, 5), ints(7))
    case("embedding", lambda i, w: F.embedding(i, w), ints(2, 3), weights=[rand(5, 4)])
    case("topk", lambda x: x.topk(3, 1), rand(2, 7))
    case("topk-smallest", lambda x: x.topk(2, 0, largest=False), rand(7, 2))
    case("sort", lambda x: x.sort(1, descending=True), rand(2, 7))
    case("argsort", lambda x: x.argsort(0), rand(7, 2))
    case("one_hot-like", lambda i: (i.unsqueeze(-1) == torch.arange(5)).float(), ints(2, 3))


def reductions():
    for name in "sum mean amax amin prod".split():
        f = getattr(torch, name)
        case(name, lambda x, f=f: f(x, 1), rand(2, 3, 4))
        case(name + "-keep", lambda x, f=f: f(x, dim=2, keepdim=True), rand(2, 3, 4))
    case("sum-all", lambda x: x.sum(), rand(2, 3))
    case("sum-int", lambda x: x.sum(0), ints(3, 4).int())
    case("sum-bool", lambda x: (x > 0).sum(1), rand(3, 4))
    case("max-all", lambda x: x.max(), rand(2, 3))
    case("max-dim", lambda x: torch.max(x, 1), rand(2, 5))
    case("min-dim-keep", lambda x: torch.min(x, 0, keepdim=True), rand(4, 3))
    case("max-values", lambda x: torch.max(x, 1)[0], rand(2, 5))
    case("argmax-flat", lambda x: x.argmax(), rand(3, 4))
    case("argmin", lambda x: x.argmin(1, keepdim=True), rand(3, 4))
    case("any", lambda x: (x > 1).any(1), rand(3, 4))
    case("all", lambda x: (x > -1).all(), rand(3, 4))
    case("var", lambda x: x.var(1), rand(3, 6))
    case("var-biased", lambda x: x.var((0, 2), unbiased=False, keepdim=True), rand(3, 4, 2))
    case("std", lambda x: x.std(), rand(3, 6))
    case("var_mean", lambda x: torch.var_mean(x, 1, correction=0), rand(3, 6))
    case("logsumexp", lambda x: x.logsumexp(1), rand(3, 6))
    for order in (1, 2, math.inf):
        case(f"norm-{order}", lambda x, o=order: torch.linalg.vector_norm(x, o, dim=1), rand(3, 6))
    case("normalize", lambda x: F.normalize(x, dim=1), rand(3, 6))
    case("cumsum", lambda x: x.cumsum(1), rand(3, 6))
    case("cumprod", lambda x: x.cumprod(0), rand(3, 6))
    case("softmax", lambda x: x.softmax(1), rand(2, 3, 4))
    case("log_softmax", lambda x: x.log_softmax(-1), rand(2, 3, 4))


def products():
    case("einsum", lambda x, y: torch.einsum("bij,bkj->bik", x, y), rand(2, 3, 4), rand(2, 5, 4))
    case("baddbmm", lambda b, x, y: torch.baddbmm(b, x, y, beta=0.5, alpha=2), rand(3, 5), rand(2, 3, 4), rand(2, 4, 5))
    case("addmm", lambda b, x, y: torch.addmm(b, x, y, beta=0.5, alpha=2), rand(5), rand(3, 4), rand(4, 5))
    case("mv", torch.mv, rand(3, 4), rand(4))
    case("dot", torch.dot, rand(4), rand(4))
    case("outer", torch.outer, rand(3), rand(4))
    case("attention", F.scaled_dot_product_attention, rand(1, 2, 5, 8), rand(1, 2, 5, 8), rand(1, 2, 5, 8))
    case("attention-causal", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
         rand(1, 2, 5, 8), rand(1, 2, 5, 8), rand(1, 2, 5, 8))
    case("attention-mask", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
         rand(1, 2, 3, 8), rand(1, 2, 4, 8), rand(1, 2, 4, 8), torch.tensor([[1, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1]]).bool())
    case("attention-grouped", lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
         rand(1, 4, 5, 8), rand(1, 2, 5, 8), rand(1, 2, 5, 8))


def layers():
    def module(name, m, *inputs):
        case(name, None, *inputs, module=m.eval())
    module("layer_norm", nn.LayerNorm(5), rand(3, 5))
    module("rms_norm", nn.RMSNorm(5), rand(3, 5))
    module("group_norm", nn.GroupNorm(2, 4), rand(*IMAGE))
    module("instance_norm", nn.InstanceNorm2d(4, affine=True), rand(*IMAGE))
    module("batch_norm", nn.BatchNorm2d(4), rand(*IMAGE))
    module("conv2d", nn.Conv2d(4, 6, 3, 2, 1, groups=2), rand(*IMAGE))
    module("conv1d-same", nn.Conv1d(4, 3, 4, padding="same"), rand(2, 4, 9))
    module("conv_transpose1d", nn.ConvTranspose1d(4, 3, 4, 2, 1), rand(2, 4, 9))
    module("conv_transpose2d", nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2), rand(*IMAGE))
    module("max_pool2d", nn.MaxPool2d(3, 2, 1), rand(*IMAGE))
    module("max_pool2d-indices", nn.MaxPool2d(3, 2, 1, return_indices=True), rand(*IMAGE))
    module("avg_pool2d", nn.AvgPool2d(3, 2, 1, count_include_pad=False, ceil_mode=True), rand(*IMAGE))
    module("avg_pool3d", nn.AvgPool3d(2), rand(1, 2, 4, 4, 6))
    module("adaptive_avg", nn.AdaptiveAvgPool2d((3, 2)), rand(*IMAGE))
    module("adaptive_avg-uneven", nn.AdaptiveAvgPool2d((3, 4)), rand(*IMAGE))
    module("adaptive_max", nn.AdaptiveMaxPool2d(1), rand(*IMAGE))
    for mode in ("nearest", "bilinear", "bicubic"):
        module(f"upsample-{mode}", nn.Upsample(scale_factor=2, mode=mode), rand(1, 2, 3, 4))
        module(f"upsample-{mode}-size", nn.Upsample(size=(5, 7), mode=mode), rand(1, 2, 3, 4))
    module("upsample-corners", nn.Upsample(size=(5, 7), mode="bilinear", align_corners=True), rand(1, 2, 3, 4))
    module("upsample-linear1d", nn.Upsample(scale_factor=1.5, mode="linear"), rand(1, 2, 6))
    module("upsample-exact", nn.Upsample(size=(5, 7), mode="nearest-exact"), rand(1, 2, 3, 4))
    for mode in ("bilinear", "nearest"):
        case(f"grid_sample-{mode}", lambda x, g, m=mode: F.grid_sample(x, g, m, "border", False), rand(1, 2, 4, 5), torch.rand(1, 3, 3, 2) * 2.4 - 1.2)
    module("fold", nn.Fold((4, 5), (2, 3)), rand(1, 12, 9))
    module("lstm", nn.LSTM(3, 4, num_layers=2, batch_first=True), rand(2, 5, 3))
    module("lstm-both", nn.LSTM(3, 4, bidirectional=True, bias=False), rand(5, 2, 3))
    module("gru", nn.GRU(3, 4, num_layers=2, bidirectional=True), rand(5, 2, 3))
    module("transformer", nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), rand(2, 5, 8))
    module("multihead", Attend(), rand(2, 5, 8))


def sets():
    index = torch.tensor([2, 0, 2])
    case("index_add", lambda x, s: x.index_add(0, torch.tensor([2, 0, 2]), s, alpha=2), rand(3, 4), rand(3, 4))
    case("index_add-graph", lambda i, s: torch.zeros(5, 4).index_add(0, i, s), index, rand(3, 4))
    case("index_copy", lambda x, i, s: x.index_copy(1, i, s), rand(2, 4), torch.tensor([3, 0]), rand(2, 2))
    case("index_fill", lambda x, i: x.index_fill(1, i, -1.5), rand(2, 4), torch.tensor([3, 0]))
    case("masked_scatter", lambda x, m, s: x.masked_scatter(m, s), rand(2, 4), torch.tensor([[1, 0, 0, 1], [0, 1, 1, 0]]).bool(), rand(6))
    case("masked_scatter-rows", lambda x, m, s: x.masked_scatter(m, s), rand(4, 3), torch.tensor([[0], [1], [0], [1]]).bool(), rand(2, 3))
    case("take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), rand(3, 4), torch.tensor([[3, 0]]))
    for name, function in (("tril", torch.tril_indices), ("triu", torch.triu_indices)):
        case(f"{name}_indices", lambda x, f=function: x[f(4, 5, -1)[0], f(4, 5, -1)[1]], rand(4, 5))
    case("one_hot", lambda i: F.one_hot(i, 4), index)
    edges = torch.tensor([-1.0, 0.0, 0.5, 2.0])
    for right in (False, True):
        case(f"bucketize-{right}", lambda x, e, r=right: torch.bucketize(x, e, right=r), torch.tensor([[-2.0, 0.0, 0.25], [2.0, 0.5, 9.0]]), edges)
    case("searchsorted", lambda e, x: torch.searchsorted(e, x, side="right"), edges.repeat(2, 1), torch.tensor([[-2.0, 0.0], [2.0, 9.0]]))
    case("count_nonzero", lambda x: torch.count_nonzero(x, 1), ints(3, 5, high=2))
    counted = torch.tensor([[-1.0, 0.0, 0.3, 1.0, 1.7], [2.0, 3.0, 2.999, 3.5, -0.0]])
    case("histc", lambda x: torch.histc(x, bins=6, min=0, max=3), counted)
    case("histc-experts", lambda i: torch.histc(i.float(), bins=4, min=0, max=3), ints(3, 4, high=4))
    ends = torch.tensor([2, 2, 5], dtype=torch.int32)
    for name, function in (("fallback", grouped_fallback), ("mm", F.grouped_mm)):
        case(f"grouped-{name}", lambda x, w, o, f=function: f(x, w, offs=o), rand(6, 4)[:6 if name == "fallback" else 5], rand(3, 4, 8), ends)
    for order in (1.0, 2.0, 3.0, math.inf):
        case(f"cdist-{order}", lambda a, b, p=order: torch.cdist(a, b, p), rand(2, 3, 4), rand(5, 4))
    case("cosine", lambda a, b: F.cosine_similarity(a, b, dim=-1), rand(2, 3, 4), rand(3, 4))
    case("cross", lambda a, b: torch.cross(a, b, dim=1), rand(4, 3), rand(4, 3))
    case("linalg_cross", torch.linalg.cross, rand(4, 3), rand(1, 3))
    for mode in ("sum", "mean", "max"):
        case(f"embedding_bag-{mode}", None, ints(3, 4, high=6), module=nn.EmbeddingBag(6, 5, mode=mode))
    case("affine_grid", lambda t: F.affine_grid(t, (2, 3, 4, 5), align_corners=False), rand(2, 2, 3))
    for reduce in ("sum", "mean", "prod", "amax", "amin"):
        for own in (True, False):
            case(f"scatter_reduce-{reduce}-{own}", lambda x, s, r=reduce, o=own: x.scatter_reduce(0, torch.tensor([[0, 1, 0], [0, 0, 1]]), s, r, include_self=o),
                 rand(4, 3), rand(2, 3))
    for mode in ("bilinear", "bicubic"):
        case(f"upsample-{mode}-filtered", lambda x, m=mode: F.interpolate(x, (4, 9), mode=m, antialias=True), rand(1, 2, 9, 6))
    case("rnn", None, rand(2, 5, 3), module=nn.RNN(3, 4, 2, batch_first=True, bidirectional=True))
    case("synonyms", lambda x, y: (torch.clip(torch.multiply(x, y), -1, 1), torch.divide(torch.subtract(x, y), 2), torch.greater(x, y),
                                   torch.less_equal(x, 0), torch.negative(torch.absolute(x)), torch.special.expit(x), torch.ravel(x),
                                   torch.arctan(x), torch.true_divide(x, 3), torch.broadcast_to(y[:1], (2, 3, 5)), torch.argwhere(torch.ones(2, 2))),
         rand(3, 5), rand(3, 5))


def lately():
    """Bits moved, steps of few bits in floats, and names that newer exports keep."""
    for dtype in (torch.int32, torch.int64, torch.int8, torch.uint8):
        x = ints(3, 5, high=100, low=0 if dtype == torch.uint8 else -100).to(dtype)
        case(f"bits-{str(dtype)[6:]}", lambda x: (x >> 3, x << 1, x & 15, torch.bitwise_right_shift(x, x.abs() % 5)), x)
    x = rand(3, 4, 5)
    case("fake-quantize", lambda x: torch.fake_quantize_per_tensor_affine(x, 0.037, 11, 0, 60), x)
    case("fake-quantize-tensors", lambda x, s, z: torch.fake_quantize_per_tensor_affine(x, s, z, -128, 127), x, torch.tensor(0.02), torch.tensor(3, dtype=torch.int32))
    case("fake-quantize-channels", lambda x, s, z: torch.fake_quantize_per_channel_affine(x, s, z, 1, -8, 7), x, torch.tensor([0.1, 0.2, 0.05, 0.3]),
         torch.tensor([0, 1, -2, 3], dtype=torch.int32))
    hidden = x.masked_fill(x > 0, -math.inf)
    hidden[0, 0] = -math.inf
    case("safe-softmax", lambda x: torch.ops.aten._safe_softmax(x, -1), hidden)
    case("logit", lambda x: (torch.logit(x), torch.logit(x, 0.2), torch.special.entr(x - 0.1), torch.erfc(x), torch.special.ndtr(x)), torch.rand(3, 5) * 0.9 + 0.05)
    case("arc-hyperbolic", lambda x: (torch.arctanh(x), torch.arcsinh(x), torch.arccosh(x + 2)), torch.rand(3, 5))
    case("broadcast-tensors", lambda x, y, z: torch.broadcast_tensors(x, y, z), rand(3, 1), rand(4), rand(2, 1, 1))
    case("take", lambda x, i: torch.take(x, i), rand(3, 4), ints(2, 3, high=12, low=-12))
    case("unique", lambda x: torch.unique(x, return_inverse=True, return_counts=True), ints(3, 4, high=5))


def systems():
    """Inverses, determinants and solutions; rows that have to be exchanged; several matrices at once."""
    a = rand(2, 3, 4, 4)
    turned = torch.tensor([[0.0, 2, 1], [1, 0, 0], [0, 0.5, 3]])
    for k, m in enumerate((a, turned, rand(1, 1) + 3, rand(9, 9))):
        case(f"inverse-{k}", lambda m: (torch.linalg.inv(m), torch.inverse(m), torch.linalg.det(m)), m)
    case("solve", lambda m, b, v: (torch.linalg.solve(m, b), torch.linalg.solve(m[0, 0], v)), a, rand(3, 4, 2), rand(4))
    case("solve-vectors", lambda m, v: torch.linalg.solve(m, v), a, rand(2, 3, 4))


def regions():
    """A mean of as many samples as a region is pixels long, the largest of whole pixels, and what suppression leaves."""
    from torchvision import ops
    x = rand(2, 3, 9, 11)
    rois = torch.tensor([[0, 0.4, 1.2, 8.6, 7.7], [1, 3, 2, 3.4, 2.2], [0, -3.5, -2, 30, 40], [1, 6, 6, 2, 3]])
    for aligned in (False, True):
        case(f"roi-align-as-many-{aligned:d}", lambda x, r, aligned=aligned: ops.roi_align(x, r, (3, 4), 0.75, -1, aligned), x, rois)
    case("roi-pool", lambda x, r: ops.roi_pool(x, r, (3, 2), 0.75), x, rois)
    corner = torch.rand(12, 2)
    boxes, scores = torch.cat([corner, corner + torch.rand(12, 2) * 0.8], 1), rand(12)
    case("nms", lambda b, s: ops.nms(b, s, 0.3), boxes, scores)
    case("nms-rows", lambda b, s: b[ops.nms(b, s, 0.3)], boxes, scores)


def pictures():
    """Operators of torchvision, where that is installed."""
    import torchvision.ops as ops
    rois = torch.tensor([[0.0, 0.5, 1.0, 3.5, 4.0], [1.0, -1.0, 0.0, 2.0, 6.5]])
    for aligned in (True, False):
        case(f"roi_align-{aligned}", lambda x, r, a=aligned: ops.roi_align(x, r, (2, 3), 0.5, 2, a), rand(2, 3, 6, 7), rois)
    case("deform_conv2d", lambda x, o, w, b, m: ops.deform_conv2d(x, o, w, b, padding=1, mask=m), rand(1, 2, 5, 6), rand(1, 18, 5, 6),
         rand(3, 2, 3, 3), rand(3), rand(1, 9, 5, 6))


def quantisers():
    """What PyTorch's own quantisation leaves in a graph."""
    from torch.ao.quantization.fx import _decomposed  # noqa: F401  registers the operators
    q = torch.ops.quantized_decomposed

    def tensor(x, least, most, dtype):
        stored = q.quantize_per_tensor(x, 0.05, 3, least, most, dtype)
        return stored, q.dequantize_per_tensor(stored, 0.05, 3, least, most, dtype)
    case("quantize-int8", lambda x: tensor(x, -128, 127, torch.int8), rand(4, 6) * 4)
    case("quantize-narrow", lambda x: tensor(x, -127, 127, torch.int8), rand(4, 6) * 4)
    case("quantize-uint8", lambda x: tensor(x, 0, 255, torch.uint8), rand(4, 6) * 4)
    case("quantize-channels", lambda x, s, z: q.dequantize_per_channel(
        q.quantize_per_channel(x, s, z, 1, -127, 127, torch.int8), s, z, 1, -127, 127, torch.int8),
        rand(4, 3) * 4, torch.tensor([0.05, 0.02, 0.1]), torch.zeros(3, dtype=torch.int64))

    def chosen(choose, x, least, most, dtype):
        scale, zero = choose(x, least, most, 1e-6, dtype)
        stored = q.quantize_per_tensor.tensor(x, scale, zero, least, most, dtype)
        return scale, zero, stored, q.dequantize_per_tensor.tensor(stored, scale, zero, least, most, dtype)
    case("quantize-chosen", lambda x: chosen(q.choose_qparams.tensor, x, 0, 255, torch.uint8), rand(4, 6) + 0.5)
    case("quantize-chosen-above", lambda x: chosen(q.choose_qparams.tensor, x, -128, 127, torch.int8), torch.rand(4, 6) + 0.5)
    case("quantize-chosen-even", lambda x: chosen(q.choose_qparams_symmetric.tensor, x, -127, 127, torch.int8), rand(4, 6) + 0.5)
    case("quantize-chosen-even-uint8", lambda x: chosen(q.choose_qparams_symmetric.tensor, x, 0, 255, torch.uint8), rand(4, 6))


def quantised_blocks():
    """What torchao leaves in a graph."""
    from torchao.quantization.quant_primitives import MappingType, choose_qparams_affine, dequantize_affine, quantize_affine

    def by(mapping, block, dtype, *limits, **words):
        def blocks(x):
            scale, zero = choose_qparams_affine(x, mapping, block, dtype, *limits, **words)
            stored = quantize_affine(x, block, scale, zero, dtype, *limits)
            return scale, zero, stored, dequantize_affine(stored, block, scale, zero, dtype, *limits)
        return blocks
    x = rand(2, 4, 6) + 0.5
    case("torchao-rows", by(MappingType.ASYMMETRIC, (1, 1, 6), torch.int8, zero_point_dtype=torch.int8), x)
    case("torchao-even", by(MappingType.SYMMETRIC, (1, 4, 6), torch.int8, -127, 127, eps=1e-5), x)
    case("torchao-groups", by(MappingType.SYMMETRIC_NO_CLIPPING_ERR, (1, 1, 3), torch.int8, -8, 7, zero_point_dtype=torch.int64), x)
    case("torchao-kept", by(MappingType.ASYMMETRIC, (2, 2, 6), torch.uint8, keepdim=True), x)
    case("torchao-whole", by(MappingType.ASYMMETRIC, (2, 4, 6), torch.uint8), x)
    case("int_mm", torch._int_mm, ints(17, 8, high=127, low=-127).to(torch.int8), ints(8, 16, high=127, low=-127).to(torch.int8))
    case("torchao-weights", lambda x, w, s: F.linear(x, dequantize_affine(w, (1, 6), s, None, torch.int8)), x,
         weights=[ints(5, 6, high=127, low=-127).to(torch.int8), torch.rand(5)])


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        return self.inner(x, x, x, need_weights=False)[0]


class InPlace(nn.Module):
    def forward(self, x):
        y = x * 2
        y.add_(1)
        z = y + 0
        z[:, 1:3] = 7.0
        z[0].mul_(3)
        z[:, 0].copy_(y[:, 1])
        return F.relu(y, inplace=True), z


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x):
        self.seen.mul_(0.5).add_(x.mean(0))
        return x - self.seen


def states():
    case("in_place", None, rand(2, 4), module=InPlace())
    case("counter", None, rand(3, 4), module=Counter())


def numpy_of(t):
    return t.detach().contiguous().numpy()


def flat(out):
    return [t for o in out for t in flat(o)] if isinstance(out, (tuple, list)) else [out]


def export(name, module, inputs, core, archive):
    with torch.set_grad_enabled(not isinstance(module, Encoder)):
        program = torch.export.export(module, inputs, strict=isinstance(module, Encoder))
    if core:
        program = program.run_decompositions()
    expected = flat(module(*[x.clone() for x in inputs]) if name != "counter" else Counter()(*inputs))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.pt2"
        torch.export.save(program, str(path))
        with zipfile.ZipFile(path) as z:
            for member in z.namelist():
                part = member.split("/", 1)[1]
                if not part.startswith(("models/", "data/weights/", "data/constants/")):
                    continue
                data = z.read(member)
                if part == "models/model.json":
                    data = slim(json.loads(data))
                archive[f"{name}/{part}"] = data
    for i, x in enumerate(inputs):
        archive[f"{name}/in{i}.npy"] = saved(numpy_of(x))
    for i, y in enumerate(expected):
        archive[f"{name}/out{i}.npy"] = saved(numpy_of(y))


def slim(model):
    """Without stack traces and what else no reader needs."""
    waiting = [model["graph_module"]["graph"]]
    for graph in waiting:
        for node in graph["nodes"]:
            node["metadata"] = {}
            waiting += [a["arg"]["as_graph"]["graph"] for a in node["inputs"] if "as_graph" in a["arg"]]
    return json.dumps(model, separators=(",", ":")).encode()


def targets(archive, name):
    about = json.loads(archive.get(name + "/models/model.json", "{}"))
    return [node["target"] for node in about["graph_module"]["graph"]["nodes"]] if about else None


def saved(array):
    to = io.BytesIO()
    np.save(to, array)
    return to.getvalue()


class Ungraded(nn.Module):
    """Parts under no_grad become graphs within the graph; one reads a view, and one has another inside."""

    def forward(self, x, y):
        z = x + y
        with torch.no_grad():
            a = z.t() * 2
            b = a - y.t()
        c = torch.relu(b) + a
        with torch.no_grad():
            d = c.exp()
            with torch.enable_grad():
                e = d * c
            f = e - d
        return f, a


def in_library_models():
    case("diff", lambda x: x.diff(), rand(*X))
    case("diff-twice", lambda x, p: x.diff(n=2, dim=0, prepend=p), rand(4, 3), rand(1, 3))
    case("diff-both", lambda x, p, q: x.diff(prepend=p, append=q), ints(2, 4), ints(2, 1), ints(2, 2))
    case("diff-bool", lambda x: x.diff(dim=0), ints(5, 2, high=2).bool())
    case("cat-empty", lambda x: torch.cat([torch.zeros(0), x], dim=-2), rand(1, 2, 3, 4))
    case("weight_norm", lambda x, v, g: F.conv1d(x, torch._weight_norm(v, g, 2)), rand(1, 3, 9), weights=[rand(4, 3, 5), torch.rand(1, 1, 5)])
    case("weight_norm-all", lambda x, v, g: x @ torch._weight_norm(v, g, -1), rand(2, 3), weights=[rand(3, 5), torch.rand(1)])
    case("im2col", lambda x: F.unfold(x, (3, 2), dilation=(1, 2), padding=(1, 2), stride=(2, 1)), rand(2, 3, 6, 5))
    case("im2col-single", lambda x: F.unfold(x, 2, stride=2), rand(3, 4, 6))
    case("no_grad", None, rand(2, 3), rand(2, 3), module=Ungraded())


class Mixer(nn.Module):
    """What FNet has for attention: the real part of a transform over tokens and features."""

    def forward(self, x):
        return torch.fft.fftn(x, dim=(1, 2)).real


def rotate(x, angles):
    """Pairs of x turned in the complex plane, as Llama's first code has it."""
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def complex_numbers():
    real, flat = torch.view_as_real, torch.fft
    case("fft-mixer", None, rand(2, 6, 5), module=Mixer())
    case("fft", lambda x: real(flat.fft(x)), rand(3, 7))
    case("fft-length", lambda x: real(flat.fft(x, n=9, dim=0, norm="ortho")), rand(3, 7))
    case("fft-short", lambda x: real(flat.fft(x, n=4, norm="forward")), rand(3, 7))
    case("fft2", lambda x: flat.fft2(x, norm="ortho").imag, rand(2, 4, 5))
    case("ifft-of-fft", lambda x: flat.ifft(flat.fft(x) * 2.0).real, rand(3, 6))
    case("ifft2-forward", lambda x: flat.ifft2(x, norm="forward").abs(), rand(2, 4, 5))
    case("rfft", lambda x: flat.rfft(x).abs(), rand(3, 8))
    case("rfft2", lambda x: real(flat.rfft2(x)), rand(2, 4, 6))
    case("irfft", lambda x: flat.irfft(flat.rfft(x)), rand(3, 8))
    case("irfft-odd", lambda x, w: flat.irfft(flat.rfft(x, norm="ortho") * w, n=7, norm="ortho"), rand(3, 7), weights=[torch.rand(4)])
    case("rotate", rotate, rand(2, 5, 3, 8), rand(5, 1, 4))
    case("complex-product", lambda a, b, c, d: real(torch.complex(a, b) * torch.complex(c, d).conj()), *(rand(3, 4) for _ in range(4)))
    case("complex-sum", lambda a, b: real(torch.complex(a, b) + torch.complex(b, a)), rand(3, 4), rand(3, 4))


class Cells(nn.Module):
    """Layers one step at a time, with rows and with a single one."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(3, 4), nn.GRUCell(4, 4), nn.RNNCell(4, 2, bias=False)

    def forward(self, x):
        h, c = self.lstm(x)
        h, c = self.lstm(x * 2, (h, c))
        return self.rnn(self.gru(h, c)), self.gru(h[0], c[0])


class Rotary(nn.Module):
    """Llama's first code: a table of complex numbers, cut, turned into shape and multiplied."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.polar(torch.ones(6, 4), torch.rand(6, 4)))

    def forward(self, x):
        pairs = torch.view_as_complex(x.reshape(2, 5, 3, 4, 2))
        turned = pairs * self.table[1:6].view(1, 5, 1, 4)
        return torch.view_as_real(turned).flatten(3), torch.view_as_real(turned.mean(1) / 2)


def steps():
    case("lstm-projected", None, rand(5, 2, 3), module=nn.LSTM(3, 6, num_layers=2, proj_size=4, bidirectional=True))
    case("lstm-projected-long", None, rand(2, 20, 3), module=nn.LSTM(3, 6, proj_size=2, batch_first=True, bias=False, bidirectional=True))
    case("cells", None, rand(2, 3), module=Cells())
    runs = torch.tensor([[1.0, 3.0, 3.0, 2.0, 5.0, 5.0, -1.0], [-math.inf, -math.inf, 0.0, -2.0, math.nan, 9.0, 1.0]])
    for name in ("cummax", "cummin"):
        case(name, lambda x, f=getattr(torch, name): f(x, 1), runs)
        case(name + "-int", lambda x, f=getattr(torch, name): f(x, 0), ints(6, 3, low=-9, high=9))
    case("logcumsumexp", lambda x: x.logcumsumexp(1), torch.cat([rand(2, 9) * 9, torch.full((1, 9), -math.inf)]))


def signals():
    real = torch.view_as_real
    hann = torch.hann_window(8)

    def stft(x, w, **about):
        return torch.stft(x, 8, 3, window=w, return_complex=True, **about)
    case("stft", lambda x, w: real(stft(x, w)), rand(2, 29), hann)
    case("stft-single", lambda x, w: stft(x, w, center=False, normalized=True).abs(), rand(29), hann)
    case("stft-short-window", lambda x, w: real(torch.stft(x, 9, 4, 6, w, onesided=False, pad_mode="constant", return_complex=True)), rand(2, 30), hann[:6])
    case("stft-angle", lambda x, w: stft(x, w)[:, 1:4].angle(), rand(2, 29), hann)
    case("istft", lambda x, w: torch.istft(stft(x, w) * 2.0, 8, 3, window=w), rand(2, 29), hann)
    case("istft-length", lambda x, w: torch.istft(torch.stft(x, 8, 2, 6, w, normalized=True, return_complex=True), 8, 2, 6, w, normalized=True, length=25),
         rand(26), torch.hamming_window(6))
    case("windows", lambda x: (x * torch.hann_window(7), x * torch.hamming_window(7, periodic=False), x * torch.blackman_window(7)), rand(7))
    case("rotary-table", None, rand(2, 5, 3, 8), module=Rotary())
    case("complex-moved", lambda a, b: real(torch.cat([torch.complex(a, b).t(), torch.complex(b, a).t()[:2].neg()]).unsqueeze(1).sum(2)), rand(3, 4), rand(3, 4))


def algebra():
    for n in "atleast_1d atleast_2d atleast_3d".split():
        case(n, lambda a, b, f=getattr(torch, n): f(a, b), rand(3), rand(2, 3))
    for n in "hstack vstack dstack column_stack".split():
        case(n, lambda a, b, c, d, f=getattr(torch, n): (f([a, b]), f([c, d])), rand(3), rand(3), rand(2, 3), rand(2, 3))
    case("bilinear", None, rand(2, 3, 4), rand(2, 3, 5), module=nn.Bilinear(4, 5, 3))
    case("tensordot", lambda a, b: torch.tensordot(a, b, dims=([2, 0], [0, 1])), rand(2, 3, 4), rand(4, 2, 5))
    case("inner", torch.inner, rand(2, 3), rand(4, 3))
    case("kron", torch.kron, rand(2, 3), rand(2, 2))
    case("addmv", lambda b, m, v: torch.addmv(b, m, v, beta=0.5, alpha=2), rand(3), rand(3, 4), rand(4))
    case("addr", lambda b, v, w: torch.addr(b, v, w, alpha=2), rand(3, 4), rand(3), rand(4))
    case("addbmm", lambda b, x, y: torch.addbmm(b, x, y, beta=0.5), rand(3, 5), rand(2, 3, 4), rand(2, 4, 5))
    case("diag", lambda x, v: (x.diag(1), v.diag(-1)), rand(4, 3), rand(3))
    case("diag_embed", lambda x: (torch.diag_embed(x), torch.diag_embed(x, 2)), rand(2, 3))
    case("trace", lambda x, i: (x.trace(), i.trace()), rand(3, 4), ints(4, 3))
    case("flips", lambda x: (x.fliplr(), x.flipud()), rand(3, 4))
    case("isin", lambda x: (torch.isin(x, torch.tensor([1, 3])), torch.isin(x, torch.tensor([1, 3]), invert=True)), ints(3, 4))
    case("isclose", lambda x, y: torch.isclose(x, y, rtol=0.1), torch.tensor([1.0, 2.0, math.inf, math.inf, math.nan]), torch.tensor([1.05, 2.5, math.inf, 1.0, math.nan]))
    case("kthvalue", lambda x: x.kthvalue(2, 1, True), rand(3, 5))
    case("median", lambda x: (x.median(), x.median(1)), rand(3, 6))
    case("aminmax", lambda x: (*torch.aminmax(x), *torch.aminmax(x, dim=1, keepdim=True)), rand(3, 4))
    case("norms", lambda x: (x.norm(), x.norm(3, 1), x.norm(dim=(0, 1)), torch.linalg.norm(x), torch.linalg.matrix_norm(x), torch.linalg.vector_norm(x, -math.inf, 1)), rand(3, 4))
    case("distances", lambda x, y: (torch.dist(x, y, 3), F.pairwise_distance(x, y), F.pdist(x)), rand(4, 5), rand(4, 5))
    case("max_unpool", lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), rand(1, 2, 4, 6))
    case("scatter-reduce-word", lambda x, i, s: (x.scatter(0, i, s, reduce="multiply"), x.scatter(0, i, 2.0, reduce="add")), rand(3, 2), ints(4, 2, high=3), rand(4, 2))
    case("repeat_interleave-list", lambda x, n: x.repeat_interleave(n, 1), rand(2, 3), weights=[torch.tensor([2, 0, 3])])
    case("as_strided", lambda x: (x * 2).as_strided((3, 4), (2, 1), 1), rand(12))
    case("index_put-rows", lambda x, m, v: torch.index_put(x, (m,), v), rand(4, 3), torch.tensor([1, 0, 1, 0]).bool(), rand(2, 3))
    case("index_put-row", lambda x, m, v: torch.index_put(x, (m,), v), rand(4, 3), torch.tensor([1, 0, 1, 0]).bool(), rand(3))
    pair = torch.tensor([-2.0, -0.0, 0.0, 3.0, math.nan, math.inf, -math.inf]), torch.tensor([3.0, -1.0, 2.0, -0.5, 1.0, math.inf, 2.0])
    for name in "copysign fmax fmin hypot ldexp logaddexp logaddexp2".split():
        case(name, getattr(torch, name), *pair)
    case("xlogy", lambda x, y: (torch.xlogy(x, y), torch.special.xlog1py(x, y)), torch.tensor([0.0, 2.0, -1.0, 0.0]), torch.tensor([0.0, 3.0, 0.5, math.nan]))
    case("sinc", lambda x: (torch.sinc(x), torch.deg2rad(x), torch.rad2deg(x)), torch.tensor([0.0, 0.5, -1.25, 2.0]))
    case("signs", lambda x: (torch.signbit(x), torch.isposinf(x), torch.isneginf(x)), pair[0])


class Gate(nn.Module):
    """A branch with weights of its own, and branches within branches."""
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x):
        inner = lambda x: torch.cond(x[0, 0] > 1, lambda x: self.a(x), lambda x: -self.a(x), (x,))
        return torch.cond(x.sum() > 0, inner, lambda x: self.b(x).relu(), (x,))


class Spectral(nn.Module):
    """A layer of Fourier neural operators: the low frequencies mixed by complex weights, in place into zeros."""
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3, 5, 2, 2, dtype=torch.cfloat))

    def forward(self, x):
        seen = torch.fft.rfft2(x)
        out = torch.zeros(x.shape[0], 5, x.shape[2], x.shape[3] // 2 + 1, dtype=torch.cfloat)
        out[:, :, :2, :2] = torch.einsum("bixy,ioxy->boxy", seen[:, :, :2, :2], self.w)
        out[:, :, -2:, :2] = torch.einsum("bixy,ioxy->boxy", seen[:, :, -2:, :2], self.w)
        return torch.fft.irfft2(out, s=x.shape[2:])


class Diagonal(nn.Module):
    """The kernel of a diagonal state space (S4D)."""
    def __init__(self):
        super().__init__()
        self.c, self.a = nn.Parameter(torch.randn(3, 4, dtype=torch.cfloat)), nn.Parameter(torch.randn(3, 4))
        self.turn, self.step = nn.Parameter(torch.randn(3, 4)), nn.Parameter(torch.rand(3))

    def forward(self, u):
        a = -torch.exp(self.a) + 1j * self.turn
        at = a * self.step.unsqueeze(-1)
        power = torch.exp(at.unsqueeze(-1) * torch.arange(6))
        k = 2 * torch.einsum("hn,hnl->hl", self.c * (torch.exp(at) - 1.0) / a, power).real
        return torch.fft.irfft(torch.fft.rfft(u, n=12) * torch.fft.rfft(k, n=12), n=12)[..., :6]


def complex_layers():
    pairs = lambda *shape: torch.complex(rand(*shape), rand(*shape))
    case("spectral", None, rand(2, 3, 6, 8), module=Spectral())
    case("diagonal-states", None, rand(2, 3, 6), module=Diagonal())
    case("complex-ports", lambda z, w: (z * w, z.abs(), z.conj() + w), pairs(2, 3), pairs(3))
    case("complex-products", lambda z, w, x: (z @ w, torch.mm(x.to(z.dtype), w), torch.einsum("ij,jk->ki", z, w), w @ x[0].to(z.dtype)),
         pairs(2, 3), pairs(3, 3), rand(3, 3))
    case("complex-quotients", lambda z, w, x: (z / w, x / z, z / x, z.reciprocal(), z - x, z + 1, z * (2 - 1j), torch.exp(z), torch.sub(z, w, alpha=2)),
         pairs(2, 3), pairs(3), rand(3))
    def written(z, w):
        y = torch.zeros_like(z)
        y[1] = w
        y.t()[0] *= w[:2]
        y[:, 1:].add_(z[:, 1:])
        return y
    case("fft-sizes", lambda x, z: (torch.fft.irfftn(z, s=(4, 6)), torch.fft.irfft2(z), torch.fft.rfftn(x, s=(3, 8)).abs(), torch.fft.fftn(x, s=(5,), dim=(1,)).real),
         rand(2, 4, 5), pairs(2, 4, 3))
    case("fft-shift", lambda x, z: (torch.fft.fftshift(x), torch.fft.ifftshift(x, dim=(1,)), torch.fft.fftshift(z)), rand(3, 5), pairs(4, 3))
    case("complex-writes", written, pairs(2, 3), pairs(3))


def graphs():
    both = lambda x: torch.cond(x.mean() > 0, lambda x: (x.sin() * 2, x[0] * 3), lambda x: (x - 1, x.flip(0)[0] * 2), (x,))
    case("cond", both, rand(3, 4).abs())
    case("cond-not", both, -rand(3, 4).abs())
    case("cond-beside", lambda x, y: torch.cond(x[0] > y[0], lambda x, y: x / 2, lambda x, y: y * 2, (x, y)) + x, rand(5), rand(5))
    for k, x in enumerate((rand(2, 4).abs() + 1.5, rand(2, 4).abs() * 0.1, -rand(2, 4).abs())):
        case(f"cond-weights-{k}", None, x, module=Gate())
    sized = lambda x: torch.cond(x.sum() > 0, lambda x: x[:3] * 2, lambda x: x[1:2] - 1, (x,))
    for word, x in (("", rand(4, 3).abs()), ("-not", -rand(4, 3).abs())):
        case("cond-sized" + word, sized, x)
        case("cond-sized-chain" + word, lambda x, w: (sized(x).relu() @ w).t().unsqueeze(0), x, rand(3, 2))
        case("cond-sized-sums" + word, lambda x: (sized(x).mean(0), sized(x)[:, 1].exp(), sized(x).softmax(1)), x)
        case("cond-sized-view" + word, lambda x: sized(x).view(-1, 3, 1).sum(1), x)
    turns = lambda n, x: while_loop(lambda i, x: i < n[0], lambda i, x: (i + 1, (x * 1.5).sin()), (torch.zeros((), dtype=torch.int64), x))
    case("while", turns, torch.tensor([5]), rand(2, 3))
    case("while-never", turns, torch.tensor([0]), rand(2, 3))
    case("while-data", lambda x: while_loop(lambda x, k: x.sum() < 50, lambda x, k: (x * k, k + x.mean()), (x, x[0] + 1)), rand(3).abs() + 0.5)
    for n in (1, 5, 20): # written out; a Loop
        case(f"map-{n}", lambda x, y: map_rows(lambda x, y: (x.softmax(-1) + y, x.sum()), x, y), rand(n, 3), rand(3))
        case(f"map-two-{n}", lambda x, z: map_rows(lambda p: p[0] @ p[1], (x, z)), rand(n, 2, 3), rand(n, 3))
        case(f"scan-{n}", lambda h, x, w: scan(lambda h, x: ((h @ w + x).tanh(), h * 2 + x), h, x), rand(4), rand(n, 4), rand(4, 4))
        case(f"scan-states-{n}", lambda h, i, x: scan(lambda c, x: ((c[0] * 0.5 + x[0].sum(), c[1] + 1), (c[0] - c[1], x[1] * 1)), (h, i), (x, x + 1), reverse=True),
             rand(3), ints(), rand(n, 3))
    for n in (1, 2, 3, 7, 16):
        case(f"associative-{n}", lambda x: associative_scan(lambda a, b: a + b, x, 0, combine_mode="pointwise"), rand(n, 3))
        case(f"associative-pairs-{n}", lambda a, x, n=n: associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, x), 1, reverse=n % 2 == 1, combine_mode="pointwise"),
             rand(2, n, 3), rand(2, n, 3))


class Encoder(nn.Module):
    """Layers without gradients: each is one operator, where Python's own bytes are traced (strict)."""
    def __init__(self, mask, **how):
        super().__init__()
        self.layer, self.mask = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, **how), mask
        self.requires_grad_(False)

    def forward(self, x, *mask):
        return self.layer(x, **dict(zip([self.mask], mask)))


def bits_in_place(x):
    y = x.clone()
    y &= 13
    y |= 2
    y ^= 9
    y <<= 1
    return y


def in_public_models():
    x, seen = rand(2, 5, 8), torch.tensor([[0, 0, 0, 0, 1], [0, 0, 0, 1, 1]]).bool()
    case("encoder-layer", None, x, module=Encoder(None).eval())
    case("encoder-layer-before", None, x, module=Encoder(None, norm_first=True, activation="gelu").eval())
    case("encoder-layer-square", None, x, torch.ones(5, 5).triu(1).bool(), module=Encoder("src_mask").eval())
    case("encoder-layer-floats", None, x, nn.Transformer.generate_square_subsequent_mask(5), module=Encoder("src_mask").eval())
    case("encoder-layer-padding", None, x, seen, module=Encoder("src_key_padding_mask").eval())
    case("standardised", lambda x, w: F.conv2d(x, F.batch_norm(w.reshape(1, 3, -1), None, None, training=True, momentum=0.0, eps=1e-6).reshape(w.shape)),
         rand(2, 4, 5, 6), weights=[rand(3, 4, 2, 2)])
    case("rnn-relu", None, rand(2, 5, 3), module=nn.RNN(3, 4, 2, nonlinearity="relu", batch_first=True, bidirectional=True))
    whole = torch.tensor([-(2**63), -5, -1, 0, 1, 2**62 + 1])
    for by in (0, 1, 31, 32, 62, 63, 64, -1):
        case(f"shift-{by}", lambda x, i, b, by=by: (x << by, x >> by, i << by, i >> by, b << max(by, 0), b >> max(by, 0)), whole,
             whole.clamp(-9, 9).int(), torch.tensor([0, 1, 200, 255], dtype=torch.uint8))
    case("bits-in-place", bits_in_place, ints(7, high=99))
    case("tensor_split", lambda x: (*x.tensor_split(3, 1), *x.tensor_split((1, 3), 1)), rand(2, 5))


def resampled():
    """Sizes that are not integer multiples of each other, and axes whose size does not change although a factor is given."""
    sizes = {1: (2, 3, 9), 2: (1, 2, 9, 6), 3: (1, 2, 5, 4, 6)}
    modes = {1: ("nearest", "nearest-exact", "linear"), 2: ("nearest", "nearest-exact", "bilinear", "bicubic"), 3: ("nearest", "nearest-exact", "trilinear")}
    for n, names in modes.items():
        for mode in names:
            for corners in (None,) if mode.startswith("nearest") else (False, True):
                for factor in (1.1, 0.7, 2.5):
                    case(f"resample-{n}-{mode}-{corners}-{factor}", lambda x, m=mode, c=corners, f=factor: F.interpolate(x, scale_factor=f, mode=m, align_corners=c), rand(*sizes[n]))
    x = rand(1, 2, 9, 6)
    case("resample-recomputed", lambda x: F.interpolate(x, scale_factor=2.5, mode="bilinear", recompute_scale_factor=True), x)
    case("resample-area", lambda x: F.interpolate(x, scale_factor=0.7, mode="area"), x)
    for mode in ("bilinear", "bicubic"):
        for corners in (False, True):
            case(f"resample-filtered-{mode}-{corners}", lambda x, m=mode, c=corners: (F.interpolate(x, scale_factor=1.1, mode=m, antialias=True, align_corners=c), F.interpolate(x, (5, 13), mode=m, antialias=True, align_corners=c)), x)
    for pad in ("zeros", "border", "reflection"):
        for corners in (False, True):
            case(f"grid-bicubic-{pad}-{corners}", lambda x, g, p=pad, c=corners: F.grid_sample(x, g, "bicubic", p, c), rand(2, 2, 5, 7), torch.rand(2, 6, 6, 2) * 4 - 2)


def promoted():
    """Numbers and tensors of unequal types together, and tensors without dimensions."""
    kinds = [torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bool]
    many = [(rand(3) * 3).to(t) if t.is_floating_point else ints(3, high=2 if t == torch.bool else 7).to(t) for t in kinds]
    lone = [x[1].clone() for x in many]
    pairs = lambda f, a, b: tuple(f(x, y) for x in a for y in b)
    for name, f in (("add", torch.add), ("mul", torch.mul), ("div", torch.div), ("where", lambda x, y: torch.where(torch.tensor([True, False, True]), x, y)), ("maximum", torch.maximum)):
        case(f"types-{name}", lambda *a, f=f: pairs(f, a[:6], a[:6]), *many)
        case(f"types-{name}-lone", lambda *a, f=f: pairs(f, a[:6], a[6:]), *many, *lone)
        case(f"types-{name}-numbers", lambda *a, f=f: tuple(y for x in a for n in (2, 2.5, True) for y in (f(x, n), f(n, x))), *many)
    case("types-div-negative", lambda x: (x / -3, -3 / x.clamp(1, 9)), many[4])
    case("types-cat", lambda *a: (torch.cat(a), torch.stack(a), torch.hstack(a), torch.cat(a[2:5])), *many)
    case("types-where-numbers-alone", lambda m: (torch.where(m, 1, 0), torch.where(m, True, False), torch.where(m, 1.5, 0), torch.where(m, 2, True)), many[5])
    case("types-clamp", lambda x: (x.clamp(0.5, 3.5), x.clamp(1, 3), x.clamp(min=1.5)), many[2])
    case("types-reduced", lambda b, i: (b.any(), b.all(0), i.logsumexp(0), torch.fmax(i, i * 2), torch.nan_to_num(i), i.sort()[0], torch.squeeze(i[:1, None], ())), many[4], many[2])
    case("types-isin", lambda i, f, b: (torch.isin(2, i), torch.isin(i, f), torch.isin(f, i), torch.isin(i, 2.5), b.clamp(-1, 2), torch.clamp_min(b, -3)), many[2], torch.tensor([1.0, 2.5, 3.0]), many[4])
    case("types-made", lambda x: (torch.full((2,), 3), torch.full((2,), True), torch.arange(4), torch.arange(4.0), torch.scalar_tensor(2), torch.full_like(x, 2.5), x.new_full((2,), 2)), many[0])
    case("lone-moves", lambda a: (a.softmax(0), a.log_softmax(0), a.cumsum(0), *a.sort(0), *a.topk(1), a.argsort(), *a.max(0), *a.min(0), *a.cummax(0), a.logcumsumexp(0), *a.median(0), *a.kthvalue(1, 0)), torch.tensor(1.5))
    case("lone-places", lambda a: (a.gather(0, torch.tensor([0, 0])), a.index_add(0, torch.tensor([0]), torch.tensor([2.0])), a.scatter(0, torch.tensor(0), 5.0), a.unfold(0, 1, 1), a.view(1).index_select(0, torch.tensor(0))), torch.tensor(1.5))


def derived():
    """What PyTorch makes of other operators."""
    x, y, t, p, w = rand(4, 5), rand(4, 5), torch.tensor([1, 4, -100, 0]), torch.rand(4, 5), torch.rand(5)
    signs = torch.where(y > 0, 1.0, -1.0)
    for how in ("mean", "sum", "none"):
        case(f"loss-classes-{how}", lambda x, t, w, y, h=how: (F.cross_entropy(x, t, reduction=h), F.cross_entropy(x, t, w, reduction=h, label_smoothing=0.1), F.cross_entropy(x, y.softmax(1), w, reduction=h, label_smoothing=0.2),
                                                           F.nll_loss(x.log_softmax(1), t, w, reduction=h)), x, t, w, y)
        case(f"loss-binary-{how}", lambda x, p, w, h=how: (F.binary_cross_entropy(x.sigmoid(), p, w, reduction=h), F.binary_cross_entropy_with_logits(x * 5, p, pos_weight=w, reduction=h)), x, p, w)
        case(f"loss-apart-{how}", lambda x, y, h=how: (F.mse_loss(x, y, reduction=h), F.l1_loss(x, y, reduction=h), F.smooth_l1_loss(x, y, beta=0.3, reduction=h), F.huber_loss(x, y, reduction=h)), x, y)
        case(f"loss-others-{how}", lambda x, p, s, h=how: (F.kl_div(x, p, reduction=h), F.kl_div(x, p, log_target=True, reduction=h), F.poisson_nll_loss(x, p * 3, full=True, reduction=h), F.soft_margin_loss(x, s, reduction=h),
                                                        F.hinge_embedding_loss(x, s, reduction=h), F.margin_ranking_loss(x, p, s, margin=0.3, reduction=h), F.triplet_margin_loss(x, p, s, swap=True, reduction=h)), x, p, signs)
    case("loss-image", lambda x, t: F.cross_entropy(x, t), rand(2, 5, 3, 4), ints(2, 3, 4))
    z = rand(3, 4, 5)
    for how in ("linear", "lower", "higher", "nearest", "midpoint"):
        case(f"quantile-{how}", lambda x, h=how: (torch.quantile(x, 0.3, interpolation=h), torch.quantile(x, torch.tensor([0.1, 0.55, 1.0]), dim=1, interpolation=h), torch.quantile(x, 0.25, dim=0, keepdim=True, interpolation=h)), z)
    case("rot90", lambda x: tuple(x.rot90(k, (1, 2)) for k in (-1, 0, 1, 2, 3)), z)
    case("orders", lambda x: (torch.msort(x), torch.renorm(x, 2, 1, 1.5), torch.linalg.vector_norm(x, 0, 1), torch.linalg.vector_norm(x, -1), torch.linalg.vector_norm(x, 0.5)), z)
    case("areas", lambda a, b: (torch.trapezoid(a), torch.trapezoid(a, b[0]), torch.trapezoid(a, dx=0.5, dim=0), torch.cumulative_trapezoid(a, b)), x, y)
    case("products-of-many", lambda a, b: (torch.vdot(a[0], b[0]), torch.linalg.vecdot(a, b, dim=0), torch.linalg.multi_dot([a, b.T, a]), torch.cartesian_prod(a[0], b[1]), torch.block_diag(a, b[0], torch.tensor(2.0))), x, y)
    case("round-decimals", lambda x: (torch.round(x, decimals=2), torch.round(x * 1000, decimals=-2), torch.float_power(x.abs(), 2.5), torch.heaviside(x, x * 2), F.rrelu(x, training=False)), x)
    nan = x.clone()
    nan[1, 2] = math.nan
    case("nan-sums", lambda x: (torch.nansum(x, 1), torch.nanmean(x), torch.isclose(x, x, equal_nan=True)), nan)
    image = rand(3, 7, 8)
    case("pool-lone", lambda a: (F.max_pool2d(a, 2), F.avg_pool2d(a, 2), F.adaptive_avg_pool2d(a, 3), F.adaptive_max_pool2d(a, (4, 3)), F.conv2d(a, torch.ones(2, 3, 2, 2))), image)
    case("pool-divisor", lambda a: (F.avg_pool2d(a, 3, 2, 1, divisor_override=4), F.avg_pool2d(a, 3, 2, 1, ceil_mode=True, divisor_override=5)), image[None])
    case("integer-windows", lambda a: (F.avg_pool2d(a, 3, 2, 1), F.avg_pool2d(a, 2, count_include_pad=False), F.conv2d(a, torch.arange(16).view(2, 2, 2, 2))), ints(1, 2, 6, 7, low=-9, high=9))
    case("meshgrid-three", lambda a, b, c: torch.meshgrid(a, b, c, indexing="xy"), rand(2), rand(3), rand(4))
    case("split-by-axis", lambda a, b, s: (*torch.hsplit(a, 2), *torch.vsplit(a, [1, 3]), *torch.dsplit(a, 4), F.cosine_embedding_loss(a[:, 0], b, s, margin=0.1)), rand(4, 6, 8), rand(4, 8), torch.tensor([1.0, -1, 1, -1]))
    case("pool-integers", lambda a: (F.max_pool2d(a, 3, 2, 1), F.max_pool2d(a, 2, ceil_mode=True), F.max_pool2d(a.int(), 3, 1, 1, 2)), ints(1, 2, 7, 9, low=-99, high=99))


def main(*words):
    """words: of the beginnings of names, to make these alone; the others stay as they are in the file."""
    torch.manual_seed(8)
    for make in (unary, binary, shapes, makers, indexing, reductions, products, layers, states,
                 in_library_models, complex_numbers, sets, lately, systems, regions, pictures, quantisers, quantised_blocks, steps, signals, algebra, complex_layers, graphs, in_public_models, resampled, promoted, derived):
        make()
    archive = {}
    if words:
        with zipfile.ZipFile(FILE) as z:
            archive = {m: z.read(m) for m in z.namelist() if not m.startswith(words)}
    for name, (module, inputs) in CASES.items():
        if words and not name.startswith(words):
            continue
        for core in (False, True):
            if core and name.startswith("encoder"):
                continue  # no decomposition
            if core and name in ("resample-1-linear-False-1.1", "resample-3-trilinear-False-1.1"):
                continue  # the decomposition itself gives other values: it does not copy an axis whose size stays
            try:
                export(name + "-core" * core, module, inputs, core, archive)
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:120]}", file=sys.stderr)
    for name in CASES: # the same operators before and after: one of them is enough
        if targets(archive, name) == targets(archive, name + "-core"):
            for member in [m for m in archive if m.startswith(name + "-core/")]:
                del archive[member]
    with zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for member, data in sorted(archive.items()):
            z.writestr(zipfile.ZipInfo(member), data, zipfile.ZIP_DEFLATED)
    print(f"{len(CASES)} modules, {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])

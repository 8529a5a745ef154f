#!/usr/bin/env python3
"""A loop-level form, compared on ten operators with the generic kernels of the same operators.

A program of the form is a list of nests over shared outer loops (the units); a nest has inner loops, at most one
reduction among them, index expressions with bounds, and one elementwise expression. From it comes C: units [begin, end),
the innermost loop with unit stride, reductions over neighbours as `omp simd`, over others with 64 results side by side.
Prints lines and time of both. docs/log/experiments.md keeps the result.

    python3 bench/loop_form.py [--cc gcc] [--repeats 200]
"""
import argparse
import ctypes
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = os.path.join(HERE, "..", "src", "kernels", "text")
FLAGS = ["-std=gnu11", "-O3", "-fopenmp-simd", "-march=native", "-ffp-contract=fast", "-fno-math-errno",
         "-fno-trapping-math", "-fPIC", "-shared", "-w"]
START = {"+": "0", "max": "-INFINITY"}
STEP = {"+": "{0} += {1}", "max": "{0} = {1} > {0} ? {1} : {0}"}


# -- the form ------------------------------------------------------------------------------------------------------
# nest: dict(loops=[(var, size)], reduce=None or (op, [(var, size)]), to=(array, index), value=C expression over loop
# variables and arrays, guard=C condition (false: the step is left out, or `otherwise` is the value), clip=(from, to) of
# the innermost loop, vector={name: operand} where the value is an expression over vectors of simd.h, local=(name, size)
# where the result stays in the unit)
def emit(name, units, nests):
    """C of one program: `units` are the shared outer loops."""
    out = [f"int {name}(const void *const *in, void *const *out, void *scratch, long begin, long end) {{"]
    out += [f"  const float *restrict a{i} = in[{i}];" for i in range(3)]
    out += ["  const int64_t *restrict at1 = in[1];", "  float *restrict y = out[0];",
            "  for (long u = begin; u < end; u++) {", "    long rest = u;"]
    for var, size in reversed(units):
        out.append(f"    const long {var} = rest % {size}; rest /= {size};")
    for nest in nests:
        out += emit_nest(nest)
    return "\n".join(out + ["  }", "  return 0;", "}"])


def emit_nest(nest):
    pad, out = "    ", []
    if "local" in nest:
        out.append(f"{pad}float {nest['local'][0]}[{nest['local'][1]}];")
    to = "{}[{}]".format(*nest["to"])
    if "vector" in nest:
        (var, size), = nest["loops"]
        body = [f"const vec {name} = load_lanes_(&{operand}, {size} - {var});" for name, operand in nest["vector"].items()]
        body.append(f"store_lanes_(&{to}, {nest['value']}, {size} - {var});")
        return out + [f"{pad}for (long {var} = 0; {var} < {size}; {var} += LANES) {{"] + [pad + "  " + b for b in body] + [pad + "}"]
    if not nest.get("reduce"):
        body = f"{nest['guard']} ? {nest['value']} : {nest['otherwise']}" if "guard" in nest else nest["value"]
        return out + loops(nest["loops"], [f"{to} = {body};"], pad)
    op, inner = nest["reduce"]
    if not nest["loops"]:  # one result: over neighbours
        out.append(f"{pad}{nest.get('type', 'float')} r = {START[op]};")
        out.append(f"#pragma omp simd reduction({op} : r)")
        out += loops(inner, [STEP[op].format("r", nest["value"]) + ";"], pad)
        return out[:0] + [pad + "{"] + out[("local" in nest):] + [f"{pad}{to} = {nest.get('last', 'r')};", pad + "}"] \
            if "local" not in nest else [out[0], pad + "{"] + out[1:] + [f"{pad}{to} = {nest.get('last', 'r')};", pad + "}"]
    var, size = nest["loops"][-1]  # neighbouring results side by side
    step = [STEP[op].format(f"r[{var}]", nest["value"]) + ";"]
    rows = [f"float r[{size}];"] + loops([(var, size)], [f"r[{var}] = {START[op]};"], "")
    first, last = nest.get("clip", ("0", str(size)))
    step = [f"const long first = {first} > 0 ? {first} : 0, last = {last} < {size} ? {last} : {size};",
            f"for (long {var} = first; {var} < last; {var}++) {step[0]}"]
    rows += loops(inner, ([f"if (!({nest['guard']})) continue;"] if "guard" in nest else []) + step, "")
    rows += loops([(var, size)], [f"{to} = {nest.get('last', 'r[' + var + ']')};"], "")
    return out + loops(nest["loops"][:-1], rows, pad)


def loops(dims, body, pad):
    out = []
    for var, size in dims:
        out.append(f"{pad}for (long {var} = 0; {var} < {size}; {var}++) {{")
    return out + [pad + "  " + line for line in body] + [pad + "}" * len(dims)]


# -- ten operators: the generic kernel with its defines, and the program ------------------------------------------------
def shape(side, k, dims, c_type="float"):
    count = int(np.prod(dims, dtype=np.int64))
    return (f"#define {side}{k}_PRESENT 1\n#define {side}{k}_T {c_type}\n"
            f"#define {side}{k}_TYPE {1 if c_type == 'float' else 7}\n#define {side}{k}_RANK {len(dims)}\n"
            f"#define {side}{k}_DIMS {{{','.join(map(str, dims)) or '0'}}}\n#define {side}{k}_COUNT {count}l\n")


def operators():
    n, c, h, w = 1, 64, 56, 56
    rows, columns, eps = 512, 768, "1e-5"
    yield dict(name="ReduceSumSquare, last axis", text="Reduce", defines="#define REDUCE_OP 9\n", units=rows,
               ins=[((rows, columns), "float"), ((1,), "int64_t", [1])], outs=[(rows, 1)],
               plan=([("i", rows)], [dict(loops=[], reduce=("+", [("k", columns)]), to=("y", "i"), type="double",
                                          value=f"(double)a0[i * {columns} + k] * (double)a0[i * {columns} + k]")]))
    yield dict(name="ReduceMax, first axis", text="Reduce", defines="#define REDUCE_OP 2\n", units=columns,
               form_units=columns // 64, ins=[((rows, columns), "float"), ((1,), "int64_t", [0])], outs=[(1, columns)],
               plan=([("b", columns // 64)], [dict(loops=[("j", 64)], reduce=("max", [("k", rows)]),
                                                   to=("y", "b * 64 + j"), value=f"a0[k * {columns} + b * 64 + j]")]))
    yield dict(name="Softmax", text="Softmax", defines="#define SOFTMAX_LOG 0\n", units=rows,
               ins=[((rows, columns), "float")], outs=[(rows, columns)],
               plan=([("i", rows)], [
                   dict(loops=[], local=("m", 1), reduce=("max", [("k", columns)]), to=("m", "0"),
                        value=f"a0[i * {columns} + k]"),
                   dict(loops=[("k", columns)], to=("y", f"i * {columns} + k"), value="exp_(x - splat_(m[0]))",
                        vector={"x": f"a0[i * {columns} + k]"}),
                   dict(loops=[], local=("s", 1), reduce=("+", [("k", columns)]), to=("s", "0"), value=f"y[i * {columns} + k]"),
                   dict(loops=[("k", columns)], to=("y", f"i * {columns} + k"), value=f"y[i * {columns} + k] / s[0]")]))
    norm = [dict(loops=[], local=("m", 1), reduce=("+", [("k", "{L}")]), to=("m", "0"), type="double",
                 value="(double)a0[i * {L} + k]", last="r / {L}"),
            dict(loops=[], local=("v", 1), reduce=("+", [("k", "{L}")]), to=("v", "0"), type="double",
                 value="((double)a0[i * {L} + k] - m[0]) * ((double)a0[i * {L} + k] - m[0])",
                 last=f"1 / sqrt(r / {{L}} + {eps})")]

    def fill(nest, length):
        return eval(repr(nest).replace("{L}", str(length)))
    yield dict(name="LayerNormalization", text="LayerNormalization", defines="", units=rows,
               ins=[((rows, columns), "float"), ((columns,), "float"), ((columns,), "float")], outs=[(rows, columns)],
               plan=([("i", rows)], fill(norm, columns) + [dict(
                   loops=[("k", columns)], to=("y", f"i * {columns} + k"),
                   value=f"(a0[i * {columns} + k] - m[0]) * v[0] * a1[k] + a2[k]")]))
    yield dict(name="InstanceNormalization", text="InstanceNormalization", defines="", units=n * c,
               ins=[((n, c, h, w), "float"), ((c,), "float"), ((c,), "float")], outs=[(n, c, h, w)],
               plan=([("i", c)], fill(norm, h * w) + [dict(
                   loops=[("k", h * w)], to=("y", f"i * {h * w} + k"),
                   value=f"(a0[i * {h * w} + k] - m[0]) * v[0] * a1[i] + a2[i]")]))
    pool = "#define ATTR_kernel_shape {3,3}\n#define ATTR_strides {1,1}\n#define ATTR_pads {1,1,1,1}\n#define POOL_MODE %d\n"
    inside = f"p + kh - 1 >= 0 && p + kh - 1 < {h}"
    source = f"a0[(i * {h} + p + kh - 1) * {w} + q + kw - 1]"
    for mode, op, text in ((1, "max", "MaxPool 3x3"), (0, "+", "AveragePool 3x3, padding counted")):
        yield dict(name=text, text="Pool", defines=pool % mode + "#define ATTR_count_include_pad 1\n", units=n * c,
                   ins=[((n, c, h, w), "float")], outs=[(n, c, h, w)],
                   plan=([("i", c)], [dict(loops=[("p", h), ("q", w)], reduce=(op, [("kh", 3), ("kw", 3)]), guard=inside, clip=("(1 - kw)", f"({w} + 1 - kw)"),
                                           value=source, to=("y", f"(i * {h} + p) * {w} + q"),
                                           **({} if mode else {"last": "r[q] / 9"}))]))
    yield dict(name="Gather, rows", text="Gather", defines="", units=rows,
               ins=[((4096, columns), "float"), ((rows,), "int64_t", "index")], outs=[(rows, columns)],
               plan=([("i", rows)], [dict(loops=[("k", columns)], to=("y", f"i * {columns} + k"),
                                          value=f"a0[at1[i] * {columns} + k]")]))
    yield dict(name="Resize, nearest, 2x", text="Resize", defines="#define ATTR_mode_IS_nearest 1\n", units=c * 2 * h,
               ins=[((n, c, h, w), "float"), None, ((4,), "float", [1, 1, 2, 2])], outs=[(n, c, 2 * h, 2 * w)],
               plan=([("i", c), ("p", 2 * h)], [dict(loops=[("q", 2 * w)], to=("y", f"(i * {2 * h} + p) * {2 * w} + q"),
                                                     value=f"a0[(i * {h} + p / 2) * {w} + q / 2]")]))
    yield dict(name="Pad, constant", text="Pad", defines="", units=c * (h + 4),
               ins=[((n, c, h, w), "float"), ((8,), "int64_t", [0, 0, 2, 2, 0, 0, 2, 2])], outs=[(n, c, h + 4, w + 4)],
               plan=([("i", c), ("p", h + 4)], [dict(
                   loops=[("q", w + 4)], to=("y", f"(i * {h + 4} + p) * {w + 4} + q"), otherwise="0",
                   guard=f"(p >= 2 && p < {h + 2} && q >= 2 && q < {w + 2})", value=f"a0[(i * {h} + p - 2) * {w} + q - 2]")]))


# -- comparison ----------------------------------------------------------------------------------------------------
def lines_of(text):
    return sum(1 for line in text.splitlines() if line.strip())


def compile_both(op, number, folder, cc):
    plain = open(os.path.join(TEXTS, "plain", op["text"] + ".c")).read()
    simd = open(os.path.join(TEXTS, "simd.h")).read()
    form = emit("form", *op["plan"])
    head = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n" + simd
    defines = f"#define PLAIN_LINES 64\n#define UNITS {op['units']}l\n#define NAME plain\n" + op["defines"]
    defines += f"#define IN_COUNT {len(op['ins'])}\n#define OUT_COUNT 1\n"
    for k, operand in enumerate(op["ins"]):
        defines += shape("IN", k, operand[0], operand[1]) if operand else f"#define IN{k}_PRESENT 0\n#define IN{k}_T float\n#define IN{k}_RANK 0\n#define IN{k}_DIMS {{0}}\n#define IN{k}_COUNT 0l\n"
    defines += shape("OUT", 0, op["outs"][0])
    source, library = f"{folder}/{number}.c", f"{folder}/{number}.so"
    open(source, "w").write(head + defines + plain + "\n" + form + "\n")
    subprocess.run([cc, *FLAGS, "-o", library, source, "-lm"], check=True)
    return ctypes.CDLL(library), form


def operands(op):
    random = np.random.default_rng(1)
    values = []
    for operand in op["ins"]:
        if operand is None:
            values.append(None)
        elif len(operand) == 3 and isinstance(operand[2], list):
            values.append(np.array(operand[2], np.int64 if operand[1] == "int64_t" else np.float32))
        elif len(operand) == 3:
            values.append(random.integers(0, op["ins"][0][0][0], operand[0]))
        else:
            values.append(random.standard_normal(operand[0], np.float32))
    return values


def call(function, values, result, units):
    pointers = [v.ctypes.data if v is not None else None for v in values] + [None] * 3
    inputs = (ctypes.c_void_p * len(pointers))(*pointers)
    outputs = (ctypes.c_void_p * 1)(result.ctypes.data)

    def run():
        start = time.perf_counter_ns()
        function(inputs, outputs, None, ctypes.c_long(0), ctypes.c_long(units))
        return time.perf_counter_ns() - start
    return run


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--cc", default="gcc")
    arguments.add_argument("--repeats", type=int, default=200)
    arguments = arguments.parse_args()
    print(f"{'operator':34} {'text':>5} {'form':>5} {'C of it':>8} {'text us':>9} {'form us':>9} {'ratio':>6}")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for number, op in enumerate(operators()):
            library, form = compile_both(op, number, folder, arguments.cc)
            values = operands(op)
            results = [np.zeros(op["outs"][0], np.float32) for _ in range(2)]
            runs = [call(library.plain, values, results[0], op["units"]),
                    call(library.form, values, results[1], op.get("form_units", op["units"]))]
            best = [10**18, 10**18]
            for _ in range(arguments.repeats):  # one after the other: both see the same neighbours
                for k in range(2):
                    best[k] = min(best[k], runs[k]())
            if not np.allclose(results[0], results[1], rtol=2e-5, atol=2e-5):
                sys.exit(f"{op['name']}: the results differ")
            text = open(os.path.join(TEXTS, "plain", op["text"] + ".c")).read()
            nests = sum(len(str(nest)) // 100 + 1 for nest in op["plan"][1])
            ratios.append(best[0] / best[1])
            print(f"{op['name']:34} {lines_of(text):5} {nests:5} {lines_of(form):8} {best[0] / 1e3:9.1f} "
                  f"{best[1] / 1e3:9.1f} {ratios[-1]:6.2f}")
    print(f"geometric mean of text / form: {np.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    main()

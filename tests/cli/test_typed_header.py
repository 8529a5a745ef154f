"""The header of an artifact: a C program calls the model with typed flat arrays, for every kind of artifact, and reads
sizes, scales and zero points from macros. Also: portable C compiles without warnings."""

import shutil
import subprocess

import numpy as np
import onnx
import pytest
from hone import SHARED, sampled, sound
from onnx import TensorProto, helper, numpy_helper

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
COMPILERS = [pytest.param(cc, marks=pytest.mark.skipif(not shutil.which(cc), reason=f"no {cc}")) for cc in ("gcc", "clang")]
MAIN = r"""
#include "m.h"
#include "m.h" /* may be included twice */
#include <stdio.h>
#include <stdlib.h>
static m_input_0_t x[m_INPUT_0_ELEMENTS];
static m_output_0_t y[m_OUTPUT_0_ELEMENTS];
int main(void) {
  const %s *in0 = x;
  %s *out0 = y;
  void *arena = aligned_alloc(64, ((size_t)m_ARENA_BYTES + 64) & ~(size_t)63);
  FILE *in = fopen("x.raw", "rb"), *out = fopen("y.raw", "wb");
  if (!arena || !in || !out || fread(x, sizeof x, 1, in) != 1) return 100;
  const int status = m_run(in0, out0, arena);
  if (status) return status;
#ifdef m_INPUT_0_SCALE
  const float numbers[] = {m_INPUT_0_SCALE, m_INPUT_0_ZERO_POINT, m_OUTPUT_0_SCALE, m_OUTPUT_0_ZERO_POINT};
  for (int i = 0; i < 4; i++) printf("%%.9g\n", (double)numbers[i]);
#endif
  return fwrite(y, sizeof y, 1, out) != 1 || fclose(out) || fclose(in);
}
"""


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def quantised():
    """int8 in, int8 out, with a Reshape between the input and its DequantizeLinear."""
    rng = np.random.default_rng(3)
    nodes = [helper.make_node("Reshape", ["x", "shape"], ["r"]),
             helper.make_node("DequantizeLinear", ["r", "xs", "xz"], ["xf"]),
             helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"]),
             helper.make_node("MatMul", ["xf", "wf"], ["yf"]),
             helper.make_node("QuantizeLinear", ["yf", "ys", "yz"], ["y"])]
    weights = [constant("shape", np.array([2, 12], np.int64)), constant("xs", np.float32(0.05)), constant("xz", np.int8(-3)),
               constant("w", rng.integers(-127, 128, (12, 5), np.int8)), constant("ws", np.float32(0.01)),
               constant("wz", np.int8(0)), constant("ys", np.float32(0.125)), constant("yz", np.int8(7))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.INT8, [2, 3, 4])],
                              [helper.make_tensor_value_info("y", TensorProto.INT8, [2, 5])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run_and_keep(hone, model, x):
    np.save(hone.folder / "x.npy", x)
    (hone.folder / "x.raw").write_bytes(x.tobytes())
    sound(hone("run", model, "--input", f"{'input' if x.dtype == np.float32 else 'x'}={hone.folder}/x.npy", "-o", "want",
               "--cpu", "baseline"))
    return np.load(hone.folder / "want/out_0.npy")


def build(hone, cc, words):
    done = subprocess.run([cc, *STRICT, "-O1", "main.c", *words, "-lm", "-o", "main"], cwd=hone.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    done = subprocess.run([hone.folder / "main"], cwd=hone.folder, capture_output=True, text=True,
                          env={"LD_LIBRARY_PATH": str(hone.folder)})
    assert done.returncode == 0, done
    return [float(line) for line in done.stdout.split()]


FORMS = {"so": ["-L.", "-l:m.so"], "a": ["m.a"], "c": ["m.c"]}


@pytest.mark.parametrize("cc", COMPILERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("level", ["all", "portable"])
def test_a_float_model(hone, form, level, cc):
    if form == "c" and level == "all":
        pytest.skip("a file a level, with flags of its own: test_levels.py")
    want = run_and_keep(hone, "zoo:mlp", np.random.default_rng(1).standard_normal((4, 256)).astype(np.float32))
    sound(hone("compile", "zoo:mlp", "-o", f"m.{form}", "--cpu", level, *(["--embed"] if form == "c" else [])))
    (hone.folder / "main.c").write_text(MAIN % ("float", "float"))
    build(hone, cc, FORMS[form])
    got = np.fromfile(hone.folder / "y.raw", np.float32).reshape(want.shape)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("cc", COMPILERS)
@pytest.mark.parametrize("form", FORMS)
def test_an_int8_model(hone, form, cc):
    onnx.save(quantised(), hone.folder / "m.onnx")
    want = run_and_keep(hone, "m.onnx", np.random.default_rng(1).integers(-128, 128, (2, 3, 4), np.int8))
    sound(hone("compile", "m.onnx", "-o", f"m.{form}", "--cpu", "portable"))
    (hone.folder / "main.c").write_text(MAIN % ("int8_t", "int8_t"))
    assert np.float32(build(hone, cc, FORMS[form])).tolist() == np.float32([0.05, -3, 0.125, 7]).tolist()
    np.testing.assert_array_equal(np.fromfile(hone.folder / "y.raw", np.int8).reshape(want.shape), want)


@pytest.mark.parametrize("name, scales", [("mlperf_ic_resnet8/model_int8.tflite", ["1.0f", "(-128)", "0.00390625f", "(-128)"])])
def test_scales_of_a_tflite_file(hone, name, scales):
    path = SHARED / "models" / name
    if not path.exists():
        pytest.skip("no shared models")
    sound(hone("compile", path, "-o", "m.c"))
    lines = (hone.folder / "m.h").read_text().splitlines()
    for macro, value in zip(("INPUT_0_SCALE", "INPUT_0_ZERO_POINT", "OUTPUT_0_SCALE", "OUTPUT_0_ZERO_POINT"), scales):
        assert f"#define m_{macro} {value}" in lines


def test_the_library_exports_the_typed_function(hone):
    sound(hone("compile", "zoo:mlp", "-o", "m.so"))
    names = subprocess.run(["nm", "-D", "--defined-only", hone.folder / "m.so"], capture_output=True, text=True, check=True)
    assert {line.split()[-1] for line in names.stdout.splitlines()} == {"m_artifact", "m_run"}


@pytest.mark.skipif(not shutil.which("g++"), reason="no g++")
def test_the_header_is_cpp_too(hone):
    sound(hone("compile", "zoo:mlp", "-o", "m.a"))
    (hone.folder / "main.cc").write_text('#include "m.h"\n#include "m.h"\nint main() { return m_artifact()->abi < 1 ? '
                                         "m_run(nullptr, nullptr, nullptr) : 0; }\n")
    done = subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "main.cc", "m.a", "-lm", "-o", "main"],
                          cwd=hone.folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    assert subprocess.run([hone.folder / "main"]).returncode == 0


PLAIN = ["zoo:mlp", "zoo:conv", "zoo:transformer", "zoo:dlrm", "zoo:gcn", "zoo:mobilenet_v3_small",
         "mlperf_ic_resnet8/model_int8.tflite", "micro_kws_m/model_qdq.onnx", "basic_pitch/model.tflite", "magika_v3_3/model.onnx"]


@pytest.mark.parametrize("model", sampled(PLAIN, 2))
def test_plain_c_has_no_warnings(hone, model):
    path = model if model.startswith("zoo:") else SHARED / "models" / model
    if not model.startswith("zoo:") and not path.exists():
        pytest.skip("no shared models")
    sound(hone("compile", path, "--portable", "-o", "m.c"))
    for cc in ("gcc", "clang"):
        if not shutil.which(cc):
            continue
        done = subprocess.run([cc, *STRICT, "-O1", "-fsyntax-only", "m.c"], cwd=hone.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[:3000]

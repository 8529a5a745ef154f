"""--kernel-dir: the user's kernel replaces hone's."""

import numpy as np
import onnx
import pytest
from artifact import Artifact
from hone import ROOT, refused, sound
from onnx import TensorProto, helper


@pytest.fixture
def softmax(tmp_path):
    graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"], axis=-1)], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 20])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 20])])
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_a_kernel_is_replaced(hone, tmp_path, softmax):
    own = tmp_path / "own"
    own.mkdir()
    (own / "softmax_f32.c").write_text("""/* a constant instead of a softmax */
void NAME(const void *a, const void *b, void *c, const void *const *e, void *scratch, long begin, long end) {
  (void)a, (void)b, (void)e, (void)scratch;
  for (long r = begin; r < end; r++)
    for (long j = 0; j < COLUMNS; j++) ((float *)c)[r * O_STRIDE + j] = 7.0f;
}
""")
    x = np.random.default_rng(1).standard_normal((3, 20)).astype(np.float32)
    sound(hone("compile", softmax, "-o", "m.so"))
    sound(hone("compile", softmax, "-o", "own.so", "--kernel-dir", own))
    np.testing.assert_allclose(Artifact(tmp_path / "m.so")(x)[0].sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(Artifact(tmp_path / "own.so")(x)[0], 7)


def test_the_text_of_hone_itself_gives_the_same_artifact(hone, softmax):
    sound(hone("compile", softmax, "-o", "m.c", "--prefix", "m"))
    sound(hone("compile", softmax, "-o", "own.c", "--prefix", "m", "--kernel-dir", ROOT / "src/compiler/kernels/embedded"))
    assert (hone.folder / "m.c").read_bytes() == (hone.folder / "own.c").read_bytes()


def test_a_folder_without_such_a_text_is_refused(hone, tmp_path, softmax):
    refused(hone("compile", softmax, "-o", "m.so", "--kernel-dir", tmp_path), "E_USAGE", "has no source")
    refused(hone("profile", softmax, "--kernel-dir", tmp_path), "E_USAGE", "has no source")


def test_a_kernel_of_ones_own_is_profiled(hone, softmax):
    words = ("--min-time", "0.01", "--no-measure", "--kernel-dir", ROOT / "src/compiler/kernels/embedded")
    result = hone("profile", softmax, *words)
    sound(result)
    assert "softmax_f32" in result.text

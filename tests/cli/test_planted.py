"""Planted bugs in kernels: each is one small change of a kernel's source, like a typing error. `hone verify` must detect it,
and --bisect must report that no pass caused it. (Bugs planted in passes: tests/unit/test_bisect.c.)"""

import pytest

from hone import ROOT, sound

TEXTS = ROOT / "src/compiler/kernels/embedded"
# model, kernel source, original code, code with the bug
PLANTED = {
    "last k left out": ("zoo:mlp", "gemm_f32.c", "for (; k + K_UNROLL <= BLOCK_DEPTH; k += K_UNROLL",
                        "for (; k + K_UNROLL < BLOCK_DEPTH; k += K_UNROLL"),
    "columns of the panel turned": ("zoo:transformer", "gemm_f32.c", "w[v] = LOAD_B(b + u * NR + v * LANES)",
                                    "w[v] = LOAD_B(b + u * NR + (vectors - 1 - v) * LANES)"),
    "sum of a row begins at one": ("zoo:transformer", "attention_f32.c", "sum[i] = (vec){0};", "sum[i] = splat_(1.0f);"),
    "maximum begins at zero": ("zoo:mnist_cnn", "pool_f32.c", "splat_(MODE == 0 ? -INFINITY : 0.0f)",
                               "splat_(MODE == 0 ? 1.0f : 0.0f)"),
    "softmax without its largest": ("zoo:transformer", "attention_f32.c", "exp_down_(loadu_(s + j + i * LANES) - top)",
                                    "exp_down_(loadu_(s + j + i * LANES) * splat_(0.5f) - top)"),
    "one row of scores too few": ("zoo:transformer", "attention_f32.c", "return 1.0f / whole;", "return 0.999f / whole;"),
    "variance of the wrong pass": ("zoo:transformer", "layernorm_f32.c", "sqrtf(LANE_(total, 0) +",
                                   "sqrtf(LANE_(total, 0) * 1.01f +"),
    "scale forgotten": ("zoo:transformer", "layernorm_f32.c", "t = t * load_lanes_(b + j, n);", "t = t + load_lanes_(b + j, n);"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_seen(hone, tmp_path, name):
    model, file, before, after = PLANTED[name]
    text = (TEXTS / file).read_text()
    assert before in text, "the text has changed: plant it anew"
    (tmp_path / file).write_text(text.replace(before, after))
    result = hone("verify", model, "--kernel-dir", tmp_path)
    assert result.id == "E_ACCURACY" and "DIFFERS" in result.text, result


def test_bisect_says_it_is_no_pass(hone, tmp_path):
    model, file, before, after = PLANTED["last k left out"]
    (tmp_path / file).write_text((TEXTS / file).read_text().replace(before, after))
    result = hone("verify", model, "--kernel-dir", tmp_path, "--bisect")
    assert result.id == "E_ACCURACY"
    assert "plan, kernels or C compiler; correct with generic kernels only" in result.text, result
    right = hone("verify", model, "--bisect")
    sound(right)
    assert "correct after each" in right.text and "the artifact's outputs are correct" in right.text

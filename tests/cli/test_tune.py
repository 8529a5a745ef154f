"""hone kernel and hone tune: compare kernel choices for a problem; every later compilation uses the stored
choices, and their path is printed."""

import re

import pytest

from hone import refused, sound

LINE = "gemm f32 m32 n64 k64 batch01 batch11 a_row64 b_row64 b_column1 b_batches1 c_row64"
CONV = ("conv u8*i8:i32:f32 images1 ih10 iw10 ic16 oh8 ow8 oc32 kh3 kw3 sh1 sw1 dh1 dw1 groups1 "
        "i_image1600 i_row160 i_pixel16 o_image2048 o_row256 o_pixel32")


@pytest.mark.parametrize("line", [LINE, CONV])
def test_kernel_shows_every_way(hone, line):
    result = hone("kernel", line, "--budget", "0.1s", "--threads", "1")
    sound(result)
    lines = result.text.splitlines()
    assert lines[0] == line
    ways = [row.split() for row in lines if re.search(r" (gemm|conv)_\w+ vectors\d", row)]
    assert len(ways) == int(re.search(r"; (\d+) choices", result.text).group(1)) > 1
    assert all(float(way[0]) > 0 and float(way[1]) > 0 for way in ways), result
    errors = [float(re.search(r" (\S+e[-+]\d+)  \w+ vectors", row).group(1))
              for row in lines if re.search(r" (gemm|conv)_\w+ vectors\d", row)]
    assert max(errors) < 4e-6, result
    assert "WRONG" not in result.text and "generic loops in double precision" in result.text


@pytest.mark.parametrize("weights", ["i4:f32:f32 m1", "u4:f32:f32 m4", "i8:f32:f32 m2", "u8:f32:f32 m16"])
def test_kernel_knows_weights_with_scales(hone, weights):
    line = f"gemm f32*{weights} n70 k96 batch01 batch11 a_row96 b_row70 b_column1 b_batches1 c_row70 block32 b_zeros1"
    result = hone("kernel", line, "--budget", "0.1s", "--threads", "1")
    sound(result)
    errors = [float(error) for error in re.findall(r" (\S+e[-+]\d+)  gemm_wq", result.text)]
    assert errors and max(errors) < 4e-6 and "generic loops in double precision" in result.text, result


@pytest.mark.parametrize("problem", [
    "f32*f16:f32:f32 m3 n40 k64 columns48 batch12 batch13 a_row192 a_batch0576 a_batch164 b_row1 b_column64 b_batch02560 v_row48 v_batch01920 c_row144 c_batch0432 c_batch148 v_operand2 keys_operand4",
    "f32 m20 n33 k24 columns16 batch12 a_row24 a_batch0480 b_row33 b_column1 b_batch0792 v_row16 v_batch0528 c_row16 c_batch0320 v_operand1 visible1"], ids=["few", "many"])
def test_kernel_knows_attention(hone, problem):
    result = hone("kernel", f"attention {problem}", "--budget", "0.1s", "--threads", "2")
    sound(result)
    errors = [float(error) for error in re.findall(r" (\S+e[-+]\d+)  attention_f32", result.text)]
    assert errors and max(errors) < 4e-6 and "generic loops in double precision" in result.text, result


def test_kernel_refuses_what_is_no_problem(hone):
    refused(hone("kernel", "recurrent f32 steps3 batch11 directions1 state4 i_step16 i_batch16 o_step4 o_batch4 o_direction4 s_batch4 s_direction4"), "E_UNSUP", "not timed alone")
    refused(hone("kernel", "gemm f32 q1"), "E_USAGE", "not a problem line")
    refused(hone("kernel"), "E_USAGE")
    refused(hone("kernel", LINE, "--budget", "x"), "E_USAGE", "seconds")


def test_tune_keeps_what_every_compilation_uses(hone, tmp_path):
    """Whether any choice is faster depends on the machine; stored choices must be used and reported."""
    result = hone("tune", "zoo:mlp", "--budget", "4", "--threads", "1")
    sound(result)
    problems, known, tried, kept = map(int, re.search(
        r"(\d+) problems: (\d+) known, (\d+) measured, (\d+) kept", result.text).groups())
    assert problems >= tried > 0 and known == 0
    tables = list((tmp_path / "cache" / "hone" / "tuned").glob("*.txt"))
    compiled = hone("compile", "zoo:mlp", "-o", tmp_path / "a.so", "--threads", "1")
    sound(compiled)
    assert len(tables) == (kept > 0)
    assert ("tuned steps" in compiled.errors) == (kept > 0), compiled
    untuned = hone("compile", "zoo:mlp", "-o", tmp_path / "b.so", "--threads", "1", "--untuned")
    sound(untuned)
    assert "tuned steps" not in untuned.errors
    if kept:
        lines = [x for x in tables[0].read_text().splitlines() if not x.startswith("#")]
        assert len(lines) == kept
        assert f"{kept} known" in hone("tune", "zoo:mlp", "--budget", "1", "--threads", "1").text

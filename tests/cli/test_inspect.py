"""What `inspect` reads and `compile` refuses: inspect says so, with the reason and the place."""

import json

import hostile
from hone import refused, sound


def conv_over_four():
    """The graph is right and its shapes are known; no kernel has that many spatial dimensions."""
    w = hostile.const("w", [[[[[[1.0, 2.0]]]]]], "float32")
    return hostile.one("Conv", (1, 1, 3, 3, 3, 3), [w], None, inputs=("x", "w"))


def test_it_says_what_does_not_compile(hone, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(conv_over_four().SerializeToString())
    result = hone("inspect", path, "--no-measure", "--json", tmp_path / "i.json")
    sound(result)
    compiled = hone("compile", path, "-o", tmp_path / "m.so", "-q")
    refused(compiled, "E_UNSUP", "node")
    reason = compiled.errors.split("hone: ")[1].splitlines()[0]
    assert f"compiles  no, {reason}" in result.text, result
    facts = json.loads((tmp_path / "i.json").read_text())
    assert facts["compiles"] is False and facts["compile_refusal"] == reason


def test_it_says_what_compiles(hone, tmp_path):
    result = hone("inspect", "zoo:mlp", "--no-measure", "--json", tmp_path / "i.json")
    sound(result)
    assert "compiles  yes" in result.text and json.loads((tmp_path / "i.json").read_text())["compiles"] is True


def test_no_kernel_says_why(hone, tmp_path):
    """The operator, the number of its operands, its rank or its types: whichever it is."""
    path = tmp_path / "m.onnx"
    path.write_bytes(conv_over_four().SerializeToString())
    refused(hone("compile", path, "-o", tmp_path / "m.so", "-q"), "E_UNSUP", "Conv over 4 spatial dimensions, at most 3")

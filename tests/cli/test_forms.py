"""Valid but rare ONNX features, as tests/cases/forms/*.txt in ONNX's text format: functions, sequences, branches of different
sizes, omitted outputs, old opsets. Both values of a condition; the reference and compiled code, against ONNX Runtime."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from peer import TOOLS, hone_outputs, peer_outputs, same

FORMS = sorted((Path(__file__).parent.parent / "cases/forms").glob("*.txt"))


def drawn(value, seed):
    """Numbers for an input; a condition is as the seed says, a number without dimensions at least 1."""
    draw, kind = np.random.default_rng(seed), value.type.tensor_type.elem_type
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
    if dtype == np.bool_:
        return draw.integers(0, 2, shape).astype(dtype) if shape else np.array(bool(seed))
    if dtype.kind == "f":
        return draw.standard_normal(shape).astype(dtype)
    return np.array(draw.integers(-2 if shape else 1, 5, shape), dtype)


def forms_and_tools():
    """Each form by the reference; compiled each third in `make test`, all in `make test-full`."""
    for i, form in enumerate(FORMS):
        for tool in TOOLS:
            yield pytest.param(form, tool, id=f"{form.stem}-{tool}", marks=[pytest.mark.long] if tool == "native" and i % 3 else [])


@pytest.mark.parametrize("form, tool", forms_and_tools())
def test_a_rare_form_equals_onnx_runtime(form, tool, tmp_path):
    model = onnx.parser.parse_model(form.read_text())
    for output in model.graph.output:  # the text's sizes are not a promise
        output.type.tensor_type.ClearField("shape")
    onnx.save(model, tmp_path / "m.onnx")
    for seed in (0, 1):
        given = {x.name: drawn(x, seed) for x in model.graph.input}
        wanted = peer_outputs(tmp_path / "m.onnx", given)
        same(hone_outputs(tool, tmp_path / "m.onnx", given, tmp_path), wanted)
        for made in tmp_path.glob("out*.npy"):
            made.unlink()

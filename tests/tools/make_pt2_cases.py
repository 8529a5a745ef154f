"""Writes tests/cases/pt2/small.pt2, an archive as torch.export writes it, without torch: a linear layer
whose weights are a transposed view, a slice by a dynamic dimension, a cat, a split. tests/cli/test_pt2.py imports
parts of it."""
import json
import pathlib
import zipfile

import numpy as np

FILE = pathlib.Path(__file__).resolve().parent.parent / "cases/pt2/small.pt2"
PREFIX = "small/"
WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3) / 8 - 0.5
BIAS = np.array([0.5, -1, 2], np.float32)


def meta(shape, strides=None, dtype=7):
    strides = strides or [int(np.prod(shape[d + 1:])) for d in range(len(shape))]
    sizes = [{"as_expr": {"expr_str": f"Symbol('{s}', positive=True, integer=True)", "hint": {"as_int": 2}}}
             if isinstance(s, str) else {"as_int": s} for s in shape]
    return {"dtype": dtype, "sizes": sizes, "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": [{"as_int": s} for s in strides], "storage_offset": {"as_int": 0}, "layout": 7}


def tensor(name):
    return {"as_tensor": {"name": name}}


def node(target, outputs, **inputs):
    return {"target": "torch.ops." + target, "name": "n", "metadata": {},
            "inputs": [{"name": name, "arg": arg, "kind": 1} for name, arg in inputs.items()], "outputs": outputs}


def model():
    nodes = [
        node("aten.linear.default", [tensor("l")], input=tensor("x"), weight=tensor("p_w"), bias=tensor("p_b")),
        node("aten.sym_size.int", [{"as_sym_int": {"as_name": "rows"}}], self=tensor("x"), dim={"as_int": 0}),
        node("aten.slice.Tensor", [tensor("s")], self=tensor("c_table"), dim={"as_int": 0}, start={"as_none": True},
             end={"as_sym_int": {"as_name": "rows"}}),
        node("aten.cat.default", [tensor("c")], tensors={"as_tensors": [{"name": "l"}, {"name": "s"}]},
             dim={"as_int": -1}),
        node("aten.split.Tensor", [{"as_tensors": [{"name": "a"}, {"name": "b"}, {"name": "d"}]}], self=tensor("c"),
             split_size={"as_int": 2}, dim={"as_int": 1}),
        node("aten.add.Tensor", [tensor("y")], self=tensor("a"), other=tensor("b")),
        node("aten.relu.default", [tensor("z")], self=tensor("d")),
    ]
    parameters = [("parameter", "p_w", "w"), ("parameter", "p_b", "b"), ("buffer", "c_table", "table")]
    specs = [{kind: {"arg": {"name": name}, kind + "_name": key}} for kind, name, key in parameters]
    specs.append({"user_input": {"arg": tensor("x")}})
    outputs = [{"user_output": {"arg": tensor(name)}} for name in "yz"]
    graph = {"inputs": [], "outputs": [], "nodes": nodes, "tensor_values": {"x": meta(["s0", 4])},
             "sym_int_values": {}}
    return {"graph_module": {"graph": graph, "signature": {"input_specs": specs, "output_specs": outputs}},
            "opset_version": {"aten": 10}, "schema_version": {"major": 8, "minor": 20}}


def weights():
    entries = {"w": ("weight_0", meta([3, 4], [1, 3])), "b": ("weight_1", meta([3])),
               "table": ("weight_2", meta([5, 2]))}
    return {"config": {key: {"path_name": path, "is_param": True, "use_pickle": False, "tensor_meta": about}
                       for key, (path, about) in entries.items()}}


def table():
    return np.arange(10, dtype=np.float32).reshape(5, 2)


def parts():
    """Members in order: name without the prefix -> bytes."""
    return {"data/weights/weight_0": WEIGHT.tobytes(), "data/weights/weight_1": BIAS.tobytes(),
            "data/weights/weight_2": table().tobytes(),
            "data/weights/model_weights_config.json": json.dumps(weights()).encode(),
            "data/constants/model_constants_config.json": b'{"config": {}}',
            "models/model.json": json.dumps(model()).encode(), "data/sample_inputs/model.pt": b"\x80\x02.",
            "archive_format": b"pt2", "archive_version": b"0"}


def write(path, members, **how):
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(PREFIX + name), data, how.get("compression"))


def expected(x):
    c = np.concatenate([x @ WEIGHT + BIAS, table()[:len(x)]], axis=1)
    return c[:, :2] + c[:, 2:4], np.maximum(c[:, 4:], 0)


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    write(FILE, parts())

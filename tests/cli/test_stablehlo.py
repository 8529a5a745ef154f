"""hone export -o FILE.mlir: StableHLO by hone, run by XLA where jaxlib is, against the reference."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from hone import refused, sound

# Small forms of the zoo's families: every operator of the built-in models.
SMALL = ["mlp", "conv,batch=1", "mnist_cnn", "transformer,batch=1,sequence=8", "mobilenet_v3_small,size=32",
         "resnet18,size=32", "gcn,size=64", "graphsage,size=64", "gat,size=64", "dlrm,batch=2",
         "clip,layers=1,width=192,vocabulary=50,sequence=9,size=64,batch=3",
         "llama_3_2_1b_int4,layers=1,width=256,vocabulary=50,sequence=5", "yolov8n,size=64"]

QUICK = ["--no-measure", "--rounds", "1", "--incarnations", "1", "--min-time", "0.01", "--min-samples", "3", "--warmup",
         "0.01", "--threads", "1", "--resume", "never"]


def environment(name):
    """--engine of an environment with the engine: HONE_XLA, HONE_IREE, or what 'hone backends install' made."""
    for path in (os.environ.get(f"HONE_{name.upper()}", ""), f"~/.local/share/hone/engines/{name}"):
        if path and (pathlib.Path(path).expanduser() / "bin/python").exists():
            return ["--engine", f"{name}={pathlib.Path(path).expanduser()}"]
    pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("name", SMALL)
def test_a_zoo_model_becomes_stablehlo(hone, tmp_path, name):
    """Without any engine: it is written, twice alike, and every result has the type that it says."""
    sound(hone("export", f"zoo:{name}", "-o", tmp_path / "a.mlir"))
    text = (tmp_path / "a.mlir").read_text()
    sound(hone("export", f"zoo:{name}", "-o", tmp_path / "b.mlir"))
    assert text == (tmp_path / "b.mlir").read_text()
    assert text.count("func.func @main(") == 1 and '"func.return"' in text
    names = [line.split(" = ")[0].strip() for line in text.splitlines() if line.startswith("    %t")]
    assert len(names) == len(set(names)) > 3 and "none>" not in text


@pytest.mark.parametrize("name,models", [("xla", SMALL), ("iree", SMALL[:2] + SMALL[5:7])])
def test_an_engine_computes_what_the_reference_computes(hone, tmp_path, name, models):
    """hone's StableHLO, compiled by another's compiler; the study checks the outputs."""
    result = hone("bench", *[f"zoo:{m}" for m in models], "--backend", name, "--route", "stablehlo-hone", *QUICK,
                  *environment(name), "--json", tmp_path / "s.json")
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    assert len(rows) == len(models), result
    for row in rows:
        assert row["status"] == "ok" and row["route"] == "stablehlo-hone", (row["model"], row["reason"])
        assert row["rel_l2"] < 1e-4, row["model"]


def model_of(nodes, dims, constants=None, kind=1):
    import numpy as np
    import onnx
    from onnx import helper as h
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", 1, dims)], [h.make_tensor_value_info("y", kind, None)],
                         [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()])
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 21)], ir_version=10)


def cases():
    """name: a model of one operator, each in a form that another rule would compute otherwise."""
    import numpy as np
    from onnx.helper import make_node as n
    random = np.random.default_rng(3)
    weight = lambda *dims: random.standard_normal(dims).astype(np.float32)  # noqa: E731
    resize = lambda to, **more: ([n("Resize", ["x", "", "", "to"], ["y"], **more)], [1, 2, 5, 4],  # noqa: E731
                                 {"to": np.array(to, np.int64)})
    return {
        "resize_nearest": resize([1, 2, 10, 7], mode="nearest", coordinate_transformation_mode="asymmetric",
                                 nearest_mode="floor"),
        "resize_linear": resize([1, 2, 9, 3], mode="linear"),
        "resize_cubic": resize([1, 2, 5, 8], mode="cubic", coordinate_transformation_mode="align_corners"),
        "depth_to_space": ([n("DepthToSpace", ["x"], ["y"], blocksize=2)], [1, 8, 3, 2], {}),
        "depth_to_space_crd": ([n("DepthToSpace", ["x"], ["y"], blocksize=2, mode="CRD")], [1, 8, 3, 2], {}),
        "space_to_depth": ([n("SpaceToDepth", ["x"], ["y"], blocksize=2)], [1, 3, 4, 6], {}),
        "tile": ([n("Tile", ["x", "by"], ["y"])], [2, 1, 3], {"by": np.array([2, 3, 1], np.int64)}),
        "arg_max": ([n("ArgMax", ["x"], ["a"], axis=1), n("Cast", ["a"], ["y"], to=1)], [3, 8, 2], {}),
        "arg_min_last": ([n("Round", ["x"], ["r"]), n("ArgMin", ["r"], ["a"], axis=-1, keepdims=0, select_last_index=1),
                          n("Cast", ["a"], ["y"], to=1)], [3, 20], {}),
        "instance_norm": ([n("InstanceNormalization", ["x", "s", "b"], ["y"])], [2, 3, 4, 5],
                          {"s": weight(3), "b": weight(3)}),
        "conv_transposed": ([n("ConvTranspose", ["x", "w", "b"], ["y"], strides=[2, 3], pads=[1, 0, 2, 1],
                               output_padding=[1, 0], dilations=[1, 2])], [1, 3, 5, 4],
                            {"w": weight(3, 2, 3, 2), "b": weight(2)}),
        "conv_transposed_groups": ([n("ConvTranspose", ["x", "w"], ["y"], strides=[2], group=2)], [2, 4, 5],
                                   {"w": weight(4, 3, 3)}),
        "quantised": ([n("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1), n("DequantizeLinear", ["q", "s", "z"], ["y"], axis=1)],
                      [2, 3, 4], {"s": np.float32([0.05, 0.1, 0.01]), "z": np.array([3, 200, 0], np.uint8)}),
        "pad_reflect": ([n("Pad", ["x", "by"], ["y"], mode="reflect")], [1, 5, 4], {"by": np.array([0, 2, 0, 0, 3, 1], np.int64)}),
        "pad_edge": ([n("Pad", ["x", "by"], ["y"], mode="edge")], [1, 5, 4], {"by": np.array([0, 2, 0, 0, 9, 1], np.int64)}),
        "arg_min_integers": ([n("Cast", ["x"], ["i"], to=7), n("ArgMin", ["i"], ["a"], axis=1), n("Cast", ["a"], ["y"], to=1)],
                             [3, 20], {}),
        "one_hot": ([n("Cast", ["x"], ["i"], to=7), n("OneHot", ["i", "size", "values"], ["y"], axis=1)], [2, 5],
                    {"size": np.int64(3), "values": np.float32([-1, 2])}),
        "sum_of_sizes": ([n("ReduceL1", ["x", "axes"], ["y"])], [3, 4, 5], {"axes": np.array([1], np.int64)}),
    }


@pytest.mark.parametrize("name", cases())
def test_an_operator_becomes_stablehlo(hone, tmp_path, name):
    import onnx
    onnx.save(model_of(*cases()[name]), tmp_path / "m.onnx")
    sound(hone("export", tmp_path / "m.onnx", "-o", tmp_path / "m.mlir"))
    assert '"func.return"' in (tmp_path / "m.mlir").read_text()


def test_xla_computes_the_operators(hone, tmp_path):
    import onnx
    engine = environment("xla")
    for name, case in cases().items():
        onnx.save(model_of(*case), tmp_path / f"{name}.onnx")
    hone("bench", *(tmp_path / f"{name}.onnx" for name in cases()), "--backend", "xla", "--route", "stablehlo-hone", *QUICK,
         *engine, "--json", tmp_path / "s.json", timeout=400)
    for row in json.loads((tmp_path / "s.json").read_text())["records"]:
        assert row["status"] == "ok" and row["rel_l2"] < 1e-4, (row["model"], row["reason"])


def test_all_that_has_no_rule_is_named(hone, tmp_path):
    import onnx
    from onnx import helper as h
    onnx.save(model_of([h.make_node("TopK", ["x", "k"], ["t", "at"], axis=1), h.make_node("CumSum", ["t", "one"], ["y"])], [1, 4, 4],
                       {"k": [4], "one": 1}), tmp_path / "r.onnx")
    result = hone("export", tmp_path / "r.onnx", "-o", tmp_path / "r.mlir")
    refused(result, "E_UNSUP", "TopK (1): ")
    assert "CumSum (1): " in result.errors
    assert not (tmp_path / "r.mlir").exists()
    refused(hone("export", "zoo:mlp", "-o", tmp_path / "m.txt"), "E_USAGE", "FILE.mlir")


def test_the_page_is_current(hone):
    """docs/stablehlo.md: the operators that have a rule, and which of the built-in models are written."""
    tool = pathlib.Path(__file__).resolve().parents[2] / "tools/stablehlo_table.py"
    from hone import HONE
    result = subprocess.run([sys.executable, tool, HONE, "--check"], capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


def test_export_writes_onnx_that_is_the_same_model(hone, tmp_path):
    sound(hone("export", "zoo:mlp", "-o", tmp_path / "m.onnx"))
    sound(hone("verify", tmp_path / "m.onnx"))


def test_a_route_is_a_dimension(hone, tmp_path):
    flags = [*QUICK, "--json", tmp_path / "s.json"]
    result = hone("bench", "zoo:mlp", "--backend", "xla,native", "--route", "onnx,stablehlo-hone", *flags)
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    routes = sorted((row["backend"], row["route"]) for row in rows)
    assert routes == [("native", "onnx"), ("xla", "onnx"), ("xla", "stablehlo-hone")], result
    assert all("--route stablehlo-hone" in row["repeat"] for row in rows if row["route"] != "onnx")
    refused(hone("bench", "zoo:mlp", "--route", "hlo", "--dry-run"), "E_USAGE", "hone list engines")

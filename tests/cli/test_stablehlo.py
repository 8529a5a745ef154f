"""hone export -o FILE.mlir: StableHLO by hone, run by XLA where jaxlib is, against the reference."""

import json
import os
import pathlib

import pytest

from hone import refused, sound

# Small forms of the zoo's families: every operator of the built-in models.
SMALL = ["mlp", "conv,batch=1", "mnist_cnn", "transformer,batch=1,sequence=8", "mobilenet_v3_small,size=32",
         "resnet18,size=32", "gcn,size=64", "graphsage,size=64", "gat,size=64", "dlrm,batch=2"]

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
    sound(hone("export", f"zoo:{name}", "-o", tmp_path / "a.mlir", timeout=120))
    text = (tmp_path / "a.mlir").read_text()
    sound(hone("export", f"zoo:{name}", "-o", tmp_path / "b.mlir", timeout=120))
    assert text == (tmp_path / "b.mlir").read_text()
    assert text.count("func.func @main(") == 1 and '"func.return"' in text
    names = [line.split(" = ")[0].strip() for line in text.splitlines() if line.startswith("    %t")]
    assert len(names) == len(set(names)) > 3 and "none>" not in text


@pytest.mark.parametrize("name,models", [("xla", SMALL), ("iree", SMALL[:2] + SMALL[5:7])])
def test_an_engine_computes_what_the_reference_computes(hone, tmp_path, name, models):
    """hone's StableHLO, compiled by another's compiler; the study checks the outputs."""
    result = hone("bench", *[f"zoo:{m}" for m in models], "--backend", name, "--route", "stablehlo-hone", *QUICK,
                  *environment(name), "--json", tmp_path / "s.json", timeout=400)
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    assert len(rows) == len(models), result
    for row in rows:
        assert row["status"] == "ok" and row["route"] == "stablehlo-hone", (row["model"], row["reason"])
        assert row["rel_l2"] < 1e-4, row["model"]


def test_what_has_no_rule_is_named(hone, tmp_path):
    import onnx
    from onnx import helper as h
    info = h.make_tensor_value_info("x", 1, [1, 1, 4, 4]), h.make_tensor_value_info("y", 1, [1, 1, 8, 8])
    graph = h.make_graph([h.make_node("Resize", ["x", "", "s"], ["y"])], "g", [info[0]], [info[1]],
                         [h.make_tensor("s", 1, [4], [1, 1, 2, 2])])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), tmp_path / "r.onnx")
    result = hone("export", tmp_path / "r.onnx", "-o", tmp_path / "r.mlir")
    refused(result, "E_UNSUP", "Resize")
    assert not (tmp_path / "r.mlir").exists()
    refused(hone("export", "zoo:mlp", "-o", tmp_path / "m.txt"), "E_USAGE", "FILE.mlir")


def test_export_writes_onnx_that_is_the_same_model(hone, tmp_path):
    sound(hone("export", "zoo:mlp", "-o", tmp_path / "m.onnx"))
    sound(hone("verify", tmp_path / "m.onnx", timeout=120))


def test_a_route_is_a_dimension(hone, tmp_path):
    flags = [*QUICK, "--json", tmp_path / "s.json"]
    result = hone("bench", "zoo:mlp", "--backend", "xla,native", "--route", "onnx,stablehlo-hone", *flags, timeout=120)
    rows = json.loads((tmp_path / "s.json").read_text())["records"]
    routes = sorted((row["backend"], row["route"]) for row in rows)
    assert routes == [("native", "onnx"), ("xla", "onnx"), ("xla", "stablehlo-hone")], result
    assert all("--route stablehlo-hone" in row["repeat"] for row in rows if row["route"] != "onnx")
    refused(hone("bench", "zoo:mlp", "--route", "hlo", "--dry-run"), "E_USAGE", "hone list engines")

"""hone bench with real engines: each is judged by its own result, even where hone's importer refuses the model."""

import importlib.util
import json
import pathlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper as h

import hostile
from hone import SHARED, sound, with_long

QUICK = ["--rounds", "1", "--processes", "1", "--min-time", "0.01", "--min-samples", "3",
         "--warmup", "0.005", "--no-measure", "--threads", "1", "--json", "-"]


def engine(name):
    """The engine in this Python's environment, else the one that 'hone backends install' made."""
    found = importlib.util.find_spec(name)
    installed = pathlib.Path("~/.local/share/hone/engines").expanduser() / name
    if not found and not installed.is_dir():
        pytest.skip(f"{name} is not installed")
    path = pathlib.Path(found.origin).parent.parent if found else installed
    return ["--engine", f"{name}={path}"]


@pytest.fixture
def engines(hone):
    words = engine("onnxruntime") + engine("openvino")

    def bench(path, *more, **keys):
        result = hone("bench", path, *QUICK, *words, *more, **keys)
        records = json.loads(result.text)["records"]
        return result, {record["backend"]: record for record in records}

    return bench


def endless(trips, *, refused=False):
    """y = x after `trips` iterations of a loop whose body adds one and subtracts it again.

    refused: add an operator after the loop that ONNX Runtime has and hone refuses."""
    state = [T.FLOAT, [2, 2]]
    body = h.make_graph(
        [h.make_node("Identity", ["go"], ["go_on"]), h.make_node("Add", ["v", "one"], ["w"]),
         h.make_node("Sub", ["w", "one"], ["u"])], "body",
        [h.make_tensor_value_info("i", T.INT64, []), h.make_tensor_value_info("go", T.BOOL, []),
         h.make_tensor_value_info("v", *state)],
        [h.make_tensor_value_info("go_on", T.BOOL, []), h.make_tensor_value_info("u", *state)],
        initializer=[h.make_tensor("one", *state, [1] * 4)])
    nodes = [h.make_node("Loop", ["trips", "begin", "x"], ["z" if refused else "y"], body=body)]
    if refused:
        nodes.append(h.make_node("UnfoldTensor", ["z"], ["y"], domain="com.microsoft", dim=0, size=2))
    graph = h.make_graph(
        nodes, "g", [h.make_tensor_value_info("x", *state)],
        [h.make_tensor_value_info("y", T.FLOAT, [1, 2, 2] if refused else [2, 2])],
        initializer=[h.make_tensor("trips", T.INT64, [], [trips]),
                     h.make_tensor("begin", T.BOOL, [], [True])])
    opsets = [h.make_opsetid("", 17), h.make_opsetid("com.microsoft", 1)]
    return h.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("refused", [False, True])
def test_an_endless_model_ends(engines, tmp_path, refused):
    """Row 87: each stage is bounded once, each row has its own engine's end, and it is soon over."""
    onnx.save(endless(2**62, refused=refused), tmp_path / "endless.onnx")
    for limit in (2, 40):  # a machine that needs more than 2 s to load an engine or to refuse a file is busy
        result, rows = engines(tmp_path / "endless.onnx", "--timeout", f"{limit}", "--reference-budget", f"{limit / 2}",
                               "--resume", "never", timeout=60 * limit)
        if not refused or "UnfoldTensor" in rows["native"]["reason"]:
            break
    assert result.wall < 60 * limit, result
    endless_in = ["onnxruntime"] if refused else ["onnxruntime", "openvino", "native"]
    for name in endless_in:
        assert rows[name]["status"] == "timeout", result
        assert "--timeout" in rows[name]["reason"], result
    if refused:
        assert rows["native"]["stage"] == "import", result
        assert "UnfoldTensor" in rows["native"]["reason"], result


def test_a_refused_model_is_verified_by_two_engines(engines, tmp_path):
    """hone cannot read it, ONNX Runtime and OpenVINO agree on it: theirs is the reference."""
    onnx.save(endless(3), tmp_path / "loop.onnx")
    result, rows = engines(tmp_path / "loop.onnx")
    sound(result)
    assert rows["onnxruntime"]["status"] == "ok" and rows["openvino"]["status"] == "ok", result
    if rows["native"]["status"] != "ok":
        assert rows["native"]["stage"] == "import", result


def test_many_inputs_and_outputs(engines, tmp_path):
    """Row 88: a model with 85 of each is measured like any other."""
    names = [f"x{i}" for i in range(85)]
    graph = h.make_graph(
        [h.make_node("Neg", [n], ["y" + n]) for n in names], "g",
        [hostile.info(n) for n in names], [hostile.info("y" + n) for n in names])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8),
              tmp_path / "many.onnx")
    result, rows = engines(tmp_path / "many.onnx")
    sound(result)
    assert {row["status"] for row in rows.values()} == {"ok"}, result


@pytest.mark.long
def test_an_ill_conditioned_model_makes_nobody_wrong(engines):
    """A model that turns one ulp of its input into 1e-5 is judged by that, not by 1e-4."""
    path = SHARED / "models" / "basic_pitch" / "model.onnx"
    if not path.exists():
        pytest.skip("no collection of models at $HONE_SHARED")
    result, rows = engines(path)
    sound(result)
    assert {row["status"] for row in rows.values()} == {"ok"}, result


def test_precision_as_is_keeps_every_row(engines):
    """as-is is the precision of the file: every engine accepts it and gets a row."""
    result, rows = engines("zoo:mlp", "--precision", "as-is")
    sound(result)
    for name, row in rows.items():
        assert row["status"] == "ok" and row["effective_precision"] == "fp32", (name, result)
        assert "fallback" not in row["flags"], (name, result)


def test_what_lies_in_16_bits_is_computed_in_f32(hone, tmp_path):
    """native reads the float16 operand in place and reports its compute precision, as the engines do."""
    given = [h.make_tensor_value_info("x", T.FLOAT16, [64, 64])]
    nodes = [h.make_node("Cast", ["x"], ["wide"], to=T.FLOAT), h.make_node("Tanh", ["wide"], ["y"])]
    graph = h.make_graph(nodes, "g", given, [h.make_tensor_value_info("y", T.FLOAT, [64, 64])])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=9), tmp_path / "halves.onnx")
    result = hone("bench", tmp_path / "halves.onnx", *QUICK, "--backend", "native")
    row, = json.loads(result.text)["records"]
    assert row["status"] == "ok" and row["effective_precision"] == "fp32", result


def test_precision_bf16_is_a_group_of_its_own(hone, tmp_path):
    """fp32,bf16: native has a row in each, judged by its own tolerance and never against the other; without
    bf16 instructions (cpu=avx2) the row is right and has no rank; an engine that cannot says so."""
    words = ["bench", "zoo:mlp", *QUICK, *engine("onnxruntime")]
    result = hone(*words, "--precision", "fp32,bf16", "--backend", "native,onnxruntime")
    rows = {(r["backend"], r["precision"]): r for r in json.loads(result.text)["records"]}
    assert len(rows) == 4, result
    assert rows["onnxruntime", "bf16"]["status"] == "unsupported"
    for precision, least in (("fp32", 0), ("bf16", 1e-4)):
        row = rows["native", precision]
        assert row["status"] == "ok" and row["rank"] in (0, 1, 2), result
        assert least <= row["rel_l2"] < (3e-2 if least else 1e-4), result
    sinks = {kind: tmp_path / f"s.{kind}" for kind in ("md", "html", "svg")}
    result = hone(*words, "--precision", "bf16", "--backend", "native", "--backend-option", "native.cpu=avx2",
                  *(word for kind, path in sinks.items() for word in (f"--{kind}", path)))
    row = json.loads(result.text)["records"][0]
    assert "emulated" in row["flags"] and row["status"] == "ok" and not row["rank"], result
    assert row["portability"] == 1, "it ran correctly"
    text = {kind: path.read_text() for kind, path in sinks.items()}
    assert "| emulated |" in text["md"] and ">emulated</text>" in text["svg"]
    assert '<span class="pill undecided"' in text["html"] and ">emulated</span>" in text["html"] and ">ok</span>" not in text["html"]


@pytest.mark.long
def test_precision_fp16_halves_the_weights_that_a_product_waits_for(hone, tmp_path):
    """One token of a model in f32: about half of the bytes, within fp16's tolerance; a model whose weights stay in
    the caches is the same as in fp32."""
    model, sizes = "zoo:gpt2_decode,layers=1,vocabulary=50", {}
    for precision in ("fp32", "fp16"):
        sound(hone("compile", model, "--precision", precision, "-o", tmp_path / f"{precision}.so"))
        sizes[precision] = (tmp_path / f"{precision}.so").stat().st_size
    assert 0.45 < sizes["fp16"] / sizes["fp32"] < 0.75, sizes
    sound(hone("verify", model, "--precision", "fp16"))
    result = hone("bench", model, *QUICK, *engine("onnxruntime"), "--precision", "fp16", "--backend", "native,onnxruntime")
    rows = {r["backend"]: r for r in json.loads(result.text)["records"]}
    assert rows["native"]["status"] == "ok" and 1e-6 < rows["native"]["rel_l2"] < 5e-3, result
    assert rows["onnxruntime"]["status"] == "unsupported", result
    refused = hone("compile", model, "--precision", "fp8", "-o", tmp_path / "x.so")
    assert refused.id == "E_USAGE" and "as-is, fp32, bf16, fp16" in refused.errors, refused


def test_4_bit_weights_are_multiplied_as_floats_unless_int8_is_asked_for(engines):
    """By default both engines quantise the activations where the processor has int8 dot products. They would agree with
    each other and not with the reference, and the row would be disputed."""
    result, rows = engines("zoo:llama_3_2_1b_int4_decode,layers=1,width=128,vocabulary=64")
    for name, row in rows.items():
        assert row["status"] == "ok" and row["rel_l2"] < 1e-5, (name, row["status"], row["reason"])


@pytest.mark.long
def test_threads_that_worked_are_counted(engines):
    """Counts threads whose CPU time grew during the timed run; the engine's own count is not used."""
    result, rows = engines("zoo:mobilenet_v3_small")
    sound(result)
    for name, row in rows.items():
        assert row["busy_threads"] == 1, (name, result)


def test_mixed_precision_is_read_back(engines):
    """An 8-bit file of which an engine computes a part in floats says so in its row."""
    path = SHARED / "models" / "mlperf_ic_resnet8" / "model_int8_qdq.onnx"
    if not path.exists():
        pytest.skip("no collection of models at $HONE_SHARED")
    result, rows = engines(path)
    sound(result)
    for name in ("onnxruntime", "openvino"):
        words = rows[name]["effective_precision"].split("+")
        assert "int8" in words, (name, result)
        assert ("fallback" in rows[name]["flags"]) == (words != ["int8"]), (name, result)


def test_named_open_dimensions_are_fixed(engines, tmp_path):
    """ONNX Runtime is given the size of a named dimension before it plans, as the others are."""
    graph = h.make_graph(
        [h.make_node("Relu", ["x"], ["y"])], "g",
        [h.make_tensor_value_info("x", T.FLOAT, ["batch", 8])],
        [h.make_tensor_value_info("y", T.FLOAT, ["batch", 8])])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8),
              tmp_path / "open.onnx")
    result, rows = engines(tmp_path / "open.onnx", "--shape", "x[4,8]")
    sound(result)
    assert {row["status"] for row in rows.values()} == {"ok"}, result


@pytest.mark.parametrize("scenario", ["single", "multi", "offline"])
def test_openvinos_asynchronous_requests_are_right(hone, scenario):
    """start_async and wait: the outputs of every request that was checked are the reference's."""
    words = ["--scenario", scenario] + (["--streams", "3"] if scenario == "multi" else [])
    result = hone("bench", "zoo:mlp", "--backend", "openvino,openvino:async", *words, *QUICK, *engine("openvino"))
    rows = {row["variant"]: row for row in json.loads(result.text)["records"]}
    for name in ("default", "async"):
        assert rows[name]["status"] == "ok" and rows[name]["rel_l2"] < 1e-4, result
    assert rows["async"]["options"] == "async=1"


def test_openvinos_hints_are_rows(hone):
    result = hone("bench", "zoo:mlp", "--backend", "openvino:throughput,openvino:streams2", *QUICK,
                  *engine("openvino"))
    rows = {row["variant"]: row for row in json.loads(result.text)["records"]}
    assert {row["status"] for row in rows.values()} == {"ok"} and len(rows) == 2, result
    result = hone("bench", "zoo:mlp", "--backend", "openvino:async", "--backend-option", "openvino.requests=1",
                  *QUICK, *engine("openvino"))
    row = json.loads(result.text)["records"][0]
    assert row["status"] == "error" and "cannot be asynchronous" in row["reason"], result


def test_onnxruntimes_levels_modes_and_providers(hone):
    names = ["off", "basic", "extended", "parallel", "int8"]
    result = hone("bench", "zoo:mlp", "--backend", ",".join(f"onnxruntime:{n}" for n in names), *QUICK,
                  *engine("onnxruntime"))
    rows = {row["variant"]: row for row in json.loads(result.text)["records"]}
    assert sorted(rows) == sorted(names) and {row["status"] for row in rows.values()} == {"ok"}, result
    for provider, status in (("CPU", "ok"), ("CUDA", "unsupported")):
        result = hone("bench", "zoo:mlp", "--backend", "onnxruntime", "--backend-option",
                      f"onnxruntime.provider={provider}", *QUICK, *engine("onnxruntime"))
        row = json.loads(result.text)["records"][0]
        assert row["status"] == status, result
    assert "is built with" in row["reason"] and "CPUExecutionProvider" in row["reason"]


def test_a_torch_export_file_reaches_engines_as_onnx_that_hone_writes(hone, engines):
    """Only hone reads the .pt2 file; the rows of other engines say by which route they got the model."""
    model = pathlib.Path(__file__).resolve().parents[1] / "cases/pt2/small.pt2"
    result, rows = engines(model, "--backend", "native,onnxruntime,openvino")
    assert {name: row["route"] for name, row in rows.items()} == \
        {"native": "pt2", "onnxruntime": "onnx-hone", "openvino": "onnx-hone"}, result
    assert all(row["status"] == "ok" for row in rows.values()), result
    assert all(row["artifact_size_bytes"] > 0 and row["import_time_ms"] > 0
               for name, row in rows.items() if name != "native"), rows
    result, rows = engines("zoo:mlp", "--backend", "onnxruntime", "--route", "onnx-hone")
    assert rows["onnxruntime"]["route"] == "onnx-hone" and rows["onnxruntime"]["status"] == "ok", result
    assert "--route onnx-hone" in rows["onnxruntime"]["repeat"]


@pytest.mark.parametrize("name", with_long(["?"], "L", "None", "unk__7", "-1", ""))
def test_one_symbolic_name_on_two_axes(hone, engines, tmp_path, name):
    """paddle2onnx writes x[-1,3,'?','?']: --shape gives each axis its size, in hone and in the engines."""
    graph = h.make_graph(
        [h.make_node("Relu", ["x"], ["r"]), h.make_node("GlobalAveragePool", ["r"], ["p"]),
         h.make_node("Flatten", ["p"], ["y"])], "g",
        [h.make_tensor_value_info("x", T.FLOAT, [-1, 3, name, name])],
        [h.make_tensor_value_info("y", T.FLOAT, [-1, 3])])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), tmp_path / "axes.onnx")
    result, rows = engines(tmp_path / "axes.onnx", "--shape", "x[1,3,6,10]")
    assert {row["status"] for row in rows.values()} == {"ok"}, result
    seen = hone("inspect", tmp_path / "axes.onnx", "--shape", "x[1,3,6,10]")
    assert seen.code == 0 and ("is 6 and 10 in --shape" in str(seen)) == (name == "L"), seen


def test_a_row_that_saturates_says_so(engines, tmp_path):
    """Bytes by large weights on a processor without VNNI, as oneDNN is told: wrong, with the reason in front."""
    weights = np.random.default_rng(0).integers(100, 128, (64, 64)).astype(np.int8)
    constants = {"xs": np.float32(1 / 255), "xz": np.uint8(0), "w": weights, "ws": np.float32(0.01), "wz": np.int8(0)}
    onnx.save(h.make_model(h.make_graph(
        [h.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]), h.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
         h.make_node("DequantizeLinear", ["w", "ws", "wz"], ["v"]), h.make_node("MatMul", ["d", "v"], ["y"])],
        "g", [h.make_tensor_value_info("x", T.FLOAT, [8, 64])], [h.make_tensor_value_info("y", T.FLOAT, [8, 64])],
        [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]),
        opset_imports=[h.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    np.save(tmp_path / "ones.npy", np.ones((8, 64), np.float32))
    words = ["--backend", "native,openvino", "--input", f"x={tmp_path / 'ones.npy'}", "--resume", "never"]
    result, rows = engines(tmp_path / "m.onnx", *words, "--backend-option", "openvino.env.ONEDNN_MAX_CPU_ISA=AVX2")
    assert rows["native"]["status"] == "ok" and rows["openvino"]["status"] == "wrong", result
    assert rows["openvino"]["reason"].startswith("saturates on processors without VNNI"), result
    if "vnni" in pathlib.Path("/proc/cpuinfo").read_text():
        result, rows = engines(tmp_path / "m.onnx", *words)
        assert rows["openvino"]["status"] == "ok", result


def test_a_quantised_tflite_file_is_called_what_it_is(hone):
    """The engine gets the file itself, in int8, independent of the default precision."""
    model = pathlib.Path(__file__).resolve().parents[1] / "cases/tflite/conv-int8-same.tflite"
    result = hone("bench", model, "--backend", "native", *QUICK[:-2])
    assert result.code == 0 and "int8" in result.text.splitlines()[0], result
    row, = json.loads(hone("bench", model, "--backend", "native", *QUICK).text)["records"]
    assert (row["route"], row["effective_precision"]) == ("tflite", "int8") and "--route" not in row["repeat"], row

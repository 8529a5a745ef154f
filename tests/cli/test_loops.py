"""Loop, Scan and If with data-dependent control flow, against ONNX Runtime: the reference and compiled code."""

import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T, helper as h

from peer import BUILD, TOOLS, hone_outputs, model_of, peer_outputs, same

RANDOM = np.random.default_rng(3)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def body(nodes, states, collected=0, inputs=("i", "go"), outputs=("next",), constants=()):
    """states: (name in, name out, shape) each; what is collected is called o0, o1, ..."""
    first = [h.make_tensor_value_info(inputs[0], T.INT64, []), h.make_tensor_value_info(inputs[1], T.BOOL, [])] \
        if inputs else []
    last = [h.make_tensor_value_info(outputs[0], T.BOOL, [])] if outputs else []
    last += [h.make_tensor_value_info(to, T.FLOAT, shape) for _, to, shape in states]
    last += [h.make_empty_tensor_value_info(f"{outputs[0] if outputs else 's'}_o{k}") for k in range(collected)]
    first += [h.make_tensor_value_info(name, T.FLOAT, shape) for name, _, shape in states]
    return h.make_graph(nodes, "body", first, last, [onnx.numpy_helper.from_array(x, k) for k, x in dict(constants).items()])


n = h.make_node
X = floats(3, 4)
KEEP = n("Identity", ["go"], ["next"])
HALVE = [n("Mul", ["v", "half"], ["w"])]
HALF = {"half": np.array(0.5, np.float32)}


def counted():
    inner = body([KEEP, n("Cast", ["i"], ["f"], to=T.FLOAT), n("Add", ["v", "f"], ["w"]),
                  n("MatMul", ["w", "m"], ["next_o0"])], [("v", "w", [3, 4])], 1)
    return [n("Loop", ["trip", "", "x"], ["y", "rows"], body=inner)], {"m": floats(4, 5)}, ["y", "rows"]


def until():
    """No count: while the largest magnitude is above a half."""
    inner = body([*HALVE, n("Abs", ["w"], ["a"]), n("ReduceMax", ["a"], ["most"], keepdims=0),
                  n("Greater", ["most", "half"], ["next"])], [("v", "w", [3, 4])], constants=HALF)
    return [n("Loop", ["", "yes", "x"], ["y"], body=inner)], {"yes": np.array(True)}, ["y"]


def until_collected():
    """At most nine, and what is collected has that bound."""
    inner = body([*HALVE, n("Abs", ["w"], ["a"]), n("ReduceMax", ["a"], ["most"], keepdims=0),
                  n("Greater", ["most", "limit"], ["next"]), n("Identity", ["most"], ["next_o0"])],
                 [("v", "w", [3, 4])], 1, constants={**HALF, "limit": np.array(0.01, np.float32)})
    return [n("Loop", ["nine", "", "x"], ["y", "most"], body=inner)], {"nine": np.array(9)}, ["y", "most"]


def exchanged():
    """Fibonacci: each iteration's first carried value is the last one's second."""
    inner = body([KEEP, n("Add", ["a", "b"], ["c"]), n("Identity", ["b"], ["b2"])],
                 [("a", "b2", [3, 4]), ("b", "c", [3, 4])])
    swapped = body([n("Identity", ["go3"], ["next3"]), n("Identity", ["p"], ["p2"]), n("Identity", ["q"], ["q2"])],
                   [("p", "q2", [3, 4]), ("q", "p2", [3, 4])], inputs=("i3", "go3"), outputs=("next3",))
    return ([n("Loop", ["trip", "", "x", "x"], ["y", "z"], body=inner),
             n("Loop", ["trip", "", "y", "z"], ["u", "w"], body=swapped)], {}, ["y", "z", "u", "w"])


def nested():
    """The inner one runs as often as the outer one has already."""
    inner = body([n("Identity", ["go2"], ["next2"]), n("Add", ["v2", "x"], ["w2"])], [("v2", "w2", [3, 4])],
                 inputs=("j", "go2"), outputs=("next2",))
    outer = body([KEEP, n("Loop", ["i", "", "v"], ["u"], body=inner), n("Mul", ["u", "half"], ["w"])],
                 [("v", "w", [3, 4])], constants=HALF)
    return [n("Loop", ["trip", "", "x"], ["y"], body=outer)], {}, ["y"]


def branch(name, nodes):
    return h.make_graph(nodes, name, [], [h.make_empty_tensor_value_info(f"{name}_out")])


def branches():
    """An If inside, by the iteration; and a loop inside an If."""
    odd = n("If", ["is_odd"], ["w"], then_branch=branch("t", [n("Add", ["v", "x"], ["t_out"])]),
            else_branch=branch("e", [n("Mul", ["v", "half"], ["e_out"])]))
    inner = body([KEEP, n("Mod", ["i", "two"], ["rest"]), n("Cast", ["rest"], ["is_odd"], to=T.BOOL), odd],
                 [("v", "w", [3, 4])], constants=HALF)
    looped = branch("l", [n("Loop", ["trip", "", "x"], ["l_out"], body=body(
        [n("Identity", ["go4"], ["next4"]), n("Neg", ["v4"], ["w4"])], [("v4", "w4", [3, 4])], inputs=("i4", "go4"),
        outputs=("next4",)))])
    return ([n("Loop", ["trip", "", "x"], ["y"], body=inner), n("Cast", ["trip"], ["any"], to=T.BOOL),
             n("If", ["any"], ["z"], then_branch=looped, else_branch=branch("k", [n("Identity", ["x"], ["k_out"])]))],
            {"two": np.array(2)}, ["y", "z"])


def behind():
    """Operators after the loop read its scan output and the value from before the loop."""
    inner = body([KEEP, n("Sin", ["v"], ["w"]), n("Identity", ["w"], ["next_o0"])], [("v", "w", [3, 4])], 1)
    return ([n("Exp", ["x"], ["before"]), n("Loop", ["trip", "", "before"], ["y", "all"], body=inner),
             n("Neg", ["all"], ["minus"]), n("Add", ["minus", "before"], ["sum"]), n("Shape", ["all"], ["size"])],
            {}, ["y", "sum", "size"])


MODELS = {f.__name__: f for f in (counted, until, until_collected, exchanged, nested, branches, behind)}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("trips", [0, 1, 2, 7])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_loop_equals_onnx_runtime(name, trips, tool, tmp_path):
    nodes, constants, outputs = MODELS[name]()
    given = {"x": X * np.float32(1 + trips) / 4}
    if any("trip" in node.input for node in nodes):
        given["trip"] = np.array(trips)
    onnx.save(model_of(nodes, given, constants, outputs), tmp_path / "m.onnx")
    wanted = peer_outputs(tmp_path / "m.onnx", given)
    same(hone_outputs(tool, tmp_path / "m.onnx", given, tmp_path), wanted)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("keep", [0, 1, 4])
def test_scan_over_a_size_of_the_data(keep, tool, tmp_path):
    """Rows that a mask leaves, summed one after the other."""
    inner = body([n("Add", ["s", "e"], ["s2"]), n("Mul", ["s2", "e"], ["s_o0"])],
                 [("s", "s2", [4])], 1, inputs=(), outputs=())
    inner.input.append(h.make_tensor_value_info("e", T.FLOAT, [4]))
    nodes = [n("Compress", ["x", "mask"], ["some"], axis=0),
             n("Scan", ["zero", "some"], ["sum", "each"], num_scan_inputs=1, body=inner)]
    given = {"x": floats(6, 4), "mask": np.arange(6) < keep}
    onnx.save(model_of(nodes, given, {"zero": np.zeros(4, np.float32)}, ["sum", "each"]), tmp_path / "m.onnx")
    wanted = [np.zeros(4, np.float32), np.zeros((0, 4), np.float32)]  # ONNX Runtime takes no Scan of nothing
    if keep:
        wanted = peer_outputs(tmp_path / "m.onnx", given)
    same(hone_outputs(tool, tmp_path / "m.onnx", given, tmp_path), wanted)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("how", ["Loop", "always", "Scan"])
def test_a_known_count_above_what_is_unrolled(how, tool, tmp_path):
    """1500 iterations stay a loop of the artifact, and what they collect has that very length."""
    if how == "Scan":
        inner = h.make_graph([n("Add", ["v", "e"], ["w"]), n("Mul", ["w", "w"], ["o"])], "body",
                             [h.make_tensor_value_info(k, T.FLOAT, [4]) for k in ("v", "e")],
                             [h.make_tensor_value_info(k, T.FLOAT, [4]) for k in ("w", "o")])
        nodes = [n("Scan", ["zero", "x"], ["y", "rows"], num_scan_inputs=1, body=inner), n("Transpose", ["rows"], ["r"])]
        given, constants = {"x": floats(1500, 4) / 100}, {"zero": np.zeros(4, np.float32)}
    else:
        on = KEEP if how == "Loop" else n("Constant", [], ["next"], value=onnx.numpy_helper.from_array(np.array(True)))
        inner = body([on, n("Mul", ["v", "most"], ["w"]), n("ReduceSum", ["w"], ["next_o0"], keepdims=0)],
                     [("v", "w", [3, 4])], 1, constants={"most": np.array(0.999, np.float32)})
        nodes = [n("Loop", ["trip", "", "x"], ["y", "rows"], body=inner), n("Neg", ["rows"], ["r"])]
        given, constants = {"x": X}, {"trip": np.array(1500)}
    onnx.save(model_of(nodes, given, constants, ["y", "r"]), tmp_path / "m.onnx")
    wanted = peer_outputs(tmp_path / "m.onnx", given)
    assert 1500 in wanted[1].shape
    same(hone_outputs(tool, tmp_path / "m.onnx", given, tmp_path), wanted)


@pytest.mark.parametrize("tool", TOOLS)
def test_more_iterations_than_there_is_room_for(tool, tmp_path):
    """Scan outputs have the bound of --limit unroll if no other bound is known."""
    nodes, constants, outputs = counted()
    given = {"x": X, "trip": np.array(5000)}
    onnx.save(model_of(nodes, given, constants, outputs), tmp_path / "m.onnx")
    for k, value in enumerate(given.values()):
        np.save(tmp_path / f"in{k}.npy", value)
    done = subprocess.run([BUILD / tool, tmp_path / "m.onnx", tmp_path / "out", tmp_path / "in0.npy",
                           tmp_path / "in1.npy"], capture_output=True, text=True)
    assert done.returncode != 0 and "LIMIT" in done.stderr, done.stderr


def test_what_is_carried_keeps_its_shape(tmp_path):
    inner = body([KEEP, n("Concat", ["v", "v"], ["w"], axis=0)], [("v", "w", None)])
    given = {"x": X, "trip": np.array(2)}
    onnx.save(model_of([n("Loop", ["trip", "", "x"], ["y"], body=inner)], given), tmp_path / "m.onnx")
    done = subprocess.run([BUILD / "hone", "compile", tmp_path / "m.onnx", "-o", tmp_path / "m.so"],
                          capture_output=True, text=True)
    assert "E_UNSUP" in done.stderr and "changes its type or shape" in done.stderr, done.stderr


@pytest.mark.parametrize("count", ["", "most"])
@pytest.mark.parametrize("how", ["true", "kept"])
def test_a_loop_that_never_ends(how, count, tmp_path):
    """Without a trip count, or with the largest integer, which means none, and with a condition that no iteration changes."""
    on = KEEP if how == "kept" else n("Constant", [], ["next"], value=onnx.numpy_helper.from_array(np.array(True)))
    inner = body([on, *HALVE], [("v", "w", [3, 4])], constants=HALF)
    given, constants = {"x": X, "go": np.array(True)}, {"most": np.array(2**63 - 1)} if count else {}
    onnx.save(model_of([n("Loop", [count, "go", "x"], ["y"], body=inner)], given, constants), tmp_path / "m.onnx")
    done = subprocess.run([BUILD / "hone", "inspect", tmp_path / "m.onnx"], capture_output=True, text=True)
    assert "E_UNSUP" in done.stderr and "the loop never ends" in done.stderr, done.stderr

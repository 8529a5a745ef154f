"""Files that break a rule of ONNX: read as ONNX Runtime reads them, or refused with the reason. Each is compared
with ONNX Runtime: a file that both run gives the same outputs."""

import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T, helper as h, numpy_helper

from peer import BUILD, peer_outputs

n, info = h.make_node, h.make_tensor_value_info
X = np.random.default_rng(2).standard_normal((2, 3)).astype(np.float32)
ONES = numpy_helper.from_array(np.ones((2, 3), np.float32), "one")
IN, OUT = [info("x", T.FLOAT, [2, 3])], [info("y", T.FLOAT, [2, 3])]


def model(nodes, inputs=IN, outputs=OUT, constants=(), imports=(("", 17),), values=(), ir=8):
    graph = h.make_graph(nodes, "g", inputs, outputs, list(constants), value_info=list(values))
    made = h.make_model(graph, opset_imports=[h.make_opsetid(*one) for one in imports], ir_version=ir)
    return made


def without_opsets():
    made = model([n("Neg", ["x"], ["y"])])
    del made.opset_import[:]
    return made


def branch(nodes, out):
    return h.make_graph(nodes, "b", [], [h.make_empty_tensor_value_info(out)])


def shadowing():
    """A branch makes a value of a name that the graph around it has."""
    then = branch([n("Neg", ["x"], ["a"])], "a")
    other = branch([n("Abs", ["x"], ["b"])], "b")
    return model([n("Exp", ["x"], ["a"]), n("ReduceSum", ["a"], ["s"], keepdims=0), n("Greater", ["s", "z"], ["c"]),
                  n("If", ["c"], ["y"], then_branch=then, else_branch=other)],
                 constants=[numpy_helper.from_array(np.array(0, np.float32), "z")])


def known_if(taken):
    """An If of a known condition, of whose branches one holds an operator that ONNX Runtime has and hone has not."""
    strange = branch([n("SampleOp", ["x"], ["a"], domain="com.microsoft")], "a")
    plain = branch([n("Abs", ["x"], ["b"])], "b")
    return model([n("If", ["c"], ["y"], then_branch=strange, else_branch=plain)], imports=(("", 17), ("com.microsoft", 1)),
                 constants=[numpy_helper.from_array(np.array(taken), "c")])


def typed(kind, value):
    made = model([n("Concat", ["x", "x"], ["y"], axis=1)], outputs=[info("y", T.FLOAT, [2, 6])])
    attribute = made.graph.node[0].attribute[0]
    attribute.Clear()
    attribute.CopyFrom(h.make_attribute("axis", value))
    return made


def short_payload():
    made = model([n("Add", ["x", "one"], ["y"])], constants=[ONES])
    made.graph.initializer[0].raw_data = made.graph.initializer[0].raw_data[:-4]
    return made


NEG = n("Neg", ["x"], ["y"])
ADD = n("Add", ["x", "one"], ["y"])
CASES = {
    # what runs
    "two nodes of one name": (lambda: model([n("Neg", ["x"], ["a"], name="k"), n("Abs", ["a"], ["y"], name="k")]), "runs"),
    "no names of nodes": (lambda: model([n("Neg", ["x"], ["a"]), n("Abs", ["a"], ["y"])]), "runs"),
    "a constant nobody reads": (lambda: model([NEG], constants=[ONES]), "runs"),
    "an input nobody reads": (lambda: model([NEG], [*IN, info("u", T.FLOAT, [1])]), "runs"),
    "a value nobody reads": (lambda: model([n("Exp", ["x"], ["u"]), NEG]), "runs"),
    "a constant that is an input, too": (lambda: model([ADD], [*IN, info("one", T.FLOAT, [2, 3])], constants=[ONES]), "runs"),
    "a node before what it reads": (lambda: model([n("Abs", ["a"], ["y"]), n("Neg", ["x"], ["a"])]), "runs"),
    "operands left out at the end": (lambda: model([n("Clip", ["x", "", ""], ["y"])]), "runs"),
    "an output of another shape": (lambda: model([NEG], outputs=[info("y", T.FLOAT, [3, 2])]), "runs"),
    "an output of another rank": (lambda: model([NEG], outputs=[info("y", T.FLOAT, [6])]), "runs"),
    "an output without a type": (lambda: model([NEG], outputs=[h.make_empty_tensor_value_info("y")]), "runs"),
    "a value of another shape": (lambda: model([n("Neg", ["x"], ["a"]), n("Abs", ["a"], ["y"])],
                                               values=[info("a", T.FLOAT, [5, 5])]), "runs"),
    "a shape of no value": (lambda: model([NEG], values=[info("nobody", T.FLOAT, [5])]), "runs"),
    "an output that is an input": (lambda: model([NEG], outputs=[*OUT, info("x", T.FLOAT, [2, 3])]), "runs"),
    "an output that is a constant": (lambda: model([NEG], outputs=[*OUT, info("one", T.FLOAT, [2, 3])], constants=[ONES]), "runs"),
    "a domain by its long name": (lambda: model([NEG], imports=(("ai.onnx", 17),)), "runs"),
    "an import nobody needs": (lambda: model([NEG], imports=(("", 17), ("com.example", 3))), "runs"),
    "an old IR": (lambda: model([NEG], ir=3), "runs"),
    "a domain without an import": (lambda: model([n("Binarizer", ["x"], ["y"], domain="ai.onnx.ml")]), "runs"),
    "two constants of one name": (lambda: model([ADD], constants=[ONES, ONES]), "runs"),
    "a branch's value of an outer name": (shadowing, "runs"),
    "an unknown operator where nobody goes": (lambda: known_if(False), "runs"),
    # what is refused
    "an unknown operator where the run goes": (lambda: known_if(True), "E_UNSUP"),
    "a value made twice": (lambda: model([NEG, n("Abs", ["x"], ["y"])]), "E_FORMAT"),
    "an input made again": (lambda: model([n("Abs", ["x"], ["x"]), NEG]), "E_FORMAT"),
    "a constant made again": (lambda: model([n("Abs", ["x"], ["one"]), ADD], constants=[ONES]), "E_FORMAT"),
    "a name of nothing": (lambda: model([n("Add", ["x", "nobody"], ["y"])]), "E_FORMAT"),
    "an output of nothing": (lambda: model([NEG], outputs=[*OUT, info("nobody", T.FLOAT, [2])]), "E_FORMAT"),
    "a circle": (lambda: model([n("Add", ["x", "b"], ["a"]), n("Neg", ["a"], ["b"]), n("Abs", ["b"], ["y"])]), "E_FORMAT"),
    "no operator of that name": (lambda: model([n("Nothing", ["x"], ["y"])]), "E_UNSUP"),
    "no import at all": (without_opsets, "E_FORMAT"),
    "a float for an integer": (lambda: typed(T.FLOAT, 1.0), "E_FORMAT"),
    "a text for an integer": (lambda: typed(T.STRING, "1"), "E_FORMAT"),
    "an attribute nobody knows": (lambda: model([n("Neg", ["x"], ["y"], nobody=3)]), "E_FORMAT"),
    "too little payload": (short_payload, "E_FORMAT"),
    "an opset of the future": (lambda: model([NEG], imports=(("", 999),)), "E_UNSUP"),
    "an output of another type": (lambda: model([NEG], outputs=[info("y", T.INT64, [2, 3])]), "E_TYPE"),
    "an output listed twice": (lambda: model([NEG], outputs=[*OUT, *OUT]), "runs"),
    "too many operands": (lambda: model([n("Neg", ["x", "x"], ["y"])]), "E_FORMAT"),
}


# Read with a warning; run by hone alone, for which names of a branch are its own and names of nodes mean nothing; run
# by ONNX Runtime alone: the outputs of an artifact have names of their own.
WARNED = {"a node before what it reads", "an output of another rank", "an output of another shape",
          "a domain without an import", "two constants of one name"}
ONLY_HONE = {"a branch's value of an outer name", "two nodes of one name"}
ONLY_PEER = {"an unknown operator where the run goes"}


def by_peer(path, given):
    try:
        return peer_outputs(path, given), ""
    except Exception as error:
        return None, str(error)


@pytest.mark.parametrize("name", sorted(CASES))
def test_broken_rule(name, tmp_path):
    make, expected = CASES[name]
    made = make()
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    given = {one.name: X if one.name in ("x", "one") else np.zeros(1, np.float32) for one in made.graph.input}
    words = []
    for key, value in given.items():
        np.save(tmp_path / f"{key}.npy", value)
        words += ["--input", f"{key}={tmp_path}/{key}.npy"] if key != "one" else []
    given.pop("one", None)
    done = subprocess.run([BUILD / "hone", "run", path, *words, "-o", tmp_path / "out"], capture_output=True, text=True)
    wanted, why = by_peer(path, given)
    if expected != "runs":
        assert done.returncode and expected in done.stderr, done.stderr
        assert wanted is None or name in ONLY_PEER, "ONNX Runtime runs it"
        return
    assert not done.returncode, done.stderr
    assert ("warning" in done.stderr) == (name in WARNED), done.stderr
    if wanted is None:
        assert name in ONLY_HONE, why
        return
    for k, want in enumerate(wanted):
        np.testing.assert_allclose(np.load(tmp_path / "out" / f"out_{k}.npy"), want, rtol=1e-6)

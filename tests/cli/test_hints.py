"""Advice in messages is valid: every command that a source string names exists, every flag belongs
to a verb, and the remedy of an error id is correct for every cause of that id."""

import re

import numpy as np
import pytest

import hostile
from hone import ROOT, refused

SOURCES = [p for pattern in ("*.c", "*.def", "*.h") for p in sorted((ROOT / "src").rglob(pattern))
           if "embedded" not in p.parts]
# Sources that contain flags of other programs: compilers, linkers, pip, the artifact's own main.
OTHERS_FLAGS = {"src/compiler/toolchain", "src/bench/backends/engines.c", "src/judge/bundle/documents.c", "src/judge/gate", "src/ui/fleet", "src/core/machine/target.c", "src/ui/serve/job_pages.c", "src/compiler/run", "src/compiler/kernels", "src/compiler/import/gguf"}


def strings(path):
    """String literals of a source file, neighbours joined."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', text):
        parts = re.findall(r'"((?:[^"\\\n]|\\.)*)"', match.group(0))
        yield "".join(parts).replace('\\"', '"')


@pytest.fixture(scope="module")
def usage(tmp_path_factory):
    """verb -> its help."""
    from hone import Sandbox
    hone = Sandbox(tmp_path_factory.mktemp("help"))
    verbs = [line.split()[0] for line in hone("list", "verbs").text.splitlines()]
    return {verb: hone("help", verb).text for verb in verbs}


def flags_of(text):
    return set(re.findall(r"--[a-z][a-z-]*|(?<![\w-])-[a-z]\b", text))


def quoted_commands():
    for path in SOURCES:
        for string in strings(path):
            for command in re.findall(r"'hone(?: ([^']*))?'", string):
                yield path, command


def test_commands_that_messages_name(shared_hone, usage):
    seen = 0
    for path, command in quoted_commands():
        words = command.split()
        if not words or words[0].startswith("%"):
            continue
        seen += 1
        assert words[0] in usage, f"{path}: 'hone {command}'"
        assert flags_of(command) <= flags_of(usage[words[0]]), f"{path}: 'hone {command}'"
        plain = [w for w in words if w.islower() and "." not in w and "%" not in w]
        if words == plain and words[0] not in ("bench", "doctor", "inspect", "tune"):
            result = shared_hone(*words)
            assert result.id != "E_USAGE", f"{path}: 'hone {command}': {result}"
        if words[0] == "help" and len(words) > 1 and not words[1].startswith("%"):
            assert words[1] == "VERB" or words[1] in usage
    assert seen > 15


def test_flags_that_messages_name(usage):
    known = set().union(*(flags_of(text) for text in usage.values())) | {"--help", "--version"}
    for path in SOURCES:
        name = str(path.relative_to(ROOT))
        if any(name.startswith(other) for other in OTHERS_FLAGS) and name != "src/compiler/toolchain/compiler.c":
            continue
        for string in strings(path):
            string = re.sub(r"'(?!hone)[^']*'", "", string)  # another program's command line
            if name == "src/compiler/toolchain/compiler.c" and "name" not in string:
                continue
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", string):
                assert flag in known, f"{name}: {flag} in \"{string}\""


def test_hints_fit_their_cause(hone, tmp_path):
    """The same id, another cause, another hint."""
    def hint(result):
        return result.errors.splitlines()[1] if len(result.errors.splitlines()) > 1 else ""

    np.save(tmp_path / "f.npy", np.asfortranarray(np.zeros((4, 256), np.float32)))
    result = hone("run", "zoo:mlp", "--input", f"input={tmp_path}/f.npy")
    refused(result, "E_UNSUP", "ascontiguousarray")
    assert "list ops" not in result.errors
    (tmp_path / "m.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(100))
    result = hone("inspect", tmp_path / "m.tflite", "--no-measure")
    assert result.code and "damaged" not in result.errors, result
    wrong = ROOT / "tests/cases/tflite-wrong"
    assert "docs/reference/tflite.md" in hint(hone("inspect", wrong / "detections-unknown.tflite"))
    unknown = (wrong / "detections-unknown.tflite").read_bytes()
    (tmp_path / "flex.tflite").write_bytes(unknown.replace(b"\4\0\0\0Mine", b"\4\0\0\0Flex"))
    assert "TFLITE_BUILTINS" in hint(hone("inspect", tmp_path / "flex.tflite"))
    (tmp_path / "m.pt").write_bytes(b"\x80\x02" + bytes(100))
    result = hone("inspect", tmp_path / "m.pt", "--no-measure")
    refused(result, "E_TRUST", "export")
    assert "--trust" not in result.errors
    (tmp_path / "notes.onnx").write_text("What the model is for.\nA line more, and öne.\n")
    result = hone("inspect", tmp_path / "notes.onnx", "--no-measure")
    refused(result, "E_FORMAT", "looks like text")
    assert "export" in hint(result)
    assert "a folder" in hone("inspect", tmp_path).errors
    for spec, near in (("bert", "bert_base"), ("mpl", "mlp"), ("foo", None), ("", None)):
        result = hone("bench", f"zoo:{spec}", "--backend", "native")
        assert ("did you mean" in result.errors) == bool(near) and (near or "") in result.errors and "zoo list" in hint(result), result
    assert "zoo list" in hint(hone("inspect", "zoo:mlp,colour=1"))
    refused(hone("doctor", "zoo:mlp"), "E_USAGE")
    (tmp_path / "up.onnx").write_bytes(hostile.external("../w.bin").SerializeToString())
    assert "--side-files-from" in hint(hone("inspect", tmp_path / "up.onnx"))
    (tmp_path / "words").write_text("words")
    result = hone("inspect", "zoo:mlp", "--no-measure", "--json", tmp_path / "words")
    assert "side" not in hint(result) and "another path" in hint(result)
    (tmp_path / "x.onnx").write_bytes(hostile.identity().SerializeToString())
    result = hone("inspect", tmp_path / "x.onnx", "--limit", "file_bytes=10")
    refused(result, "E_LIMIT")
    assert "--limit file_bytes=VALUE" in hint(result)
    assert "'hone help run'" in hint(hone("run", "zoo:mlp", "--nonsense"))
    result = hone("report", "nobody", "--store", ROOT / "tests/cases/store/v1.db")
    assert "zoo" not in result.errors and "hone studies" in result.errors

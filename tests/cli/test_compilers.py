"""C compilers that are absent, broken, slow or out of disk space: the message says which, nothing broken appears at the
output's path, and no process or temporary file remains."""

import ctypes
import os
import pathlib
import resource
import signal
import subprocess
import time

import numpy as np
import onnx
import pytest
from hone import ROOT, processes_of, refused, sound, until, without_compiler_cache
from onnx import TensorProto, helper

VERSION = '#!/bin/sh\n[ "$1" = --version ] && echo "fake 1.0" && exit 0\n'
# Every word after -o becomes a file of rubbish.
RUBBISH = 'while [ $# -gt 0 ]; do [ "$1" = -o ] && echo hello > "$2"; shift; done\n'
# The real compiler, whose linked file is replaced.
SWAPPED = 'cc "$@" || exit 1\ncase "$*" in *-shared*) cp "{}" product;; esac\n'
ENDS = [".so", ".a", ""]


@pytest.fixture
def hone(hone):
    """Limits, signals and words are those of the compiler itself."""
    hone.env["PATH"] = without_compiler_cache(hone.env["PATH"])
    return hone


@pytest.fixture
def compiler(hone):
    def make(text, name="fake-cc"):
        path = hone.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path
    return make


def nothing_stays(hone, *made):
    assert not list((hone.folder / "tmp").iterdir())
    assert not [p.name for p in hone.folder.iterdir() if p.name.startswith(".")]
    for name in made:
        assert not (hone.folder / name).exists(), name


@pytest.mark.parametrize("ending", ENDS)
@pytest.mark.parametrize("text", ["#!/bin/bash\n" + RUBBISH, VERSION + RUBBISH], ids=["all", "but-its-version"])
def test_rubbish_never_appears(hone, compiler, ending, text):
    refused(hone("compile", "zoo:mlp", "-o", "m" + ending, "--cc", compiler(text)), "E_CRASH", "is broken")
    nothing_stays(hone, "m" + ending, "m.h")
    assert not list((hone.folder / "cache").rglob("*.sum"))


def test_what_was_there_stays(hone, compiler):
    sound(hone("compile", "zoo:mlp", "-o", "m.so"))
    before = (hone.folder / "m.so").read_bytes()
    refused(hone("compile", "zoo:mlp", "-o", "m.so", "--cc", compiler(VERSION + RUBBISH)), "E_CRASH")
    assert (hone.folder / "m.so").read_bytes() == before


def library(hone, name, text):
    """A shared library of that C text."""
    (hone.folder / f"{name}.c").write_text(text)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", hone.folder / f"{name}.so", hone.folder / f"{name}.c"], check=True)
    return hone.folder / f"{name}.so"


SMALL = "zoo:conv"


@pytest.mark.parametrize("text, why", [
    ("int other(void) { return 1; }", "the model's entry"),
    ("const void *m_artifact(void) { return 0; }", "another model"),
    ("__attribute__((constructor)) static void end(void) { __builtin_trap(); } void *m_artifact(void) { return 0; }",
     "ended the process: SIG"),
    ("int absent(void); void *m_artifact(void) { return (void *)absent; }", "cannot be loaded")],
    ids=["no-entry", "empty-entry", "dies", "unresolved"])
def test_a_library_that_does_not_load_never_appears(hone, compiler, text, why):
    wrong = library(hone, "wrong", text)
    refused(hone("compile", SMALL, "-o", "m.so", "--cc", compiler("#!/bin/sh\n" + SWAPPED.format(wrong))), "E_CRASH", why)
    nothing_stays(hone, "m.so", "m.h")


def test_another_model_never_appears(hone, compiler):
    sound(hone("compile", "zoo:mlp", "-o", "other.so", "--prefix", "m"))
    wrong = SWAPPED.format(hone.folder / "other.so")
    refused(hone("compile", SMALL, "-o", "m.so", "--cc", compiler("#!/bin/sh\n" + wrong)), "E_CRASH", "another model")
    nothing_stays(hone, "m.so")


def xxh3(data):
    class Hash(ctypes.Structure):
        _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]
    function = ctypes.CDLL("libxxhash.so.0").XXH3_128bits
    function.restype, function.argtypes = Hash, [ctypes.c_char_p, ctypes.c_size_t]
    got = function(data, len(data))
    return f"{got.high:016x}{got.low:016x}"


@pytest.mark.parametrize("model", [SMALL, "zoo:mlp"], ids=["whole", "weights-inserted"])
def test_a_broken_entry_of_the_cache_is_compiled_again(hone, model):
    """An entry whose sum is right, as an older hone may have left it."""
    sound(hone("compile", model, "-o", "m.so"))
    entries = [p for p in (hone.folder / "cache").rglob("*.sum")]
    assert entries
    wrong = library(hone, "wrong", "const void *m_artifact(void) { return 0; }").read_bytes()
    for entry in entries:
        entry.with_suffix("").write_bytes(wrong)
        entry.write_text(xxh3(wrong))
    before = (hone.folder / "m.so").read_bytes()
    result = hone("compile", model, "-o", "m.so")
    sound(result)
    assert "from cache" not in result.errors
    assert (hone.folder / "m.so").read_bytes() == before
    again = hone("compile", model, "-o", "m.so")
    sound(again)
    assert "from cache" in again.errors


# -- compilers that are not there, or not whole ----------------------------------------------------------------------------


@pytest.mark.parametrize("target, package", [
    ("aarch64-linux-gnu", "gcc-aarch64-linux-gnu"), ("riscv64-linux-gnu", "gcc-riscv64-linux-gnu"),
    ("arm-none-eabi", "gcc-arm-none-eabi"), ("riscv32-unknown-elf", "gcc-riscv64-unknown-elf")])
def test_a_missing_cross_compiler_is_named(hone, target, package):
    """With a PATH of gcc and clang alone, as most machines have it."""
    bin_ = hone.folder / "bin"
    bin_.mkdir()
    for tool in ("cc", "gcc", "clang", "as", "ld", "ar", "sh", "bash"):
        for folder in ("/usr/bin", "/bin"):
            if (pathlib.Path(folder) / tool).exists():
                (bin_ / tool).symlink_to(f"{folder}/{tool}")
                break
    result = hone("compile", "zoo:mlp", "-o", "m.a", "--target", target, env={"PATH": str(bin_)})
    refused(result, "E_MISSING", f"apt-get install {package}")
    nothing_stays(hone, "m.a", "m.h")


def test_doctor_shows_cross_compilers(hone):
    result = hone("doctor")
    for word in ("aarch64-linux-gnu", "arm-none-eabi", "riscv32-unknown-elf", "apt-get install gcc-"):
        assert word in result.text + result.errors, result


@pytest.mark.parametrize("text", ["exit 3", "echo broken >&2; exit 1", "kill -KILL $$"])
def test_a_compiler_whose_version_fails_is_missing(hone, compiler, text):
    refused(hone("compile", "zoo:mlp", "-o", "m.so", "--cc", compiler(f"#!/bin/sh\n{text}\n")), "E_MISSING", "--version failed")


def test_a_broken_cc_does_not_hide_gcc(hone, compiler):
    bin_ = hone.folder / "bin"
    bin_.mkdir()
    compiler("#!/bin/sh\nexit 3\n", "bin/cc")
    sound(hone("compile", "zoo:mlp", "-o", "m.so", env={"PATH": f"{bin_}:{os.environ['PATH']}"}))


def test_a_compiler_of_another_processor_is_named(hone, compiler):
    text = VERSION + 'case $1 in -dumpmachine) echo m68k-linux-gnu; exit 0;; esac\necho "error: -mavx2" >&2\nexit 1\n'
    refused(hone("compile", "zoo:mlp", "-o", "m.so", "--cc", compiler(text)), "E_USAGE", "m68k-linux-gnu")


def test_a_compiler_by_a_relative_path(hone, compiler):
    compiler('#!/bin/sh\nexec gcc "$@"\n', "mygcc")
    sound(hone("compile", "zoo:mlp", "-o", "m.so", "--cc", "./mygcc"))


@pytest.mark.parametrize("wrong", ["this is no C;", "}", "{"])
@pytest.mark.parametrize("name, node, more", [
    ("softmax_f32.c", helper.make_node("Softmax", ["x"], ["y"], axis=-1), []),
    ("generic/CumSum.c", helper.make_node("CumSum", ["x", "axis"], ["y"]),
     [helper.make_tensor("axis", TensorProto.INT64, [], [1])])])
def test_an_error_in_ones_own_kernel_names_the_file(hone, tmp_path, name, node, more, wrong):
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3, 20]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["u"]), node], "g", ports[:1], ports[1:], more)
    node.input[0] = "u"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    text = (ROOT / "src/compiler/kernels/embedded" / name).read_text()
    at = text.index("{", text.index("NAME(")) + 1
    (tmp_path / "own/generic").mkdir(parents=True)
    (tmp_path / "own" / name).write_text(text[:at] + "\n  " + wrong + "\n" + text[at:])
    for verb in (["compile", "m.onnx", "-o", "m.so"], ["run", "m.onnx"]):
        result = hone(*verb, "--kernel-dir", tmp_path / "own", "--no-cache")
        refused(result, "E_USAGE", f'in file "{name}"')
        assert "--kernel-dir" in result.errors, result
    (tmp_path / "own" / name).write_text(text + "/* fixed */\n")
    sound(hone("compile", "m.onnx", "-o", "m.so", "--kernel-dir", tmp_path / "own"))


# -- no room ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words, error", [
    ("cc1: fatal error: error writing to unit0.s: No space left on device", "E_WRITE"),
    ("as: unit0.o: Disk quota exceeded", "E_WRITE"),
    ("cc: fatal error: File size limit exceeded signal terminated program as", "E_WRITE"),
    ("cc1: out of memory allocating 65536 bytes after a total of 1 bytes", "E_OOM"),
    ("virtual memory exhausted: Cannot allocate memory", "E_OOM"),
    ("cc: fatal error: Killed signal terminated program cc1", "E_OOM"),
    ("cc: fatal error: cannot execute 'cc1': execvp: No such file or directory", "E_MISSING"),
    ("/usr/bin/ld: cannot find -lm: No such file or directory", "E_MISSING")])
def test_what_a_compiler_lacks(hone, compiler, words, error):
    refused(hone("compile", "zoo:mlp", "-o", "m.so", "--cc", compiler(f'{VERSION}echo "{words}" >&2\nexit 1\n')), error, words[:20])
    nothing_stays(hone, "m.so")


@pytest.mark.parametrize("how, error", [("XFSZ", "E_WRITE"), ("KILL", "E_OOM"), ("SEGV", "E_CRASH")])
def test_what_kills_a_compiler(hone, compiler, how, error):
    refused(hone("compile", "zoo:mlp", "-o", "m.so", "--cc", compiler(f"{VERSION}kill -{how} $$\n")), error, "killed by signal")


@pytest.mark.parametrize("megabytes", [20, 30, 40, 50])
def test_a_limit_on_memory(hone, megabytes):
    result = hone("compile", "zoo:mlp", "-o", "m.so", "--no-cache", limits=[(resource.RLIMIT_AS, megabytes << 20)])
    if result.code:
        refused(result, "E_OOM E_LIMIT")
        nothing_stays(hone, "m.so", "m.h")


@pytest.mark.parametrize("kilobytes", [4, 16, 64, 256, 1024])
def test_a_limit_on_files(hone, kilobytes):
    result = hone("compile", "zoo:mlp", "-o", "m.so", "--no-cache", limits=[(resource.RLIMIT_FSIZE, kilobytes << 10)])
    refused(result, "E_WRITE")
    nothing_stays(hone, "m.so", "m.h")


# -- time ------------------------------------------------------------------------------------------------------------------

HANGS = VERSION + "trap '' TERM\nsleep 600 &\nwait\nsleep 600\n"


def test_a_hanging_compiler_is_ended_in_time(hone, compiler):
    for verb in (["compile", "zoo:mlp", "-o", "m.so"], ["run", "zoo:mlp"], ["verify", "zoo:mlp"]):
        result = hone(*verb, "--cc", compiler(HANGS), "--timeout", "2")
        refused(result, "E_TIMEOUT", "the C compiler")
        assert result.wall < 60, result
        nothing_stays(hone, "m.so", "m.h")
        until(lambda: not processes_of(hone.folder))


def words_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("to_group", [False, True], ids=["one", "group"])
@pytest.mark.parametrize("how", ["INT", "TERM", "HUP", "KILL"])
def test_an_interrupted_compilation_leaves_nothing(hone, compiler, how, to_group):
    child = hone.start("compile", "zoo:mlp", "-o", "m.so", "--cc", compiler(HANGS), start_new_session=True)
    until(lambda: any(b"sleep" in words_of(pid) for pid in processes_of(hone.folder)))
    (os.killpg if to_group else os.kill)(child.pid, getattr(signal, "SIG" + how))
    _, errors = child.communicate(timeout=60)
    assert child.returncode == (-9 if how == "KILL" else 130), errors
    assert how == "KILL" or b"E_INTERRUPTED" in errors
    until(lambda: not processes_of(hone.folder))
    until(lambda: not list((hone.folder / "tmp").iterdir()))
    nothing_stays(hone, "m.so", "m.h")


@pytest.fixture
def endless(tmp_path):
    """A model and an input that makes its loop go round 2^62 times."""
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["again"]), helper.make_node("Neg", ["v"], ["w"])], "body",
                             [helper.make_tensor_value_info("i", TensorProto.INT64, []),
                              helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                              helper.make_tensor_value_info("v", TensorProto.FLOAT, [4])],
                             [helper.make_tensor_value_info("again", TensorProto.BOOL, []),
                              helper.make_tensor_value_info("w", TensorProto.FLOAT, [4])])
    graph = helper.make_graph([helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)], "g",
                              [helper.make_tensor_value_info("n", TensorProto.INT64, []),
                               helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "loop.onnx")
    np.save(tmp_path / "n.npy", np.array(2**62, np.int64))
    return [tmp_path / "loop.onnx", "--input", f"n={tmp_path / 'n.npy'}"]


def test_what_a_dead_command_left_is_removed_by_the_next(hone, endless):
    """All of it killed at once, as a container's end does."""
    kept = hone.folder / "tmp/hone-ABCDEF"
    kept.mkdir()
    (kept / "a").write_text("not hone's: it has no lock")
    child = hone.start("run", *endless)
    until(lambda: len(list((hone.folder / "tmp").iterdir())) > 1)
    alive = next(p for p in (hone.folder / "tmp").iterdir() if p != kept)
    sound(hone("run", "zoo:mlp"))
    assert alive.exists()
    for pid in processes_of_tree(child.pid):
        os.kill(pid, signal.SIGSTOP)
    for pid in processes_of_tree(child.pid):
        os.kill(pid, signal.SIGKILL)
    child.communicate(timeout=60)
    until(lambda: not processes_of(hone.folder))
    assert alive.exists()
    sound(hone("run", "zoo:mlp"))
    assert [p.name for p in (hone.folder / "tmp").iterdir()] == [kept.name]


def processes_of_tree(pid):
    """The process and all below it."""
    found = [pid]
    for parent in found:
        try:
            found += [int(n) for n in pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
        except OSError:
            pass
    return found


@pytest.mark.parametrize("verb", [["run"], ["verify"], ["run", "--reference"]])
def test_a_model_that_never_ends_is_ended(hone, endless, verb):
    result = hone(verb[0], *endless, *verb[1:], "--timeout", "5")
    refused(result, "E_TIMEOUT", "reference" if "--reference" in verb else "the compiled model")
    nothing_stays(hone)


def test_the_limit_of_other_verbs(hone):
    for verb in (["inspect", "zoo:mlp", "--no-measure"], ["export", "zoo:mlp", "-o", "m.onnx"], ["profile", "zoo:mlp"],
                 ["tune", "zoo:mlp"], ["quantise", "zoo:mlp", "--generate", "2", "-o", "q.onnx"],
                 ["recommend", "zoo:mlp", "--backend", "native"]):
        refused(hone(*verb, "--timeout", "0.001"), "E_TIMEOUT", "stopped after")
    refused(hone("compile", "zoo:mlp", "-o", "m.so", "--timeout", "0"), "E_USAGE", "--timeout")
    refused(hone("compile", "zoo:mlp", "-o", "m.so", "--timeout", "9", "--no-fork"), "E_USAGE", "--no-fork")

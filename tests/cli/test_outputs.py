"""Files that the command writes: never a partial file, never over a file of another kind, always
the same bytes for the same input; and a C compiler that misbehaves is an error with an id."""

import hashlib
import os
import pathlib
import re
import resource
import shutil
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hostile
from hone import ROOT, catches, nothing_left, refused, sound, until, with_long

KINDS = ["m.c", "m.so", "m.a", "m"]
# Existing files that may be replaced, because they are of the same kind.
PRECIOUS = {"m.c": b"/* Made by hone: precious */", "m.so": b"\x7fELF precious", "m.a": b"!<arch>\nprecious",
            "m": b"\x7fELF precious"}
WORDS = ["--no-cache", "-q"]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def leftovers(folder, *known):
    return [p.name for p in folder.iterdir() if p.name not in known]


def as_other_user(command):
    """Root may write anywhere, so tests of permissions run as somebody else."""
    def drop():
        os.setgid(65534)
        os.setuid(65534)
    return drop if os.getuid() == 0 else None


# -- row 54: where it cannot write -----------------------------------------------------------------

@pytest.mark.parametrize("kind", KINDS)
def test_missing_folder(hone, kind):
    refused(hone("compile", "zoo:mlp", "-o", hone.folder / "none" / kind, *WORDS), "E_WRITE E_IO")


@pytest.mark.parametrize("kind", KINDS)
def test_output_is_a_folder(hone, tmp_path, kind):
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / kind).mkdir()
    refused(hone("compile", "zoo:mlp", "-o", tmp_path / "dir" / kind, *WORDS), "E_WRITE E_IO")
    assert (tmp_path / "dir" / kind).is_dir() and not leftovers(tmp_path / "dir", kind)


@pytest.mark.parametrize("kind", KINDS)
def test_read_only_folder_keeps_the_old_file(hone, tmp_path, kind):
    folder = tmp_path / "dir"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder],
                          capture_output=True)
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        (folder / kind).write_bytes(PRECIOUS[kind])
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        refused(hone("compile", "zoo:mlp", "-o", folder / kind, *WORDS), "E_WRITE")
        assert (folder / kind).read_bytes() == PRECIOUS[kind]
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [16, 256, 1024])
def test_full_disk_keeps_the_old_file(hone, tmp_path, kind, size):
    folder = tmp_path / "dir"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder],
                          capture_output=True)
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        (folder / kind).write_bytes(PRECIOUS[kind])
        result = hone("compile", "zoo:mlp", "-o", folder / kind, *WORDS)
        if result.code:
            refused(result, "E_WRITE E_IO")
            assert (folder / kind).read_bytes() == PRECIOUS[kind]
            assert not leftovers(folder, kind), leftovers(folder, kind)
        else:
            assert size > 256 and (folder / kind).stat().st_size > 1000
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_full_temporary_folder(hone, tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder],
                          capture_output=True)
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        result = hone("run", "zoo:mlp", env={"TMPDIR": str(folder)})
        refused(result, "E_WRITE E_IO E_CRASH E_MISSING")
        assert result.id != "E_CRASH" or "No space" in result.errors, result
        assert not list(folder.iterdir())
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_existing_files_and_links(hone, tmp_path):
    target = tmp_path / "target"
    target.write_text("precious")
    (tmp_path / "m.c").symlink_to(target)
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / "m.c", *WORDS))
    # A link is replaced by the new file; what it pointed to is not written through.
    assert target.read_text() == "precious" and not (tmp_path / "m.c").is_symlink()
    (tmp_path / "read.c").write_text("/* Made by hone 0: old */")
    (tmp_path / "read.c").chmod(0o400)
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / "read.c", "--prefix", "m", *WORDS))
    assert (tmp_path / "read.c").read_bytes() == (tmp_path / "m.c").read_bytes()


def test_failure_keeps_the_old_file(hone, tmp_path):
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"\x08\x07junk")
    for kind in KINDS:
        (tmp_path / kind).write_bytes(PRECIOUS[kind])
        refused(hone("compile", bad, "-o", tmp_path / kind, *WORDS), "E_FORMAT")
        assert (tmp_path / kind).read_bytes() == PRECIOUS[kind]


def test_permissions_are_the_users(hone, tmp_path):
    for umask, mode in ((0o022, 0o644), (0o077, 0o600)):
        old = os.umask(umask)
        try:
            sound(hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", *WORDS))
            sound(hone("compile", "zoo:mlp", "-o", tmp_path / "m", *WORDS))
            folder = tmp_path / f"{umask:o}" / "within"
            sound(hone("run", "zoo:mlp", "-o", folder, "-q"))
        finally:
            os.umask(old)
        for place in (folder.parent, folder):
            assert place.stat().st_mode & 0o777 == 0o777 & ~umask
        assert (tmp_path / "m.so").stat().st_mode & 0o666 == mode
        assert (tmp_path / "m").stat().st_mode & 0o777 & ~umask == (tmp_path / "m").stat().st_mode & 0o777
        assert os.access(tmp_path / "m", os.X_OK)


def test_names_as_long_as_they_may_be(hone, tmp_path):
    """A name may have 255 bytes; a longer one is refused before any work."""
    name = "é" * 125
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / f"{'é' * 123}.c", "-q"))  # and its .weights
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / f"{name}ab.so", "-q"))
    assert len(os.fsencode(f"{name}ab.so")) == 255 and (tmp_path / f"{name}ab.h").exists()
    refused(hone("compile", "zoo:mlp", "-o", tmp_path / f"{name}abc.so", "-q"), "E_PATH", "255 bytes")
    refused(hone("compile", "zoo:mlp", "-o", tmp_path / f"{name}abc.c", "-q"), "E_PATH", "255 bytes")
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / f"{name}abc.c", "-q", "--embed"))  # has no .weights
    refused(hone("compile", "zoo:mlp", "-o", f"{tmp_path}/none/", "-q"), "E_PATH E_USAGE E_WRITE")


# -- row 55: the C compiler ---------------------------------------------------------------------------

COMPILERS = {
    "missing": (None, "E_MISSING"),
    "exits_1": ("exit 1", "E_CRASH"),
    "killed": ("kill -9 $$", "E_OOM"),
    "segfaults": ("kill -11 $$", "E_CRASH"),
    "writes_nothing": ("exit 0", "E_CRASH"),
    "floods": ("head -c 100000000 /dev/zero | tr '\\0' 'e' >&2; exit 1", "E_CRASH"),
    "escapes": ("printf '\\033[2J\\033]0;x\\007' >&2; exit 1", "E_CRASH"),
}


@pytest.mark.parametrize("name", COMPILERS)
def test_misbehaving_compiler(hone, tmp_path, name):
    script, expect = COMPILERS[name]
    tool = tmp_path / "my cc"
    if script:
        tool.write_text("#!/bin/sh\ncase \"$1\" in --version|-dump*|-v) echo cc 1.0; exit 0;; esac\n"
                        + script + "\n")
        tool.chmod(0o755)
    (tmp_path / "m.so").write_bytes(PRECIOUS["m.so"])
    for how in ({"env": {"HONE_CC": str(tool)}}, {"more": ["--cc", str(tool)]}):
        result = hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", *WORDS, *how.get("more", []),
                      env=how.get("env"))
        refused(result, expect + " E_MISSING")
        assert (tmp_path / "m.so").read_bytes() == PRECIOUS["m.so"]
        assert len(result.err) < 200000 and b"\x1b" not in result.err, result
    assert not leftovers(tmp_path / "tmp"), leftovers(tmp_path / "tmp")


def test_interrupted_compilation(hone, tmp_path):
    tool = tmp_path / "slow"
    tool.write_text(f"#!/bin/sh\ntouch {tmp_path}/at-work\nsleep 600\n")
    tool.chmod(0o755)
    child = hone.start("compile", "zoo:mlp", "-o", tmp_path / "m.so", *WORDS, "--cc", tool)
    until(lambda: (tmp_path / "at-work").exists() and catches(child.pid, 15))
    os.kill(child.pid, 15)
    child.communicate(timeout=600)
    assert child.returncode in (130, -15)
    nothing_left(tmp_path)  # no compiler outlives hone
    assert not (tmp_path / "m.so").exists() and not leftovers(tmp_path / "tmp")


# -- row 56: artifacts that were touched ----------------------------------------------------------------

def test_damaged_artifacts(hone, tmp_path):
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", *WORDS))
    whole = (tmp_path / "m.so").read_bytes()
    cases = {"empty": b"", "text": b"hello\n", "cut": whole[: len(whole) // 2],
             "head": whole[:64], "zeros": whole[:64] + bytes(len(whole) - 64)}
    for name, data in cases.items():
        path = tmp_path / f"{name}.so"
        path.write_bytes(data)
        result = hone("run", path)
        refused(result, "E_IO E_FORMAT")
    libc = next((p for p in ("/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6")
                 if os.path.exists(p)), None)
    if libc:
        (tmp_path / "libm.so").symlink_to(libc)
        refused(hone("run", tmp_path / "libm.so"), "E_IO E_FORMAT")


def test_damaged_cache_is_not_used(hone, tmp_path):
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / "a.so", "--prefix", "m"))
    good = digest(tmp_path / "a.so")
    (tmp_path / "a.so").unlink()
    touched = 0
    for path in (tmp_path / "cache").rglob("*"):
        if path.is_file() and path.stat().st_size > 1000:
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 0xff
            path.chmod(0o600)
            path.write_bytes(data)
            touched += 1
    assert touched
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / "b.so", "--prefix", "m"))
    assert digest(tmp_path / "b.so") == good


def test_weights_do_not_stand_in_the_cache(hone, tmp_path):
    """For an artifact with large weights, only the linked file is cached, and it gives the same bytes again."""
    for name in ("a.so", "b.so"):
        result = hone("compile", "zoo:transformer", "-o", tmp_path / name, "--prefix", "m")
        sound(result)
        assert ("from cache" in result.errors) == (name == "b.so"), result.errors
    assert digest(tmp_path / "a.so") == digest(tmp_path / "b.so")
    kept = sum(path.stat().st_size for path in (tmp_path / "cache").rglob("*") if path.is_file())
    assert 1000 < kept < (tmp_path / "a.so").stat().st_size / 4


# -- T19: the same input gives the same bytes --------------------------------------------------------------

def locales():
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
    return [name for name in ("de_DE.utf8", "tr_TR.utf8", "C.utf8") if name in listed] or ["C"]


@pytest.mark.parametrize("model", ["zoo:mlp", "zoo:conv", "zoo:transformer"])
def test_same_bytes(hone, tmp_path, model):
    found = {kind: set() for kind in KINDS}
    turns = [(name, umask) for name, umask in zip(["C", *locales()], [0o022, 0o077, 0o002])]
    for turn, (locale, umask) in enumerate(turns):
        folder = tmp_path / ("f" * (turn + 1) * 7)
        folder.mkdir()
        (folder / "tmp").mkdir()
        old = os.umask(umask)
        try:
            for kind in KINDS if model == "zoo:mlp" else ["m.c", "m.so"]:
                sound(hone("compile", model, "-o", kind, *WORDS, cwd=folder,
                           env={"LC_ALL": locale, "TMPDIR": str(folder / "tmp"),
                                "TZ": ["UTC", "Asia/Kathmandu", "Pacific/Chatham"][turn]}))
                found[kind].add(digest(folder / kind))
        finally:
            os.umask(old)
    assert len(turns) >= 2
    assert all(len(hashes) <= 1 for hashes in found.values()), found


def test_nothing_of_this_place_is_in_the_artifact(hone, tmp_path):
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", *WORDS))
    data = (tmp_path / "m.so").read_bytes()
    for text in (str(tmp_path), str(pathlib.Path.home()), str(ROOT), os.uname().nodename):
        if len(text) > 5:
            assert text.encode() not in data, text


# -- artifacts alone ------------------------------------------------------------------------------------------

def test_executable(hone, tmp_path):
    """The executable needs nothing of hone: .npy and raw inputs in, outputs out, errors with a code."""
    sound(hone("compile", "zoo:mlp", "-o", tmp_path / "m", *WORDS))
    x = np.random.default_rng(3).normal(size=(4, 256)).astype(np.float32)
    np.save(tmp_path / "in_0.npy", x)
    x.tofile(tmp_path / "x.raw")
    run = lambda *words: hone(*words, program=tmp_path / "m", cwd=tmp_path)  # noqa: E731
    usage = run("--help")
    assert usage.code in (0, 2) and usage.out + usage.err, usage
    sound(hone("run", "zoo:mlp", "--input", f"input={tmp_path}/in_0.npy", "-o", tmp_path / "want"))
    want = np.load(tmp_path / "want/out_0.npy")
    raw = hone("run", "zoo:mlp", "--input", f"input={tmp_path}/x.raw", "-o", tmp_path / "raw")
    sound(raw)
    np.testing.assert_array_equal(np.load(tmp_path / "raw/out_0.npy"), want)
    for words in (["in_0.npy"], ["x.raw"]):
        sound(run(*words))
        np.testing.assert_array_equal(np.load(tmp_path / "output_0.npy"), want)
    np.save(tmp_path / "short.npy", x[:2])
    np.save(tmp_path / "double.npy", x.astype(np.float64))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "in_0.npy").read_bytes()[:-9])
    (tmp_path / "cut.raw").write_bytes(b"123")
    for name, code in (("short.npy", 65), ("double.npy", 65), ("cut.npy", 65), ("cut.raw", 65),
                       ("none.npy", 66), ("--nonsense", 2)):
        result = run(name)
        assert result.code == code and result.err and b"\x1b" not in result.err, result
    assert run("in_0.npy", "in_0.npy").code == 2


def test_libraries_of_two_models_link_together(hone, tmp_path):
    for model, prefix in (("mlp", "first"), ("conv", "second")):
        sound(hone("compile", f"zoo:{model}", "-o", tmp_path / f"{prefix}.a", "--prefix", prefix,
                   *WORDS))
    (tmp_path / "main.c").write_text(
        "const void *first_artifact(void), *second_artifact(void);\n"
        "int main(void) { return first_artifact() == second_artifact(); }\n")
    done = subprocess.run(["cc", "main.c", "first.a", "second.a", "-lm", "-o", "both"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "both"]).returncode == 0


@pytest.mark.parametrize("prefix", ["int", "1x", "a b", "a;b", "", "x" * 5000, "main", "__x", "é"])
def test_prefix_must_be_a_name(hone, tmp_path, prefix):
    result = hone("compile", "zoo:mlp", "-o", tmp_path / "m.c", "--prefix", prefix, "--cpu",
                  "baseline", *WORDS)
    if result.code:
        refused(result, "E_USAGE")
    else:  # then it is C
        done = subprocess.run(["cc", "-fsyntax-only", tmp_path / "m.c"], capture_output=True)
        assert done.returncode == 0, done.stderr[:500]


def test_generated_c_is_clean(hone, tmp_path):
    sound(hone("compile", "zoo:conv", "-o", tmp_path / "m.c", "--cpu", "baseline", *WORDS))
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler):
            done = subprocess.run([compiler, "-O1", "-Wall", "-Wextra", "-Wno-psabi", "-c", tmp_path / "m.c", "-o",
                                   tmp_path / "m.o"], capture_output=True, text=True)
            assert done.returncode == 0 and not done.stderr, done.stderr[:800]


# Matmuls, convolutions, 16-bit types, tiles, loops and generic kernels, at every vector width.
GENERATED = [("zoo:conv", "baseline"), ("zoo:mobilenet_v3_small", "avx2"), ("zoo:transformer", "avx512"),
             ("zoo:transformer --precision bf16", "amx"), ("zoo:mlp", "portable"), ("zoo:gcn", "baseline")]


@pytest.mark.parametrize("model,level", with_long(GENERATED, ("zoo:yolov8n", "avx2")))
def test_nothing_unused_is_generated(hone, tmp_path, model, level):
    """Each translation unit contains no function, type or macro that it does not use, and lacks none."""
    words = ["--portable"] if level == "portable" else ["--cpu", level]
    sound(hone("compile", *model.split(), *words, "-o", tmp_path / "m.a", "--keep", tmp_path / "units", *WORDS))
    units = sorted((tmp_path / "units").glob("unit*.c"))
    assert units
    for unit in units:
        text = unit.read_text()
        flags = re.search(r'compile this file with: ([^"]*)"', text)
        for attributes in ("inline __attribute__((always_inline, unused))", "inline __attribute__((unused))",
                           "__attribute__((noinline, unused))"):
            text = text.replace("static " + attributes, "static")
        unit.write_text(text)
        done = subprocess.run(["gcc", *(flags[1].split() if flags else []), "-O0", "-Wall", "-Wextra", "-Wunused-macros",
                               "-Wno-psabi", "-Wno-cpp", "-S", unit, "-o", "/dev/null"], capture_output=True, text=True)
        left = [line for line in done.stderr.splitlines() if re.search(r"unused|not used|redefined", line)
                and not re.search(r"HONE_ARTIFACT_|HONE_WEIGHTS_", line)]  # the ABI is one piece
        assert done.returncode == 0 and not left, (done.stderr[:2000], left)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_products_that_are_rounded_first_are_not_fused(hone, tmp_path, compiler):
    """Interpolation at tenths between uint8 pixels: many sums are ties, which a fused multiply-add rounds differently."""
    shutil.which(compiler) or pytest.skip(f"no {compiler}")
    at = np.maximum((np.arange(120) + 0.5) * 0.1 - 0.5, 0)
    low = np.int32(at)
    places, part = np.stack([low, np.minimum(low + 1, 11)]), np.float32(at - low)
    nodes = [helper.make_node("ResizeInt", ["x", "places", "weights", "places", "weights"], ["y"], domain="hone")]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 3, 12, 12])],
                              [helper.make_tensor_value_info("y", TensorProto.UINT8, [1, 3, 120, 120])],
                              [numpy_helper.from_array(places, "places"),
                               numpy_helper.from_array(np.stack([1 - part, part]), "weights")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("hone", 1)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    result = hone("verify", tmp_path / "m.onnx", "--cc", compiler)
    sound(result)
    assert result.text.count("max abs 0 ") == 2, result

"""hone recommend --bundle: the folder runs and passes its self-test without hone, at another path, in an empty environment;
damage to any of its files fails the self-test."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import hone as command
from hone import refused, sound

BARE = {"PATH": "/nonexistent"}  # env -i, and no PATH


def selftest(folder, env=None):
    return subprocess.run([folder / "selftest"], env=env or BARE, cwd="/", capture_output=True, text=True, timeout=600)


def make(box, backend, model="zoo:mlp", *more):
    result = box("recommend", model, "--backend", backend, "--threads", "2", "--budget", "2s", "--bundle", "bundle", *more)
    sound(result)
    return box.folder / "bundle", result


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    return make(command.Sandbox(tmp_path_factory.mktemp("native")), "native")


def copy(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "moved place")
    return tmp_path / "moved place"


def files_of(folder):
    return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())


def test_it_holds_what_it_promises(native):
    folder, result = native
    names = {str(p) for p in files_of(folder)}
    assert {"MANIFEST", "README.md", "Dockerfile", "provenance.json", "recommendation.json", "study.html", "model.so",
            "model.a", "model.c", "model.h", "run", "run.py", "selftest", "libteam.so", "licences/hone-LICENSE",
            "vectors/0/in_0.npy", "vectors/0/out_0.npy", "vectors/1/out_0.npy"} <= names
    listed = {line.split("  ", 1)[1] for line in (folder / "MANIFEST").read_text().splitlines() if line[0] != "#"}
    assert listed == names - {"MANIFEST"}
    checked = subprocess.run(["sha256sum", "-c", "--quiet", "MANIFEST"], cwd=folder, capture_output=True, check=False)
    assert checked.returncode == 0
    facts = json.loads((folder / "provenance.json").read_text())
    assert facts["engine"]["name"] == "native" and facts["study"]["machine"]["cpu"] and facts["measured"]["latency_ms_p50"]
    assert "relative L2" in facts["against_reference"]
    assert "<svg" in (folder / "study.html").read_text()
    assert json.loads((folder / "recommendation.json").read_text())["choice"]
    assert "Apache License" in (folder / "licences/hone-LICENSE").read_text()
    assert "tested by its own selftest" in result.errors
    image = (folder / "Dockerfile").read_text().splitlines()
    release = pathlib.Path("/etc/os-release").read_text()
    if "ID=debian\n" in release and 'VERSION_ID="12"' in release:
        assert image[1] == "FROM debian:12-slim"
    assert image[-3:] == ["COPY . /model", "RUN /model/selftest", 'ENTRYPOINT ["/model/run"]']


def test_it_passes_moved_and_bare(native, tmp_path):
    moved = copy(native[0], tmp_path)
    done = selftest(moved)
    assert done.returncode == 0 and done.stdout.startswith("selftest: ok, 2 sets on 1 and 2 threads"), done
    (tmp_path / "link").symlink_to(moved / "selftest")
    assert subprocess.run([tmp_path / "link"], env={}, check=False, capture_output=True).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="chroot needs root")
def test_it_passes_with_libc_alone(native, tmp_path):
    """A root that holds the bundle and the C library, nothing else: no shell, no /proc, no /dev, no hone."""
    root = tmp_path / "root"
    shutil.copytree(native[0], root / "model")
    needed = set()
    for program in ("selftest", "model.so"):
        for line in subprocess.run(["ldd", native[0] / program], capture_output=True, text=True, check=True).stdout.splitlines():
            needed |= {word for word in line.split() if word.startswith("/")}
    assert needed and all(pathlib.Path(p).name.split(".")[0].split("-")[0] in ("libc", "libm", "ld", "libdl", "libpthread")
                          for p in needed), needed
    for path in needed:
        (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / path[1:])
    done = subprocess.run([shutil.which("chroot") or "/usr/sbin/chroot", root, "/model/selftest"], env={}, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0 and "ok" in done.stdout, done


def flip(path, at, mask=0x01):
    with open(path, "r+b") as file:
        file.seek(at)
        old = file.read(1)[0]
        file.seek(at)
        file.write(bytes([old ^ mask]))


@pytest.mark.long
def test_a_changed_byte_of_any_file_fails_it(native, tmp_path):
    moved = copy(native[0], tmp_path)
    for name in files_of(moved):
        size = (moved / name).stat().st_size
        for at in {size // 3, size - 1}:
            flip(moved / name, at)
            try:
                code = selftest(moved).returncode
            except OSError:  # the program itself is none any more
                code = 126
            assert code != 0, (name, at)
            flip(moved / name, at)
    assert selftest(moved).returncode == 0


def test_every_byte_of_the_manifest_counts(native, tmp_path):
    moved = copy(native[0], tmp_path)
    size = (moved / "MANIFEST").stat().st_size
    for at in range(0, size, 29):
        for mask in (0x01, 0x20):
            flip(moved / "MANIFEST", at, mask)
            assert selftest(moved).returncode != 0, (at, mask)
            flip(moved / "MANIFEST", at, mask)


def test_damaged_code_of_the_selftest_does_not_pass(native, tmp_path):
    """Single damaged bytes all over the program never lead to a pass."""
    moved = copy(native[0], tmp_path)
    size = (moved / "selftest").stat().st_size
    for at in range(101, size, 1999):
        flip(moved / "selftest", at, 0xFF)
        try:
            code = subprocess.run([moved / "selftest"], env=BARE, capture_output=True, timeout=20, check=False).returncode
        except (OSError, subprocess.TimeoutExpired):
            code = 126
        assert code != 0, at
        flip(moved / "selftest", at, 0xFF)


def test_a_missing_file_fails_it(native, tmp_path):
    moved = copy(native[0], tmp_path)
    for name in files_of(moved):
        if str(name) == "selftest":
            continue
        (moved / name).rename(tmp_path / "aside")
        assert selftest(moved).returncode != 0, name
        (tmp_path / "aside").rename(moved / name)
    (moved / "model.so").write_bytes(b"")
    assert "changed" in selftest(moved).stderr


def test_what_is_no_file_fails_it_and_keeps_nobody_waiting(native, tmp_path):
    moved = copy(native[0], tmp_path)
    aside = tmp_path / "aside"
    for name in ("README.md", "vectors/0/in_0.npy"):
        for put in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink("nowhere", path)):
            (moved / name).rename(aside)
            put(moved / name)
            assert selftest(moved).returncode != 0, name
            shutil.rmtree(moved / name) if (moved / name).is_dir() else (moved / name).unlink()
            aside.rename(moved / name)
    (moved / "README.md").rename(aside)
    (moved / "README.md").symlink_to(aside)  # what is linked has the bytes
    (moved / "added").write_text("not looked at")
    assert selftest(moved).returncode == 0


def test_the_programs_give_what_the_vectors_say(native, tmp_path):
    folder = native[0]
    want = np.load(folder / "vectors/0/out_0.npy")
    for name, program in (("c", ["./run"]), ("python", [sys.executable, "-S", "-B", "run.py"])):
        for threads in ("1", "2"):
            out = tmp_path / f"{name}{threads}"
            subprocess.run([*program, "vectors/0/in_0.npy", "-o", out, "--threads", threads], cwd=folder, check=True, timeout=600)
            assert np.array_equal(np.load(out / "output_0.npy"), want)


MANY_CALLS = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from run import Model, read_npy
model = Model(threads=3)
xs = [read_npy(f"vectors/{k % 2}/in_0.npy") for k in range(400)]
wanted = [bytes(model(x)[0][2]) for x in xs[:2]]
def is_right():
    with ThreadPoolExecutor(6) as pool:
        return all(bytes(y[0][2]) == wanted[k % 2] for k, y in enumerate(pool.map(lambda x: model(x), xs)))
assert wanted[0] != wanted[1] and is_right()
child = os.fork()
if not child:
    os._exit(0 if is_right() else 1)
sys.exit(os.waitpid(child, 0)[1])
"""


def test_threads_and_children_call_the_model_of_run_py(native):
    subprocess.run([sys.executable, "-S", "-B", "-c", MANY_CALLS], cwd=native[0], check=True, timeout=120)


def test_the_programs_build_from_their_own_text(native, tmp_path):
    moved = copy(native[0], tmp_path)
    subprocess.run(["sh", "src/build.sh", tmp_path / "built"], cwd=moved, check=True, timeout=600)
    for name in ("libteam.so", "run", "selftest"):
        assert (tmp_path / "built" / name).stat().st_size > 0
    subprocess.run([tmp_path / "built" / "run", moved / "vectors/1/in_0.npy", "-o", tmp_path / "out"], check=True, timeout=600)
    assert np.array_equal(np.load(tmp_path / "out/output_0.npy"), np.load(moved / "vectors/1/out_0.npy"))


def test_where_a_bundle_may_not_go(hone):
    (hone.folder / "full").mkdir()
    (hone.folder / "full" / "something").write_text("of the user's")
    refused(hone("recommend", "zoo:mlp", "--bundle", "full"), "E_PATH", "is not empty")
    assert (hone.folder / "full" / "something").read_text() == "of the user's"
    (hone.folder / "file").write_text("")
    refused(hone("recommend", "zoo:mlp", "--bundle", "file"), "E_PATH")


def test_an_engine_that_no_bundle_can_contain_is_refused_before_the_measurement(hone):
    refused(hone("recommend", "zoo:mlp", "--bundle", "b", "--backend", "tvm,litert"), "E_UNSUP", "native,onnxruntime,openvino")
    assert not (hone.folder / "b").exists()


WRONG_COMPILER = """#!/usr/bin/env python3
import os, subprocess, sys
code = subprocess.run(["cc", *sys.argv[1:]]).returncode
if not code and "src/run.c" in sys.argv:
    os.rename("run", {real!r})
    open("run", "w").write('''#!/usr/bin/env python3
import pathlib, subprocess, sys
subprocess.run([{real!r}, *sys.argv[1:]], check=True)
out = pathlib.Path(sys.argv[sys.argv.index("-o") + 1]) / "output_0.npy"
data = bytearray(out.read_bytes())
data[-1] ^= 0x40
out.write_bytes(data)
''')
    os.chmod("run", 0o755)
sys.exit(code)
"""


def test_programs_that_compute_something_else_are_no_bundle(hone, tmp_path):
    """One output of one of them is another number than the reference's: nothing is left of the folder."""
    compiler = tmp_path / "wrong-cc"
    compiler.write_text(WRONG_COMPILER.format(real=str(tmp_path / "run-real")))
    compiler.chmod(0o755)
    result = hone("recommend", "zoo:mlp", "--backend", "native", "--threads", "1", "--budget", "1", "--bundle", "b",
                  env={"HONE_CC": str(compiler)})
    refused(result, "E_ACCURACY", "the bundle's outputs differ from the reference")
    assert not list(hone.folder.glob("b*")), result


@pytest.mark.parametrize("engine", ["onnxruntime", "openvino"])
def test_a_bundle_of_an_engine(engine, tmp_path):
    package = pytest.importorskip(engine)
    site = pathlib.Path(package.__file__).parents[1]
    box = command.Sandbox(tmp_path)
    folder, _ = make(box, engine, "zoo:mlp", "--engine", f"{engine}={site}")
    library = next(iter(sorted((site / engine).rglob(f"lib{engine}*.so*" if engine == "onnxruntime" else "libopenvino_c.so*"))))
    env = {**BARE, "ENGINE_LIBRARY": str(library)}
    assert (folder / "requirements.txt").read_text() == f"{engine}=={package.__version__.split('-')[0]}\n"
    assert (folder / "model.onnx").stat().st_size and any((folder / "licences").glob(f"{engine}-*"))
    assert "RUN sh /model/install-engine.sh" in (folder / "Dockerfile").read_text().splitlines()
    done = selftest(folder, env)
    assert done.returncode == 0, done
    want = np.load(folder / "vectors/0/out_0.npy")
    subprocess.run([sys.executable, "-S", "-B", "run.py", "vectors/0/in_0.npy", "-o", tmp_path / "out"], cwd=folder, check=True,
                   timeout=600, env=env)
    assert np.allclose(np.load(tmp_path / "out/output_0.npy"), want, rtol=1e-4, atol=1e-5)
    nowhere = selftest(folder, {**BARE, "ENGINE_LIBRARY": "/nonexistent.so"})
    assert nowhere.returncode != 0
    flip(folder / "model.onnx", 1000)
    assert selftest(folder, env).returncode != 0


def test_a_file_that_the_engine_cannot_read_is_in_the_bundle_as_it_was_measured(tmp_path):
    """ONNX Runtime measured hone's ONNX export of a .pt2 file: the bundle contains that export, under its own name."""
    package = pytest.importorskip("onnxruntime")
    site = pathlib.Path(package.__file__).parents[1]
    box = command.Sandbox(tmp_path)
    folder, _ = make(box, "onnxruntime", command.ROOT / "tests/cases/pt2/small.pt2", "--engine", f"onnxruntime={site}")
    library = next(iter(sorted((site / "onnxruntime").rglob("libonnxruntime*.so*"))))
    assert (folder / "model.onnx").read_bytes()[:2] != b"PK"
    assert "written by hone" in json.loads((folder / "provenance.json").read_text())["model"]["route"]
    done = selftest(folder, {**BARE, "ENGINE_LIBRARY": str(library)})
    assert done.returncode == 0, done

"""One artifact with several processor levels, which picks the best that is available; and plain C11 for any processor."""

import pathlib
import shutil
import subprocess

import numpy as np
import pytest

from artifact import Artifact
from hone import refused, sound

SSE42, AVX2, AVX512 = 1 << 0, 1 << 2, 1 << 5
LEVELS = ("baseline", "avx2", "avx512")
ALL = (1 << 32) - 1


def compiler_is_for_x86():
    machine = subprocess.run(["cc", "-dumpmachine"], capture_output=True, text=True, check=False).stdout
    return "x86_64" in machine


pytestmark = pytest.mark.skipif(not compiler_is_for_x86(), reason="levels of x86-64")


def has(word):
    """True if the operating system's kernel lists this processor flag; independent of hone's own detection."""
    return word in pathlib.Path("/proc/cpuinfo").read_text().split()


def inputs():
    return np.random.default_rng(5).standard_normal((4, 256)).astype(np.float32)


def reference(hone, tmp_path, x):
    np.save(tmp_path / "x.npy", x)
    sound(hone("run", "zoo:mlp", "--reference", "--input", f"input={tmp_path}/x.npy", "-o", tmp_path / "want"))
    return np.load(tmp_path / "want/out_0.npy")


def test_each_level_is_right_and_picked_by_feature(hone, tmp_path):
    path = tmp_path / "m.so"
    sound(hone("compile", "zoo:mlp", "-o", path, "--cpu", "avx512,baseline,avx2,avx2"))
    x = inputs()
    want = reference(hone, tmp_path, x)
    flags = {}
    for name, word in (("baseline", "sse4_2"), ("avx2", "avx2"), ("avx512", "avx512bw")):
        needs = Artifact(path, features=ALL if name == "avx512" else 0 if name == "baseline" else
                         flags["baseline"] | 0x201e).info.flags
        flags[name] = needs
        artifact = Artifact(path, features=needs)
        assert artifact.info.flags == needs, name
        if has(word):
            np.testing.assert_allclose(artifact(x)[0], want, rtol=1e-4, atol=1e-5)
    assert flags["baseline"] == SSE42 and flags["avx2"] & AVX2 and not flags["avx2"] & AVX512
    assert flags["avx512"] & AVX512
    # one bit less than a level asks for is the level below
    assert Artifact(path, features=flags["avx512"] & ~AVX512).info.flags == flags["avx2"]
    assert Artifact(path, features=flags["avx2"] & ~AVX2).info.flags == flags["baseline"]
    assert Artifact(path, features=0).info.flags == flags["baseline"]
    best = [n for n, w in zip(LEVELS, ("sse4_2", "avx2", "avx512bw")) if has(w)][-1]
    assert Artifact(path).info.flags == flags[best]
    sound(hone("run", path, "--input", f"input={tmp_path}/x.npy", "-o", tmp_path / "got"))
    np.testing.assert_allclose(np.load(tmp_path / "got/out_0.npy"), want, rtol=1e-4, atol=1e-5)
    arena = {Artifact(path, features=f).info.arena_bytes for f in flags.values()}
    assert len(arena) == 1 and f"m_ARENA_BYTES {arena.pop()}" in (tmp_path / "m.h").read_text()


MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include "m.h"
static float x[4 * 256], y[4 * 256];
int main(void) {
  void *arena = aligned_alloc(64, (m_ARENA_BYTES + 64) & ~(size_t)63);
  FILE *file = fopen("x.raw", "rb");
  if (!file || fread(x, sizeof x, 1, file) != 1) return 2;
  int status = m_run(x, y, arena);
  printf("%u\n", (unsigned)m_artifact()->flags);
  for (int i = 0; !status && i < 1024; i++) printf("%.9g\n", (double)y[i]);
  return status;
}
"""


@pytest.mark.parametrize("more", [[], ["--embed"]])
def test_c_files_need_no_flags_of_gcc(hone, tmp_path, more):
    """gcc -O2 alone compiles the written files for the intended level; a compiler that ignores the level given in the source
    needs flags."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    x = inputs()
    want = reference(hone, tmp_path, x)
    (tmp_path / "x.raw").write_bytes(x.tobytes())
    result = hone("compile", "zoo:mlp", "-o", "m.c", "--cpu", "baseline,avx2,avx512", *more, cwd=tmp_path)
    sound(result)
    files = ["m.c", "m_baseline.c", "m_avx2.c", "m_avx512.c"]
    assert "wrote m.c m_baseline.c m_avx2.c m_avx512.c m.h" in result.errors
    (tmp_path / "main.c").write_text(MAIN)
    for name in files:
        done = subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-c", name], cwd=tmp_path,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
    if more:
        subprocess.run(["gcc", "-O2", "main.c", *[f.replace(".c", ".o") for f in files], "-lm", "-o", "main"],
                       cwd=tmp_path, check=True)
        lines = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
        np.testing.assert_allclose(np.array(lines[1:], np.float32), want.ravel(), rtol=1e-4, atol=1e-5)
        assert bool(int(lines[0]) & AVX512) == has("avx512bw")
    if shutil.which("clang"):
        plain = subprocess.run(["clang", "-O2", "-c", "m_avx2.c"], cwd=tmp_path, capture_output=True, text=True,
                               check=False)
        assert plain.returncode != 0 and "-mavx2 -mfma" in plain.stderr


def test_levels_share_weights(hone, tmp_path):
    """Levels of the same vector width pack most weights alike, so these are stored once."""
    sizes = {}
    for levels in ("avx512", "avx512,avx512vnni", "avx2,avx512"):
        sound(hone("compile", "zoo:mnist_cnn", "-o", tmp_path / "m.so", "--cpu", levels, "--stop-after", "plan"))
        result = hone("compile", "zoo:mnist_cnn", "-o", tmp_path / "m.c", "--cpu", levels)
        sound(result)
        sizes[levels] = (tmp_path / "m.weights").stat().st_size
    assert sizes["avx512,avx512vnni"] < 1.1 * sizes["avx512"] < sizes["avx2,avx512"]


def test_what_is_no_list_of_levels(hone, tmp_path):
    refused(hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", "--cpu", "avx2,nosuch"), "E_UNSUP", "avx512")
    refused(hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", "--cpu", "avx2,,avx512"), "E_USAGE", "list")
    refused(hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", "--cpu", "avx2,portable"), "E_USAGE", "portable")
    refused(hone("tune", "zoo:mlp", "--cpu", "avx2,avx512", "--budget", "1"), "E_USAGE", "one level")
    refused(hone("compile", "zoo:mlp", "-o", "-", "--cpu", "avx2,avx512"), "E_USAGE", "several files")


def test_portable_is_plain_c11(hone, tmp_path):
    """No intrinsic, no extension: what -pedantic-errors and any compiler take, with and without GNU C."""
    sound(hone("compile", "zoo:conv", "-o", "m.c", "--portable", "--embed", "-q", cwd=tmp_path))
    text = (tmp_path / "m.c").read_text()
    assert "Plain C11. The processor must have" in text and "immintrin" not in text and "__builtin" not in text
    strict = ["-std=c11", "-O2", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    for cc, words in (("gcc", strict), ("clang", strict), ("tcc", ["-Wall", "-Werror"])):
        if shutil.which(cc):  # tcc does not support all GNU extensions, so this checks the source without them
            done = subprocess.run([cc, *words, "-c", "m.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (cc, done.stderr[:2000])
    sound(hone("verify", "zoo:conv", "--portable", "-q"))
    refused(hone("compile", "zoo:conv", "-o", "m.c", "--portable", "--cpu", "avx2", cwd=tmp_path), "E_USAGE", "avx2")


def test_portable_by_a_small_compiler(hone, tmp_path):
    if not shutil.which("tcc"):
        pytest.skip("no tcc")
    x = inputs()
    want = reference(hone, tmp_path, x)
    (tmp_path / "x.raw").write_bytes(x.tobytes())
    sound(hone("compile", "zoo:mlp", "-o", "m.c", "--portable", "--embed", "-q", cwd=tmp_path))
    (tmp_path / "main.c").write_text(MAIN)
    subprocess.run(["tcc", "main.c", "m.c", "-lm", "-o", "main"], cwd=tmp_path, check=True)
    lines = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    np.testing.assert_allclose(np.array(lines[1:], np.float32), want.ravel(), rtol=1e-4, atol=1e-5)


def test_built_without_optimisation_says_so(hone, tmp_path):
    sound(hone("compile", "zoo:mlp", "-o", "m.c", "--cpu", "baseline", "-q", cwd=tmp_path))
    slow = subprocess.run(["cc", "-O0", "-c", "m.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "-O2" in slow.stderr
    fast = subprocess.run(["cc", "-O2", "-c", "m.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "-O2" not in fast.stderr and fast.returncode == 0

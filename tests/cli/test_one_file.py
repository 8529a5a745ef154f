"""A model as C: the files that are written, a single file on request, and a header that a program can use unchanged."""

import shutil
import subprocess

import numpy as np
import pytest

from hone import refused, sound

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include "m.h"
static float x[4 * 256], y[4 * 10];
int main(void) {
  void *arena = aligned_alloc(64, (m_ARENA_BYTES + 64) & ~(size_t)63);
  for (int i = 0; i < 4 * 256; i++) x[i] = (float)(i % 17) / 17;
  int status = m_run(x, y, arena);
  for (int i = 0; !status && i < 40; i++) printf("%.9g\n", (double)y[i]);
  return status;
}
"""


def compilers():
    return [cc for cc in ("gcc", "clang") if shutil.which(cc)] or pytest.skip("no C compiler")


@pytest.mark.parametrize("model", ["mlp"])
def test_one_file_is_all(hone, tmp_path, model):
    result = hone("compile", f"zoo:{model}", "-o", "m.c", "--embed", "--cpu", "baseline", cwd=tmp_path)
    sound(result)
    assert "wrote m.c m.h\n" in result.errors and not (tmp_path / "m.weights").exists(), result
    x = (np.arange(4 * 256) % 17 / np.float32(17)).astype(np.float32).reshape(4, 256)
    np.save(tmp_path / "in_0.npy", x)
    sound(hone("run", f"zoo:{model}", "--input", f"input={tmp_path}/in_0.npy", "-o", tmp_path / "want", "--cpu",
               "baseline"))
    want = np.load(tmp_path / "want/out_0.npy")
    (tmp_path / "main.c").write_text(MAIN.replace("4 * 10", f"{want.size}").replace("i < 40",
                                                                                          f"i < {want.size}"))
    for cc in compilers():
        done = subprocess.run([cc, "-O2", "-ffp-contract=off", "main.c", "m.c", "-lm", "-o", cc], cwd=tmp_path,
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
        got = subprocess.run([tmp_path / cc], capture_output=True, text=True, check=True).stdout.split()
        np.testing.assert_allclose(np.array(got, np.float32), want.ravel(), rtol=1e-4, atol=1e-5)


def test_which_files_it_wrote(hone, tmp_path):
    assert "wrote m.c m.h m.weights\n" in hone("compile", "zoo:mlp", "-o", "m.c", cwd=tmp_path).errors
    assert "wrote m.so m.h\n" in hone("compile", "zoo:mlp", "-o", "m.so", cwd=tmp_path).errors
    refused(hone("compile", "zoo:mlp", "-o", "m.so", "--embed", cwd=tmp_path), "E_USAGE", "FILE.c")


def test_header_says_names_and_sizes(hone, tmp_path):
    sound(hone("compile", "zoo:mlp", "-o", "m.so", "-q", cwd=tmp_path))
    text = (tmp_path / "m.h").read_text()
    assert '"input"' in text and "#define m_ARENA_BYTES " in text
    assert "int m_run(const float *in0, float *out0, void *arena);" in text
    for cc in compilers():
        for words in (["-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-x", "c"],):
            done = subprocess.run([cc, *words, "-Wno-unused", "-fsyntax-only", "m.h"], cwd=tmp_path,
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr


def test_a_file_says_what_it_needs(hone, tmp_path):
    """Without its compiler flags the source does not compile, and the error names them; otherwise it would be slow without notice."""
    sound(hone("compile", "zoo:mlp", "-o", "m.c", "--cpu", "avx2", "-q", cwd=tmp_path))
    for cc in compilers():
        plain = subprocess.run([cc, "-O2", "-c", "m.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
        if "x86_64" not in subprocess.run([cc, "-dumpmachine"], capture_output=True, text=True).stdout:
            pytest.skip("not an x86-64 compiler")
        assert plain.returncode != 0 and "-mavx2 -mfma" in plain.stderr, plain.stderr[:500]
        line = next(text for text in plain.stderr.splitlines() if "#error" in text or "compile this" in text)
        flags = line.split("with: ")[1].rstrip('"').split()
        done = subprocess.run([cc, *flags, "-c", "m.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:500]


NAMES = {"my-net.c": "my_net", "dir.v2/resnet.so": "resnet", "3d net.c": "model_3d_net", "_x.a": "model__x",
         "int.c": "int", "hone.c": "model_hone", "program-1.2": "program_1_2", "\u00e9.c": "model___"}


@pytest.mark.parametrize("name", NAMES)
def test_prefix_is_the_file_name(hone, tmp_path, name):
    """The prefix is a C identifier made from the file's name; --prefix sets another. hone finds the artifact under any prefix."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    sound(hone("compile", "zoo:mlp", "-o", path, "-q"))
    header = (path.parent / (path.name if "." not in path.name or name == "program-1.2" else path.stem)).with_name(
        path.name + ".h" if name == "program-1.2" else path.stem + ".h")
    text = header.read_text()
    assert f"int {NAMES[name]}_run(" in text and f"*{NAMES[name]}_artifact(void)" in text
    for cc in compilers()[:1]:
        done = subprocess.run([cc, "-std=c11", "-Wall", "-Werror", "-Wno-unused", "-fsyntax-only", "-x", "c", header],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    if path.suffix == ".so":
        sound(hone("run", path))
    sound(hone("compile", "zoo:mlp", "-o", path, "-q", "--prefix", "chosen"))
    assert "int chosen_run(" in header.read_text()


def test_c_on_the_standard_output(hone, tmp_path):
    """Standard output gets one C source with embedded weights, equal to the file's, and nothing else."""
    result = hone("compile", "zoo:mlp", "-o", "-")
    sound(result)
    sound(hone("compile", "zoo:mlp", "-o", "x.c", "--embed", "--prefix", "hone_model", "-q", cwd=tmp_path))
    assert result.out == (tmp_path / "x.c").read_bytes()
    assert not list(tmp_path.glob("-*")), "a file called -"
    refused(hone("compile", "zoo:mlp", "-o", "-", "--dump-after", "plan"), "E_USAGE", "standard output")
    assert hone("compile", "zoo:mlp", "-o", "-", stdout=open("/dev/full", "w")).code == 73

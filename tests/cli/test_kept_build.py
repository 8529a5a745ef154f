"""hone compile --keep DIR keeps all sources of the artifact, and a script that builds the same bytes."""

import subprocess

import numpy as np
import pytest
from hone import refused, sound

ENDS = [".so", ".a", ""]
SEAL_BYTES = 32  # struct hone_artifact_seal, which hone appends to the libraries that it links


def linked_bytes(path):
    """The bytes of an artifact that the linker wrote, without hone's checksum."""
    return path.read_bytes()[:-SEAL_BYTES] if path.suffix == ".so" else path.read_bytes()


@pytest.mark.parametrize("ending", ENDS)
@pytest.mark.parametrize("model, more", [("zoo:mlp", []), ("zoo:conv", ["--cpu", "baseline"]), ("zoo:mlp", ["--cpu", "all"]),
                                         ("zoo:conv", ["--portable"]), ("zoo:mlp", ["--debug"])])
def test_the_script_builds_it_again(hone, model, more, ending):
    kept = hone.folder / "it's kept"
    sound(hone("compile", model, "-o", "my net" + ending, "--keep", kept, *more))
    made = hone.folder / ("my net" + ending)
    linked = linked_bytes(made)
    for again in (None, "again"):
        words = [again + ending] if again else []
        done = subprocess.run(["sh", kept / "build.sh", *words], cwd=hone.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        built = hone.folder / (again or "my net")
        built = built.with_name(built.name + ending)
        if "--debug" not in more:  # which says the folder
            assert built.read_bytes() == linked
    if ending == ".so":
        for path in (made, hone.folder / "again.so"):
            sound(hone("run", path, "-o", path.stem))
        np.testing.assert_array_equal(np.load(hone.folder / "my net/out_0.npy"), np.load(hone.folder / "again/out_0.npy"))


def test_it_may_be_kept_again_but_not_over_files_of_others(hone):
    for _ in range(2):
        sound(hone("compile", "zoo:mlp", "-o", "m", "--keep", "kept"))
    (hone.folder / "other").mkdir()
    for name in ("unit0.c", "build.sh", "weights.bin", "main.c"):
        path = hone.folder / "other" / name
        path.write_text("mine")
        refused(hone("compile", "zoo:mlp", "-o", "n", "--keep", "other"), "E_PATH", name)
        assert path.read_text() == "mine"
        for left in (hone.folder / "other").iterdir():
            left.unlink()
    assert not (hone.folder / "n").exists()


def test_a_compiler_by_a_relative_path_is_named_from_the_root(hone):
    (hone.folder / "my gcc").write_text('#!/bin/sh\nexec gcc "$@"\n')
    (hone.folder / "my gcc").chmod(0o755)
    sound(hone("compile", "zoo:mlp", "-o", "m.so", "--keep", "kept", "--cc", "./my gcc"))
    subprocess.run(["sh", "kept/build.sh", "again.so"], cwd=hone.folder, check=True)
    assert (hone.folder / "again.so").read_bytes() == linked_bytes(hone.folder / "m.so")

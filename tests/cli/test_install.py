"""hone backends install with a fake interpreter and pip: the requested packages, and that the environment works
at its final path."""

import subprocess
import textwrap

import pytest
from hone import refused, sound

PYTHON3 = """
    #!/bin/sh
    # python3 -m venv --clear FOLDER: an environment whose pip notes what it is given
    [ "$2" = venv ] || exit 9
    mkdir -p "$4/bin" "$4/lib/python3.11/site-packages"
    cat > "$4/bin/python" <<'END'
    #!/bin/sh
    here=$(dirname "$0")
    if [ "$2" != pip ]; then echo "ran $*"; exit; fi
    echo "$@" >> "$here/../pip.txt"
    mkdir -p "$here/../lib/python3.11/site-packages/DISTRIBUTION-9.9.dist-info"
    printf '#!%s/python\\n' "$(cd "$here" && pwd)" > "$here/tool"
    chmod +x "$here/tool"
    END
    chmod +x "$4/bin/python"
"""


@pytest.fixture
def install(hone, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()

    def run(name, distribution, python3=textwrap.dedent(PYTHON3).strip()):
        (programs / "python3").write_text(python3.replace("DISTRIBUTION", distribution) + "\n")
        (programs / "python3").chmod(0o755)
        result = hone("backends", "install", name, env={"PATH": f"{programs}:/usr/bin:/bin"})
        return result, tmp_path / "data/hone/engines" / name

    return run


def test_what_is_asked_of_pip(install):
    """Wheels only; a package with more dependencies than its worker needs is installed last, without them."""
    result, folder = install("ncnn", "ncnn")
    sound(result)
    first, second = (folder / "pip.txt").read_text().splitlines()
    assert "--only-binary :all:" in first and "--no-deps" not in first and "ncnn==" in first and "pnnx" not in first
    assert "--only-binary :all:" in second and "--no-deps" in second and "pnnx==" in second
    assert "pnnx==" in result.errors and "MB on disk" in result.errors and "takes" in result.errors


def test_its_programs_run_where_it_is(install):
    """An environment is made under another name and renamed: a script that named its interpreter by that would not run."""
    result, folder = install("ncnn", "ncnn")
    sound(result)
    assert (folder / "bin/tool").read_text() == f"#!{folder}/bin/python\n"
    done = subprocess.run([folder / "bin/tool"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == f"ran {folder}/bin/tool\n"
    assert not list(folder.parent.glob(".new-*"))


@pytest.mark.parametrize("name, distribution", [("mnn", "mnn"), ("mnn", "MNN"), ("emx", "emx_onnx_cgen"),
                                                ("tvm", "apache_tvm")])
def test_metadata_is_found_by_any_spelling(hone, install, name, distribution):
    sound(install(name, distribution)[0])
    line, = [one for one in hone("backends").text.splitlines() if one.startswith(name)]
    assert line.split()[1:3] == ["ready", "9.9"], line


def test_the_metadata_of_another_is_not_taken(hone, install):
    sound(install("mnn", "mnnx")[0])
    line, = [one for one in hone("backends").text.splitlines() if one.startswith("mnn")]
    assert line.split()[1] == "missing" and "holds no MNN" in line


def test_what_fails_leaves_nothing(install):
    result, folder = install("ncnn", "ncnn", "#!/bin/sh\necho no venv here\nexit 1")
    refused(result, "E_MISSING", "no venv here")
    assert not folder.exists() and not list(folder.parent.glob(".new-*"))

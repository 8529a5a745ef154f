"""Set-up as an ordinary user: if packages are missing, one command is printed; if they are installed, root is not needed.
Nothing is written outside the clone."""

import os
import pathlib
import shutil
import subprocess

import pytest

from hone import ROOT, without_compiler_cache

NOBODY = 65534
# Commands that our shell scripts may call; no compiler, no pkg-config, no python3.
TOOLS = ["sh", "id", "dirname", "tr", "cat", "cmp", "cp", "sed", "head", "grep", "apt-get"]


def as_user(folder):
    """subprocess arguments of a user who is not root; the folder becomes that user's."""
    home = pathlib.Path(folder) / "home"
    home.mkdir(exist_ok=True)
    env = {"PATH": without_compiler_cache(os.environ["PATH"]), "HOME": str(home), "TMPDIR": str(home)}
    if os.getuid():
        return {"env": env}
    for path in [pathlib.Path(folder), *pathlib.Path(folder).rglob("*")]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    for parent in pathlib.Path(folder).parents:  # pytest's folders are root's alone
        if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    return {"env": env, "user": NOBODY, "group": NOBODY, "extra_groups": []}


def setup_sh(tmp_path):
    """A copy that any user can read, wherever the tree lies."""
    shutil.copytree(ROOT / "tools", tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "tools" / "setup.sh"


@pytest.mark.parametrize("what", ["build", "test"])
def test_one_command_is_printed(tmp_path, what):
    script = setup_sh(tmp_path)
    (tmp_path / "bin").mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        if found:
            (tmp_path / "bin" / name).symlink_to(found)
    user = as_user(tmp_path)
    user["env"]["PATH"] = str(tmp_path / "bin")
    done = subprocess.run([shutil.which("sh"), script, what], capture_output=True, text=True, check=False, **user)
    assert done.returncode != 0, done
    commands = [line.split("install -y ")[1].split() for line in done.stderr.splitlines() if "apt-get install" in line]
    assert len(commands) == 1, done.stderr
    packages = commands[0]
    assert len(packages) == len(set(packages)), packages
    assert {"gcc", "libc6-dev", "pkg-config", "libjansson-dev", "libsqlite3-dev", "libxxhash-dev", "libssl-dev",
            "libmicrohttpd-dev", "libpq-dev", "python3-venv"} <= set(packages), packages
    assert ("libcmocka-dev" in packages) == ("chromium" in packages) == (what == "test"), packages


@pytest.mark.parametrize("what", ["build", "test"])
def test_nothing_is_asked_where_all_is_there(tmp_path, what):
    script = setup_sh(tmp_path)
    if any(not shutil.which(name) for name in ("cc", "pkg-config", "make")):
        pytest.skip("packages are missing here")
    done = subprocess.run([shutil.which("sh"), script, what], capture_output=True, text=True, check=False,
                          **as_user(tmp_path))
    assert done.returncode == 0 and not done.stderr and not done.stdout, done


def test_make_begins_in_a_clone_of_an_ordinary_user(tmp_path):
    """The first step of `make`, as another user in a copy of the tracked files: no root, nothing outside."""
    listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "ls-files"], capture_output=True,
                            text=True, check=False)
    if listed.returncode:
        pytest.skip("not a clone")
    clone = tmp_path / "clone"
    for name in listed.stdout.split("\n"):
        if name and (ROOT / name).is_file() and name.split("/")[0] in ("Makefile", "LICENSE", "make", "tools", "src", "include", "python"):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    user = as_user(tmp_path)
    before = {path for path in tmp_path.rglob("*")}
    done = subprocess.run(["make", "-s", "build/packages.ok", "build/gen/embedded.c"], cwd=clone, capture_output=True,
                          text=True, check=False, **user)
    assert done.returncode == 0, done
    made = {path for path in tmp_path.rglob("*")} - before
    assert made and all(str(path).startswith(str(clone / "build")) for path in made), made

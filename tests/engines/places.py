"""Finds installed engines: those that 'hone backends install' put into this user's data folder, and environments that the
user names: HONE_TEST_ENGINES="torch=DIR,iree=DIR"."""

import os
import pathlib

DATA = pathlib.Path(os.environ.get("XDG_DATA_HOME", "~/.local/share")).expanduser() / "hone/engines"


def places():
    found = {path.name: path for path in DATA.iterdir() if path.is_dir()} if DATA.is_dir() else {}
    for word in filter(None, os.environ.get("HONE_TEST_ENGINES", "").split(",")):
        name, _, folder = word.partition("=")
        found[name] = pathlib.Path(folder)
        assert found[name].is_dir(), f"HONE_TEST_ENGINES: {folder} is no folder"
    return found


def words(*names):
    """The flags of the hone command for those of the named engines that are installed."""
    return [word for name, path in places().items() if name in names for word in ("--engine", f"{name}={path}")]

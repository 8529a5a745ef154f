import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import hone as command  # noqa: E402


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Whoever runs one file by hand is told, too, what was left out and why."""
    if "s" not in config.option.reportchars:
        config.option.reportchars += "s"


@pytest.fixture
def hone(tmp_path):
    return command.Sandbox(tmp_path)


@pytest.fixture(scope="session")
def shared_hone(tmp_path_factory):
    """One sandbox for tests that only read models; its artifact cache is that of the whole test run ($HONE_TEST_CACHE)."""
    sandbox = command.Sandbox(tmp_path_factory.mktemp("shared"))
    sandbox.env["XDG_CACHE_HOME"] = os.environ.get("HONE_TEST_CACHE") or sandbox.env["XDG_CACHE_HOME"]
    return sandbox

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import hone as command  # noqa: E402


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """A file that is run directly also reports skipped tests and the reasons."""
    config.addinivalue_line("markers", "long: runs in `make test-full` and when it is named on the command line")
    if "s" not in config.option.reportchars:
        config.option.reportchars += "s"


def pytest_collection_modifyitems(config, items):
    """`make test` leaves out the tests that are marked `long`."""
    if command.IS_FULL or any("::" in word for word in config.args):
        return
    is_long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=is_long)
    items[:] = [item for item in items if item not in is_long]


@pytest.fixture
def hone(tmp_path):
    return command.Sandbox(tmp_path)


@pytest.fixture(scope="session")
def shared_hone(tmp_path_factory):
    """One sandbox for tests that only read models; its artifact cache is that of the whole test run ($HONE_TEST_CACHE)."""
    sandbox = command.Sandbox(tmp_path_factory.mktemp("shared"))
    sandbox.env["XDG_CACHE_HOME"] = os.environ.get("HONE_TEST_CACHE") or sandbox.env["XDG_CACHE_HOME"]
    return sandbox

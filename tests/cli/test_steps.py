"""tests/run.py: its random steps draw graphs of their own, and graphs of two numbers differ."""

import importlib.util
import subprocess
import sys

import pytest

from hone import HONE, ROOT

spec = importlib.util.spec_from_file_location("steps", ROOT / "tests/run.py")
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)


def drawn():
    """{step: the numbers that it draws from}, of every step that draws."""
    found = {}
    for name, command in run.steps("build", "python3"):
        if any(word.endswith(("random-graphs", "differential/run.py")) for word in command):
            first, count = (int(command[command.index(flag) + 1]) for flag in ("--seed", "--count"))
            found[name] = range(first, first + count)
    return found


def test_no_number_is_drawn_twice():
    found = drawn()
    assert len(found) == 2 and all(found.values())
    numbers = [n for step in found.values() for n in step]
    assert len(numbers) == len(set(numbers))


def test_graphs_of_two_numbers_differ():
    sys.path.insert(0, str(ROOT / "tests/differential"))
    import graphs
    numbers = [n for step in drawn().values() for n in (step[0], step[-1])]
    models = {graphs.random_model(n)[0].SerializeToString() for n in numbers}
    assert len(models) == len(numbers) == 4
    program = HONE.parent / "random-graphs"
    if not program.exists():
        pytest.skip("random-graphs is not built")
    shown = {subprocess.run([program, "--show", str(n)], capture_output=True, check=True).stdout for n in numbers}
    assert len(shown) == 4

"""tests/run.py: each random step draws different graphs, each seed gives different graphs, the full run has every step of the
short one, and the cached result of a step depends on the files that it reads. tests/check.py: a change selects its unit tests."""

import importlib.util
import subprocess
import sys

import pytest

from hone import HONE, ROOT


def load(name):
    spec = importlib.util.spec_from_file_location(f"tests_{name}", ROOT / f"tests/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


run, check, step_inputs = load("run"), load("check"), load("step_inputs")


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


def test_the_full_run_holds_the_short_one():
    short, full = (dict(run.steps("build", "python3", is_full)) for is_full in (False, True))
    assert set(short) == set(full)
    assert int(full["random graphs"][-1]) > int(short["random graphs"][-1])
    assert "--every" in short["conformance"] and "--every" not in full["conformance"]


def test_the_steps_that_are_not_about_compiling_are_there():
    unit_tests = {path.stem for path in (ROOT / "tests/unit").glob("*.c")}
    every = [name for names in step_inputs.NOT_ABOUT.values() for name in names]
    assert len(set(every)) == len(every) and set(every) <= unit_tests | set(dict(run.steps("build", "python3")))
    objects = [f"src/{path.relative_to(ROOT / 'src')}" for path in (ROOT / "src").rglob("*.c")]
    compiler = [path for path in objects if step_inputs.COMPILER_ROOMS.match(path)]
    assert 100 < len(compiler) < len(objects) / 2


def test_a_step_is_remembered_by_what_it_reads(tmp_path, monkeypatch):
    """Its program, its cases and whether it is the full form; a step that calls make is never remembered."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests/cases").mkdir(parents=True)
    (tmp_path / "build/tests").mkdir(parents=True)
    program, case = tmp_path / "build/tests/test_one", tmp_path / "tests/cases/one.onnx"

    def key(is_full=False, name="test_one"):
        for function in (step_inputs.digest, step_inputs.folder_digest, step_inputs.test_data):
            function.cache_clear()
        return step_inputs.key(name, ["build/tests/test_one"], "build", sys.executable, is_full)

    program.write_text("1")
    case.write_text("1")
    first = key()
    assert first and first == key() and first not in (key(True), key(name="other"))
    case.write_text("2")
    second = key()
    program.write_text("2")
    assert len({first, second, key()}) == 3
    python, test = "build/testenv/bin/python", tmp_path / "tests/cli/test_two.py"  # named from the root, as a program is
    test.parent.mkdir()
    test.write_text('ROOT / "src/kernels"')
    command = [python, "-m", "pytest", "tests/cli/test_two.py"]
    found = []
    for text in ("1", "2"):
        (tmp_path / "src/kernels").mkdir(parents=True, exist_ok=True)
        (tmp_path / "src/kernels/one.c").write_text(text)
        key()  # forgets what was read
        found.append(step_inputs.key("cli two", command, "build", python, False))
    assert found[0] != found[1]
    assert step_inputs.key("install", ["make", "x"], "build", sys.executable, False) is None


def test_a_pass_does_not_repeat_what_is_not_about_compiling(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").mkdir()
    files = ["build/tests/test_bench", "build/obj/src/compiler/passes/a.o", "build/obj/src/bench/b.o",
             "build/obj/tests/unit/test_bench.o"]

    def key(name="test_bench"):
        for function in (step_inputs.digest, step_inputs.folder_digest, step_inputs.test_data,
                         step_inputs.command_without):
            function.cache_clear()
        return step_inputs.key(name, ["build/tests/test_bench"], "build", sys.executable, False)

    def changes(path):
        before = key(), key("test_plan")
        (tmp_path / path).write_text("changed")
        return key() != before[0], key("test_plan") != before[1]

    for path in files:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("1")
    assert [changes(path) for path in files] == [(False, True), (False, False), (True, False), (True, False)]


@pytest.mark.parametrize("changed, wanted", [("tests/unit/test_stats.c", "test_stats"), ("tests/passes/any.txt", "test_passes"),
                                             ("tests/compile/any.hg", "test_compile")])
def test_a_change_finds_its_unit_tests(changed, wanted):
    chosen, left_out = check.choose("build", [changed], {}, 1000)
    assert wanted in chosen and not left_out and len(chosen) < 10


def test_the_time_decides_how_many_unit_tests_a_change_gets():
    header = next(path for path in (ROOT / "src").rglob("*.h") if path.name == "base.h")
    changed = [str(header.relative_to(ROOT))]
    chosen, left_out = check.choose("build", changed, {}, 10)
    assert chosen and left_out and len(chosen) < 10
    assert check.choose("build", ["docs/nothing.md"], {}, 10) == ([], [])

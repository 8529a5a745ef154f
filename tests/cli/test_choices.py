"""A choice table selects kernel parameters: another tile size gives the same outputs, an invalid line
is an error with its line number, a choice that does not fit the problem is a warning."""

import re

import numpy as np
import pytest

from hone import refused, sound


def plan_of(hone, model, *words):
    result = hone("compile", model, "--stop-after", "plan", "--dump-after", "plan", "--cpu", "baseline",
                  "--threads", "1", *words)
    sound(result)
    return re.findall(r"\| (.*? -> .*)", result.out.decode())


def outputs(hone, model, folder, *words):
    sound(hone("run", model, "--seed", "7", "--cpu", "baseline", "--threads", "1", "-o", str(folder), *words))
    return [np.load(path) for path in sorted(folder.glob("*.npy"))]


def changed(line):
    """The line with another tile, block and work item size where it has them; each divides the dimension that it splits."""
    for name, value in (("vectors", 1), ("tile_rows", 1), ("tile_columns", 1), ("k_unroll", 2), ("unit_tiles", 1),
                        ("unit_panels", 1), ("block", 1), ("group", 1), ("channels", 4), ("unit_vectors", 1)):
        problem, choice = line.split(" -> ")
        line = problem + " -> " + re.sub(rf"\b{name}\d+", f"{name}{value}", choice)
    return line


def test_another_tile_gives_the_same_outputs(hone, tmp_path):
    for model in ("zoo:mlp", "zoo:conv", "zoo:transformer"):
        lines = plan_of(hone, model)
        assert lines
        wanted = [changed(line) for line in lines]
        assert wanted != lines
        table = tmp_path / "table"
        table.write_text("# a comment\n\n" + "\n".join(wanted) + "\n")
        assert plan_of(hone, model, "--choices", str(table)) == wanted
        plain = outputs(hone, model, tmp_path / "a")
        forced = outputs(hone, model, tmp_path / "b", "--choices", str(table))
        assert plain and len(plain) == len(forced)
        for x, y in zip(plain, forced):
            assert np.linalg.norm(x - y) <= 1e-5 * np.linalg.norm(x)


def test_the_printed_table_changes_nothing(hone, tmp_path):
    lines = plan_of(hone, "zoo:conv")
    table = tmp_path / "table"
    table.write_text("\n".join(lines))
    assert plan_of(hone, "zoo:conv", "--choices", str(table)) == lines


def test_lines_that_are_no_choice(hone, tmp_path):
    good = plan_of(hone, "zoo:mlp")[0]
    problem, choice = good.split(" -> ")
    table = tmp_path / "table"
    for bad in (problem, choice, problem + " -> ", problem + " -> gemm_f33", good + " zz1", "x" * 2000,
                problem + " x1 -> " + choice, "\x00"):
        table.write_text(good + "\n" + bad + "\n")
        result = hone("compile", "zoo:mlp", "--stop-after", "plan", "--choices", str(table))
        refused(result, "E_USAGE", "line 2")
    refused(hone("compile", "zoo:mlp", "--stop-after", "plan", "--choices", str(tmp_path / "none")), "E_NOFILE")


def test_a_choice_that_does_not_fit(hone, tmp_path):
    lines = plan_of(hone, "zoo:mlp")
    table = tmp_path / "table"
    table.write_text(lines[0].replace("tile_columns", "tile_columns9") + "\n")
    result = hone("compile", "zoo:mlp", "--stop-after", "plan", "--dump-after", "plan", "--cpu", "baseline",
                  "--threads", "1", "--choices", str(table))
    sound(result)
    assert "does not fit" in result.errors
    assert re.findall(r"\| (.*? -> .*)", result.out.decode()) == lines


@pytest.mark.parametrize("model, before, after", [
    ("zoo:transformer", " near16", " near8"), ("zoo:transformer", " near16", ""),
    ("zoo:gpt2_decode,layers=1,width=64,vocabulary=61,past=9", " direct1", "")])
def test_what_a_target_suggests_can_be_said_otherwise(hone, tmp_path, model, before, after):
    """How far panels are fetched ahead, and whether attention packs what it reads."""
    def plan(*words):
        result = hone("compile", model, "--stop-after", "plan", "--dump-after", "plan", "--cpu", "avx512", "--threads", "1", *words)
        sound(result)
        return re.findall(r"\| (.*? -> .*)", result.out.decode())
    wanted = [line.replace(before, after) for line in plan()]
    assert wanted != plan()
    table = tmp_path / "table"
    table.write_text("\n".join(wanted))
    assert plan("--choices", str(table)) == wanted

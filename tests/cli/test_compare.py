"""hone compare: studies and JSON files on either side, every output format, the gate's exit codes, and the
workflow of examples/ run unchanged."""

import json
import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree as xml

import pytest

import hostile
from hone import HONE, ROOT, refused, sound

ENOUGH = ["--rounds", "12", "--processes", "3", "--min-time", "0.01", "--min-samples", "5",
          "--warmup", "0.005", "--no-measure", "--threads", "1", "--resume", "never"]


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Two studies in one store and as files: of two engines, and of one of them."""
    import hone as command
    box = command.Sandbox(tmp_path_factory.mktemp("compare"))
    box.env["HONE_TESTING"] = "1"
    model = box.folder / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    for name, backends in (("before", "fake,null"), ("alone", "fake")):
        sound(box("bench", model, "--backend", backends, "--name", name, "--json", f"{name}.json",
                  *ENOUGH))
    return box


def known(path, folder, name, p50_ms, half_width=0.01):
    """The study with this median and interval in every row."""
    study = json.loads(path.read_text())
    for record in study["records"]:
        record["latency_ms"].update(p50=p50_ms,
                                    p50_ci=[p50_ms * (1 - half_width), p50_ms * (1 + half_width)])
        record["floor_ns"] = 0
    out = folder / f"{name}.json"
    out.write_text(json.dumps(study))
    return out


@pytest.fixture
def sides(studies, tmp_path):
    """1 ms of both engines, the same again, and 2 ms of one of them."""
    return [known(studies.folder / f"{source}.json", tmp_path, name, p50_ms)
            for source, name, p50_ms in (("before", "known", 1), ("before", "again", 1),
                                         ("alone", "slow", 2))]


def test_the_same_is_no_regression(studies, sides):
    for pair, most in ((("before", "before"), "10000%"), (("before", "before.json"), "10000%"),
                       (("before.json", "before"), "10000%"), (sides[:2], "5%")):
        result = studies("compare", *pair, "--fail-above", most)
        sound(result)
        assert result.code == 0 and f"0 regressions above {most[:-1]}" in result.text, result


def test_slower_is_a_regression_only_beyond_what_is_allowed(studies, sides):
    before, _, slow = sides
    result = studies("compare", before, slow, "--fail-above", "5%")
    assert result.code == 1 and "1 regression above 5" in result.text, result
    assert "only before" in result.text  # null ran in the first alone
    assert studies("compare", before, slow, "--fail-above", "1000").code == 0
    assert studies("compare", before, slow).code == 0
    assert studies("compare", slow, before, "--fail-above", "5%").code == 0  # faster


@pytest.mark.parametrize("slowdown,half_width,most,code,detectable", [
    (1.10, 0.29, "5%", 5, 0.817),  # planted, and the intervals could not show it
    (1.10, 0.01, "5%", 1, 0.020),  # planted, and found
    (1.10, 0.024, "5%", 5, 0.049),  # above the budget, by an interval that reaches below it
    (1.10, 0.01, "20%", 0, 0.020),  # within what is allowed
    (1.00, 0.29, "5%", 5, 0.817),
    (1.00, 0.01, "5%", 0, 0.020),
    (1.00, 0.29, "100%", 0, 0.817),
    (0.40, 0.29, "5%", 0, 0.817),  # proven faster: the interval contains no slowdown
])
def test_a_gate_says_what_it_could_have_seen(studies, tmp_path, slowdown, half_width, most, code,
                                             detectable):
    source = studies.folder / "before.json"
    before = known(source, tmp_path, "b", 1, half_width)
    after = known(source, tmp_path, "a", slowdown, half_width)
    result = studies("compare", before, after, "--fail-above", most, "--json", tmp_path / "c.json",
                     "--junit", tmp_path / "c.xml", "--md", tmp_path / "c.md")
    assert result.code == code, result
    for text in (result.text, (tmp_path / "c.md").read_text()):
        assert f"smallest detectable slowdown {100 * detectable:.2g}" in text, text
        assert ("cannot be ruled out" in text) == (code == 5), text
        assert ("2 undecided" in text) == (code == 5), text
    found = json.loads((tmp_path / "c.json").read_text())["changes"]
    assert all(abs(c["detectable"] - detectable) < 0.001 and c["open"] == (code == 5) for c in found)
    suite = xml.parse(tmp_path / "c.xml").getroot().find("testsuite")
    assert suite.get("skipped") == ("2" if code == 5 else "0")
    plain = studies("compare", before, after)  # no gate: the figure, and no verdict of it
    assert plain.code == 0 and "smallest detectable" in plain.text and "undecided" not in plain.text


def test_one_cell_that_shows_nothing_is_enough(studies, tmp_path):
    source = studies.folder / "before.json"
    sides = [known(source, tmp_path, name, 1) for name in ("b", "a")]
    for path in sides:
        study = json.loads(path.read_text())
        study["records"][0]["latency_ms"]["p50_ci"] = [0.7, 1.3]
        path.write_text(json.dumps(study))
    result = studies("compare", *sides, "--fail-above", "5%")
    assert result.code == 5 and "1 undecided, smallest detectable slowdown 2.0 to 86 %" in result.text, \
        result


def test_few_rounds_decide_nothing(studies, sides, tmp_path):
    study = json.loads(sides[2].read_text())
    for record in study["records"]:
        record["rounds"] = record["processes"] = record["incarnations"] = 1
    few = tmp_path / "few.json"
    few.write_text(json.dumps(study))
    assert studies("compare", sides[0], few, "--fail-above", "5%").code == 5


def test_a_cell_that_breaks_fails_the_gate(studies, sides, tmp_path):
    study = json.loads(sides[1].read_text())
    study["records"][0].update(status="crashed", stage="run", reason="signal 11")
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(study))
    result = studies("compare", sides[0], broken, "--fail-above", "5%")
    assert result.code == 1 and "broken" in result.text and "is crashed" in result.text, result
    assert studies("compare", sides[0], broken).code == 0


def test_every_form(studies, sides, tmp_path):
    before, _, slow = sides
    result = studies("compare", before, slow, "--fail-above", "5%", "--json", tmp_path / "c.json",
                     "--md", tmp_path / "c.md", "--html", tmp_path / "c.html",
                     "--junit", tmp_path / "c.xml")
    assert result.code == 1
    found = json.loads((tmp_path / "c.json").read_text())
    assert found["slower"] == 1 and found["only_before"] == 1
    worse = [c for c in found["changes"] if c["regression"]]
    assert len(worse) == 1 and worse[0]["backend"] == "fake"
    assert worse[0]["ci"][0] <= worse[0]["ratio"] <= worse[0]["ci"][1] and worse[0]["ci"][0] > 1.05
    suite = xml.parse(tmp_path / "c.xml").getroot().find("testsuite")
    assert suite.get("failures") == "1" and len(suite.findall("testcase")) == 2
    assert suite.get("skipped") == "1"
    assert "1 regression above" in (tmp_path / "c.md").read_text().splitlines()[0]
    assert "<h1>" in (tmp_path / "c.html").read_text()
    one = studies("compare", before, slow, "--md", "-")
    assert one.out == studies("compare", before, slow, "-o", tmp_path / "d.md", "--md", "-").out
    assert "engine" in one.text.splitlines()[2]


def test_what_is_no_study(studies, tmp_path):
    other = tmp_path / "other.json"
    other.write_text("{}")
    refused(studies("compare", other, "before"), "E_FORMAT")
    refused(studies("compare", "before", "nothing.json"), "E_NOFILE E_USAGE")
    for bad in ("much", "-1", "5%%", ""):
        refused(studies("compare", "before", "alone", "--fail-above", bad), "E_USAGE")


# -- the workflow in examples/: its own commands, in a folder of their own --------------------------------

WORKFLOW = ROOT / "examples" / "github-workflow.yml"


def steps():
    """The commands of each step that has some, in order: 'run: |' and what is indented below it."""
    text = WORKFLOW.read_text()
    found = re.findall(r"^( *)(?:- )?run: (?:\|\n((?:\1  .*\n|\n)+)|(.*)\n)", text, re.M)
    return [re.sub(r"^ {%d}" % (len(indent) + 2), "", block, flags=re.M) if block else line
            for indent, block, line in found]


def test_the_workflow_runs(hone, tmp_path):
    """Twice, as two pushes: the first makes the baseline, the second compares with it; a third, on an
    engine that is twice as slow, fails."""
    found = [s for s in steps() if "apt-get" not in s and "make" not in s.split()[0]]
    assert any("hone bench" in s for s in found) and any("hone compare" in s for s in found)
    (tmp_path / "bin").mkdir()
    os.symlink(HONE, tmp_path / "bin" / "hone")
    summary = tmp_path / "summary.md"
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    env = {**hone.env, "HONE_TESTING": "1", "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
           "GITHUB_STEP_SUMMARY": str(summary), "MODELS": str(model), "BACKENDS": "fake",
           "FAIL_ABOVE": "1000%"}  # beyond what a loaded machine does

    def push():
        flags = " ".join(ENOUGH)
        codes = [subprocess.run(["bash", "-eo", "pipefail", "-c", s], cwd=tmp_path, timeout=600,
                                env={**env, "BENCH_FLAGS": flags},
                                capture_output=True) for s in found]
        assert (tmp_path / "new.json").exists(), codes
        return codes

    first = push()
    assert [c.returncode for c in first] == [0] * len(first), first
    assert "fake" in summary.read_text()
    again = push()
    assert [c.returncode for c in again] == [0] * len(again), again
    assert "0 regressions above 1000 %" in summary.read_text()
    assert xml.parse(tmp_path / "compare.xml").getroot().tag == "testsuites"
    # an engine that became slow: the baseline's times are divided by 100
    baseline = tmp_path / "baseline" / "baseline.json"
    study = json.loads(baseline.read_text())
    for record in study["records"]:
        latency = record["latency_ms"]
        record["latency_ms"] = {k: [x and x / 100 for x in v] if isinstance(v, list) else v and v / 100
                                for k, v in latency.items()}
    baseline.write_text(json.dumps(study))
    worse = push()
    assert 1 in [c.returncode for c in worse], worse
    assert "1 regression above 1000 %" in summary.read_text()


def test_a_file_is_reported_as_its_study_is(studies, tmp_path):
    """hone report FILE.json: the same rows in every output format, without the parts that need samples."""
    stored = studies("report", "before", "--json", "-")
    (tmp_path / "b.json").write_text(stored.text)
    again = studies("report", tmp_path / "b.json", "--json", "-")
    sound(again)
    a, b = json.loads(stored.text), json.loads(again.text)
    for record in a["records"]:
        record.pop("memory_over_time", None)
    assert b["records"] == a["records"] and b["study"]["started_unix_ms"] == a["study"]["started_unix_ms"] > 0
    assert studies("report", tmp_path / "b.json", "--csv", "-").out == studies("report", "before", "--csv", "-").out
    (tmp_path / "out").mkdir()
    shown = studies("report", tmp_path / "b.json", "-o", f"{tmp_path / 'out'}/")
    sound(shown)
    assert "fake" in shown.text and (tmp_path / "out" / "study.html").stat().st_size > 10000
    (tmp_path / "other.json").write_text("{}")
    refused(studies("report", tmp_path / "other.json"), "E_FORMAT")

"""The command line: every verb and list, hostile arguments, hostile environments, small limits."""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

import pytest

import hostile
from hone import CODES, HONE, catches, refused, sound, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERBS = re.findall(r"^VERB\((\w+),", (ROOT / "src/ui/cli/verbs.def").read_text(), re.M)
LISTS = ["ops", "kernels", "passes", "backends", "errors", "limits", "columns", "statuses", "suites", "verbs"]


def calm(result, seconds=5):
    """It ended by itself, soon, with a code of its own and no escape codes on the terminal."""
    assert 0 <= result.code <= 130, result
    assert result.id not in ("E_CRASH", "E_INTERNAL"), result
    assert result.seconds < seconds, result
    assert b"\x1b" not in result.out + result.err, result
    return result


# -- help, lists, explain ------------------------------------------------------------------------------

def test_without_words(hone):
    result = hone()
    sound(result)
    assert all(f"hone {verb}" in result.text for verb in VERBS)
    assert hone("--help").text == hone("help").text == hone("-h").text == result.text
    assert re.fullmatch(r"hone \d+\.\d+\.\d+\n", hone("--version").text)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(hone, verb):
    result = hone(verb, "--help")
    sound(result)
    assert result.text.startswith(f"hone {verb}") and not result.err
    assert hone("help", verb).text == result.text
    assert hone(verb, "--nonsense", "-h").text == result.text
    assert all(len(line) <= 160 for line in result.text.splitlines())


def test_verbs_are_all_listed(hone):
    assert [line.split()[0] for line in hone("list", "verbs").text.splitlines()] == VERBS


@pytest.mark.parametrize("name", LISTS)
def test_lists(hone, name):
    result = hone("list", name)
    sound(result)
    assert len(result.text.splitlines()) >= 2
    refused(hone("list", name, "x"), "E_USAGE")


def test_errors_are_explained(hone):
    listed = hone("list", "errors").text.splitlines()
    found = {line.split()[0]: int(line.split()[2]) for line in listed}
    assert found == CODES
    for name, code in CODES.items():
        for word in (name, name[2:]):
            assert f"exit code {code}" in hone("explain", word).text
    refused(hone("explain", "E_NONE"), "E_USAGE")
    refused(hone("list", "nothing"), "E_USAGE")


def test_doctor_and_backends(hone):
    calm(hone("doctor"), 60)
    result = hone("backends", "--json", "-")
    calm(result, 60)
    assert json.loads(result.text)


# -- rows 80 and 82: words -------------------------------------------------------------------------------

USAGE = {
    "no_such_verb": (["benhc"], "bench"), "flag_near": (["run", "zoo:mlp", "--theads", "1"],
                                                      "--threads"),
    "flag_of_another_verb": (["inspect", "zoo:mlp", "--rounds", "3"], None),
    "flag_far": (["run", "--zzzzzzzzzzzzz"], None), "flag_without_value": (["run", "--threads"], None),
    "flag_with_value": (["compile", "zoo:mlp", "--debug=1"], None),
    "empty_word": (["run", ""], None), "empty_value": (["run", "zoo:mlp", "--threads="], None),
    "no_model": (["run"], None), "two_models": (["run", "zoo:mlp", "zoo:conv"], None),
    "bench_no_model": (["bench"], "zoo list"), "letter": (["run", "zoo:mlp", "-x"], None),
    "report_two": (["report", "a", "b"], None), "no_output": (["compile", "zoo:mlp"], "-o"),
    "device": (["bench", "zoo:mlp", "--device", "quantum"], "cpu"),
    "backend": (["bench", "zoo:mlp", "--backend", "nothing"], "nothing"),
    "precision": (["bench", "zoo:mlp", "--precision", "int3"], None),
    "limit_name": (["inspect", "zoo:mlp", "--limit", "x=1"], "limits"),
    "limit_value": (["inspect", "zoo:mlp", "--limit", "nodes=abc"], None),
    "limit_form": (["inspect", "zoo:mlp", "--limit", "nodes"], None),
    "stage": (["compile", "zoo:mlp", "-o", "x.c", "--stop-after", "nothing"], "passes"),
    "shape": (["run", "open.onnx", "--shape", "x[1"], "--shape"),
    "shape_name": (["run", "open.onnx", "--shape", "nobody[1]"], "nobody"),
    "shape_of_zoo": (["run", "zoo:mlp", "--shape", "input[2,256]"], "zoo list"),
    "not_utf8": (["bench", b"zoo:\xc0\x80"], "UTF-8"),
    "memory": (["bench", "zoo:mlp", "--memory-limit", "12Q"], None),
    "seed": (["run", "zoo:mlp", "--seed", "-1"], None),
}


@pytest.mark.parametrize("name", USAGE)
def test_usage(hone, name):
    words, part = USAGE[name]
    (hone.folder / "open.onnx").write_bytes(hostile.identity().SerializeToString())
    result = calm(hone(*words))
    refused(result, "E_USAGE", part)
    assert "help" in result.errors or "hone list" in result.errors


@pytest.mark.parametrize("value", ["-1", "0", "1000000000", "abc", "", " 1", "1 ", "1.5", "0x2",
                                   "99999999999999999999", "+1", "1,", ",1", "１"])
@pytest.mark.parametrize("verb", ["run", "bench"])
def test_threads(hone, verb, value):
    words = ["--backend", "native", "--dry-run"] if verb == "bench" else []
    refused(calm(hone(verb, "zoo:mlp", "--threads", value, *words)), "E_USAGE", "--threads")


@pytest.mark.parametrize("flag,values", [
    ("--min-time", ["0", "-1", "nan", "inf", "1e309", "0,5", "abc", "1s"]),
    ("--rounds", ["0", "-5", "1e3", "99999999999"]), ("--batch", ["0", "-1", "1,,2", "x"]),
    ("--timeout", ["0", "-1", "nan"]), ("--processes", ["0", "100000000"])])
def test_numbers(hone, flag, values):
    for value in values:
        result = calm(hone("bench", "zoo:mlp", "--backend", "native", "--dry-run", flag, value))
        refused(result, "E_USAGE", flag)


WORDS = ["$(touch sentinel)", "`touch sentinel`", "; touch sentinel", "| touch sentinel",
         "&& touch sentinel", "*", "../../../etc/passwd", "zoo:", "zoo:../x", "zoo:nothing",
         "zoo:mlp,", "zoo:mlp,batch=0", "zoo:mlp,batch=-1", "zoo:mlp,batch=1e9",
         "zoo:mlp,batch=99999999999999999999", "zoo:mlp,x=1", "a\nb",
         "\x1b[2J", "\u202e", "%s%n%n%n", "x" * 100000, "file:///etc/passwd", "http://x/y.onnx",
         "-", "--", "~", "/dev/tty", "zoo:mlp%s", "zoo:mlp,batch"]


@pytest.mark.parametrize("word", WORDS, ids=[ascii(w)[:24] for w in WORDS])
def test_words_are_only_words(hone, word):
    for verb in (["inspect", "--no-measure"], ["compile", "-o", "x.c"], ["explain"], ["list"],
                 ["report"], ["compare", "last"], ["help"], ["zoo", "write", "-o", "x.onnx"]):
        result = calm(hone(*verb, word))
        assert result.code or (verb[0] in ("help", "list", "explain") and word == "--"), result
        assert not (hone.folder / "sentinel").exists()
    calm(hone("run", "zoo:mlp", "--input", word))
    calm(hone("compile", "zoo:mlp", "-o", "x.c", "--prefix", word))
    calm(hone(word))


def test_a_file_named_like_a_flag(hone, tmp_path):
    for name in ("--help", "-o", "-", "--"):
        (tmp_path / name).write_bytes(hostile.identity().SerializeToString())
    sound(hone("inspect", "--no-measure", "--", "--help"))
    sound(hone("inspect", "--no-measure", "--", "-o"))
    sound(hone("inspect", "--no-measure", "./--help"))
    sound(hone("compile", "zoo:mlp", "-o", "./-x.c", "-q"))
    sound(hone("compile", "zoo:mlp", "-o", "-y.so", "-q"))
    assert (tmp_path / "-y.so").exists()
    sound(hone("zoo", "write", "mlp", "-o", "-x y.onnx", cwd=tmp_path))
    sound(hone("recommend", "-m", "-x y.onnx", "--backend", "native", "--threads", "1", "--budget", "1", "-q", "--json", "a",
               cwd=tmp_path))  # asks hone bench


def test_not_utf8(hone):
    for word in (b"\xff\xfe", b"zoo:\xc0\x80", b"--\xff", b"-\xff", b"\xed\xa0\x80"):
        for verb in ("inspect", "run", "bench", "explain"):
            result = calm(hone(verb, word))
            assert result.code, result
            (result.out + result.err).decode("utf-8")  # what is shown is text


def test_very_many_words(hone):
    many = ["x"] * 100000
    for verb in ("run", "bench", "inspect", "list", "help", "report"):
        calm(hone(verb, *many))
    refused(calm(hone("run", *(["--input", "a=b"] * 50000))), "E_USAGE E_LIMIT")
    refused(calm(hone("run", "zoo:mlp", "--shape", "x[1]," * 20000)), "E_USAGE")
    result = calm(hone("bench", "zoo:mlp", "--backend", "native", "--no-measure", "--shape",
                       "x[1]," * 20000))
    refused(result, "E_USAGE", "--shape")


def test_no_words_at_all(hone):
    """argv may be empty, without even the program's name."""
    code = ("import ctypes, os; "
            "libc = ctypes.CDLL(None); "
            f"libc.execv({os.fsencode(HONE)!r}, (ctypes.c_char_p * 1)(None))")
    import sys
    result = hone("-c", code, program=sys.executable)
    calm(result)


# -- row 81: surroundings ------------------------------------------------------------------------------

def outputs(hone, **keys):
    result = hone("run", "zoo:mlp", "--no-cache", **keys)
    return result


ENVIRONMENTS = {
    "odd_locale": {"LC_ALL": "tr_TR.UTF-8", "LANG": "de_DE.UTF-8"},
    "broken_locale": {"LC_ALL": "xx_YY.nonsense"}, "odd_zone": {"TZ": "../../etc/passwd"},
    "no_home": {"HOME": None}, "relative_home": {"HOME": "relative", "XDG_DATA_HOME": "relative",
                                                 "XDG_CACHE_HOME": "relative"},
    "empty_path": {"PATH": ""}, "no_path": {"PATH": None}, "cc_is_ignored": {"CC": "gcc; touch sentinel"},
    "cflags_are_ignored": {"CFLAGS": "-DX -fsanitize=bad", "LDFLAGS": "-lnothing",
                           "CPATH": "/nonexistent", "LIBRARY_PATH": "/nonexistent"},
    "gcc_variables": {"GCC_EXEC_PREFIX": "/nonexistent/", "COMPILER_PATH": "/nonexistent",
                      "C_INCLUDE_PATH": "/nonexistent", "DEPENDENCIES_OUTPUT": "sentinel",
                      "SUNPRO_DEPENDENCIES": "sentinel"},
    "tmp_absent": {"TMPDIR": "/nonexistent/x"}, "tmp_relative": {"TMPDIR": "tmp"},
    "tmp_long": {"TMPDIR": "/" + "x" * 5000}, "no_tmp": {"TMPDIR": None},
    "term": {"TERM": "\x1b[2J", "COLUMNS": "-1", "LINES": "999999999999"},
    "malloc": {"MALLOC_PERTURB_": "165"}, "big": {f"X{i}": "y" * 1000 for i in range(100)},
    "empty": None,
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_surroundings(hone, tmp_path, name):
    want = outputs(hone)
    sound(want)
    changes = ENVIRONMENTS[name]
    if changes is None:
        changes = {key: None for key in hone.env}
    got = outputs(hone, env=changes)
    sound(got)
    assert got.text == want.text, "the numbers changed"
    assert not (tmp_path / "sentinel").exists()
    assert not list((tmp_path / "tmp").iterdir()), "something was left in the temporary folder"


def test_preload_does_not_reach_the_compiler(hone, tmp_path):
    (tmp_path / "evil.c").write_text(
        "#include <stdio.h>\n#include <string.h>\nextern char *program_invocation_short_name;\n"
        "__attribute__((constructor)) static void f(void) {\n"
        "  if (!strstr(program_invocation_short_name, \"hone\")) {\n"
        "    FILE *s = fopen(\"" + str(tmp_path / "sentinel") + "\", \"w\"); if (s) fclose(s); }\n}\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "evil.so", "evil.c"], cwd=tmp_path, check=True)
    result = hone("compile", "zoo:mlp", "-o", tmp_path / "m.so", "--no-cache", "-q",
                  env={"LD_PRELOAD": str(tmp_path / "evil.so")})
    sound(result)
    assert not (tmp_path / "sentinel").exists(), "LD_PRELOAD reached the C compiler"


def test_world_writable_temporary_folder(hone, tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)  # without the sticky bit any user could replace its files
    sound(outputs(hone, env={"TMPDIR": str(folder)}))
    assert not list(folder.iterdir())


def test_a_compiler_in_the_working_folder_is_not_run(hone, tmp_path):
    for name in ("cc", "gcc", "clang"):
        (tmp_path / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/sentinel\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    for path in (".:/usr/bin:/bin", ":/usr/bin:/bin", "", "tmp/..:/usr/bin:/bin"):
        sound(outputs(hone, env={"PATH": path}, cwd=tmp_path))
    assert not (tmp_path / "sentinel").exists()


# -- row 83: small limits ---------------------------------------------------------------------------------

LIMITS = {
    "files_16": [(resource.RLIMIT_NOFILE, 16)], "files_8": [(resource.RLIMIT_NOFILE, 8)],
    "memory_512M": [(resource.RLIMIT_AS, 512 << 20)], "memory_64M": [(resource.RLIMIT_AS, 64 << 20)],
    "stack_64K": [(resource.RLIMIT_STACK, 64 << 10)], "data_64M": [(resource.RLIMIT_DATA, 64 << 20)],
    "size_0": [(resource.RLIMIT_FSIZE, 0)], "size_64K": [(resource.RLIMIT_FSIZE, 64 << 10)],
    "cpu_1": [(resource.RLIMIT_CPU, 1)], "core": [(resource.RLIMIT_CORE, 0)],
}


@pytest.mark.parametrize("name", LIMITS)
def test_limits(hone, name):
    for words in (["inspect", "zoo:mlp", "--no-measure"], ["run", "zoo:mlp", "--reference"],
                  ["compile", "zoo:mlp", "-o", "m.c", "-q"],
                  ["compile", "zoo:mlp", "-o", "m.so", "-q", "--no-cache"], ["doctor"], ["help"]):
        result = hone(*words, limits=LIMITS[name])
        assert result.code >= 0, result
        if result.code and words != ["doctor"]:
            assert result.id, result
            # If a child process lacks memory or file descriptors, the C compiler's failure is reported.
            if "m.so" not in words:
                assert result.id not in ("E_CRASH", "E_INTERNAL"), result
        if name in ("files_16", "core", "memory_512M") and words != ["doctor"]:
            sound(result)
        if name == "stack_64K" and "zoo:mlp" in words:
            refused(result, "E_OOM", "ulimit -s")
    assert not [p for p in hone.folder.iterdir() if p.name.startswith(".")], "half a file"
    assert not list((hone.folder / "tmp").iterdir())


def test_bench_under_small_limits(hone):
    hone.env["HONE_TESTING"] = "1"
    words = ["bench", "zoo:mlp", "--backend", "null", "--rounds", "2", "--processes", "1",
             "--min-time", "0.01", "--min-samples", "3", "--warmup", "0.01", "--no-measure"]
    for name in ("files_16", "files_8", "size_0", "memory_512M", "stack_64K"):
        result = hone(*words, "--resume", "never", limits=LIMITS[name])
        assert result.code >= 0 and result.id not in ("E_CRASH", "E_INTERNAL"), result
        assert result.code == 0 or result.id or b"not ranked" in result.out, result


def test_one_core(hone):
    one = {min(os.sched_getaffinity(0))}
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, one)
    try:
        sound(outputs(hone))
        sound(hone("run", "zoo:mlp", "--threads", "4"))
    finally:
        os.sched_setaffinity(0, before)


def test_standard_streams_closed(hone, tmp_path):
    for closed in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-", "0<&- 1>&- 2>&-"):
        for words in ("inspect zoo:mlp --no-measure", "run zoo:mlp", "compile zoo:mlp -o m.so -q",
                      "list ops", "list limits", "help"):
            result = hone("-c", f'exec "{HONE}" {words} {closed}', program="/bin/sh")
            assert result.code in (0, 73, 74), (words, closed, result)
        assert (tmp_path / "m.so").read_bytes()[:4] == b"\x7fELF"
        db = tmp_path / "data/hone/results.db"
        assert not db.exists() or db.read_bytes()[:6] == b"SQLite"


def test_reader_goes_away(hone):
    for words in ("list ops", "help", "inspect zoo:transformer --no-measure", "list columns"):
        result = hone("-c", f'"{HONE}" {words} | true; exit ${{PIPESTATUS[0]}}', program="/bin/bash")
        assert result.code in (0, 74), result
        assert b"Broken" not in result.err and not result.id, result


@pytest.mark.parametrize("words", [["list", "ops"], ["help"], ["inspect", "zoo:mlp", "--no-measure"],
                                   ["run", "zoo:mlp"], ["verify", "zoo:mlp"], ["--version"],
                                   ["compile", "zoo:mlp", "--stop-after", "import",
                                    "--dump-after", "import"], ["backends", "--json", "-"]])
def test_full_standard_output(hone, words):
    with open("/dev/full", "wb") as full:
        result = hone(*words, stdout=full)
    assert result.code in (73, 74), result
    assert result.id == "E_WRITE", result


def test_data_and_messages_do_not_mix(hone):
    result = hone("inspect", "zoo:mlp", "--no-measure", "--json", "-")
    sound(result)
    json.loads(result.text)
    result = hone("compile", "zoo:mlp", "-o", "m.c")
    assert not result.out and result.err
    assert not hone("compile", "zoo:mlp", "-o", "m.c", "-q").err


def test_interrupted_run(hone):
    child = hone.start("verify", "zoo:bert_base")  # many seconds of one core
    until(lambda: catches(child.pid, signal.SIGTERM))
    os.kill(child.pid, signal.SIGTERM)
    _, err = child.communicate(timeout=600)
    assert child.returncode == 130 and b"E_INTERRUPTED" in err, (child.returncode, err)
    assert not list((hone.folder / "tmp").iterdir())


def test_unwritable_homes(hone, tmp_path):
    """An unwritable cache is tolerated; an unwritable store is an error."""
    for name in ("cache", "data"):
        (tmp_path / name).rmdir()
        (tmp_path / name).write_text("a file")
    sound(hone("run", "zoo:mlp"))
    refused(hone("studies"), "E_WRITE E_IO E_NOFILE")
    result = hone("bench", "zoo:mlp", "--backend", "native", "--rounds", "1", "--processes", "1", "--min-samples", "1",
                  "--min-time", "0.01", "--warmup", "0.01", "--no-measure", "--store", tmp_path / "own.db")
    sound(result)
    assert result.errors.count("cannot use the cache of models and references") == 1, result
    assert not list((tmp_path / "tmp").iterdir()), "something was left in the temporary folder"


def test_a_reader_makes_no_folder(hone, tmp_path):
    """Without measurements there is nothing to read, and no folder is created even in a writable home."""
    home = tmp_path / "home"
    home.mkdir()
    env = {"HOME": str(home), "XDG_DATA_HOME": None}
    for words in (["studies"], ["report", "last"], ["compare", "first", "last"], ["dataset", "export", "-o", tmp_path / "d"]):
        refused(hone(*words, env=env), "E_NOFILE", "no results yet")
        assert not list(home.iterdir()), words


def test_a_working_folder_that_was_removed(hone, tmp_path):
    """Its outputs are refused before the work."""
    code = (f"import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); "
            f"os.execv({str(HONE)!r}, ['hone', 'profile', 'zoo:mlp', '-o', 'p.html', '--no-measure'])")
    result = hone("-c", code, program=sys.executable)
    refused(result, "E_WRITE", "its folder was removed")
    assert not result.out, result

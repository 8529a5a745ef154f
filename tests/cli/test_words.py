"""tools/check_words.py: what counts as prose, and when it fails."""
import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("check_words", ROOT / "tools/check_words.py")
words = importlib.util.module_from_spec(spec)
spec.loader.exec_module(words)
FORMS = "# a list\na run (decides|knows)\tdata-dependent\n\\bnobody\\b\tno caller\n"


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "tools/banned_words").write_text(FORMS)
    return tmp_path


@pytest.fixture
def check(repository, capsys):
    def run(*arguments):
        """(exit code, what it prints)"""
        return words.main(["--root", str(repository), *arguments]), capsys.readouterr().out
    return run


@pytest.mark.parametrize("name, text, line", [
    ("a.c", "int f(void);\n/* A size that a run\n * decides. */\n", 2),
    ("a.c", "// A size that a run\n// decides.\n", 1),
    ("a.c", 'int f(void) {\n  return fail("Nobody reads it");\n}\n', 2),
    ("a.py", 'x = 1\ny = f"of a run decides {x}"\n', 2),
    ("a.py", "# a run\n# knows it\n", 1),
    ("a.mk", "all:\n# Nobody needs it\n", 2),
    ("a.md", "One\ntwo a run\ndecides.\n", 2),
])
def test_a_banned_form_is_found(repository, check, name, text, line):
    (repository / "src" / name).write_text(text)
    code, out = check()
    assert code == 1 and f"src/{name}:{line}: " in out and "write: " in out, out


@pytest.mark.parametrize("name, text", [
    ("a.c", "/* Of a run */\nint decides = nobody(1);\n"),
    ("a.c", 'const char *key = "nobody";\n'),
    ("a.py", "nobody = 1  # of a run\nprint('decides')\n"),
    ("a.mk", "nobody:\n\techo nobody\n"),
    ("a.md", "```sh\nnobody\n```\nand `nobody` is a name.\n"),
])
def test_code_is_not_prose(repository, check, name, text):
    (repository / "src" / name).write_text(text)
    assert check()[0] == 0


def test_allowed_counts_only_shrink(repository, check):
    file, kept = repository / "src/a.c", repository / "tools/banned_words_allowed"
    file.write_text("/* Nobody. */\nint x; /* Nobody. */\n")
    assert check("--update")[0] == 0 and "src 2 \\bnobody\\b" in kept.read_text()
    assert check()[0] == 0
    file.write_text("/* Nobody. */\nint x; /* Nobody. */\nint y; /* Nobody. */\n")
    code, out = check()
    assert code == 1 and len(out.splitlines()) == 3, out
    file.write_text("/* Nobody. */\n")
    code, out = check()
    assert code == 0 and "can shrink" in out, out

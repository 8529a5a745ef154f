"""tools/check_words.py: what counts as prose, and when it fails."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMS = "# a list\na run (decides|knows)\tdata-dependent\n\\bnobody\\b\tno caller\n"


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "tools/banned_words").write_text(FORMS)
    return tmp_path


def check(root, *arguments):
    return subprocess.run([sys.executable, ROOT / "tools/check_words.py", "--root", root, *arguments], capture_output=True, text=True,
                          check=False)


@pytest.mark.parametrize("name, text, line", [
    ("a.c", "int f(void);\n/* A size that a run\n * decides. */\n", 2),
    ("a.c", "// A size that a run\n// decides.\n", 1),
    ("a.c", 'int f(void) {\n  return fail("Nobody reads it");\n}\n', 2),
    ("a.py", 'x = 1\ny = f"of a run decides {x}"\n', 2),
    ("a.py", "# a run\n# knows it\n", 1),
    ("a.mk", "all:\n# Nobody needs it\n", 2),
    ("a.md", "One\ntwo a run\ndecides.\n", 2),
])
def test_a_banned_form_is_found(repository, name, text, line):
    (repository / "src" / name).write_text(text)
    done = check(repository)
    assert done.returncode == 1 and f"src/{name}:{line}: " in done.stdout and "write: " in done.stdout, done


@pytest.mark.parametrize("name, text", [
    ("a.c", "/* Of a run */\nint decides = nobody(1);\n"),
    ("a.c", 'const char *key = "nobody";\n'),
    ("a.py", "nobody = 1  # of a run\nprint('decides')\n"),
    ("a.mk", "nobody:\n\techo nobody\n"),
    ("a.md", "```sh\nnobody\n```\nand `nobody` is a name.\n"),
])
def test_code_is_not_prose(repository, name, text):
    (repository / "src" / name).write_text(text)
    done = check(repository)
    assert done.returncode == 0, done


def test_allowed_counts_only_shrink(repository):
    file, kept = repository / "src/a.c", repository / "tools/banned_words_allowed"
    file.write_text("/* Nobody. */\nint x; /* Nobody. */\n")
    assert check(repository, "--update").returncode == 0 and "src 2 \\bnobody\\b" in kept.read_text()
    assert check(repository).returncode == 0
    file.write_text("/* Nobody. */\nint x; /* Nobody. */\nint y; /* Nobody. */\n")
    done = check(repository)
    assert done.returncode == 1 and len(done.stdout.splitlines()) == 3, done
    file.write_text("/* Nobody. */\n")
    done = check(repository)
    assert done.returncode == 0 and "can shrink" in done.stdout, done

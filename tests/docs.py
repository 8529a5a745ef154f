"""Checks README, CONTRIBUTING, CHANGELOG and every page below docs/: each block that is marked as runnable runs; each
file and commit that a page names exists, and so do the verb and flags of each `hone ...` and the targets of each `make ...`.
docs.py [BUILD] [FILE.md ...]

A ```sh or ```python block is runnable if the line before it is `<!-- run -->`. The blocks of a page run in order in one
scratch folder that looks like the repository's root, with scratch XDG folders and the engines that are installed here.
Python is $HONE_TEST_PYTHON, or BUILD/testenv; without either, Python blocks are skipped. Of the pages that are not named,
those below docs/how-to/ and docs/understand/ run with $HONE_TEST_FULL only.
"""
import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INTERNAL = ("worker", "agent")  # verbs that hone calls itself with
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
FILE_ROOTS = ("src/", "tests/", "tools/", "docs/", "make/", "zoo/", "bench/", "examples/", "include/", ".ci/")


def runnable_blocks(text):
    """(line, language, code) of each."""
    for match in re.finditer(r"<!-- run -->\n```(sh|python)\n(.*?)```", text, re.S):
        yield text[: match.start()].count("\n") + 2, match.group(1), match.group(2)


def interpreter(build):
    """A Python with NumPy, or None."""
    python = os.environ.get("HONE_TEST_PYTHON") or str(ROOT / build / "testenv/bin/python")
    return python if pathlib.Path(python).exists() else None


def scratch(folder, build):
    """A root with the sources and the build, where nothing written reaches the repository."""
    work = folder / "work"
    work.mkdir()
    for name in os.listdir(ROOT):
        if name not in (".git", "build"):
            (work / name).symlink_to(ROOT / name)
    (work / "build").mkdir()
    for name in os.listdir(ROOT / build):
        if name != "test-logs":
            (work / "build" / name).symlink_to(ROOT / build / name)
    data = folder / "data/hone"
    data.mkdir(parents=True)
    home = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share")
    if (home / "hone/engines").exists():
        (data / "engines").symlink_to(home / "hone/engines")
    env = dict(os.environ, XDG_DATA_HOME=str(folder / "data"), XDG_CACHE_HOME=str(folder / "cache"),
               PYTHONPATH=str(ROOT / "python"), HONE=str(work / "build/hone"), HONE_LIBRARY=str(work / "build/libhone.so"))
    return work, env


def run_blocks(page, build):
    blocks = list(runnable_blocks((ROOT / page).read_text()))
    failed, python = 0, interpreter(build)
    if python is None and any(language == "python" for _, language, _ in blocks):
        print(f"skipped: Python blocks of {page}: no {build}/testenv")
        blocks = [block for block in blocks if block[1] == "sh"]
    with tempfile.TemporaryDirectory() as name:
        work, env = scratch(pathlib.Path(name), build)
        for line, language, block in blocks:
            command = ["sh", "-eu", "-c", block] if language == "sh" else [python, "-c", block]
            try:
                done = subprocess.run(command, cwd=work, env=env, capture_output=True,
                                      timeout=600, check=False)
                words = done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")
                ok = done.returncode == 0
            except subprocess.TimeoutExpired:
                words, ok = "longer than 600 s", False
            if not ok:
                failed += 1
                print(f"{page}:{line}: this block fails:\n{block}{words[-3000:]}\nrepeat: tests/docs.py {build} {page}")
    return len(blocks), failed


def git(*words):
    """Git's output; empty without git or without a history, as in an unpacked archive."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


def anchors(path):
    """The names by which GitHub and mkdocs link to the headings of a page."""
    prose = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    titles = re.findall(r"^#+ (.+)$", prose, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def dead_references(page):
    text = (ROOT / page).read_text()
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", text):
        path = (ROOT / page).parent / target if target else ROOT / page
        if path.suffix == ".md" and path.exists() and anchor not in anchors(path):
            yield f"{page}: links to #{anchor} of {path.name}, which is not there"
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        if not (ROOT / page).parent.joinpath(target).exists():
            yield f"{page}: links to {target}, which is not there"
    for name in re.findall(r"`([\w./-]+)`", prose):
        if name.startswith(FILE_ROOTS) and "*" not in name and not (ROOT / name).exists():
            yield f"{page}: names {name}, which is not there"
    is_whole = git("rev-parse", "--is-shallow-repository") == "false"
    for commit in re.findall(r"\b(?:[Cc]ommit|at) `?([0-9a-f]{7,40})\b", prose) if is_whole else ():
        if git("cat-file", "-t", commit) != "commit":
            yield f"{page}: points at commit {commit}, which is not there"


def commands(text):
    """The words of each command that a page shows, in a line or in a block."""
    shown = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        shown += block.replace("\\\n", " ").splitlines()
    for line in shown:
        for part in re.split(r"&&| \| ", line):
            try:
                yield shlex.split(part, comments=True)
            except ValueError:
                pass  # no command: a quotation mark of prose


@functools.cache
def flags_of(build, verb):
    """The flags that `hone help VERB` lists; None if there is no such verb."""
    done = subprocess.run([ROOT / build / "hone", "help", verb], capture_output=True, text=True, check=False)
    return set(re.findall(r"^  .{4}(--[a-z-]+)", done.stdout, re.M)) if not done.returncode else None


@functools.cache
def make_targets():
    """The targets in make's own database; the requested target has no recipe."""
    done = subprocess.run(["make", "-np", "FORCE"], cwd=ROOT, capture_output=True, text=True, check=False)
    return set(re.findall(r"^([\w-]+):", done.stdout, re.M))


def unknown_commands(page, build):
    for words in commands((ROOT / page).read_text()):
        while words and re.match(r"[A-Z_]+=", words[0]):
            del words[0]
        if len(words) < 2:
            continue
        text, (program, *words) = " ".join(words), words
        if program == "make":
            wanted = [w for w in words if re.fullmatch(r"[a-z][a-z-]*", w)]
            yield from (f"{page}: {text}: no target {w}" for w in wanted if w not in make_targets())
        if pathlib.Path(program).name != "hone" or not re.fullmatch(r"[a-z]+", words[0]) or words[0] in INTERNAL:
            continue
        known = flags_of(build, words[0])
        if known is None:
            yield f"{page}: {text}: no verb {words[0]}"
            continue
        if "--" in words:  # what follows is for another command
            words = words[: words.index("--")]
        flags = {w.split("=")[0] for w in words if re.match(r"--[a-z]", w)}
        yield from (f"{page}: {text}: {words[0]} has no {flag}" for flag in sorted(flags - known))


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    pages = sys.argv[2:] or PAGES + sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))
    passed = failed = 0
    for page in pages:
        dead = [*dead_references(page), *unknown_commands(page, build)]
        print("".join(line + "\n" for line in dead), end="")
        is_long = page.startswith(("docs/how-to/", "docs/understand/")) and not (sys.argv[2:] or os.environ.get("HONE_TEST_FULL"))
        count, bad = (0, 0) if is_long else run_blocks(page, build)
        passed += count - bad + (not dead)
        failed += bad + bool(dead)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The documents are true: every ```sh block marked runnable runs, every file they name is there, every commit
they point at exists.   docs.py [BUILD] [FILE.md ...]

A block is runnable when the line before it is `<!-- run -->`. All blocks of a document run in order in one scratch
folder that looks like the repository's root, with scratch XDG folders; engines installed here are seen.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
FILE_ROOTS = ("src/", "tests/", "tools/", "docs/", "make/", "zoo/", "bench/", "examples/", "include/", ".ci/")


def runnable_blocks(text):
    for match in re.finditer(r"<!-- run -->\n```sh\n(.*?)```", text, re.S):
        yield text[: match.start()].count("\n") + 2, match.group(1)


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
    env = dict(os.environ, XDG_DATA_HOME=str(folder / "data"), XDG_CACHE_HOME=str(folder / "cache"))
    return work, env


def run_blocks(page, build):
    blocks = list(runnable_blocks((ROOT / page).read_text()))
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        work, env = scratch(pathlib.Path(name), build)
        for line, block in blocks:
            try:
                done = subprocess.run(["sh", "-eu", "-c", block], cwd=work, env=env, capture_output=True,
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
    """What git answers; nothing where there is no git or no history, as in an unpacked archive."""
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""


def dead_references(page):
    text = (ROOT / page).read_text()
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        if not (ROOT / page).parent.joinpath(target).exists():
            yield f"{page}: links to {target}, which is not there"
    for name in re.findall(r"`([\w./-]+)`", prose):
        if name.startswith(FILE_ROOTS) and "*" not in name and not (ROOT / name).exists():
            yield f"{page}: names {name}, which is not there"
    is_whole = git("rev-parse", "--is-shallow-repository") == "false"
    for commit in re.findall(r"[Cc]ommit `([0-9a-f]{7,40})`", prose) if is_whole else ():
        if git("cat-file", "-t", commit) != "commit":
            yield f"{page}: points at commit {commit}, which is not there"


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    pages = sys.argv[2:] or PAGES + sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/*.md"))
    passed = failed = 0
    for page in pages:
        dead = list(dead_references(page))
        print("".join(line + "\n" for line in dead), end="")
        count, bad = run_blocks(page, build)
        passed += count - bad + (not dead)
        failed += bad + bool(dead)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

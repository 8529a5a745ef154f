"""Prose that hone no longer uses: check_words.py [--root DIR] [--list AREA] [--update]

tools/banned_words has regular expressions and what to write instead. They are searched in documents, and in comments and strings
of sources; a form may span lines. tools/banned_words_allowed has how often each form may still occur in an area (a folder of the
root, or "." for files at the root); those counts may only shrink, and the aim is an empty file. Exit 1 names file and line of
each hit of a form that occurs more often than that.

--list AREA prints all hits of an area, with what to write instead. --update writes the counts as they are now.
"""
import argparse
import bisect
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
AREAS = ("docs", "src", "zoo", "include", "python", "workers", "tools", "tests", "make", "bench", "examples")
GENERATED = re.compile(r"^Made by `make \w+` from", re.M)  # from strings of the sources, which are read themselves
OWN = ("tools/banned_words", "tools/check_words.py", "tests/cli/test_words.py")
CODE = "\0"  # in the place of code: no form reaches across it
C_PROSE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
PYTHON_PROSE = re.compile(r'#[^\n]*|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def blanked(text):
    return CODE + "\n" * text.count("\n") + CODE if text else ""


def without_leaders(prose):
    """A comment without its marks, so that a sentence goes on from line to line."""
    return re.sub(r"(?m)^[ \t]*(\*|#+|//)(?=\s|$)|^/\*+|\*/$|^//|^#+", lambda match: " " * len(match.group()), prose)


def source_prose(rule, text):
    """Comments, and strings with blanks in them; everything else is CODE. Comments on adjoining lines are one text."""
    out, end = [], 0
    for match in rule.finditer(text):
        between = text[end:match.start()]
        out.append(between if between.isspace() else blanked(between))
        prose = match.group()
        is_prose = prose[0] in "/#" or (prose[0] == '"' and " " in prose)
        out.append(without_leaders(prose).replace('"', " ") if is_prose else blanked(prose))
        end = match.end()
    return "".join(out) + blanked(text[end:])


def c_prose(text):
    return source_prose(C_PROSE, text)


def python_prose(text):
    return source_prose(PYTHON_PROSE, text)


def hash_prose(text):
    """Comments of make, shell and .hg files."""
    return "".join(without_leaders(line) if line.lstrip().startswith("#") and not line.startswith("#!") else blanked(line)
                   for line in text.splitlines(keepends=True))


def markdown_prose(text):
    """Without blocks of code, and names in backticks."""
    return re.sub(r"```.*?```|`[^`\n]+`", lambda match: blanked(match.group()), text, flags=re.S)


READERS = {".md": markdown_prose, ".py": python_prose, ".mk": hash_prose, ".sh": hash_prose, ".hg": hash_prose,
           ".c": c_prose, ".h": c_prose, ".def": c_prose}


def banned(root):
    rows = []
    for line in (root / "tools/banned_words").read_text().splitlines():
        if line and not line.startswith("#"):
            form, instead = line.split("\t")
            rows.append((form, re.compile(form.replace(" ", r"\s+")), instead))
    return rows


def files(root):
    """(area, path)"""
    for path in sorted(root.glob("*.md")):
        yield ".", path
    for area in AREAS:
        for path in sorted((root / area).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix in READERS and name not in OWN:
                yield area, path


def pieces(prose):
    """The prose in lower case with one CODE between its pieces, and where which line begins: [(place, line)]."""
    kept, begins, place, line, before = [], [], 0, 1, 0
    for match in re.finditer(f"[^{CODE}]+", prose):
        if match.group().isspace():
            continue
        line, before = line + prose.count("\n", before, match.start()), match.start()
        begins.append((place, line))
        kept.append(match.group().lower())
        place += len(match.group()) + 1
    return CODE.join(kept), begins


def line_of(text, begins, at):
    place, line = begins[bisect.bisect(begins, (at, sys.maxsize)) - 1]
    return line + text.count("\n", place, at)


def find_hits(root):
    """{(area, form): ["file:line: what is there; write: ..."]}"""
    hits, rows = collections.defaultdict(list), banned(root)
    for area, path in files(root):
        whole = path.read_text(errors="replace")
        if area == "docs" and GENERATED.search(whole):
            continue
        text, begins = pieces(READERS[path.suffix](whole))
        for form, rule, instead in rows:
            for match in rule.finditer(text):
                place = f"{path.relative_to(root)}:{line_of(text, begins, match.start())}"
                hits[area, form].append(f"{place}: \"{' '.join(match.group().split())}\"; write: {instead}")
    return hits


def allowed(root):
    path = root / "tools/banned_words_allowed"
    rows = path.read_text().splitlines() if path.exists() else []
    return {(area, form): int(count) for area, count, form in (row.split(" ", 2) for row in rows if row[:1] != "#")}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--list", metavar="AREA")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args(arguments)
    hits = find_hits(options.root)
    if options.list:
        print("\n".join(line for (area, _), lines in hits.items() if area == options.list for line in lines))
        return 0
    if options.update:
        rows = sorted(f"{area} {len(lines)} {form}" for (area, form), lines in hits.items())
        head = "# Area, count, form: what tools/check_words.py still allows. Only shrinks: check_words.py --update\n"
        (options.root / "tools/banned_words_allowed").write_text(head + "".join(row + "\n" for row in rows))
        return 0
    may = allowed(options.root)
    too_many = [line for key, lines in hits.items() if len(lines) > may.get(key, 0) for line in lines]
    fewer = sum(len(hits.get(key, ())) < count for key, count in may.items())
    print("\n".join(too_many) if too_many else f"check_words: {sum(map(len, hits.values()))} old forms left")
    if fewer and not too_many:
        print(f"check_words: {fewer} counts can shrink: tools/check_words.py --update")
    return 1 if too_many else 0


if __name__ == "__main__":
    sys.exit(main())

"""Who may include whom: enforces the folder table of docs/ARCHITECTURE.md. Exit 1 names each violation.

A row is `| folder | sentence | may include |`. A folder may include itself, what its row names, and what those
may include. A folder on disk needs a row, a row needs a folder. Headers in <> are libc's or a listed package's.
Words that a header brings along and a folder may not use are in WORDS.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Packages, and the folders that may know them.
PACKAGES = {
    "jansson.h": {"base", "import", "record", "backends", "bench", "store", "report", "cli", "machine", "profile",
                  "advise", "bundle", "metrics", "predict", "serve"},
    "sqlite3.h": {"store"},
    "postgresql": {"store"},
    "microhttpd.h": {"serve"},
    "xxhash.h": {"base", "import"},
    "openssl": {"base", "toolchain"},
}
# A plan stands alone: the C text is made from it without its graph.
WORDS = {"emit": re.compile(r"\bstruct (graph|node|value|fused_step)\b")}


def read_table():
    """{folder: (files or folders its row names)}; `src/base/` is `base`."""
    rows = {}
    for line in (ROOT / "docs/ARCHITECTURE.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        found = re.match(r"`(?:src/)?([\w./]+?)/?`$", cells[0]) if len(cells) == 3 else None
        if found and line.startswith("|"):
            rows[found.group(1)] = [name.strip("` ").removeprefix("src/").rstrip("/") for name in cells[2].split(",")]
    return rows


def allowed_by(rows, folder):
    """Closure of what the row names. `folder/file.h` allows that file alone; `all` is every folder."""
    reached, waiting = {folder}, [folder]
    while waiting:
        for name in rows.get(waiting.pop(), []):
            names = list(rows) if name == "all" else [name]
            for one in names:
                if one not in reached:
                    reached.add(one)
                    waiting.append(one)
    return reached


def place_of(path):
    """The table's word for a file: base, zoo, include/hone.h; and base/base.h for the exact file."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "include":
        return "include/hone.h"
    return parts[1] if parts[0] == "src" else parts[0]


def check_file(path, rows, allowed):
    folder, found = place_of(path), []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word = WORDS[folder].search(line) if folder in WORDS else None
        if word:
            found.append(f"{path.relative_to(ROOT)}:{number}: {folder} does not know {word.group(0)}")
        match = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        where = f"{path.relative_to(ROOT)}:{number}"
        if match.group(1) == "<":
            if match.group(2) == "hone.h":
                if "include/hone.h" not in allowed:
                    found.append(f"{where}: {folder} may not include hone.h")
                continue
            owners = PACKAGES.get(match.group(2)) or PACKAGES.get(match.group(2).split("/")[0])
            if owners and folder not in owners:
                found.append(f"{where}: {folder} does not use {match.group(2)}")
            continue
        target = (path.parent / match.group(2)).resolve()
        if not target.exists():
            found.append(f"{where}: no file {match.group(2)}")
            continue
        exact = str(target.relative_to(ROOT)).removeprefix("src/")
        if place_of(target) not in allowed and exact not in allowed:
            found.append(f"{where}: {folder} may not include {exact}")
    return found


def main():
    rows = read_table()
    found, count = [], 0
    if len(rows) < 10:
        found.append("docs/ARCHITECTURE.md: the folder table was not found")
    on_disk = {p.name for p in (ROOT / "src").iterdir() if p.is_dir()} | {"zoo"}
    found += [f"{name}: has no row in docs/ARCHITECTURE.md" for name in sorted(on_disk - set(rows))]
    found += [f"docs/ARCHITECTURE.md: no folder {name}" for name in sorted(set(rows) - on_disk - {"include/hone.h"})]
    for folder in sorted(on_disk & set(rows)):
        allowed = allowed_by(rows, folder)
        base = ROOT / (folder if folder == "zoo" else f"src/{folder}")
        for path in sorted(base.rglob("*.[chd]*")):
            if path.suffix in (".c", ".h", ".def") and "text" not in path.parts:
                found += check_file(path, rows, allowed)
                count += 1
    print("\n".join(found) if found else f"check_layers: {count} files in {len(rows)} folders keep to the table")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

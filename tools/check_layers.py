"""Who may include whom: enforces the room table of docs/ARCHITECTURE.md. Exit 1 names each violation.

The sources have five wings, src/WING/ROOM/. A row is `| src/WING/ROOM/ | sentence | may include |`. A room may include
itself, what its row names, and what those may include; never a room of a wing above its own. A room on disk needs a row,
a row needs a room. Headers in <> are libc's or a listed package's. Words that a header brings along and a room may not
use are in WORDS.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WINGS = ("core", "compiler", "bench", "judge", "ui")  # lowest first
# Packages, and the rooms that may know them.
PACKAGES = {
    "jansson.h": {"base", "chat", "generate", "format", "machine", "metrics", "import", "profile", "record", "store", "backends", "check", "wire",
                  "worker", "study", "compare", "recommend", "predict", "bundle", "gate", "report", "serve", "fleet", "cli"},
    "sqlite3.h": {"store"},
    "postgresql": {"store"},
    "microhttpd.h": {"serve"},
    "xxhash.h": {"base", "import"},
    "openssl": {"base", "toolchain"},
}
# C source is generated from a plan without its graph.
WORDS = {"source": re.compile(r"\bstruct (graph|node|value|fused_step)\b")}


def read_table():
    """{room: (wing, [files or rooms its row names])}; `src/core/base/` is room base of wing core, `zoo/` has no wing."""
    rows = {}
    for line in (ROOT / "docs/ARCHITECTURE.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        found = re.match(r"`(?:src/(\w+)/)?([\w./]+?)/?`$", cells[0]) if len(cells) == 3 else None
        if found and line.startswith("|"):
            names = [name.strip("` ").rstrip("/") for name in cells[2].split(",")]
            rows[found.group(2)] = found.group(1), names
    return rows


def allowed_by(rows, room):
    """Closure of what the row names. `core/base/base.h` allows that file alone; `all` is every room."""
    reached, waiting = {room}, [room]
    while waiting:
        for name in rows.get(waiting.pop(), (None, []))[1]:
            names = list(rows) if name == "all" else [name]
            for one in names:
                if one not in reached:
                    reached.add(one)
                    waiting.append(one)
    return reached


def above(rows, room, allowed):
    """Rooms of a higher wing among those that a room may include."""
    wing = rows[room][0]
    return [one for one in sorted(allowed) if wing and rows.get(one, (None,))[0]
            and WINGS.index(rows[one][0]) > WINGS.index(wing)]


def place_of(path):
    """The table's word for a file: base, zoo, include/hone.h."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "include":
        return "include/hone.h"
    return parts[2] if parts[0] == "src" else parts[0]


def resolve(path, name):
    """The file that `#include "name"` means: in the folder of the including file, below src/, or below the root."""
    for folder in (path.parent, ROOT / "src", ROOT):
        if (folder / name).exists():
            return (folder / name).resolve()
    return None


def check_file(path, rows, allowed):
    room, found = place_of(path), []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        word = WORDS[room].search(line) if room in WORDS else None
        if word:
            found.append(f"{path.relative_to(ROOT)}:{number}: {room} does not know {word.group(0)}")
        match = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        where = f"{path.relative_to(ROOT)}:{number}"
        if match.group(1) == "<":
            if match.group(2) == "hone.h":
                if "include/hone.h" not in allowed:
                    found.append(f"{where}: {room} may not include hone.h")
                continue
            owners = PACKAGES.get(match.group(2)) or PACKAGES.get(match.group(2).split("/")[0])
            if owners and room not in owners:
                found.append(f"{where}: {room} does not use {match.group(2)}")
            continue
        target = resolve(path, match.group(2))
        if not target:
            found.append(f"{where}: no file {match.group(2)}")
            continue
        exact = str(target.relative_to(ROOT)).removeprefix("src/")
        if place_of(target) not in allowed and exact not in allowed:
            found.append(f"{where}: {room} may not include {exact}")
    return found


def main():
    rows = read_table()
    found, count = [], 0
    if len(rows) < 10:
        found.append("docs/ARCHITECTURE.md: the room table was not found")
    on_disk = {p.name: p for wing in WINGS for p in (ROOT / "src" / wing).iterdir() if p.is_dir()}
    on_disk["zoo"] = ROOT / "zoo"
    found += [f"{name}: has no row in docs/ARCHITECTURE.md" for name in sorted(set(on_disk) - set(rows))]
    found += [f"docs/ARCHITECTURE.md: no room {name}" for name in sorted(set(rows) - set(on_disk) - {"include/hone.h"})]
    found += [f"{p.relative_to(ROOT)}: not in a wing" for p in (ROOT / "src").iterdir() if p.name not in WINGS]
    named = set(WORDS).union(*PACKAGES.values())
    found += [f"tools/check_layers.py: no room {name}" for name in sorted(named - set(on_disk))]
    for room in sorted(set(on_disk) & set(rows)):
        allowed = allowed_by(rows, room)
        found += [f"docs/ARCHITECTURE.md: {room} may include {one}, which is in a wing above it"
                  for one in above(rows, room, allowed)]
        for path in sorted(on_disk[room].rglob("*.[chd]*")):
            if path.suffix in (".c", ".h", ".def") and "embedded" not in path.parts:
                found += check_file(path, rows, allowed)
                count += 1
    print("\n".join(found) if found else f"check_layers: {count} files in {len(rows)} rooms keep to the table")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Lines and branches of src/ that the tests reached: coverage.py [--build DIR] [--only FOLDER] [--missed WORD]

Reads what a build with VARIANT=coverage wrote while its tests ran, and prints a line a folder of src/. What counts:
every line and every branch that gcov sees at -O0: both ways of each condition, of a && b each of a and b, both ways of
each TRY and each loop. What a compiler adds for exceptions or sanitizers is not there; a header's inline function counts
once, wherever it is included. Nothing is left out by hand. --only FOLDER: of this folder. --missed WORD lists the lines
of files whose path holds WORD with a branch that was never taken. Exit 1: a folder is below its floor.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Per cent of branches, raised only: what `make coverage` printed when it was last raised, rounded down.
FLOORS = {"src/compiler/import": 96.0}
AT_ONCE = 40  # object files a call of gcov


class Line:
    def __init__(self):
        self.count = 0
        self.branches = {}  # function and number -> how often it was taken


def read_counts(build, folder):
    """path in the folder -> number of the line -> Line, summed over every object that has it"""
    notes = sorted((ROOT / build / "obj").glob("src/**/*.gcno"))
    if not notes:
        sys.exit(f"{build}: no object was built for this: make VARIANT=coverage")
    lines = collections.defaultdict(lambda: collections.defaultdict(Line))
    for first in range(0, len(notes), AT_ONCE):
        some = [str(n) for n in notes[first:first + AT_ONCE]]
        done = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *some], cwd=ROOT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if "stamp mismatch" in done.stderr or not done.stdout:  # its status is 1 for an object without functions, too
            sys.exit(f"gcov: {done.stderr.strip()}")
        for document in done.stdout.splitlines():
            for file in json.loads(document)["files"]:
                path = os.path.relpath(ROOT / file["file"], ROOT)
                if path.startswith(folder.rstrip("/") + "/"):
                    add_file(lines[path], file)
    return lines


def add_file(lines, file):
    for row in file["lines"]:
        line = lines[row["line_number"]]
        line.count += row["count"]
        for k, branch in enumerate(row["branches"]):
            key = (row.get("function_name"), k)
            line.branches[key] = line.branches.get(key, 0) + branch["count"]


class Sum:
    def __init__(self):
        self.lines = self.reached = self.branches = self.taken = 0

    def add(self, file):
        for line in file.values():
            self.lines += 1
            self.reached += line.count > 0
            self.branches += len(line.branches)
            self.taken += sum(count > 0 for count in line.branches.values())

    def shares(self):
        return 100.0 * self.reached / max(1, self.lines), 100.0 * self.taken / max(1, self.branches)


def table(rows):
    width = max(len(name) for name, _ in rows)
    print(f"{'':{width}}  {'lines':>7} {'reached':>8} {'branches':>9} {'taken':>8}")
    for name, total in rows:
        reached, taken = total.shares()
        print(f"{name:{width}}  {total.lines:7} {reached:6.1f} % {total.branches:9} {taken:6.1f} %")


def print_missed(lines, word):
    for path in sorted(lines):
        if word not in path:
            continue
        text = (ROOT / path).read_text().splitlines()
        for number, line in sorted(lines[path].items()):
            missed = sum(count == 0 for count in line.branches.values())
            if missed or not line.count:
                print(f"{path}:{number}: {missed:2}/{len(line.branches)} {'' if line.count else 'never '}{text[number - 1].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/coverage")
    parser.add_argument("--only", metavar="FOLDER", default="src")
    parser.add_argument("--missed", metavar="WORD")
    options = parser.parse_args()
    lines = read_counts(options.build, options.only)
    folders, files, everything = collections.defaultdict(Sum), collections.defaultdict(Sum), Sum()
    floored = {folder: Sum() for folder in FLOORS}  # with their sub-folders
    for path, file in lines.items():
        folders[str(pathlib.Path(path).parent)].add(file)
        files[path].add(file)
        everything.add(file)
        for folder, total in floored.items():
            if path.startswith(folder + "/"):
                total.add(file)
    if options.missed:
        print_missed(lines, options.missed)
        table([(path, files[path]) for path in sorted(files) if options.missed in path])
    table({**dict(sorted(folders.items())), options.only: everything}.items())
    below = [(folder, floor) for folder, floor in FLOORS.items() if floored[folder].lines and floored[folder].shares()[1] < floor]
    for folder, floor in below:
        print(f"{folder}: {floored[folder].shares()[1]:.2f} % of branches, its floor is {floor} %")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())

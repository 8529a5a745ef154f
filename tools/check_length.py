"""Limits that keep the code readable: file and function length, unsafe functions of C, and which folders
may print or exit. tools/exceptions lists exceptions with their reasons. Exit 1 names each violation.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_FILE, MAX_FUNCTION = 900, 80
BANNED = re.compile(r"(?<![\w.>])(system|popen|strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|tmpnam|mktemp"
                    r"|alloca)\s*\(")
# Below the command line nothing prints to the user or ends the process; _exit in a forked child is its own word.
ENDS = re.compile(r"(?<![\w.>])(exit|abort|printf|vprintf|puts|putchar|perror)\s*\(|fprintf\(\s*(stderr|stdout)\b")


def exceptions():
    rows = {}
    for line in (ROOT / "tools/exceptions").read_text().splitlines():
        if line and not line.startswith("#"):
            place, rule, reason = line.split(None, 2)
            rows[place, rule] = reason
    return rows


def without_comments_and_strings(text):
    """The same lines, with comments, strings and characters blanked."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def functions(code):
    """(name, first line, lines) of each function: from its head in column 0 to the '}' in column 0."""
    lines = code.split("\n")
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"[A-Za-z_]", line) and not re.match(r"(struct|enum|union|typedef)\s+\w*\s*\{", line):
            head, last = line, number
            while not re.search(r"[;{]", head) and last < len(lines) and last - number < 12:
                head += " " + lines[last]
                last += 1
            found = re.match(r"[^={;]*?(\w+)\s*\(.*\)\s*\{", head)
            start = (found.group(1), number) if found else None
        if line.startswith("}") and start:
            yield start[0], start[1], number - start[1] + 1
            start = None


def check_file(path, allowed, used):
    name = str(path.relative_to(ROOT))
    text = path.read_text()
    code = without_comments_and_strings(text)
    found = []

    def report(place, rule, message):
        if (place, rule) in allowed:
            used.add((place, rule))
        else:
            found.append(f"{name}: {message}")

    count = text.count("\n")
    if count > MAX_FILE:
        report(name, "file", f"{count} lines; at most {MAX_FILE}: it is two ideas")
    for function, line, length in functions(code):
        if length > MAX_FUNCTION:
            report(f"{name}:{function}", "function", f"{line}: {function} has {length} lines; at most {MAX_FUNCTION}")
    for number, line in enumerate(code.split("\n"), 1):
        # tests copy their own literals, under the address sanitizer
        for match in BANNED.finditer(line) if not name.startswith("tests/") else ():
            report(name, match.group(1), f"{number}: {match.group(1)} is not used in hone")
    # src/compiler/run/embedded is the main of compiled executables, src/judge/bundle/embedded the programs of a bundle: their command line
    if name.startswith(("src/", "zoo/")) and not name.startswith(("src/ui/cli/", "src/compiler/run/embedded/", "src/judge/bundle/embedded/")):
        for number, line in enumerate(code.split("\n"), 1):
            if ENDS.search(line):
                report(name, "prints", f"{number}: only src/ui/cli prints and exits: {line.strip()[:60]}")
    return found


def main():
    allowed, used, found = exceptions(), set(), []
    files = [p for folder in ("src", "zoo", "include", "examples", "tests", "bench")
             for p in sorted((ROOT / folder).rglob("*.[ch]"))]
    for path in files:
        found += check_file(path, allowed, used)
    found += [f"tools/exceptions: {place} {rule} is no longer needed" for place, rule in set(allowed) - used]
    print("\n".join(found) if found else f"check_length: {len(files)} files, {len(allowed)} exceptions")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Finds circular dependencies between the files of a room. Exit 1 prints each circle that tools/circles does not list.

A .c file needs another file of its room if it uses a function or constant table that the other defines. Files in a circle
cannot be read or changed alone: move what the lower one needs to it, or pass it as an argument. A circle that tools/circles lists may stay; a circle with at least two files of one that is listed is that one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFINED = (re.compile(r"^(?!static\b)[A-Za-z_][\w \*]*?\b(\w+)\((?:[^;{}]|\n)*?\)\s*\{", re.M),
           re.compile(r"^(?!static\b|extern\b)(?:const|struct)\b[\w \*]*?\b(\w+)(?:\[[^\]]*\])*\s*=", re.M))


def without_comments_and_strings(text):
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', " ", text, flags=re.S)


def needs_of(folder):
    """{file: {other file of the folder: a name that it needs}}"""
    texts = {str(path.relative_to(folder).with_suffix("")): without_comments_and_strings(path.read_text())
             for path in sorted(folder.rglob("*.c")) if "embedded" not in path.parts}
    home = {name: file for file, text in texts.items() for rule in DEFINED for name in rule.findall(text)}
    return {file: {home[word]: word for word in set(re.findall(r"\b[a-z_]\w*\b", text)) if home.get(word, file) != file}
            for file, text in texts.items()}


def reached_from(needs, file):
    found, waiting = set(), [file]
    while waiting:
        for other in needs[waiting.pop()]:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def circles_of(needs):
    reach = {file: reached_from(needs, file) for file in needs}
    circles = {frozenset(other for other in reach[file] if file in reach[other]) for file in needs if file in reach[file]}
    return sorted(circles, key=sorted)


def listed():
    """[(folder, files, reason)]"""
    rows = [line.split(None, 2) for line in (ROOT / "tools/circles").read_text().splitlines()
            if line and not line.startswith("#")]
    return [(folder, set(files.split(",")), reason) for folder, files, reason in rows]


def main():
    known, found, met = listed(), [], set()
    folders = [path for path in sorted((ROOT / "src").glob("*/*")) if path.is_dir()] + [ROOT / "zoo"]
    for folder in folders:
        needs = needs_of(folder)
        for circle in circles_of(needs):
            same = [k for k, (name, files, _) in enumerate(known) if name == folder.name and len(files & circle) > 1]
            met.update(same)
            if same:
                continue
            found.append(f"{folder.name}: a circle that tools/circles does not list: {', '.join(sorted(circle))}")
            found += [f"  {file} needs {other} for {word}" for file in sorted(circle)
                      for other, word in sorted(needs[file].items()) if other in circle]
    for k, (folder, files, _) in enumerate(known):
        if k not in met:
            print(f"{folder}: {','.join(sorted(files))} is not a circle any more: remove it from tools/circles")
    print("\n".join(found) if found else f"check_circles: {len(met)} circles in {len(folders)} folders, all of them listed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

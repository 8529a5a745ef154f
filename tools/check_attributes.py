#!/usr/bin/env python3
"""Checks that every attribute that a source reads or sets by a literal name is in src/core/ops/attributes.def with that
kind. Inference refuses attributes that are not in the table."""
import collections
import glob
import re
import sys

KINDS = {
    "node_int": "INT", "x_int": "INT", "x_with_int": "INT", "node_set_int": "INT", "INT_ARG": "INT",
    "axis_attribute": "INT", "node_float": "FLOAT", "x_float": "FLOAT", "x_with_float": "FLOAT",
    "node_set_float": "FLOAT", "FLOAT_ARG": "FLOAT", "node_string": "STRING", "x_is": "STRING",
    "word_attribute": "STRING", "x_with_string": "STRING", "node_set_string": "STRING", "STRING_ARG": "STRING",
    "node_ints": "INTS", "ints_attribute": "INTS", "x_with_ints": "INTS", "node_set_ints": "INTS", "INTS_ARG": "INTS",
    "STRINGS_ARG": "STRINGS", "node_attribute": None,
}
ROW = re.compile(r"ATTRIBUTE(?:_OF\(\w+, |\()(\w+), (KIND.*)\)")
# Number of arguments before the name.
BEFORE = {"ARG": 0, "_attribute": 2, "node_set": 3}
ARGUMENT = r"(?:[^,;\"()]|\((?:[^();\"]|\([^();\"]*\))*\))*,\s*"


def before(function):
    if function == "node_attribute":
        return 1
    return next((count for word, count in BEFORE.items() if word in function), 1)


CALL = re.compile("|".join(r'\b(?P<f_%s>%s)\((?:%s){%d}"(?P<n_%s>\w+)"' % (f, f, ARGUMENT, before(f), f) for f in KINDS))


def table(path):
    kinds = collections.defaultdict(set)
    with open(path, encoding="utf-8") as rows:
        for name, words in ROW.findall(rows.read()):
            kinds[name].update(re.findall(r"KIND\((\w+)\)", words))
    return kinds


def main():
    known = table("src/core/ops/attributes.def")
    calls, wrong = 0, 0
    for path in sorted(glob.glob("src/**/*.[ch]", recursive=True) + glob.glob("zoo/*.c")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for call in CALL.finditer(text):
            function = next(key for key in KINDS if call["f_" + key])
            name, kind = call["n_" + function], KINDS[function]
            calls += 1
            if name in known and (not kind or kind in known[name]):
                continue
            wrong += 1
            line = text.count("\n", 0, call.start()) + 1
            says = "has no row" if name not in known else "is " + " or ".join(sorted(known[name]))
            print(f'{path}:{line}: {function} of "{name}", which {says} in src/core/ops/attributes.def')
    print(f"{calls} attributes asked for or set, {len(known)} known, {wrong} wrong")
    return 1 if wrong or not calls or not known else 0


if __name__ == "__main__":
    sys.exit(main())

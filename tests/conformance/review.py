"""Which cases of the conformance suite compiled code refuses, and why: makes docs/log/conformance.md of native.txt and
reviewed.txt.

review.py           writes the page
review.py --check   1 if it is not what is there, or a refused case has no reason, or a reason no case
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs/log/conformance.md"


def reasons():
    rows = [line.split("\t") for line in (HERE / "reviewed.txt").read_text().splitlines() if line[:1] != "#"]
    return [(re.compile(pattern + "$"), reason) for pattern, reason in rows]


def reason_of(name):
    return next((reason for pattern, reason in reasons() if pattern.match(name)), None)


def page():
    """The page, and errors found in the two files."""
    rows = [line.split("\t") for line in (HERE / "native.txt").read_text().splitlines()]
    refused = [row[0] for row in rows if row[1] == "refused"]
    complaints = [f"{name} is refused without a reason" for name in refused if not reason_of(name)]
    count = {status: sum(row[1] == status for row in rows) for status in ("pass", "refused", "not asked", "wrong")}
    constants = sum(row[2:] == ["constant operands"] for row in rows)
    lines = [
        "# Log: the ONNX conformance suite as compiled code",
        "Made by `python3 tests/conformance/review.py` from the status that `make bless-conformance` writes. Suites: node,",
        "simple, pytorch-converted, pytorch-operator and light of the pinned `onnx` package.",
        "",
        f"{count['pass']} passed, {count['refused']} refused, {count['not asked']} not asked, {count['wrong']} wrong, of "
        f"{len(rows)}. In {constants} of the",
        "passed cases an operand that determines a shape was made a constant.",
        "",
        "| refused | why |",
        "|---|---|",
    ]
    for pattern, reason in reasons():
        names = [name for name in refused if pattern.match(name)]
        if not names:
            complaints.append(f"reviewed.txt: no refused case is {pattern.pattern}")
        lines.append(f"| {', '.join(f'`{name}`' for name in names)} | {reason} |")
    return "\n".join(lines) + "\n", complaints


def main():
    text, complaints = page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != text:
            complaints.append("docs/log/conformance.md is old: python3 tests/conformance/review.py")
    else:
        PAGE.write_text(text)
    print("\n".join(complaints) or f"{PAGE.name}: true")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

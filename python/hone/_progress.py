"""Progress of a long command: passed on to a terminal, or shown as a bar in a notebook."""

from __future__ import annotations

import html
import os
import pty
import re
import subprocess
import sys
import threading
import tty
from typing import Any, Callable, Sequence

# "[3/12] model backend phase, 0:05 left", as the command prints it on a terminal
STEP = re.compile(r"\[(\d+)/(\d+)\] ([^\r\n]*)")


class Bar:
    """One output of a notebook's cell, updated with every step."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.seen = ""

    def __call__(self, text: str) -> None:
        self.seen = (self.seen + text)[-1024:]
        steps = STEP.findall(self.seen)
        if steps:
            self.show(int(steps[-1][0]), int(steps[-1][1]), steps[-1][2].strip())

    def show(self, step: int, count: int, words: str) -> None:
        from IPython.display import HTML, display
        # of IPython's own, which has no types here
        bar: Any = HTML(f'<progress value="{step}" max="{count}"></progress> {step}/{count} {html.escape(words)}')
        if self.handle is None:
            self.handle = display(bar, display_id=True)
        else:
            self.handle.update(bar)

    def close(self) -> None:
        """Shows a full bar: a study may end before its last planned step."""
        if self.handle is not None:
            count = int(STEP.findall(self.seen)[-1][1])
            self.show(count, count, "done")


def in_notebook() -> bool:
    found = sys.modules.get("IPython")
    shell = found.get_ipython() if found else None
    return shell is not None and hasattr(shell, "kernel")


def _to_terminal(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _show(wanted: bool) -> Bar | Callable[[str], None] | None:
    if not wanted:
        return None
    if in_notebook():
        return Bar()
    return _to_terminal if sys.stderr is not None and sys.stderr.isatty() else None


def run(argv: Sequence[str], progress: bool) -> tuple[int, str, str]:
    """Exit code, standard output and standard error. With progress the command runs on a pseudo-terminal, because without a
    terminal it prints no progress."""
    show = _show(progress)
    if show is None:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    outer, inner = pty.openpty()
    tty.setraw(inner)
    said: list[str] = []

    def listen() -> None:
        while True:
            try:
                data = os.read(outer, 4096)
            except OSError:  # the other end is closed
                return
            if not data:
                return
            said.append(data.decode(errors="replace"))
            show(said[-1])

    try:
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=inner) as process:
            os.close(inner)
            thread = threading.Thread(target=listen, daemon=True)
            thread.start()
            assert process.stdout is not None
            output = process.stdout.read()
        thread.join()
    finally:
        os.close(outer)
    if isinstance(show, Bar):
        show.close()
    return process.returncode, output.decode(errors="replace"), "".join(said)

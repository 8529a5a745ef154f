#!/usr/bin/env python3
"""Draws a terminal's screen as SVG: terminal_svg.py < SCREEN > PICTURE.svg

SCREEN is text with colours (SGR sequences), as `tmux capture-pane -e -p` prints it. The picture has no script and needs
no font file; each run of one colour is stretched to its columns, so that tables stay aligned in any monospaced font.
"""
import html
import re
import sys

WIDTH, HEIGHT, MARGIN, SIZE = 8.4, 19, 16, 14  # of a character, around the screen, of the font: pixels
COLOURS = {30: "#6e7681", 31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea"}
PLAIN, BACKGROUND = "#e6edf3", "#0d1117"


def changed(style, code):
    """The style after one SGR code."""
    if code == 0:
        return {}
    if code in (1, 2):
        return {**style, **({"font-weight": "bold"} if code == 1 else {"opacity": "0.65"})}
    if code == 22:
        return {key: value for key, value in style.items() if key == "fill"}
    if code == 39:
        return {key: value for key, value in style.items() if key != "fill"}
    return {**style, "fill": COLOURS[code]} if code in COLOURS else style


def runs(line, style):
    """(column, characters, style) of each run of one style; the last one has no characters: the next line goes on with it."""
    column = 0
    for codes, characters in re.findall(r"(?:\x1b\[([\d;]*)m)?([^\x1b]*)", line):
        for code in codes.split(";") if codes else ():
            style = changed(style, int(code or 0))
        for word in re.finditer(r"\S+(?: \S+)*", characters):
            yield column + word.start(), word.group(), style
        column += len(characters)
    yield column, "", style


def picture(lines):
    columns = max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in lines)
    width, height = columns * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
           f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="{SIZE}">')
    yield f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>'
    style = {}
    for row, line in enumerate(lines):
        for column, characters, style in runs(line, style):
            if not characters:
                continue
            words = "".join(f' {key}="{value}"' for key, value in {"fill": PLAIN, **style}.items())
            yield (f'<text x="{MARGIN + column * WIDTH:.1f}" y="{MARGIN + (row + 0.75) * HEIGHT:.1f}" xml:space="preserve" '
                   f'textLength="{len(characters) * WIDTH:.1f}"{words}>{html.escape(characters)}</text>')
    yield "</svg>"


if __name__ == "__main__":
    screen = [line.rstrip() for line in sys.stdin.read().rstrip().splitlines()]
    print("\n".join(picture(screen)))

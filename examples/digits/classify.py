"""Runs the program on every held-out image and compares its class with PyTorch's.

usage: classify.py PROGRAM FOLDER        needs NumPy; ends with 1 if a class differs
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np


def classify(program, image):
    """The class that the program gives a raw float32 image."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, image, "-o", folder, "--threads", "1"], check=True)
        return int(np.load(pathlib.Path(folder) / "output_0.npy").argmax())


def main(program, folder):
    folder, same, right = pathlib.Path(folder), 0, 0
    lines = (folder / "expected.txt").read_text().split("\n")[:-1]
    for line in lines:
        number, shown, said = map(int, line.split())
        got = classify(program, folder / f"image_{number}.f32")
        same += got == said
        right += got == shown
    print(f"{len(lines)} images: {same} as PyTorch says, {right} right")
    return same != len(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))

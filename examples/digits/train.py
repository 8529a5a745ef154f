"""Trains a small convolutional network on scikit-learn's digits and leaves what the other stages need:
FOLDER/digits.pt (TorchScript), FOLDER/image_N.f32 (held-out images, 1x1x8x8 raw float32) and
FOLDER/expected.txt (a line "N DIGIT CLASS" each: what it shows, and what PyTorch takes it for).

usage: train.py FOLDER        needs torch and scikit-learn; 20 seconds on one core
"""

import pathlib
import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(),
        torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(32 * 4 * 4, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(1)
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    train_x, test_x, train_y, test_y = train_test_split(images, digits.target, test_size=0.2, random_state=1)
    x, y = torch.from_numpy(train_x), torch.from_numpy(train_y)
    model, batches = network(), torch.Generator().manual_seed(2)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(15):
        for batch in torch.randperm(len(x), generator=batches).split(64):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        classes = model(torch.from_numpy(test_x)).argmax(1).numpy()
    torch.jit.trace(model, x[:1]).save(str(folder / "digits.pt"))
    for i, image in enumerate(test_x):
        image.tofile(folder / f"image_{i}.f32")
    lines = [f"{i} {shown} {said}" for i, (shown, said) in enumerate(zip(test_y, classes))]
    (folder / "expected.txt").write_text("\n".join(lines) + "\n")
    print(f"{len(test_x)} held-out images, {(classes == test_y).mean():.1%} right")


if __name__ == "__main__":
    main(sys.argv[1])

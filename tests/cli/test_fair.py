"""bench/fair.py: every setting in which engines are not treated alike is a variant, measured together with the engine's default."""

import importlib.util
import subprocess
import sys

from hone import HONE, ROOT
from test_engines import engine

FLAGS = "--rounds 12 --processes 3 --min-time 0.01 --min-samples 5 --warmup 0.005 --no-measure"


def test_every_way_is_measured_beside_the_default(hone):
    words = [FLAGS, *engine("onnxruntime"), *engine("openvino")]
    done = subprocess.run([sys.executable, ROOT / "bench/fair.py", "--hone", HONE, "--model", "zoo:mlp", "--threads", "1",
                           "--flags", " ".join(words)], env=hone.env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done
    spec = importlib.util.spec_from_file_location("fair", ROOT / "bench/fair.py")
    fair = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fair)
    rows = [[word.strip() for word in line.strip("|").split("|")] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert [tuple(row[:2]) for row in rows[1:]] == fair.WAYS, done.stdout
    for row in rows[1:]:
        low, high = map(float, row[4].split(" to "))
        assert low <= float(row[3]) <= high and float(row[5]) > 0 and float(row[6]) > 0, row

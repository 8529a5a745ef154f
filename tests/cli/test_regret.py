"""bench/regret.py: its arithmetic and its page over one model and one candidate, whose regret is none."""

import os
import subprocess
import sys

from hone import HONE, ROOT


def test_one_candidate_has_no_regret(hone, tmp_path):
    done = subprocess.run([sys.executable, ROOT / "bench" / "regret.py", "--hone", HONE, "--budget", "2s", "--backend", "native",
                           "--threads", "1", "--out", tmp_path / "page.md", "zoo:mlp", "zoo:nothing"],
                          capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **hone.env})
    assert done.returncode == 0, done
    page = (tmp_path / "page.md").read_text()
    assert "1 models: median 0.00%" in page and "| zoo:mlp | native, 1 thread | native, 1 thread | 0.00% | - |" in page
    assert "Without a choice:" in page and "zoo:nothing" in page

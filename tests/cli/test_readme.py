"""The programs in README, unchanged, with a small model in place of the reader's."""
import os
import re
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

from hone import HONE, ROOT

README = (ROOT / "README.md").read_text()
LIBRARY = os.path.abspath(os.environ.get("HONE_LIBRARY", ROOT / "build/libhone.so"))


def block(language, words):
    """The one block of that language with these words in it."""
    found = [code for code in re.findall(rf"```{language}\n(.*?)```", README, re.S) if words in code]
    assert len(found) == 1, words
    return found[0]


def test_its_programs_run(tmp_path):
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 224, 224])
    mean = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3, 1, 1])
    graph = helper.make_graph([helper.make_node("GlobalAveragePool", ["x"], ["y"])], "mean", [image], [mean])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path / "MY.onnx")
    (tmp_path / "main.c").write_text(block("c", "my_run"))
    commands = "PATH=$HONE_FOLDER:$PATH\n" + block("sh", "--embed") + "./main\n"
    env = dict(os.environ, HONE_FOLDER=os.path.dirname(os.path.abspath(HONE)), HONE_LIBRARY=LIBRARY, HONE=os.path.abspath(HONE),
               PYTHONPATH=str(ROOT / "python"), XDG_CACHE_HOME=str(tmp_path))
    done = subprocess.run(["sh", "-eu", "-c", commands], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.endswith("first output: 0\n"), done
    program = block("python", "import hone") + "print(y.reshape(-1))\n"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "[1. 1. 1.]\n" and (tmp_path / "my.so").exists(), done
    assert len(README.splitlines()) <= 120

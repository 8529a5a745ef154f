"""hone bench --keep: the kept artifact of each engine runs in another process, with the engine and without hone."""

import json
import os
import pathlib
import subprocess
import textwrap

import numpy as np
import pytest

from places import places, words

ROOT = pathlib.Path(__file__).resolve().parents[2]
HONE = pathlib.Path(os.environ.get("HONE", ROOT / "build" / "hone")).resolve()

# backend: code for its own interpreter that runs the kept folder; x is the input, y the output. NAMES: the model's inputs and outputs.
RUNS = {
    "ncnn": """
        import ncnn
        net = ncnn.Net()
        for name in ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic", "use_bf16_storage"):
            setattr(net.opt, name, False)  # else it computes in halves
        assert not net.load_param("model.ncnn.param") and not net.load_model("model.ncnn.bin")
        run = net.create_extractor()
        run.input("in0", ncnn.Mat(x[0]).clone())
        y = run.extract("out0")[1]""",
    "mnn": """
        import MNN
        net = MNN.nn.load_module_from_file("model.mnn", *NAMES)
        given = MNN.expr.const(x, list(x.shape), MNN.expr.NCHW, MNN.expr.float)
        y = net.forward([given])
        y = (y[0] if isinstance(y, (list, tuple)) else y).read()""",
    "emx": """
        import ctypes
        library = ctypes.CDLL("./model.so")
        library.hone_emx_load.restype = ctypes.c_bool
        assert library.hone_emx_load(b"hone_emx.bin")
        y = np.zeros(SIZE, np.float32)
        library.hone_emx(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))""",
    "executorch": """
        import torch
        from executorch.runtime import Runtime
        program = Runtime.get().load_program("model.pte")
        method = program.load_method("forward")
        y = method.execute([torch.from_numpy(x)])[0].numpy()""",
    "iree": """
        import iree.runtime as runtime
        module = runtime.load_vm_flatbuffer_file("model.vmfb", driver="local-sync")
        name = [n for n in module.vm_module.function_names if not n.startswith("__") and "$" not in n][0]
        y = getattr(module, name)(x).to_host()""",
    "tvm": """
        import tvm
        from tvm import relax
        vm = relax.VirtualMachine(tvm.runtime.load_module("model.so"), tvm.cpu())
        make = getattr(tvm.runtime, "tensor", None) or tvm.nd.array
        y = vm["main"](make(x, tvm.cpu()))
        y = (y if hasattr(y, "numpy") else y[0]).numpy()""",
    "torch:jit": """
        import torch
        y = torch.jit.load("script.pt")(torch.from_numpy(x))
        y = (y[0] if isinstance(y, (list, tuple)) else y).numpy()""",
}


@pytest.mark.parametrize("backend", RUNS)
def test_a_kept_artifact_runs_by_itself(tmp_path, backend):
    name = backend.partition(":")[0]
    if name not in places():
        pytest.skip(f"hone backends install {name}")
    given = np.random.default_rng(5).standard_normal((1, 256)).astype(np.float32)
    (tmp_path / "given").mkdir()
    model, out = "zoo:mlp,batch=1", tmp_path / "out"
    sizes = json.loads(run(HONE, "inspect", model, "--no-measure", "--json", "-"))
    (before,), (after,) = sizes["inputs"], sizes["outputs"]
    given = np.resize(given, before["shape"])
    np.save(tmp_path / "given/in_0.npy", given)
    run(HONE, "run", model, "--inputs", tmp_path / "given", "-o", out)
    expected = np.load(next(out.iterdir()))
    run(HONE, "bench", model, "--backend", backend, "--keep", tmp_path / "kept", "--rounds", "1", "--processes", "1",
        "--min-time", "0.01", "--warmup", "0.01", "--no-measure", "--threads", "1", "--store", tmp_path / "results.db", *words(name))
    facts = next((tmp_path / "kept").rglob("cell.json"))
    kept = json.loads(facts.read_text())
    assert kept["files"] and not kept["why"] and all(file.get("bytes") for file in kept["files"]), kept
    script = "\n".join(["import numpy as np", f"x, SIZE = np.load('x.npy'), {expected.size}",
                        f"NAMES = [{before['name']!r}], [{after['name']!r}]", textwrap.dedent(RUNS[backend]), "np.save('y.npy', y)"])
    np.save(facts.parent / "x.npy", given)
    run(places()[name] / "bin/python", "-c", script, cwd=facts.parent)
    found = np.load(facts.parent / "y.npy").reshape(expected.shape)
    assert np.linalg.norm(found - expected) <= 1e-4 * np.linalg.norm(expected)


def run(*command, cwd=None):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600, cwd=cwd)
    assert result.returncode == 0, (command[:3], result.stderr[-2000:])
    return result.stdout

"""Every case of tests/cases/tflite that hone exports as StableHLO, compiled and run by XLA, against the outputs of LiteRT's
reference kernels: quantised values bit for bit."""

import os
import pathlib
import subprocess
import textwrap

import numpy as np
import pytest

from places import places

ROOT = pathlib.Path(__file__).resolve().parents[2]
HONE = pathlib.Path(os.environ.get("HONE", ROOT / "build" / "hone")).resolve()
CASES = sorted((ROOT / "tests/cases/tflite").glob("*.tflite"))
LEAST = 500  # of the cases become StableHLO
STEP = {"resize-", "image-resize-"}  # sums of floats of which XLA makes fused products: one step at a half

RUN = """
    import pathlib, sys
    import jax, numpy as np
    from jaxlib import xla_client
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs._jax_mlir_ext import register_dialects
    from jaxlib.mlir.dialects import chlo, stablehlo
    jax.config.update("jax_enable_x64", True)
    client = jax.devices("cpu")[0].client
    context, registry = ir.Context(), ir.DialectRegistry()
    register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    chlo.register_dialect(context)
    stablehlo.register_dialect(context)
    device = client.local_devices()[0]
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.mlir")):
        with np.load(pathlib.Path(sys.argv[2]) / f"{path.stem}.npz") as stored:
            given = [stored[f"in_{k}"] for k in range(sum(key.startswith("in_") for key in stored.files))]
        try:
            with context:
                program = client.compile_and_load(ir.Module.parse(path.read_text()), xla_client.DeviceList((device,)),
                                                  xla_client.CompileOptions())
            found = [np.asarray(out) for out in program.execute([jax.device_put(x, device) for x in given])]
            np.savez(path.with_suffix(".npz"), **{f"out_{k}": out for k, out in enumerate(found)})
        except Exception as error:
            path.with_suffix(".why").write_text(f"{type(error).__name__}: {error}")
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with CASE.mlir of each that is written, and CASE.npz of what XLA computes or CASE.why."""
    if "xla" not in places():
        pytest.skip("hone backends install xla")
    folder = tmp_path_factory.mktemp("stablehlo")
    for path in CASES:
        with np.load(path.with_suffix(".npz")) as stored:
            if any(key.startswith("again_") for key in stored.files):
                continue  # state between two runs
        subprocess.run([HONE, "export", path, "-o", folder / f"{path.stem}.mlir"], capture_output=True, check=False)
    result = subprocess.run([places()["xla"] / "bin/python", "-c", textwrap.dedent(RUN), folder, CASES[0].parent],
                            capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    return folder


def test_enough_is_written(written):
    assert len(list(written.glob("*.mlir"))) >= LEAST


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_a_case(written, path):
    if not (written / f"{path.stem}.mlir").exists():
        pytest.skip("no StableHLO of it")
    why = written / f"{path.stem}.why"
    assert not why.exists(), why.read_text()
    with np.load(written / f"{path.stem}.npz") as found, np.load(path.with_suffix(".npz")) as stored:
        wanted = [stored[f"out_{k}"] for k in range(sum(key.startswith("out_") for key in stored.files))]
        for k, want in enumerate(wanted):
            got = found[f"out_{k}"]
            assert got.shape == want.shape and got.dtype == want.dtype
            if got.dtype.kind in "iub":
                apart = np.abs(got.astype(np.int64) - want.astype(np.int64))
                assert apart.max(initial=0) <= any(path.stem.startswith(name) for name in STEP), np.count_nonzero(apart)
            else:
                np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)

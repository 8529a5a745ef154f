"""Models that `make coverage` reads with every allocation refused once: coverage_models.py FOLDER writes the node models of
the installed onnx package, the archives of tests/cases/pt2/operators.zip and the files of tests/cases/tflite."""
import pathlib
import shutil
import sys

from onnx.backend.test.loader import load_model_tests

import unpack_pt2

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for case in load_model_tests(kind="node"):
        (folder / f"{case.name}.onnx").write_bytes(case.model.SerializeToString())
    for path in (pathlib.Path(__file__).parents[1] / "cases/tflite").glob("*.tflite"):
        shutil.copy(path, folder)
    for name, parts in unpack_pt2.modules().items():
        unpack_pt2.write(folder / f"{name}.pt2", name, parts)

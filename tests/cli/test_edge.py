"""Models on microcontrollers: cross-compiled, linked into test firmware, run on boards emulated by QEMU, and compared with
the reference. HONE_EDGE=all runs every model and board (make test-edge); EDGE_TABLE=FILE writes the measurements."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

from hone import ROOT, SHARED, refused, sound

FIRMWARE = ROOT / "tests/edge"
NEEDED = {"libm": set("acosf acoshf asinf asinhf atanf atanhf ceil ceilf cos cosf cosh coshf erf erff exp expf fabs fabsf floor "
                      "floorf fmod fmodf frexpf ldexp ldexpf log logf pow powf rint rintf round roundf sin sinf sinh sinhf sqrt sqrtf "
                      "tan tanf tanh tanhf trunc truncf".split()), "memory": {"memcpy", "memset", "memmove"}}


class Board:
    """How one board is compiled for, linked and run."""

    def __init__(self, name, triple, cpu, tools, flags, qemu, source, places, room):
        self.name, self.triple, self.cpu, self.tools, self.flags = name, triple, cpu, tools, flags
        self.qemu, self.source, self.places, self.room = qemu, source, places, room

    def missing(self):
        programs = [self.tools + "gcc", self.qemu[0]]
        absent = [p for p in programs if not shutil.which(p)]
        if not absent:
            text = subprocess.run([self.tools + "gcc", *self.flags, "-E", "-"], input="#include <math.h>\n",
                                  capture_output=True, text=True, check=False)
            absent = [] if text.returncode == 0 else ["the C library of " + self.triple]
        return ", ".join(absent)


ARM = ["-mthumb", "-mfloat-abi=hard"]
QEMU_ARM = ["qemu-system-arm", "-nographic", "-semihosting", "-icount", "shift=0"]
BOARDS = [
    Board("m4", "arm-none-eabi", "cortex-m4", "arm-none-eabi-", [*ARM, "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16"],
          [*QEMU_ARM, "-M", "mps2-an386"], "board_arm.c", ("0x0", "0x21000000", "0x21800000"), 8 << 20),
    Board("m7", "arm-none-eabi", "cortex-m7", "arm-none-eabi-", [*ARM, "-mcpu=cortex-m7", "-mfpu=fpv5-d16"],
          [*QEMU_ARM, "-M", "mps2-an500"], "board_arm.c", ("0x0", "0x60000000", "0x60800000"), 8 << 20),
    Board("m55", "arm-none-eabi", "cortex-m55", "arm-none-eabi-", [*ARM, "-mcpu=cortex-m55"],
          [*QEMU_ARM, "-M", "mps3-an547"], "board_arm.c", ("0x0", "0x400", "0x20000000"), 500 << 10),
    Board("rv32", "riscv32-unknown-elf", "baseline", "riscv64-unknown-elf-",
          ["-march=rv32imafc", "-mabi=ilp32f", "--specs=picolibc.specs"],
          ["qemu-system-riscv32", "-nographic", "-M", "virt", "-bios", "none", "-m", "64", "-icount", "shift=0"],
          "board_riscv.c", ("0x80000000", "0x80000400", "0x82000000"), 30 << 20),
    Board("portable", "arm-none-eabi", "portable", "arm-none-eabi-", [*ARM, "-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16"],
          [*QEMU_ARM, "-M", "mps2-an386"], "board_arm.c", ("0x0", "0x21000000", "0x21800000"), 8 << 20),
]
MODELS = {  # name: file below models/, or of the zoo
    "kws": "mlperf_kws_dscnn/model_int8.tflite", "ad": "mlperf_ad_fcae/model_int8.tflite",
    "ic": "mlperf_ic_resnet8/model_int8.tflite", "vww": "mlperf_vww_mbv1/model_int8.tflite",
    "ad_f32": "mlperf_ad_fcae/model_f32.tflite", "ic_f32": "mlperf_ic_resnet8/model_f32.tflite",
    "mnist_8": "mnist_8/model.onnx", "mlp": "zoo:mlp"}
WANTS_ALL = os.environ.get("HONE_EDGE") == "all"
STACK = 64 << 10


def model_path(name):
    word = MODELS[name]
    path = word if word.startswith("zoo:") else SHARED / "models" / word
    if isinstance(path, pathlib.Path) and not path.exists():
        pytest.skip(f"no {path.name} of {path.parent.name}")
    return path


def c_bytes(name, array):
    data = ",".join(map(str, np.ascontiguousarray(array).view(np.uint8).ravel()))
    return f"static const _Alignas(64) unsigned char {name}[] = {{{data}}};\n"


def inputs_of(hone, path, folder):
    """Random inputs with the shapes that inspect prints, as files and arrays."""
    said = hone("inspect", path, "--json", "-")
    sound(said)
    facts = json.loads(said.text)
    random = np.random.default_rng(11)
    arrays, words = [], []
    for i, port in enumerate(facts["inputs"]):
        shape = [d if isinstance(d, int) and d > 0 else 1 for d in port.get("shape", port.get("dims"))]
        dtype = {"f32": np.float32, "i8": np.int8, "u8": np.uint8}[port.get("dtype", port.get("type"))]
        array = (random.standard_normal(shape).astype(dtype) if dtype is np.float32
                 else random.integers(-100 if dtype is np.int8 else 0, 100, shape).astype(dtype))
        np.save(folder / f"in_{i}.npy", array)
        arrays.append(array)
    words = ["--inputs", folder]
    return arrays, words


def want_of(hone, path, words, folder):
    sound(hone("run", path, "--reference", *words, "-o", folder))
    return [np.load(f) for f in sorted(folder.glob("out_*.npy"))]


def build_model(hone, board, name, folder):
    """The archive, its inputs as C and what its outputs should be."""
    path = model_path(name)
    (folder / name).mkdir()
    given = folder / f"{name}_in"
    given.mkdir()
    arrays, words = inputs_of(hone, path, given)
    wanted = want_of(hone, path, words, folder / f"{name}_out")
    if board.cpu == "portable":  # as a user does: one C file, built with the user's compiler and flags
        sound(hone("compile", path, "--portable", "--embed", "-o", folder / f"{name}.c"))
        for command in ([board.tools + "gcc", *board.flags, "-std=c11", "-O2", "-ffunction-sections", "-c", f"{name}.c"],
                        [board.tools + "ar", "rcs", f"{name}.a", f"{name}.o"]):
            subprocess.run(command, cwd=folder, check=True)
        return {"name": name, "arrays": arrays, "wanted": wanted, "stack": None, "flash": "", "ram": "",
                "arena": int(re.search(r"_ARENA_BYTES (\d+)", (folder / f"{name}.h").read_text()).group(1)),
                "size": (folder / f"{name}.a").stat().st_size}
    result = hone("compile", path, "--target", board.triple, "--cpu", board.cpu, "-o", folder / f"{name}.a")
    sound(result)
    line = re.search(r"flash (\S+ \S+), RAM (\S+ \S+) including the arena, stack (\d+) bytes", result.errors)
    assert line, result.errors
    arena = int(re.search(r"_ARENA_BYTES (\d+)", (folder / f"{name}.h").read_text()).group(1))
    return {"name": name, "arrays": arrays, "wanted": wanted, "stack": int(line.group(3)), "arena": arena,
            "flash": line.group(1), "ram": line.group(2), "size": (folder / f"{name}.a").stat().st_size}


def check_symbols(board, folder, name):
    """No allocation, no threads, of the C library only libm and moves of memory; no data of its own that is written."""
    listing = subprocess.run([board.tools + "nm", str(folder / f"{name}.a")], capture_output=True, text=True,
                             check=True).stdout
    own = set(re.findall(r"[0-9a-f]+ [A-Za-z] (\S+)", listing))
    for symbol in set(re.findall(r" U (\S+)", listing)) - own:
        runtime = symbol.startswith("__aeabi") or re.fullmatch(r"__\w+[sdtx]i\d?|__\w+[sd]f\w*", symbol)
        assert runtime or symbol in NEEDED["libm"] or symbol in NEEDED["memory"], symbol
    assert not re.search(r" [DdBb] ", listing), "static data that is written"


def models_h(built):
    text = ['#include "%s.h"\n' % built[0]["name"]]
    text += [f"const struct hone_artifact_info *{m['name']}_artifact(void);\n" for m in built[1:]]
    text.append(f"#define STACK_BYTES {STACK}\nenum {{ MODEL_COUNT = {len(built)} }};\n"
                f"static _Alignas(64) unsigned char arena[{max(m['arena'] for m in built) + 64}];\n")
    rows = []
    for m in built:
        for i, array in enumerate(m["arrays"]):
            text.append(c_bytes(f"{m['name']}_in{i}", array))
        for i, array in enumerate(m["wanted"]):
            text.append(f"static _Alignas(64) unsigned char {m['name']}_out{i}[{array.nbytes}];\n")
        ins = ",".join(f"{m['name']}_in{i}" for i in range(len(m["arrays"])))
        outs = ",".join(f"{m['name']}_out{i}" for i in range(len(m["wanted"])))
        sizes = ",".join(str(a.nbytes) for a in m["wanted"])
        rows.append(f"{{{m['name']}_artifact, {{{ins}}}, {{{outs}}}, {{{sizes}}}}}")
    text.append("static const struct model { const struct hone_artifact_info *(*artifact)(void); const void *inputs[4]; "
                "void *outputs[4]; unsigned output_bytes[4]; } models[] = {" + ",".join(rows) + "};\n")
    return "".join(text)


def run_firmware(board, folder, built):
    """Links and runs it; by model the outputs, instructions and bytes of stack."""
    (folder / "models.h").write_text(models_h(built))
    vectors, code, data = board.places
    script = (FIRMWARE / "link.ld").read_text()
    for word, value in (("VECTORS", vectors), ("CODE", code), ("DATA", data), ("STACK", hex(STACK))):
        script = script.replace(f"@{word}@", value)
    (folder / "link.ld").write_text(script)
    command = [board.tools + "gcc", *board.flags, "-std=gnu11", "-O2", "-Wall", "-nostartfiles", "-static", f"-I{folder}",
               f"-I{FIRMWARE}", FIRMWARE / "firmware.c", FIRMWARE / board.source,
               *[folder / f"{m['name']}.a" for m in built], "-T", folder / "link.ld", "-Wl,--gc-sections",
               "-Wl,--no-warn-rwx-segments", "-Wl,--no-warn-execstack", "-lm", "-o", folder / "firmware.elf"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    ran = subprocess.run([*board.qemu, "-kernel", str(folder / "firmware.elf")], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=600, check=False)
    text = ran.stdout + ran.stderr
    assert ran.returncode == 0 and "done" in text, text[-1500:]
    loop = int(re.search(r"^loop (\S+)", text, re.M).group(1), 16)
    results = []
    for part in text.split("stack ")[1:]:
        results.append({"stack": int(part.split()[0], 16),
                        "instructions": round(int(re.search(r"ticks (\S+)", part).group(1), 16) * 2e6 / loop),
                        "outputs": [bytes.fromhex(h) for h in re.findall(r"^output (\S*)", part, re.M)]})
    return results


def compare(wanted, got):
    assert len(wanted) == len(got)
    for want, raw in zip(wanted, got):
        have = np.frombuffer(raw, want.dtype).reshape(want.shape)
        if want.dtype == np.float32:
            scale = max(1e-6, float(np.abs(want).max()))
            assert float(np.abs(want - have).max()) <= 1e-3 * scale
        else:
            np.testing.assert_array_equal(want, have)


def note(board, model, result):
    path = os.environ.get("EDGE_TABLE")
    if path:
        with open(path, "a") as file:
            file.write(f"| {model['name']} | {board.name} | {model['flash']} | {model['ram']} | {model['stack']} | "
                       f"{result['stack']} | {result['instructions'] / 1e6:.2f} M |\n")


CASES = [(b, m) for b in BOARDS for m in MODELS if WANTS_ALL or (m == "kws" and b.name in ("m4", "m55", "rv32"))]


@pytest.mark.parametrize("board,name", CASES, ids=[f"{b.name}-{m}" for b, m in CASES])
def test_a_board_computes_as_the_reference(hone, tmp_path, board, name):
    if board.missing():
        pytest.skip("needs " + board.missing())
    model = build_model(hone, board, name, tmp_path)
    check_symbols(board, tmp_path, name)
    if model["size"] + model["arena"] > board.room:
        pytest.skip(f"{name} is too large for {board.name}")
    result = run_firmware(board, tmp_path, [model])[0]
    compare(model["wanted"], result["outputs"])
    assert result["instructions"] > 1000
    # the bound holds, with what the caller and libm take
    assert model["stack"] is None or result["stack"] <= model["stack"] + 512
    note(board, model, result)


def test_several_models_in_one_program(hone, tmp_path):
    board = BOARDS[0]
    if board.missing():
        pytest.skip("needs " + board.missing())
    built = [build_model(hone, board, name, tmp_path) for name in ("kws", "ad")]
    for model, result in zip(built, run_firmware(board, tmp_path, built)):
        compare(model["wanted"], result["outputs"])


def test_what_a_board_has_not(hone, tmp_path):
    if BOARDS[0].missing():
        pytest.skip("needs " + BOARDS[0].missing())
    refused(hone("compile", "zoo:mlp", "--target", "arm-none-eabi", "--cpu", "cortex-m4", "-o", tmp_path / "m.so"), "E_UNSUP",
            "FILE.a")
    refused(hone("compile", "zoo:mlp", "--target", "arm-none-eabi", "--cpu", "cortex-m0", "-o", tmp_path / "m.a"), "E_UNSUP",
            "cortex-m4, cortex-m7, cortex-m55")

"""torch.export archives: a small one gives the same results as NumPy; and rows 48 to 52 of the catalogue of bad
inputs: archives, JSON and code that are refused."""

import json
import pathlib
import pickle
import struct
import sys
import zipfile

import numpy as np
import pytest

from hone import refused, sound

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import make_pt2_cases as cases


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("mode", [[], ["--reference"]])
def test_small(shared_hone, tmp_path, rows, mode):
    x = np.random.default_rng(rows).normal(size=(rows, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    sound(shared_hone("run", cases.FILE, "--shape", f"x[{rows},4]", "--input", f"x={tmp_path}/x.npy", "-o",
                      tmp_path / "out", *mode))
    for k, want in enumerate(cases.expected(x)):
        np.testing.assert_allclose(np.load(tmp_path / f"out/out_{k}.npy"), want, rtol=1e-6, atol=1e-6)


def test_the_file_is_what_the_tool_writes(tmp_path):
    cases.write(tmp_path / "again.pt2", cases.parts())
    assert (tmp_path / "again.pt2").read_bytes() == cases.FILE.read_bytes()


def archive(path, **changed):
    members = cases.parts()
    for name, data in changed.items():
        members[name] = data
    cases.write(path, members)
    return path


def changed_json(change, part="models/model.json"):
    def build(path):
        members = cases.parts()
        about = json.loads(members[part])
        change(about)
        members[part] = json.dumps(about).encode()
        cases.write(path, members)
    return build


def raw_json(text):
    return lambda path: archive(path, **{"models/model.json": text})


def patched(find, replace, count=1):
    """Bytes of the finished archive replaced: a header that lies."""
    def build(path):
        archive(path)
        data = path.read_bytes()
        assert find in data
        path.write_bytes(data.replace(find, replace, count))
    return build


def named(name):
    def build(path):
        archive(path)
        with zipfile.ZipFile(path, "a") as z:
            z.writestr(name, b"x")
    return build


def with_flags(flags):
    def build(path):
        archive(path)
        data = bytearray(path.read_bytes())
        at = data.index(b"PK\1\2")
        struct.pack_into("<H", data, at + 8, flags)
        path.write_bytes(data)
    return build


def two_directories(path):
    archive(path)
    data = path.read_bytes()
    end = data[data.rindex(b"PK\5\6"):]
    # the first end has the second as its comment
    path.write_bytes(data[:-2] + struct.pack("<H", len(end)) + end)


def overlap(path):
    """Two entries of the directory share one member's bytes, as in a bomb."""
    archive(path)
    data = bytearray(path.read_bytes())
    first = data.index(b"PK\1\2")
    second = data.index(b"PK\1\2", first + 4)
    data[second + 42:second + 46] = data[first + 42:first + 46]
    path.write_bytes(data)


def bomb_of_members(path):
    archive(path)
    data = bytearray(path.read_bytes())
    end = data.rindex(b"PK\5\6")
    struct.pack_into("<HH", data, end + 8, 65000, 65000)
    path.write_bytes(data)


def zip64_lies(path):
    archive(path)
    data = bytearray(path.read_bytes())
    end = data.rindex(b"PK\5\6")
    struct.pack_into("<I", data, end + 16, 0xffffffff)
    path.write_bytes(data)


def packed(how=zipfile.ZIP_DEFLATED):
    def build(path):
        with zipfile.ZipFile(path, "w", how) as z:
            for name, data in cases.parts().items():
                z.writestr(cases.PREFIX + name, data)
    return build


def damaged_stream(path):
    """The packed bytes of models/model.json start with a block of type 3, which there is not."""
    packed()(path)
    data = bytearray(path.read_bytes())
    at = data.index(b"models/model.json") + len(b"models/model.json")
    data[at] |= 6
    path.write_bytes(data)


def bomb(path):
    """A member that says it is larger than DEFLATE can pack into its bytes."""
    packed()(path)
    data = bytearray(path.read_bytes())
    for mark, size in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        at = data.index(mark, data.index(b"models/model.json") - 60 if mark == b"PK\3\4" else data.rindex(b"models/model.json") - 60)
        data[at + size:at + size + 4] = struct.pack("<I", 100 << 20)
    path.write_bytes(data)


@pytest.mark.parametrize("level", [1, 9])
def test_deflate(shared_hone, tmp_path, level):
    """Members of stored, fixed and dynamic blocks are the same model."""
    with zipfile.ZipFile(tmp_path / "m.pt2", "w", zipfile.ZIP_DEFLATED, compresslevel=level) as z:
        for name, data in cases.parts().items():
            z.writestr(cases.PREFIX + name, data)
    x = np.random.default_rng(1).normal(size=(2, 4)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    sound(shared_hone("run", tmp_path / "m.pt2", "--shape", "x[2,4]", "--input", f"x={tmp_path}/x.npy", "-o",
                      tmp_path / "out", "--reference"))
    for k, want in enumerate(cases.expected(x)):
        np.testing.assert_allclose(np.load(tmp_path / f"out/out_{k}.npy"), want, rtol=1e-6, atol=1e-6)


def deep(kind):
    return {"arrays": b'{"a":' + b"[" * 100000 + b"]" * 100000 + b"}",
            "objects": b'{"a":' * 100000 + b"1" + b"}" * 100000}[kind]


def use_pickle(about):
    about["config"]["w"]["use_pickle"] = True


def far_weight(about):
    about["config"]["w"]["tensor_meta"]["storage_offset"] = {"as_int": 2 ** 62}


def negative_stride(about):
    about["config"]["w"]["tensor_meta"]["strides"][0] = {"as_int": -3}


def huge_weight(about):
    about["config"]["w"]["tensor_meta"]["sizes"] = [{"as_int": 2 ** 40}, {"as_int": 2 ** 40}]


def other_op(about):
    about["graph_module"]["graph"]["nodes"][0]["target"] = "torch.ops.mylib.secret.default"


def undefined(about):
    about["graph_module"]["graph"]["nodes"][5]["inputs"][0]["arg"]["as_tensor"]["name"] = "nobody"


def twice(about):
    about["graph_module"]["graph"]["nodes"][6]["outputs"] = [cases.tensor("y")]


def schema(about):
    about["schema_version"]["major"] = 9


def script_object(about):
    about["graph_module"]["signature"]["input_specs"][0] = {
        "custom_obj": {"arg": {"name": "p_w", "class_fqn": "x"}, "custom_obj_name": "w"}}


def two_archives(path):
    archive(path)
    with zipfile.ZipFile(path, "a") as z:
        for name, data in cases.parts().items():
            z.writestr("other/" + name, data)


def lost_buffer(kind, key, name):
    def change(about):
        about["graph_module"]["signature"]["output_specs"].append({kind: {"arg": {"name": "y"}, key: name}})
    return change


def bomb_of_zeros(path):
    """Weights followed by zeros, 600 MiB in a file of 600 KB."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, data in cases.parts().items():
            z.writestr(cases.PREFIX + name, data + bytes(200 << 20) if "weights/weight_" in name else data)


BAD = {
    "two_archives": (two_archives, "E_FORMAT", "two archives"),
    "big_endian": (lambda path: archive(path, byteorder=b"big"), "E_UNSUP", "little"),
    "archive_version": (lambda path: archive(path, archive_version=b"1" + b"0" * 30), "E_UNSUP", "archive_version"),
    "archive_format": (lambda path: archive(path, archive_format=b"pt\x1b[31m3"), "E_UNSUP", "pt2"),
    "no_buffer": (changed_json(lost_buffer("buffer_mutation", "buffer_name", "nope")), "E_FORMAT", "no such buffer"),
    "no_input": (changed_json(lost_buffer("user_input_mutation", "user_input_name", "nope")), "E_FORMAT", "no such input"),
    "bomb_of_zeros": (bomb_of_zeros, "E_LIMIT", "unpacked_bytes"),
    "slip": (named("../../x"), "E_FORMAT", "leads outside"),
    "slip_inside": (named("a/../../x"), "E_FORMAT", "leads outside"),
    "absolute": (named("/etc/passwd"), "E_FORMAT", "absolute"),
    "drive": (named("C:/x"), "E_FORMAT", "absolute"),
    "duplicate": (named("small/archive_format"), "E_FORMAT", "two members with the same name"),
    "crc": (patched(cases.BIAS.tobytes(), b"\0" * 12), "E_FORMAT", "checksum"),
    "two_ends": (two_directories, "E_FORMAT", "two end-of-directory"),
    "local_name": (patched(b"small/archive_format", b"small/archive_FORMAT"), "E_FORMAT", "different names"),
    "zip64": (zip64_lies, "E_FORMAT", "ZIP64"),
    "encrypted": (with_flags(1), "E_FORMAT", "encrypted"),
    "overlap": (overlap, "E_FORMAT", ""),
    "many": (bomb_of_members, "E_FORMAT", "members"),
    "lzma": (packed(zipfile.ZIP_LZMA), "E_UNSUP", "compression method 14"),
    "stream": (damaged_stream, "E_FORMAT", "DEFLATE"),
    "bomb": (bomb, "E_LIMIT", "packed into"),
    "cut": (lambda path: path.write_bytes(cases.FILE.read_bytes()[:-30]), "E_FORMAT", "truncated"),
    "front": (lambda path: path.write_bytes(b"PK\3\4" + cases.FILE.read_bytes()), "E_FORMAT", ""),
    "deep_arrays": (raw_json(deep("arrays")), "E_LIMIT", "nesting"),
    "deep_objects": (raw_json(deep("objects")), "E_LIMIT", "nesting"),
    "digits": (raw_json(b'{"a": ' + b"1" * 1000000 + b"}"), "E_LIMIT", "digits"),
    "nan": (raw_json(b'{"a": NaN}'), "E_FORMAT", "JSON"),
    "duplicate_keys": (raw_json(b'{"a": 1, "a": 2}'), "E_FORMAT", "JSON"),
    "bom": (raw_json(b'\xef\xbb\xbf{"a": 1}'), "E_FORMAT", "JSON"),
    "surrogate": (raw_json(b'{"a": "\\ud800"}'), "E_FORMAT", "JSON"),
    "array": (raw_json(b"[]"), "E_FORMAT", "object"),
    "empty_object": (raw_json(b"{}"), "E_FORMAT", "no graph"),
    "pickled_weight": (changed_json(use_pickle, "data/weights/model_weights_config.json"), "E_TRUST", "pickle"),
    "custom_object": (changed_json(script_object), "E_TRUST", "custom object"),
    "library": (named("small/data/aotinductor/model/x.so"), "E_TRUST", "x.so"),
    "cubin": (named("small/data/aotinductor/model/x.cubin"), "E_TRUST", "x.cubin"),
    "torchscript": (named("small/code/__torch__.py"), "E_TRUST", "__torch__.py"),
    "far": (changed_json(far_weight, "data/weights/model_weights_config.json"), "E_FORMAT", "exceeds"),
    "stride": (changed_json(negative_stride, "data/weights/model_weights_config.json"), "E_FORMAT", "exceeds"),
    "huge": (changed_json(huge_weight, "data/weights/model_weights_config.json"), "E_LIMIT E_SHAPE E_FORMAT", ""),
    "operator": (changed_json(other_op), "E_UNSUP", "mylib.secret.default"),
    "undefined": (changed_json(undefined), "E_FORMAT", "nobody"),
    "defined_twice": (changed_json(twice), "E_FORMAT", "twice"),
    "schema": (changed_json(schema), "E_UNSUP", "version 9"),
    "plain_zip": (lambda path: zipfile.ZipFile(path, "w").writestr("a.txt", "a"), "E_FORMAT", "zip archive"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_archive(shared_hone, tmp_path, name):
    build, codes, words = BAD[name]
    build(tmp_path / "m.pt2")
    result = shared_hone("inspect", tmp_path / "m.pt2")
    refused(result, codes, words)
    assert result.seconds < 3, result


def test_unused_values_cost_nothing(shared_hone, tmp_path):
    def many(about):
        values = about["graph_module"]["graph"]["tensor_values"]
        values.update({f"unused{k}": cases.meta([2, 3]) for k in range(20000)})
    changed_json(many)(tmp_path / "m.pt2")
    result = shared_hone("run", tmp_path / "m.pt2")
    sound(result)
    assert result.seconds < 8, result


# Plain files of frameworks carry code and are never run; the sentence names what exists.
PLAIN = {
    "model.pt": (pickle.dumps({"a": 1}), "torch.export.save"),
    "model.pth": (b"\x80\x02}q\0.", "torch.onnx.export"),
    "model.pkl": (pickle.dumps([1]), "torch.export.save"),
    "model.h5": (b"\211HDF\r\n\032\n" + b"\0" * 64, "tf2onnx"),
}


@pytest.mark.parametrize("name", PLAIN)
def test_code_is_not_run(shared_hone, tmp_path, name):
    data, words = PLAIN[name]
    (tmp_path / name).write_bytes(data)
    refused(shared_hone("inspect", tmp_path / name), "E_TRUST", words)


def test_torchscript_is_not_run(shared_hone, tmp_path):
    with zipfile.ZipFile(tmp_path / "m.pt", "w") as z:
        z.writestr("m/data.pkl", "x")
        z.writestr("m/code/__torch__.py", "x")
    refused(shared_hone("inspect", tmp_path / "m.pt"), "E_TRUST", "python -m hone export")


def test_keras_is_not_run(shared_hone, tmp_path):
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as z:
        z.writestr("config.json", "{}")
        z.writestr("model.weights.h5", b"x")
    refused(shared_hone("inspect", tmp_path / "m.keras"), "E_TRUST", "tf2onnx")


# The content decides the format, not the file name.
def test_renamed_files(shared_hone, tmp_path):
    (tmp_path / "m.onnx").write_bytes(cases.FILE.read_bytes())
    sound(shared_hone("inspect", tmp_path / "m.onnx"))
    (tmp_path / "m.tflite").write_bytes(b"\177ELF" + b"\0" * 60)
    refused(shared_hone("inspect", tmp_path / "m.tflite"), "E_FORMAT", "looks like an ELF binary")
    (tmp_path / "m.pt2").write_bytes(pickle.dumps([1, 2]))
    refused(shared_hone("inspect", tmp_path / "m.pt2"), "E_FORMAT", "looks like a Python pickle")

"""Engines with a deliberately broken package: the study continues, and the row reports the fault."""

import json
import os
import re
import subprocess
import sys
import textwrap

import hostile
import pytest

from hone import patiently

QUICK = ["--rounds", "2", "--processes", "1", "--min-time", "0.01", "--min-samples", "3", "--warmup", "0.005",
         "--no-measure", "--threads", "1", "--json", "-"]

# -- engines that are called from C -------------------------------------------------------------------

LIBRARIES = {"onnxruntime": "onnxruntime/capi/libonnxruntime.so.9.9.9",
             "openvino": "openvino/libs/libopenvino_c.so.9990"}
WHOLE = """
    #include <stddef.h>
    struct base {{ void *get_api, *get_version; }};
    void *OrtGetApiBase(void);
    {body}
"""
# name: text of the library (bytes: as they are), status, part of the reason
BROKEN = {
    "empty": (b"", "not_installed", ""),
    "text": (b"this is no library\n" * 99, "not_installed", ""),
    "cut off": ("int whole = 1;", "crashed", "SIG"),
    "another library": ("int something_else(void) { return 1; }", "unsupported", "libonnxruntime|libopenvino"),
    "needs another": ("extern int gone(void); int f(void) { return gone(); }", "not_installed", "libgone.so"),
    "exits when loaded": ("#include <stdlib.h>\n__attribute__((constructor)) void f(void) { exit(7); }", "error", "code 7"),
    "dies when loaded": ("__attribute__((constructor)) void f(void) { *(volatile int *)0 = 1; }", "crashed", "SIG"),
    "hangs when loaded": ("#include <unistd.h>\n__attribute__((constructor)) void f(void) { for (;;) pause(); }", "timeout",
                          "--timeout"),
}


def library(folder, path, text, how):
    target = folder / "lib/python3.11/site-packages" / path
    target.parent.mkdir(parents=True)
    if isinstance(text, bytes):
        target.write_bytes(text)
        return
    source = folder / "broken.c"
    source.write_text(text)
    words = ["cc", "-shared", "-fPIC", "-O0", "-w", str(source), "-o", str(target)]
    if how == "needs another":
        (folder / "gone.c").write_text("int gone(void) { return 1; }")
        subprocess.run(["cc", "-shared", "-fPIC", folder / "gone.c", "-o", folder / "libgone.so"], check=True)
        words += ["-L", str(folder), "-lgone"]
    subprocess.run(words, check=True)
    if how == "needs another":
        (folder / "libgone.so").unlink()
    if how == "cut off":
        target.write_bytes(target.read_bytes()[:3000])


def rows_of(hone, tmp_path, name, folder, status="", words=()):
    model = tmp_path / "model.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    hone.env["HONE_TESTING"] = "1"

    def bench(*limit):
        result = hone("bench", model, "--backend", f"{name},null", "--engine", f"{name}={folder}", *QUICK, "--resume", "never", *words,
                      *limit)
        assert result.out, result
        return result, {row["backend"]: row for row in json.loads(result.text)["records"]}

    return patiently(bench, "null") if status == "timeout" else bench()


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_broken_library_is_one_row(hone, tmp_path, name, how):
    text, status, part = BROKEN[how]
    folder = tmp_path / "engine"
    folder.mkdir()
    library(folder, LIBRARIES[name], text, how)
    result, rows = rows_of(hone, tmp_path, name, folder, status)
    assert rows["null"]["status"] == "ok", result
    assert rows[name]["status"] == status and re.search(part, rows[name]["reason"]) and rows[name]["reason"], result


def test_an_older_onnx_runtime_says_so(hone, tmp_path):
    """It answers, and has not the version of the interface that is asked for."""
    folder = tmp_path / "engine"
    folder.mkdir()
    library(folder, LIBRARIES["onnxruntime"], """
        static const void *api(unsigned version) { return (void)version, (const void *)0; }
        static const char *version(void) { return "1.2.3"; }
        static const struct { const void *(*api)(unsigned); const char *(*version)(void); } base = {api, version};
        const void *OrtGetApiBase(void) { return &base; }""", "")
    result, rows = rows_of(hone, tmp_path, "onnxruntime", folder)
    assert rows["null"]["status"] == "ok" and rows["onnxruntime"]["status"] in ("not_installed", "unsupported"), result
    assert "1.16 or newer" in rows["onnxruntime"]["reason"], result


@pytest.mark.parametrize("how", ["exits when loaded", "dies when loaded"])
def test_the_list_of_engines_survives_one(hone, tmp_path, how):
    folder = tmp_path / "engine"
    folder.mkdir()
    library(folder, LIBRARIES["onnxruntime"], BROKEN[how][0], how)
    result = hone("backends", "--engine", f"onnxruntime={folder}")
    lines = {line.split()[0]: line for line in result.text.splitlines()}
    assert result.code == 0 and lines["native"].split()[1] == "ready", result
    assert not re.search(r"native +ready", result.errors), "the engine wrote out what this process had not yet written"
    assert "loading the library ended the process: " + ("exit code 7" if "exits" in how else "SIGSEGV") in lines["onnxruntime"], result


# -- engines that are called from Python --------------------------------------------------------------

PACKAGES = {
    "fails to import": ("raise ImportError('libcudart.so.99: cannot open shared object file')", "not_installed", "libcudart.so.99"),
    "is another version": ("pass", "not_installed", "tvm"),
    "exits": ("import os; os._exit(5)", "error", "code 5"),
    "exits politely": ("import sys; sys.exit('no licence')", "error", ""),
    "dies": ("import os, signal; os.kill(os.getpid(), signal.SIGABRT)", "crashed", "SIGABRT"),
    "hangs": ("import time; time.sleep(1000)", "timeout", "--timeout"),
    "is no Python": ("def (", "error", "SyntaxError"),
    "closes every descriptor": ("import os; os.closerange(3, 256)", "error", ""),
}


def package(tmp_path, text):
    """An environment for TVM whose package `tvm` is this text."""
    folder = tmp_path / "engine"
    site = folder / "site"
    (folder / "bin").mkdir(parents=True)
    (folder / "lib/python3.11/site-packages/apache_tvm-9.9.dist-info").mkdir(parents=True)
    (site / "tvm").mkdir(parents=True)
    (site / "tvm/__init__.py").write_text(textwrap.dedent(text) + "\n")
    python = folder / "bin/python"
    python.write_text(textwrap.dedent(f"""\
        #!/bin/sh
        PYTHONPATH={site} exec {sys.executable} "$@"
        """))
    python.chmod(0o755)
    return folder


@pytest.mark.skipif(not os.path.exists("/proc/self/autogroup"), reason="this kernel does not group by session")
def test_a_python_workers_session_has_the_studys_priority(hone, tmp_path):
    """Same as for an engine called from C; otherwise other load would slow one of them more than the other."""
    folder = package(tmp_path, f"""
        import os
        with open({str(tmp_path / 'seen')!r}, "w") as file:
            file.write(open("/proc/self/autogroup").read() + str(os.getpriority(os.PRIO_PROCESS, 0)))
        raise ImportError("that was all")""")
    rows_of(hone, tmp_path, "tvm", folder, words=("--nice", "5"))
    words = (tmp_path / "seen").read_text().split()
    assert words[1:] == ["nice", "5", "5"], words


@pytest.mark.parametrize("how", PACKAGES)
def test_a_broken_package_is_one_row(hone, tmp_path, how):
    """The worker is hone's own for TVM; the package `tvm` that it imports is broken."""
    text, status, part = PACKAGES[how]
    result, rows = rows_of(hone, tmp_path, "tvm", package(tmp_path, text), status)
    assert rows["null"]["status"] == "ok", result
    assert rows["tvm"]["status"] == status and re.search(part, rows["tvm"]["reason"]) and rows["tvm"]["reason"], result

"""Workers that are not a child process on this machine: over ssh to localhost with keys made for the test, over adb
(a fake adb program), and under qemu for another instruction set. A lost connection becomes a row."""

import getpass
import json
import os
import pathlib
import shutil
import socket
import subprocess
import textwrap

import pytest

import hostile
from hone import HONE, ROOT, nothing_left, refused, until

QUICK = ["--rounds", "2", "--processes", "1", "--min-time", "0.01", "--min-samples", "3",
         "--warmup", "0.005", "--no-measure", "--threads", "1", "--json", "-", "--timeout", "60"]


def script(path, text, **names):
    path.write_text(textwrap.dedent(text).lstrip().format(**names))
    path.chmod(0o755)
    return path


def rows_of(result):
    assert result.out, result
    return {(row["backend"], row["device"]): row for row in json.loads(result.text)["records"]}


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(hostile.identity().SerializeToString())
    return path


@pytest.fixture
def adb(hone, tmp_path):
    """A folder with a fake adb that runs commands in its own folder, like a device."""
    folder, far = tmp_path / "bin", tmp_path / "far"
    folder.mkdir()
    for name in ("cache", "data", "tmp"):
        (far / name).mkdir(parents=True)
    script(folder / "adb", """
        #!/bin/sh
        [ "$1" = -s ] && [ "$2" = SERIAL ] && shift 2
        [ "$1 $2" = "shell -T" ] || exit 9
        shift 2
        cd {far}
        export XDG_CACHE_HOME={far}/cache XDG_DATA_HOME={far}/data TMPDIR={far}/tmp HONE_TESTING=1
        exec "$@"
        """, far=far)
    hone.env["PATH"] = f"{folder}:{hone.env['PATH']}"
    hone.env["HONE_TESTING"] = "1"
    return far


def test_a_device_is_a_dimension_of_the_study(hone, adb, model):
    result = hone("bench", model, "--backend", "null,native", "--device", "cpu,adb:SERIAL",
                  "--device-hone", HONE, *QUICK)
    rows = rows_of(result)
    assert len(rows) == 4, result
    for (backend, device), row in rows.items():
        assert row["status"] == "ok" and row["rel_l2"] == 0, result
        assert row["latency_ms"]["p50"] > 0 and row["peak_rss_bytes"] > 0
    assert rows["native", "adb:SERIAL"]["cell"] != rows["native", "cpu"]["cell"]
    assert rows["native", "adb:SERIAL"]["repeat"].count("--device adb:SERIAL") == 1
    until(lambda: not list((adb / "tmp").iterdir()), 60)  # the device keeps no files
    nothing_left(adb)
    again = hone("report", "last", "--with-synthetic", "--json", "-")
    assert {r["device"] for r in json.loads(again.text)["records"]} == {"cpu", "adb:SERIAL"}
    table = hone("report", "last").text
    assert "native" in table and "adb:SERIAL" in table


def test_wrong_outputs_of_a_device_are_wrong(hone, adb, model):
    result = hone("bench", model, "--backend", "fake", "--backend-option", "fake.cheat=wrong",
                  "--device", "adb:SERIAL", "--device-hone", HONE, *QUICK)
    assert rows_of(result)["fake", "adb:SERIAL"]["status"] == "wrong", result


FAULTS = {"signal": ["n=11"], "exit": ["n=3"], "garbage": [], "half": [], "orphan": [], "stdout": [],
          "unknown_key": [], "error": [], "litter": []}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_on_a_device_is_the_same_row(hone, adb, model, fault):
    words = ["--backend", "fake,null", *QUICK]
    for option in [f"fault={fault}", *FAULTS[fault]]:
        words += ["--backend-option", f"fake.{option}"]
    here = rows_of(hone("bench", model, *words))["fake", "cpu"]
    there = rows_of(hone("bench", model, *words, "--device", "adb:SERIAL", "--device-hone", HONE))
    row = there["fake", "adb:SERIAL"]
    assert (row["status"], row["stage"]) == (here["status"], here["stage"]), row["reason"]
    assert there["null", "adb:SERIAL"]["status"] == "ok"
    nothing_left(adb)


def test_a_device_that_cannot_be_reached_is_a_row(hone, tmp_path, model):
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder / "ssh", "#!/bin/sh\necho 'ssh: no route to host' >&2\nexit 255\n")
    hone.env["HONE_SSH"] = str(folder / "ssh")
    result = hone("bench", model, "--backend", "native", "--device", "cpu,ssh:nowhere", *QUICK)
    rows = rows_of(result)
    assert rows["native", "ssh:nowhere"]["status"] == "disconnected", result
    assert "no route to host" in rows["native", "ssh:nowhere"]["reason"]
    assert rows["native", "cpu"]["status"] == "ok"


def test_a_connection_that_is_lost_is_a_row(hone, tmp_path, model):
    """It breaks while the worker runs; nothing is left on the other side."""
    folder, far = tmp_path / "bin", tmp_path / "far"
    folder.mkdir()
    far.mkdir()
    script(folder / "ssh", """
        #!/usr/bin/env python3
        import os, subprocess, sys, threading, time
        env = dict(os.environ, TMPDIR="{far}", XDG_CACHE_HOME="{far}/cache", HONE_TESTING="1")
        child = subprocess.Popen([sys.argv[-2], "agent"], env=env, stdin=subprocess.PIPE)
        def forward():
            while data := os.read(0, 65536):
                child.stdin.write(data)
                child.stdin.flush()
                if b'"slice"' in data:
                    time.sleep(0.2)
                    sys.stderr.write("client_loop: broken pipe\\n")
                    sys.stderr.flush()
                    child.stdin.close()
                    os._exit(255)
        forward()
        """, far=far)
    hone.env["HONE_SSH"] = str(folder / "ssh")
    hone.env["HONE_TESTING"] = "1"
    result = hone("bench", model, "--backend", "fake,null", "--backend-option", "fake.latency_us=200000",
                  "--device", "ssh:box", "--device-hone", HONE, *QUICK)
    rows = rows_of(result)
    assert rows["fake", "ssh:box"]["status"] == "disconnected", result
    assert "broken pipe" in rows["fake", "ssh:box"]["reason"]
    until(lambda: not list(far.glob("hone-*")), 60)  # the other side keeps no folder


def test_another_release_on_the_device_is_a_row(hone, tmp_path, model):
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder / "ssh", "#!/bin/sh\necho 'Welcome to this machine'\nsleep 1\n")
    hone.env["HONE_SSH"] = str(folder / "ssh")
    result = hone("bench", model, "--backend", "native", "--device", "ssh:box", *QUICK)
    assert rows_of(result)["native", "ssh:box"]["status"] == "disconnected", result


@pytest.mark.parametrize("device,part", [
    ("ssh:a;reboot", "is not a valid host"), ("ssh:-oProxyCommand=x", "is not a valid host"), ("ssh:", "is not a valid host"),
    ("gpu", "choose cpu, ssh:HOST"), ("cpu:0", "has no name"), ("ssh:" + "x" * 99, "too long")])
def test_a_device_that_is_none_is_refused(hone, model, device, part):
    refused(hone("bench", model, "--backend", "native", "--device", device, *QUICK), "E_USAGE", part)


def test_cold_caches_are_a_dimension(hone, model):
    result = hone("bench", model, "--backend", "native", "--cache-state", "warm,cold", *QUICK[2:],
                  "--rounds", "4", "--processes", "2")
    rows = {row["cache_state"]: row for row in json.loads(result.text)["records"]}
    assert rows["warm"]["status"] == rows["cold"]["status"] == "ok", result
    assert rows["warm"]["cached_compile_time_ms"] is not None
    assert rows["cold"]["cached_compile_time_ms"] is None
    assert "--cache-state cold" in rows["cold"]["repeat"]


# -- a real ssh server of this machine ----------------------------------------------------------------


@pytest.fixture
def ssh_host(hone, tmp_path):
    server = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
    if not server:
        pytest.skip("no sshd (Debian: apt install openssh-server)")
    folder, far = tmp_path / "ssh", tmp_path / "far"
    for name in (folder, far / "cache", far / "data", far / "tmp"):
        name.mkdir(parents=True)
    folder.chmod(0o700)
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    if os.getuid() == 0:
        pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    (folder / "sshd_config").write_text(textwrap.dedent(f"""
        ListenAddress 127.0.0.1:{port}
        HostKey {folder}/host
        AuthorizedKeysFile {folder}/authorized
        PidFile {folder}/pid
        StrictModes no
        UsePAM no
        PasswordAuthentication no
        PermitRootLogin prohibit-password
        SetEnv HONE_TESTING=1 XDG_CACHE_HOME={far}/cache XDG_DATA_HOME={far}/data TMPDIR={far}/tmp
        """))
    (folder / "config").write_text(textwrap.dedent(f"""
        Host localhost
          HostName 127.0.0.1
          Port {port}
          User {getpass.getuser()}
          IdentityFile {folder}/user
          IdentitiesOnly yes
          UserKnownHostsFile {folder}/known
          StrictHostKeyChecking accept-new
        """))
    child = subprocess.Popen([server, "-D", "-e", "-f", folder / "sshd_config"],
                             stderr=open(folder / "log", "wb"))
    hone.env["HONE_SSH"] = str(script(folder / "ssh", "#!/bin/sh\nexec ssh -F {f}/config \"$@\"\n",
                                      f=folder))
    hone.env["HONE_TESTING"] = "1"
    def answers():
        with socket.socket() as probe:
            return child.poll() is not None or probe.connect_ex(("127.0.0.1", port)) == 0

    until(answers)
    assert child.poll() is None, (folder / "log").read_text()
    yield far
    child.terminate()
    child.wait(600)


def test_ssh_to_this_machine(hone, ssh_host, model):
    result = hone("bench", model, "--backend", "native,null", "--device", "ssh:localhost",
                  "--device-hone", HONE, *QUICK)
    rows = rows_of(result)
    for backend in ("native", "null"):
        row = rows[backend, "ssh:localhost"]
        assert row["status"] == "ok" and row["rel_l2"] == 0, result
        assert row["latency_ms"]["p50"] > 0
    until(lambda: not list((ssh_host / "tmp").iterdir()), 60)


# -- another instruction set --------------------------------------------------------------------------


def test_qemu_runs_what_was_compiled_for_it(hone, model):
    """hone for aarch64 (make aarch64) as the worker, its artifacts by a cross compiler of this machine."""
    far = pathlib.Path(os.environ.get("HONE_AARCH64", ROOT / "build" / "aarch64" / "hone"))
    if not far.exists():
        pytest.skip("no hone for aarch64 (make aarch64)")
    if not (shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")):
        pytest.skip("no qemu-aarch64 (Debian: apt install qemu-user)")
    hone.env["HONE_TESTING"] = "1"
    words = ["--device", "qemu:aarch64", "--device-hone", far.resolve(), *QUICK]
    row = rows_of(hone("bench", model, "--backend", "null", *words))["null", "qemu:aarch64"]
    assert row["status"] == "ok" and row["rel_l2"] == 0 and row["latency_ms"]["p50"] > 0, row
    row = rows_of(hone("bench", model, "--backend", "native", *words))["native", "qemu:aarch64"]
    if row["status"] == "timeout" and row["stage"] == "compile":
        pytest.skip("this qemu starts no compiler: the child of a fork stands still in it")
    assert row["status"] == "ok" and row["rel_l2"] == 0, row["reason"]

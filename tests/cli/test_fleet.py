"""hone fleet: jobs as files, one spool file each, merged exactly once even if a job ran twice, died or was cut off."""

import json
import os
import pathlib
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

import hostile
import postgres
from hone import HONE, ROOT, refused, sound

SHORT = ["--", "--no-measure", "--rounds", "2", "--processes", "1", "--min-samples", "5", "--min-time", "0.01", "--warmup",
         "0.01", "-q", "--cache-state", "cold"]
TESTING = {"HONE_TESTING": "1"}


@pytest.fixture
def fleet(hone, tmp_path):
    """Two models by one test engine, one and two threads: four jobs; names as bad as they come."""
    for name in ("a $(id) `id` '\"; rm -rf x.onnx", "--b\\.onnx"):
        (tmp_path / name).write_bytes(hostile.identity().SerializeToString() + b"" if name[0] == "a"
                                      else hostile.identity().SerializeToString())
    models = [tmp_path / "a $(id) `id` '\"; rm -rf x.onnx", tmp_path / "--b\\.onnx"]
    sound(hone("fleet", "slurm", *models, "--backend", "null", "--threads", "1,2", "-o", tmp_path / "fleet", *SHORT,
               env=TESTING))
    return tmp_path / "fleet"


def environment(hone):
    return {**hone.env, "HONE": str(HONE), "HONE_TESTING": "1"}


def run(hone, folder, job, umask=-1, **more):
    return subprocess.Popen([folder / "job.sh", job], env={**environment(hone), **more}, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, cwd=folder, umask=umask)


def finish(children):
    ends = [(child.communicate(timeout=600)[0].decode(), child.returncode) for child in children]
    assert all(code == 0 for _, code in ends), ends


def counts(path):
    with sqlite3.connect(path) as file:
        return [file.execute(f"select count(*) from {table}").fetchone()[0] for table in ("study", "cell", "block")]


def test_a_job_array(hone, fleet, tmp_path):
    jobs = sorted(p.name for p in (fleet / "jobs").iterdir())
    assert jobs == ["000001", "000002", "000003", "000004"]
    script = (fleet / "fleet.sbatch").read_text()
    assert "--array=1-4" in script and "onnx" not in script and "id`" not in script
    words = (fleet / "jobs/000002").read_text().splitlines()
    assert words[0] == "bench" and words[1].endswith("rf x.onnx") and words[words.index("--threads") + 1] == "2"
    store = ["--store", tmp_path / "all.db"]
    result = hone("fleet", "merge", fleet, *store)
    assert result.code == 1 and "0 of 4 jobs" in result.errors, result
    # Slurm hands a job out twice, at once and again
    finish([run(hone, fleet, job) for job in jobs[:3] + jobs[:3]])
    finish([run(hone, fleet, jobs[0])])
    assert sorted(p.name for p in (fleet / "spool").iterdir()) == [f"{job}.db" for job in jobs[:3]]
    assert not list(pathlib.Path(hone.env["TMPDIR"]).iterdir())
    (fleet / "spool/000004.db").write_bytes((fleet / "spool/000003.db").read_bytes()[:9000])  # half a file
    result = hone("fleet", "merge", fleet, *store)
    assert result.code == 1 and "3 of 4 jobs" in result.errors and "skipped: " in result.errors, result
    first = counts(tmp_path / "all.db")
    assert first[:2] == [3, 3] and first[2] == 6
    (fleet / "spool/000004.db").unlink()
    finish([run(hone, fleet, jobs[3])])
    for _ in range(2):
        sound(hone("fleet", "merge", fleet, *store))
        assert counts(tmp_path / "all.db") == [4, 4, 8]


def test_a_bad_spool_file_keeps_no_other_out(hone, fleet, tmp_path):
    """Damaged, of another machine, empty, not a file: each is reported and skipped, and the files after it are merged."""
    finish([run(hone, fleet, "000004")])
    merge = ["fleet", "merge", fleet, "--store", tmp_path / "all.db"]
    assert "1 of 4 jobs" in hone(*merge).errors
    whole = (fleet / "spool/000004.db").read_bytes()
    (fleet / "spool/000001.db").write_bytes(whole)
    with sqlite3.connect(fleet / "spool/000001.db") as file:
        file.execute("update study set fingerprint = ?", ("f" * 32,))
    page = bytearray(whole)
    page[4096 * 3:4096 * 3 + 64] = bytes(range(64))
    (fleet / "spool/000002.db").write_bytes(bytes(page))
    (fleet / "spool/000003.db").touch()
    for bad in ("an empty file", "a pipe"):
        result = hone(*merge)
        assert result.code == 1 and "1 of 4 jobs" in result.errors, (bad, result)
        assert result.errors.count("skipped: ") == 3, (bad, result)
        (fleet / "spool/000003.db").unlink(missing_ok=True)
        os.mkfifo(fleet / "spool/000003.db")
    assert not list(pathlib.Path(hone.env["TMPDIR"]).iterdir())


STATFS = """
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
int statfs(const char *path, struct statfs *out) {
  long code = syscall(SYS_statfs, path, out);
  if (!code && strstr(path, "/spool")) out->f_type = 0x6969;
  return (int)code;
}
"""


def test_the_folder_may_lie_on_a_network_file_system(hone, fleet, tmp_path):
    """If no store can be opened, measurements from other machines are still merged."""
    finish([run(hone, fleet, "000001")])
    (tmp_path / "nfs.c").write_text(STATFS)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "nfs.so", tmp_path / "nfs.c"], check=True, timeout=600)
    env = {"LD_PRELOAD": str(tmp_path / "nfs.so")}
    refused(hone("studies", "--store", fleet / "spool/000001.db", env=env), "E_UNSUP", "network file system")
    result = hone("fleet", "merge", fleet, "--store", tmp_path / "all.db", env=env)
    assert "1 of 4 jobs" in result.errors and counts(tmp_path / "all.db")[0] == 1, result


def test_what_a_job_measured_is_as_readable_as_its_umask_says(hone, fleet):
    """Another user may merge: mktemp's mode, the owner's alone, is not the spool file's."""
    for job, umask, mode in (("000001", 0o022, 0o644), ("000002", 0o027, 0o640), ("000003", 0o077, 0o600)):
        finish([run(hone, fleet, job, umask=umask)])
        assert stat.S_IMODE((fleet / f"spool/{job}.db").stat().st_mode) == mode, job


def test_a_job_that_dies_leaves_nothing_half(hone, fleet):
    child = run(hone, fleet, "000001", HONE="/bin/false")
    child.communicate(timeout=600)
    assert not list((fleet / "spool").iterdir())
    broken = fleet / "broken"
    broken.write_text("#!/bin/sh\nkill -9 $$\n")
    broken.chmod(0o755)
    child = run(hone, fleet, "000001", HONE=str(broken))
    child.communicate(timeout=600)
    assert child.returncode != 0 and not list((fleet / "spool").iterdir())
    for bad in ("", "../../etc/passwd", "1;id"):
        child = run(hone, fleet, bad)
        child.communicate(timeout=600)
        assert child.returncode == 2
    finish([run(hone, fleet, "000001")])


def test_ssh_deals_jobs_out(hone, tmp_path):
    model = tmp_path / "m.onnx"
    model.write_bytes(hostile.identity().SerializeToString())
    folder = tmp_path / "fleet"
    sound(hone("fleet", "ssh", model, "--backend", "null", "--threads", "1,2,3", "-o", folder, *SHORT, env=TESTING))
    # a fake ssh: it runs the command locally and records the host's name
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\nshift\nhost=$1\nshift\necho $host >>{tmp_path}/hosts\n[ $host != broken ] || exit 255\nexec sh -c \"$*\"\n")
    ssh.chmod(0o755)
    env = {**environment(hone), "HONE_SSH": str(ssh)}
    subprocess.run([folder / "ssh.sh", "broken"], env=env, check=True, timeout=600, stderr=subprocess.PIPE)
    assert not list((folder / "spool").iterdir())
    subprocess.run([folder / "ssh.sh", "one", "broken", "two"], env=env, check=False, timeout=600, stderr=subprocess.PIPE)
    subprocess.run([folder / "ssh.sh", "one", "two"], env=env, check=True, timeout=600)
    assert len(list((folder / "spool").iterdir())) == 3
    sound(hone("fleet", "merge", folder, "--store", tmp_path / "s.db"))
    assert counts(tmp_path / "s.db")[0] == 3
    for host in ("-oProxyCommand=id", "a;id", "$(id)"):
        assert subprocess.run([folder / "ssh.sh", host], env=env, check=False, timeout=600,
                              stderr=subprocess.PIPE).returncode == 2


def test_together_keeps_verdicts(hone, tmp_path):
    sound(hone("fleet", "slurm", "zoo:mlp", "zoo:conv", "--backend", "native,onnxruntime", "--together", "-o",
               tmp_path / "f", *SHORT))
    jobs = sorted((tmp_path / "f/jobs").iterdir())
    assert len(jobs) == 2 and "native,onnxruntime" in jobs[0].read_text()


def test_usage(hone, tmp_path):
    refused(hone("fleet"), "E_USAGE", "merge DIR")
    refused(hone("fleet", "cloud", "zoo:mlp"), "E_USAGE")
    refused(hone("fleet", "slurm", "-o", tmp_path / "f", "--backend", "native"), "E_USAGE", "no model")
    refused(hone("fleet", "slurm", "zoo:mlp", "-o", tmp_path / "f"), "E_USAGE", "--backend")
    refused(hone("fleet", "slurm", "zoo:mlp", "--backend", "native"), "E_USAGE", "-o DIR")
    refused(hone("fleet", "slurm", "nothing.onnx", "--backend", "native", "-o", tmp_path / "g"), "E_NOFILE")
    refused(hone("fleet", "slurm", "zoo:nothing", "--backend", "native", "-o", tmp_path / "g"), "E_NOFILE", "no such model")
    refused(hone("fleet", "slurm", "zoo:mlp,width=3", "--backend", "native", "-o", tmp_path / "g"), "E_USAGE", "width")
    for words, error, part in ((["--backend", "nativ"], "E_USAGE", "native"), (["--backend", "native:fast"], "E_USAGE", "variant"),
                               (["--threads", "two"], "E_USAGE", "--threads"), (["--batch", "0"], "E_USAGE", "--batch"),
                               (["--", "--min-tme", "2"], "E_USAGE", "--min-time"), (["--", "--rounds"], "E_USAGE", "--rounds")):
        words = words if "--backend" in words else ["--backend", "native", *words]
        refused(hone("fleet", "slurm", "zoo:mlp", "-o", tmp_path / "g", *words), error, part)
    sound(hone("fleet", "slurm", "zoo:mlp", "--backend", "native", "-o", tmp_path / "g"))  # the failed calls made no fleet folder
    refused(hone("fleet", "slurm", "zoo:mlp", "--backend", "native", "-o", tmp_path / "h", "--", "--name", "a\nb"), "E_USAGE",
            "line break")
    refused(hone("fleet", "merge", tmp_path / "none", "--store", tmp_path / "s.db"), "E_NOFILE", "not the folder of a fleet")
    sound(hone("fleet", "slurm", "zoo:mlp", "--backend", "native", "-o", tmp_path / "i"))
    refused(hone("fleet", "slurm", "zoo:mlp", "--backend", "native", "-o", tmp_path / "i"), "E_PATH", "a fleet already")
    (tmp_path / "own").mkdir()
    (tmp_path / "own/job.sh").write_text("my own")
    refused(hone("fleet", "ssh", "zoo:mlp", "--backend", "native", "-o", tmp_path / "own"), "E_PATH", "job.sh")
    assert (tmp_path / "own/job.sh").read_text() == "my own"


@pytest.mark.skipif(not postgres.BIN, reason="no PostgreSQL server here (apt-get install postgresql)")
def test_several_merge_into_a_server(hone, fleet):
    """Eight at once over one spool folder, two of them killed: every row once."""
    finish([run(hone, fleet, f"{n:06}") for n in range(1, 5)])
    server = postgres.Server()
    try:
        children = [hone.start("fleet", "merge", fleet, "--store", server.url) for _ in range(8)]
        for child in children[:2]:
            child.kill()
        said = [child.communicate(timeout=600)[1] for child in children]
        assert [child.returncode for child in children[2:]] == [0] * 6, said
        sound(hone("fleet", "merge", fleet, "--store", server.url))
        got = [int(server.sql(f"select count(*) from {table}")) for table in ("study", "cell", "block")]
        assert got == [4, 4, 8]
    finally:
        server.close()


@pytest.mark.parametrize("where", [[], ["--postgres"]])
def test_the_measurement_of_a_fleet_takes_in_what_it_says(where):
    """make bench-fleet at a small size: every page of what was taken in is there to be timed."""
    if where and not postgres.BIN:
        pytest.skip("no PostgreSQL server here (apt-get install postgresql)")
    done = subprocess.run([sys.executable, ROOT / "bench/fleet.py", "--hone", HONE, "--nodes", "60", "--blocks", "1200", *where],
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done
    report = json.loads(done.stdout)
    assert (report["nodes"], report["blocks"], report["store"]) == (60, 1200, "postgresql" if where else "sqlite"), report
    assert report["ingest_s"] > 0 and len(report["pages_s"]) == 5 and min(report["pages_s"].values()) > 0, report

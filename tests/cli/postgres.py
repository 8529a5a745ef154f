"""A private PostgreSQL server from Debian's package, in its own folder, on a Unix socket."""

import glob
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

BIN = next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)), None)


def user():
    """The server refuses to run as root; under root it runs as another system user."""
    if os.getuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return None


class Server:
    def __init__(self, folder="/dev/shm" if os.path.isdir("/dev/shm") else None, fsync=False):
        self.fsync = "on" if fsync else "off"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hone-pg-", dir=folder))
        if user():
            shutil.chown(self.folder, user())
        self.data = self.folder / "data"
        self.run("initdb", "-D", self.data, "-U", "hone", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C")
        self.start()
        self.url = f"postgresql://hone@/postgres?host={self.folder}"

    def run(self, program, *words):
        done = subprocess.run([f"{BIN}/{program}", *map(str, words)], user=user(), cwd=self.folder, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                              env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
        assert done.returncode == 0, done.stdout.decode()
        return done.stdout.decode()

    def start(self):
        log = self.folder / "log"
        self.run("pg_ctl", "-D", self.data, "-l", log, "-w", "-t", "100", "-o",
                 f"-k {self.folder} -c listen_addresses='' -c fsync={self.fsync}", "start")

    def stop(self, how="fast"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", how, "stop")

    def sql(self, text, database="postgres"):
        done = subprocess.run([f"{BIN}/psql", "-XAtq", "-h", self.folder, "-U", "hone", "-d", database, "-c", text],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def database(self, name):
        self.sql(f"CREATE DATABASE {name}")
        return f"postgresql://hone@/{name}?host={self.folder}"

    def close(self):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

"""What a step of tests/run.py reads, as one hash: a step that passed is not run again while its hash stays the same.

The hash covers the programs that the step runs, the files of the repository that it can read, the test environment, the
compilers and the engines. All steps can read the files below tests/ that are not tests. A folder of sources, or a
file in the root, counts for a step if the source of its test names it.
"""
import functools
import hashlib
import os
import pathlib
import re
import shutil

# Rooms that turn a graph into C source; and those of them that decide what it computes and how.
COMPILER_ROOMS = re.compile(r"^src/compiler/(?:passes|plan|source|kernels)/")
OPTIMISER_ROOMS = re.compile(r"^src/compiler/(?:passes|plan|kernels)/")
# Steps that need a compiled model but do not test how it was compiled. A change in the rooms of a row alone does not repeat
# its steps; the other steps and `make test-full` test these rooms.
NOT_ABOUT = {
    # measuring, judging, reporting, the command line, inputs, importers, exports, the C compiler, what the pages show
    COMPILER_ROOMS: {f"cli {name}" for name in (
        "bench", "broken_engines", "broken_rules", "bundle", "circles", "cli", "compare", "compilers", "crosscheck",
        "device_workers", "devices", "engines", "fair", "fleet", "gate", "generate", "help", "hints", "hostile_models", "hybrid",
        "inputs", "inspect", "install", "keep", "labels", "language_models", "limits", "load", "memory", "memory_over_time", "old_opsets",
        "open_dimensions", "page", "postgres", "predict", "pt2", "pt2_operators", "python_workers", "quantise", "recommend",
        "recorded_runs", "regret", "scenarios", "serve", "setup", "sinks", "stablehlo", "steps", "studies", "suites", "terminal",
        "text", "tflite", "tflite_export", "zoo_dir")} | {f"test_{name}" for name in (
            "api", "bench", "faults", "hybrid_bundle", "loop", "report", "serve", "toolchain")} | {"documents", "python package"},
    # the files of an artifact, its header and its build, what is measured of its steps
    OPTIMISER_ROOMS: {f"cli {name}" for name in ("damaged_artifacts", "kept_build", "one_file", "outputs", "profile", "tune", "typed_header")},
}
SOURCES = ("src", "docs", "bench", "tools", "examples", "python", "zoo", "workers", "include", "make")
TOOLS = ("cc", "gcc", "clang", "chromium", "git", "node", "qemu-aarch64", "qemu-system-arm", "aarch64-linux-gnu-gcc",
         "arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "fish", "zsh", "taskset", "perf")


@functools.cache
def digest(path):
    """Hash of a file's content; a fixed value for a file that does not exist."""
    try:
        return hashlib.blake2b(pathlib.Path(path).read_bytes(), digest_size=16).digest()
    except OSError:
        return b"none"


def files_below(folder):
    return sorted(path for path in pathlib.Path(folder).rglob("*")
                  if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc")


@functools.cache
def folder_digest(folder):
    whole = hashlib.blake2b(digest_size=16)
    for path in files_below(folder):
        whole.update(str(path).encode() + digest(path))
    return whole.digest()


@functools.cache
def test_data():
    """Everything below tests/ that is not a test program: cases, models, tools."""
    whole = hashlib.blake2b(digest_size=16)
    for path in files_below("tests"):
        is_test = path.parts[1] in ("cli", "unit", "python") and path.suffix in (".py", ".c")
        if not is_test and path.parts[1] not in ("run.py", "step_inputs.py", "check.py"):
            whole.update(str(path).encode() + digest(path))
    return whole.digest()


@functools.cache
def machine(python):
    """Processor, compilers, other tools, Python packages, engines and the collection of models."""
    facts = [re.sub(r"(?m)^(cpu MHz|bogomips|core id|apicid|initial apicid|processor|physical id)\b.*\n", "",
                    pathlib.Path("/proc/cpuinfo").read_text())]
    for name in TOOLS:
        found = os.path.realpath(shutil.which(name) or "none")
        facts.append(f"{name} {found} {os.stat(found).st_mtime_ns if os.path.exists(found) else 0}")
    home = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share")
    packages = [*pathlib.Path(python).parent.parent.glob("lib/python3*/site-packages/*.dist-info"),
                *home.glob("hone/engines/*/lib/python3*/site-packages/*.dist-info"), *home.glob("hone/engines/*")]
    facts += sorted(str(path) for path in packages)
    shared = pathlib.Path(os.environ.get("HONE_SHARED", "../shared")) / "models/manifest.json"
    facts.append(str(shared.stat().st_mtime_ns) if shared.exists() else "no collection")
    facts += sorted(f"{name}={value}" for name, value in os.environ.items() if name.startswith("HONE_"))
    return hashlib.blake2b("\n".join(facts).encode(), digest_size=16).digest()


@functools.cache
def command_without(build, rooms):
    """Objects and sources of hone outside these rooms, and the names of the sources in them. Objects also depend on headers;
    some sources are embedded."""
    whole = hashlib.blake2b(digest_size=16)
    objects = pathlib.Path(build) / "obj"
    for path in files_below(objects):
        name = str(path.relative_to(objects))
        if path.suffix == ".o" and name.startswith(("src/", "zoo/")) and not rooms.match(name):
            whole.update(name.encode() + digest(path))
    for path in files_below("src"):
        whole.update(str(path).encode() + (b"" if rooms.match(str(path)) else digest(path)))
    whole.update(folder_digest("workers"))
    return whole.digest()


def rooms_not_tested(name):
    """The rooms of the row of NOT_ABOUT that has this step; None: no row has it."""
    return next((rooms for rooms, names in NOT_ABOUT.items() if name in names), None)


def unit_test(build, name):
    """A unit test of a row of NOT_ABOUT."""
    return digest(f"{build}/obj/tests/unit/{name}.o") + command_without(build, rooms_not_tested(name))


def named(source, folders):
    """Hashes of those of the folders, and of the files of the repository's root, that a test's source names."""
    reads_all = "ls-files" in source or "listdir(ROOT)" in source
    for name in folders:
        if reads_all or re.search(rf"[\"'/ ]{name}[\"'/]", source):
            yield folder_digest(name)
    for path in sorted(pathlib.Path(".").iterdir()):
        if path.is_file() and (reads_all or path.name in source):
            yield digest(path)


def key(name, command, build, python, is_full):
    """The hash of all that decides how a step ends; None if that is not known."""
    parts = [name.encode(), repr(command).encode(), repr(is_full).encode(), machine(python), test_data()]
    program = command[0]
    other_rooms = rooms_not_tested(name)
    if program != python and program.startswith(f"{build}/"):
        parts.append(unit_test(build, name) if other_rooms else digest(program))
        return hashlib.blake2b(b"".join(parts), digest_size=16).hexdigest()
    if name == "report page":  # a page that this test writes, in a browser
        return hashlib.blake2b(b"".join([*parts, unit_test(build, "test_report")]), digest_size=16).hexdigest()
    tests = [word for word in command if word.startswith("tests/")]
    if not tests or program not in (python, "python3"):
        return None  # checks, make and shell scripts: short, or about the whole build
    source = ""
    for test in tests:
        parts.append(folder_digest(test) if os.path.isdir(test) else digest(test))
        read = files_below(test) if os.path.isdir(test) else [pathlib.Path(test)]
        if not test.startswith("tests/conformance"):
            read += [path for path in files_below("tests/cli") if not path.name.startswith("test_")]
        for path in read:
            parts.append(digest(path))
            source += path.read_text() if path.suffix == ".py" else ""
    if other_rooms:
        parts += [*named(source, SOURCES[1:]), command_without(build, other_rooms)]
    else:
        parts += named(source, SOURCES)
        given = [word for word in command if word in (f"{build}/native", f"{build}/reference")]
        programs = given or [f"{build}/{name}" for name in ("hone", "libhone.so", "native", "reference", "random-graphs")]
        parts += [digest(program) for program in programs]
    return hashlib.blake2b(b"".join(parts), digest_size=16).hexdigest()

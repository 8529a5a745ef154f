"""Two builds of hone on the same models: which one's code is slower. Pairs of turns, one right after the other.

    regress.py --old HONE --new HONE [--threads 1,2] [--pairs 30] [--compile "--precision bf16"] MODEL...

Each build compiles each model to a program that needs nothing else, with the thread team of that build. A pair is a turn
of each, in random order; a turn is the fastest of the runs that fit in --turn seconds. Prints the median of the pairs'
ratios new / old with a 95 % interval (order statistics: Conover 1999, 3.2), and exits with 1 where an interval lies above
1 + --tolerance.
"""
import argparse
import array
import math
import random
import re
import subprocess
import sys
import tempfile


BYTES = {"f32": 4, "f64": 8, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4, "u16": 2, "u8": 1, "bool": 1,
         "f16": 2, "bf16": 2}


def make_inputs(program, folder):
    """Raw files, as the program's own usage describes its inputs: normal floats, zeros of other types."""
    usage = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    paths = []
    for number, dtype, dims in re.findall(r'input (\d+): ".*" (\w+)\[([\d,]*)\]', usage.stdout + usage.stderr):
        count = math.prod(int(d) for d in dims.split(",") if d)
        paths.append(f"{folder}/in_{number}.bin")
        with open(paths[-1], "wb") as file:
            if dtype in ("f32", "f64"):
                array.array("f" if dtype == "f32" else "d", (random.gauss(0, 1) for _ in range(count))).tofile(file)
            else:
                file.write(bytes(count * BYTES[dtype]))
    return paths


def turn(program, threads, runs):
    done = subprocess.run([*program, "--threads", str(threads), "--repeat", str(runs)], capture_output=True, text=True,
                          check=False)
    found = re.search(r"fastest ([0-9.]+) ms", done.stdout)
    if not found:
        sys.exit(f"{program[0]}: exit code {done.returncode}: {(done.stderr or done.stdout)[-300:]}")
    return float(found.group(1))


def compare(programs, threads, options):
    runs = max(3, int(1e3 * options.turn / max(1e-3, turn(programs[1], threads, 3))))
    ratios, best = [], [math.inf, math.inf]
    for _ in range(options.pairs):
        order = [0, 1]
        random.shuffle(order)
        took = {which: turn(programs[which], threads, runs) for which in order}
        ratios.append(took[1] / took[0])
        best = [min(best[which], took[which]) for which in (0, 1)]
    ratios.sort()
    margin, middle = int(0.98 * math.sqrt(len(ratios)) + 1), len(ratios) // 2
    return *best, ratios[middle], ratios[max(0, middle - margin)], ratios[min(len(ratios) - 1, middle + margin)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", required=True)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--turn", type=float, default=0.05, help="seconds of runs in a turn")
    parser.add_argument("--tolerance", type=float, default=0.0)
    parser.add_argument("--compile", default="", help="more flags for hone compile")
    parser.add_argument("models", nargs="+")
    options = parser.parse_args()
    slower = 0
    print(f"{'model':40} {'threads':>7} {'old ms':>9} {'new ms':>9}  new/old  95 % interval")
    for model in options.models:
        for threads in map(int, options.threads.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                programs = [f"{folder}/old", f"{folder}/new"]
                for hone, program in zip((options.old, options.new), programs):
                    subprocess.run([hone, "compile", model, "-o", program, "-q", "--threads", str(threads),
                                    *options.compile.split()], check=True)
                commands = [[program, *make_inputs(program, folder), "-o", folder] for program in programs]
                old_ms, new_ms, ratio, low, high = compare(commands, threads, options)
            slower += low > 1 + options.tolerance
            print(f"{model[-40:]:40} {threads:7} {old_ms:9.4f} {new_ms:9.4f} {ratio:8.3f}  {low:.3f} to {high:.3f}"
                  f"{'  slower' if low > 1 + options.tolerance else ''}", flush=True)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())

"""What ./dev bench runs: makes a big dump once, then measures on it.

usage: bench.py [--data FOLDER] [--cells X,Y,Z] [--rounds N] [stages] [threads]

stages   seconds that open, read, assemble, show and render take in pvbatch, by number of patches
threads  read time of NT = 2, 4, ... over that of NT = 1, in interleaved rounds: median, least, most
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
programs = os.environ["PATCHIO_PROGRAMS"]
pvbatch = os.path.join(here, "..", "ParaView", "pvbatch.sh")


def make_dump(folder, cells):
    """One level of 16^3 patches; made once for each size."""
    dump = os.path.join(folder, "linadv_" + cells.replace(",", "x"))
    summary = os.path.join(dump, "visit_dump.00000", "summary.samrai")
    if not os.path.exists(os.path.join(dump, "dumps.visit")):
        subprocess.run([programs + "/patchio", "linadv", "--cells", cells, "--patch", "16", "--uniform", "--steps", "0",
                        "--output", dump, "--overwrite"], check=True)
    return summary


def patches_in(cells):
    x, y, z = (int(n) for n in cells.split(","))
    return (x // 16) * (y // 16) * (z // 16)


def stages(folder, cells, rounds):
    """Half the domain and all of it: work that is linear in the patches shows a ratio of 2."""
    x, y, z = (int(n) for n in cells.split(","))
    for size in ("%d,%d,%d" % (x // 2, y, z), cells):
        summary = make_dump(folder, size)
        for ranks in (1, 2):
            print("%d patches of 16^3 cells, %d ranks x 8 threads" % (patches_in(size), ranks), flush=True)
            environment = dict(os.environ, PATCHIO_PVBATCH_MODE="root", PATCHIO_TIMEOUT="900")
            run = subprocess.run([pvbatch, str(ranks), os.path.join(here, "many_patches.py"), summary, "8"],
                                 env=environment, stdout=subprocess.PIPE, text=True, check=True)
            last = [line for line in run.stdout.splitlines() if line.startswith("JSON ")][0]
            for name, seconds in json.loads(last[5:]).items():
                print("  %-18s %8.3f s" % (name, seconds))


def read_seconds(summary, threads):
    run = subprocess.run([programs + "/patchio_read_patch_data", summary, str(threads), "-"],
                         stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout)["seconds"]["read"]


def threads(folder, cells, rounds):
    summary = make_dump(folder, cells)
    counts = [1, 2, 4, 8, 16]
    ratios = {count: [] for count in counts}
    read_seconds(summary, 1)  # the page cache is warm from here on
    for _ in range(rounds):
        seconds = {count: read_seconds(summary, count) for count in counts}
        for count in counts:
            ratios[count].append(seconds[1] / seconds[count])
    print("read rate over that of NT = 1, %d patches, 1 rank, warm page cache, %d rounds" % (patches_in(cells), rounds))
    for count in counts[1:]:
        r = ratios[count]
        print("  NT = %2d  median %.2f  least %.2f  most %.2f" % (count, statistics.median(r), min(r), max(r)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.path.join(tempfile.gettempdir(), "patchio_bench"))
    parser.add_argument("--cells", default="480,432,400", help="cells of the domain; 20,250 patches by default")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("what", nargs="*", choices=["stages", "threads", []], default=[])
    arguments = parser.parse_args()
    os.makedirs(arguments.data, exist_ok=True)
    for name, measure in (("threads", threads), ("stages", stages)):
        if not arguments.what or name in arguments.what:
            measure(arguments.data, arguments.cells, arguments.rounds)


if __name__ == "__main__":
    sys.exit(main())

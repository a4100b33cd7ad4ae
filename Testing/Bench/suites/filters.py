"""VTK's filters with threads over without, as the property FilterThreading gives them: on one large block, where it does, and
on blocks of 64^3 and 32^3 cells, between which it begins to."""
import json
import os
import subprocess

from measuring import here, make_dump, ratios

# Edge of a patch, and what becomes of the patches.
CASES = ((32, "merged"), (64, "patches"), (32, "patches"))
CELLS = 128  # per axis of the domain
GOAL = "Gradient of cells"


def run(report, folder, rounds):
    """./dev bench filters"""
    rounds = min(rounds, 3)  # beyond it takes an hour
    for size, blocks in CASES:
        summary = make_dump(folder, "filters_%d" % size, patches=(CELLS // size) ** 3, size=size)
        done = subprocess.run([os.path.join(here, "..", "ParaView", "pvbatch.sh"), "1", os.path.join(here, "filter_threads.py"),
                               summary, "v0", blocks, str(rounds)],
                              env=dict(os.environ, PATCHIO_PVBATCH_MODE="root", PATCHIO_TIMEOUT="900"),
                              stdout=subprocess.PIPE, text=True, check=True)
        found = json.loads([line for line in done.stdout.splitlines() if line.startswith("JSON ")][-1][5:])["filters"]
        label = "one block of %d^3" % CELLS if blocks == "merged" else "%d blocks of %d^3" % ((CELLS // size) ** 3, size)
        for name, seconds in found.items():
            gain = ratios(seconds["off"], seconds["on"])
            measure = "%s, %s: without threads / with %d" % (name, label, os.cpu_count())
            if name == GOAL and blocks == "merged":
                report.goal(measure, 1.6, gain)
            else:
                report.figure(measure, gain)
        report.data[label] = found

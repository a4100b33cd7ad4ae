"""Compares VTK's filters with and without threads: on one large block, for which the property FilterThreading turns threads on,
and on blocks of 64^3 and 32^3 cells, between which its limit lies."""
import os

from measuring import make_dump, pvbatch, ratios

# Edge of a patch, and the value of the property Blocks.
CASES = ((32, "merged"), (64, "patches"), (32, "patches"))
CELLS = 128  # per axis of the domain
GOAL = "Gradient of cells"


def run(report, folder, rounds):
    """./dev bench filters"""
    rounds = min(rounds, 3)  # more rounds take an hour
    for size, blocks in CASES[:1] if report.quick else CASES:
        summary = make_dump(folder, "filters_%d" % size, patches=(CELLS // size) ** 3, size=size)
        found = pvbatch("filter_threads.py", summary, "v0", blocks, rounds, timeout=900,
                        environment={"PATCHIO_FILTERS": GOAL} if report.quick else {})["filters"]
        label = "one block of %d^3" % CELLS if blocks == "merged" else "%d blocks of %d^3" % ((CELLS // size) ** 3, size)
        for name, seconds in found.items():
            gain = ratios(seconds["off"], seconds["on"])
            measure = "%s, %s: without threads / with %d" % (name, label, os.cpu_count())
            if name == GOAL and blocks == "merged":
                report.goal(measure, 1.6, gain)
            else:
                report.figure(measure, gain)
        report.data[label] = found

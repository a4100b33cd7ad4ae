"""Measures the bytes that changes of the reader read again: turning on one array of eight, turning off others, levels, blanking,
earlier time steps; and the memory used in addition to the displayed arrays. Prefetch is off."""
import os

from measuring import Spread, column, find_sphere, folder_of, interleave, make_dump, pvbatch, ratios, read_dump, remember

ARRAYS, PATCHES, SIZE = 8, 2000, 16


def nothing_read(report, measure, runs, *names):
    """Checks in all rounds that values in memory are not read again."""
    report.at_most(measure + ": bytes read", 0, Spread(run[name] for run in runs for name in names), every=True)


def check_bytes(runs):
    """Compares the bytes in the reports of the first reads with the sizes of VTK's arrays."""
    for run in runs:
        read, shown = run["bytes of the others, read and shown"]
        if read != shown or run["bytes, first image"] != shown + run["bytes of the array"]:
            raise RuntimeError("the sizes of the read arrays differ from the displayed arrays: %s" % run)
        if run["bytes, array on"] < run["bytes of the array"]:
            raise RuntimeError("the array that was turned on was not read: %s" % run)


def arrays(report, runs):
    check_bytes(runs)
    report.at_most("turning on one array of %d: bytes read / bytes of that array" % ARRAYS, 1,
                   ratios(column(runs, "bytes, array on"), column(runs, "bytes of the array")), every=True)
    nothing_read(report, "turning the array off, and on again", runs, "bytes, array off", "bytes, array on again")
    memory(report, "%d patches of %d^3, %d arrays" % (PATCHES, SIZE, ARRAYS), runs)


def memory(report, label, runs):
    report.at_most("%s: memory used / memory of the arrays shown, first image" % label, 1.1, Spread(column(runs, "held / shown")))


def levels(report, runs):
    memory(report, "sphere in ragged blocks, one array", runs)
    nothing_read(report, "sphere: only the coarsest level, and all levels again", runs, "bytes, coarsest level alone",
                 "bytes, all levels again")
    nothing_read(report, "sphere: turning blanking on again, and off again", runs, "bytes, blanking on again",
                 "bytes, blanking off again")


def steps(report, runs):
    if not all(column(runs, "bytes, first")):
        raise RuntimeError("the first read of a step read nothing")
    nothing_read(report, "sphere: back to earlier time steps", runs, "bytes, back", "bytes, again")
    report.figure("sphere: time to go back to a step / time of its first read, page cache",
                  ratios(column(runs, "seconds, again"), column(runs, "seconds, first")))


def run(report, folder, rounds):
    """./dev bench cache"""
    eight = make_dump(folder, "cache_%d" % ARRAYS, patches=PATCHES, size=SIZE, variables=ARRAYS)
    read_dump(eight, sidecar=True, steps=0)
    ways = {"arrays": lambda: pvbatch("cached_reads.py", "changes", eight)}
    sphere = find_sphere(report, folder, "levels, blanking and time steps")
    if sphere:
        series = os.path.join(folder_of(sphere), "dumps.visit")
        remember(folder_of(sphere))
        ways["levels"] = lambda: pvbatch("cached_reads.py", "changes", sphere)
        ways["steps"] = lambda: pvbatch("cached_reads.py", "steps", series)
    remember(os.path.dirname(eight))
    found = interleave(ways, rounds)
    for name, add in {"arrays": arrays, "levels": levels, "steps": steps}.items():
        if name in found:
            add(report, found[name])
    report.data["cache"] = found

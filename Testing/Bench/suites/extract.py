"""Compares the filters that PatchIO replaces, and surfaces, with ParaView's own, each with its image: on many patches, on the refined
sphere and AMReX plotfiles, and on one block without hidden cells; measures them alone, with one thread and with all, and a plain
loop. Compares slices made while reading with slices made after reading."""
import os

import emulator
import plotfiles
from measuring import Spread, column, find_sphere, folder_of, make_dump, programs, pvbatch, ratios, ratios_of, remember, run as run_program, run_json, say
from suites.two_level import STORAGE

SLICES = ("slice", "oblique slice")
CONTOUR, SURFACE = "contour", "surface"
SOLIDS = ("clip", "threshold")    # without goals, because VTK makes their surfaces
# Goals for ParaView's time / PatchIO's: on the sphere, on other merged blocks, on one block.
SPHERE, MANY, ONE = 10, 5, 0.9
SPHERE_CONTOUR = 8
# The same for ParaView's AMReX reader and filters on a plotfile.
AMREX = {"slice": 8, "oblique slice": 8, CONTOUR: 10, SURFACE: 3}
THREADS, PLAIN = 1.7, 0.3
AT_ONCE = 1.3    # read, then slice / slice while reading
RANKS = 4
DIRECTIONS = ("along x", "along y", "along z", "oblique")
PARTS = 8    # of a data set; the memory limit is the size of one part


def data_sets(report, folder):
    """Returns a list of (label, path, array, goal). `report` lists missing data."""
    found = [("10,000 patches of 16^3", make_dump(folder, "frame_10000", patches=10000, size=16), "v0", MANY),
             ("one block of 128^3", make_dump(folder, "filters_32", patches=64, size=32), "v0", ONE)]
    sphere = find_sphere(report, folder)
    if sphere:
        found.insert(0, ("sphere", sphere, "U", SPHERE))
    for name, path in plotfiles.find(report, folder).items():
        found.append((name, os.path.join(path, "Header"), "phi", MANY))
    return found


def with_pictures(report, label, path, array, goal, rounds):
    """Measures filters and their images, for merged blocks."""
    remember(os.path.dirname(path))
    say("%s, %d rounds" % (label, rounds))
    found = pvbatch("extract_frame.py", path, array, "merged", rounds, *SLICES, SURFACE, CONTOUR, *SOLIDS, timeout=6000)
    for name, ways in found.items():
        both = {way: column(runs, "filter", "picture") for way, runs in ways.items()}
        least = SPHERE_CONTOUR if (name, goal) == (CONTOUR, SPHERE) else goal
        what, found_ratios = "%s: %s and its image, ParaView's / PatchIO's" % (label, name), ratios(both["ParaView"], both["PatchIO"])
        report.figure(what, found_ratios) if name in SOLIDS else report.goal(what, least, found_ratios)
        if "AMReX reader" in both and name in AMREX:
            report.goal("%s: %s and its image, ParaView's on data of its AMReX reader / PatchIO's" % (label, name), AMREX[name],
                        ratios(both["AMReX reader"], both["PatchIO"]))
        more = (("next image after a change", "again"), ("alone", "filter"))
        for what, key in more if name != SURFACE else (("image from the other side", "again"),):
            report.figure("%s: %s, %s, ParaView's / PatchIO's" % (label, name, what), ratios_of(ways["ParaView"], ways["PatchIO"], key))
    report.data[label] = found


def alone(report, rounds):
    """Measures without ParaView: threads, and a plain loop over the same rows that writes the same number of bytes."""
    found = run_json([programs() + "/patchio_bench_filters", "--rounds", str(4 * rounds)])
    for name in (*SLICES, CONTOUR):
        seconds = found[name]
        label = "%d patches of 16^3: %s" % (found["blocks"], name)
        report.goal("%s, rate of %d threads / 1" % (label, found["threads"]), THREADS, ratios(seconds["one thread"], seconds["all threads"]))
        if name in SLICES:
            report.goal("%s, rate of 1 thread / rate of a plain loop that writes the same number of bytes" % label, PLAIN,
                        ratios(seconds["plain loop"], seconds["one thread"]))
    report.data["alone"] = found


def while_reading(report, folder, rounds):
    """Measures slices made while reading on the emulator, and with little memory on one rank."""
    summary = make_dump(folder, "limits_large", patches=1274, size=74)
    data = folder_of(summary)
    beside_data = {"PATCHIO_METADATA_DIR": ""}    # index files in the folder of the data
    run_program([programs() + "/patchio", "index", os.path.join(data, "dumps.visit")], environment=beside_data)
    if not emulator.is_missing(report, "slice while reading"):
        with emulator.slow_storage(data, **STORAGE) as storage:
            found = pvbatch("slice_at_once.py", storage.path("dumps.visit"), "v0", STORAGE["concurrency"], 0, rounds, *DIRECTIONS, ranks=RANKS, environment=beside_data)
        for direction, ways in found.items():
            if len({each["cells"] for runs in ways.values() for each in runs}) != 1:
                raise RuntimeError("%s: the numbers of cells differ between the slices" % direction)
            report.goal("emulator, NP = %d, 2 GB in 1274 patches of 74^3, plane %s: read, then slice / slice while reading" % (RANKS, direction),
                        AT_ONCE, ratios_of(ways["after"], ways["at once"], "seconds"))
        report.data["while reading"] = found
    slice_memory(report, "2 GB, one variable on patches of 74^3", summary, "v0", 1274 * 74 ** 3 * 4, min(rounds, 3))
    slice_memory(report, "2.6 GB, 8 variables on patches of 16^3", make_dump(folder, "limits_small", patches=20000, size=16, variables=8), "all",
                 20000 * 16 ** 3 * 8 * 4, min(rounds, 3))


def slice_memory(report, label, summary, array, size, rounds):
    """Measures the memory of a process that reads from the page cache, with a memory limit of a part of the data; each run is a new process."""
    limit = size / PARTS / 1e6
    for direction in DIRECTIONS:
        runs = [pvbatch("slice_at_once.py", folder_of(summary) + "/dumps.visit", array, 16, int(limit), 1, direction)
                for _ in range(rounds)]
        report.at_most("%s, plane %s: maximum memory of the process / a limit of 1/%d of the data" % (label, direction, PARTS), 1,
                       Spread([run[direction]["at once"][0]["memory"] / limit for run in runs]))


def run(report, folder, rounds):
    """./dev bench extract"""
    alone(report, rounds)
    while_reading(report, folder, rounds)
    for label, path, array, goal in data_sets(report, folder):
        with_pictures(report, label, path, array, goal, min(rounds, 3))

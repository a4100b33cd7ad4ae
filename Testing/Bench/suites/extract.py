"""Filters that PatchIO replaces, and surfaces, each with its picture, beside ParaView's own: on many patches, on the refined sphere and AMReX
plotfiles, and on one block of which nothing is hidden; what they cost alone, with one thread and all, beside a plain loop."""
import os

import plotfiles
from measuring import make_dump, programs, pvbatch, ratios, remember, run_json, say
from suites.blocks import find_sphere

SLICES = ("slice", "oblique slice")
CONTOUR, SURFACE = "contour", "surface"
SOLIDS = ("clip", "threshold")    # VTK makes their surfaces, so these have no goal
# ParaView's time / ours, at least: on the sphere, on other merged blocks, on one block.
SPHERE, MANY, ONE = 10, 5, 0.9
SPHERE_CONTOUR = 8
THREADS, PLAIN = 1.7, 0.3


def data_sets(report, folder):
    """(label, path, array, goal)"""
    found = [("10,000 patches of 16^3", make_dump(folder, "frame_10000", patches=10000, size=16), "v0", MANY),
             ("one block of 128^3", make_dump(folder, "filters_32", patches=64, size=32), "v0", ONE)]
    sphere = find_sphere(folder)
    if sphere:
        found.insert(0, ("sphere", sphere, "U", SPHERE))
    else:
        report.skipped("sphere", "there is no large/samrai_linadv_sphere_3d.tar.zst in $PATCHIO_DATA or ../shared/data")
    plotfile = plotfiles.find(folder)
    for name, path in plotfile.items():
        found.append((name, os.path.join(path, "Header"), "phi", MANY))
    if not plotfile:
        report.skipped("AMReX plotfiles", "there is no large/amrex_adv.tar.zst in $PATCHIO_DATA or ../shared/data")
    return found


def with_pictures(report, label, path, array, goal, rounds):
    """The filter and its picture, of merged blocks."""
    remember(os.path.dirname(path))
    say("%s, %d rounds" % (label, rounds))
    found = pvbatch("extract_frame.py", path, array, "merged", rounds, *SLICES, SURFACE, CONTOUR, *SOLIDS, timeout=6000)
    for name, ways in found.items():
        both = {way: [each["filter"] + each["picture"] for each in seconds] for way, seconds in ways.items()}
        least = SPHERE_CONTOUR if (name, goal) == (CONTOUR, SPHERE) else goal
        what, found_ratios = "%s: %s and its picture, ParaView's / PatchIO's" % (label, name), ratios(both["ParaView"], both["PatchIO"])
        report.figure(what, found_ratios) if name in SOLIDS else report.goal(what, least, found_ratios)
        more = (("changed, until the next picture", "again"), ("alone", "filter"))
        for what, key in more if name != SURFACE else (("seen from the other side", "again"),):
            both = {way: [each[key] for each in seconds] for way, seconds in ways.items()}
            report.figure("%s: %s %s, ParaView's / PatchIO's" % (label, name, what), ratios(both["ParaView"], both["PatchIO"]))
    report.data[label] = found


def alone(report, rounds):
    """Without ParaView: threads, and a plain loop over the same rows that writes as many bytes."""
    found = run_json([programs() + "/patchio_bench_extract", "--rounds", str(4 * rounds)])
    for name in SLICES:
        seconds = found[name]
        label = "%d patches of 16^3: %s" % (found["blocks"], name)
        report.goal("%s, rate of %d threads / 1" % (label, found["threads"]), THREADS, ratios(seconds["one thread"], seconds["all threads"]))
        report.goal("%s, rate / that of a plain loop that writes as much" % label, PLAIN, ratios(seconds["plain loop"], seconds["one thread"]))
    report.data["alone"] = found
    found = run_json([programs() + "/patchio_bench_contour", "--rounds", str(4 * rounds)])
    report.goal("%d patches of 16^3: contour, rate of %d threads / 1" % (found["blocks"], found["threads"]), THREADS,
                ratios(found[CONTOUR]["one thread"], found[CONTOUR]["all threads"]))
    report.data["contour alone"] = found


def run(report, folder, rounds):
    """./dev bench extract"""
    alone(report, rounds)
    for label, path, array, goal in data_sets(report, folder):
        with_pictures(report, label, path, array, goal, min(rounds, 3))

"""Measures whole frames, from the file to the image and from the next step to its image: one-level HDF5 and PatchIO, on the
emulated parallel file system and on the cold local disk; and ParaView's AMReX reader and PatchIO.

The one-level reader is a ProgrammableSource in a pipeline of ParaView's own filters: each rank reads its patches one after another
with the HDF5 library (one_level.py). PatchIO's pipelines have PatchIO's filters. The shares of reading differ between patches of 16^3
and of 64^3 cells."""
import os
import shutil
import tempfile

import emulator
import plotfiles
from measuring import Spread, forget, interleave, programs, pvbatch, ratios, read_dump, run as run_program, say, settle
from suites.blocks import differing_pixels
from suites.two_level import STORAGE

PROCESSES = (1, 2, 4)
MOST = PROCESSES[-1]  # the goal is for this number of ranks
DISK_CONCURRENCY = 16
# Images and their series. ParaView takes minutes for volumes of many blocks.
PICTURES = (("1000 patches of 16^3, slice", "slice", "small"), ("32 patches of 64^3, slice", "slice", "large"),
            ("32 patches of 64^3, contour", "contour", "large"), ("32 patches of 64^3, volume", "volume", "large"))
# Cells, cells of a patch, and the number of steps, which is the number of frames.
SERIES = {"small": ("160,160,160", "16", 2), "large": ("256,256,128", "64", 6)}
MOMENTS = ("open", "step")
# Minimum and maximum of the rate of two-level reading over one-level reading in S. Liu et al., "Two Level Parallel Data Read
# Acceleration Method for Visualization in Scientific Computing" (2017). Its table 3 follows from these and shares of 65 to 95 %.
PAPER_PEAK = (1.335, 3.695)


def shown(report):
    """Returns the images to make; only the first one has a goal."""
    return PICTURES[:1] if report.quick else PICTURES


def paper_gain(share):
    """Returns minimum and maximum of table 3 at this share of reading in the one-level frame."""
    return tuple(1 / (1 - share + share / gain) for gain in PAPER_PEAK)


# ---- data ----------------------------------------------------------------------------------------------------

def make_series(folder):
    """Makes both series, if they are missing, and their index files of this version. Returns their folder."""
    data = os.path.join(folder, "end_to_end")
    patchio = programs() + "/patchio"
    for name, (cells, patch, steps) in SERIES.items():
        series = os.path.join(data, name, "dumps.visit")
        if not os.path.exists(os.path.join(data, name, ".dumps.visit.patchio")):
            say("making %s" % os.path.dirname(series))
            run_program([patchio + "-linadv", "--cells", cells, "--patch", patch, "--profile", "gauss",
                         "--radius", "0.2", "--steps", str(steps - 1), "--dump-every", "1", "--overwrite",
                         "--output", os.path.dirname(series)])
            settle()
        run_program([patchio, "index", series], environment={"PATCHIO_METADATA_DIR": ""})
    return data


def make_plotfiles(folder, name, plotfile):
    """Makes two steps, copies of one plotfile with other times, if they are missing. Returns the first one."""
    series = os.path.join(folder, name + "_series")
    if not os.path.exists(series):
        say("making %s" % series)
        with tempfile.TemporaryDirectory(dir=folder) as partial:
            for step in range(2):
                copy = os.path.join(partial, "series", "plt%05d" % step)
                shutil.copytree(plotfile, copy, ignore=shutil.ignore_patterns("*.patchio"))
                set_time(os.path.join(copy, "Header"), float(step))
            os.rename(os.path.join(partial, "series"), series)
        os.sync()
    return os.path.join(series, "plt00000")


def set_time(header, value):
    with open(header) as file:
        lines = file.read().split("\n")
    lines[3 + int(lines[1])] = repr(value)  # after the names of the components and the dimension
    with open(header, "w") as file:
        file.write("\n".join(lines))


# ---- frames --------------------------------------------------------------------------------------------------

def draw(way, array, ranks, concurrency, pictures, wanted, first=False):
    """Returns the frames of one run: for each wanted (kind, series), moment -> seconds. first: without index files, as when
    the data are opened for the first time."""
    os.makedirs(pictures, exist_ok=True)
    return pvbatch("whole_frame.py", way, array, concurrency, pictures, *("%s=%s" % each for each in wanted), ranks=ranks,
                   environment={} if first else {"PATCHIO_METADATA_DIR": ""})  # empty: index files in the folder of the data


def whole(runs, picture, moment):
    return [run[picture][moment]["whole"] for run in runs]


def shares(runs, picture, moment):
    """Returns the share of the slowest rank's read in the time of the frame."""
    return Spread(run[picture][moment]["slowest_rank"] / run[picture][moment]["whole"] for run in runs)


def say_frames(place, ranks, names, found):
    for way, runs in found.items():
        for name, frame in zip(names, runs[0]):
            opened = frame["open"]
            say("  %s, NP %d, %-20s %-30s open %.2f s (read %.2f, filter %.2f, render %.2f), step %.2f s" % (
                place, ranks, way, name, opened["whole"], opened["read"], opened["filter"], opened["render"],
                frame["step"]["whole"]))


def rows(report, place, ranks, found):
    """Adds the rows of one-level HDF5 / PatchIO with default settings, for each image."""
    for picture, (name, _, series) in enumerate(shown(report)):
        for moment in MOMENTS:
            share = shares(found["one-level"], picture, moment).median
            label = "%s, NP = %d, %s, %s to image: one-level HDF5 (%.0f %% reading) / PatchIO; paper at this " \
                    "share: %.2f to %.2f" % ((place, ranks, name, moment, 100 * share) + paper_gain(share))
            gain = ratios(whole(found["one-level"], picture, moment), whole(found["merged"], picture, moment))
            if place == "emulator" and ranks == MOST and series == "small":
                report.goal(label + " (at best 3.26)", 4, gain)
            else:
                report.figure(label, gain)
    for way in [way for way in found if way not in ("one-level", "merged")]:
        for moment in MOMENTS:
            report.figure("%s, NP = %d, %s, %s to image: one-level HDF5 / PatchIO %s" % (
                place, ranks, PICTURES[0][0], moment, way),
                ratios(whole(found["one-level"], 0, moment), whole(found[way], 0, moment)))


def measure(report, place, data, concurrency, rounds, before=lambda _: None, other_ways=False):
    """Measures all pipelines at each NP, with fewer rounds if NP has no goal."""
    wanted = [(kind, os.path.join(data, series, "dumps.visit")) for _, kind, series in shown(report)]
    for ranks in PROCESSES[-1:] if report.quick else PROCESSES:
        def drawing(way, name=None, first=False, ranks=ranks):
            pictures = pictures_of(report, place, ranks, name or way)
            return lambda: draw(way, "uval", ranks, concurrency, pictures, wanted, first)

        ways = {"one-level": drawing("one-level"), "merged": drawing("merged")}
        if other_ways and ranks == MOST:
            ways["as patches"] = drawing("as patches")
            ways["slice while reading"] = drawing("slice while reading")
            if not report.quick:
                ways["first open"] = drawing("merged", "first open", first=True)
        found = interleave(ways, rounds if ranks == MOST else (rounds + 1) // 2, before)
        say_frames(place, ranks, [name for name, _, _ in shown(report)], found)
        for picture, (name, _, _) in enumerate(shown(report)):
            # Slices made while reading have polygons instead of triangles, and PatchIO's contours have no cracks.
            cells = {way: run[picture]["cells"] for way, runs in found.items() for run in runs if way != "slice while reading"}
            if len(set(cells.values())) != 1 and "contour" not in name:
                raise RuntimeError("%s: the readers show different cells: %s" % (name, cells))
        rows(report, place, ranks, found)
        report.data["%s, NP = %d" % (place, ranks)] = found
    if not report.quick:
        compare_with_program(report, place, data, found, before)


def pictures_of(report, place, ranks, way):
    return os.path.join(report.folder, place.replace(" ", "-").replace(",", ""), str(ranks), way)


def check_pictures(report):
    """Compares the pixels of the images, except at seams."""
    for number, (name, kind, _) in enumerate(shown(report)):
        different = differing_pixels([os.path.join(pictures_of(report, "emulator", MOST, way), "%d.png" % number)
                                      for way in ("one-level", "as patches")])
        if kind == "slice":  # ranks with other blocks blend volumes in another order; contours differ
            report.at_most("%s: different pixels of one-level HDF5 and PatchIO as patches, except at seams" % name, 0, Spread([different]))


def compare_with_program(report, place, data, found, before):
    """Compares one-level reading in Python with the same reads in a C++ program on the same number of ranks."""
    for picture, (name, kind, series) in enumerate(PICTURES):
        if kind == "slice":
            before(name)
            program = read_dump(os.path.join(data, series, "visit_dump.00001", "summary.samrai"), ranks=MOST, how="hdf5")
            report.figure("%s, NP = %d, %s: seconds of one-level reading in these frames / in patchio_bench_read" % (
                place, MOST, name), Spread(run[picture]["step"]["slowest_rank"] / (program["open"] + program["read"][-1])
                                           for run in found["one-level"]))


def on_emulator(report, data, rounds):
    if emulator.is_missing(report, "whole frames on the emulator"):
        return
    with emulator.slow_storage(data, **STORAGE) as storage:
        measure(report, "emulator", storage.mount, STORAGE["concurrency"], rounds, other_ways=True)
    check_pictures(report)


def on_disk(report, data, rounds):
    measure(report, "local disk, cold", data, DISK_CONCURRENCY, rounds, before=lambda _: forget(data))


# ---- AMReX ---------------------------------------------------------------------------------------------------

def against_amrex_reader(report, place, name, plotfile, ranks, concurrency, rounds, before=None):
    def drawing(way):
        pictures = os.path.join(report.folder, name, way)
        return lambda: draw(way, "phi", ranks, concurrency, pictures, [("slice", plotfile)])

    found = interleave({way: drawing(way) for way in ("amrex", "merged")}, rounds, before)
    say_frames(place, ranks, [name], found)
    for moment in MOMENTS:
        report.figure("%s, NP = %d, %s, slice, %s to image: ParaView's AMReX reader / PatchIO" % (
            place, ranks, name, moment), ratios(*(whole(found[way], 0, moment) for way in ("amrex", "merged"))))
    report.data["%s, %s" % (name, place)] = found


def plotfile_frames(report, folder, rounds):
    found = plotfiles.find(report, folder)
    for name, path in found.items():
        plotfile = make_plotfiles(folder, name, path)
        series = os.path.dirname(plotfile)
        # ParaView's reader and its slice take a minute for many patches.
        against_amrex_reader(report, "local disk, cold", name, plotfile, 1, DISK_CONCURRENCY,
                             1 if "many" in name else rounds, lambda _, series=series: forget(series))
        if name == "amrex_adv" and not emulator.missing():
            with emulator.slow_storage(series, **STORAGE) as storage:
                against_amrex_reader(report, "emulator", name, storage.path("plt00000"), MOST, STORAGE["concurrency"],
                                     rounds)


def run(report, folder, rounds):
    """./dev bench end-to-end"""
    data = make_series(folder)
    on_emulator(report, data, rounds)
    if not report.quick:
        on_disk(report, data, rounds)
        plotfile_frames(report, folder, min(rounds, 3))

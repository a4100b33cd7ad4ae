"""Measures the stages from the file to images of a slice, the surface and a contour, as patches and merged into blocks, on one
rank. Compares the reads of both, and draws a plotfile with ParaView's AMReX reader. `scale` measures the plan; a test checks that
isosurfaces have no open edges."""
import os
import shutil
import subprocess
import tempfile

import plotfiles
from measuring import Spread, interleave, make_dump, pvbatch, ratios, read_dump, remember, root, say

CORES = os.cpu_count()
SPHERE = os.path.join("large", "samrai_linadv_sphere_3d.tar.zst")
# The readers of frame.py to compare.
READERS = ("patches", "merged")
SLICE = ("slice", "image of the slice")
CONTOUR = ("contour", "image of the contour")
SURFACE = ("surface and image",)
WITH_GOAL = 4096  # patches of one level
# Stages of the whole frame, in their order.
STAGES = ("open and read", "information") + SLICE + SURFACE + CONTOUR


class DataSet:
    """One dump and its number of rounds."""

    def __init__(self, name, label, summary, array, rounds):
        self.name = name
        self.label = label
        self.summary = summary
        self.array = array
        self.rounds = rounds

    @property
    def folder(self):
        return os.path.dirname(os.path.dirname(self.summary))


# ---- data ----------------------------------------------------------------------------------------------------

def find_sphere(folder):
    """Returns the last dump of linadv_sphere_3d, or None if its archive is missing. Unpacks it once."""
    summary = os.path.join(folder, "linadv_sphere_3d", "visit_dump.00002", "summary.samrai")
    packed = os.path.join(os.environ.get("PATCHIO_DATA") or os.path.join(root, "..", "shared", "data"), SPHERE)
    if not os.path.exists(summary) and os.path.exists(packed):
        say("unpacking %s" % packed)
        with tempfile.TemporaryDirectory(dir=folder) as partial:
            subprocess.run(["tar", "--zstd", "-xf", packed, "-C", partial], check=True)
            os.rename(os.path.join(partial, "linadv_sphere_3d"), os.path.join(folder, "linadv_sphere_3d"))
    return summary if os.path.exists(summary) else None


def data_sets(report, folder, rounds):
    """Returns the data sets, sorted by their numbers of patches."""
    few = min(rounds, 3)
    found = []
    for patches, size, times in ((100, 16, few), (1000, 16, few), (WITH_GOAL, 16, few), (10000, 16, 1), (100000, 8, 1)):
        if report.quick and patches != WITH_GOAL:
            continue
        if patches == 100000 and rounds <= 5:
            report.skipped("100000 patches of 8^3", "as patches, these take minutes; --rounds 6 or more draws them once")
            continue
        found.append(DataSet("level_%d" % patches, "%d patches of %d^3" % (patches, size),
                             make_dump(folder, "frame_%d" % patches, patches=patches, size=size), "v0", times))
    sphere = find_sphere(folder)
    if sphere:
        found.append(DataSet("sphere", "sphere", sphere, "U", few))
    else:
        report.skipped("sphere", "%s is missing in $PATCHIO_DATA or ../shared/data" % SPHERE)
    return found


# ---- measuring -----------------------------------------------------------------------------------------------

def run_frame(reader, data, *arguments):
    return pvbatch("frame.py", reader, data.summary, data.array, *arguments, timeout=1800)


def pictures_of(report, data, reader):
    return os.path.join(report.folder, data.name, reader)


def draw(report, data, reader, stages):
    pictures = pictures_of(report, data, reader)
    os.makedirs(pictures, exist_ok=True)
    return run_frame(reader, data, "--pictures", pictures, *stages)


def measure(report, data):
    """Returns reader -> its frames. Only the first round draws a contour, which takes long and has no goal."""
    remember(data.folder)
    say("%s: as patches and merged, %d rounds" % (data.label, data.rounds))

    def ways(*stages):
        return {reader: lambda reader=reader: draw(report, data, reader, stages) for reader in READERS}

    frames = interleave(ways("slice", "surface", *(() if report.quick else ("contour",))), 1)
    for reader, more in interleave(ways("slice", "surface"), data.rounds - 1).items():
        frames[reader] += more
    for reader in READERS:
        say("  %s: %d blocks, %d visible cells; %s" % (reader, frames[reader][0]["blocks"], frames[reader][0]["cells"], ", ".join(
            "%s %.2f s" % (name, frames[reader][0]["seconds"][name]) for name in STAGES
            if name in frames[reader][0]["seconds"])))
    return frames


def seconds(frames, stages):
    """Returns the seconds of each round that has all these stages."""
    return [sum(frame["seconds"][name] for name in stages) for frame in frames
            if all(name in frame["seconds"] for name in stages)]


def gain(frames, stages):
    return ratios(seconds(frames["patches"], stages), seconds(frames["merged"], stages))


def blocks(frames):
    return Spread([frames["patches"][0]["blocks"] / frames["merged"][0]["blocks"]])


# ---- equal values and pixels ---------------------------------------------------------------------------------

def differing_values(data):
    """Returns the number of visible cells that differ in place, patch or value between the readers, or that one of them lacks."""
    import numpy
    with tempfile.TemporaryDirectory() as scratch:
        files = {reader: os.path.join(scratch, reader + ".npz") for reader in READERS}
        for reader in READERS:
            run_frame(reader, data, "--values", files[reader])
        one, other = (dict(numpy.load(files[reader])) for reader in READERS)
    if len(one["places"]) != len(numpy.unique(one["places"])) or not numpy.array_equal(one["frames"], other["frames"]):
        raise RuntimeError("%s: the blocks of a level are not in one index space, or some cells appear twice" % data.label)
    _, first, second = numpy.intersect1d(one["places"], other["places"], return_indices=True)
    different = (one["patches"][first] != other["patches"][second]) | (one["values"][first] != other["values"][second])
    return int(different.sum()) + len(one["places"]) + len(other["places"]) - 2 * len(first)


def far_pixels(one, other):
    """Returns the number of pixels of one image whose colour, to 1 of 255, differs from the 3 x 3 pixels around it in the other."""
    import numpy
    rows, columns = one.shape[:2]
    around = numpy.pad(other, ((1, 1), (1, 1), (0, 0)), mode="edge")
    distances = [abs(one - around[y:y + rows, x:x + columns]).max(axis=2) for y in range(3) for x in range(3)]
    return int((numpy.min(distances, axis=0) > 1.5 / 255).sum())


def differing_pixels(report, data, name):
    """Returns the number of different pixels, except on seams, where rounding decides which of two cells a pixel shows."""
    from matplotlib import image
    one, other = (image.imread(os.path.join(pictures_of(report, data, reader), name + ".png"))[:, :, :3]
                  for reader in READERS)
    if one.reshape(-1, 3).std(axis=0).max() < 0.01:
        raise RuntimeError("%s: the image of the %s is empty" % (data.label, name))
    return max(far_pixels(one, other), far_pixels(other, one))


def compare(report, data):
    report.at_most("%s: visible cells that differ in place, patch or value" % data.label, 0, Spread([differing_values(data)]))
    for name in ("slice", "surface"):
        report.at_most("%s: different pixels of the %s, except at seams" % (data.label, name), 0,
                       Spread([differing_pixels(report, data, name)]))
    if not report.quick:
        report.figure("%s: different pixels of the contour, which has cracks between patches" % data.label,
                      Spread([differing_pixels(report, data, "contour")]))


# ---- reading -------------------------------------------------------------------------------------------------

def reading(report, data, rounds):
    """Measures the plan of blocks and the read of values from the page cache into reused memory."""
    read_dump(data.summary, sidecar=True, steps=0)
    remember(data.folder)

    def read(merged):
        run = read_dump(data.summary, threads=CORES, steps=6, sidecar=True, warm=1, merged=merged)
        return run["blocks"] + min(run["read"][1:])

    found = interleave({"patches": lambda: read(False), "merged": lambda: read(True)}, rounds)
    report.figure("%s: seconds to plan and read, hot, without data sets: merged / as patches" % data.label,
                  ratios(found["merged"], found["patches"]))
    report.data["read " + data.name] = found


# ---- images ---------------------------------------------------------------------------------------------------

def plot_levels(report, measured):
    """Plots seconds over the number of patches of one level."""
    import statistics
    parts = (("slice", SLICE, "C0"), ("contour", CONTOUR, "C1"), ("surface", SURFACE, "C2"), ("open + read", STAGES[:1], "C3"))

    def draw_on(axes):
        for label, stages, colour in parts:
            for reader, style in zip(READERS, ("o--", "o-")):
                points = [(frames["patches"][0]["blocks"], statistics.median(seconds(frames[reader], stages)))
                          for data, frames in measured if data.name.startswith("level_")]
                axes.loglog(*zip(*points), style, color=colour, label="%s, %s" % (label, reader))
        axes.set(xlabel="patches of one level", ylabel="seconds", title="Stages of a frame, with their images; one rank")
        axes.legend(fontsize=8)

    report.plot("levels", draw_on)


def plot_sphere(report, frames):
    import statistics

    def draw_on(axes):
        for number, reader in enumerate(READERS):
            heights = [statistics.median(seconds(frames[reader], (name,))) for name in STAGES]
            bars = axes.bar([i + 0.4 * number for i in range(len(STAGES))], heights, 0.38,
                            label="%s, %d blocks" % (reader, frames[reader][0]["blocks"]))
            axes.bar_label(bars, fmt="%.2f", fontsize=8)
        axes.set_xticks([i + 0.2 for i in range(len(STAGES))], [name.replace(" ", "\n") for name in STAGES])
        axes.set(yscale="log", ylabel="seconds", title="Refined sphere, 3 levels, one rank")
        axes.legend()

    report.plot("sphere", draw_on, figsize=(9, 4.5))


# ---- all -----------------------------------------------------------------------------------------------------

def plotfile_rows(report, folder, rounds):
    """Measures the same stages with ParaView's own reader, on a plotfile."""
    path = plotfiles.find(folder).get("amrex_adv")
    if not path:
        report.skipped("AMReX plotfile", "large/amrex_adv.tar.zst is missing in $PATCHIO_DATA or ../shared/data")
        return
    data = DataSet("plotfile", "AMReX plotfile", os.path.join(path, "Header"), "phi", min(rounds, 3))
    remember(data.folder)
    frames = interleave({reader: lambda reader=reader: draw(report, data, reader, ("slice", "surface"))
                         for reader in ("amrex", "merged")}, data.rounds)
    for label, stages in (("slice + image", SLICE), ("surface + image", SURFACE), ("open and read", STAGES[:1])):
        report.figure("%s, %d patches: %s, ParaView's AMReX reader / merged" % (data.label, frames["amrex"][0]["blocks"], label),
                      ratios(seconds(frames["amrex"], stages), seconds(frames["merged"], stages)))
    report.data[data.name] = frames


def add_rows(report, data, frames, rounds):
    label = data.label
    if data.name == "sphere":
        report.goal("%s: blocks, as patches / merged" % label, 10, blocks(frames))
        report.goal("%s: slice + image, as patches / merged" % label, 6, gain(frames, SLICE))
        report.goal("%s: surface + image, as patches / merged" % label, 6, gain(frames, SURFACE))
    elif data.name == "level_%d" % WITH_GOAL:
        report.goal("%s: blocks, as patches / merged" % label, 500, blocks(frames))
        report.figure("%s: slice + image, as patches / merged" % label, gain(frames, SLICE))
        report.figure("%s: surface + image, as patches / merged" % label, gain(frames, SURFACE))
    if not report.quick:
        report.figure("%s: whole frame, as patches / merged" % label, gain(frames, STAGES))
    if data.name in ("sphere", "level_%d" % WITH_GOAL):
        report.at_most("%s: seconds of the reader, hot: merged / as patches" % label, 1.1,
                       ratios(*(seconds(frames[reader], STAGES[:1]) for reader in ("merged", "patches"))))
        if not report.quick:
            reading(report, data, rounds)
        compare(report, data)


def run(report, folder, rounds):
    """./dev bench blocks"""
    measured = []
    for data in data_sets(report, folder, rounds):
        shutil.rmtree(os.path.join(report.folder, data.name), ignore_errors=True)  # no old images
        frames = measure(report, data)
        add_rows(report, data, frames, rounds)
        measured.append((data, frames))
        report.data[data.name] = frames
    if report.quick:
        return
    plotfile_rows(report, folder, rounds)
    plot_levels(report, measured)
    for data, frames in measured:
        if data.name == "sphere":
            plot_sphere(report, frames)

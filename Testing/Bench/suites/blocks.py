"""Measures the stages from the file to images of a slice, the surface and a contour, as patches and merged into blocks, on one
rank. Compares the reads of both. `scale` measures the plan; a test checks that isosurfaces have no open edges."""
import dataclasses
import os
import shutil
import tempfile

from measuring import Spread, find_sphere, folder_of, interleave, make_dump, pvbatch, ratios, read_dump, remember, say

CORES = os.cpu_count()
# The readers of frame.py to compare.
READERS = ("patches", "merged")
SLICE = ("slice", "image of the slice")
CONTOUR = ("contour", "image of the contour")
SURFACE = ("surface and image",)
WITH_GOAL = 4096  # patches of one level
# Stages of the whole frame, in their order.
STAGES = ("open and read", "information") + SLICE + SURFACE + CONTOUR


@dataclasses.dataclass
class DataSet:
    """One dump and its number of rounds."""
    name: str
    label: str
    summary: str
    array: str
    rounds: int

    @property
    def folder(self):
        return folder_of(self.summary)


# ---- data ----------------------------------------------------------------------------------------------------

def data_sets(report, folder, rounds):
    """Returns the data sets, sorted by their numbers of patches."""
    few = min(rounds, 3)
    found = []
    for patches, size, times in ((100, 16, few), (1000, 16, few), (WITH_GOAL, 16, few), (10000, 16, 1)):
        if report.quick and patches != WITH_GOAL:
            continue
        found.append(DataSet("level_%d" % patches, "%d patches of %d^3" % (patches, size),
                             make_dump(folder, "frame_%d" % patches, patches=patches, size=size), "v0", times))
    sphere = find_sphere(report, folder)
    if sphere:
        found.append(DataSet("sphere", "sphere", sphere, "U", few))
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


def differing_pixels(paths):
    """Returns the number of different pixels of two images, except on seams, where rounding decides which of two cells a pixel shows."""
    from matplotlib import image
    one, other = (image.imread(path)[:, :, :3] for path in paths)
    if one.reshape(-1, 3).std(axis=0).max() < 0.01:
        raise RuntimeError("%s: the image is empty" % paths[0])
    return max(far_pixels(one, other), far_pixels(other, one))


def compare(report, data):
    report.at_most("%s: visible cells that differ in place, patch or value" % data.label, 0, Spread([differing_values(data)]))

    def pixels(name):
        return Spread([differing_pixels([os.path.join(pictures_of(report, data, reader), name + ".png") for reader in READERS])])

    for name in ("slice", "surface"):
        report.at_most("%s: different pixels of the %s, except at seams" % (data.label, name), 0, pixels(name))
    if not report.quick:
        report.figure("%s: different pixels of the contour, which has cracks between patches" % data.label, pixels("contour"))


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


# ---- all -----------------------------------------------------------------------------------------------------

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
    for data in data_sets(report, folder, rounds):
        shutil.rmtree(os.path.join(report.folder, data.name), ignore_errors=True)  # no old images
        frames = measure(report, data)
        add_rows(report, data, frames, rounds)
        report.data[data.name] = frames

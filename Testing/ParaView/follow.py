"""Tests growing series: with Follow on, new steps must appear when they are complete, and not before. The reference is h5py's
reading of the files, or the data that this script has written.

usage: PATCHIO_PVBATCH_MODE=root Testing/ParaView/pvbatch.sh NP follow.py DATA SCRATCH [PATCHIO] PATCHIO: the program that writes a
container; without it, this test is left out.
"""
import array
import os
import shutil
import subprocess
import sys
import time

import numpy
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkOutputWindow, vtkStringOutputWindow

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "..", "Formats", "AMReX")]
from on_ranks import by_h5py, ranks, sorted_dump  # noqa: E402
from plotfile_writer import fab_values, tiles, write_plotfile  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
data, scratch = sys.argv[1:3]
program = sys.argv[3] if len(sys.argv) > 3 else None

VTKHDF = """
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    root = file.create_group("VTKHDF")
    root.attrs["Version"], root.attrs["Type"] = numpy.array([1, 0]), numpy.bytes_("ImageData")
    root.attrs["WholeExtent"], root.attrs["Origin"] = numpy.array([0, 8, 0, 6, 0, 4]), numpy.zeros(3)
    root.attrs["Spacing"], root.attrs["Direction"] = numpy.ones(3), numpy.eye(3).ravel()
    root["CellData/a"] = float(sys.argv[2]) + numpy.arange(8 * 6 * 4, dtype="f8").reshape(4, 6, 8)
    root["FieldData/TimeValue"] = numpy.array([float(sys.argv[2])])
"""
VTKHDF_STEPS = VTKHDF + """
    del root["CellData/a"]
    root["CellData/a"] = numpy.arange(float(sys.argv[2]) * 8 * 6 * 4).reshape(-1, 4, 6, 8)
    root.create_group("Steps").attrs["NSteps"] = int(sys.argv[2])
    root["Steps/Values"] = numpy.arange(float(sys.argv[2]))
"""


def expect(condition, message, *details):
    if not condition:
        vtkOutputWindow.SetInstance(terminal)
        sys.exit("FAILED: " + message % details)


def folder_of(name):
    path = os.path.join(scratch, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


class Followed:
    """A reader with Follow on. Each look is expected to find a number of steps and to print certain messages."""

    def __init__(self, paths, variable, points=False, **properties):
        self.window = vtkStringOutputWindow()
        vtkOutputWindow.SetInstance(self.window)
        self.reader = PatchReader(FileName=paths, Follow=1, Blocks="As patches", **properties)
        self.reader.UpdatePipeline()
        self.merged = MergeBlocks(Input=self.reader)
        self.variable, self.points, self.told = variable, points, ""

    def look(self, steps, when, says=""):
        self.reader.UpdatePipelineInformation()
        found = len(self.reader.TimestepValues)
        text = self.window.GetOutput()[len(self.told):]
        self.told += text
        expect(found == steps, "%s: %d steps, not %d", when, found, steps)
        expect(says in text and bool(text) == bool(says), "%s: it says '%s', not '%s'", when, text, says)

    def values(self, step):
        """Returns the sorted values of all cells, including hidden ones."""
        self.merged.UpdatePipeline(self.reader.TimestepValues[step])
        found = []
        for rank in range(ranks):
            grid = servermanager.Fetch(self.merged, rank)
            values = (grid.GetPointData() if self.points else grid.GetCellData()).GetArray(self.variable)
            found += [vtk_to_numpy(values).ravel()] if values else []
        return numpy.sort(numpy.concatenate(found))

    def compare(self, step, truth):
        found = self.values(step)
        expect(numpy.array_equal(found, numpy.sort(truth.ravel()).astype(found.dtype)), "step %d: other values than in the files", step)

    def bytes_read(self):
        self.reader.UpdatePropertyInformation()
        lines = self.reader.GetPropertyValue("IOReport").splitlines()
        return next(line for line in lines if line.startswith("Bytes read:"))

    def close(self):
        vtkOutputWindow.SetInstance(terminal)
        Delete(self.merged)
        Delete(self.reader)


class Dumps:
    """Copies dumps of linadv_3d one after another into a folder."""

    def __init__(self, name):
        self.folder, self.source = folder_of(name), os.path.join(data, "linadv_3d")
        self.index = os.path.join(self.folder, "dumps.visit")
        with open(os.path.join(self.source, "dumps.visit")) as file:
            self.lines = file.readlines()

    def copy(self, step, *leave_out):
        dump = os.path.dirname(self.lines[step])
        shutil.copytree(os.path.join(self.source, dump), os.path.join(self.folder, dump), dirs_exist_ok=True,
                        ignore=lambda *_: leave_out)

    def cut(self, step, name, size):
        os.truncate(os.path.join(self.folder, os.path.dirname(self.lines[step]), name), size)

    def list(self, steps):
        with open(self.index, "w") as file:
            file.writelines(self.lines[:steps])

    def truth(self, step):
        return sorted_dump(os.path.join(self.source, os.path.dirname(self.lines[step])), "uval")


def check_dumps():
    dumps = Dumps("dumps")
    dumps.copy(0)
    dumps.list(1)
    time.sleep(2.1)     # younger files are never taken from the cache
    series = Followed(dumps.index, "uval")
    series.compare(0, dumps.truth(0))
    series.look(1, "nothing new")
    dumps.copy(1, "summary.samrai")
    series.look(1, "a dump without a summary")
    dumps.copy(1)
    dumps.cut(1, "summary.samrai", 2000)
    series.look(1, "half a summary")
    dumps.copy(1)
    dumps.cut(1, "processor_cluster.00000.samrai", 5000)
    series.look(1, "half of the values")
    dumps.copy(1)
    series.look(2, "a whole dump")
    series.compare(0, dumps.truth(0))
    expect(series.bytes_read().startswith("Bytes read: 0 "), "the shown step is read again: %s", series.bytes_read())
    series.compare(1, dumps.truth(1))
    dumps.copy(2)
    dumps.copy(3)
    series.look(4, "two dumps")
    dumps.list(4)
    series.look(4, "dumps that are known come into the index")
    for step in (3, 2, 0):
        series.compare(step, dumps.truth(step))
    series.look(4, "nothing more")
    series.close()


def check_opened_while_written():
    """Checks a series whose last dump has all of its files, but is not complete, when the series is opened."""
    dumps = Dumps("written")
    for step in (0, 1):
        dumps.copy(step)
    dumps.list(2)
    dumps.cut(1, "processor_cluster.00000.samrai", 5000)
    series = Followed(dumps.index, "uval")
    # Follow is set after the name of the file, so the series is open when it is turned on.
    series.look(2, "a dump that was listed stays listed")
    ReloadFiles(series.reader)
    series.look(1, "the last dump is half there")
    dumps.copy(1)
    series.look(2, "the last dump is complete")
    series.compare(1, dumps.truth(1))
    series.close()


def check_left_out():
    """Checks that a dump that stays damaged is reported once, after some time."""
    dumps = Dumps("left_out")
    dumps.copy(0)
    dumps.list(4)
    series = Followed(dumps.index, "uval", ListedDumpsOnly=1)
    series.told = series.window.GetOutput()    # messages about dumps that are listed but missing
    dumps.copy(1)
    dumps.cut(1, "processor_cluster.00000.samrai", 5000)
    series.look(1, "a broken dump")
    dumps.copy(2)
    series.look(2, "one behind the broken one")
    dumps.copy(3)
    series.look(3, "two behind it", "skips step")
    series.look(3, "nothing more")
    series.compare(2, dumps.truth(3))
    series.close()


def check_switch():
    dumps = Dumps("switch")
    dumps.copy(0)
    dumps.list(1)
    series = Followed(dumps.index, "uval", MetadataChannel="Off")
    series.reader.Follow = 0
    dumps.copy(1)
    dumps.list(2)
    series.look(1, "Follow is off")
    series.reader.Follow = 1
    series.look(2, "Follow is on again")
    # Each rank opens the new step, not only rank 0.
    series.compare(1, dumps.truth(1))
    series.close()


def check_plotfiles():
    folder = folder_of("plotfiles")
    domain = ((0, 0, 0), (15, 7, 7))
    boxes = tiles(*domain, (8, 8, 8))

    def write(step):
        write_plotfile(os.path.join(folder, "plt%05d" % step), domain, [boxes], names=["f"], step=step, time=0.1 * step, seed=step)

    def truth(step):
        return numpy.concatenate([fab_values(0, 1, lo, up, (0, 0, 0), 0, "f8", step).ravel() for lo, up in boxes])

    write(0)
    series = Followed(os.path.join(folder, "plt00000"), "f")
    os.makedirs(os.path.join(folder, "plt00010"))
    series.look(1, "an empty folder")
    write(10)
    level = os.path.join(folder, "plt00010", "Level_0")
    shutil.move(level, folder)
    series.look(1, "a Header alone")
    shutil.move(os.path.join(folder, "Level_0"), level)
    with open(os.path.join(level, "Cell_D_00001"), "rb+") as file:
        whole = file.read()
        file.truncate(1000)
    series.look(1, "half of the values")
    with open(os.path.join(level, "Cell_D_00001"), "wb") as file:
        file.write(whole)
    series.look(2, "a whole plotfile")
    for step in (1, 0):
        series.compare(step, truth(10 * step))
    series.close()


def check_grads():
    """Checks steps in one growing file, and steps in separate files."""
    for name, steps_a_file in (("all.dat", 3), ("at%h2.dat", 1)):
        folder = folder_of("grads_%d" % steps_a_file)
        path = os.path.join(folder, "m.ctl")
        with open(path, "w") as file:
            file.write("dset ^%s\n%sundef -999\nxdef 3 linear 0 1\nydef 2 linear 0 1\nzdef 1 levels 1000\n"
                       "tdef 3 linear 00z27feb2017 6hr\nvars 1\nps 0 99 pressure\nendvars\n"
                       % (name, "options template\n" if steps_a_file == 1 else ""))

        def write(step, count=6):
            target = os.path.join(folder, name.replace("%h2", "%02d" % (6 * step)))
            with open(target, "ab" if steps_a_file > 1 else "wb") as file:
                array.array("f", range(10 * step, 10 * step + 6)[6 - count if steps_a_file > 1 else 0:][:count]).tofile(file)

        write(0)
        series = Followed(path, "ps", points=True)
        series.told = series.window.GetOutput()    # messages about missing files of the descriptor
        if steps_a_file == 1:
            write(1, 4)
            series.look(1, "half a step of GrADS")
        write(1)
        series.look(2, "a step of GrADS")
        write(2)
        series.look(3, "two steps of GrADS")
        for step in (2, 1, 0):
            series.compare(step, numpy.arange(10.0 * step, 10 * step + 6))
        series.close()


def check_numbered_files():
    folder = folder_of("vtkhdf")

    def path(step):
        return os.path.join(folder, "run_%d.vtkhdf" % step)

    for step in (7, 8, 9):
        by_h5py(VTKHDF, path(step), step)
    series = Followed([path(8), path(9)], "a")
    series.look(2, "files with lower numbers")
    by_h5py(VTKHDF, path(10), 10)
    whole = os.path.getsize(path(10))
    shutil.copy(path(10), path(11))
    os.truncate(path(11), whole // 2)
    series.look(3, "a file, and half of another")
    by_h5py(VTKHDF, path(11), 11)
    by_h5py(VTKHDF, os.path.join(folder, "other_12.vtkhdf"), 12)
    series.look(4, "the other one, too")
    for step, number in ((3, 11), (0, 8)):
        series.compare(step, number + numpy.arange(8.0 * 6 * 4))
    expect(series.reader.TimestepValues[:] == [8, 9, 10, 11], "times %s", series.reader.TimestepValues[:])
    series.close()


def check_steps_in_one_file():
    path = os.path.join(folder_of("vtkhdf_steps"), "run.vtkhdf")
    by_h5py(VTKHDF_STEPS, path, 1)
    time.sleep(2.1)     # an index file of the single step would hide later ones
    Followed(path, "a").close()
    series = Followed(path, "a")
    series.look(1, "one step in a file")
    by_h5py(VTKHDF_STEPS, path, 3)
    series.look(3, "two steps more in the file")
    for step in (2, 0, 1):
        series.compare(step, 192 * step + numpy.arange(192.0))
    series.close()


def check_container():
    """Checks a container that is read while steps are added."""
    dumps = Dumps("container")
    folder = os.path.join(dumps.folder, "run.pio")

    def convert(step):
        alone = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))}
        subprocess.run([program, "convert", os.path.join(dumps.source, "dumps.visit"), folder, "--steps", str(16 * step)],
                       check=True, env=alone, stdout=subprocess.DEVNULL)

    convert(0)
    series = Followed(folder, "uval")
    before = os.path.getsize(os.path.join(folder, "index"))
    convert(1)
    with open(os.path.join(folder, "index"), "rb+") as file:
        whole = file.read()
        file.truncate((before + len(whole)) // 2)
    series.look(1, "half a record")
    values = os.path.join(folder, "step.000016.hdf")
    os.rename(values, values + ".away")
    with open(os.path.join(folder, "index"), "wb") as file:
        file.write(whole)
    series.look(1, "a record without values")
    os.rename(values + ".away", values)
    series.look(2, "a whole step")
    convert(2)
    convert(3)
    series.look(4, "two more")
    for step in (3, 1, 0, 2):
        series.compare(step, dumps.truth(step))
    series.close()


os.makedirs(scratch, exist_ok=True)
terminal = vtkOutputWindow.GetInstance()
check_dumps()
check_opened_while_written()
check_left_out()
check_switch()
check_plotfiles()
check_grads()
check_numbered_files()
check_steps_in_one_file()
if program:
    check_container()
print("passed: follow")

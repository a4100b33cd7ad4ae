"""Tests playing a series with prefetch: forwards, backwards, with jumps and other actions of a user. The values must always be
those that h5py reads.

usage: Testing/ParaView/pvbatch.sh NP play.py DATA SCRATCH [KWAVE] KWAVE: folder of a k-Wave output with an index mask; optional.
Runs on each rank.
"""
import os
import re
import shutil
import subprocess
import sys

import numpy

from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkParallelCore import vtkMultiProcessController
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import require  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
data, scratch = sys.argv[1:3]
kwave = sys.argv[3] if len(sys.argv) > 3 and os.path.isdir(sys.argv[3]) else None

controller = vtkMultiProcessController.GetGlobalController()
rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()

# Runs in another process, because ParaView and h5py have different HDF5 libraries.
SAMRAI = """
import glob, sys, h5py, numpy
values = []
def take(name, item):
    if isinstance(item, h5py.Dataset) and name.startswith("processor.") and name.endswith("/" + sys.argv[2]):
        values.append(item[()].ravel())
for path in glob.glob(sys.argv[1] + "/processor_cluster.*.samrai"):
    with h5py.File(path) as file:
        file.visititems(take)
numpy.save(sys.argv[3], numpy.sort(numpy.concatenate(values)))
"""
RAISE = """
import glob, sys, h5py
def add(name, item):
    if isinstance(item, h5py.Dataset) and name.startswith("processor.") and name.endswith("/" + sys.argv[2]):
        item[...] = item[()] + 100
for path in glob.glob(sys.argv[1] + "/processor_cluster.*.samrai"):
    with h5py.File(path, "r+") as file:
        file.visititems(add)
"""
KWAVE = """
import sys, h5py, numpy
with h5py.File(sys.argv[1]) as file:
    numpy.save(sys.argv[3], numpy.sort(file[sys.argv[2]][0], axis=1))
"""
FLUX = ("flux.00", "flux.01")


def on_rank_zero(work):
    """Calls `work`, which changes files, on rank 0 only."""
    if rank == 0:
        work()
    controller.Barrier()


def by_h5py(script, *arguments):
    subprocess.run(["/usr/bin/python3", "-c", script] + list(arguments), check=True, env={"PATH": os.environ["PATH"]})


def truth(script, path, name):
    """Returns the sorted values that h5py reads."""
    target = os.path.join(scratch, "truth_%d.npy" % rank)
    by_h5py(script, path, name, target)
    return numpy.load(target)


def values_of(reader, name, points=False):
    """Collective: returns the sorted values of all blocks of all ranks."""
    found = [numpy.empty(0, numpy.float32)]
    iterator = reader.GetClientSideObject().GetOutputDataObject(0).NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        grid = iterator.GetCurrentDataObject()
        array = (grid.GetPointData() if points else grid.GetCellData()).GetArray(name)
        if array is not None:
            found.append(vtk_to_numpy(array).ravel())
        iterator.GoToNextItem()
    path = os.path.join(scratch, "values_%d.npy")
    numpy.save(path % rank, numpy.concatenate(found))
    controller.Barrier()
    values = numpy.sort(numpy.concatenate([numpy.load(path % other) for other in range(ranks)]))
    controller.Barrier()
    return values


def read_ahead(reader):
    """Returns the prefetched bytes that were ready, according to the report, or None."""
    reader.UpdatePropertyInformation()
    lines = [line for line in reader.GetPropertyValue("IOReport").splitlines() if line.startswith("Read ahead: ")]
    require(len(lines) < 2, "%s", lines)
    require(not lines or re.fullmatch(r"Read ahead: [\d.]+ \w+ of [\d.]+ \w+, then waited [\d.]+ s for the rest", lines[0]),
           "'%s'", lines)
    return lines[0] if lines else None


class Series:
    """The series linadv_3d, read as patches, so that all values of the files are shown. Each step is read again, not from the
    cache."""

    def __init__(self, path=data + "/linadv_3d/dumps.visit", **properties):
        self.folder = os.path.dirname(path)
        self.reader = PatchReader(FileName=[path], Blocks="As patches", **{"CacheMemory": 0, **properties})
        self.times = self.reader.TimestepValues[:]
        self.truth = {}

    def show(self, step):
        """Shows a step. Returns whether it was prefetched."""
        self.reader.UpdatePipeline(self.times[step])
        if step not in self.truth:
            self.truth[step] = truth(SAMRAI, "%s/visit_dump.%05d" % (self.folder, 16 * step), "uval")
        found = values_of(self.reader, "uval")
        require(numpy.array_equal(found, self.truth[step].astype(found.dtype)), "step %d: values are not those of the file", step)
        return read_ahead(self.reader) is not None

    def report(self):
        self.reader.UpdatePropertyInformation()
        return self.reader.GetPropertyValue("IOReport")

    def play(self, *steps):
        return [self.show(step) for step in steps]


def check_directions():
    series = Series()
    ahead = series.play(0, 1, 2, 3, 2, 1, 0, 2, 1, 3)
    #        no direction  ahead ahead  turns    ahead ahead  other steps
    require(ahead == [False, False, True, True, False, True, True, False, False, False], "forwards, backwards, jumps: %s", ahead)
    Delete(series.reader)
    series = Series(ThreadMode="Fixed", ThreadsPerRank=2)
    ahead = series.play(3, 1, 0, 2)
    require(ahead == [False] * 4, "steps of different distances: %s", ahead)
    Delete(series.reader)


def check_cache():
    """Checks that cached steps are neither read nor prefetched, and other steps are."""
    series = Series(CacheMemory=-1)
    series.play(0, 1, 2, 3, 2, 1, 0)
    require("Bytes read: 0 " in series.report(), "a step that was shown before is read again")
    Delete(series.reader)


def check_off():
    series = Series(Prefetch=0)
    require(series.play(0, 1, 2, 3) == [False] * 4, "read ahead although it is off")
    series.reader.Prefetch = 1
    require(series.play(3, 2, 1, 0) == [False, False, True, True], "not read ahead although it is on")
    series.reader.Prefetch = 0
    require(series.play(0, 1, 2) == [False] * 3, "read ahead although it is off again")
    Delete(series.reader)


def check_several():
    series = Series(PrefetchSteps=3)
    require(series.play(0, 1, 2, 3) == [False, False, True, True], "three steps ahead")
    require(series.play(2, 1, 0) == [False, True, True], "three steps ahead, backwards")
    Delete(series.reader)


def check_changes():
    """Checks changes of properties while the next step is prefetched with the old properties."""
    series = Series(AddPatchIds=0)
    series.play(0, 1)
    series.reader.LevelRange = [0, 0]
    series.reader.UpdatePipeline(series.times[2])
    coarse = values_of(series.reader, "uval")
    require(read_ahead(series.reader) is None, "what is read ahead is used after a change")
    series.reader.LevelRange = [0, 99]
    require(series.play(2, 3) == [False, False], "after two changes")
    every = values_of(series.reader, "uval")
    require(0 < len(coarse) < len(every), "%d cells on level 0, %d on all", len(coarse), len(every))
    Delete(series.reader)
    # Selects the other of two arrays while the next step is being read.
    flat = PatchReader(FileName=[data + "/linadv_2d/dumps.visit"], Blocks="As patches")
    flat.CellArrayStatus, flat.PointArrayStatus = ["uval"], []
    times = flat.TimestepValues[:]
    folders = sorted(name for name in os.listdir(data + "/linadv_2d") if name.startswith("visit_dump"))
    for step in (0, 1, 2):
        flat.CellArrayStatus = ["uval"] if step < 2 else ["flux"]
        flat.UpdatePipeline(times[step])
    require(read_ahead(flat) is None, "what was read ahead of another array is used")
    require(len(values_of(flat, "uval")) == 0, "an array that was turned off is shown")
    folder = os.path.join(data, "linadv_2d", folders[2])
    expected = numpy.sort(numpy.concatenate([truth(SAMRAI, folder, name) for name in FLUX]))
    # Vectors with two components get a third one, 0, in ParaView.
    found = values_of(flat, "flux")
    surplus = len(found) - len(expected)
    require(surplus >= 0 and numpy.array_equal(found, numpy.sort(numpy.append(expected, numpy.zeros(surplus)))), "flux")
    Delete(flat)


def copy_series(name):
    target = os.path.join(scratch, name)

    def copy():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(os.path.join(data, "linadv_3d"), target)

    on_rank_zero(copy)
    return os.path.join(target, "dumps.visit")


def check_broken():
    """Checks that a damaged step is an error when it is shown, but not while it is prefetched."""
    path = copy_series("broken")
    folder = os.path.join(os.path.dirname(path), "visit_dump.00032")

    def cut():
        for file in os.listdir(folder):
            if file.startswith("processor_cluster"):
                os.truncate(os.path.join(folder, file), 3000)

    on_rank_zero(cut)
    series = Series(path)
    errors = []
    series.reader.GetClientSideObject().AddObserver("ErrorEvent", lambda caller, event: errors.append(event))
    series.play(0, 1)
    require(not errors, "an error of step 2 while step 1 is shown")
    series.reader.UpdatePipeline(series.times[2])
    require(len(errors) == (1 if rank == 0 else 0), "%d errors of step 2 on rank %d", len(errors), rank)
    require(series.play(3, 1, 0) == [False] * 3, "after the broken step")
    Delete(series.reader)


def check_replaced():
    """Checks that files that are replaced after the prefetch are read again."""
    path = copy_series("replaced")
    folder = os.path.join(os.path.dirname(path), "visit_dump.%05d")
    series = Series(path, MetadataChannel="Off")
    series.play(0, 1)
    require(series.show(2), "step 2 was not read ahead")
    # Step 3 is being prefetched, or ready.
    on_rank_zero(lambda: by_h5py(RAISE, folder % 48, "uval", ""))
    require(not series.show(3), "values of files that have been written since")
    Delete(series.reader)


def check_kwave():
    """Checks many steps in one file: the catalog is set to another step, and data common to all steps are not read again."""
    path = [os.path.join(kwave, name) for name in sorted(os.listdir(kwave)) if "output" in name or name.endswith("out.h5")][0]
    expected = truth(KWAVE, path, "p")
    reader = PatchReader(FileName=[path], PrefetchSteps=2, PointLists="Points")
    times = reader.TimestepValues[:]
    ahead = 0
    order = list(range(0, min(12, len(times)))) + list(range(min(11, len(times) - 1), -1, -3))
    for step in order:
        reader.UpdatePipeline(times[step])
        found = values_of(reader, "p", points=True)
        require(numpy.array_equal(found, expected[step].astype(found.dtype)), "k-Wave, step %d", step)
        ahead += read_ahead(reader) is not None
    require(ahead >= len(order) // 2, "k-Wave: %d of %d steps read ahead", ahead, len(order))
    Delete(reader)


os.makedirs(scratch, exist_ok=True)
check_directions()
check_cache()
check_off()
check_several()
check_changes()
check_broken()
check_replaced()
if kwave:
    check_kwave()
if rank == 0:
    print("passed: play")

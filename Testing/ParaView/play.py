"""Tests playing a series with prefetch: forwards, backwards, with jumps and other actions of a user. The values must always be
those that h5py reads.

usage: Testing/ParaView/pvbatch.sh NP play.py DATA SCRATCH [KWAVE] KWAVE: folder of a k-Wave output with an index mask; optional.
Runs on each rank.
"""
import os
import re
import shutil
import sys

import numpy
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from on_ranks import by_h5py, controller, finish, from_all_ranks, leaves, output_of, rank, report_of, require, sorted_dump  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
data, scratch = sys.argv[1:3]
kwave = sys.argv[3] if len(sys.argv) > 3 and os.path.isdir(sys.argv[3]) else None

KWAVE = """
import sys, h5py, numpy
with h5py.File(sys.argv[1]) as file:
    numpy.save(sys.argv[2], numpy.sort(file["p"][0], axis=1))
"""


def values_of(reader, name, points=False):
    """Collective: returns the sorted values of all blocks of all ranks."""
    found = [numpy.empty(0, numpy.float32)]
    for grid in leaves(output_of(reader)):
        array = (grid.GetPointData() if points else grid.GetCellData()).GetArray(name)
        if array is not None:
            found.append(vtk_to_numpy(array).ravel())
    return numpy.sort(numpy.concatenate(from_all_ranks(numpy.concatenate(found))))


def read_ahead(reader):
    """Returns the prefetched bytes that were ready, according to the report, or None."""
    lines = [line for line in report_of(reader).splitlines() if line.startswith("Read ahead: ")]
    require(len(lines) < 2, "%s", lines)
    require(not lines or re.fullmatch(r"Read ahead: [\d.]+ \w+ of [\d.]+ \w+, then waited [\d.]+ s for the rest", lines[0]),
           "'%s'", lines)
    return lines[0] if lines else None


TRUTH = {}    # by step


class Series:
    """The series linadv_3d, read as patches, so that all values of the files are shown. Each step is read again, not from the
    cache."""

    def __init__(self, path=data + "/linadv_3d/dumps.visit", **properties):
        self.folder = os.path.dirname(path)
        self.reader = PatchReader(FileName=[path], Blocks="As patches", **{"CacheMemory": 0, **properties})
        self.times = self.reader.TimestepValues[:]

    def show(self, step):
        """Shows a step. Returns whether it was prefetched."""
        self.reader.UpdatePipeline(self.times[step])
        if step not in TRUTH:
            TRUTH[step] = sorted_dump("%s/visit_dump.%05d" % (self.folder, 16 * step), "uval")
        found = values_of(self.reader, "uval")
        require(numpy.array_equal(found, TRUTH[step].astype(found.dtype)), "step %d: values are not those of the file", step)
        return read_ahead(self.reader) is not None

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


def check_off():
    series = Series(Prefetch=0)
    require(series.play(0, 1, 2, 3) == [False] * 4, "read ahead although it is off")
    series.reader.Prefetch = 1
    require(series.play(3, 2, 1, 0) == [False, False, True, True], "not read ahead although it is on")
    series.reader.Prefetch = 0
    require(series.play(0, 1, 2) == [False] * 3, "read ahead although it is off again")
    Delete(series.reader)


def check_broken():
    """Checks that a damaged step is an error when it is shown, but not while it is prefetched."""
    folder = os.path.join(scratch, "broken")
    if rank == 0:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(data, "linadv_3d"), folder)
        for file in os.listdir(folder + "/visit_dump.00032"):
            if file.startswith("processor_cluster"):
                os.truncate(os.path.join(folder, "visit_dump.00032", file), 3000)
    controller.Barrier()
    series = Series(folder + "/dumps.visit")
    errors = []
    series.reader.GetClientSideObject().AddObserver("ErrorEvent", lambda caller, event: errors.append(event))
    series.play(0, 1)
    require(not errors, "an error of step 2 while step 1 is shown")
    series.reader.UpdatePipeline(series.times[2])
    require(len(errors) == (1 if rank == 0 else 0), "%d errors of step 2 on rank %d", len(errors), rank)
    require(series.play(3, 1, 0) == [False] * 3, "after the broken step")
    Delete(series.reader)


def check_kwave():
    """Checks many steps in one file: the catalog is set to another step, and data common to all steps are not read again."""
    path = [os.path.join(kwave, name) for name in sorted(os.listdir(kwave)) if "output" in name or name.endswith("out.h5")][0]
    target = os.path.join(scratch, "truth_%d.npy" % rank)
    by_h5py(KWAVE, path, target)
    expected = numpy.load(target)
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
check_off()
check_broken()
if kwave:
    check_kwave()
finish("play")

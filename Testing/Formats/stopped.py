"""Tests that reads of each format can be stopped. Nothing may be shown then, the report must say so, and the next read must show
the same values as without the stop, on any number of ranks.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/stopped.py FILE... (runs on each rank)
"""
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ParaView"))
from on_ranks import expect, failed, finish, leaves, rank, report_of, sum_over_ranks  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())


def bits_of(reader):
    """Collective: returns the number of displayed values on all ranks, and sums of their bits, which do not depend on order and
    rounding."""
    sums = np.zeros(3)
    for grid in leaves(reader.GetClientSideObject().GetOutputDataObject(0)):
        for data in (grid.GetCellData(), grid.GetPointData()):
            for name in [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]:
                if name != "vtkGhostType":
                    values = np.ascontiguousarray(vtk_to_numpy(data.GetAbstractArray(name)))
                    halves = values.view(np.uint16 if values.nbytes % 2 == 0 else np.uint8).ravel().astype(np.int64)
                    sums += (values.size, halves.sum(), (halves * (np.arange(len(halves)) % 4 + 1)).sum())
    return [sum_over_ranks(number) for number in sums]


def open_all(path):
    reader = PatchReader(FileName=[path], Blocks="As patches", Grids="All", PartialArrays=1, ComposeVectors=0, CacheMemory=0, Prefetch=0)
    reader.UpdatePipelineInformation()
    reader.CellArrayStatus = reader.CellArrayStatus.Available
    reader.PointArrayStatus = reader.PointArrayStatus.Available
    times = reader.TimestepValues
    return reader, (list(times) if hasattr(times, "__len__") else [times])[-1]


def stop_while_reading(reader, time):
    """Stops the read at its first progress text, on rank 0 only."""
    vtk_reader = reader.GetClientSideObject()

    def stop(caller, event):
        if rank == 0 and caller.GetProgressText().startswith("Reading"):
            caller.SetAbortExecute(1)
    observer = vtk_reader.AddObserver("ProgressEvent", stop)
    reader.UpdatePipeline(time)
    vtk_reader.RemoveObserver(observer)


def check(path):
    reader, time = open_all(path)
    reader.UpdatePipeline(time)
    whole = bits_of(reader)
    expect(whole[0] > 0, "%s: nothing is shown", path)
    Delete(reader)
    reader, time = open_all(path)
    stop_while_reading(reader, time)
    shown = bits_of(reader)[0]
    expect(shown == 0, "%s: %d values are shown of a read that was stopped", path, shown)
    report = report_of(reader)
    expect(report.startswith("Cancelled"), "%s: the report of a read that was stopped: %s", path, report)
    reader.SMProxy.InvokeCommand("ReadAgain")
    reader.UpdatePipeline(time)
    again = bits_of(reader)
    expect(again == whole, "%s: %s instead of %s after a read that was stopped", path, again, whole)
    Delete(reader)


for file in sys.argv[1:]:
    check(file)
if len(sys.argv) < 2:
    failed.append("no files")
finish("stopped reads of %d files" % (len(sys.argv) - 1))

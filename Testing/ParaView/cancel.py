"""Tests the progress of a running read, and the state after a stopped read.

usage: Testing/ParaView/pvbatch.sh NP cancel.py DATA SCRATCH PYTHON (runs on each rank)
"""
import json
import os
import re
import subprocess
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDoubleArray
from vtkmodules.vtkParallelCore import vtkMultiProcessController

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from on_ranks import patches_of_tree  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import require  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
data, scratch, python = sys.argv[1:4]
series = os.path.join(data, "linadv_3d", "dumps.visit")
STEPS = [0, 16, 32, 48]

# Reads the values with h5py in a separate process, because ParaView has another HDF5 library.
READ_TRUTH = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from reference import read_truth
_, arrays = read_truth(sys.argv[2])
np.savez(sys.argv[3], **{key: arrays[key] for key in arrays if key.endswith("/uval")})
"""


def truth_of(step):
    """Returns patch number -> values."""
    file = os.path.join(scratch, "truth_%d_%d.npz" % (step, os.getpid()))
    dump = os.path.join(data, "linadv_3d", "visit_dump.%05d" % step, "summary.samrai")
    helpers = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "SAMRAI")
    subprocess.run([python, "-B", "-c", READ_TRUTH, helpers, dump, file], check=True)
    with np.load(file) as arrays:
        return {int(key.split("/")[0][1:]): arrays[key] for key in arrays}


def rank_and_sum(value):
    """Returns this rank's value, and the sum over all ranks."""
    controller = vtkMultiProcessController.GetGlobalController()
    mine, total = vtkDoubleArray(), vtkDoubleArray()
    mine.InsertNextValue(value)
    total.SetNumberOfTuples(1)
    controller.AllReduce(mine, total, 2)  # SUM_OP
    return controller.GetLocalProcessId(), total.GetValue(0)


def values_of(reader):
    """Returns patch number -> values for the output of this rank."""
    patches = patches_of_tree(reader.GetClientSideObject().GetOutputDataObject(0))
    return {number: vtk_to_numpy(grid.GetCellData().GetArray("uval")).copy() for number, grid in patches.items()}


def expect_all_values(reader, step, when):
    found, wanted = values_of(reader), truth_of(step)
    for patch in found:
        require(np.array_equal(found[patch].ravel(), np.asarray(wanted[patch]).ravel()), "%s: values of patch %d", when, patch)
    _, patches = rank_and_sum(len(found))
    require(len(wanted) > 3 and patches == len(wanted), "%s: %d patches in place of %d", when, patches, len(wanted))


def report_of(reader):
    reader.UpdatePropertyInformation()
    return json.loads(reader.GetPropertyValue("IOReportData"))


def new_reader():
    return PatchReader(FileName=[series], Blocks="As patches", BlankRefinedCells=0)


def check_share(words, fraction):
    """Checks that the percentage of the bar agrees with the bytes beside it."""
    match = re.match(r"Reading ([0-9.]+) of ([0-9.]+) ", words)
    if match:
        read, whole = map(float, match.groups())
        digit = 0.1 if "." in match.group(2) else 1
        require(abs(fraction * whole - read) <= 1.5 * digit, "'%s' beside %g %%", words, 100 * fraction)
        require((" left" in words) <= (fraction < 1), "'%s' beside %g %%", words, 100 * fraction)
    else:
        require("%" not in words, "'%s' beside %g %%", words, 100 * fraction)


def check_words():
    """Checks that progress texts name the activity, and that the progress never decreases."""
    reader = new_reader()
    words, fractions = [], []
    reader.GetClientSideObject().AddObserver("ProgressEvent", lambda caller, event:
        (words.append(caller.GetProgressText()), fractions.append(caller.GetProgress())))
    ReloadFiles(reader)
    reader.UpdatePipelineInformation()
    times = reader.TimestepValues[:]
    require(any(w and w.startswith("Opening") and "dumps.visit" in w for w in words), "opening: %s", words)
    del words[:], fractions[:]
    reader.UpdatePipeline(times[1])
    for beginning in ("Opening visit_dump.00016", "Locating", "Reading", "Building blocks"):
        require(any(w and w.startswith(beginning) for w in words), "'%s' is not said: %s", beginning, words)
    for stage in {word.split(" ")[0] for word in words if word}:
        of_stage = [f for word, f in zip(words, fractions) if (word or "").startswith(stage)]
        require(of_stage == sorted(of_stage), "%s goes back: %s", stage, of_stage)
    for word, fraction in zip(words, fractions):
        check_share(word or "", fraction)
    require(fractions[-1] == 1, "progress ends with %g", fractions[-1])
    Delete(reader)


def cancel(reader, time, stage):
    """Starts a read and stops it at the first progress text of a stage, on rank 0 only."""
    vtk_reader = reader.GetClientSideObject()
    seen = []

    def stop(caller, event):
        seen.append(caller.GetProgressText())
        if rank == 0 and caller.GetProgressText().startswith(stage):
            caller.SetAbortExecute(1)

    observer = vtk_reader.AddObserver("ProgressEvent", stop)
    reader.UpdatePipeline(time)
    vtk_reader.RemoveObserver(observer)
    begun = [text.startswith(stage) for text in seen]
    require(any(begun), "there was no %s to stop: %s", stage, seen)
    later = [text for text in seen[begun.index(True):] if not text.startswith((stage, "Cancelled"))]
    require(not later, "after %s it goes on: %s", stage, seen)


def check_cancel(stage, **properties):
    reader = new_reader()
    for name, value in properties.items():
        setattr(reader, name, value)
    times = reader.TimestepValues[:]
    slice_ = Slice(Input=reader)
    slice_.SliceType.Origin = [0.5, 0.5, 0.5]
    cancel(reader, times[1], stage)
    require(reader.GetDataInformation().GetNumberOfCells() == 0, "half a read is shown")
    require(reader.GetClientSideObject().GetAbortExecute() == 0, "the abort goes on after the read")
    reader.UpdatePropertyInformation()
    text = reader.GetPropertyValue("IOReport")
    require(text.startswith("Cancelled") and "visit_dump.00016" in text, "report of a read that was stopped:\n%s", text)
    report = report_of(reader)
    require(report["cancelled"] and report["past"][-1]["cancelled"], "data of the report: %s", report)

    # Reads the same step again, without other changes.
    reader.SMProxy.InvokeCommand("ReadAgain")
    reader.UpdatePipeline(times[1])
    expect_all_values(reader, STEPS[1], "the same step again")
    report = report_of(reader)
    # Arrays that were complete when the read was stopped need not be read again.
    whole = 4 * sum(values.size for values in truth_of(STEPS[1]).values())
    require(not report["cancelled"] and report["bytes"] + report["cached_bytes"] >= whole, "data of the report: %s", report)
    require(report["bytes"] + report["past"][0]["bytes"] >= whole, "less than all was read: %s", report)
    require([past["cancelled"] for past in report["past"]] == [True, False], "past reads: %s", report["past"])
    slice_.UpdatePipeline(times[1])
    require(slice_.GetDataInformation().GetNumberOfCells() > 0, "a filter of it has nothing")

    # Shows another step after a stopped read, and goes back.
    cancel(reader, times[2], stage)
    reader.UpdatePipeline(times[3])
    expect_all_values(reader, STEPS[3], "another step")
    reader.UpdatePipeline(times[2])
    expect_all_values(reader, STEPS[2], "back at the step that was stopped")
    Delete(slice_)
    Delete(reader)


def check_moments(ranks):
    """Checks the rates over time: the bytes of all ranks, with matching times and threads."""
    reader = new_reader()
    reader.UpdatePipeline(reader.TimestepValues[1])
    report = report_of(reader)
    moments = report["moments"]
    require(report["ranks"] == ranks, "ranks: %s", report)
    require(moments["seconds"] == sorted(moments["seconds"]) and moments["bytes"] == sorted(moments["bytes"]), "%s", moments)
    require(abs(moments["bytes"][-1] - report["bytes"]) < 1, "%s, of %d bytes", moments["bytes"], report["bytes"])
    seconds = report["seconds"]
    require(moments["seconds"][-1] <= seconds["read"] + seconds["decode"] + 1e-6, "%s: %s", seconds, moments)
    values = sum(values.size for values in truth_of(STEPS[1]).values())
    require(report["bytes"] >= 4 * values, "%d bytes of %d values", report["bytes"], values)
    Delete(reader)


os.makedirs(scratch, exist_ok=True)
rank, ranks = rank_and_sum(1)
check_words()
check_cancel("Reading")
check_cancel("Reading", ThreadMode="Fixed", ThreadsPerRank=1)
check_cancel("Reading", ThreadMode="Fixed", ThreadsPerRank=3)
# No locations are known yet.
check_cancel("Locating", MetadataChannel="Off")
check_cancel("Locating", MetadataChannel="Rebuild", ThreadMode="Fixed", ThreadsPerRank=3)
check_moments(ranks)
if rank == 0:
    print("passed: cancel on %d ranks" % ranks)

"""Tests the progress of a running read, and the state after a stopped read.

usage: Testing/ParaView/pvbatch.sh NP cancel.py DATA (runs on each rank)
"""
import json
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from on_ranks import finish, output_of, patches_of_tree, rank, report_of, require, sum_over_ranks, truth_of_dump  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
series = os.path.join(sys.argv[1], "linadv_3d", "dumps.visit")
STEPS = [0, 16, 32, 48]


def truth_of(step):
    """Returns patch number -> values."""
    return truth_of_dump(os.path.join(os.path.dirname(series), "visit_dump.%05d" % step), "uval")


def values_of(reader):
    """Returns patch number -> values for the output of this rank."""
    return {number: vtk_to_numpy(grid.GetCellData().GetArray("uval")).copy() for number, grid in patches_of_tree(output_of(reader)).items()}


def expect_all_values(reader, step, when):
    found, wanted = values_of(reader), truth_of(step)
    for patch in found:
        require(np.array_equal(found[patch].ravel(), np.asarray(wanted[patch]).ravel()), "%s: values of patch %d", when, patch)
    patches = sum_over_ranks(len(found))
    require(len(wanted) > 3 and patches == len(wanted), "%s: %d patches in place of %d", when, patches, len(wanted))


def data_of_report(reader):
    reader.UpdatePropertyInformation()
    return json.loads(reader.GetPropertyValue("IOReportData"))


def new_reader():
    return PatchReader(FileName=[series], Blocks="As patches", BlankRefinedCells=0)


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
    text = report_of(reader)
    require(text.startswith("Cancelled") and "visit_dump.00016" in text, "report of a read that was stopped:\n%s", text)
    report = data_of_report(reader)
    require(report["cancelled"] and report["past"][-1]["cancelled"], "data of the report: %s", report)

    # Reads the same step again, without other changes.
    reader.SMProxy.InvokeCommand("ReadAgain")
    reader.UpdatePipeline(times[1])
    expect_all_values(reader, STEPS[1], "the same step again")
    report = data_of_report(reader)
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


check_words()
check_cancel("Reading")
check_cancel("Reading", ThreadMode="Fixed", ThreadsPerRank=1)
check_cancel("Reading", ThreadMode="Fixed", ThreadsPerRank=3)
# No locations are known yet.
check_cancel("Locating", MetadataChannel="Off")
check_cancel("Locating", MetadataChannel="Rebuild", ThreadMode="Fixed", ThreadsPerRank=3)
finish("cancel")

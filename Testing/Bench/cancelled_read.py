"""Reads one time step in pvbatch and cancels the read while it waits for the storage, like Esc at a random moment.
suites/cancel.py runs it.

usage: pvbatch cancelled_read.py SERIES STAGE DELAY THREADS

STAGE: Reading; or Locating, where the reader makes the index of locations. DELAY: seconds from the first progress text of the
stage until the script cancels the read. Prints a line "JSON {...}": "seconds" from that moment until the script continues, whether the
read was "cancelled", and the number of displayed "cells".
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

path, stage, delay, threads = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
reader = patch_reader(path, Prefetch=0, ThreadsPerRank=threads)
reader.UpdatePipelineInformation()
vtk_reader = reader.GetClientSideObject()
wish = None    # time of the wish to cancel


def stop(caller, _):
    global wish
    text = caller.GetProgressText() or ""
    if wish is None and text.startswith(stage):
        wish = time.monotonic() + delay
    # The reader sees the flag only when it checks it, so the time until then counts, too.
    if wish is not None and time.monotonic() >= wish and text.startswith(stage):
        caller.SetAbortExecute(1)


vtk_reader.AddObserver("ProgressEvent", stop)
reader.UpdatePipeline(reader.TimestepValues[1])
end = time.monotonic()
print_json({"seconds": end - (wish or end), "cancelled": report_data_of(reader)["cancelled"],
            "cells": reader.GetDataInformation().GetNumberOfCells()})
# The process ends only after the pending requests: the storage now answers them without delay.
for line in ("heal", "set stream 1000", "set latency 0"):
    with open(os.path.join(os.path.dirname(path), ".emulator"), "w") as control:
        control.write(line)

"""Reads one time step in pvbatch and stops that while it waits for the storage, as Esc would at a moment of its own. Run by
suites/cancel.py.

usage: pvbatch cancelled_read.py SERIES STAGE DELAY THREADS

STAGE: Reading; or Locating, where the reader makes an index of what lies where. DELAY: seconds from the first word of it to
the wish to stop. Prints a line "JSON {...}": "seconds" from that wish until
the script goes on, whether the read was "cancelled", and the "cells" that are shown.
"""
import json
import os
import sys
import time

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
path, stage, delay, threads = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
reader = PatchReader(FileName=[path], Prefetch=0, ThreadMode="Fixed", ThreadsPerRank=threads)
reader.UpdatePipelineInformation()
vtk_reader = reader.GetClientSideObject()
wish = None  # when to stop


def stop(caller, _):
    global wish
    text = caller.GetProgressText() or ""
    if wish is None and text.startswith(stage):
        wish = time.monotonic() + delay
    # A flag is seen when the reader looks at it, so what it waits until then counts as well.
    if wish is not None and time.monotonic() >= wish and text.startswith(stage):
        caller.SetAbortExecute(1)


vtk_reader.AddObserver("ProgressEvent", stop)
reader.UpdatePipeline(reader.TimestepValues[1])
end = time.monotonic()
reader.UpdatePropertyInformation()
report = json.loads(reader.GetPropertyValue("IOReportData"))
print("JSON " + json.dumps({"seconds": end - (wish or end), "cancelled": report["cancelled"],
                            "cells": reader.GetDataInformation().GetNumberOfCells()}), flush=True)
# What the storage has got must end before the process can: now without delay.
for line in ("heal", "set stream 1000", "set latency 0"):
    with open(os.path.join(os.path.dirname(path), ".emulator"), "w") as control:
        control.write(line)

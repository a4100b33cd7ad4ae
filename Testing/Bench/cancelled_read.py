"""Reads one time step in pvbatch and stops that while it waits for the storage, as Esc would at a moment of its own. Run by
suites/cancel.py.

usage: pvbatch cancelled_read.py SERIES DELAY THREADS

DELAY: seconds from the first word of reading to the wish to stop. Prints a line "JSON {...}": "seconds" from that wish until
the script goes on, whether the read was "cancelled", and the "cells" that are shown.
"""
import json
import os
import sys
import time

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
path, delay, threads = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
reader = PatchReader(FileName=[path], Prefetch=0, ThreadMode="Fixed", ThreadsPerRank=threads)
reader.UpdatePipelineInformation()
vtk_reader = reader.GetClientSideObject()
wish = None  # when to stop


def stop(caller, _):
    global wish
    if wish is None and (caller.GetProgressText() or "").startswith("Reading"):
        wish = time.monotonic() + delay
    # A flag is seen when the reader looks at it, so what it waits until then counts as well.
    if wish is not None and time.monotonic() >= wish:
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

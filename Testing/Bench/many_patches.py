"""Opens and shows one dump in pvbatch, and prints the time of each stage as JSON. suites/stages.py runs it.

usage: pvbatch many_patches.py SUMMARY THREADS
"""
import json
import os
import sys
import time

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
seconds = {}


def stage(name, work):
    begin = time.perf_counter()
    result = work()
    seconds[name] = time.perf_counter() - begin
    print("%-16s %8.3f s" % (name, seconds[name]), flush=True)
    return result


reader = PatchReader(FileName=[sys.argv[1]], ThreadMode="Fixed", ThreadsPerRank=int(sys.argv[2]), Blocks="As patches")
stage("information", reader.UpdatePipelineInformation)
stage("update", reader.UpdatePipeline)
reader.UpdatePropertyInformation()
for part in reader.GetPropertyValue("IOReport").splitlines():
    if part.startswith("Seconds: "):
        for item in part[len("Seconds: "):].split(", "):
            name, value = item.split()
            seconds["report " + name] = float(value)

view = CreateRenderView(ViewSize=[800, 600])


def show():
    display = Show(reader, view)
    display.SetRepresentationType("Surface")
    ColorBy(display, ("CELLS", reader.CellArrayStatus[0]))
    view.ResetCamera()


stage("show", show)
stage("first render", lambda: Render(view))
stage("second render", lambda: Render(view))
print("JSON " + json.dumps(seconds))

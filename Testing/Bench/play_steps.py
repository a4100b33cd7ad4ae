"""Plays the steps of a series in one process of pvbatch: an image of the surface and three slices for each step. The first step
is displayed before, as when a user presses Play. suites/play.py runs it.

usage: pvbatch play_steps.py DUMPS ARRAY PREFETCH_STEPS

PREFETCH_STEPS 0 turns Prefetch off. Prints a line "JSON {...}": "seconds" of the whole run, the times "reads" and "renders" of each
step in the foreground, whether a step was read "ahead", and the last "report".
"""
import json
import os
import sys
import time

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
path, array, ahead = sys.argv[1], sys.argv[2], int(sys.argv[3])
reader = PatchReader(FileName=[path], ThreadMode="Fixed", ThreadsPerRank=8, Prefetch=int(ahead > 0), PrefetchSteps=max(ahead, 1))
times = reader.TimestepValues[:]
reader.UpdatePipeline(times[0])
bounds = reader.GetDataInformation().GetBounds()

view = CreateRenderView(ViewSize=[800, 600])
display = Show(reader, view)
display.SetRepresentationType("Surface")
ColorBy(display, ("CELLS", array))
for axis in range(3):
    cut = Slice(Input=reader, SliceType="Plane")
    cut.SliceType.Origin = [0.49 * bounds[2 * i] + 0.51 * bounds[2 * i + 1] for i in range(3)]
    cut.SliceType.Normal = [float(i == axis) for i in range(3)]
    ColorBy(Show(cut, view), ("CELLS", array))
view.ViewTime = times[0]
Render(view)

reads, renders = [], []
begin = time.perf_counter()
for now in times[1:]:
    start = time.perf_counter()
    reader.UpdatePipeline(now)
    read = time.perf_counter()
    view.ViewTime = now
    Render(view)
    reads.append(read - start)
    renders.append(time.perf_counter() - read)
seconds = time.perf_counter() - begin
reader.UpdatePropertyInformation()
report = reader.GetPropertyValue("IOReport")
print("JSON " + json.dumps({"seconds": seconds, "reads": reads, "renders": renders, "ahead": "Read ahead: " in report,
                            "report": report}))

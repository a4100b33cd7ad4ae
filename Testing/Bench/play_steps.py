"""Plays the steps of a series in one process of pvbatch: an image of the surface and three slices for each step. The first step
is displayed before, as when a user presses Play. suites/play.py runs it.

usage: pvbatch play_steps.py DUMPS ARRAY PREFETCH

PREFETCH: 0 or 1. Prints a line "JSON {...}": "seconds" of the whole run, the times "reads" and "renders" of each
step in the foreground, and whether a step was read "ahead".
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

path, array, ahead = sys.argv[1], sys.argv[2], int(sys.argv[3])
reader = patch_reader(path, ThreadsPerRank=8, Prefetch=ahead)
times = times_of(reader)
reader.UpdatePipeline(times[0])
bounds = reader.GetDataInformation().GetBounds()

view = make_view()
look_at(view, bounds)
show(reader, view, "CELLS", array)
place = [0.49 * bounds[2 * axis] + 0.51 * bounds[2 * axis + 1] for axis in range(3)]
for normal in ([1, 0, 0], [0, 1, 0], [0, 0, 1]):
    show(plane_slice(reader, place, normal), view, "CELLS", array)
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
print_json({"seconds": seconds, "reads": reads, "renders": renders, "ahead": "Read ahead: " in report_of(reader)})

"""Shows steps with a slice of each: the reader gives VTK the ranges of its arrays, or VTK must find them. suites/ranges.py runs
it.

usage: pvbatch range_costs.py DUMPS ARRAY BLOCKS

For every other step, the script removes the ranges after the read. Prints a line "JSON {...}": for steps with "known" and with
"unknown" ranges, the seconds to "read", to get all "ranges", and from the start of the read to the image, "frame".
"""
import json
import os
import sys
import time

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
path, array, blocks = sys.argv[1:4]
reader = PatchReader(FileName=[path], Blocks=blocks, ThreadMode="Fixed", ThreadsPerRank=os.cpu_count(), Prefetch=0, CacheMemory=0)
times = reader.TimestepValues[:]
vtk_reader = reader.GetClientSideObject()


def arrays():
    found, iterator = [], vtk_reader.GetOutputDataObject(0).NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        data = iterator.GetCurrentDataObject().GetCellData()
        found += [data.GetArray(number) for number in range(data.GetNumberOfArrays())]
        iterator.GoToNextItem()
    return found


def ask_for_ranges():
    for each in arrays():
        each.GetRange(0)
        each.GetFiniteRange(0)


def seconds(work, *arguments):
    begin = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - begin


def draw(now):
    view.ViewTime = now
    Render(view)


reader.UpdatePipeline(times[0])
bounds = reader.GetDataInformation().GetBounds()
view = CreateRenderView(ViewSize=[800, 600])
cut = Slice(Input=reader, SliceType="Plane")
cut.SliceType.Origin = [0.49 * bounds[2 * axis] + 0.51 * bounds[2 * axis + 1] for axis in range(3)]
ColorBy(Show(cut, view), ("CELLS", array))
draw(times[0])

found = {kind: {"read": [], "ranges": [], "frame": []} for kind in ("known", "unknown")}
for number, now in enumerate(times[1:]):
    kind = ("known", "unknown")[number % 2]
    read = seconds(vtk_reader.UpdateTimeStep, now)
    if kind == "unknown":
        for each in arrays():
            each.Modified()
    found[kind]["read"].append(read)
    if number % 4 < 2:
        found[kind]["ranges"].append(seconds(ask_for_ranges))
    else:
        found[kind]["frame"].append(read + seconds(reader.UpdatePipeline, now) + seconds(draw, now))
print("JSON " + json.dumps(found))

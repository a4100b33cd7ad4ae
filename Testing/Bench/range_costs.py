"""Steps with a slice of each, where the reader tells VTK the ranges of its arrays, as it does, and where VTK must find them. Run by
suites/ranges.py.

usage: pvbatch range_costs.py DUMPS ARRAY BLOCKS

Every other step the ranges are taken away again, right after the read. Prints a line "JSON {...}": of the steps "known" and
"unknown" the seconds of each to "read", to ask for all "ranges", and from the read to the picture, "frame".
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

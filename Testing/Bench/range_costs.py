"""Shows steps with a slice of each: the reader gives VTK the ranges of its arrays, or VTK must find them. suites/ranges.py runs
it.

usage: pvbatch range_costs.py DUMPS ARRAY BLOCKS

For every other step, the script removes the ranges after the read. Prints a line "JSON {...}": for steps with "known" and with
"unknown" ranges, the seconds to "read", to get all "ranges", and from the start of the read to the image, "frame".
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

path, array, blocks = sys.argv[1:4]
reader = patch_reader(path, blocks, Prefetch=0, CacheMemory=0)
times = times_of(reader)
vtk_reader = reader.GetClientSideObject()


def arrays():
    return [data.GetArray(number) for data in (grid.GetCellData() for grid in grids_of(reader)) for number in range(data.GetNumberOfArrays())]


def ask_for_ranges():
    for each in arrays():
        each.GetRange(0)
        each.GetFiniteRange(0)


def draw(now):
    view.ViewTime = now
    Render(view)


reader.UpdatePipeline(times[0])
bounds = reader.GetDataInformation().GetBounds()
view = make_view()
look_at(view, bounds)
place = [0.49 * bounds[2 * axis] + 0.51 * bounds[2 * axis + 1] for axis in range(3)]
show(plane_slice(reader, place, [1, 0, 0]), view, "CELLS", array)
draw(times[0])

found = {kind: {"read": [], "ranges": [], "frame": []} for kind in ("known", "unknown")}
for number, now in enumerate(times[1:]):
    kind = ("known", "unknown")[number % 2]
    read = timed(vtk_reader.UpdateTimeStep, now)
    if kind == "unknown":
        for each in arrays():
            each.Modified()
    found[kind]["read"].append(read)
    if number % 4 < 2:
        found[kind]["ranges"].append(timed(ask_for_ranges))
    else:
        found[kind]["frame"].append(read + timed(reader.UpdatePipeline, now) + timed(draw, now))
print_json(found)

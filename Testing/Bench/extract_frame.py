"""Runs filters that PatchIO replaces, each with its image: ParaView's own and PatchIO's in turn, in one process of pvbatch, and for
plotfiles also ParaView's own on data of its AMReX reader. Prints, as JSON, the seconds of each. suites/extract.py runs it.

usage: pvbatch extract_frame.py PATH ARRAY patches|merged ROUNDS surface|FILTER...
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

path, array, kind, rounds = sys.argv[1:4] + [int(sys.argv[4])]
set_fast_extraction(True)
reader = patch_reader(path, "Merged" if kind == "merged" else "As patches")
time_shown = times_of(reader)[-1]
reader.UpdatePipeline(time_shown)
# The reader, and whether PatchIO's filters are used.
WAYS = {"ParaView": (reader, 0), "PatchIO": (reader, 1)}
if os.path.basename(path) == "Header":
    its_reader = amrex_reader([os.path.dirname(path)], [array])
    its_reader.UpdatePipeline(time_shown)
    WAYS["AMReX reader"] = (its_reader, 0)
bounds = reader.GetDataInformation().GetBounds()
centre = [(bounds[2 * axis] + bounds[2 * axis + 1]) / 2 for axis in range(3)]
size = sum((bounds[2 * axis + 1] - bounds[2 * axis]) ** 2 for axis in range(3)) ** 0.5


def move(plane):
    plane.Origin = [place + 0.0123 * size for place in centre]


def value_at(part):
    low, high = reader.CellData[array].GetRange()
    return low + part * (high - low)


def contour(source):
    return Contour(Input=source, ContourBy=["CELLS", array], Isosurfaces=[value_at(0.5)])


def move_contour(proxy):
    proxy.Isosurfaces = [value_at(0.49)]


def clip(source):
    proxy = Clip(Input=source)
    proxy.ClipType.Origin, proxy.ClipType.Normal = centre, [0, 0, 1]
    return proxy


def threshold(source):
    return Threshold(Input=source, Scalars=["CELLS", array], LowerThreshold=value_at(0.25), UpperThreshold=value_at(0.75))


def move_threshold(proxy):
    proxy.LowerThreshold = value_at(0.26)


# For each filter: the function that makes it, and the function that changes it.
FILTERS = {
    "slice": (lambda source: plane_slice(source, centre, [0, 0, 1]), lambda proxy: move(proxy.SliceType)),
    "oblique slice": (lambda source: plane_slice(source, centre, [1, 0.7, 0.4]), lambda proxy: move(proxy.SliceType)),
    "contour": (contour, move_contour),
    "clip": (clip, lambda proxy: move(proxy.ClipType)),
    "threshold": (threshold, move_threshold),
}


def draw(make, change, source, use, view):
    """Returns the seconds of the filter, of its image and of the next image after a change, and its number of cells."""
    proxy = make(source)
    proxy.UsePatchIO = use
    begin = time.perf_counter()
    proxy.UpdatePipeline(time_shown)
    made = time.perf_counter()
    display = Show(proxy, view)
    ColorBy(display, ("CELLS" if array in proxy.CellData.keys() else "POINTS", array))
    Render(view)
    drawn = time.perf_counter()
    cells = proxy.GetDataInformation().GetNumberOfCells()
    begin_again = time.perf_counter()
    change(proxy)
    Render(view)
    again = time.perf_counter() - begin_again
    Delete(display)
    Delete(proxy)
    return {"filter": made - begin, "picture": drawn - made, "again": again, "cells": cells}


def draw_surface(source, use, view):
    """Returns the same as draw() for the surface of the reader, without a filter. The change is another direction of view."""
    set_fast_extraction(use)
    begin = time.perf_counter()
    display = show(source, view, "CELLS", array)
    Render(view)
    drawn = time.perf_counter()
    place = list(view.CameraPosition)
    view.CameraPosition = [2 * middle - old for middle, old in zip(centre, place)]
    Render(view)
    again = time.perf_counter() - drawn
    view.CameraPosition = place
    Delete(display)
    set_fast_extraction(True)
    return {"filter": 0, "picture": drawn - begin, "again": again}


view = make_view()
look_at(view, bounds)
view.ViewTime = time_shown    # the time that was read; otherwise, each image would execute all filters again
Render(view)
results = {name: {way: [] for way in WAYS} for name in sys.argv[5:]}
for name, ways in results.items():
    for number in range(rounds):
        for way in shuffled(WAYS, number):
            ways[way].append(draw(*FILTERS[name], *WAYS[way], view) if name in FILTERS else draw_surface(*WAYS[way], view))
            print(name, way, ways[way][-1], flush=True)
print_json(results)

"""Runs filters that PatchIO replaces, each with its image: ParaView's own and PatchIO's in turn, in one process of pvbatch, and for
plotfiles also ParaView's own on data of its AMReX reader. Prints, as JSON, the seconds of each. suites/extract.py runs it.

usage: pvbatch extract_frame.py PATH ARRAY patches|merged ROUNDS WAYS surface|FILTER...

WAYS is ParaView, PatchIO, AMReX reader, or all."""
import json
import os
import random
import sys
import time

import paraview.simple
from paraview import servermanager
from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
path, array, kind, rounds = sys.argv[1:4] + [int(sys.argv[4])]
servermanager.vtkSMParaViewPipelineController().UpdateSettingsProxies(servermanager.ActiveConnection.Session)
settings = GetSettingsProxy("PatchIOSettings")

reader = PatchReader(FileName=[path], ThreadMode="Fixed", ThreadsPerRank=os.cpu_count(),
                     Blocks="Merged" if kind == "merged" else "As patches")
reader.UpdatePipelineInformation()
times = reader.TimestepValues if hasattr(reader.TimestepValues, "__len__") else [reader.TimestepValues]
time_shown = times[-1] if len(times) else 0.0
reader.UpdatePipeline(time_shown)
# The reader, and whether PatchIO's filters are used.
WAYS = {"ParaView": (reader, 0), "PatchIO": (reader, 1)}
if os.path.basename(path) == "Header" and sys.argv[5] in ("all", "AMReX reader"):
    its_reader = AMReXBoxLibGridReader(FileNames=[os.path.dirname(path)], Level=30)
    its_reader.UpdatePipelineInformation()
    its_reader.CellArrayStatus = [array]
    its_reader.UpdatePipeline(time_shown)
    WAYS["AMReX reader"] = (its_reader, 0)
if sys.argv[5] != "all":
    WAYS = {sys.argv[5]: WAYS[sys.argv[5]]}
bounds = reader.GetDataInformation().GetBounds()
centre = [(bounds[2 * axis] + bounds[2 * axis + 1]) / 2 for axis in range(3)]
size = sum((bounds[2 * axis + 1] - bounds[2 * axis]) ** 2 for axis in range(3)) ** 0.5


def plane(source, normal):
    proxy = Slice(Input=source)
    proxy.SliceType.Origin, proxy.SliceType.Normal = centre, normal
    return proxy


def move_plane(proxy):
    proxy.SliceType.Origin = [place + 0.0123 * size for place in centre]


def value_at(part):
    low, high = reader.CellData[array].GetRange()
    return low + part * (high - low)


def contour(source):
    return Contour(Input=source, ContourBy=["CELLS", array], Isosurfaces=[value_at(0.5)])


def move_contour(proxy):
    proxy.Isosurfaces = [value_at(0.49)]


def clip(source, normal):
    proxy = Clip(Input=source)
    proxy.ClipType.Origin, proxy.ClipType.Normal = centre, normal
    return proxy


def move_clip(proxy):
    proxy.ClipType.Origin = [place + 0.0123 * size for place in centre]


def threshold(source):
    return Threshold(Input=source, Scalars=["CELLS", array], LowerThreshold=value_at(0.25), UpperThreshold=value_at(0.75))


def move_threshold(proxy):
    proxy.LowerThreshold = value_at(0.26)


# For each filter: the function that makes it, and the function that changes it.
FILTERS = {
    "slice": (lambda source: plane(source, [0, 0, 1]), move_plane),
    "oblique slice": (lambda source: plane(source, [1, 0.7, 0.4]), move_plane),
    "contour": (contour, move_contour),
    "clip": (lambda source: clip(source, [0, 0, 1]), move_clip),
    "oblique clip": (lambda source: clip(source, [1, 0.7, 0.4]), move_clip),
    "threshold": (threshold, move_threshold),
}


def make_view():
    paraview.simple._DisableFirstRenderCameraReset()
    view = CreateRenderView(ViewSize=[800, 600])
    view.OrientationAxesVisibility = 0
    view.CameraFocalPoint = centre
    view.CameraPosition = [place + size * way for place, way in zip(centre, (1.35, 0.7, 0.45))]
    view.CameraViewUp = [0, 0, 1]
    # The view shows the time that was read; otherwise, each image would execute all filters again.
    view.ViewTime = time_shown
    Render(view)
    return view


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
    settings.FastExtraction = use
    begin = time.perf_counter()
    display = Show(source, view)
    display.SetRepresentationType("Surface")
    ColorBy(display, ("CELLS", array))
    Render(view)
    drawn = time.perf_counter()
    place = list(view.CameraPosition)
    view.CameraPosition = [2 * middle - old for middle, old in zip(centre, place)]
    Render(view)
    again = time.perf_counter() - drawn
    view.CameraPosition = place
    Delete(display)
    settings.FastExtraction = 1
    return {"filter": 0, "picture": drawn - begin, "again": again}


view = make_view()
results = {name: {way: [] for way in WAYS} for name in sys.argv[6:]}
for name, ways in results.items():
    for number in range(rounds):
        order = list(WAYS)
        random.Random(number).shuffle(order)
        for way in order:
            ways[way].append(draw(*FILTERS[name], *WAYS[way], view) if name in FILTERS else draw_surface(*WAYS[way], view))
            print(name, way, ways[way][-1], flush=True)
print("JSON " + json.dumps(results))

"""Times ParaView's filters on one data set in one process of pvbatch, with VTK's backend "Sequential" and with threads,
in turn. Prints, as JSON, the seconds of each. suites/filters.py runs it.

usage: pvbatch filter_threads.py PATH ARRAY patches|merged ROUNDS
"""
import json
import os
import random
import sys
import time

from paraview import servermanager
from paraview.modules.vtkPVVTKExtensionsFiltersRendering import vtkPVGeometryFilter
from paraview.simple import *
from vtkmodules.vtkCommonCore import vtkSMPTools

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
# This script measures ParaView's own filters and surfaces.
servermanager.vtkSMParaViewPipelineController().UpdateSettingsProxies(servermanager.ActiveConnection.Session)
GetSettingsProxy("PatchIOSettings").FastExtraction = 0
path, array, kind, rounds = sys.argv[1:4] + [int(sys.argv[4])]
CORES = os.cpu_count()
BACKENDS = {"off": ("Sequential", 1), "on": ("STDThread", CORES)}

reader = PatchReader(FileName=[path], ThreadMode="Fixed", ThreadsPerRank=CORES,
                     Blocks="Merged" if kind == "merged" else "As patches")
reader.UpdatePipeline()
cells = reader.GetClientSideObject().GetOutputDataObject(0)
points = CellDatatoPointData(Input=reader, ProcessAllArrays=1)
points.UpdatePipeline()
low, high = reader.CellData[array].GetRange()
middle = (low + high) / 2
bounds = reader.GetDataInformation().GetBounds()
centre = [(bounds[0] + bounds[1]) / 2, (bounds[2] + bounds[3]) / 2, (bounds[4] + bounds[5]) / 2]


def plane(normal):
    return dict(Origin=centre, Normal=normal)


def with_plane(name, proxy, normal):
    for key, value in plane(normal).items():
        setattr(getattr(proxy, name), key, value)
    return proxy


def threshold():
    proxy = Threshold(Input=reader, Scalars=["CELLS", array])
    proxy.LowerThreshold, proxy.UpperThreshold = middle, high
    return proxy


FILTERS = {
    "Slice across an axis": lambda: with_plane("SliceType", Slice(Input=reader), [0, 0, 1]),
    "Slice, oblique": lambda: with_plane("SliceType", Slice(Input=reader), [1, 0.7, 0.4]),
    "Contour": lambda: Contour(Input=points, ContourBy=["POINTS", array], Isosurfaces=[middle]),
    "Contour without normals": lambda: Contour(Input=points, ContourBy=["POINTS", array], Isosurfaces=[middle],
                                               ComputeNormals=0),
    "Clip": lambda: with_plane("ClipType", Clip(Input=reader, Invert=1), [1, 0.7, 0.4]),
    "Threshold": threshold,
    "Extract Surface": lambda: ExtractSurface(Input=reader),
    "Cell Data to Point Data": lambda: CellDatatoPointData(Input=reader),
    "Point Data to Cell Data": lambda: PointDatatoCellData(Input=points),
    "Gradient of points": lambda: Gradient(Input=points, ScalarArray=["POINTS", array]),
    "Gradient of cells": lambda: Gradient(Input=reader, ScalarArray=["CELLS", array]),
    "Calculator": lambda: Calculator(Input=reader, AttributeType="Cell Data", Function="sin(%s)^2+%s" % (array, array)),
    "Resample to Image": lambda: ResampleToImage(Input=reader, SamplingDimensions=[128, 128, 128]),
    "Warp by Scalar": lambda: WarpByScalar(Input=points, Scalars=["POINTS", array], ScaleFactor=0.01),
    "Surface of the view": None,
}


def use(backend):
    name, threads = BACKENDS[backend]
    vtkSMPTools.SetBackend(name)
    vtkSMPTools.Initialize(threads)


def seconds_of(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def rerun(algorithm):
    algorithm.Modified()
    algorithm.Update()


def surface():
    algorithm = vtkPVGeometryFilter()
    algorithm.SetUseOutline(0)
    algorithm.SetInputDataObject(cells)
    return algorithm


def measure(algorithm):
    """Times groups of runs that take a tenth of a second, so that short runs are measured well."""
    algorithm.Update()
    repeats = max(1, min(100, int(0.1 / max(seconds_of(lambda: rerun(algorithm)), 1e-4))))
    found = {backend: [] for backend in BACKENDS}
    for number in range(rounds):
        order = list(BACKENDS)
        random.Random(number).shuffle(order)
        for backend in order:
            use(backend)
            found[backend].append(seconds_of(lambda: [rerun(algorithm) for _ in range(repeats)]) / repeats)
    use("off")
    return found


results = {}
wanted = os.environ.get("PATCHIO_FILTERS", "").split(",") if os.environ.get("PATCHIO_FILTERS") else list(FILTERS)
for name in wanted:
    algorithm = FILTERS[name]().GetClientSideObject() if FILTERS[name] else surface()
    results[name] = measure(algorithm)
    print("%-28s" % name, {key: ["%.4f" % s for s in value] for key, value in results[name].items()}, flush=True)
print("JSON " + json.dumps({"filters": results, "cells": cells.GetNumberOfCells()}))

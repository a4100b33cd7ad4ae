"""Times ParaView's filters on one data set in one process of pvbatch, with VTK's backend "Sequential" and with threads,
in turn. Prints, as JSON, the seconds of each. suites/filters.py runs it.

usage: pvbatch filter_threads.py PATH ARRAY patches|merged ROUNDS
"""
import os
import sys

from paraview.modules.vtkPVVTKExtensionsFiltersRendering import vtkPVGeometryFilter
from vtkmodules.vtkCommonCore import vtkSMPTools

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

set_fast_extraction(False)    # this script measures ParaView's own filters and surfaces
path, array, kind, rounds = sys.argv[1:4] + [int(sys.argv[4])]
BACKENDS = {"off": ("Sequential", 1), "on": ("STDThread", os.cpu_count())}

reader = patch_reader(path, "Merged" if kind == "merged" else "As patches")
reader.UpdatePipeline()
cells = reader.GetClientSideObject().GetOutputDataObject(0)
points = CellDatatoPointData(Input=reader, ProcessAllArrays=1)
points.UpdatePipeline()
low, high = reader.CellData[array].GetRange()
middle = (low + high) / 2
bounds = reader.GetDataInformation().GetBounds()
centre = [(bounds[0] + bounds[1]) / 2, (bounds[2] + bounds[3]) / 2, (bounds[4] + bounds[5]) / 2]


def threshold():
    proxy = Threshold(Input=reader, Scalars=["CELLS", array])
    proxy.LowerThreshold, proxy.UpperThreshold = middle, high
    return proxy


FILTERS = {
    "Slice across an axis": lambda: plane_slice(reader, centre, [0, 0, 1]),
    "Slice, oblique": lambda: plane_slice(reader, centre, [1, 0.7, 0.4]),
    "Contour": lambda: Contour(Input=points, ContourBy=["POINTS", array], Isosurfaces=[middle]),
    "Threshold": threshold,
    "Cell Data to Point Data": lambda: CellDatatoPointData(Input=reader),
    "Gradient of points": lambda: Gradient(Input=points, ScalarArray=["POINTS", array]),
    "Gradient of cells": lambda: Gradient(Input=reader, ScalarArray=["CELLS", array]),
    "Calculator": lambda: Calculator(Input=reader, AttributeType="Cell Data", Function="sin(%s)^2+%s" % (array, array)),
    "Resample to Image": lambda: ResampleToImage(Input=reader, SamplingDimensions=[128, 128, 128]),
    "Surface of the view": None,
}


def use(backend):
    name, threads = BACKENDS[backend]
    vtkSMPTools.SetBackend(name)
    vtkSMPTools.Initialize(threads)


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
    repeats = max(1, min(100, int(0.1 / max(timed(lambda: rerun(algorithm)), 1e-4))))
    found = {backend: [] for backend in BACKENDS}
    for number in range(rounds):
        for backend in shuffled(BACKENDS, number):
            use(backend)
            found[backend].append(timed(lambda: [rerun(algorithm) for _ in range(repeats)]) / repeats)
    use("off")
    return found


results = {}
wanted = os.environ.get("PATCHIO_FILTERS", "").split(",") if os.environ.get("PATCHIO_FILTERS") else list(FILTERS)
for name in wanted:
    algorithm = FILTERS[name]().GetClientSideObject() if FILTERS[name] else surface()
    results[name] = measure(algorithm)
    print("%-28s" % name, {key: ["%.4f" % s for s in value] for key, value in results[name].items()}, flush=True)
print_json({"filters": results})

#!/usr/bin/python3
"""Measures patchio.vtk, VTK's reader of AMReX, to_yt() and yt's own loader on a plotfile: seconds and peak memory.

usage: PYTHONPATH=... neighbours_bench.py PLOTFILE [VARIABLE [RUNS]]

Each way runs in a process of its own, one after the other, RUNS times (3). The table has medians. Ways whose packages (patchio.vtk, yt) are
missing are left out.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ParaView"))
from leaves import leaves  # noqa: E402


def timed(*works):
    """Calls functions, each with the result of the one before, and returns the seconds after each."""
    begin, seconds, found = time.perf_counter(), [], None
    for work in works:
        found = work(found)
        seconds.append(time.perf_counter() - begin)
    return seconds


def filtered(name, reader, cutter, surface, points=None):
    """Reads; slices through the middle; contours at the middle of the values. `points`: the filter that makes point data, if
    `surface` needs them."""
    from vtkmodules.vtkCommonDataModel import vtkBoundingBox, vtkPlane
    kept = []

    def read(_):
        reader.Update()
        kept[:] = leaves(reader.GetOutputDataObject(0))

    def cut(_):
        box = vtkBoundingBox()
        for grid in kept:
            box.AddBounds(grid.GetBounds())
        plane = vtkPlane()
        plane.SetOrigin([box.GetBound(2 * axis) + 0.501 * box.GetLength(axis) for axis in range(3)])
        plane.SetNormal(0, 0, 1)
        cutter.SetInputConnection(reader.GetOutputPort())
        cutter.SetCutFunction(plane)
        cutter.Update()

    def contour(_):
        ranges = [grid.GetCellData().GetArray(name).GetRange() for grid in kept]
        if points:
            points.SetInputConnection(reader.GetOutputPort())
        surface.SetInputConnection((points or reader).GetOutputPort())
        surface.SetValue(0, 0.5 * (min(low for low, _ in ranges) + max(high for _, high in ranges)))
        surface.Update()

    return timed(read, cut, contour)


def classes_of_patchio(path, name):
    """vtkPatchReader and PatchIO's filters."""
    from patchio import vtk
    reader, surface = vtk.vtkPatchReader(), vtk.vtkPatchContour()
    reader.AddFileName(path)
    reader.UpdateInformation()
    reader.GetCellArraySelection().DisableAllArrays()
    reader.GetCellArraySelection().EnableArray(name)
    surface.SetInputArrayToProcess(0, 0, 0, 1, name)
    return filtered(name, reader, vtk.vtkPatchSlice(), surface)


def of_vtk(path, name):
    """VTK's own reader and filters."""
    from vtkmodules.vtkFiltersCore import vtkCellDataToPointData, vtkContourFilter, vtkCutter
    from vtkmodules.vtkIOAMR import vtkAMReXGridReader
    reader, surface = vtkAMReXGridReader(), vtkContourFilter()
    reader.SetFileName(path)
    reader.UpdateInformation()
    reader.SetMaxLevel(100)
    reader.SetCellArrayStatus(name, 1)
    surface.SetInputArrayToProcess(0, 0, 0, 0, name)
    return filtered(name, reader, vtkCutter(), surface, vtkCellDataToPointData())


def of_yt(load, name):
    import yt
    yt.set_log_level(50)

    def total(ds):
        ds.all_data().quantities.extrema(name)
        return ds

    return timed(lambda _: load(yt), total)


def patchio_to_yt(path, name):
    import patchio
    return of_yt(lambda _: patchio.open(path)[0].to_yt(name), ("stream", name))


def own_yt(path, name):
    return of_yt(lambda yt: yt.load(path), ("boxlib", name))


WAYS = {"patchio.vtk": classes_of_patchio, "vtkAMReXGridReader": of_vtk, "to_yt()": patchio_to_yt, "yt.load()": own_yt}


def main():
    if sys.argv[1] == "--one":
        seconds = WAYS[sys.argv[2]](*sys.argv[3:5])
        print(json.dumps(seconds + [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3]))
        return
    path, name, runs = (sys.argv[1:] + ["phi", "3"][len(sys.argv) - 2:])[:3]
    found = {way: [] for way in WAYS}
    for _ in range(int(runs)):
        for way in WAYS:
            done = subprocess.run([sys.executable, __file__, "--one", way, path, name], capture_output=True, text=True)
            if "ModuleNotFoundError" in done.stderr:
                continue
            if done.returncode:
                sys.exit("%s: %s" % (way, done.stderr[-2000:]))
            found[way].append(json.loads(done.stdout.splitlines()[-1]))
    print("VTK: s after read, slice, contour; yt: after load, extrema of all cells; then peak MB")
    for way, numbers in found.items():
        print("%-28s %s" % (way, "  ".join("%.3g" % statistics.median(column) for column in zip(*numbers))))


if __name__ == "__main__":
    main()

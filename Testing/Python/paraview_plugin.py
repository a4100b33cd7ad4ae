"""The Python plugin for ParaView, without the compiled one: values and places against h5py's, times, levels, region, arrays, faults, ranks.

usage: pvbatch.sh RANKS paraview_plugin.py PACKAGE DATA [TRUTHDIR...]

PACKAGE: the folder of the package patchio. DATA: Data/linadv_3d. TRUTHDIR: reference values of SAMRAI's or AMReX's reference.py.
"""
import json
import os
import sys

import numpy as np

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), sys.argv[1]]
import patchio.paraview  # noqa: E402
from paraview.simple import Delete, IntegrateVariables, Slice, servermanager  # noqa: E402
from values import TruthOfStep, check_array, compared, expect, failed  # noqa: E402
from vtkmodules.vtkCommonCore import vtkOutputWindow, vtkStringOutputWindow  # noqa: E402
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402

MODULE = servermanager.vtkProcessModule.GetProcessModule()
RANKS, RANK = MODULE.GetNumberOfLocalPartitions(), MODULE.GetPartitionId()
patchio.paraview.load(globals())


def opened(path, **properties):
    return PatchIOPythonReader(FileName=path, **properties)    # noqa: F821


def pieces_of(reader, time=None):
    """Returns {(level, name): (grid, {array: values})} of what the reader gives on one rank."""
    reader.UpdatePipeline(*([] if time is None else [time]))
    output, found = reader.GetClientSideObject().GetOutputDataObject(0), {}
    for level in range(output.GetNumberOfBlocks()):
        pieces = output.GetBlock(level)
        for number in range(pieces.GetNumberOfPieces()):
            grid = pieces.GetPiece(number)
            arrays = {data.GetArrayName(n): vtk_to_numpy(data.GetArray(n)) for data in (grid.GetCellData(), grid.GetPointData())
                      for n in range(data.GetNumberOfArrays())}
            found[level, pieces.GetMetaData(number).Get(output.NAME())] = grid, arrays
    return found


def check_patches(series, folder):
    """Compares each patch of each step with the values that h5py has read, and its place."""
    reader = opened(series["index"], Blocks=0)
    for time, about in zip(series["times"], series["steps"]):
        truth = TruthOfStep(os.path.join(folder, about["npz"]))
        found = pieces_of(reader, time)
        numbers = {(patch["level"], "%s, patch %d" % ("level %d" % patch["level"], patch["number"])): p for p, patch in enumerate(truth.meta["patches"])}
        where = "%s at %g" % (series["index"], time)
        if not expect(set(found) == set(numbers), "%s: grids %s instead of %s", where, sorted(found)[:5], sorted(numbers)[:5]):
            continue
        for key, p in numbers.items():
            grid, arrays = found[key]
            for variable in truth.meta["variables"]:
                want = truth.array(p, variable, False)
                if want is None or variable["name"] not in arrays:
                    continue
                components = [variable["components"]] if variable["components"] > 1 else []
                check_array(arrays[variable["name"]], want.reshape([-1] + components), "%s '%s' of patch %d" % (where, variable["name"], p))
            if not truth.meta["deformed"]:
                box, dim = truth.meta["patches"][p], truth.meta["dim"]
                low = [truth.meta["origin"][a] + box["lower"][a] * truth.meta["spacing"][box["level"]][a] for a in range(dim)]
                expect(np.allclose(grid.GetBounds()[0:2 * dim:2], low), "%s: patch %d is at %s instead of %s", where, p, grid.GetBounds(), low)
    Delete(reader)


def check_size(reader, want, what):
    """Compares the volume or area of all cells with `want`, on rank 0."""
    whole = IntegrateVariables(reader)
    whole.UpdatePipeline()
    table = servermanager.Fetch(whole)
    if RANK == 0:
        size = table.GetCellData().GetArray("Volume") or table.GetCellData().GetArray("Area")
        expect(abs(size.GetValue(0) - want) < 1e-6, "%s: %g instead of %g", what, size.GetValue(0), want)
    Delete(whole)


def check_choices(reader):
    """Levels, a region and no arrays."""
    cells = reader.GetDataInformation().GetNumberOfCells()
    reader.LevelRange = [0, 0]
    reader.UpdatePipeline()
    expect(reader.GetDataInformation().GetNumberOfCells() == 2 * 8 ** 3 and cells > 2 * 8 ** 3, "level 0 has %d cells", reader.GetDataInformation().GetNumberOfCells())
    reader.LevelRange = [0, 100]
    reader.UseRegion, reader.RegionBounds = 1, [0, 0.1, 0, 0.1, 0, 0.1]
    reader.UpdatePipeline()
    expect(0 < reader.GetDataInformation().GetNumberOfCells() < cells, "the region has %d of %d cells", reader.GetDataInformation().GetNumberOfCells(), cells)
    reader.UseRegion, reader.Arrays = 0, []
    reader.UpdatePipeline()
    expect(not reader.CellData.GetNumberOfArrays() or reader.CellData.keys() == ["vtkGhostType"], "arrays %s", reader.CellData.keys())


def check_merged(path):
    """Blocks of each form cover the domain of an AMR data set once, on all ranks together."""
    reader = opened(path)
    for form in (2, 0, 1):
        reader.Blocks = form
        check_size(reader, 0.25, "%s, form %d" % (path, form))
    if RANKS == 1:
        check_choices(reader)
    reader.Arrays, reader.StorageConcurrency, reader.OtherLoad = ["uval"], 8, 2
    plane = Slice(reader)
    plane.SliceType.Origin, plane.SliceType.Normal = [0.5, 0.26, 0.25], [0, 1, 0]
    check_size(plane, 0.5, "slice")
    Delete(plane)
    Delete(reader)
    compared[0] += 1


def check_faults():
    """A missing file is told in ParaView's window of messages."""
    window, said = vtkOutputWindow.GetInstance(), vtkStringOutputWindow()
    vtkOutputWindow.SetInstance(said)
    reader = opened("/nonexistent/dumps.visit")
    reader.UpdatePipeline()
    vtkOutputWindow.SetInstance(window)
    expect("PatchIO: /nonexistent/dumps.visit: No such file" in said.GetOutput(), "said %s", said.GetOutput()[:500])
    Delete(reader)


def main():
    data, *folders = sys.argv[2:]
    for folder in folders:
        with open(os.path.join(folder, "series.json")) as file:
            for series in json.load(file):
                check_patches(series, folder)
    check_merged(data)
    if not folders:
        print("passed: rank %d of %d" % (RANK, RANKS) if not failed else "FAILED %s" % failed)
        return
    check_faults()
    print("%s: %d values compared" % ("FAILED" if failed or compared[0] < 1000 else "passed", compared[0]))


main()

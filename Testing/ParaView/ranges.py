"""Tests the ranges of arrays that the reader gives to VTK. They must be known before any request, and must be those of visible
values, without cells under finer levels, gaps, ghost layers and cells that another patch has.

usage: Testing/ParaView/pvbatch.sh NP ranges.py OUTPUT DATA

Runs on every rank. OUTPUT gets a plotfile of two levels, with negative values, and one with NaN; DATA is the project's own folder,
of SAMRAI.
"""
import os
import re
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkDataArray, vtkVersion

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "AMReX"))
from on_ranks import controller, expect, finish, leaves, rank, ranks  # noqa: E402
from plotfile_writer import tiles, write_plotfile  # noqa: E402

NOTHING = (1e299, -1e299)    # VTK's range of an array without a number
# ParaView 5.13 computes the ranges of point arrays itself, from all points (Documentation/Guide/Limits.md).
points_count_all = (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) >= (9, 3)
narrower = [0]    # number of ranges that would be wider if hidden values counted


LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())


def arrays_of(vtk_reader):
    """Yields each array with one flag per tuple, whether it is visible (always true for the flags themselves), and whether ParaView
    counts hidden values."""
    found = []
    for grid in leaves(vtk_reader.GetOutputDataObject(0)):
        ghosts = grid.GetCellData().GetArray("vtkGhostType")
        shape = [max(n - 1, 1) for n in grid.GetDimensions()[::-1]]
        cells = (vtk_to_numpy(ghosts) == 0 if ghosts else np.ones(np.prod(shape), bool)).reshape(shape)
        nodes = np.zeros(grid.GetDimensions()[::-1], bool)
        for corner in np.ndindex(*[min(n, 2) for n in nodes.shape]):
            nodes[tuple(slice(c, c + n) for c, n in zip(corner, shape))] |= cells
        for attributes, seen, all_count in ((grid.GetCellData(), cells, False), (grid.GetPointData(), nodes, points_count_all)):
            for i in range(attributes.GetNumberOfArrays()):
                array = attributes.GetArray(i)
                found.append((array, np.ones(seen.size, bool) if array.GetName() == "vtkGhostType" else seen.ravel(), all_count))
    return found


def true_range(values):
    """Returns the range of the values that are not NaN, in VTK's form."""
    return [float(np.nanmin(values)), float(np.nanmax(values))] if np.isfinite(values).any() else list(NOTHING)


def check(reader, time, what):
    """Checks the reader without ParaView, which would request ranges from VTK at once. Returns the number of known ranges."""
    vtk_reader = reader.GetClientSideObject()
    vtk_reader.UpdateInformation()
    vtk_reader.UpdateTimeStep(time, rank, ranks, 0)
    known, all_seen = 0, {}
    for array, seen, all_count in arrays_of(vtk_reader):
        values = vtk_to_numpy(array).reshape(array.GetNumberOfTuples(), -1)
        narrower[0] += values.shape[1] == 1 and true_range(values[seen]) != true_range(values)
        legend = true_range(values if all_count else values[seen])
        values = values[seen]
        components = values.shape[1]
        given = array.HasInformation() and array.GetInformation().Has(vtkDataArray.PER_COMPONENT()) and \
            array.GetInformation().Has(vtkDataArray.PER_FINITE_COMPONENT())
        known += given
        label = "%s, %s" % (what, array.GetName())
        expect(given == (components <= 3), "%s: known: %s", label, given)
        wanted = [(c, values[:, c]) for c in range(components)]
        if components > 1:
            wanted.append((-1, np.sqrt((values.astype(np.float64) ** 2).sum(axis=1))))
        for component, truth in wanted:
            for found in (array.GetRange(component), array.GetFiniteRange(component)):
                close = np.allclose(found, true_range(truth), rtol=1e-14 if component < 0 else 0, atol=0)
                expect(close, "%s: component %d: %s, not %s", label, component, found, true_range(truth))
        if components == 1 and array.GetName() != "vtkGhostType":
            all_seen.setdefault(array.GetName(), []).append(legend)
    check_of_paraview(reader, time, all_seen, what)
    return known


def check_of_paraview(reader, time, ranges, what):
    """Checks the range of ParaView's legend: the range over all blocks, or over the blocks of this rank if each rank runs the
    script."""
    reader.UpdatePipeline(time)
    information = reader.SMProxy.GetDataInformation(0)
    for name, pairs in ranges.items():
        array = information.GetCellDataInformation().GetArrayInformation(name) or \
            information.GetPointDataInformation().GetArrayInformation(name)
        want = [min(p[0] for p in pairs), max(p[1] for p in pairs)]
        found = array.GetComponentRange(0) if array else None
        expect(found and list(found) == want, "%s: ParaView's range of %s: %s, not %s", what, name, found, want)


def samrai(folder):
    reader = PatchReader(FileName=[os.path.join(sys.argv[2], folder, "dumps.visit")], Prefetch=1)
    times = reader.TimestepValues[:]
    known = 0
    for blocks in ("Merged", "As patches"):
        reader.Blocks = blocks
        reader.UpdateVTKObjects()
        known += check(reader, times[0], folder + ", " + blocks)
    for name, value in (("AddPatchIds", 1), ("AddGhostLayer", 1), ("BlankRefinedCells", 0), ("LevelRange", [0, 1]),
                        ("Blocks", "Merged"), ("BlankRefinedCells", 1), ("AddGhostLayer", 0), ("ReadGhostCells", 1)):
        # From now on some values come from the cache.
        setattr(reader, name, value)
        reader.UpdateVTKObjects()
        known += check(reader, times[0], "%s, %s %s" % (folder, name, value))
    for time in times[1:] + times[:2]:
        known += check(reader, time, "%s, time %g" % (folder, time))
    expect(known > 20, "%s: only %d ranges known", folder, known)
    Delete(reader)


def plotfile():
    """Makes a plotfile with negative values, and one NaN in the second component, in the first patch of level 1."""
    plot = os.path.join(sys.argv[1], "plt00000")
    if rank == 0:
        levels = [tiles((0, 0, 0), (15, 15, 15), (8, 8, 8)), tiles((8, 8, 8), (23, 23, 23), (8, 8, 8))]
        write_plotfile(plot, ((0, 0, 0), (15, 15, 15)), levels, ratios=[(2, 2, 2)], names=["signed", "holes"], seed=-5000)
        with open(os.path.join(plot, "Level_1", "Cell_D_00000"), "r+b") as data:
            data.readline()
            data.seek((8 ** 3 + 11) * 8, os.SEEK_CUR)
            data.write(np.array([np.nan], "<f8").tobytes())
    controller.Barrier()
    reader = PatchReader(FileName=[plot])
    for blocks in ("Merged", "As patches"):
        reader.Blocks = blocks
        reader.UpdateVTKObjects()
        expect(check(reader, 0, "plotfile, " + blocks) > 0, "plotfile: nothing known")
    Delete(reader)


def vector_without_numbers():
    """Checks a patch whose x components are all NaN. Save Data must write ranges that can be read back: numbers."""
    plot = os.path.join(sys.argv[1], "vector", "plt00000")
    if rank == 0:
        write_plotfile(plot, ((0, 0, 0), (15, 7, 7)), [tiles((0, 0, 0), (15, 7, 7), (8, 8, 8))], names=["x_v", "y_v", "z_v"])
        with open(os.path.join(plot, "Level_0", "Cell_D_00000"), "r+b") as data:
            data.readline()
            data.write(np.full(8 ** 3, np.nan, "<f8").tobytes())
    controller.Barrier()
    reader = PatchReader(FileName=[plot], Blocks="As patches")
    expect(check(reader, 0, "no numbers") > 0, "no numbers: nothing known")
    SaveData(os.path.join(sys.argv[1], "saved.vtm"), proxy=reader)
    controller.Barrier()
    folder, found = os.path.join(sys.argv[1], "saved"), []
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            for key in re.findall(rb'name="L2_NORM[^>]*>(.*?)</InformationKey>', file.read(), re.S):
                found += re.findall(rb">\s*([^<\s]+)\s*<", key)
    expect(found and np.isfinite(np.array(found, float)).all(), "lengths in saved files: %s", found)
    Delete(reader)


os.makedirs(sys.argv[1], exist_ok=True)
for each in ("linadv_2d", "linadv_3d"):
    samrai(each)
plotfile()
vector_without_numbers()
expect(narrower[0] > 0, "nothing that is hidden has values beyond what is seen")
finish("ranges")

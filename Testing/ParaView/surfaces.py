"""Compares Extract Surface of grids with hidden cells with faces that numpy counts.

usage: Testing/ParaView/pvbatch.sh NP surfaces.py DATA REAL

The VTK 9.2 of ParaView 5.11.0 reads beyond its arrays if the extent of such a grid has another end along z than along x or y, which
gives faces in wrong places, or a crash. VTK 9.6 leaves out faces before duplicates, but not behind them. Runs on each rank.
"""
import os
import sys

import numpy as np
from paraview import servermanager
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from made_grids import make_grid, shown  # noqa: E402
from on_ranks import expect, finish, leaves, output_of, sum_over_ranks  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
HIDDEN, REFINED, DUPLICATE = 32, 8, 1     # vtkDataSetAttributes


def shape_of(grid, more=0):
    """Returns the numbers of cells along z, y, x; with more = 1, of points."""
    extent = grid.GetExtent()
    return tuple(extent[2 * axis + 1] - extent[2 * axis] + more for axis in (2, 1, 0))


def cells_without(flags, grid):
    array = grid.GetCellData().GetArray("vtkGhostType")
    found = vtk_to_numpy(array) & flags == 0 if array else np.ones(grid.GetNumberOfCells(), bool)
    return found.reshape(shape_of(grid))


def faces_along(axis, grid):
    """Returns where visible cells have faces, from the cells below and above each face along an axis. A cell has no face beside a
    duplicate, which is visible in another block. The second array is true if the cell above has the face."""
    pad = [(1, 1) if a == axis else (0, 0) for a in range(3)]
    sides = (slice(None, -1), slice(1, None))
    seen, solid = (np.pad(cells_without(flags, grid), pad) for flags in (HIDDEN | REFINED | DUPLICATE, HIDDEN | REFINED))
    take = lambda cells, side: cells[tuple(sides[side] if a == axis else slice(None) for a in range(3))]  # noqa: E731
    above = take(seen, 1) & ~take(solid, 0)
    return take(seen, 0) & ~take(solid, 1) | above, above


def corners_of(grid):
    """Returns the points, by their indices along z, y, x."""
    points = [grid.GetPoint(i) for i in range(grid.GetNumberOfPoints())]
    return np.array(points).reshape(shape_of(grid, 1) + (3,))


def faces_of(grid):
    """Returns a row for each face of a visible cell: the cell, and the face's centre."""
    corners = corners_of(grid)
    cells = np.arange(grid.GetNumberOfCells()).reshape(shape_of(grid))
    rows = []
    for axis in range(3):
        numbers = np.pad(cells, [(1, 1) if a == axis else (0, 0) for a in range(3)])
        found, above = faces_along(axis, grid)
        owners = np.where(above, *[np.take(numbers, range(s, s + cells.shape[axis] + 1), axis) for s in (1, 0)])
        centres = corners
        for other in range(3):
            if other != axis:
                n = centres.shape[other]
                centres = (np.take(centres, range(n - 1), other) + np.take(centres, range(1, n), other)) / 2
        rows.append(np.column_stack([owners[found], centres[found]]))
    return sorted_rows(np.concatenate(rows))


def sorted_rows(rows):
    return rows[np.lexsort(np.round(rows, 4).T)]


def polygons_of(surface):
    """Returns such rows for the output of a filter, and the largest error of its data at points."""
    corners = vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 4)
    points = vtk_to_numpy(surface.GetPoints().GetData()).astype(float)
    owners = vtk_to_numpy(surface.GetCellData().GetArray("cell"))
    error = np.abs(vtk_to_numpy(surface.GetPointData().GetArray("place")) - points).max()
    return sorted_rows(np.column_stack([owners, points[corners].mean(1)])), error


# ---- grids made here ------------------------------------------------------------------------------------

def check_made_grids():
    random = np.random.default_rng(16)
    for kind in ("turned image", "rectilinear", "curvilinear"):
        for extent in ((0, 3, 0, 4, 0, 60), (100, 107, 20, 24, 3, 9), (-40, -31, 5, 8, 300, 304), (0, 5, 0, 5, 0, 5)):
            grid = make_grid(kind, extent, random)
            source = shown(grid)
            surface = ExtractSurface(Input=source)
            surface.UpdatePipeline()
            found, error = polygons_of(output_of(surface))
            want = faces_of(grid)
            same = found.shape == want.shape and np.abs(found - want).max() < 1e-4
            expect(same and error < 1e-4, "%s %s: %d faces, not these %d", kind, extent, len(found), len(want))
            Delete(surface)
            Delete(source)


# ---- what the reader shows ------------------------------------------------------------------------------

def counted(reader):
    """Returns the number of faces of all blocks, and their area."""
    rows = []
    for leaf in leaves(output_of(reader)):
        x, y, z = leaf.GetSpacing()
        for axis, area in enumerate((x * y, x * z, y * z)):
            number = faces_along(axis, leaf)[0].sum()
            rows.append((number, number * area))
    return sum_over_ranks(np.sum([(0, 0)] + rows, 0))


def extracted(proxy):
    rows = []
    for leaf in leaves(output_of(proxy)):
        if leaf.GetNumberOfCells():
            corners = vtk_to_numpy(leaf.GetPolys().GetConnectivityArray()).reshape(-1, 4)
            points = vtk_to_numpy(leaf.GetPoints().GetData())[corners].astype(float)
            sides = np.cross(points[:, 1] - points[:, 0], points[:, 3] - points[:, 0])
            rows.append((len(corners), np.linalg.norm(sides, axis=1).sum()))
    return sum_over_ranks(np.sum([(0, 0)] + rows, 0))


def check_surface(source, want, time, where):
    surface = ExtractSurface(Input=source)
    for _ in range(2):
        surface.UpdatePipeline(time)
        found = extracted(surface)
        expect(np.allclose(found, want, rtol=1e-4), "%s: %g faces of area %g, not %g of %g", where, *found, *want)
        surface.SMProxy.GetClientSideObject().Modified()
    Delete(surface)


def check_reader(path, name):
    reader = PatchReader(FileName=[path])
    time = reader.TimestepValues[-1] if len(reader.TimestepValues) else 0
    reader.UpdatePipeline(time)
    last = output_of(reader).GetNumberOfBlocks() - 1
    for blocks in ("Merged", "As patches"):
        for levels in ([0, last], [last, last]):
            reader.Blocks, reader.LevelRange = blocks, levels
            reader.UpdatePipeline(time)
            where, want = "%s, %s, levels %s" % (name, blocks.lower(), levels), counted(reader)
            check_surface(reader, want, time, where)
            made = Calculator(Input=reader, AttributeType="Cell Data", Function="1", ResultArrayName="one")
            check_surface(made, want, time, where + ", after Calculator")
            Delete(made)
    Delete(reader)


surface = ExtractSurface(Input=Sphere())
made_of = surface.GetClientSideObject().GetClassName()
expect(made_of == "vtkPatchSurface", "Extract Surface is a %s", made_of)
Delete(surface)
check_made_grids()
# Block by block; drawn_surfaces.py tests the surface of all blocks.
servermanager.vtkSMParaViewPipelineController().UpdateSettingsProxies(servermanager.ActiveConnection.Session)
settings = GetSettingsProxy("PatchIOSettings")
settings.FastExtraction = 0
check_reader(os.path.join(sys.argv[1], "linadv_3d", "dumps.visit"), "linadv_3d")
plotfile = os.path.join(sys.argv[2], "amrex", "amrex_cns_f64", "plt00006")
if os.path.isdir(plotfile):
    check_reader(plotfile, "amrex_cns_f64")
else:
    print("skipped: no real data at " + plotfile)
settings.FastExtraction = 1
finish("surfaces")

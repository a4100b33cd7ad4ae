"""Compares slices of structured grids with hidden cells with areas that numpy computes cell by cell.

usage: Testing/ParaView/pvbatch.sh NP slices.py DATA REAL

Each polygon must lie on the plane and in its cell, and have the cell's values. All polygons of a cell together must have the area
of the plane in the cell. Values at points must be linear between points. A plane on faces must show each place once, also between
levels and ranks. Input that PatchIO leaves to ParaView must give the same result as ParaView. Runs on each rank.
"""
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from leaves import seen_in  # noqa: E402
from made_grids import (Polygons, areas_in_boxes, cells_beside, check_abort, check_bad_data, check_partial_arrays, check_trees,  # noqa: E402
                        check_unsupported, compare_with_paraview, expect_sizes, expect_values, grids_of_all_kinds, make_grid, make_levels,
                        names_of, of_both, planes_through, shown, tree_of, visible_cells)
from on_ranks import expect, finish, leaves, output_of, rank, ranks, sum_over_ranks  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
ANY = -1    # number of polygons


# ---- the truth ------------------------------------------------------------------------------------------

def expected(grids, normal, offset):
    """Returns {number of a visible cell: area of the plane in the cell}."""
    low, high, numbers, _ = visible_cells(grids)
    axis = int(np.argmax(np.abs(normal)))
    if np.count_nonzero(normal) == 1:
        place = offset / normal[axis] * np.linalg.norm(normal)
        widths = np.where(high > low, high - low, 1)
        found = cells_beside(low, high, axis, place) & (high > low)[:, axis]
        areas = found * np.prod(np.delete(widths, axis, 1), axis=1)
    else:
        areas = areas_in_boxes(low, high, normal, offset)
        areas[areas < 1e-9 * (high - low).max(initial=0) ** 2] = 0    # rounding errors if the plane only touches a cell
    return {int(n): a for n, a in zip(numbers, areas) if a > 0}


# ---- what a slice is --------------------------------------------------------------------------------------

def check_polygons(data, grids, normal, offset, where):
    """Checks polygons. Returns {cell: area} of this rank."""
    low, high, numbers, _ = visible_cells(grids)
    order = np.argsort(numbers)
    found, normal = {}, np.asarray(normal, float) / np.linalg.norm(normal)
    near = 1e-11 * max(np.abs(high).max(initial=1), 1)
    for leaf in leaves(data):
        expect_values(leaf, where)
        cells = Polygons(leaf)
        expect(len(cells.sizes) == leaf.GetNumberOfCells(), "%s: other kinds of cells", where)
        if not len(cells.sizes):
            continue
        owners = vtk_to_numpy(leaf.GetCellData().GetArray("cell")).astype(int)
        if not expect(np.isin(owners, numbers).all(), "%s: shows cells that are not visible here", where):
            continue
        box = order[np.searchsorted(numbers, owners, sorter=order)]
        inside = (cells.low >= low[box] - near).all(1) & (cells.high <= high[box] + near).all(1)
        flat = np.maximum.reduceat(np.abs(cells.corners @ normal - offset), cells.begins) <= near
        turned = (cells.counts < 3) | (cells.vectors @ normal > 0)
        wrong = np.flatnonzero(~(inside & flat & turned))
        expect(not len(wrong), "%s: cells %s: in the cell: %s, on the plane: %s, turned: %s", where, *(a[wrong[:3]] for a in (owners, inside, flat, turned)))
        for cell, size in zip(owners, cells.sizes):
            found[int(cell)] = found.get(int(cell), 0) + size
    return found


def make_slice(source, normal, origin, triangles=0, offsets=(0.0,), **settings):
    cut = Slice(Input=source, **settings)
    cut.SliceType.Origin, cut.SliceType.Normal = list(origin), list(normal)
    cut.Triangulatetheslice, cut.SliceOffsetValues = triangles, list(offsets)
    return cut


def offset_of(normal, origin):
    return float(np.dot(normal, origin) / np.linalg.norm(normal))


# ---- grids made here ----------------------------------------------------------------------------------------

def check_made_grid(grid, where, signs=(1,)):
    source = shown(grid)
    for number, (normal, origin, on_faces) in enumerate(planes_through(grid, signs)):
        if on_faces and (grid.IsA("vtkStructuredGrid") or grid.GetNumberOfCells() > 10000):
            continue    # rounding decides there, or the truth takes long
        cut = make_slice(source, normal, origin, triangles=number % 2)
        cut.UpdatePipeline()
        here = "%s, normal %s at %s%s" % (where, normal, origin, ", triangles" if number % 2 else "")
        offset = offset_of(normal, origin)
        expect_sizes(check_polygons(output_of(cut), [grid], normal, offset, here), expected([grid], normal, offset), here, 1e-9)
        Delete(cut)
    Delete(source)


def check_made_grids():
    random = np.random.default_rng(20)
    for name, grid in grids_of_all_kinds(random, (0, 4, 2, 2, 0, 5)):
        check_made_grid(grid, name, (1, -1) if name.startswith("image") else (1,))
    # The image is large enough for several tasks.
    check_made_grid(make_grid("image", (0, 40, 0, 40, 0, 60), random), "large image")


def check_sharing():
    grid = make_grid("image", (0, 40, 0, 40, 0, 60), np.random.default_rng(3), None)
    for normal in ((0, 0, 1), (1, 0, 0), (1, 0.7, 0.4)):
        cut = make_slice(shown(grid), normal, grid.GetCenter())
        cut.UpdatePipeline()
        points = vtk_to_numpy(output_of(cut).GetPoints().GetData())
        expect(len(np.unique(np.round(points, 9), axis=0)) == len(points), "normal %s: points are there twice", normal)
        Delete(cut)


# ---- levels -------------------------------------------------------------------------------------------------

def check_levels():
    random = np.random.default_rng(7)
    for ratio in (2, 3):
        grids = make_levels(ratio, random)
        everything, mine = [g for _, g in grids], [g for i, (_, g) in enumerate(grids) if i % ranks == rank]
        source = shown(tree_of(grids))
        # Planes on the faces of fine cells, and some inside cells.
        planes = [(np.eye(3)[axis], np.eye(3)[axis] * 0.1 * place / ratio) for axis, cells in enumerate((10, 8, 6))
                  for place in [*range(ratio * cells + 1), *np.arange(0.5, ratio * cells, 3)]]
        planes += [((1, 0.7, 0.4), (0.5, 0.4, 0.3)), ((1, 1, 0), (0.5, 0.4, 0.3)), ((1, 1, 1), (0.5, 0.4, 0.3))]
        for normal, origin in planes:
            cut = make_slice(source, normal, origin)
            cut.UpdatePipeline()
            where, offset = "ratio %d, normal %s at %s" % (ratio, normal, origin), offset_of(normal, origin)
            found = check_polygons(output_of(cut), mine, normal, offset, where)
            want = expected(everything, normal, offset)
            here = {int(c) for g in mine for c in vtk_to_numpy(g.GetCellData().GetArray("cell"))}
            expect_sizes(found, {c: a for c, a in want.items() if c in here}, where, 1e-9)
            area, number = sum_over_ranks((sum(found.values()), len(found)))
            expect(number == len(want) and abs(area - sum(want.values())) <= 1e-12 * area, "%s: %d cells, not %d", where, number, len(want))
            expect(names_of(output_of(cut)) == ["level 0", "level 1"], "%s: blocks %s", where, names_of(output_of(cut)))
            Delete(cut)
        Delete(source)


# ---- what the reader shows ------------------------------------------------------------------------------------

def rows_of(data, name):
    """Returns rows (middle, area, value) of all polygons of this rank, except those of cells that only touch the plane."""
    rows = [np.zeros((0, 5))]
    for leaf in leaves(data):
        cells = Polygons(leaf)
        if len(cells.sizes):
            values = vtk_to_numpy(leaf.GetCellData().GetArray(name)).reshape(len(cells.sizes), -1)[:, 0]
            shown_here = (cells.sizes > 1e-9) & seen_in(leaf)
            # The middle of the bounds, not of the corners, because rounding may duplicate corners.
            rows.append(np.column_stack([(cells.low + cells.high) / 2, cells.sizes, values])[shown_here])
    return np.concatenate(rows)


def are_alike(rows, others, near):
    """Returns whether the rows are the same as the others, except for order and rounding errors."""
    nearest = [int(np.abs(others - row).max(1).argmin()) for row in rows] if len(others) else []
    return len(rows) == len(others) == len(set(nearest)) and (not nearest or np.abs(rows - others[nearest]).max() <= near)


def check_reader(path, name, planes):
    """Checks slices of the reader's output. planes: (normal, origin, area, number of polygons if the plane lies on faces)."""
    for blocks in ("As patches", "Merged", "Merged up to Maximum Block Cells"):
        reader = PatchReader(FileName=[path], Blocks=blocks, MaximumBlockCells=700)
        reader.UpdatePipeline(reader.TimestepValues[-1] if len(reader.TimestepValues) else 0)
        for normal, origin, area, number in planes:
            ours, theirs = make_slice(reader, normal, origin), make_slice(reader, normal, origin, UsePatchIO=0)
            found = []
            for cut in (ours, theirs):
                cut.UpdatePipeline(reader.TimestepValues[-1] if len(reader.TimestepValues) else 0)
                rows = rows_of(output_of(cut), name_of_array(reader))
                found.append((rows, sum_over_ranks(float(rows[:, 3].sum())), sum_over_ranks(float(len(rows)))))
            where = "%s, %s, normal %s" % (name, blocks.lower(), normal)
            expect(abs(found[0][1] - area) <= 1e-12 * area, "%s: area %.16g, not %.16g", where, found[0][1], area)
            expect(number in (None, ANY) or found[0][2] == number, "%s: %d polygons, not %s", where, found[0][2], number)
            # For a plane on faces, ParaView shows the other side, or nothing.
            if number is None:
                expect(are_alike(found[0][0], found[1][0], 1e-5), "%s: %d polygons, ParaView's own slice has %d, or others", where, len(found[0][0]),
                       len(found[1][0]))
            Delete(ours)
            Delete(theirs)
        Delete(reader)


def name_of_array(reader):
    return [a.GetName() for a in reader.CellData.values() if a.GetName() != "vtkGhostType"][0]


def check_readers(data, real):
    middle = [0.501, 0.243, 0.29]
    oblique = areas_in_boxes(np.zeros((1, 3)), np.array([[1.0, 0.5, 0.5]]), (1, 0.7, 0.4), offset_of((1, 0.7, 0.4), middle))[0]
    check_reader(os.path.join(data, "linadv_3d", "dumps.visit"), "linadv_3d",
                 [((1, 0, 0), middle, 0.25, None), ((0, 1, 0), [0.5, 0.25, 0.25], 0.5, ANY), ((0, 0, -1), [0, 0, 0], 0.5, ANY),
                  ((0, 0, 1), [0, 0, 0.5], 0.5, ANY), ((1, 0.7, 0.4), middle, oblique, None)])
    plotfile = os.path.join(real, "amrex", "amrex_adv3d", "plt00010")
    if not os.path.isdir(plotfile):
        print("skipped: no real data at " + plotfile)
        return
    # The middle is where the finest level begins.
    check_reader(plotfile, "amrex_adv3d", [((1, 0, 0), [0.5, 0.5, 0.0625], 0.125, 2272), ((1, 0, 0), [1, 0.5, 0.0625], 0.125, 256),
                                                           ((0, 0, 1), [0.5, 0.5, 0], 1, 3904)])


# ---- other shapes, other data, bad data -----------------------------------------------------------------------

def compare_polygons(source, make, where):
    """Compares the polygons with those of ParaView's own filter."""
    found = of_both(source, make, lambda data: rows_of(data, "cell"))
    expect(are_alike(*found, 1e-5) and len(found[0]) > 10, "%s: %d polygons, ParaView's %d", where, *map(len, found))


def shape_slice(kind, **settings):
    def make(source):
        cut = Slice(Input=source, SliceType=kind)
        cut.Triangulatetheslice = 0
        for name, value in settings.items():
            setattr(cut.SliceType, name, value)
        return cut
    return make


def check_shapes():
    random = np.random.default_rng(5)
    for kind, extent in (("image", (0, 20, 0, 18, 0, 16)), ("rectilinear", (0, 9, 0, 8, 0, 7)), ("curvilinear", (0, 9, 0, 8, 0, 7)),
                         ("image", (0, 20, 0, 18, 3, 3))):
        grid = make_grid(kind, extent, random)
        centre, length = np.array(grid.GetCenter()) + 0.011, grid.GetLength()
        turned = dict(Position=list(centre - 0.1 * length), Length=[0.17 * length] * 3, Rotation=[10, 20, 30])
        for shape, settings in (("Sphere", dict(Center=list(centre), Radius=0.2 * length)), ("Box", turned),
                                ("Cylinder", dict(Center=list(centre), Axis=[1, 0.5, 0.2], Radius=0.15 * length))):
            compare_polygons(shown(grid), shape_slice(shape, **settings), "%s of %s %s" % (shape, kind, extent))


def make_crinkle(source, normal, origin):
    cut = make_slice(source, normal, origin)
    cut.Crinkleslice = 1
    return cut


def check_crinkle():
    image = make_grid("image", (0, 6, 0, 5, 0, 4), np.random.default_rng(11))
    for data in (image, tree_of([(0, image)], 1) if ranks == 1 else image):
        compare_with_paraview(shown(data), lambda source: make_crinkle(source, (1, 0.7, 0.4), image.GetCenter()), "crinkle slice")


def check_offsets():
    """Checks several planes at once."""
    grid, offsets = make_grid("image", (0, 8, 0, 9, 0, 7), np.random.default_rng(9)), (-0.31, 0.0, 0.5)
    origin = np.array(grid.GetCenter()) + 0.01
    for normal in ((0, 0, 1), (1, 0.7, 0.4)):
        cut = make_slice(shown(grid), normal, origin, offsets=offsets)
        cut.UpdatePipeline()
        area = rows_of(output_of(cut), "cell")[:, 3].sum()
        want = sum(sum(expected([grid], normal, offset_of(normal, origin) + offset).values()) for offset in offsets)
        expect(abs(area - want) < 1e-11, "offsets, normal %s: area %g, not %g", normal, area, want)
        Delete(cut)


def move(cut):
    cut.SliceOffsetValues = [0.01]


expect(Slice(Input=Wavelet()).GetClientSideObject().GetClassName() == "vtkPVPatchSlice", "Slice is ParaView's own")
if ranks == 1:
    check_made_grids()
    check_sharing()
    check_shapes()
    check_offsets()
check_levels()
check_crinkle()
check_unsupported(make_slice, make_crinkle)
check_trees(make_slice, 60)
check_partial_arrays(make_slice, ("GetCellData", "GetPointData"))
check_bad_data(make_slice)
check_abort(make_slice, move)
check_readers(*sys.argv[1:3])
finish("slices")

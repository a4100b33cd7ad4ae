"""Compares slices of structured grids with hidden cells with areas that numpy computes cell by cell.

usage: Testing/ParaView/pvbatch.sh NP slices.py DATA REAL

Each polygon must lie on the plane and in its cell, and have the cell's values. All polygons of a cell together must have the area
of the plane in the cell. Values at points must be linear between points. A plane on faces must show each place once, also between
levels and ranks. Input that PatchIO leaves to ParaView must give the same result as ParaView. Runs on each rank.
"""
import itertools
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from made_grids import (HIDING, box_of_points, check_abort, expect_partial_arrays, invalid_grids, make_grid,  # noqa: E402
                        make_levels, names_of, positions_of, shown, tree_of, tree_of_partial_arrays, trees_of_three, visible_cells)
from on_ranks import expect, finish, leaves, output_of, rank, ranks, sum_over_ranks  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
ANY = -1    # number of polygons


# ---- the truth ------------------------------------------------------------------------------------------

def areas_in_boxes(low, high, normal, offset):
    """Returns the area, or length, of the plane normal . x = offset in each box. Flat axes of the boxes do not count."""
    normal = np.asarray(normal, float) / np.linalg.norm(normal)
    widths = high - low
    axes = [a for a in range(3) if (widths[:, a] > 0).any()]
    cut = [a for a in axes if normal[a] != 0]
    start = np.where(normal > 0, low, high) @ normal
    begins = offset - start
    sums = np.zeros(len(low))
    for corner in itertools.product((0, 1), repeat=len(cut)):
        reached = begins - sum((c * abs(normal[a]) * widths[:, a] for c, a in zip(corner, cut)), np.zeros(len(low)))
        power = np.maximum(reached, 0) ** (len(cut) - 1) if len(cut) > 1 else (reached >= 0).astype(float)
        sums += (-1) ** sum(corner) * power
    factor = np.linalg.norm(normal[cut]) / np.prod(np.abs(normal[cut])) / (2 if len(cut) == 3 else 1)
    return sums * factor * np.prod([widths[:, a] for a in axes if a not in cut], axis=0)


def cells_beside(low, high, axis, place):
    """Returns the cells that a plane on faces shows: those above, and those below if there are none above."""
    tiny = 1e-9 * (high - low)[:, axis]
    above = (low[:, axis] <= place + tiny) & (high[:, axis] > place + tiny)
    below = np.flatnonzero(np.abs(high[:, axis] - place) <= tiny)
    others = [a for a in range(3) if a != axis]
    middles = (low + high)[:, others] / 2
    shown = above.copy()
    for cell in below:
        inside = (low[above][:, others] <= middles[cell]).all(1) & (middles[cell] <= high[above][:, others]).all(1)
        shown[cell] = not inside.any()
    return shown


def expected(grids, normal, offset):
    """Returns {number of a visible cell: area of the plane in the cell}."""
    low, high, numbers = visible_cells(grids)
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

def cells_of(data):
    """Returns the corner coordinates and the numbers of the corners of each cell of a poly data, and the size of each cell."""
    points = vtk_to_numpy(data.GetPoints().GetData()) if data.GetNumberOfPoints() else np.zeros((0, 3))
    found = []
    for array in (data.GetVerts(), data.GetLines(), data.GetPolys()):
        offsets, corners = vtk_to_numpy(array.GetOffsetsArray()), vtk_to_numpy(array.GetConnectivityArray())
        found += [points[corners[a:b]].astype(float) for a, b in zip(offsets[:-1], offsets[1:])]
    return found


def vector_area(corners):
    if len(corners) == 2:
        return corners[1] - corners[0]
    return sum((np.cross(corners[i] - corners[0], corners[i + 1] - corners[0]) / 2 for i in range(1, len(corners) - 1)), np.zeros(3))


def check_polygons(data, grids, normal, offset, where):
    """Checks polygons. Returns {cell: area} of this rank."""
    low, high, numbers = visible_cells(grids)
    at = {int(n): i for i, n in enumerate(numbers)}
    found, normal = {}, np.asarray(normal, float) / np.linalg.norm(normal)
    near = 1e-11 * max(np.abs(high).max(initial=1), 1)
    for leaf in leaves(data):
        expect(leaf.GetCellData().GetArray("vtkGhostType") is None, "%s: has flags", where)
        polygons = cells_of(leaf)
        expect(len(polygons) == leaf.GetNumberOfCells(), "%s: other kinds of cells", where)
        values = vtk_to_numpy(leaf.GetCellData().GetArray("cell")) if polygons else []
        for corners, cell in zip(polygons, values):
            box = at.get(int(cell))
            if box is None:
                expect(False, "%s: shows cell %d, which is not visible here", where, cell)
                continue
            inside = (corners >= low[box] - near).all() and (corners <= high[box] + near).all()
            area = vector_area(corners)
            flat = np.abs(corners @ normal - offset).max() <= near
            turned = len(corners) < 3 or area @ normal > 0
            expect(inside and flat and turned, "%s: cell %d: in its cell: %s, on the plane: %s, turned: %s", where, cell, inside, flat, turned)
            found[int(cell)] = found.get(int(cell), 0) + np.linalg.norm(area)
        if polygons:
            check_data(leaf, where)
    return found


def check_data(leaf, where):
    """Checks the values of cells and points."""
    points, cells = leaf.GetPointData(), leaf.GetCellData()
    places = vtk_to_numpy(leaf.GetPoints().GetData())
    error = np.abs(vtk_to_numpy(points.GetArray("place")) - places).max()
    expect(error <= 1e-6 * max(np.abs(places).max(), 1), "%s: values at points are off by %g", where, error)
    numbers = vtk_to_numpy(cells.GetArray("cell"))
    for name in ("twice", "vector"):
        array = vtk_to_numpy(cells.GetArray(name))
        expect((array == (2 * numbers if name == "twice" else numbers[:, None] * [1, 2, 3])).all(), "%s: %s is of other cells", where, name)


def check_areas(found, want, where):
    wrong = {c for c in set(found) | set(want) if abs(found.get(c, 0) - want.get(c, 0)) > 1e-9 * max(want.values(), default=1)}
    expect(not wrong, "%s: %d of %d cells have other areas: %s", where, len(wrong), len(want),
           [(c, found.get(c), want.get(c)) for c in sorted(wrong)[:3]])
    total = sum(want.values())
    expect(abs(sum(found.values()) - total) <= 1e-12 * total + 1e-300, "%s: area %.16g, not %.16g", where, sum(found.values()), total)


def make_slice(source, normal, origin, triangles=0, offsets=(0.0,), **settings):
    cut = Slice(Input=source, **settings)
    cut.SliceType.Origin, cut.SliceType.Normal = list(origin), list(normal)
    cut.Triangulatetheslice, cut.SliceOffsetValues = triangles, list(offsets)
    return cut


def offset_of(normal, origin):
    return float(np.dot(normal, origin) / np.linalg.norm(normal))


# ---- grids made here ----------------------------------------------------------------------------------------

def places_of(grid, on_faces):
    """Returns the places of planes along each axis: inside cells, and on the first, the last and some other faces."""
    for axis, ends in enumerate(positions_of(box_of_points(grid))):
        if len(ends) > 1:
            places = [ends[0], ends[1], ends[-1], ends[len(ends) // 2]] if on_faces else []
            for place in places + [ends[-2] + 0.3 * (ends[-1] - ends[-2])]:
                yield axis, place


def check_made_grid(grid, where, on_faces):
    source, truth = shown(grid), [box_of_points(grid)]
    centre = np.array(grid.GetCenter())
    planes = [(sign * np.eye(3)[axis], np.where(np.arange(3) == axis, place, centre))
              for axis, place in places_of(grid, on_faces) for sign in (1, -1)]
    planes += [(n, centre + 0.0123 * np.array(grid.GetLength())) for n in ((1, 0.7, 0.4), (-2, 1, 0), (0, 1, -3), (1e-3, 0, 1))]
    for number, (normal, origin) in enumerate(planes):
        cut = make_slice(source, normal, origin, triangles=number % 2)
        cut.UpdatePipeline()
        here = "%s, normal %s at %s%s" % (where, normal, origin, ", triangles" if number % 2 else "")
        offset = offset_of(normal, origin)
        check_areas(check_polygons(output_of(cut), truth, normal, offset, here), expected(truth, normal, offset), here)
        Delete(cut)
    Delete(source)


def check_made_grids():
    random = np.random.default_rng(20)
    for kind in ("image", "plain image", "rectilinear", "curvilinear"):
        for extent in ((0, 5, 0, 6, 0, 4), (100, 107, -24, -20, 3, 9), (0, 7, 0, 6, 4, 4), (3, 3, 0, 5, 0, 6), (0, 4, 2, 2, 0, 5)):
            check_made_grid(make_grid(kind, extent, random), "%s %s" % (kind, extent), kind != "curvilinear")
    check_made_grid(make_grid("image", (0, 5, 0, 6, 0, 4), random, None), "image without flags", True)
    # The image is large enough for several tasks.
    check_made_grid(make_grid("image", (0, 40, 0, 40, 0, 60), random), "large image", False)


def shared_points(cut):
    """Returns whether no two points of a poly data have the same position."""
    points = vtk_to_numpy(leaves(output_of(cut))[0].GetPoints().GetData())
    return len(np.unique(np.round(points, 9), axis=0)) == len(points)


def check_sharing():
    grid = make_grid("image", (0, 40, 0, 40, 0, 60), np.random.default_rng(3), None)
    for normal in ((0, 0, 1), (1, 0, 0), (1, 0.7, 0.4)):
        cut = make_slice(shown(grid), normal, grid.GetCenter())
        cut.UpdatePipeline()
        expect(shared_points(cut), "normal %s: points are there twice", normal)
        Delete(cut)


# ---- levels -------------------------------------------------------------------------------------------------

def total_of(found):
    return sum_over_ranks(float(sum(found.values()))), sum_over_ranks(float(len(found)))


def check_levels():
    random = np.random.default_rng(7)
    for ratio in (2, 3):
        grids = make_levels(ratio, random)
        everything, mine = [g for _, g in grids], [g for i, (_, g) in enumerate(grids) if i % ranks == rank]
        source = shown(tree_of(grids))
        planes = [(np.eye(3)[axis], np.eye(3)[axis] * 0.1 * place / ratio) for axis, cells in enumerate((10, 8, 6))
                  for place in np.arange(0, ratio * cells + 1, 0.5)]
        planes += [((1, 0.7, 0.4), (0.5, 0.4, 0.3)), ((1, 1, 0), (0.5, 0.4, 0.3)), ((1, 1, 1), (0.5, 0.4, 0.3))]
        for normal, origin in planes:
            cut = make_slice(source, normal, origin)
            cut.UpdatePipeline()
            where, offset = "ratio %d, normal %s at %s" % (ratio, normal, origin), offset_of(normal, origin)
            found = check_polygons(output_of(cut), mine, normal, offset, where)
            want = expected(everything, normal, offset)
            here = {int(c) for g in mine for c in vtk_to_numpy(g.GetCellData().GetArray("cell"))}
            check_areas(found, {c: a for c, a in want.items() if c in here}, where)
            area, number = total_of(found)
            expect(number == len(want) and abs(area - sum(want.values())) <= 1e-12 * area, "%s: %d cells, not %d", where, number, len(want))
            expect(names_of(output_of(cut)) == ["level 0", "level 1"], "%s: blocks %s", where, names_of(output_of(cut)))
            Delete(cut)
        Delete(source)


# ---- what the reader shows ------------------------------------------------------------------------------------

def rows_of(data, name):
    """Returns rows (middle, area, value) of all polygons of this rank, except those of cells that only touch the plane."""
    rows = []
    for leaf in leaves(data):
        flags = leaf.GetCellData().GetArray("vtkGhostType")
        values = leaf.GetCellData().GetArray(name)
        for i, corners in enumerate(cells_of(leaf)):
            area = np.linalg.norm(vector_area(corners))
            if (not flags or flags.GetValue(i) & HIDING == 0) and area > 1e-9:
                # The middle of the bounds, not of the corners, because rounding may duplicate corners.
                rows.append([*(corners.min(0) + corners.max(0)) / 2, area, values.GetTuple(i)[0]])
    return np.array(rows).reshape(-1, 5)


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

def compare_with_paraview(source, make, where):
    """Compares cells, points and classes of the output with those of ParaView's own filter."""
    found = []
    for use in (1, 0):
        cut = make(source)
        cut.UsePatchIO = use
        cut.UpdatePipeline()
        data = output_of(cut)
        rows = rows_of(data, "cell") if all(leaf.IsA("vtkPolyData") for leaf in leaves(data)) else np.zeros((0, 5))
        found.append((data.GetClassName(), sum(leaf.GetNumberOfCells() for leaf in leaves(data)), rows))
        Delete(cut)
    (kind, number, rows), (kind_of_theirs, _, theirs) = found
    expect(kind == kind_of_theirs and are_alike(rows, theirs, 1e-5), "%s: %s of %d, %s of %d", where, kind, len(rows), kind_of_theirs, len(theirs))
    return number


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
            number = compare_with_paraview(shown(grid), shape_slice(shape, **settings), "%s of %s %s" % (shape, kind, extent))
            expect(number > 10, "%s of %s %s: %d cells", shape, kind, extent, number)


def check_offsets():
    """Checks that several planes at once give the same result as each plane by itself."""
    grid = make_grid("image", (0, 8, 0, 9, 0, 7), np.random.default_rng(9))
    for normal in ((0, 0, 1), (1, 0.7, 0.4)):
        offsets, origin = [-0.31, 0.0, 0.5], np.array(grid.GetCenter()) + 0.01
        cut = make_slice(shown(grid), normal, origin, offsets=offsets)
        cut.UpdatePipeline()
        rows, single = rows_of(output_of(cut), "cell"), []
        for offset in offsets:
            at = offset_of(normal, origin) + offset
            found = expected([grid], normal, at)
            single.append(sum(found.values()))
        expect(abs(rows[:, 3].sum() - sum(single)) < 1e-11, "offsets, normal %s: area %g, not %g", normal, rows[:, 3].sum(), sum(single))
        Delete(cut)


def check_other_data():
    """Checks that data that PatchIO does not support give ParaView's result."""
    random = np.random.default_rng(11)
    image = make_grid("image", (0, 6, 0, 5, 0, 4), random)
    mixed = vtkMultiBlockDataSet()
    mixed.SetBlock(0, image)
    mesh = AppendDatasets(Input=[shown(make_grid("image", (0, 6, 0, 5, 0, 4), random, None))])
    mesh.UpdatePipeline()
    mixed.SetBlock(1, output_of(mesh))
    turned = make_grid("plain image", (0, 6, 0, 5, 0, 4), random)
    turned.SetDirectionMatrix(0, -1, 0, 1, 0, 0, 0, 0, 1)
    plane = lambda source: make_slice(source, (1, 0.7, 0.4), np.array(image.GetCenter()) + 0.01)  # noqa: E731
    for name, data in (("unstructured", output_of(mesh)), ("mixed", mixed)):
        expect(compare_with_paraview(shown(data), plane, name) > 0, "%s: empty", name)
    compare_with_paraview(shown(turned), plane, "turned image")
    for data in (image, mixed, tree_of([(0, image)], 1)):
        number = compare_with_paraview(shown(data), lambda source: make_crinkle(source, image), "crinkle slice of %s" % data.GetClassName())
        expect(number > 0 or ranks > 1, "crinkle slice: empty")


def make_crinkle(source, image):
    cut = make_slice(source, (1, 0.7, 0.4), image.GetCenter())
    cut.Crinkleslice = 1
    return cut


def check_trees():
    """Checks trees: one block for all grids in the root, and the same class of tree as the input."""
    for tree, last, number in trees_of_three():
        cut = make_slice(shown(tree), (0, 0, 1), last.GetCenter())
        cut.UpdatePipeline()
        data, kind = output_of(cut), tree.GetClassName()
        cells = sum(leaf.GetNumberOfCells() for leaf in leaves(data))
        expect(data.GetClassName() == kind and len(leaves(data)) == number and cells == 60, "%s: %s with %d blocks and %d cells", kind,
               data.GetClassName(), len(leaves(data)), cells)
        Delete(cut)


def check_partial_arrays():
    root, last = tree_of_partial_arrays()
    cut = make_slice(shown(root), (0, 0, 1), last.GetCenter())
    cut.UpdatePipeline()
    for data in (leaves(output_of(cut))[0].GetCellData(), leaves(output_of(cut))[0].GetPointData()):
        expect_partial_arrays(data)
    Delete(cut)


def check_bad_data():
    """Checks that invalid data give an empty slice without a crash."""
    invalid, odd = invalid_grids()
    good = make_grid("image", (0, 6, 0, 5, 0, 4), np.random.default_rng(1), None)
    point, flat = (make_grid("image", extent, np.random.default_rng(1), None) for extent in ((3, 3, 2, 2, 1, 1), (0, 6, 0, 5, 0, 4)))
    flat.SetSpacing(0.0, 0.1, 0.1)
    for name, data in invalid + [("a point", point), ("no width", flat)]:
        for normal in ((1, 0, 0), (1, 0.7, 0.4)):
            cut = make_slice(shown(data), normal, good.GetCenter())
            cut.UpdatePipeline()
            expect(sum(leaf.GetNumberOfCells() for leaf in leaves(output_of(cut))) == 0 or data is flat, "%s: not empty", name)
            Delete(cut)
    for data, normal, origin in ((odd, (1, 0, 0), odd.GetCenter()), (odd, (1, 2, 3), (1, 1, 1)), (good, (0, 0, 0), good.GetCenter()),
                                 (good, (1, 0, 0), (np.nan, 0, 0)), (good, (1, np.inf, 0), (0, 0, 0)), (good, (1, 1, 0), (1e300, 0, 0))):
        cut = make_slice(shown(data), normal, origin)
        cut.UpdatePipeline()
        Delete(cut)


def check_abort_of_slice():
    def move(cut):
        cut.SliceOffsetValues = [0.01]
    check_abort(make_slice, move)


expect(Slice(Input=Wavelet()).GetClientSideObject().GetClassName() == "vtkPVPatchSlice", "Slice is ParaView's own")
check_made_grids()
check_sharing()
check_levels()
check_shapes()
check_offsets()
check_other_data()
check_trees()
check_partial_arrays()
check_bad_data()
check_abort_of_slice()
check_readers(*sys.argv[1:3])
finish("slices")

"""Compares Clip and Threshold of structured grids with hidden cells with volumes that numpy computes cell by cell.

usage: Testing/ParaView/pvbatch.sh NP clips.py DATA REAL

The kept parts of a cell must have the cell's volume on the kept side of the plane, its values, and faces with normals that point
outwards. Inside a level, the faces must fit: the surface of the result must have the area that numpy computes, and two faces at
each edge. Input that PatchIO leaves to ParaView must give the same result as ParaView. Runs on each rank.
"""
import itertools
import math
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkStructuredGrid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from leaves import seen_in  # noqa: E402
from made_grids import (OBLIQUE, add, boxes_of, cells_in, check_abort, check_bad_data, check_partial_arrays, check_trees,  # noqa: E402
                        check_unsupported, compare_with_paraview, expect_sizes, expect_values, grids_of_all_kinds, make_grid, make_levels,
                        names_of, planes_through, shown, tree_of, tree_of_partial_arrays, visible_cells)
from on_ranks import expect, finish, leaves, output_of, rank, ranks, sum_over_ranks  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())


# ---- the truth ------------------------------------------------------------------------------------------

def parts_of_boxes(low, high, normal, offset):
    """Returns the volume of each box in which normal . x < offset; the area or length if axes are flat."""
    low, high = low.astype(np.longdouble), high.astype(np.longdouble)
    widths = high - low
    axes = [a for a in range(3) if (widths[:, a] > 0).any()]
    cut = [a for a in axes if normal[a] != 0]
    begins = offset - np.where(np.array(normal) > 0, low, high) @ np.array(normal, np.longdouble)
    if not cut:
        return (begins > 0) * np.prod(widths[:, axes], axis=1)
    sums = np.zeros(len(low), np.longdouble)
    for corner in itertools.product((0, 1), repeat=len(cut)):
        reached = begins - sum(c * abs(normal[a]) * widths[:, a] for c, a in zip(corner, cut))
        sums += (-1) ** sum(corner) * np.maximum(reached, 0) ** len(cut)
    sums /= math.factorial(len(cut)) * np.prod([abs(normal[a]) for a in cut])
    sums[sums < 1e-15 * np.prod(widths[:, axes], axis=1)] = 0    # rounding
    return (sums * np.prod([widths[:, a] for a in axes if a not in cut], axis=0)).astype(float)


class Cells:
    """The visible cells of grids of one level: their boxes, numbers and places in the index space."""

    def __init__(self, grids):
        self.low, self.high, self.numbers, self.index = visible_cells(grids)

    def parts(self, normal, offset):
        return {int(n): v for n, v in zip(self.numbers, parts_of_boxes(self.low, self.high, normal, offset)) if v > 0}

    def surface(self, normal, offset):
        """Returns the area of the surface below the plane: faces without a visible cell behind them, and the cut, which is not on
        faces."""
        seen = set(map(tuple, self.index))
        area = 0.0
        for axis in range(3):
            for side in (-1, 1):
                free = np.array([tuple(c + side * np.eye(3, dtype=int)[axis]) not in seen for c in self.index], bool)
                low, high = self.low[free].copy(), self.high[free].copy()
                low[:, axis] = high[:, axis] = (low if side < 0 else high)[:, axis]
                area += parts_of_boxes(low, high, normal, offset).sum() if free.any() else 0
        # The area of the cut is the derivative of the volume by the offset.
        step = 1e-4
        grown = [parts_of_boxes(self.low, self.high, normal, offset + s * step).sum() for s in (-2, -1, 1, 2)]
        return area + float(grown[0] - 8 * grown[1] + 8 * grown[2] - grown[3]) / (12 * step) * np.linalg.norm(normal)


# ---- what a clip is ---------------------------------------------------------------------------------------

VOXEL = [0, 1, 3, 2, 4, 5, 7, 6]
BOX = ((0, 4, 7, 3), (1, 2, 6, 5), (0, 1, 5, 4), (3, 7, 6, 2), (0, 3, 2, 1), (4, 5, 6, 7))
# The faces of each VTK cell type, with normals that point outwards.
FACES = {10: ((0, 1, 3), (1, 2, 3), (2, 0, 3), (0, 2, 1)), 11: tuple(tuple(VOXEL[c] for c in face) for face in BOX), 12: BOX,
         13: ((0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)), 14: ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))}
FLAT = {5: (0, 1, 2), 8: (0, 1, 3, 2), 9: (0, 1, 2, 3)}


def vectors_of(points, face):
    """Returns the area vectors of many faces with these corners."""
    corners = [points[:, c] for c in face]
    return sum(np.cross(corners[i] - corners[0], corners[i + 1] - corners[0]) for i in range(1, len(face) - 1)) / 2


def sizes_of(points, kind):
    """Returns the volumes, areas or lengths of many cells of one type."""
    if kind in FACES:
        middle = points.mean(1, keepdims=True)
        away = points - middle
        return sum((vectors_of(points, face) * away[:, face[0]]).sum(1) for face in FACES[kind]) / 3
    if kind in FLAT:
        return np.linalg.norm(vectors_of(points, FLAT[kind]), axis=1)
    return np.linalg.norm(points[:, 1] - points[:, 0], axis=1) if kind == 3 else np.ones(len(points))


class Solid:
    """An unstructured grid: the sizes of its cells, and its faces."""

    def __init__(self, leaf):
        self.leaf = leaf
        count = leaf.GetNumberOfCells()
        self.points = vtk_to_numpy(leaf.GetPoints().GetData()) if count else np.zeros((0, 3))
        self.sizes, self.faces, self.used = np.zeros(count), [], np.zeros(0, int)
        if not count:
            return
        cells, types = leaf.GetCells(), vtk_to_numpy(leaf.GetCellTypesArray())
        offsets, self.used = vtk_to_numpy(cells.GetOffsetsArray()), vtk_to_numpy(cells.GetConnectivityArray())
        for kind in np.unique(types):
            of_kind = np.flatnonzero(types == kind)
            corners = self.used[offsets[of_kind][:, None] + np.arange(offsets[of_kind[0] + 1] - offsets[of_kind[0]])]
            self.sizes[of_kind] = sizes_of(self.points[corners], kind)
            for face in FACES.get(kind, ()):
                found = np.full((len(of_kind), 4), -1)
                found[:, :len(face)] = corners[:, face]
                self.faces.append(found)

    def numbers(self):
        return vtk_to_numpy(self.leaf.GetCellData().GetArray("cell")).astype(int) if len(self.sizes) else np.zeros(0, int)

    def surface(self, where):
        """Returns the area of the faces with a single cell. Checks that no face has more than two cells, and that the surface is
        closed."""
        faces = np.concatenate(self.faces) if self.faces else np.zeros((0, 4), int)
        _, first, counts = np.unique(np.sort(faces, 1), axis=0, return_index=True, return_counts=True)
        expect((counts <= 2).all(), "%s: a face belongs to %d cells", where, counts.max(initial=0))
        outer, area, edges = faces[first[counts == 1]], 0.0, []
        for of_size in (outer[outer[:, 3] < 0][:, :3], outer[outer[:, 3] >= 0]):
            area += np.linalg.norm(vectors_of(self.points[of_size], range(of_size.shape[1])), axis=1).sum() if len(of_size) else 0
            edges.append(np.stack([of_size, np.roll(of_size, -1, 1)], -1).reshape(-1, 2))
        _, counts = np.unique(np.sort(np.concatenate(edges), 1), axis=0, return_counts=True)
        expect((counts % 2 == 0).all(), "%s: %d open edges", where, (counts % 2).sum())
        return area


def sums_by_cell(solid):
    found = {}
    for number, size in zip(solid.numbers(), solid.sizes):
        found[int(number)] = found.get(int(number), 0) + size
    return found


def expect_right(solid, want, where):
    """Expects the sizes and the values of cells, and that all points are used."""
    expect_values(solid.leaf, where)
    expect(not len(solid.sizes) or len(np.unique(solid.used)) == len(solid.points), "%s: points without cells", where)
    expect_sizes(sums_by_cell(solid), want, where)


def make_clip(source, normal, origin, **settings):
    clip = Clip(Input=source, **settings)
    clip.ClipType.Origin, clip.ClipType.Normal = list(origin), list(normal)
    return clip


def same_points(solid, near=1e-9):
    return len(np.unique(np.round(solid.points / near), axis=0)) != len(solid.points)


def check_plane(source, cells_of_leaf, normal, origin, where, area=True):
    """Checks clips by a plane. cells_of_leaf: the expected cells of each leaf."""
    clip = make_clip(source, normal, origin)
    offset = float(np.dot(normal, origin))
    for inside in (1, 0):
        clip.Invert = inside
        clip.UpdatePipeline()
        found = leaves(output_of(clip))
        expect(len(found) == len(cells_of_leaf), "%s: %d grids", where, len(found))
        sign = 1 if inside else -1
        for leaf, truth in zip(found, cells_of_leaf):
            solid, here = Solid(leaf), "%s, %s" % (where, "below" if inside else "above")
            side = [sign * n for n in normal]
            expect_right(solid, truth.parts(side, sign * offset), here)
            expect((solid.sizes > 0).all(), "%s: cells turned around, or empty: %g", here, solid.sizes.min(initial=1))
            if solid.faces:
                surface = solid.surface(here)
                want = truth.surface(side, sign * offset) if area else surface
                expect(abs(surface - want) <= 1e-9 * want, "%s: surface %.12g, not %.12g", here, surface, want)
                expect(not same_points(solid), "%s: points are there twice", here)
    Delete(clip)


# ---- grids made here ----------------------------------------------------------------------------------------

def check_made_grid(grid, where):
    source, truth = shown(grid), [Cells([grid])]
    for normal, origin, on_faces in planes_through(grid):
        check_plane(source, truth, normal, origin, "%s, normal %s at %s" % (where, normal, origin), not on_faces)
    Delete(source)


def check_made_grids():
    random = np.random.default_rng(20)
    for name, grid in grids_of_all_kinds(random, (0, 9, 2, 2, 0, 0)):
        check_made_grid(grid, name)
    # The grid is large enough for several tasks.
    check_made_grid(make_grid("rectilinear", (0, 70, 0, 3, 0, 66), random), "large grid")


def check_corners():
    """Checks planes through corners of cells, where many pieces have no volume."""
    grid = make_grid("plain image", (0, 6, 0, 5, 0, 4), np.random.default_rng(3), None)
    grid.SetOrigin(0, 0, 0)
    grid.SetSpacing(1, 1, 1)
    grid.GetPointData().Initialize()
    add(grid.GetPointData(), "place", np.array([grid.GetPoint(i) for i in range(grid.GetNumberOfPoints())]))
    for normal in ((1, 1, 1), (1, 1, 0), (1, -1, 0), (2, 1, 1), (1, 1, -1), (2, 1, 0)):
        check_plane(shown(grid), [Cells([grid])], normal, (3, 2, 2), "corners, normal %s" % (normal,), False)


def check_levels():
    random = np.random.default_rng(7)
    for ratio in (2, 3):
        grids = make_levels(ratio, random)
        mine = [[g for i, (at, g) in enumerate(grids) if at == level and i % ranks == rank] for level in range(2)]
        source = shown(tree_of(grids))
        for normal, origin in [((1, 0, 0), (0.1, 0, 0)), ((0, 1, 0), (0, 0.4, 0)), ((0, 0, 1), (0, 0, 0.3 / ratio))]:
            check_plane(source, [Cells(of_level) for of_level in mine], normal, origin, "ratio %d, face" % ratio, False)
        for normal in OBLIQUE:
            check_plane(source, [Cells(of_level) for of_level in mine], normal, (0.511, 0.423, 0.317), "ratio %d, normal %s" % (ratio, normal))
        clip = make_clip(source, (1, 0, 0), (0.1, 0, 0))
        clip.UpdatePipeline()
        expect(names_of(output_of(clip)) == ["level 0", "level 1"], "ratio %d: blocks %s", ratio, names_of(output_of(clip)))
        Delete(clip)
        Delete(source)


def make_ring(inner, count=12, radius=2.0):
    """Returns a ring of height 1 in two deformed blocks. Its ends touch. If `inner` is 0, its cells are wedges around an axis."""
    angles = 2 * np.pi * np.arange(count) / count
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    blocks = []
    for begin, end in ((0, 5), (5, count)):
        k, i, j = np.meshgrid(np.arange(4) / 3.0, np.arange(begin, end + 1) % count, np.linspace(inner, radius, 4), indexing="ij")
        at = np.stack([circle[i, 0] * j, circle[i, 1] * j, k], axis=-1)
        grid, points = vtkStructuredGrid(), vtkPoints()
        grid.SetDimensions(4, end + 1 - begin, 4)
        points.SetData(numpy_to_vtk(at.reshape(-1, 3), deep=1))
        grid.SetPoints(points)
        add(grid.GetCellData(), "cell", np.arange(grid.GetNumberOfCells()))
        blocks.append((0, grid))
    return tree_of(blocks, 1), count / 2 * math.sin(2 * math.pi / count) * (radius**2 - inner**2)


def check_rings():
    """Checks that cells of deformed blocks share the common points of the blocks."""
    for inner in (1.0, 0.0):
        ring, volume = make_ring(inner)
        source = shown(ring)
        for kept, part in ((threshold(source, ["CELLS", "cell"], 0, 1e9), 1), (make_clip(source, (0, 0, 1), (0, 0, 0.3)), 0.3), (make_clip(source, (1, 0, 0), (0, 0, 0)), 0.5)):
            kept.UpdatePipeline()
            where = "ring from %g on, %s" % (inner, kept.GetXMLName())
            (leaf,) = leaves(output_of(kept))
            points = vtk_to_numpy(leaf.GetPoints().GetData()) + 0.0
            expect(len(np.unique(points, axis=0)) == len(points), "%s: points are there twice", where)
            sums, pieces = IntegrateVariables(Input=kept), Connectivity(Input=kept)
            for proxy in (sums, pieces):
                proxy.UpdatePipeline()
            found = sum(leaf.GetCellData().GetArray("Volume").GetValue(0) for leaf in leaves(output_of(sums)))
            expect(abs(found - part * volume) < 1e-9 * volume, "%s: volume %.12g, not %.12g", where, found, part * volume)
            ids = vtk_to_numpy(leaves(output_of(pieces))[0].GetPointData().GetArray("RegionId"))
            expect(ids.max() == 0, "%s: %d pieces", where, ids.max() + 1)
            for proxy in (pieces, sums, kept):
                Delete(proxy)
        Delete(source)


# ---- what the reader shows ------------------------------------------------------------------------------------

def truth_of(path, name):
    """Returns boxes and values of the visible cells of all ranks."""
    reader = PatchReader(FileName=[path], Blocks="As patches")
    reader.UpdatePipeline(reader.TimestepValues[-1] if len(reader.TimestepValues) else 0)
    low, high, values = [np.zeros((0, 3))], [np.zeros((0, 3))], [np.zeros(0)]
    for grid in leaves(output_of(reader)):
        seen = seen_in(grid)
        for all_of, some in zip((low, high), boxes_of(grid)):
            all_of.append(some[seen])
        values.append(vtk_to_numpy(grid.GetCellData().GetArray(name)).astype(float)[seen])
    Delete(reader)
    return np.concatenate(low), np.concatenate(high), np.concatenate(values)


def expect_sum(found, want, scale, where):
    found, want, scale = (sum_over_ranks(float(v)) for v in (found, want, scale))
    expect(abs(found - want) <= 1e-12 * scale, "%s: %.16g, not %.16g", where, found, want)


def check_reader(path, name, origin, ends, closed):
    low, high, values = truth_of(path, name)
    for blocks in ("As patches", "Merged", "Merged up to Maximum Block Cells"):
        reader = PatchReader(FileName=[path], Blocks=blocks, MaximumBlockCells=700)
        time = reader.TimestepValues[-1] if len(reader.TimestepValues) else 0
        reader.UpdatePipeline(time)
        for normal in ((1, 0, 0), (1, 0.7, 0.4)):
            where = "%s, %s, normal %s" % (path, blocks, normal)
            clip = make_clip(reader, normal, origin)
            clip.UpdatePipeline(time)
            solids = [Solid(leaf) for leaf in leaves(output_of(clip))]
            parts = parts_of_boxes(low, high, normal, float(np.dot(normal, origin))) if len(low) else np.zeros(0)
            expect_sum(sum(s.sizes.sum() for s in solids), parts.sum(), parts.sum(), where + ": volume")
            sums = sum((s.sizes * vtk_to_numpy(s.leaf.GetCellData().GetArray(name))).sum() for s in solids if len(s.sizes))
            expect_sum(sums, (parts * values).sum(), (parts * np.abs(values)).sum(), where + ": integral of the values")
            areas = [solid.surface(where) for solid in solids if solid.faces]
            if closed and ranks == 1:
                check_surface(clip, sum(areas), where)
            Delete(clip)
        check_threshold_of_reader(reader, name, values, ends, "%s, %s" % (path, blocks))
        Delete(reader)


def check_surface(clip, area, where):
    """Checks that ParaView's own surface of the clip has the same area, and no open edges."""
    surface = ExtractSurface(Input=clip)
    edges = FeatureEdges(Input=surface, BoundaryEdges=1, FeatureEdges=0, NonManifoldEdges=0, ManifoldEdges=0)
    sums = IntegrateVariables(Input=surface)
    for proxy in (edges, sums):
        proxy.UpdatePipeline(clip.GetClientSideObject().GetOutputDataObject(0).GetInformation().Get(vtkDataObject.DATA_TIME_STEP()) or 0)
    number = sum(leaf.GetNumberOfCells() for leaf in leaves(output_of(edges)))
    found = sum(leaf.GetCellData().GetArray("Area").GetValue(0) for leaf in leaves(output_of(sums)))
    expect(number == 0 and abs(found - area) < 1e-9 * area, "%s: surface %g, not %g, with %d open edges", where, found, area, number)
    for proxy in (sums, edges, surface):
        Delete(proxy)


def check_threshold_of_reader(reader, name, values, ends, where):
    kept = Threshold(Input=reader, Scalars=["CELLS", name], LowerThreshold=ends[0], UpperThreshold=ends[1])
    kept.UpdatePipeline(reader.TimestepValues[-1] if len(reader.TimestepValues) else 0)
    found = [vtk_to_numpy(leaf.GetCellData().GetArray(name)).astype(float) for leaf in leaves(output_of(kept)) if leaf.GetNumberOfCells()]
    inside = values[(values >= ends[0]) & (values <= ends[1])]
    expect_sum(sum(map(len, found)), len(inside), len(inside), where + ", Threshold: cells")
    expect_sum(sum(f.sum() for f in found), inside.sum(), np.abs(inside).sum(), where + ", Threshold: sum of the values")
    expect(sum_over_ranks(float(len(inside))) > 0, "%s, Threshold: nothing is in the range", where)
    Delete(kept)


def check_readers(data, real):
    check_reader(os.path.join(data, "linadv_3d", "dumps.visit"), "uval", (0.501, 0.243, 0.29), (10, 50), False)
    one_level = os.path.join(real, "samrai", "linadv_onelevel_3d", "dumps.visit")
    plotfile = os.path.join(real, "amrex", "amrex_adv3d", "plt00010")
    if not os.path.exists(one_level):
        print("skipped: no real data at " + one_level)
        return
    check_reader(one_level, "U", (15.01, 9.43, 11.29), (1, 50), True)
    check_reader(plotfile, "phi", (0.51, 0.43, 0.0629), (1.1, 1.6), False)


# ---- Threshold --------------------------------------------------------------------------------------------------

def threshold(source, array, low, high, **settings):
    kept = Threshold(Input=source, Scalars=array, LowerThreshold=low, UpperThreshold=high, **settings)
    kept.UpdatePipeline()
    return kept


def check_threshold(grid, where):
    """Checks thresholds by the numbers of cells, and by the first component of the points' positions."""
    truth = Cells([grid])
    middle = int(np.median(truth.numbers))
    x = np.sort(np.unique(truth.low[:, 0]))
    least, most = float(x[len(x) // 3]), float(x[2 * len(x) // 3])
    within = lambda values: (values >= least) & (values <= most)  # noqa: E731
    below, above = within(truth.low[:, 0]), within(truth.high[:, 0])
    cells, points = ["CELLS", "twice"], ["POINTS", "place"]
    for array, low, high, settings, want in (
            (cells, middle, 3 * middle, {}, (2 * truth.numbers >= middle) & (2 * truth.numbers <= 3 * middle)),
            (cells, middle, 3 * middle, dict(Invert=1), (2 * truth.numbers < middle) | (2 * truth.numbers > 3 * middle)),
            (cells, middle, 0, dict(ThresholdMethod="Below Lower Threshold"), 2 * truth.numbers <= middle),
            (cells, 0, middle, dict(ThresholdMethod="Above Upper Threshold"), 2 * truth.numbers >= middle),
            (points, least, most, dict(AllScalars=1), below & above),
            (points, least, most, dict(AllScalars=0), below | above),
            (points, least, most, dict(AllScalars=1, Invert=1), ~(below & above))):
        kept = threshold(shown(grid), array, low, high, **settings)
        solid, here = Solid(leaves(output_of(kept))[0]), "%s, Threshold %s %s" % (where, array, settings)
        wanted = {int(n): v for n, v in truth.parts((0, 0, 0), 1).items() if n in set(truth.numbers[want])}
        expect_right(solid, wanted, here)
        expect(len(solid.sizes) == want.sum() and not same_points(solid), "%s: %d cells, not %d", here, len(solid.sizes), want.sum())
        Delete(kept)


def check_thresholds():
    for name, grid in grids_of_all_kinds(np.random.default_rng(5)):
        if grid.GetExtent()[0] < grid.GetExtent()[1]:
            check_threshold(grid, name)


# ---- other shapes, other data, bad data ---------------------------------------------------------------------------

SHAPES = (("Plane", dict(Normal=[1, 0.7, 0.4])), ("Sphere", dict(Radius=0.7)), ("Cylinder", dict(Radius=0.5, Axis=[1, 0.3, 0.2])),
          ("Box", dict(Length=[0.6, 0.5, 0.6], Rotation=[10, 20, 30])))


def shape_clip(source, centre, kind, settings, **others):
    clip = Clip(Input=source, ClipType=kind, **others)
    for name, value in settings.items():
        setattr(clip.ClipType, name, value)
    if kind == "Box":
        clip.ClipType.Position = list(centre)
    else:
        setattr(clip.ClipType, "Origin" if kind == "Plane" else "Center", list(centre))
    clip.UpdatePipeline()
    return clip


def check_shapes():
    """Compares clips with ParaView's clips of a grid without hidden cells, except for the volume of non-planar polygons. Both sides
    together must be the whole grid."""
    grid = make_grid("plain image", (0, 8, 0, 15, 0, 6), np.random.default_rng(1), None)
    grid.SetSpacing(0.2, 0.11, 0.3)
    whole = 1.6 * 1.65 * 1.8
    centre = np.array(grid.GetCenter()) + 0.0123
    for kind, settings in SHAPES:
        for crinkle in (0, 1):
            volumes, theirs = [], []
            for use, found in ((1, volumes), (0, theirs)):
                for inside in (1, 0):
                    clip = shape_clip(shown(grid), centre, kind, settings, Invert=inside, Crinkleclip=crinkle, UsePatchIO=use)
                    solid = Solid(leaves(output_of(clip))[0])
                    found.append(solid.sizes.sum())
                    if use:
                        solid.surface("%s, crinkle %d" % (kind, crinkle))
                    Delete(clip)
            where = "%s, crinkle %d: %s, ParaView's %s of %g" % (kind, crinkle, volumes, theirs, whole)
            expect(max(abs(a - b) for a, b in zip(volumes, theirs)) < 3e-4 * whole and min(volumes) > 0.02 * whole, "%s", where)
            near = 1e-12 if kind == "Plane" else 1e-4
            expect(crinkle or abs(sum(volumes) - whole) < near * whole, "%s", where)


def crinkle(source, normal, origin):
    return make_clip(source, normal, origin, Crinkleclip=1)


def every(source, *_):
    return threshold(source, ["CELLS", "twice"], -1, 1e9)


def some(source, *_):
    return threshold(source, ["CELLS", "twice"], 20, 60)


def none(source, *_):
    return threshold(source, ["CELLS", "no such array"], 0, 100)


def check_other_settings():
    """Checks settings for which ParaView's own filters are used."""
    image = make_grid("plain image", (0, 6, 0, 5, 0, 4), np.random.default_rng(3), None)
    for data in (image, tree_of([(0, image)], 1) if ranks == 1 else image):
        values = dict(ClipType="Scalar", Scalars=["CELLS", "twice"], Value=50)
        compare_with_paraview(shown(data), lambda source: Clip(Input=source, **values), "by values, %s" % data.GetClassName())
        exact = dict(Exact=1, Invert=1, UsePatchIO=1)
        compare_with_paraview(shown(data), lambda source: shape_clip(source, image.GetCenter(), "Box", dict(Length=[0.6, 0.2, 1]), **exact), "exact box")
        compare_with_paraview(shown(data), lambda source: threshold(source, ["POINTS", "place"], -1.6, -1.5, UseContinuousCellRange=1, AllScalars=0), "continuous range")


def check_threshold_of_partial_array():
    """Checks that a Threshold of an array that some blocks lack keeps no cell of these blocks."""
    root, last = tree_of_partial_arrays()
    kept = threshold(shown(root), ["CELLS", "some"], 0, 10)
    expect(cells_in(kept) == last.GetNumberOfCells(), "partial arrays: %d cells", cells_in(kept))


def turn(clip):
    clip.Invert = 0


for kind, name in ((Clip, "vtkPVPatchClip"), (Threshold, "vtkPVPatchThreshold")):
    expect(kind(Input=Wavelet()).GetClientSideObject().GetClassName() == name, "%s is ParaView's own", name)
if ranks == 1:
    check_made_grids()
    check_rings()
    check_corners()
    check_thresholds()
    check_shapes()
check_levels()
check_other_settings()
check_unsupported(make_clip, crinkle, some)
check_trees(make_clip, 120)
check_trees(every, 240)
check_partial_arrays(make_clip)
check_threshold_of_partial_array()
check_bad_data(make_clip, some, none)
check_abort(make_clip, turn)
check_readers(*sys.argv[1:3])
finish("clips")

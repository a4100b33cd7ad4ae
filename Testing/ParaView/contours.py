"""Tests that contours of cells are closed, on all data and in all modes. These contours, and contours of points, must be the same
on any number of ranks.

usage: Testing/ParaView/pvbatch.sh NP contours.py OUTDIR DATA...

Open edges of a contour of cells, and open ends of a contour line of 2-D data, may only be on the border of the domain. Merged
blocks, patches and all numbers of ranks must give the same triangles, points, normals, gradients and other arrays: the run on 1
rank writes their sum to OUTDIR, and other runs compare. Missing files of DATA are left out. Runs on each rank.
"""
import hashlib
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPartitionedDataSet

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from leaves import seen_in  # noqa: E402
from made_grids import add, boxes_of, make_grid, shown  # noqa: E402
from on_ranks import expect, finish, from_all_ranks, leaves, output_of, rank, ranks, sum_over_ranks  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
out = sys.argv[1]


def bounds_of(reader):
    bounds = np.array(reader.GetDataInformation().GetBounds()).reshape(3, 2)
    if bounds[0, 0] > bounds[0, 1]:  # no block on this rank
        bounds[:] = np.inf, -np.inf
    bounds = from_all_ranks(bounds)
    return np.stack([np.min(bounds, axis=0)[:, 0], np.max(bounds, axis=0)[:, 1]], axis=1)


def is_everywhere(reader, kind, name):
    """Collective: returns whether all cells have numbers. False for points, and if patches lack the array."""
    if kind == "POINTS":
        return False
    missing = sum((np.isnan(vtk_to_numpy(leaf.GetCellData().GetArray(name))).sum() for leaf in leaves(output_of(reader))), 0.0)
    return sum_over_ranks(missing) == 0


def fills_its_bounds(reader, bounds):
    """Collective: returns whether the visible cells fill a box, so that their border is that of the bounds."""
    size, wide = 0.0, bounds[:, 1] > bounds[:, 0]
    for leaf in leaves(output_of(reader)):
        if leaf.IsA("vtkStructuredGrid"):
            continue
        low, high = boxes_of(leaf)
        size += np.prod((high - low)[seen_in(leaf)][:, wide], axis=1).sum()
    return abs(sum_over_ranks(size) / np.prod((bounds[:, 1] - bounds[:, 0])[wide]) - 1) < 1e-6


class Surface:
    """Collective: the surface of all ranks. points: without duplicates, which exist at seams between ranks; cells: their numbers at
    the corners of triangles or lines; columns: {name: values at the points}."""

    def __init__(self, proxy):
        mine = []
        for leaf in leaves(output_of(proxy)):
            expect(leaf.IsA("vtkPolyData"), "%s instead of polygons", leaf.GetClassName())
            if leaf.GetNumberOfCells():
                cells, size = (leaf.GetLines(), 2) if leaf.GetNumberOfLines() else (leaf.GetPolys(), 3)
                data = leaf.GetPointData()
                mine.append((vtk_to_numpy(leaf.GetPoints().GetData()), vtk_to_numpy(cells.GetConnectivityArray()).reshape(-1, size),
                             {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)) for i in range(data.GetNumberOfArrays())}))
        parts = sum(from_all_ranks(mine), [])
        self.points, self.cells, self.columns = np.zeros((0, 3)), np.zeros((0, 3), int), {}
        if parts:
            points, cells, columns = zip(*parts)
            self.points, first, numbers = np.unique(np.concatenate(points), axis=0, return_index=True, return_inverse=True)
            begins = np.cumsum([0] + [len(part) for part in points[:-1]])
            self.cells = numbers.ravel()[np.concatenate([part + begin for part, begin in zip(cells, begins)])]
            names = set.intersection(*map(set, columns))
            self.columns = {name: np.concatenate([part[name] for part in columns])[first] for name in sorted(names)}


def open_edges(points, triangles, bounds):
    """Returns the edges with an odd number of triangles, or the ends of lines, that are not on a face of the domain."""
    triangles = triangles[(triangles != np.roll(triangles, 1, 1)).all(1)]  # without those whose points coincide
    sides = ([0, 1], [1, 2], [2, 0]) if triangles.shape[1] == 3 else ([0], [1])
    edges = np.sort(np.concatenate([triangles[:, side] for side in sides]), axis=1)
    edges, count = np.unique(edges, axis=0, return_counts=True)
    edges = edges[count % 2 == 1]
    near = 1e-9 * (bounds[:, 1] - bounds[:, 0]).max()
    ends = points[edges]
    on_border = np.zeros(len(edges), bool)
    for axis in np.flatnonzero(bounds[:, 1] > bounds[:, 0]):
        for side in (0, 1):
            on_border |= (abs(ends[:, :, axis] - bounds[axis, side]) < near).all(axis=1)
    return int((~on_border).sum())


def summary_of(surface):
    """Returns a sum of the triangles with all values at their points, sorted independently of blocks."""
    points, triangles = surface.points, surface.cells
    columns = [points] + [values.astype(float).reshape(len(points), -1) for values in surface.columns.values()]
    rows = np.concatenate(columns, axis=1)
    size = np.abs(rows).max(axis=0)
    rows = np.round(rows / np.where(size > 0, size, 1), 4) + 0.0    # + 0 removes -0
    begin = np.argmin(triangles, axis=1)  # points are sorted by position
    turned = np.take_along_axis(triangles, (begin[:, None] + np.arange(triangles.shape[1])) % triangles.shape[1], axis=1)
    turned = turned[np.lexsort(turned.T[::-1])]
    return "%d points, %d cells, %s, %s" % (
        len(points), len(triangles), " ".join(surface.columns), hashlib.md5(rows[turned].tobytes()).hexdigest())


def check(label, reader, time, kind, array, levels):
    found = []
    for blocks in ("Merged", "As patches"):
        reader.Blocks = blocks
        contour = Contour(Input=reader, ContourBy=[kind, array], Isosurfaces=levels, OutputPointsPrecision="Double",
                          ComputeGradients=1)
        contour.UpdatePipeline(time)
        bounds, everywhere = bounds_of(reader), is_everywhere(reader, kind, array)
        everywhere = everywhere and fills_its_bounds(reader, bounds)
        surface = Surface(contour)
        if len(surface.cells):
            open_ones = open_edges(surface.points, surface.cells, bounds)
            expect(open_ones == 0 or not everywhere, "%s, %s: %d open edges", label, blocks, open_ones)
            found.append(summary_of(surface))
        Delete(contour)
    expect(len(found) == 2, "%s: no contour", label)
    expect(len(set(found)) == 1, "%s: patches and merged blocks differ: %s", label, found)
    if rank == 0:
        compare(label, found)


def check_vector(label, reader, time, kind, array):
    """Checks that a vector gives only a message; ParaView's own filter would end the program."""
    contour, said = Contour(Input=reader, ContourBy=[kind, array], Isosurfaces=[0.5]), []
    contour.GetClientSideObject().AddObserver("ErrorEvent", lambda *about: said.append(1))
    contour.UpdatePipeline(time)
    messages = max(from_all_ranks(len(said)))
    expect(messages == 1 and not len(Surface(contour).cells), "%s: %d messages about a vector", label, messages)
    Delete(contour)


def compare(label, found):
    """Compares with the result of the run on 1 rank."""
    path = os.path.join(out, hashlib.md5(label.encode()).hexdigest() + ".txt")
    if ranks == 1:
        os.makedirs(out, exist_ok=True)
        with open(path, "w") as file:
            file.write("".join(found[:1]))
    with open(path) as file:
        before = file.read()
    expect(found[:1] == [before], "%s: %s on %d ranks, but %s on 1", label, found, ranks, before)


def check_partitions():
    """Checks the contour of a point array if only rank 0 has partitions: a plane through a box."""
    tree, image = vtkPartitionedDataSet(), make_grid("plain image", (0, 4, 0, 4, 0, 4), np.random.default_rng(1), None)
    add(image.GetPointData(), "height", np.repeat(np.arange(5.0), 25))
    if rank == 0:
        tree.SetPartition(0, image)
    contour = Contour(Input=shown(tree), ContourBy=["POINTS", "height"], Isosurfaces=[1.5])
    contour.UpdatePipeline()
    points, box = Surface(contour).points, image.GetBounds()
    plane = box[4] + 1.5 / 4 * (box[5] - box[4])
    wrong = np.abs([points.min(0), points.max(0)] - np.array([[*box[:4:2], plane], [*box[1:4:2], plane]])).max()
    expect(wrong < 1e-5, "partitions on one rank: %g from the plane in %s", wrong, box)
    Delete(contour)


for path in sys.argv[2:]:
    if not os.path.exists(path):
        continue
    reader = PatchReader(FileName=[path])
    times = reader.TimestepValues
    time = times[-1] if hasattr(times, "__len__") and len(times) else times or 0.0
    reader.UpdatePipeline(time)
    for kind, data in (("CELLS", reader.CellData), ("POINTS", reader.PointData)):
        for name in from_all_ranks([name for name in data.keys() if name != "vtkGhostType" and data[name].GetNumberOfComponents() == 1])[0][:2]:
            low, high = data[name].GetRange() if name in data.keys() else (np.inf, -np.inf)
            low, high = min(from_all_ranks(low)), max(from_all_ranks(high))
            # ParaView 5.13 includes hidden points in the range; all visible points of this data set have the same value.
            is_constant = name == "unode" and low < 0
            if low < high and not is_constant:
                check("%s, %s" % (path, name), reader, time, kind, name, [low + part * (high - low) for part in (0.21, 0.50001)])
        for name in from_all_ranks([name for name in data.keys() if data[name].GetNumberOfComponents() > 1])[0][:1]:
            check_vector("%s, %s" % (path, name), reader, time, kind, name)
    Delete(reader)
check_partitions()
finish("contours")

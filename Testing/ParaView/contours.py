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
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import vtkPartitionedDataSet, vtkPolyData
from vtkmodules.vtkFiltersCore import vtkAppendPolyData
from vtkmodules.vtkParallelCore import vtkCommunicator

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from made_grids import add, boxes_of, make_grid, seen_in, shown  # noqa: E402
from on_ranks import controller, expect, finish, leaves, output_of, rank, ranks, sum_over_ranks  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
out = sys.argv[1]


def over_ranks(operation, values):
    """Collective: returns the minimum or maximum of each value."""
    mine, all_of_them = vtkDoubleArray(), vtkDoubleArray()
    for value in values:
        mine.InsertNextValue(value)
    all_of_them.SetNumberOfValues(len(values))
    controller.AllReduce(mine, all_of_them, operation)
    return vtk_to_numpy(all_of_them).copy()


def bounds_of(reader):
    bounds = np.array(reader.GetDataInformation().GetBounds()).reshape(3, 2)
    if bounds[0, 0] > bounds[0, 1]:  # no block on this rank
        bounds[:] = np.inf, -np.inf
    return np.stack([over_ranks(vtkCommunicator.MIN_OP, bounds[:, 0]), over_ranks(vtkCommunicator.MAX_OP, bounds[:, 1])], axis=1)


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


def whole(proxy):
    """Returns the surface of all ranks on rank 0, and an empty one on other ranks."""
    parts = vtkAppendPolyData()
    parts.SetOutputPointsPrecision(1)  # double
    for leaf in leaves(output_of(proxy)):
        expect(leaf.IsA("vtkPolyData"), "%s instead of polygons", leaf.GetClassName())
        if leaf.GetNumberOfCells():
            parts.AddInputData(leaf)
    mine = vtkPolyData()
    if parts.GetNumberOfInputConnections(0):
        parts.Update()
        mine = parts.GetOutput()
    if ranks == 1:
        return mine
    if rank > 0:
        controller.Send(mine, 0, 77)
        return None
    parts = vtkAppendPolyData()
    parts.SetOutputPointsPrecision(1)
    others = [vtkPolyData() for _ in range(1, ranks)]
    for number, other in enumerate(others):
        controller.Receive(other, number + 1, 77)
    for part in [mine] + others:
        if part.GetNumberOfCells():
            parts.AddInputData(part)
    if not parts.GetNumberOfInputConnections(0):
        return mine
    parts.Update()
    return parts.GetOutput()


def corners_of(surface):
    """Returns the positions of points without duplicates, which exist at seams between ranks, the first point of each position, and
    the triangles or lines."""
    points = vtk_to_numpy(surface.GetPoints().GetData())
    points, first, numbers = np.unique(points, axis=0, return_index=True, return_inverse=True)
    cells, size = (surface.GetLines(), 2) if surface.GetNumberOfLines() else (surface.GetPolys(), 3)
    return points, first, numbers.ravel()[vtk_to_numpy(cells.GetConnectivityArray()).reshape(-1, size)]


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


def summary_of(points, first, triangles, surface):
    """Returns a sum of the triangles with all values at their points, sorted independently of blocks."""
    columns = [points]
    data = surface.GetPointData()
    names = sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))
    for name in names:
        values = vtk_to_numpy(data.GetArray(name))[first].astype(float)
        columns.append(values.reshape(len(points), -1))
    rows = np.concatenate(columns, axis=1)
    size = np.abs(rows).max(axis=0)
    rows = np.round(rows / np.where(size > 0, size, 1), 4) + 0.0    # + 0 removes -0
    begin = np.argmin(triangles, axis=1)  # points are sorted by position
    turned = np.take_along_axis(triangles, (begin[:, None] + np.arange(triangles.shape[1])) % triangles.shape[1], axis=1)
    turned = turned[np.lexsort(turned.T[::-1])]
    return "%d points, %d cells, %s, %s" % (
        len(points), len(triangles), " ".join(names), hashlib.md5(rows[turned].tobytes()).hexdigest())


def check(label, reader, time, kind, array, levels):
    found = []
    for blocks in ("Merged", "As patches"):
        reader.Blocks = blocks
        contour = Contour(Input=reader, ContourBy=[kind, array], Isosurfaces=levels, OutputPointsPrecision="Double",
                          ComputeGradients=1)
        contour.UpdatePipeline(time)
        bounds, everywhere = bounds_of(reader), is_everywhere(reader, kind, array)
        everywhere = everywhere and fills_its_bounds(reader, bounds)
        surface = whole(contour)
        if surface and surface.GetNumberOfCells():
            points, first, triangles = corners_of(surface)
            open_ones = open_edges(points, triangles, bounds)
            expect(open_ones == 0 or not everywhere, "%s, %s: %d open edges", label, blocks, open_ones)
            found.append(summary_of(points, first, triangles, surface))
        Delete(contour)
    if rank == 0:
        expect(len(found) == 2, "%s: no contour", label)
        expect(len(set(found)) == 1, "%s: patches and merged blocks differ: %s", label, found)
        compare(label, found)


def check_vector(label, reader, time, kind, array):
    """Checks that a vector gives only a message; ParaView's own filter would end the program."""
    contour, said = Contour(Input=reader, ContourBy=[kind, array], Isosurfaces=[0.5]), []
    contour.GetClientSideObject().AddObserver("ErrorEvent", lambda *about: said.append(1))
    contour.UpdatePipeline(time)
    surface = whole(contour)
    messages = over_ranks(vtkCommunicator.MAX_OP, [len(said)])[0]
    expect(messages == 1 and not (surface and surface.GetNumberOfCells()), "%s: %d messages about a vector", label, messages)
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
    tree = vtkPartitionedDataSet()
    if rank == 0:
        image = make_grid("plain image", (0, 4, 0, 4, 0, 4), np.random.default_rng(1), None)
        add(image.GetPointData(), "height", np.repeat(np.arange(5.0), 25))
        tree.SetPartition(0, image)
    contour = Contour(Input=shown(tree), ContourBy=["POINTS", "height"], Isosurfaces=[1.5])
    contour.UpdatePipeline()
    surface = whole(contour)
    if rank == 0:
        bounds, box = np.array(surface.GetBounds()), np.array(image.GetBounds())
        plane = box[4] + 1.5 / 4 * (box[5] - box[4])
        expect(np.allclose(bounds, [*box[:4], plane, plane]), "partitions on one rank: %s in %s", bounds, box)
    Delete(contour)


def names_on_first(names):
    """Collective: returns the names of rank 0, because other ranks may have no blocks and no arrays."""
    text = vtkUnsignedCharArray()
    for byte in "\n".join(names).encode():
        text.InsertNextValue(byte)
    controller.Broadcast(text, 0)
    return bytes(vtk_to_numpy(text)).decode().split("\n") if text.GetNumberOfValues() else []


for path in sys.argv[2:]:
    if not os.path.exists(path):
        continue
    reader = PatchReader(FileName=[path])
    times = reader.TimestepValues
    time = times[-1] if hasattr(times, "__len__") and len(times) else times or 0.0
    reader.UpdatePipeline(time)
    for kind, data in (("CELLS", reader.CellData), ("POINTS", reader.PointData)):
        for name in names_on_first(name for name in data.keys() if name != "vtkGhostType" and data[name].GetNumberOfComponents() == 1)[:2]:
            low, high = data[name].GetRange() if name in data.keys() else (np.inf, -np.inf)
            low, high = over_ranks(vtkCommunicator.MIN_OP, [low])[0], over_ranks(vtkCommunicator.MAX_OP, [high])[0]
            # ParaView 5.13 includes hidden points in the range; all visible points of this data set have the same value.
            is_constant = name == "unode" and low < 0
            if low < high and not is_constant:
                check("%s, %s" % (path, name), reader, time, kind, name, [low + part * (high - low) for part in (0.21, 0.50001)])
        for name in names_on_first(name for name in data.keys() if data[name].GetNumberOfComponents() > 1)[:1]:
            check_vector("%s, %s" % (path, name), reader, time, kind, name)
    Delete(reader)
check_partitions()
finish("contours")

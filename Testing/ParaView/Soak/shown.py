"""What is seen of an output, over all ranks, as a few numbers that do not depend on how the cells lie in blocks and on ranks.

Each visible cell gets a number from its corners, one from its corners and each array of cells, and one from its corners with
each array of points. The sums of these numbers are the same if and only if, but for chance, the same cells with the same bits are seen.
"""
import zlib

import numpy as np
from on_ranks import controller, leaves
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkLongLongArray
from vtkmodules.vtkParallelCore import vtkCommunicator

NOT_VISIBLE = 1 | 8 | 32     # duplicate, refined, hidden
SLOTS = 256
NOT_COMPARED = ("vtkGhostType", "rank", "rank_", "Normals")


def mixed(numbers):
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    return numbers ^ (numbers >> np.uint64(31))


def with_values(numbers, values):
    """A number of each row, from the one that it has and its values."""
    values = values.reshape(len(values), -1)
    if values.dtype.kind == "f":
        # All NaN are the same, and -0 is 0: filters may choose.
        values = np.where(np.isnan(values), np.nan, values + 0.0).astype(np.float64)
        columns = values.view(np.uint64)
    else:
        columns = values.astype(np.uint64)
    for column in columns.T:
        numbers = mixed(numbers * np.uint64(31) + column + np.uint64(1))
    return numbers


def positions_of(grid):
    if grid.IsA("vtkPointSet"):
        points = grid.GetPoints()
        return vtk_to_numpy(points.GetData()) if points and points.GetNumberOfPoints() else np.zeros((0, 3))
    extent = np.array(grid.GetExtent()).reshape(3, 2)
    if grid.IsA("vtkRectilinearGrid"):
        axes = [vtk_to_numpy(a).astype(float) for a in (grid.GetXCoordinates(), grid.GetYCoordinates(), grid.GetZCoordinates())]
    else:
        axes = [o + s * np.arange(e[0], e[1] + 1) for o, s, e in zip(grid.GetOrigin(), grid.GetSpacing(), extent)]
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], -1)


def of_corners(grid, numbers):
    """The sums of the numbers of each cell's points."""
    if grid.IsA("vtkPolyData") or grid.IsA("vtkUnstructuredGrid"):
        lists = [grid.GetCells()] if grid.IsA("vtkUnstructuredGrid") else \
            [grid.GetVerts(), grid.GetLines(), grid.GetPolys(), grid.GetStrips()]
        found = []
        for cells in lists:
            if cells is not None and cells.GetNumberOfCells():
                offsets, corners = vtk_to_numpy(cells.GetOffsetsArray()), vtk_to_numpy(cells.GetConnectivityArray())
                sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(numbers[corners], dtype=np.uint64)])
                found.append(sums[offsets[1:]] - sums[offsets[:-1]])
        return np.concatenate(found) if found else np.zeros(0, np.uint64)
    extent = np.array(grid.GetExtent()).reshape(3, 2)
    block = numbers.reshape((extent[:, 1] - extent[:, 0] + 1)[::-1])
    for axis in range(3):
        if block.shape[axis] > 1:
            low, high = [slice(None)] * 3, [slice(None)] * 3
            low[axis], high[axis] = slice(0, -1), slice(1, None)
            block = block[tuple(low)] + block[tuple(high)]
    return block.ravel()


def arrays_of(attributes):
    for i in range(attributes.GetNumberOfArrays()):
        array = attributes.GetArray(i)
        if array is not None and array.GetName() not in NOT_COMPARED:
            yield array.GetName(), vtk_to_numpy(array)


def sums_of_grid(grid):
    """{what: sum over the visible cells}"""
    if not grid.GetNumberOfCells():
        return {}
    points = with_values(np.zeros(grid.GetNumberOfPoints(), np.uint64), positions_of(grid))
    ghosts = grid.GetCellData().GetArray("vtkGhostType")
    visible = slice(None) if ghosts is None else (vtk_to_numpy(ghosts) & NOT_VISIBLE) == 0
    cells = mixed(of_corners(grid, points))
    sums = {"cells": cells[visible]}
    for name, values in arrays_of(grid.GetCellData()):
        sums["cell array '%s'" % name] = with_values(cells, values)[visible]
    for name, values in arrays_of(grid.GetPointData()):
        sums["point array '%s'" % name] = mixed(of_corners(grid, with_values(points, values)))[visible]
    found = {what: int(numbers.sum(dtype=np.uint64)) for what, numbers in sums.items()}
    found["number of cells"] = len(sums["cells"])
    return found


def slot_of(what):
    return zlib.crc32(what.encode()) % SLOTS


def seen_in(output):
    """Collective: a number for each of SLOTS, and {what: slot} of this rank."""
    totals, slots = [0] * SLOTS, {}
    for leaf in leaves(output):
        for what, number in (sums_of_grid(leaf) if leaf else {}).items():
            slots[what] = slot_of(what)
            totals[slots[what]] = (totals[slots[what]] + number) % 2 ** 64
    mine, total = vtkLongLongArray(), vtkLongLongArray()
    for array in (mine, total):
        array.SetNumberOfValues(2 * SLOTS)
    for i, number in enumerate(totals):
        mine.SetValue(2 * i, number >> 32)
        mine.SetValue(2 * i + 1, number & 0xffffffff)
    controller.AllReduce(mine, total, vtkCommunicator.SUM_OP)
    return [((total.GetValue(2 * i) << 32) + total.GetValue(2 * i + 1)) % 2 ** 64 for i in range(SLOTS)], slots


def difference(found, wanted):
    """What differs between two results of seen_in(); empty where nothing does. The same on all ranks but for the names."""
    slots = [i for i in range(SLOTS) if found[0][i] != wanted[0][i]]
    names = sorted(what for what, slot in {**found[1], **wanted[1]}.items() if slot in slots)
    cells = slot_of("number of cells")
    return ["%d of %d cells" % (found[0][cells], wanted[0][cells])] + names + slots if slots else []

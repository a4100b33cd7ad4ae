"""Sums over the visible cells of an output on all ranks, which do not depend on the division of the cells into blocks and among
ranks.

Each visible cell gets a number from its corners, one from its corners and each array of cells, and one from its corners and each
array of points. Except by chance, the sums of these numbers are equal if and only if the same cells with the same bits are visible.

Filters put points on edges. Which cell at an edge computes the point depends on threads, and the last bit may differ. So for
outputs of filters, the number of cells must be equal, and sums of values, weighted by place, must be nearly equal.
"""
import collections

import numpy as np
from leaves import leaves, places_of, seen_in
from on_ranks import from_all_ranks
from paraview.simple import GetParaViewVersion
from vtkmodules.util.numpy_support import vtk_to_numpy

NEAR = 1e-5
PRESENT = 1e-300    # distinguishes an array of zeros from a missing array
NOT_COMPARED = ("vtkGhostType", "rank", "rank_", "Normals")


def mixed(numbers):
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    return numbers ^ (numbers >> np.uint64(31))


def with_values(numbers, values):
    """Returns a number for each row, from its previous number and its values."""
    values = values.reshape(len(values), -1)
    if values.dtype.kind == "f":
        # All NaN count as equal, and -0 as 0, because filters may choose.
        values = np.where(np.isnan(values), np.nan, values + 0.0).astype(np.float64)
        columns = values.view(np.uint64)
    else:
        columns = values.astype(np.uint64)
    for column in columns.T:
        numbers = mixed(numbers * np.uint64(31) + column + np.uint64(1))
    return numbers


def of_corners(grid, numbers):
    """Returns the sums of the numbers of each cell's points."""
    if grid.IsA("vtkPolyData") or grid.IsA("vtkUnstructuredGrid"):
        lists = [grid.GetCells()] if grid.IsA("vtkUnstructuredGrid") else \
            [grid.GetVerts(), grid.GetLines(), grid.GetPolys(), grid.GetStrips()]
        found = [np.zeros(0, numbers.dtype)]
        for cells in lists:
            if cells is not None and cells.GetNumberOfCells():
                offsets, corners = vtk_to_numpy(cells.GetOffsetsArray()), vtk_to_numpy(cells.GetConnectivityArray())
                sums = np.add.reduceat(np.append(numbers[corners], numbers.dtype.type(0)), offsets[:-1])
                found.append(np.where(offsets[1:] > offsets[:-1], sums, numbers.dtype.type(0)))
        return np.concatenate(found)
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


def bits_of_grid(grid):
    """Returns {what: sum over the visible cells}."""
    points = with_values(np.zeros(grid.GetNumberOfPoints(), np.uint64), places_of(grid))
    visible, cells = seen_in(grid), mixed(of_corners(grid, points))
    sums = {"cells": cells[visible]}
    for name, values in arrays_of(grid.GetCellData()):
        sums["cell array '%s'" % name] = with_values(cells, values)[visible]
    for name, values in arrays_of(grid.GetPointData()):
        sums["point array '%s'" % name] = mixed(of_corners(grid, with_values(points, values)))[visible]
    found = {what: int(numbers.sum(dtype=np.uint64)) for what, numbers in sums.items()}
    return {**found, "number of cells": len(sums["cells"])}


def converted_in(grid):
    """Returns the sums that depend on filters that were deleted: ParaView 6.1 continues to convert arrays of cells and points into each
    other for them, also in the output of the reader itself."""
    if GetParaViewVersion() < (6, 1):
        return []
    names = {name for name, _ in arrays_of(grid.GetCellData())} & {name for name, _ in arrays_of(grid.GetPointData())}
    return [what + "%s array '%s'" % (kind, name) for name in names for kind in ("cell", "point") for what in ("", "NaN in ")]


def moments_of_grid(grid, bounds):
    """Returns {what: (sum over the visible cells, sum of the magnitudes)}."""
    size = max(b - a for a, b in zip(bounds[0::2], bounds[1::2])) or 1.0
    weights = np.cos((places_of(grid) - bounds[0::2]) / size @ [1.3, 2.1, 2.9])
    corners, visible = of_corners(grid, np.ones(grid.GetNumberOfPoints())), seen_in(grid)
    places = of_corners(grid, weights) / np.maximum(corners, 1)
    sums = {"places": places[visible]}
    for kind, data in (("cell", grid.GetCellData()), ("point", grid.GetPointData())):
        for name, values in arrays_of(data):
            values = values.reshape(len(values), -1).astype(float).sum(axis=1)
            sums["NaN in %s array '%s'" % (kind, name)] = np.isnan(values).astype(float)
            values = np.nan_to_num(values, posinf=0, neginf=0)
            sums["%s array '%s'" % (kind, name)] = (places * values if kind == "cell" else of_corners(grid, weights * values))[visible]
    found = {what: (float(numbers.sum()), float(abs(numbers).sum()) + PRESENT) for what, numbers in sums.items()}
    return {**found, "number of cells": (float(len(sums["places"])), 0.0)}


class Seen:
    """The sums of an output on all ranks. The constructor is collective. bounds: bounds of the data if a filter made the output, whose
    sums are then compared; None: bits are compared."""

    def __init__(self, output, bounds=None):
        self.exact, totals, sizes, converted = bounds is None, collections.Counter(), collections.Counter(), set()
        for leaf in leaves(output):
            if leaf and leaf.GetNumberOfCells():
                converted.update(converted_in(leaf))
                for what, number in (bits_of_grid(leaf) if self.exact else moments_of_grid(leaf, bounds)).items():
                    number, size = (number, 0.0) if self.exact else number
                    totals[what] += number
                    sizes[what] += size
        self.totals, self.sizes, self.converted = collections.Counter(), collections.Counter(), set()
        for part in from_all_ranks((totals, sizes, converted)):
            self.totals.update(part[0])
            self.sizes.update(part[1])
            self.converted |= part[2]

    def differs(self, other):
        """Returns texts about the differences; empty if there are none."""
        names = set(self.totals) | set(other.totals)
        if not self.exact:    # an array may be missing in one output
            names = {what for what in names if what == "number of cells" or self.sizes[what] and other.sizes[what]}
        names = sorted(what for what in names - self.converted - other.converted if self.is_other(other, what))
        cells = "%d of %d cells" % (self.totals["number of cells"], other.totals["number of cells"])
        return [cells] + names if names else []

    def is_other(self, other, what):
        difference = abs(self.totals[what] - other.totals[what])
        return difference % 2 ** 64 != 0 if self.exact else difference > NEAR * self.sizes[what]

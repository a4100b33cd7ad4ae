"""Compares overlapping AMR of the reader, and the images of Volume Of Patches, with the reference values of reference.py.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/levels.py TRUTHDIR [SERIES...]

TRUTHDIR and SERIES as in conformance.py. For the last step of each series:
- the AMR has the boxes, spacings and ratios of all patches on every rank, and each patch with its values and flags on one rank;
- the image, which numpy paints on the finest level cell by cell, is the mean of what is painted in each of its cells, for
  merged blocks, patches and AMR, at the finest level, at the next one and at several times the coarsest. Points have the value
  between those of the finest cell around them.
Runs on every rank.
"""
import os
import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import conformance  # noqa: E402
from conformance import expect, output_of, rank, sum_over_ranks  # noqa: E402
from expected import HIDDENCELL, Truth  # noqa: E402

HIDDENPOINT = 2
MOST_CELLS = 3000000    # greatest number of cells that numpy paints


class Levels:
    """The visible cells of a step, on the cells of the finest level."""

    def __init__(self, truth):
        self.truth = truth
        self.spacing = np.array(truth.meta["spacing"])
        self.scale = np.rint(self.spacing / self.spacing[-1]).astype(int)    # finest cells per cell of a level
        self.seen = [((truth.ghost_types(p)[0] == 0).reshape(truth.cells(p)[::-1])) for p in range(len(truth.patches))]
        self.boxes = {}    # the box of the visible cells of each level, in finest cells
        for p, seen in enumerate(self.seen):
            if seen.any():
                level, lower = truth.patches[p]["level"], np.array(truth.patches[p]["lower"])
                where = np.argwhere(seen)[:, ::-1]
                low, high = (where.min(0) + lower) * self.scale[level], (where.max(0) + 1 + lower) * self.scale[level]
                if level in self.boxes:
                    low, high = np.minimum(low, self.boxes[level][0]), np.maximum(high, self.boxes[level][1])
                self.boxes[level] = (low, high)
        self.low = np.min([box[0] for box in self.boxes.values()], 0)
        self.high = np.max([box[1] for box in self.boxes.values()], 0)

    def names(self, cell):
        return sorted({name for p in range(len(self.seen)) for name in self.truth.data(p, cell)})

    def values(self, patch, name, cell):
        """Returns the values as [z, y, x, component]; NaN, or 0 for integers, if the patch lacks the variable."""
        shape = [n + (0 if cell else 1) for n in self.seen[patch].shape]
        values = self.truth.data(patch, cell).get(name)
        if values is None:
            other = next(data[name] for data in (self.truth.data(p, cell) for p in range(len(self.seen))) if name in data)
            values = np.full([np.prod(shape), other.shape[1]], np.nan if other.dtype.kind == "f" else 0)
        return values.reshape(*shape, -1).astype(float)

    def grid(self, level, times):
        """Returns the finest cells per cell of an image, the begin of the image, and its number of cells."""
        step = self.scale[level] * times
        begin = self.boxes[level][0] - -((self.low - self.boxes[level][0]) // step) * step
        return step, begin, -((begin - self.high) // step)

    def chosen(self, most):
        for level in sorted(self.boxes, reverse=True):
            grid = self.grid(level, 1)
            if np.prod(grid[2]) <= most:
                return grid
        times = 2
        while np.prod(grid[2]) > most:
            grid = self.grid(min(self.boxes), times)
            times += 1
        return grid

    def fine(self, patch, array, begin):
        """Returns an array of the patch on finest cells, and its place in a canvas that begins at `begin`."""
        scale = self.scale[self.truth.patches[patch]["level"]]
        for axis in range(3):
            array = np.repeat(array, scale[2 - axis], axis)
        first = np.array(self.truth.patches[patch]["lower"]) * scale - begin
        return array, tuple(slice(first[2 - a], first[2 - a] + array.shape[a]) for a in range(3))

    def painted(self, name, begin, end):
        """Returns the values of the finest cells as [z, y, x, component]; NaN in empty places."""
        canvas = np.full([*(end - begin)[::-1], self.values(0, name, True).shape[-1]], np.nan)
        for p in range(len(self.seen)):
            seen, place = self.fine(p, self.seen[p], begin)
            canvas[place][seen] = self.fine(p, self.values(p, name, True), begin)[0][seen]
        return canvas

    def marks(self, begin, end):
        """Returns the number of visible cells in each place, which is above 1 if a finer level covers a part of a cell."""
        canvas = np.zeros((end - begin)[::-1], int)
        for p in range(len(self.seen)):
            seen, place = self.fine(p, self.seen[p], begin)
            canvas[place] += seen
        return canvas

    def at_points(self, name, step, begin, count):
        """Returns the least and the greatest value at each point of an image, from the patches of the finest level there; NaN if
        there are none."""
        shape = (count + 1)[::-1]
        low, high, of_level, seen_here = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, -1), np.zeros(shape, bool)
        for p, seen in enumerate(self.seen):
            patch, values = self.truth.patches[p], self.values(p, name, False)[..., 0]
            at = [(begin[a] + step[a] * np.arange(count[a] + 1)) / self.scale[patch["level"]][a] - patch["lower"][a] for a in range(3)]
            inside = [np.flatnonzero((q >= 0) & (q <= n)) for q, n in zip(at, seen.shape[::-1])]
            if not all(len(i) for i in inside):
                continue
            at = [q[i] for q, i in zip(at, inside)]
            visible = np.pad(seen, 1)
            for axis, q in enumerate(at[::-1]):    # the cells on both sides of a node, or the one around the point
                above, below = np.floor(q).astype(int) + 1, np.ceil(q).astype(int)
                visible = np.take(visible, above, axis) | np.take(visible, below, axis)
                base = np.minimum(np.floor(q).astype(int), values.shape[axis] - 2)
                part = (q - base).reshape([-1 if a == axis else 1 for a in range(3)])
                values = np.take(values, base, axis) * (1 - part) + np.take(values, base + 1, axis) * part
            place = np.ix_(*inside[::-1])
            seen_here[place] |= visible
            visible &= ~np.isnan(values)
            finer, same = visible & (of_level[place] < patch["level"]), visible & (of_level[place] == patch["level"])
            low[place] = np.where(finer, values, np.where(same, np.fmin(low[place], values), low[place]))
            high[place] = np.where(finer, values, np.where(same, np.fmax(high[place], values), high[place]))
            of_level[place] = np.where(finer, patch["level"], of_level[place])
        return low, high, seen_here


def part_of(image):
    """Returns the begin of this rank's part, and its number of cells along z, y and x."""
    extent = image.GetExtent()
    return [extent[2 * a] for a in (2, 1, 0)], [extent[2 * a + 1] - extent[2 * a] for a in (2, 1, 0)]


def cut(array, first, size):
    return array[tuple(slice(f, f + n) for f, n in zip(first, size))]


def flags_of(data, tuples):
    flags = data.GetArray("vtkGhostType")
    return vtk_to_numpy(flags) if flags else np.zeros(tuples, np.uint8)


def check_cells(levels, image, grid, where):
    step, begin, count = grid
    end = begin + step * count
    fold = [n for c, s in zip(count[::-1], step[::-1]) for n in (c, s)]
    marks = levels.marks(begin, end).reshape(fold)
    marks, twice = marks.any(axis=(1, 3, 5)), (marks > 1).any(axis=(1, 3, 5))
    first, size = part_of(image)
    hidden, known = ~cut(marks, first, size).ravel(), ~cut(twice, first, size).ravel()
    data = image.GetCellData()
    expect((flags_of(data, len(hidden)) == np.where(hidden, HIDDENCELL, 0)).all(), "%s: hidden cells", where)
    for name in levels.names(True):
        array = data.GetArray(name)
        if not expect(array, "%s: no array %s", where, name):
            continue
        painted = levels.painted(name, begin, end)
        painted = painted.reshape(fold + [painted.shape[-1]])
        numbers = (~np.isnan(painted)).all(-1, keepdims=True)
        weight = numbers.sum((1, 3, 5)).astype(float)
        want = np.where(numbers, painted, 0).sum((1, 3, 5)) / np.where(weight, weight, np.nan)
        got = vtk_to_numpy(array).reshape(len(hidden), -1)
        lowest = np.nanmin(want[marks]) if not np.isnan(want[marks]).all() else np.nan
        known = known & ~(hidden & twice.any())    # then the lowest value is not known
        wanted = np.where(hidden[:, None], lowest, cut(want, first, size).reshape(len(hidden), -1))
        single = array.GetDataTypeAsString() == "float"
        scale = np.nanmax(np.abs(want)) if not np.isnan(want).all() else 1
        conformance.compared[0] += wanted.size
        near = np.isclose(got, wanted, rtol=1e-6 if single else 1e-12, atol=(1e-6 if single else 1e-12) * scale, equal_nan=True)[known]
        expect(near.all(), "%s: %d values of %s differ", where, np.count_nonzero(~near), name)


def check_points(levels, image, grid, where):
    first, size = part_of(image)
    size = [n + 1 for n in size]
    for name in levels.names(False):
        array = image.GetPointData().GetArray(name)
        if not expect(array, "%s: no array %s", where, name):
            continue
        low, high, seen = (cut(a, first, size).ravel() for a in levels.at_points(name, *grid))
        flags = flags_of(image.GetPointData(), len(seen))
        expect((flags == np.where(seen, 0, HIDDENPOINT)).all(), "%s: hidden points of %s", where, name)
        got = vtk_to_numpy(array).reshape(len(seen), -1)[:, 0]
        if "Merged" in where and (low < high).any():
            continue    # merged blocks take a node from one of its patches, also if it is hidden there
        slack = 1e-6 * np.nanmax(np.abs(high)) if seen.any() else 0
        off = seen & ~np.where(np.isnan(low), np.isnan(got), (got >= low - slack) & (got <= high + slack))
        expect(not off.any(), "%s: %d values of %s at points differ", where, np.count_nonzero(off), name)


def check_volume(levels, reader, most, where):
    volume = simple.VolumeOfPatches(Input=reader, MaximumCells=most)
    volume.UpdatePipeline(reader.GetDataInformation().GetTime() if reader.GetDataInformation().GetHasTime() else 0.0)
    step, begin, count = grid = levels.chosen(most)
    tree = output_of(volume)
    image = tree.GetBlock(rank)
    cells = 0
    if image:
        cells = image.GetNumberOfCells()
        origin = np.array(levels.truth.meta["origin"]) + begin * levels.spacing[-1]
        width = np.abs(levels.spacing[-1]).max()
        expect(np.allclose(image.GetOrigin(), origin, rtol=1e-12, atol=1e-9 * width), "%s: origin %s, not %s", where, image.GetOrigin(), origin)
        expect(np.allclose(image.GetSpacing(), step * levels.spacing[-1], rtol=1e-9), "%s: spacing %s", where, image.GetSpacing())
        check_cells(levels, image, grid, where)
        check_points(levels, image, grid, where)
    expect(sum_over_ranks([cells])[0] == np.prod(count), "%s: %d cells, not %s", where, cells, count)
    simple.Delete(volume)


def refines_evenly(truth):
    ratios = np.rint(np.array(truth.meta["spacing"])[:-1, :truth.dim] / np.array(truth.meta["spacing"])[1:, :truth.dim])
    return (ratios == ratios[:, :1]).all()


def check_patch(truth, patch, grid, origin, where):
    expect(np.allclose(grid.GetOrigin()[:truth.dim], origin[:truth.dim]), "%s: origin %s, not %s", where, grid.GetOrigin(), origin)
    expect(list(grid.GetExtent())[::2] == [0, 0, 0], "%s: extent %s", where, grid.GetExtent())
    flags, mask = truth.ghost_types(patch)
    expect(((flags_of(grid.GetCellData(), len(flags)) ^ flags) & mask == 0).all(), "%s: flags", where)
    for cell, data in ((True, grid.GetCellData()), (False, grid.GetPointData())):
        for name, values in truth.data(patch, cell).items():
            array = data.GetArray(name)
            conformance.compared[0] += values.size
            same = array and np.array_equal(vtk_to_numpy(array).reshape(values.shape), values, equal_nan=values.dtype.kind == "f")
            expect(same, "%s: values of %s", where, name)


def check_amr(truth, reader, where):
    amr = output_of(reader)
    if truth.meta["deformed"] or not refines_evenly(truth):
        expect(amr.IsA("vtkMultiBlockDataSet"), "%s: a %s", where, amr.GetClassName())
        return
    if not expect(amr.IsA("vtkOverlappingAMR"), "%s: a %s", where, amr.GetClassName()):
        return
    counts = [amr.GetNumberOfDataSets(level) for level in range(amr.GetNumberOfLevels())]
    expect(counts == truth.meta["level_sizes"], "%s: %s patches, not %s", where, counts, truth.meta["level_sizes"])
    spacing, origin = np.array(truth.meta["spacing"]), [0.0] * 3
    amr.GetAMRInfo().GetOrigin(origin)
    corners = np.array([np.array(p["lower"]) * spacing[p["level"]] for p in truth.patches]) + truth.meta["origin"]
    expect(np.allclose(origin[:truth.dim], corners.min(0)[:truth.dim]), "%s: origin %s", where, origin)
    mine, patch = 0, 0
    for level, count in enumerate(counts):
        h = [0.0] * 3
        amr.GetSpacing(level, h)
        expect(np.allclose(h[:truth.dim], spacing[level, :truth.dim]), "%s: spacing %s", where, h)
        if level + 1 < len(counts):
            expect(amr.GetRefinementRatio(level) == round(spacing[level, 0] / spacing[level + 1, 0]), "%s: ratio", where)
        for number in range(count):
            here = "%s, level %d, patch %d" % (where, level, number)
            low, high = [0] * 3, [0] * 3
            amr.GetAMRBox(level, number).GetDimensions(low, high)
            begin = np.rint((corners[patch] - origin)[:truth.dim] / spacing[level, :truth.dim]).astype(int)
            size = truth.cells(patch)[:truth.dim]
            expect(low[:truth.dim] == list(begin) and [b - a + 1 for a, b in zip(low, high)][:truth.dim] == size, "%s: box %s %s", here, low, high)
            grid = amr.GetDataSet(level, number)
            if grid:
                mine += 1
                check_patch(truth, patch, grid, corners[patch], here)
            patch += 1
    expect(sum_over_ranks([mine])[0] == len(truth.patches), "%s: patches on several ranks or on none", where)


def check_series(folder, series):
    step = series["steps"][-1]
    truth = Truth(os.path.join(folder, step["npz"]))
    name = os.path.basename(os.path.dirname(series["index"])) if os.path.isfile(series["index"]) else os.path.basename(series["index"])
    levels = None
    if truth.dim == 3 and not truth.meta["deformed"]:
        levels = Levels(truth)
        if np.prod(levels.high - levels.low) > MOST_CELLS:
            levels = None
    for blocks in ("Overlapping AMR", "Merged", "As patches"):
        reader = simple.PatchReader(FileName=[series["index"]], Blocks=blocks)
        reader.UpdatePipeline(series["times"][-1])
        where = "%s, %s" % (name, blocks)
        if blocks == "Overlapping AMR":
            check_amr(truth, reader, where)
        if levels:
            for most in (MOST_CELLS, int(np.prod(levels.chosen(MOST_CELLS)[2])) - 1, 60):
                check_volume(levels, reader, most, "%s, %d cells" % (where, most))
        simple.Delete(reader)


def main():
    folder, *wanted = sys.argv[1:]
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=vars(simple))
    table = conformance.series_in(folder, wanted)
    for series in table:
        check_series(folder, series)
    conformance.finish("levels: %d series" % len(table))


if __name__ == "__main__":
    main()

"""Shows GrADS data in ParaView and compares each value with the reference.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/GRADS/conformance.py TRUTHDIR [NAME...]

TRUTHDIR comes from make_cases.py or reference.py; NAME, a part of a descriptor's path, restricts the run. Runs on
every rank (pvbatch --symmetric): each compares what it holds, and all of them together must hold every value.
"""
import os
import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet

for folder in (os.path.join(os.path.dirname(os.path.abspath(__file__)), above) for above in ("", "..")):
    sys.path.insert(0, folder)
from conformance import check_vectors, compared, expect, finish, ranks, sum_over_ranks  # noqa: E402
from truth import load_all  # noqa: E402

HIDDENPOINT, HIDDENCELL = 2, 32    # vtkDataSetAttributes


def blocks_of(tree):
    """Returns (name of the group, grid) of this rank's blocks."""
    for b in range(tree.GetNumberOfBlocks()):
        pieces = tree.GetBlock(b)
        name = tree.GetMetaData(b).Get(vtkCompositeDataSet.NAME())
        for p in range(pieces.GetNumberOfPieces()):
            if pieces.GetPieceAsDataObject(p) is not None:
                yield name, pieces.GetPieceAsDataObject(p)


def same(found, want):
    return found.dtype == want.dtype and found.shape == want.shape and np.array_equal(
        found, want, equal_nan=found.dtype.kind == "f")


class Checker:
    """Checks one data set."""

    def __init__(self, truth):
        self.truth = truth
        self.closed = 0    # number of blocks with a closed seam

    def check_positions(self, grid, index, z, where, sphere):
        truth = self.truth
        x, y = truth.x[index[2]], truth.y[index[1]]
        z = z[index[0]]
        if not sphere:
            if expect(grid.IsA("vtkRectilinearGrid"), "%s: a %s", where, grid.GetClassName()):
                found = [vtk_to_numpy(a) for a in (grid.GetXCoordinates(), grid.GetYCoordinates(), grid.GetZCoordinates())]
                for axis, (f, w) in enumerate(zip(found, (x, y, z))):
                    expect(len(f) == len(w) and np.allclose(f, w, rtol=1e-12, atol=1e-9), "%s: axis %d is %s instead of %s",
                           where, axis, f, w)
            return
        if expect(grid.IsA("vtkStructuredGrid"), "%s: a %s", where, grid.GetClassName()):
            radius = (180 / np.pi + z)[:, None, None]
            lon, lat = np.radians(x)[None, None, :], np.radians(y)[None, :, None]
            shape = (len(z), len(y), len(x))
            want = np.stack([np.broadcast_to(a, shape) for a in (radius * np.cos(lat) * np.cos(lon),
                             radius * np.cos(lat) * np.sin(lon), radius * np.sin(lat))], -1)
            found = vtk_to_numpy(grid.GetPoints().GetData()).reshape(shape + (3,))
            expect(np.allclose(found, want, atol=2e-5), "%s: points are elsewhere", where)

    def check_block(self, group, grid, step, names, held, where, sphere):
        truth = self.truth
        extent = grid.GetExtent()
        low, dims = (extent[4], extent[2], extent[0]), [extent[2 * a + 1] - extent[2 * a] + 1 for a in (2, 1, 0)]
        first = (low[0] + (1 if group == "surface" else 0), low[1], low[2])
        index = [np.arange(f, f + n) for f, n in zip(first, dims)]
        columns = len(truth.x)
        if sphere and truth.goes_around():    # the first column is repeated after the last one
            expect(extent[1] != columns - 1 or dims[2] == 1, "%s: ends at the last column", where)
            self.closed += extent[1] == columns
            index[2] %= columns
        mine = [n for n in names if (n in truth.deep) == (group == "levels")]
        found = sorted(grid.GetPointData().GetArrayName(i) for i in range(grid.GetPointData().GetNumberOfArrays()))
        found = [n for n in found if n != "vtkGhostType"]
        expect(mine, "%s: shown although no array of it is wanted", where)
        there = sorted(n for n in mine if n in truth.arrays[step])    # other steps may have more variables
        expect(found == there, "%s: arrays %s instead of %s", where, found, there)
        holes = np.ones(dims, bool)
        for name in found:
            want = truth.on_grid(step, name)[np.ix_(*index)]
            values = vtk_to_numpy(grid.GetPointData().GetArray(name)).reshape(dims)
            expect(same(values, want), "%s: '%s' differs: %s", where, name, values.dtype)
            holes &= np.isnan(want) if want.dtype.kind == "f" else False
            held.setdefault(name, np.zeros(truth.on_grid(step, name).shape, bool))[np.ix_(*index)] = True
            compared[0] += values.size
        if found:
            self.check_positions(grid, index, truth.z(found[0]), where, sphere)
            self.check_hidden(grid, holes, where)

    def check_hidden(self, grid, holes, where):
        array = grid.GetPointData().GetArray("vtkGhostType")
        hidden = vtk_to_numpy(array).reshape(holes.shape) if array else np.zeros(holes.shape, np.uint8)
        expect(np.array_equal(hidden == HIDDENPOINT, holes), "%s: %d points hidden instead of %d", where,
               (hidden == HIDDENPOINT).sum(), holes.sum())
        array = grid.GetCellData().GetArray("vtkGhostType")
        cells = [max(n - 1, 1) for n in holes.shape]
        hidden = vtk_to_numpy(array).reshape(cells) & HIDDENCELL if array else np.zeros(cells, np.uint8)
        want = np.zeros(cells, bool)
        for corner in np.ndindex(*[2 if n > 1 else 1 for n in holes.shape]):
            want |= holes[tuple(slice(c, c + n) for c, n in zip(corner, cells))]
        expect(np.array_equal(hidden != 0, want), "%s: %d cells hidden instead of %d", where, (hidden != 0).sum(), want.sum())

    def cells(self, group, sphere):
        """Returns the number of cells of a group. A grid around the globe is closed on a sphere."""
        x, y, z = len(self.truth.x), len(self.truth.y), len(self.truth.levels) if group == "levels" else 1
        columns = x if sphere and self.truth.goes_around() else max(x - 1, 1)
        return columns * max(y - 1, 1) * max(z - 1, 1)

    def check_step(self, reader, step, names, where, sphere=False):
        truth = self.truth
        where = "%s at %s" % (where, truth.dates[step])
        reader.UpdatePipeline(truth.hours[step])
        tree = reader.GetClientSideObject().GetOutputDataObject(0)
        date = tree.GetFieldData().GetAbstractArray("date")
        expect(date and date.GetValue(0) == truth.dates[step], "%s: date %s", where, date and date.GetValue(0))
        held, cells = {}, {}
        for number, (group, grid) in enumerate(blocks_of(tree)):
            self.check_block(group, grid, step, names, held, "%s %s block %d" % (where, group, number), sphere)
            cells[group] = cells.get(group, 0) + grid.GetNumberOfCells()
        shown = sum_over_ranks([cells.get(group, 0) for group in ("levels", "surface")])
        for group, count in zip(("levels", "surface"), shown):
            expect(count in (0, self.cells(group, sphere)), "%s: %d cells of the %s instead of %d", where, count, group, self.cells(group, sphere))
        for name in (n for n in names if n in truth.arrays[step]):
            values = truth.on_grid(step, name).size
            if ranks == 1:
                expect(name in held and held[name].all(), "%s: not all of '%s' is there", where, name)
            else:
                # The sum may be larger, because neighbours share nodes.
                total = sum_over_ranks([int(held[name].sum()) if name in held else 0])[0]
                expect(total >= values, "%s: %d of %d values of '%s'", where, total, values, name)

    def check_grids(self, reader, names):
        """Checks that one grid is shown by default. If both grids are shown, all blocks have the same arrays and flags."""
        reader.PointArrayStatus = names
        reader.PartialArrays = 0
        deep = [n for n in names if n in self.truth.deep]
        flat = sorted(set(names) - set(deep))
        for grids, groups, wanted in (("Automatic", {"levels" if deep else "surface"}, deep or flat),
                                      ("surface", {"surface"}, flat), ("All", {"levels", "surface"}, names)):
            if grids == "surface" and not (deep and flat):
                continue
            reader.Grids = grids
            reader.UpdatePipeline(self.truth.hours[0])
            where = "%s, Grids %s" % (os.path.basename(self.truth.ctl), grids)
            blocks = list(blocks_of(reader.GetClientSideObject().GetOutputDataObject(0)))
            kinds = set()
            for group, grid in blocks:
                data = grid.GetPointData()
                found = sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))
                kinds.add((tuple(found), grid.GetCellData().GetNumberOfArrays()))
                expect(set(found) - {"vtkGhostType"} == set(wanted), "%s: %s instead of %s", where, found, wanted)
                expect(group in groups, "%s: %s is shown", where, group)
                for name in set(found) & set(deep if group == "surface" else flat):
                    values = vtk_to_numpy(data.GetArray(name))
                    expect(np.isnan(values).all() if values.dtype.kind == "f" else not values.any(),
                           "%s: '%s' has values on the %s", where, name, group)
            expect(len(kinds) <= 1, "%s: blocks differ in their arrays: %s", where, kinds)
        reader.PartialArrays, reader.Grids = 1, "All"
        if {"u", "v"} <= set(deep):
            reader.ComposeVectors, reader.Grids = 1, "Automatic"
            reader.UpdatePipeline(self.truth.hours[0])
            check_vectors(reader.GetClientSideObject().GetOutputDataObject(0), "velocity", ["u", "v"], self.truth.ctl)
            reader.ComposeVectors, reader.Grids = 0, "All"

    def run(self):
        truth = self.truth
        where = os.path.basename(truth.ctl)
        reader = simple.PatchReader(FileName=[truth.ctl], Grids="All", PartialArrays=1, ComposeVectors=0)
        reader.UpdatePipelineInformation()
        times = list(np.atleast_1d(np.asarray(reader.TimestepValues, float)))
        if not expect(np.allclose(times, truth.hours, atol=1e-9, rtol=0) if len(times) == len(truth.hours) else False,
                      "%s: times %s instead of %s", where, times, truth.hours):
            return
        names = sorted(set(sum((list(a) for a in truth.arrays), [])))
        offered = list(reader.PointArrayStatus.Available)
        expect(set(names) <= set(offered), "%s: %s instead of %s", where, offered, names)
        last = len(truth.hours) - 1
        for mode in ("As patches", "Merged"):
            reader.Blocks = mode
            reader.PointArrayStatus = names
            for step in range(len(truth.hours)):
                self.check_step(reader, step, names, "%s, %s" % (where, mode.lower()))
            for name in names[:3]:
                reader.PointArrayStatus = [name]
                self.check_step(reader, last, [name], "%s, %s, only %s" % (where, mode.lower(), name))
        self.check_grids(reader, names)
        if "pdef" not in open(truth.ctl).read().lower():
            reader.PointArrayStatus = names
            reader.Placement = "Sphere"
            self.check_step(reader, 0, names, where + ", sphere", True)
            (closed,) = sum_over_ranks([self.closed])
            expect((closed > 0) == truth.goes_around(), "%s, sphere: %d blocks go beyond the last column", where, closed)
        simple.Delete(reader)


def main():
    folder, *wanted = sys.argv[1:]
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    truths = [t for t in load_all(folder) if not wanted or any(w in t.ctl for w in wanted)]
    for truth in truths:
        Checker(truth).run()
    finish("GrADS conformance: %d data sets" % len(truths))


if __name__ == "__main__":
    main()

"""Grids with hidden cells for test scripts, their visible cells, and checks that all filters of PatchIO must pass."""
import itertools

import numpy as np
from paraview.simple import AppendDatasets, Delete, TrivialProducer
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import (vtkCompositeDataSet, vtkImageData, vtkMultiBlockDataSet, vtkMultiPieceDataSet,
                                           vtkPartitionedDataSet, vtkPartitionedDataSetCollection, vtkRectilinearGrid,
                                           vtkStructuredGrid, vtkUniformGrid)

from leaves import positions_of, seen_in
from on_ranks import expect, leaves, output_of, rank, ranks

FLAGS = np.array([0, 0, 0, 2, 1, 9, 32], np.uint8)
CLASSES = {"image": vtkUniformGrid, "plain image": vtkImageData, "rectilinear": vtkRectilinearGrid, "curvilinear": vtkStructuredGrid,
           "turned image": vtkUniformGrid}
EXTENTS = ((0, 5, 0, 6, 0, 4), (100, 107, -24, -20, 3, 9), (0, 7, 0, 6, 4, 4), (3, 3, 0, 5, 0, 6))
OBLIQUE = ((1, 0.7, 0.4), (-2, 1, 0), (0, 1, -3), (1e-3, 0, 1), (1, 1, 1), (1, 0, 1))


def boxes_of(grid):
    """Returns low and high corners of all cells, in VTK's order."""
    ends = []
    for side in (slice(None, -1), slice(1, None)):
        axes = [x[side] if len(x) > 1 else x for x in positions_of(grid)]
        z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
        ends.append(np.column_stack([x.ravel(), y.ravel(), z.ravel()]))
    return ends


def visible_cells(grids):
    """Returns low corners, high corners, numbers and indices of all visible cells."""
    rows = []
    for grid in grids:
        low, high = boxes_of(box_of_points(grid))
        extent = grid.GetExtent()
        ends = [range(extent[2 * a], max(extent[2 * a + 1], extent[2 * a] + 1)) for a in range(3)]
        k, j, i = np.meshgrid(*ends[::-1], indexing="ij")
        numbers = vtk_to_numpy(grid.GetCellData().GetArray("cell"))
        rows.append(np.column_stack([low, high, numbers, i.ravel(), j.ravel(), k.ravel()])[seen_in(grid)])
    rows = np.concatenate(rows) if rows else np.zeros((0, 10))
    return rows[:, :3], rows[:, 3:6], rows[:, 6].astype(int), rows[:, 7:].astype(int)


def areas_in_boxes(low, high, normal, offset):
    """Returns the area, or length, of the plane normal . x = offset in each box. Flat axes of the boxes do not count."""
    normal = np.asarray(normal, float) / np.linalg.norm(normal)
    widths = high - low
    axes = [a for a in range(3) if (widths[:, a] > 0).any()]
    cut = [a for a in axes if normal[a] != 0]
    begins = offset - np.where(normal > 0, low, high) @ normal
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
    shown = (low[:, axis] <= place + tiny) & (high[:, axis] > place + tiny)
    others = [a for a in range(3) if a != axis]
    low_above, high_above = low[shown][:, others], high[shown][:, others]
    for cell in np.flatnonzero(np.abs(high[:, axis] - place) <= tiny):
        middle = (low + high)[cell, others] / 2
        shown[cell] = not ((low_above <= middle) & (middle <= high_above)).all(1).any()
    return shown


def add(attributes, name, values):
    array = numpy_to_vtk(values, deep=1)
    array.SetName(name)
    attributes.AddArray(array)


def add_data(grid, first):
    """Adds the numbers of the cells, from `first` on, and arrays that follow from them."""
    numbers = first + np.arange(grid.GetNumberOfCells())
    add(grid.GetCellData(), "cell", numbers)
    add(grid.GetCellData(), "twice", 2.0 * numbers)
    add(grid.GetCellData(), "vector", numbers[:, None] * np.array([1, 2, 3]).astype(np.float32))
    add(grid.GetPointData(), "place", np.array([grid.GetPoint(i) for i in range(grid.GetNumberOfPoints())]))


def make_grid(kind, extent, random, flags=FLAGS):
    counts = [extent[2 * a + 1] - extent[2 * a] + 1 for a in range(3)]
    grid = CLASSES[kind]()
    grid.SetExtent(extent)
    axes = [np.cumsum(random.random(n) + 0.1) for n in counts]
    if "image" in kind:
        grid.SetOrigin(-2.0, 0.5, 1.0)
        grid.SetSpacing(0.3, 0.1, 0.7)
        if kind == "turned image":
            grid.SetDirectionMatrix(0, -1, 0, 1, 0, 0, 0, 0, 1)
    elif kind == "rectilinear":
        grid.SetXCoordinates(numpy_to_vtk(axes[0], deep=1))
        grid.SetYCoordinates(numpy_to_vtk(axes[1].astype(np.float32), deep=1))
        grid.SetZCoordinates(numpy_to_vtk(axes[2], deep=1))
    else:
        points = vtkPoints()
        z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
        points.SetData(numpy_to_vtk(np.column_stack([x.ravel(), y.ravel(), z.ravel()]), deep=1))
        grid.SetPoints(points)
    if flags is not None:
        add(grid.GetCellData(), "vtkGhostType", random.choice(flags, grid.GetNumberOfCells()))
    add_data(grid, 0)
    return grid


def box_of_points(grid):
    """Returns a rectilinear grid for a curvilinear one that is a box, for the expected results."""
    if not grid.IsA("vtkStructuredGrid"):
        return grid
    made, extent = vtkRectilinearGrid(), grid.GetExtent()
    made.SetExtent(extent)
    counts = [extent[2 * a + 1] - extent[2 * a] + 1 for a in range(3)]
    points = vtk_to_numpy(grid.GetPoints().GetData()).reshape(counts[::-1] + [3])
    made.SetXCoordinates(numpy_to_vtk(points[0, 0, :, 0].copy(), deep=1))
    made.SetYCoordinates(numpy_to_vtk(points[0, :, 0, 1].copy(), deep=1))
    made.SetZCoordinates(numpy_to_vtk(points[:, 0, 0, 2].copy(), deep=1))
    made.GetCellData().ShallowCopy(grid.GetCellData())
    return made


def grids_of_all_kinds(random, *more):
    """Yields (name, grid) for each kind and extent; `more`: further extents."""
    for kind in ("image", "plain image", "rectilinear", "curvilinear"):
        for extent in EXTENTS + more:
            yield "%s %s" % (kind, extent), make_grid(kind, extent, random)
    yield "image without flags", make_grid("image", (0, 5, 0, 6, 0, 4), random, None)


def planes_through(grid, signs=(1,)):
    """Yields (normal, origin, whether the plane lies on faces): planes inside cells, on the first, the last and some other faces
    along each axis, and oblique ones."""
    centre, positions = np.array(grid.GetCenter()), positions_of(box_of_points(grid))
    wide = [axis for axis, ends in enumerate(positions) if len(ends) > 1]
    for axis in wide:
        ends = positions[axis]
        for place in (ends[0], ends[1], ends[-1], ends[len(ends) // 2], ends[-2] + 0.3 * (ends[-1] - ends[-2])):
            for sign in signs:
                yield sign * np.eye(3)[axis], np.where(np.arange(3) == axis, place, centre), place in ends
    for normal in OBLIQUE:
        if any(normal[axis] for axis in wide):
            yield normal, centre + 0.0123 * np.array(grid.GetLength()), False


def shown(data):
    source = TrivialProducer()
    source.GetClientSideObject().SetOutput(data)
    return source


def make_levels(ratio, random):
    """Returns all grids of two levels: a coarse level in two blocks, with holes, and fine patches over some of its cells."""
    spacing, grids = 0.1, []
    refined = np.zeros((6, 8, 10), bool)
    refined[1:4, 2:6, 3:9] = refined[4:6, 2:4, 3:5] = True
    holes = random.random(refined.shape) < 0.05
    for begin, end in ((0, 4), (4, 10)):
        flags = np.where(refined, 9, np.where(holes, 32, 0)).astype(np.uint8)[:, :, begin:end]
        grids.append((0, level_grid((begin, end, 0, 8, 0, 6), spacing, flags)))
    for extent in ((3, 6, 2, 6, 1, 4), (6, 9, 2, 6, 1, 4), (3, 5, 2, 4, 4, 6)):
        fine = [ratio * e for e in extent]
        shape = [fine[5] - fine[4], fine[3] - fine[2], fine[1] - fine[0]]
        grids.append((1, level_grid(fine, spacing / ratio, np.zeros(shape, np.uint8))))
    first = 0
    for _, grid in grids:
        add_data(grid, first)
        first += grid.GetNumberOfCells()
    return grids


def level_grid(extent, spacing, flags):
    grid = vtkUniformGrid()
    grid.SetExtent(extent)
    grid.SetSpacing(spacing, spacing, spacing)
    add(grid.GetCellData(), "vtkGhostType", flags.ravel())
    return grid


def tree_of(grids, levels=2):
    """Returns a tree like the reader's. Each rank has some of the grids."""
    tree = vtkMultiBlockDataSet()
    for level in range(levels):
        pieces = vtkMultiPieceDataSet()
        of_level = [(i, grid) for i, (at, grid) in enumerate(grids) if at == level]
        pieces.SetNumberOfPieces(len(of_level))
        for piece, (i, grid) in enumerate(of_level):
            if i % ranks == rank:
                pieces.SetPiece(piece, grid)
        tree.SetBlock(level, pieces)
        tree.GetMetaData(level).Set(vtkCompositeDataSet.NAME(), "level %d" % level)
    return tree


def names_of(tree):
    return [tree.GetMetaData(i).Get(vtkCompositeDataSet.NAME()) for i in range(tree.GetNumberOfBlocks())]


class Polygons:
    """The cells of a poly data: their bounds, their vectors (as long as the area, or from end to end of a line), their sizes."""

    def __init__(self, data):
        lists = [cells for cells in (data.GetVerts(), data.GetLines(), data.GetPolys()) if cells.GetNumberOfCells()]
        self.low, self.high, self.vectors, self.sizes = np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0)
        if not lists:
            return
        self.ids = np.concatenate([vtk_to_numpy(cells.GetConnectivityArray()) for cells in lists])
        self.counts = np.concatenate([np.diff(vtk_to_numpy(cells.GetOffsetsArray())) for cells in lists])
        self.begins = np.cumsum(self.counts) - self.counts
        self.corners = vtk_to_numpy(data.GetPoints().GetData()).astype(float)[self.ids]
        self.low, self.high = (of.reduceat(self.corners, self.begins) for of in (np.minimum, np.maximum))
        sides = self.corners - np.repeat(self.corners[self.begins], self.counts, axis=0)    # 0 for the first corner
        areas = np.add.reduceat(np.cross(sides, np.roll(sides, -1, axis=0)), self.begins) / 2
        self.vectors = np.where(self.counts[:, None] > 2, areas, sides[self.begins + self.counts - 1])
        self.sizes = np.linalg.norm(self.vectors, axis=1)

    def means(self, values):
        """Returns the means of values of points over the corners of each cell."""
        return np.add.reduceat(values[self.ids], self.begins) / self.counts[:, None]


def expect_values(leaf, where):
    """Expects the values of the cells and points of the output of a filter, and no flags."""
    expect(leaf.GetCellData().GetArray("vtkGhostType") is None, "%s: has flags", where)
    if leaf.GetNumberOfCells():
        points, numbers = vtk_to_numpy(leaf.GetPoints().GetData()), vtk_to_numpy(leaf.GetCellData().GetArray("cell"))
        error = np.abs(vtk_to_numpy(leaf.GetPointData().GetArray("place")) - points).max()
        expect(error <= 1e-6 * max(np.abs(points).max(), 1), "%s: values at points are off by %g", where, error)
        for name, want in (("twice", 2 * numbers), ("vector", numbers[:, None] * [1, 2, 3])):
            expect((vtk_to_numpy(leaf.GetCellData().GetArray(name)) == want).all(), "%s: %s is of other cells", where, name)


def expect_sizes(found, want, where, near=1e-10):
    """Compares the areas or volumes in each cell, {number: size}."""
    largest, total = max(want.values(), default=1), sum(want.values())
    wrong = [c for c in set(found) | set(want) if abs(found.get(c, 0) - want.get(c, 0)) > near * largest]
    expect(not wrong, "%s: %d of %d cells have other sizes: %s", where, len(wrong), len(want), [(c, found.get(c), want.get(c)) for c in wrong[:3]])
    expect(abs(sum(found.values()) - total) <= 1e-12 * total, "%s: size %.16g, not %.16g", where, sum(found.values()), total)


def cells_in(proxy):
    proxy.UpdatePipeline()
    return sum(leaf.GetNumberOfCells() for leaf in leaves(output_of(proxy)))


def of_both(source, make, facts):
    """Returns facts(output) for the outputs of PatchIO's filter and of ParaView's own."""
    found = []
    for use in (1, 0):
        proxy = make(source)
        proxy.UsePatchIO = use
        proxy.UpdatePipeline()
        found.append(facts(output_of(proxy)))
        Delete(proxy)
    return found


def compare_with_paraview(source, make, where):
    """Compares classes, cells and points of the output with those of ParaView's own filter."""
    found = of_both(source, make, lambda data: (data.GetClassName(), [
        (leaf.GetClassName(), leaf.GetNumberOfCells(), leaf.GetNumberOfPoints()) for leaf in leaves(data)]))
    expect(found[0] == found[1] and sum(n for _, n, _ in found[0][1]) > 0, "%s: %s, ParaView's %s", where, *found)


# The checks of any filter. make: function of a source, a normal and an origin that makes the filter.

def check_unsupported(*makers):
    """Checks data that ParaView's own filters process."""
    image, turned = (make_grid(kind, (0, 6, 0, 5, 0, 4), np.random.default_rng(3), None) for kind in ("plain image", "turned image"))
    mesh = AppendDatasets(Input=shown(image))
    mesh.UpdatePipeline()
    mixed = vtkMultiBlockDataSet()
    mixed.SetBlock(0, image)
    mixed.SetBlock(1, output_of(mesh))
    for name, data in (("unstructured", output_of(mesh)), ("mixed", mixed), ("turned image", turned)):
        for number, make in enumerate(makers):
            centre = leaves(data)[0].GetCenter()
            compare_with_paraview(shown(data), lambda source: make(source, (1, 0.7, 0.4), centre), "%s, filter %d" % (name, number))  # noqa: B023


def check_trees(make, cells):
    """Checks trees: one grid for all grids in the root, the same class of tree as the input, and a number of cells."""
    for kind in (vtkMultiBlockDataSet, vtkPartitionedDataSet, vtkPartitionedDataSetCollection):
        tree = kind()
        for number in range(3):
            grid = make_grid("image", (5 * number, 5 * number + 5, 0, 4, 0, 4), np.random.default_rng(number), None)
            if kind is vtkPartitionedDataSetCollection:
                tree.SetPartition(number, 0, grid)
            elif kind is vtkPartitionedDataSet:
                tree.SetPartition(number, grid)
            else:
                tree.SetBlock(number, grid)
        proxy = make(shown(tree), (0, 0, 1), grid.GetCenter())
        found, data = cells_in(proxy), output_of(proxy)
        blocks = 3 if kind is vtkPartitionedDataSetCollection else 1
        expect(data.IsA(kind.__name__) and len(leaves(data)) == blocks and found == cells, "%s: %s with %d blocks and %d cells",
               kind.__name__, data.GetClassName(), len(leaves(data)), found)
        Delete(proxy)


def tree_of_partial_arrays():
    """Returns a tree of two equal grids, and the second, which alone has the arrays "some" and "count", with 7 everywhere."""
    grids = [make_grid("image", (5 * i, 5 * i + 5, 0, 4, 0, 4), np.random.default_rng(i), None) for i in range(2)]
    for name, kind in (("some", np.float32), ("count", np.int32)):
        add(grids[1].GetCellData(), name, np.full(grids[1].GetNumberOfCells(), 7, kind))
        add(grids[1].GetPointData(), name, np.full(grids[1].GetNumberOfPoints(), 7, kind))
    tree, root = vtkMultiPieceDataSet(), vtkMultiBlockDataSet()
    for i, grid in enumerate(grids):
        tree.SetPiece(i, grid)
    root.SetBlock(0, tree)
    return root, grids[1]


def check_partial_arrays(make, kinds=("GetCellData",)):
    """Checks arrays that one of two grids lacks: NaN, or 0 for integers, in the half of the values that is of this grid."""
    root, last = tree_of_partial_arrays()
    proxy = make(shown(root), (0, 0, 1), last.GetCenter())
    proxy.UpdatePipeline()
    for kind in kinds:
        some, count = (vtk_to_numpy(getattr(leaves(output_of(proxy))[0], kind)().GetArray(name)) for name in ("some", "count"))
        half = len(some) // 2
        expect(np.isnan(some[:half]).all() and (some[half:] == 7).all() and (count[:half] == 0).all() and (count[half:] == 7).all(), "partial arrays")
    Delete(proxy)


def check_bad_data(*makers):
    """Checks that invalid data and planes give no crash, and that data without a visible cell give an empty result."""
    good, hidden = (make_grid("image", (0, 6, 0, 5, 0, 4), np.random.default_rng(1), flags) for flags in (None, np.array([32], np.uint8)))
    point, flat = (make_grid("image", extent, np.random.default_rng(1), None) for extent in ((3, 3, 2, 2, 1, 1), (0, 6, 0, 5, 0, 4)))
    flat.SetSpacing(0.0, 0.1, 0.1)
    empty, odd = vtkUniformGrid(), make_grid("curvilinear", (0, 3, 0, 3, 0, 3), np.random.default_rng(1), None)
    for i in (0, 5, 21, 63):
        odd.GetPoints().SetPoint(i, np.nan, np.inf, 0)
    for make in makers:
        for name, data in (("hidden", hidden), ("empty", empty), ("no blocks", vtkMultiBlockDataSet()),
                           ("empty blocks", tree_of([(0, empty), (1, hidden)])), ("odd", odd), ("a point", point), ("no width", flat)):
            for normal in ((1, 0, 0), (1, 0.7, 0.4)):
                proxy = make(shown(data), normal, good.GetCenter())
                number = cells_in(proxy)
                expect(number == 0 or data in (odd, point, flat), "%s: %d cells", name, number)
                Delete(proxy)
        for normal, origin in (((0, 0, 0), (0, 0, 0)), ((1, 0, 0), (np.nan, 0, 0)), ((1, np.inf, 0), (0, 0, 0)), ((1, 1, 0), (1e300, 0, 0))):
            proxy = make(shown(good), normal, origin)
            proxy.UpdatePipeline()
            Delete(proxy)


def check_abort(make, change):
    """Checks that an aborted filter has no cells, and that it has cells again after a change."""
    grid = make_grid("image", (0, 20, 0, 20, 0, 20), np.random.default_rng(1), None)
    proxy = make(shown(grid), (1, 0.7, 0.4), grid.GetCenter())
    filter_, seen = proxy.GetClientSideObject(), []
    tag = filter_.AddObserver("ProgressEvent", lambda *_: (seen.append(filter_.GetProgress()), filter_.SetAbortExecute(1)))
    proxy.UpdatePipeline()
    expect(seen and output_of(proxy).GetNumberOfCells() == 0, "%d cells after an abort", output_of(proxy).GetNumberOfCells())
    filter_.RemoveObserver(tag)
    change(proxy)
    expect(cells_in(proxy) > 0, "no cells in the update after an abort")
    Delete(proxy)

"""Grids with hidden cells for test scripts, their visible cells, and checks that all filters of PatchIO must pass."""
import numpy as np
from paraview.simple import Delete, TrivialProducer
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import (vtkCompositeDataSet, vtkImageData, vtkMultiBlockDataSet, vtkMultiPieceDataSet,
                                           vtkPartitionedDataSet, vtkPartitionedDataSetCollection, vtkRectilinearGrid,
                                           vtkStructuredGrid, vtkUniformGrid)

from on_ranks import expect, output_of, rank, ranks

HIDING = 1 | 8 | 32    # duplicate, refined and hidden cells of vtkDataSetAttributes
FLAGS = np.array([0, 0, 0, 2, 1, 9, 32], np.uint8)


def positions_of(grid):
    extent = grid.GetExtent()
    if grid.IsA("vtkImageData"):
        return [grid.GetOrigin()[a] + grid.GetSpacing()[a] * np.arange(extent[2 * a], extent[2 * a + 1] + 1) for a in range(3)]
    return [vtk_to_numpy(x).astype(float) for x in (grid.GetXCoordinates(), grid.GetYCoordinates(), grid.GetZCoordinates())]


def boxes_of(grid):
    """Returns low and high corners of all cells, in VTK's order."""
    ends = []
    for side in (slice(None, -1), slice(1, None)):
        axes = [x[side] if len(x) > 1 else x for x in positions_of(grid)]
        z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
        ends.append(np.column_stack([x.ravel(), y.ravel(), z.ravel()]))
    return ends


def seen_in(grid):
    flags = grid.GetCellData().GetArray("vtkGhostType")
    return vtk_to_numpy(flags) & HIDING == 0 if flags else np.ones(grid.GetNumberOfCells(), bool)


def visible_cells(grids):
    """Returns low corners, high corners and numbers of all visible cells."""
    rows = []
    for grid in grids:
        low, high = boxes_of(grid)
        rows.append(np.column_stack([low, high, vtk_to_numpy(grid.GetCellData().GetArray("cell"))])[seen_in(grid)])
    rows = np.concatenate(rows) if rows else np.zeros((0, 7))
    return rows[:, :3], rows[:, 3:6], rows[:, 6].astype(int)


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
    grid = {"image": vtkUniformGrid, "plain image": vtkImageData, "rectilinear": vtkRectilinearGrid, "curvilinear": vtkStructuredGrid}[kind]()
    grid.SetExtent(extent)
    axes = [np.cumsum(random.random(n) + 0.1) for n in counts]
    if "image" in kind:
        grid.SetOrigin(-2.0, 0.5, 1.0)
        grid.SetSpacing(0.3, 0.1, 0.7)
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


def trees_of_three():
    """Yields trees of each class with three grids in a row, and the number of grids that a filter makes of them: one for all grids
    in the root."""
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
        yield tree, grid, 3 if kind is vtkPartitionedDataSetCollection else 1


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


def expect_partial_arrays(data):
    """Expects NaN, or 0 for integers, in the half of the values that is of the grid without these arrays."""
    some, count = vtk_to_numpy(data.GetArray("some")), vtk_to_numpy(data.GetArray("count"))
    half = len(some) // 2
    expect(np.isnan(some[:half]).all() and (some[half:] == 7).all() and (count[:half] == 0).all() and (count[half:] == 7).all(), "partial arrays")


def invalid_grids():
    """Returns a list of (name, data without a visible cell), and a curvilinear grid with points at NaN and infinity."""
    hidden = make_grid("image", (0, 6, 0, 5, 0, 4), np.random.default_rng(1), np.array([32], np.uint8))
    empty, odd = vtkUniformGrid(), make_grid("curvilinear", (0, 3, 0, 3, 0, 3), np.random.default_rng(1), None)
    for i in (0, 5, 21, 63):
        odd.GetPoints().SetPoint(i, np.nan, np.inf, 0)
    return [("hidden", hidden), ("empty", empty), ("no blocks", vtkMultiBlockDataSet()),
            ("empty blocks", tree_of([(0, empty), (1, hidden)]))], odd


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
    proxy.UpdatePipeline()
    expect(output_of(proxy).GetNumberOfCells() > 0, "no cells in the update after an abort")
    Delete(proxy)

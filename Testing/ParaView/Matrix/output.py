"""The output of a filter on all ranks, as numpy arrays. All calls are collective."""
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter

from leaves import flags_of, places_of, positions_of, seen_in
from on_ranks import from_all_ranks, leaves, output_of

HIDDENPOINT = 2


def gather(values):
    """Returns the rows of all ranks, one after another."""
    return np.concatenate(from_all_ranks(np.asarray(values, float)))


class Output:
    """The output of a filter. thin: uses only every `thin`-th point, for images with a million points."""

    def __init__(self, proxy, thin=1):
        found, self.thin = output_of(proxy), thin
        self.leaves = [l for l in leaves(found) if l is not None and (l.IsA("vtkDataSet") or l.IsA("vtkTable"))]

    # ---- cells ----

    def cells(self, what, components=1):
        """Returns values of visible cells: "centre", "size", or the array `what`; NaN if a block lacks the array."""
        return gather(self.stack([self.of_cells(l, what, components)[seen_in(l)] for l in self.sets()],
                                 3 if what == "centre" else components))

    def of_cells(self, leaf, what, components):
        if what == "centre":
            return centres(leaf)
        return sizes(leaf) if what == "size" else array(leaf.GetCellData(), what, leaf.GetNumberOfCells(), components)

    # ---- points ----

    def points(self, what, components=1):
        """Returns values of visible points: "place", or the array `what`."""
        rows = []
        for leaf in self.sets():
            found = places_of(leaf) if what == "place" else array(leaf.GetPointData(), what, leaf.GetNumberOfPoints(), components)
            rows.append(found[seen_points(leaf)][::self.thin])
        return gather(self.stack(rows, 3 if what == "place" else components))

    def rows(self, what, components=1):
        """Returns the values of the rows of tables."""
        tables = [l for l in self.leaves if l.IsA("vtkTable")]
        return gather(self.stack([array(l.GetRowData(), what, l.GetNumberOfRows(), components) for l in tables], components))

    def blocks(self):
        """Returns (n, 8): the numbers of cells and points of each block on all ranks, and its bounds unless it has explicit
        points."""
        rows = [[l.GetNumberOfCells(), l.GetNumberOfPoints(), *([0] * 6 if l.IsA("vtkPointSet") else np.round(l.GetBounds(), 9))] for l in self.sets()]
        return gather(np.array(rows, float).reshape(-1, 8))

    def boxes(self):
        """Returns (n, 3, 3): for each block on all ranks, the lower corner, the upper corner, and the width of its first cells."""
        rows = [[[a[0] for a in positions_of(l)], [a[-1] for a in positions_of(l)], [a[1] - a[0] if len(a) > 1 else 1 for a in positions_of(l)]]
                for l in self.sets() if not l.IsA("vtkPointSet")]
        return gather(np.array(rows, float).reshape(-1, 3, 3))

    def sets(self):
        return [l for l in self.leaves if not l.IsA("vtkTable") and l.GetNumberOfPoints()]

    def stack(self, rows, components):
        return np.concatenate(rows) if rows else np.zeros((0, components))

    def lacks(self, kind, name):
        """Returns the number of non-empty blocks that lack the array."""
        lacking = 0
        for leaf in self.sets():
            data = leaf.GetCellData() if kind == "CELLS" else leaf.GetPointData()
            lacking += not data.HasArray(name) and (leaf.GetNumberOfCells() > 0 or kind == "POINTS")
        return int(gather(np.array([[lacking]])).sum())


def array(data, name, count, components):
    found = data.GetAbstractArray(name)
    if found is None or found.GetNumberOfTuples() != count:
        return np.full((count, components), np.nan)
    return vtk_to_numpy(found).reshape(count, -1).astype(float)


def seen_points(leaf):
    """Returns which points are not hidden and have a visible cell."""
    seen = flags_of(leaf.GetPointData(), leaf.GetNumberOfPoints()) & HIDDENPOINT == 0
    if leaf.IsA("vtkUnstructuredGrid") and not seen_in(leaf).all():
        offsets, numbers = vtk_to_numpy(leaf.GetCells().GetOffsetsArray()), vtk_to_numpy(leaf.GetCells().GetConnectivityArray())
        used = np.zeros(len(seen), bool)
        used[numbers[np.repeat(seen_in(leaf), np.diff(offsets))]] = True
        return seen & used
    if not hasattr(leaf, "GetExtent"):
        return seen
    dims = point_counts(leaf)
    cells = seen_in(leaf).reshape([max(n - 1, 1) for n in dims])
    for axis in range(3):
        if dims[axis] > 1:
            padded = np.pad(cells, [(1, 1) if a == axis else (0, 0) for a in range(3)])
            cells = np.take(padded, range(dims[axis]), axis) | np.take(padded, range(1, dims[axis] + 1), axis)
    return seen & cells.ravel()


def point_counts(leaf):
    """Returns the numbers of points of a structured grid along z, y and x. GetDimensions() does not work in Python for some
    grids."""
    extent = leaf.GetExtent()
    return tuple(extent[2 * axis + 1] - extent[2 * axis] + 1 for axis in (2, 1, 0))


def centres(leaf):
    """Returns the mean of each cell's points."""
    if leaf.IsA("vtkPolyData"):
        parts = [p for p in (leaf.GetVerts(), leaf.GetLines(), leaf.GetPolys(), leaf.GetStrips()) if p.GetNumberOfCells()]
        return np.concatenate([means(p, leaf) for p in parts]) if parts else np.zeros((0, 3))
    if leaf.IsA("vtkUnstructuredGrid"):
        return means(leaf.GetCells(), leaf)
    points = places_of(leaf).reshape(point_counts(leaf) + (3,))
    for axis in range(3):
        if points.shape[axis] > 1:
            points = (np.take(points, range(points.shape[axis] - 1), axis) + np.take(points, range(1, points.shape[axis]), axis)) / 2
    return points.reshape(-1, 3)


def means(cells, leaf):
    offsets, numbers = vtk_to_numpy(cells.GetOffsetsArray()), vtk_to_numpy(cells.GetConnectivityArray())
    if len(offsets) < 2:
        return np.zeros((0, 3))
    return np.add.reduceat(places_of(leaf)[numbers], offsets[:-1], axis=0) / np.diff(offsets)[:, None]


def sizes(leaf):
    """Returns the sizes of cells from VTK. The first check compares the sizes of boxes."""
    if not leaf.GetNumberOfCells():
        return np.zeros((0, 1))
    bare = leaf.NewInstance()
    bare.CopyStructure(leaf)
    tool = vtkCellSizeFilter()
    tool.SetInputData(bare)
    tool.Update()
    found = tool.GetOutput().GetCellData()
    total = sum(vtk_to_numpy(found.GetArray(n)) for n in ("Length", "Area", "Volume") if found.GetArray(n))
    return total.reshape(-1, 1)

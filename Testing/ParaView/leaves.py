"""The data sets in a data object of VTK, with and without ParaView."""
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader

HIDING = 1 | 8 | 32    # duplicate, refined and hidden cells of vtkDataSetAttributes


def items_of(tree):
    """Yields (number in the tree, data set)."""
    iterator = tree.NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        yield iterator.GetCurrentFlatIndex(), iterator.GetCurrentDataObject()
        iterator.GoToNextItem()


def leaves(data):
    """Returns the data sets of a tree, or the data set itself."""
    return [leaf for _, leaf in items_of(data)] if data.IsA("vtkCompositeDataSet") else [data]


def flags_of(data, count):
    """Returns the flags of cells or points. Integrate Variables converts them to floating-point numbers, which do not count."""
    found = data.GetArray("vtkGhostType")
    return vtk_to_numpy(found) if found and found.GetDataTypeAsString() == "unsigned char" else np.zeros(count, np.uint8)


def seen_in(grid):
    """Returns which cells are visible: neither duplicates, nor refined, nor hidden."""
    return flags_of(grid.GetCellData(), grid.GetNumberOfCells()) & HIDING == 0


def positions_of(grid):
    """Returns the positions of points along x, y and z of a grid with axes."""
    if grid.IsA("vtkRectilinearGrid"):
        return [vtk_to_numpy(a).astype(float) for a in (grid.GetXCoordinates(), grid.GetYCoordinates(), grid.GetZCoordinates())]
    extent = np.array(grid.GetExtent()).reshape(3, 2)
    return [o + s * np.arange(e[0], e[1] + 1) for o, s, e in zip(grid.GetOrigin(), grid.GetSpacing(), extent)]


def places_of(grid):
    """Returns the places of all points, explicit or from the axes."""
    if grid.IsA("vtkPointSet"):
        points = grid.GetPoints()
        return vtk_to_numpy(points.GetData()).astype(float) if points and points.GetNumberOfPoints() else np.zeros((0, 3))
    z, y, x = np.meshgrid(*positions_of(grid)[::-1], indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], -1)


def pixels_of(path):
    """Returns the colours of a picture, [row, column, channel]."""
    reader = vtkPNGReader()
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    return vtk_to_numpy(image.GetPointData().GetScalars()).astype(int)[:, :3].reshape(*image.GetDimensions()[1::-1], 3)

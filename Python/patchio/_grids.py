"""Steps as grids of VTK, for PyVista and for ParaView."""
import numpy as np
from vtkmodules import vtkCommonCore, vtkCommonDataModel
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray

from . import _arguments, _sampling
from ._errors import step_error

# VTK's numbers of cell types, and how many points a cell of the type has.
_POINTS_OF_TYPES = {1: 1, 3: 2, 5: 3, 8: 4, 9: 4, 10: 4, 11: 8, 12: 8, 13: 6, 14: 5, 15: 10, 16: 12, 21: 3, 22: 6, 23: 8, 24: 10,
                    25: 20, 26: 15, 27: 13, 28: 9, 29: 27, 30: 6, 31: 12, 32: 18, 33: 24, 34: 7, 35: 4, 37: 19}
_TYPES_OF_ANY_SIZE = (2, 4, 6, 7)
_LISTS = {"Vertices": "SetVerts", "Lines": "SetLines", "Polygons": "SetPolys", "Strips": "SetStrips"}


def vtk_array(values, name=None, copy=True):
    """Returns an array of VTK. Without `copy`, it has the memory of `values`, which lives as long as the array of VTK.

    Filters of VTK may give this memory to further arrays (vtkDataArray::ShallowCopy), which do not keep it.
    """
    found = numpy_to_vtk(values, int(copy))
    if not copy:    # VTK keeps the observer, and the observer the values
        found.AddObserver("DeleteEvent", lambda *_, values=values: None)
    if name is not None:
        found.SetName(name)
    return found


def _points_of(positions):
    """Returns vtkPoints from positions of nodes, axis x fastest."""
    points = positions.reshape(-1, positions.shape[-1])
    if points.shape[1] < 3:
        points = np.column_stack([points, np.zeros(len(points), points.dtype)])
    found = vtkCommonCore.vtkPoints()
    found.SetData(vtk_array(np.ascontiguousarray(points), copy=False))
    return found


# ---- meshes ----------------------------------------------------------------------------------------------

def _cells_of(step, offsets, connectivity, points):
    """Returns a vtkCellArray, and each cell's number of points."""
    offsets, connectivity = offsets.astype(np.int64), connectivity.astype(np.int64)
    sizes = np.diff(offsets)
    if (sizes < 0).any() or offsets[:1].any() or offsets[-1:].sum() != len(connectivity):
        raise step_error(step, "expected the offsets of cells to rise from 0 to %d, found other ones. The file is damaged.", len(connectivity))
    if connectivity.size and not 0 <= connectivity.min() <= connectivity.max() < points:
        raise step_error(step, "expected cells of points 0 to %d, found points %d to %d. The file is damaged.", points - 1,
                         connectivity.min(), connectivity.max())
    cells = vtkCommonDataModel.vtkCellArray()
    if offsets.size:
        # Copies: a vtkCellArray shares the memory of these arrays, but does not keep the arrays, and so not their owners.
        cells.SetData(numpy_to_vtkIdTypeArray(offsets, 1), numpy_to_vtkIdTypeArray(connectivity, 1))
    return cells, sizes


def _check_types(step, types, sizes):
    """Raises Error for cells whose number of points does not fit their type: VTK would read beyond the list."""
    for kind in np.unique(types).tolist():
        found = np.unique(sizes[types == kind])
        if kind not in _TYPES_OF_ANY_SIZE and found.tolist() != [_POINTS_OF_TYPES.get(kind)]:
            raise step_error(step, "cells of VTK's type %d with %d points are not supported.", kind, found[-1])


def _mesh_of(step, arrays, block):
    """Returns the mesh of a partition, which may be empty."""
    def array(name, shape=0):
        return arrays[name].get(block, np.zeros(shape, int))

    points = array(step.coordinates, (0, 3))
    if step.grid == "unstructured":
        types = array("Types").astype(np.uint8)
        cells, sizes = _cells_of(step, array("Offsets"), array("Connectivity"), len(points))
        _check_types(step, types, sizes)
        mesh = vtkCommonDataModel.vtkUnstructuredGrid()
        mesh.SetPoints(_points_of(points))
        mesh.SetCells(vtk_array(types), cells)
        return mesh
    mesh = vtkCommonDataModel.vtkPolyData()
    mesh.SetPoints(_points_of(points))
    for name, setter in _LISTS.items():
        cells, sizes = _cells_of(step, *(array("%s/%s" % (name, part)) for part in ("Offsets", "Connectivity")), len(points))
        if sizes.size:
            getattr(mesh, setter)(cells)
    return mesh


# ---- blocks ----------------------------------------------------------------------------------------------

def _grid_of(step, row, arrays, block):
    """Returns the grid of a block, without its arrays."""
    level = row["level"]
    if step.mesh:
        return _mesh_of(step, arrays, block)
    if step.level_roles[level] == "points":
        grid = vtkCommonDataModel.vtkPolyData()
        positions = step.positions(row["patch"])
        grid.SetPoints(_points_of(positions))
        count = np.arange(len(positions) + 1, dtype=np.int64)
        grid.SetVerts(_cells_of(step, count, count[:-1], len(positions))[0])
        return grid
    if step.grid == "curvilinear":
        positions = arrays[step.coordinates][block]
        grid = vtkCommonDataModel.vtkStructuredGrid()
        grid.SetDimensions((positions.shape[:-1][::-1] + (1,))[:3])
        grid.SetPoints(_points_of(positions))
        return grid
    nodes = step._nodes_of(level, row["lower"], row["upper"])
    sizes = [len(axis) for axis in nodes]
    if step.grid == "rectilinear":
        grid = vtkCommonDataModel.vtkRectilinearGrid()
        grid.SetDimensions(sizes)
        for axis, positions in zip("XYZ", nodes):
            getattr(grid, "Set%sCoordinates" % axis)(vtk_array(np.ascontiguousarray(positions, float)))
        return grid
    grid = vtkCommonDataModel.vtkImageData()
    grid.SetDimensions(sizes)
    grid.SetOrigin([axis[0] for axis in nodes])
    grid.SetSpacing(step.levels["spacing"][level])
    return grid


def _add_values(grid, values, variable, points, copy):
    """Adds an array: axis x is the fastest one in both, so a flat view suffices."""
    data = grid.GetCellData() if variable.centering == "cell" and not points else grid.GetPointData()
    data.AddArray(vtk_array(values.reshape((-1, variable.components) if variable.components > 1 else -1), variable.name, copy))


def _name_of(step, row, number):
    if row["parts"] == 1:
        return "%s, patch %d" % (step.level_names[row["level"]], step.patches["number"][row["patch"]])
    return "%s, block %d" % (step.level_names[row["level"]], number)


def grids_of(step, variables, patches, levels, bounds=None, blocks="merged", threads=None, copy=False):
    """Reads blocks, as Step.to_pyvista() describes them. Returns a list of (level, name, grid of VTK). copy: see vtk_array()."""
    blocks = _arguments.choice(blocks, "blocks", ("merged", "patches"))
    names, wanted = step._names(variables), step._wanted(patches, levels)
    if bounds is not None:
        wanted = _sampling.patches_near(step, wanted, bounds)
    geometry = step.mesh or ([step.coordinates] if step.coordinates else [])
    plan, rows = step._plan(names, wanted, levels, blocks)
    arrays = step._read_blocks(plan, list(dict.fromkeys(names + geometry)), threads)
    found = []
    for number, row in enumerate(rows):
        grid = _grid_of(step, row, arrays, number)
        points = step.level_roles[row["level"]] == "points"
        for name in names:
            if number in arrays[name]:
                _add_values(grid, arrays[name].pop(number), step.variables[name], points, copy)
        flags = b"" if points or step.mesh else plan.flags(number)
        if flags:
            grid.GetCellData().AddArray(vtk_array(np.frombuffer(flags, np.uint8), "vtkGhostType"))
        found.append((int(row["level"]), _name_of(step, row, number), grid))
    return found

"""Steps as grids of VTK, for PyVista and for ParaView."""
import itertools

import numpy as np
from vtkmodules import vtkCommonCore, vtkCommonDataModel
from vtkmodules.util.numpy_support import get_vtk_array_type, numpy_to_vtkIdTypeArray

from . import _arguments, _sampling
from ._errors import step_error

# {VTK's cell type: number of points of a cell}
_POINTS_OF_TYPES = {1: 1, 3: 2, 5: 3, 8: 4, 9: 4, 10: 4, 11: 8, 12: 8, 13: 6, 14: 5, 15: 10, 16: 12, 21: 3, 22: 6, 23: 8, 24: 10,
                    25: 20, 26: 15, 27: 13, 28: 9, 29: 27, 30: 6, 31: 12, 32: 18, 33: 24, 34: 7, 35: 4, 37: 19}
_TYPES_OF_ANY_SIZE = (2, 4, 6, 7)
_CELL_LISTS = {"Vertices": "SetVerts", "Lines": "SetLines", "Polygons": "SetPolys", "Strips": "SetStrips"}


# {dtype of numpy: array of VTK}, a cache, because VTK's numpy_to_vtk() creates such an array at each call.
_ARRAYS = {}


def _empty_array(dtype):
    """Returns an empty array of VTK for values of `dtype`, from the cache. All callers share the array: call only
    the array's NewInstance()."""
    if dtype not in _ARRAYS:
        _ARRAYS[dtype] = vtkCommonCore.vtkDataArray.CreateDataArray(get_vtk_array_type(dtype))
    return _ARRAYS[dtype]


def vtk_array(values, name=None, copy=True):
    """Returns an array of VTK. With copy=False, the array shares the memory of `values` and keeps `values` alive.

    Filters of VTK may share this memory with other arrays (vtkDataArray::ShallowCopy), which do not keep `values` alive.
    """
    found = _empty_array(values.dtype).NewInstance()
    found.SetNumberOfComponents(values.shape[1] if values.ndim > 1 else 1)
    found.SetVoidArray(values, values.size, 1)
    if copy:
        shared, found = found, found.NewInstance()
        found.DeepCopy(shared)
    else:    # VTK keeps the observer, and the observer the values
        found.AddObserver("DeleteEvent", lambda *_, values=values: None)
    if name is not None:
        found.SetName(name)
    return found


def _points_of(positions):
    """Returns vtkPoints from the positions of nodes, an array [k, j, i, component] or [n, component]."""
    points = positions.reshape(-1, positions.shape[-1])
    if points.shape[1] < 3:
        points = np.column_stack([points, np.zeros(len(points), points.dtype)])
    found = vtkCommonCore.vtkPoints()
    found.SetData(vtk_array(np.ascontiguousarray(points), copy=False))
    return found


# ---- meshes ----------------------------------------------------------------------------------------------

def _cells_of(step, offsets, connectivity, points):
    """Returns a vtkCellArray, and an array with the number of points of each cell. points: number of points of the mesh.

    Raises Error if `offsets` or `connectivity` is damaged.
    """
    offsets, connectivity = offsets.astype(np.int64), connectivity.astype(np.int64)
    sizes = np.diff(offsets)
    if (sizes < 0).any() or offsets[:1].any() or offsets[-1:].sum() != len(connectivity):
        raise step_error(step, "expected offsets of cells that rise from 0 to %d, found other offsets. The file is damaged.", len(connectivity))
    if connectivity.size and not 0 <= connectivity.min() <= connectivity.max() < points:
        raise step_error(step, "expected cells of points 0 to %d, found points %d to %d. The file is damaged.", points - 1,
                         connectivity.min(), connectivity.max())
    cells = vtkCommonDataModel.vtkCellArray()
    if offsets.size:
        # A vtkCellArray shares the memory of these arrays, but does not keep the owners of the memory alive, so it gets copies.
        cells.SetData(numpy_to_vtkIdTypeArray(offsets, 1), numpy_to_vtkIdTypeArray(connectivity, 1))
    return cells, sizes


def _check_types(step, types, sizes):
    """Raises Error for unknown types, and for cells whose number of points does not fit their type, because VTK would read beyond
    the list of points."""
    for cell_type in np.unique(types).tolist():
        found = np.unique(sizes[types == cell_type])
        if cell_type not in _TYPES_OF_ANY_SIZE and found.tolist() != [_POINTS_OF_TYPES.get(cell_type)]:
            raise step_error(step, "cells of VTK's type %d with %d points are not supported.", cell_type, found[-1])


def _mesh_of(step, arrays, block):
    """Returns the mesh of block `block`, a partition of the mesh. arrays: {name: {block: array}}. The mesh may be empty."""
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
    for name, setter in _CELL_LISTS.items():
        cells, sizes = _cells_of(step, *(array("%s/%s" % (name, part)) for part in ("Offsets", "Connectivity")), len(points))
        if sizes.size:
            getattr(mesh, setter)(cells)
    return mesh


# ---- blocks ----------------------------------------------------------------------------------------------

def _uniform_grids(step, rows):
    """Yields a vtkImageData without arrays for each block of a uniform grid. rows: the blocks, see Step._plan_blocks()."""
    levels = rows["level"]
    sizes, spacings = rows["upper"] - rows["lower"] + 1 + step._extra_nodes[levels], step.levels["spacing"][levels]
    for size, origin, spacing in zip(sizes.tolist(), (step.origin + rows["lower"] * spacings).tolist(), spacings.tolist()):
        grid = vtkCommonDataModel.vtkImageData()
        grid.SetDimensions(size)
        grid.SetOrigin(origin)
        grid.SetSpacing(spacing)
        yield grid


def _grid_of(step, row, arrays, block):
    """Returns the grid of a block that is not a uniform grid, without cell and point arrays.

    row     the block's row of Step._plan_blocks()
    arrays  {name: {block: array}}
    block   number of the block
    """
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
    grid = vtkCommonDataModel.vtkRectilinearGrid()
    grid.SetDimensions([len(axis) for axis in nodes])
    for axis, positions in zip("XYZ", nodes):
        getattr(grid, "Set%sCoordinates" % axis)(vtk_array(np.ascontiguousarray(positions, float)))
    return grid


def _names_of(step, rows):
    """Yields the names of the blocks `rows`: "level 0, patch 3" for a block of one patch, "level 0, block 1" for other blocks."""
    names, numbers = step.level_names, step.patches["number"]
    for number, (level, patch, parts) in enumerate(zip(rows["level"].tolist(), rows["patch"].tolist(), rows["parts"].tolist())):
        yield "%s, patch %d" % (names[level], numbers[patch]) if parts == 1 else "%s, block %d" % (names[level], number)


def _add_values(grid, values, variable, points, copy):
    """Adds an array to a grid. points: True for lists of points, where cell variables become point arrays. copy: see vtk_array()."""
    # A flat view suffices, because axis x is the fastest in numpy and in VTK.
    data = grid.GetCellData() if variable.centering == "cell" and not points else grid.GetPointData()
    data.AddArray(vtk_array(values.reshape((-1, variable.components) if variable.components > 1 else -1), variable.name, copy))


def grids_of(step, variables, patches, levels, bounds=None, blocks="merged", threads=None, copy=False):
    """Reads blocks. Returns a list of (level, name, grid of VTK).

    variables, patches, levels, bounds, blocks    as for Step.to_pyvista()
    threads, copy    as for Step.read() and vtk_array()
    """
    blocks = _arguments.choice(blocks, "blocks", ("merged", "fewest", "patches"))
    names, patches = step._variable_names(variables), step._select_patches(patches, levels)
    if bounds is not None:
        patches = _sampling.patches_near(step, patches, bounds)
    geometry = step.mesh or ([step.coordinates] if step.coordinates else [])
    plan, rows = step._plan_blocks(names, patches, levels, blocks)
    arrays = step._read_blocks(plan, list(dict.fromkeys(names + geometry)), threads)
    points = np.array([role == "points" for role in step.level_roles])[rows["level"]].tolist()
    uniform = _uniform_grids(step, rows) if step.grid == "uniform" else itertools.repeat(None)
    found = []
    for number, (level, name, grid) in enumerate(zip(rows["level"].tolist(), _names_of(step, rows), uniform)):
        if grid is None or points[number]:
            grid = _grid_of(step, rows[number], arrays, number)
        for variable in names:
            if number in arrays[variable]:
                _add_values(grid, arrays[variable].pop(number), step.variables[variable], points[number], copy)
        flags = b"" if points[number] or step.mesh else plan.flags(number)
        if flags:
            grid.GetCellData().AddArray(vtk_array(np.frombuffer(flags, np.uint8), "vtkGhostType"))
        found.append((level, name, grid))
    return found

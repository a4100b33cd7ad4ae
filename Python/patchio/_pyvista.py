"""Steps as grids of PyVista."""
import numpy as np

from . import _arguments, _sampling
from ._errors import step_error
from ._optional import optional

# VTK's numbers of cell types, and how many points a cell of the type has.
_POINTS_OF_TYPES = {1: 1, 3: 2, 5: 3, 8: 4, 9: 4, 10: 4, 11: 8, 12: 8, 13: 6, 14: 5, 15: 10, 16: 12, 21: 3, 22: 6, 23: 8, 24: 10,
                    25: 20, 26: 15, 27: 13, 28: 9, 29: 27, 30: 6, 31: 12, 32: 18, 33: 24, 34: 7, 35: 4, 37: 19}
_TYPES_OF_ANY_SIZE = (2, 4, 6, 7)
_LISTS = {"Vertices": "verts", "Lines": "lines", "Polygons": "faces", "Strips": "strips"}


def _points_of(positions):
    """Returns positions of nodes as n x 3, axis x fastest."""
    points = positions.reshape(-1, positions.shape[-1])
    return points if points.shape[1] == 3 else np.column_stack([points, np.zeros(len(points), points.dtype)])


# ---- meshes ----------------------------------------------------------------------------------------------

def _cells_of(step, offsets, connectivity, points):
    """Returns (the list of cells as PyVista takes it, each cell's number of points before its points; these numbers)."""
    offsets, connectivity = offsets.astype(np.int64), connectivity.astype(np.int64)
    sizes = np.diff(offsets)
    if (sizes < 0).any() or offsets[:1].any() or offsets[-1:].sum() != len(connectivity):
        raise step_error(step, "expected the offsets of cells to rise from 0 to %d, found other ones. The file is damaged.", len(connectivity))
    if connectivity.size and not 0 <= connectivity.min() <= connectivity.max() < points:
        raise step_error(step, "expected cells of points 0 to %d, found points %d to %d. The file is damaged.", points - 1,
                         connectivity.min(), connectivity.max())
    return np.insert(connectivity, offsets[:-1], sizes), sizes


def _check_types(step, types, sizes):
    """Raises Error for cells whose number of points does not fit their type: VTK would read beyond the list."""
    for kind in np.unique(types).tolist():
        found = np.unique(sizes[types == kind])
        if kind not in _TYPES_OF_ANY_SIZE and found.tolist() != [_POINTS_OF_TYPES.get(kind)]:
            raise step_error(step, "to_pyvista() does not support cells of VTK's type %d with %d points.", kind, found[-1])


def _mesh_of(pyvista, step, arrays, block):
    """Returns the mesh of a partition."""
    points = _points_of(arrays[step.coordinates][block])
    if step.grid == "unstructured":
        types = arrays["Types"][block]
        cells, sizes = _cells_of(step, arrays["Offsets"][block], arrays["Connectivity"][block], len(points))
        _check_types(step, types, sizes)
        return pyvista.UnstructuredGrid(cells, types.astype(np.uint8), points)
    lists = {}
    for name, argument in _LISTS.items():
        cells, _ = _cells_of(step, *(arrays["%s/%s" % (name, part)][block] for part in ("Offsets", "Connectivity")), len(points))
        if cells.size:
            lists[argument] = cells
    mesh = pyvista.PolyData()
    mesh.points = points
    for argument, cells in lists.items():
        setattr(mesh, argument, cells)
    return mesh


# ---- blocks ----------------------------------------------------------------------------------------------

def _grid_of(pyvista, step, row, arrays, block):
    """Returns the grid of a block, without its arrays."""
    level = row["level"]
    if step.mesh:
        return _mesh_of(pyvista, step, arrays, block)
    if step.level_roles[level] == "points":
        return pyvista.PolyData(step.positions(row["patch"]))
    if step.grid == "curvilinear":
        positions = arrays[step.coordinates][block]
        grid = pyvista.StructuredGrid()
        grid.points = _points_of(positions)
        grid.dimensions = (positions.shape[:-1][::-1] + (1,))[:3]
        return grid
    nodes = step._nodes_of(level, row["lower"], row["upper"])
    if step.grid == "rectilinear":
        return pyvista.RectilinearGrid(*nodes)
    return pyvista.ImageData(dimensions=[len(axis) for axis in nodes], origin=[axis[0] for axis in nodes],
                             spacing=step.levels["spacing"][level])


def _add_values(step, grid, values, variable, points):
    """Adds an array without a copy: axis x is the fastest one in both, so a flat view suffices."""
    data = grid.cell_data if variable.centering == "cell" and not points else grid.point_data
    data[variable.name] = values.reshape((-1, variable.components) if variable.components > 1 else -1)


def _name_of(step, row, number):
    if row["parts"] == 1:
        return "%s, patch %d" % (step.level_names[row["level"]], step.patches["number"][row["patch"]])
    return "%s, block %d" % (step.level_names[row["level"]], number)


def to_pyvista(step, variables, patches, levels, bounds, blocks):
    """Implements Step.to_pyvista()."""
    pyvista = optional("pyvista", "to_pyvista()")
    blocks = _arguments.choice(blocks, "blocks", ("merged", "patches"))
    names, wanted = step._names(variables), step._wanted(patches, levels)
    if bounds is not None:
        wanted = _sampling.patches_near(step, wanted, bounds)
    geometry = step.mesh or ([step.coordinates] if step.coordinates else [])
    plan, rows = step._plan(names, wanted, levels, blocks)
    arrays = step._read_blocks(plan, list(dict.fromkeys(names + geometry)))
    found = pyvista.MultiBlock()
    for number, row in enumerate(rows):
        grid = _grid_of(pyvista, step, row, arrays, number)
        points = step.level_roles[row["level"]] == "points"
        for name in names:
            if number in arrays[name]:
                _add_values(step, grid, arrays[name].pop(number), step.variables[name], points)
        flags = b"" if points or step.mesh else plan.flags(number)
        if flags:
            grid.cell_data["vtkGhostType"] = np.frombuffer(flags, np.uint8).copy()
        found.append(grid, _name_of(step, row, number))
    return found

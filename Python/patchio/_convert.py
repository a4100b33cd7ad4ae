"""Conversion of steps for other packages. These packages are imported only when they are needed."""
import importlib

import numpy as np

from . import _sampling
from ._errors import step_error

_DEBIAN = {"xarray": " or 'apt install python3-xarray'"}
_REFINED_CELL = 8    # VTK's flag of cells under finer cells
_DATES = ("1678", "2261")    # first and last year of xarray's dates, which count nanoseconds


def optional(name):
    """Returns a module. If the module is missing, raises ImportError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("to_%s() needs %s. Install it with 'python3 -m pip install %s'%s"
                          % (name, name, name, _DEBIAN.get(name, ""))) from error


# ---- pyvista ---------------------------------------------------------------------------------------------

def _points_of(positions):
    """Returns the positions of nodes as an array n x 3, axis x fastest."""
    points = positions.reshape(-1, positions.shape[-1])
    return points if points.shape[1] == 3 else np.column_stack([points, np.zeros(len(points), points.dtype)])


def _grid_of(pyvista, step, patch, positions):
    """Returns the grid of a patch, without its arrays."""
    level = step.patches["level"][patch]
    if step.level_roles[level] == "points":
        return pyvista.PolyData(step.positions(patch))
    if step.grid == "curvilinear":
        grid = pyvista.StructuredGrid()
        grid.points = _points_of(positions)
        grid.dimensions = (positions.shape[:-1][::-1] + (1,))[:3]
        return grid
    nodes = step.nodes(patch)
    if step.grid == "rectilinear":
        return pyvista.RectilinearGrid(*nodes)
    return pyvista.ImageData(dimensions=[len(axis) for axis in nodes], origin=[axis[0] for axis in nodes],
                             spacing=step.levels["spacing"][level])


def to_pyvista(step, variables, patches, levels):
    """Implements Step.to_pyvista()."""
    if step.mesh:
        raise step_error(step, "to_pyvista() does not support meshes. Use read() with the names in `mesh` for their points and cells.")
    pyvista = optional("pyvista")
    names, wanted = step._names(variables), step._wanted(patches, levels)
    with_positions = [step.coordinates] if step.coordinates else []
    arrays = step.read(names + with_positions, patches=wanted)
    positions = arrays[step.coordinates] if step.coordinates else {}
    blocks = pyvista.MultiBlock()
    for patch in wanted:
        grid = _grid_of(pyvista, step, patch, positions.get(patch))
        level = step.patches["level"][patch]
        points = step.level_roles[level] == "points"
        for name in names:
            if patch in arrays[name]:
                variable, values = step.variables[name], arrays[name][patch]
                data = grid.cell_data if variable.centering == "cell" and not points else grid.point_data
                # Axis x is fastest in numpy's array and in the grid, so a flat view is sufficient.
                data[name] = values.reshape((-1, variable.components) if variable.components > 1 else -1)
        covered = np.zeros(0, bool) if points else step.covered(patch)
        if covered.any():
            grid.cell_data["vtkGhostType"] = np.where(covered, _REFINED_CELL, 0).astype(np.uint8).ravel()
        blocks.append(grid, "%s, patch %d" % (step.level_names[level], step.patches["number"][patch]))
    return blocks


# ---- xarray ----------------------------------------------------------------------------------------------

def _level_of(step, names):
    """Returns the first level with one of the variables, among the levels that ParaView's reader would show."""
    for level in step._core.levels_shown([step._number(name) for name in names]):
        row = step.levels[level]
        part = slice(row["first_patch"], row["first_patch"] + row["patch_count"])
        if any(step.presence[list(step.variables).index(name), part].any() for name in names):
            return level
    return 0


def _variables_of_level(step, variables, level):
    """Returns {name: patches of the level with the variable}. Raises Error for a named variable that no patch of the level has."""
    of_level = step.patches["level"] == level
    found = {}
    for name in step._names(variables):
        step._number(name)
        patches = np.flatnonzero(step.presence[list(step.variables).index(name)] & of_level)
        if patches.size:
            found[name] = patches
        elif variables is not None:
            raise step_error(step, "'%s' is not on level %d, '%s'.", name, level, step.level_names[level])
    if variables is None and not found:
        raise step_error(step, "level %d, '%s', has no variables. Use nodes() and positions() for its geometry.", level,
                               step.level_names[level])
    return found


def _axis_names(step, centering):
    """Returns the names of the axes x, y, z."""
    if step.axes:
        names = ("lon", "lat", "lev") if step.geographic else ("x", "y", "lev")
        return [name + ("_middle" if centering == "cell" else "") for name in names]
    return [name + ("" if centering == "cell" else "_node") for name in "xyz"]


def _coordinates_of(step, names, axes):
    """Returns positions for xarray, and the labels of the third axis of a rectilinear grid."""
    coordinates = {name: (name, at) for name, at in zip(names, axes)}
    if step.axes and names[2] == "lev":
        third = step.axes[2]
        coordinates["lev"] = ("lev", third.labels[np.searchsorted(third.positions, axes[2])])
        coordinates["height"] = ("lev", axes[2])
    return coordinates


def _of_boxes(step, name, patches, values):
    """Returns (dimensions, array), coordinates: the joined patches of one level."""
    variable = step.variables[name]
    low, high = (corner[patches] for corner in _sampling.corners(step))
    level = step.patches["level"][patches[0]]
    axes = _sampling.positions_of_level(step, level, variable.centering, low.min(0), high.max(0))
    names = _axis_names(step, variable.centering)[:len(axes)]
    more = (variable.components,) if variable.components > 1 else ()
    shape = tuple(len(at) for at in reversed(axes))
    kind = step.dtype(name)
    grid, filled = _sampling.new_grid(step, shape + more, kind, 0), np.zeros(shape, bool)
    _sampling.paint(step, variable.centering, values, axes, grid, filled)
    if not filled.all():
        grid = grid.astype(np.promote_types(kind, np.float16))
        grid[~filled] = np.nan
    coordinates = _coordinates_of(step, names, axes)
    dimensions = names[::-1]
    if step.level_names[level] == "surface":    # GrADS variables without levels
        grid, dimensions = grid[0], dimensions[1:]
        coordinates = {key: coordinates[key] for key in dimensions}
    return (dimensions + [name + "_component"] * len(more), grid), coordinates


def _of_points(step, name, patches, values):
    """Returns (dimensions, array), coordinates: the points of one list."""
    variable = step.variables[name]
    places = np.concatenate([step.positions(patch) for patch in patches])
    array = np.concatenate([values[patch] for patch in patches])
    more = [name + "_component"] if variable.components > 1 else []
    return (["point"] + more, array), {axis: ("point", places[:, a]) for a, axis in enumerate("xyz"[:step.dimension])}


def _time_of(step):
    """Returns the date of the step if xarray can represent it, otherwise the time as a number."""
    if _DATES[0] <= step.date[:4] <= _DATES[1]:
        try:
            return np.datetime64(step.date.replace(" ", "T")).astype("datetime64[ns]")
        except ValueError:
            pass
    return float(step.time)


def to_xarray(step, variables, level):
    """Implements Step.to_xarray()."""
    xarray = optional("xarray")
    _sampling.check_boxes(step)
    names = step._names(variables)
    for name in names:
        step._number(name)
    if level is None and step.axes:
        found = {name: np.flatnonzero(step.presence[list(step.variables).index(name)]) for name in names}
        found = {name: patches for name, patches in found.items() if patches.size}
    else:
        number = _level_of(step, names) if level is None else step._level(level)
        found = _variables_of_level(step, variables, number)
    arrays, coordinates = {}, {"time": _time_of(step)}
    for name, patches in found.items():
        values = step.read(name, patches=patches)
        points = step.level_roles[step.patches["level"][patches[0]]] == "points"
        array, of_array = (_of_points if points else _of_boxes)(step, name, patches, values)
        long_name = step.variables[name].long_name
        arrays[name] = (*array, {"long_name": long_name} if long_name else {})
        coordinates.update(of_array)
    # A variable with the name of a coordinate gets another name.
    arrays = {name + ("_" if name in coordinates else ""): array for name, array in arrays.items()}
    return xarray.Dataset(arrays, coordinates, {"source": str(step.path), "step": step.number})


# ---- yt --------------------------------------------------------------------------------------------------

def _refinement(step, used):
    """Returns the refinement ratio between levels. Raises Error unless all levels and axes have the same ratio, as yt needs."""
    spacing = step.levels["spacing"][:used, :step.dimension]
    ratios = spacing[:-1] / spacing[1:]
    if not ratios.size:
        return 2
    ratio = int(round(ratios.flat[0]))
    if ratio < 2 or not np.allclose(ratios, ratio, rtol=1e-6):
        raise step_error(step, "to_yt() needs one whole refinement ratio for all levels and axes. Choose "
                               "levels=[0], or use uniform_grid().")
    return ratio


def _within_parents(step, wanted, ratio):
    """Returns (patch, lower, upper) of parts of patches. Each is inside one coarser part, because a grid of yt has one parent."""
    parts, before = [], None
    for level in range(int(step.patches["level"][wanted].max()) + 1):
        found = []
        for patch in wanted[step.patches["level"][wanted] == level]:
            lower, upper = step.patches["lower"][patch], step.patches["upper"][patch]
            if before is None:
                found.append((patch, lower, upper))
                continue
            fine = np.where(np.arange(3) < step.dimension, ratio, 1)
            lows, highs = np.maximum(lower, before[0] * fine), np.minimum(upper, before[1] * fine + fine - 1)
            inside = np.flatnonzero((lows <= highs).all(1))
            if (highs[inside] - lows[inside] + 1).prod(1).sum() != (upper - lower + 1).prod():
                raise step_error(step, "to_yt() needs patches that do not overlap and are inside patches of the coarser level, unlike "
                                       "patch %d. Choose levels=[0], or use uniform_grid().", patch)
            found += [(patch, lows[i], highs[i]) for i in inside]
        before = np.array([part[1] for part in found]), np.array([part[2] for part in found])
        parts += found
    return parts


def _yt_fields(step, names, arrays, part):
    """Returns {name of a field: values [i, j, k]} of a part of a patch, with one field per component."""
    patch, lower, upper = part
    place = tuple(slice(low, high + 1) for low, high in zip(lower - step.patches["lower"][patch], upper - step.patches["lower"][patch]))
    fields = {}
    for name in names:
        components = step.variables[name].components
        if patch not in arrays[name]:
            raise step_error(step, "to_yt() needs variables on every patch, unlike '%s'. Choose other variables or levels.", name)
        values = arrays[name][patch].reshape((-1,) + arrays[name][patch].shape[-2 - (components > 1):])    # [k, j, i], also in 2-D
        for c in range(components):
            label = name if components == 1 else "%s_%s" % (name, "xyz"[c] if components <= 3 else c)
            fields[label] = (values[..., c] if components > 1 else values).T[place].astype(float)
    return fields


def to_yt(step, variables, levels):
    """Implements Step.to_yt()."""
    yt = optional("yt")
    if step.mesh or step.grid != "uniform" or "points" in step.level_roles:
        raise step_error(step, "to_yt() supports only uniform grids.")
    of_cells = [name for name, variable in step.variables.items() if variable.centering == "cell"]
    names = step._names(variables) if variables is not None else of_cells
    if not names or any(name not in of_cells for name in names):
        raise step_error(step, "to_yt() needs cell variables. The cell variables are: %s.", ", ".join(of_cells) or "none")
    wanted = np.asarray(step._wanted(None, levels), int)
    number = step.patches["level"][wanted]
    if number.min() > 0:
        raise step_error(step, "to_yt() needs all levels from 0 up to the finest one.")
    arrays = step.read(names, patches=wanted.tolist())
    ratio = _refinement(step, number.max() + 1)
    flat = np.arange(3) >= step.dimension
    spacing = np.where(flat, 1.0, step.levels["spacing"])
    origin = np.where(flat, 0.0, step.origin)
    grids = []
    for part in _within_parents(step, wanted, ratio):
        patch, lower, upper = part
        level = int(step.patches["level"][patch])
        grids.append({"left_edge": origin + lower * spacing[level], "right_edge": origin + (upper + 1) * spacing[level], "level": level,
                      "dimensions": upper - lower + 1, **_yt_fields(step, names, arrays, part)})
    coarse = wanted[number == 0]
    lower, upper = step.patches["lower"][coarse].min(0), step.patches["upper"][coarse].max(0) + 1
    box = np.stack([origin + lower * spacing[0], origin + upper * spacing[0]], 1)
    return yt.load_amr_grids(grids, upper - lower, bbox=box, refine_by=ratio, sim_time=float(step.time), periodicity=(False,) * 3,
                             dataset_name="%s, step %d" % (step.path, step.number))

"""The bounds of a step, and the sampling of variables of patches on one grid."""
import math
import os

import numpy as np

from . import _arguments
from ._errors import step_error

# A position closer to a border than this fraction of a cell lies on the border.
_TOLERANCE = 1e-6
_MAX_ALONG_AXIS = 10**8
_FARTHEST = 2**52    # limit in cells from the origin; beyond this limit, a float cannot represent the middles of cells


def corners(step):
    """Returns the lowest and highest positions of the patches: two arrays, n x 3. The positions of curvilinear grids, meshes and
    lists of points are undefined."""
    level = step.patches["level"]
    lower, upper = step.patches["lower"], step.patches["upper"] + step._extra_nodes[level]
    if step.axes:
        return tuple(np.stack([axis.positions[ends[:, a] - axis.first] for a, axis in enumerate(step.axes)], 1)
                     for ends in (lower, upper))
    spacing = step.levels["spacing"][level]
    return step.origin + lower * spacing, step.origin + upper * spacing


def bounds(step):
    """Implements Step.bounds."""
    points = np.array(step.level_roles)[step.patches["level"]] == "points"
    if step.coordinates:
        read = step.read(step.coordinates).values()
        positions = [values.reshape(-1, values.shape[-1]) for values in read if values.size]
    else:
        positions = [corner[~points] for corner in corners(step)]
        positions += [step.positions(patch) for patch in np.flatnonzero(points)]
    positions = [p for p in positions if len(p)]
    if not positions:
        return (math.nan,) * 6
    found = []
    for axis in range(3):
        has = axis < positions[0].shape[1]    # positions of two components lie in the plane z = 0
        found += [float(end([end(p[:, axis]) for p in positions])) if has else 0.0 for end in (min, max)]
    return tuple(found)


def new_grid(step, shape, dtype, fill):
    """Returns np.full(shape, fill, dtype). Raises Error if the free memory is insufficient."""
    size = math.prod(int(n) for n in shape) * dtype.itemsize
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        pass
    if size > free:
        raise step_error(step, "a grid of %s values needs %.3g GB of memory, but only %.3g GB are free. Choose a coarser level or smaller bounds.",
                     " x ".join(str(n) for n in shape), size / 1e9, free / 1e9)
    return np.full(shape, fill, dtype)


def _indices_along(nodes, positions, centering):
    """Returns the slice of the ascending `positions` that a patch covers along an axis, and the index of the patch's value at each of the
    positions in the slice. nodes: positions of the patch's nodes along the axis."""
    if len(nodes) == 1:    # a patch without thickness
        tolerance = _TOLERANCE * max(1, abs(nodes[0]))
        first, last = np.searchsorted(positions, [nodes[0] - tolerance, nodes[0] + tolerance])
        return slice(first, last), np.zeros(last - first, int)
    tolerance = _TOLERANCE * np.diff(nodes).min()
    if centering == "cell":
        first, last = np.searchsorted(positions, nodes[[0, -1]] - tolerance)
        borders = nodes[1:-1]
    else:
        first, last = np.searchsorted(positions, nodes[0] - tolerance), np.searchsorted(positions, nodes[-1] + tolerance, "right")
        borders = 0.5 * (nodes[1:] + nodes[:-1])
    return slice(first, last), np.searchsorted(borders, positions[first:last] + tolerance, "right")


def copy_to_grid(step, centering, arrays, axes, grid):
    """Copies the arrays of patches to a grid. Finer patches overwrite coarser patches.

    arrays    {patch: array}
    axes      positions of the grid's values along x, y (and z)
    grid      array [k, j, i] or [j, i], which receives the values
    """
    # If patches of a level overlap, cells come from the patch with the lowest number, as in covered(), and nodes from the highest number.
    order = sorted(arrays, key=lambda patch: (step.patches["level"][patch], -patch if centering == "cell" else patch))
    for patch in order:
        found = [_indices_along(nodes, at, centering) for nodes, at in zip(step.nodes(patch), axes)]
        where = tuple(part for part, _ in reversed(found))
        grid[where] = arrays[patch][np.ix_(*(index for _, index in reversed(found)))]


def check_can_sample(step):
    """Raises Error for meshes and curvilinear grids, which cannot be sampled on one grid."""
    if step.mesh:
        raise step_error(step, "cannot sample a grid of type %s on one grid. Use read() with the names in `mesh` for its points and cells." % step.grid)
    if step.coordinates:
        raise step_error(step, "cannot sample a curvilinear grid on one grid. Use to_pyvista() instead.")


def patches_with(step, name):
    """Returns the numbers of the patches that have a variable. Raises Error if no patch has the variable, or if the variable cannot be
    sampled on one grid."""
    step._variable_number(name)
    check_can_sample(step)
    patches = np.flatnonzero(step._presence_of(name))
    roles = np.array(step.level_roles)[step.patches["level"][patches]]
    if (roles == "points").any():
        raise step_error(step, "'%s' has values at scattered points, not on a grid. Use Step.positions() for their positions.", name)
    if not patches.size:
        raise step_error(step, "no patch has '%s'.", name)
    return patches


def positions_of_level(step, level, centering, low, high):
    """Returns the positions of a level's cells or nodes along each axis, between the corners `low` and `high`, extended to whole cells.
    Raises Error if there are too many cells, or the corners are too far from the data."""
    axes = []
    for axis in range(step.dimension):
        if step.axes:
            nodes = step.axes[axis].positions
            nodes = nodes[max(np.searchsorted(nodes, low[axis], "right") - 1, 0):np.searchsorted(nodes, high[axis]) + 1]
        else:
            spacing = step.levels["spacing"][level][axis]
            with np.errstate(over="ignore", invalid="ignore"):
                ends = (np.array([low[axis], high[axis]]) - step.origin[axis]) / spacing
                first, last = np.floor(ends[0] + _TOLERANCE), np.ceil(ends[1] - _TOLERANCE)
            if not last - first <= _MAX_ALONG_AXIS:
                raise step_error(step, "a grid of %.9g cells along an axis is too large. Choose a coarser level or smaller bounds.", last - first)
            if not max(-first, last) <= _FARTHEST:
                raise step_error(step, "bounds %g to %g are too far from the data. Choose bounds near the data.", low[axis], high[axis])
            nodes = step.origin[axis] + np.arange(first, last + 1) * spacing
        axes.append(0.5 * (nodes[1:] + nodes[:-1]) if centering == "cell" and len(nodes) > 1 else nodes)
    return axes


def _positions_of_shape(step, shape, centering, low, high):
    """Returns the positions of `shape` cells or nodes along each axis, evenly spaced between the corners `low` and `high`."""
    condition = "%d whole numbers from 1 to %d" % (step.dimension, _MAX_ALONG_AXIS)
    counts = _arguments.integers(shape, "shape", condition, 1, _MAX_ALONG_AXIS)
    if counts.shape != (step.dimension,):
        raise _arguments.argument_error(ValueError, "shape", condition, shape)
    axes = []
    for axis, count in enumerate(counts[::-1].tolist()):
        middle = (np.arange(count) + 0.5) / count
        part = np.linspace(0, 1, count) if centering == "node" and count > 1 else middle
        axes.append(low[axis] + part * (high[axis] - low[axis]))
    return axes


def _region(step, bounds, low, high):
    """Returns the two corners of `bounds`; the corners around all patches if `bounds` is None. low, high: results of corners().

    Raises TypeError and ValueError if `bounds` is not a region.
    """
    if bounds is None:
        return low.min(0), high.max(0)
    condition = "%d numbers (xmin, xmax, ymin, ymax, ...)" % (2 * step.dimension)
    found = _arguments.numbers(bounds, "bounds", condition).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        widths = found[1::2] - found[:len(found) // 2 * 2:2]
    if len(found) not in (6, 2 * step.dimension) or not np.isfinite(widths).all() or (widths < 0).any():
        raise _arguments.argument_error(ValueError, "bounds", condition, bounds)
    if len(found) == 4:
        found = np.append(found, [low[:, 2].min(), high[:, 2].max()])
    return found[::2], found[1::2]


def patches_near(step, patches, bounds):
    """Returns the patches among `patches` that touch the region `bounds`, six numbers, or four in two dimensions. Also returns all lists of points,
    curvilinear grids and partitions of meshes, because their positions are unknown without reading."""
    if not step.axes and step.grid != "uniform":
        return patches
    low, high = corners(step)
    first, last = _region(step, bounds, low, high)
    near = ((low <= last) & (high >= first)).all(1) | (np.array(step.level_roles)[step.patches["level"]] == "points")
    return [patch for patch in patches if near[patch]]


def uniform_grid(step, name, level, shape, bounds, outside):
    """Implements Step.uniform_grid()."""
    if level is not None and shape is not None:
        raise ValueError("give either level or shape, not both")
    outside = _arguments.array(outside, "outside", "a number", "biuf")
    if outside.ndim:
        raise _arguments.argument_error(TypeError, "outside", "a number", outside)
    number = step._level_number(0 if level is None else level)
    patches = patches_with(step, name)
    variable = step.variables[name]
    low, high = (corner[patches] for corner in corners(step))
    first, last = _region(step, bounds, low, high)
    if shape is None:
        axes = positions_of_level(step, number, variable.centering, first, last)
    else:
        axes = _positions_of_shape(step, shape, variable.centering, first, last)
    component_axis = (variable.components,) if variable.components > 1 else ()
    dtype = np.promote_types(step.dtype(name), np.min_scalar_type(outside))
    grid = new_grid(step, tuple(len(at) for at in reversed(axes)) + component_axis, dtype, outside)
    meet = ((low <= [at[-1] for at in axes] + [last[2]] * (3 - len(axes)))
            & (high >= [at[0] for at in axes] + [first[2]] * (3 - len(axes)))).all(1)
    copy_to_grid(step, variable.centering, step.read(name, patches=patches[meet]), axes, grid)
    return grid, tuple(axes)

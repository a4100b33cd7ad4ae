"""Functions for the bounds of a step, and for sampling the variables of patches on one grid."""
import math
import os

import numpy as np

from . import _arguments
from ._errors import step_error

# A position closer to a border than this fraction of a cell lies on the border.
_CLOSE = 1e-6
_MOST_ALONG_AXIS = 10**8
_FARTHEST = 2**52    # limit in cells from the origin; a float cannot represent the middles of cells beyond


def corners(step):
    """Returns the lowest and highest positions of the patches: two arrays, n x 3. The result is meaningless for curvilinear
    grids and lists of points."""
    level = step.patches["level"]
    more = (np.arange(3) < step.dimension) & ~np.array(step._flat, bool).reshape(-1, 3)[level]
    lower, upper = step.patches["lower"], step.patches["upper"] + more
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
        places = [values.reshape(-1, values.shape[-1]) for values in read if values.size]
    else:
        places = [corner[~points] for corner in corners(step)]
        places += [step.positions(patch) for patch in np.flatnonzero(points)]
    places = [p for p in places if len(p)]
    if not places:
        return (math.nan,) * 6
    found = []
    for axis in range(3):
        has = axis < places[0].shape[1]    # positions of two components lie in the plane z = 0
        found += [float(end([end(p[:, axis]) for p in places])) if has else 0.0 for end in (min, max)]
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


def _along(nodes, at, centering):
    """Returns the slice of the ascending positions `at` that a patch covers along an axis, and the index of the patch's value at each
    position."""
    if len(nodes) == 1:    # a patch without thickness
        little = _CLOSE * max(1, abs(nodes[0]))
        first, last = np.searchsorted(at, [nodes[0] - little, nodes[0] + little])
        return slice(first, last), np.zeros(last - first, int)
    little = _CLOSE * np.diff(nodes).min()
    if centering == "cell":
        first, last = np.searchsorted(at, nodes[[0, -1]] - little)
        borders = nodes[1:-1]
    else:
        first, last = np.searchsorted(at, nodes[0] - little), np.searchsorted(at, nodes[-1] + little, "right")
        borders = 0.5 * (nodes[1:] + nodes[:-1])
    return slice(first, last), np.searchsorted(borders, at[first:last] + little, "right")


def paint(step, centering, arrays, axes, grid, filled=None):
    """Copies the arrays of patches, {patch: array}, to a grid with the positions `axes` along x, y, z. Finer patches overwrite coarser ones.

    filled    array of bool, set to True where a value was copied
    """
    # If patches of a level overlap, cells come from the patch with the lowest number, as in covered(), and nodes from the highest number.
    order = sorted(arrays, key=lambda patch: (step.patches["level"][patch], -patch if centering == "cell" else patch))
    for patch in order:
        found = [_along(nodes, at, centering) for nodes, at in zip(step.nodes(patch), axes)]
        where = tuple(part for part, _ in reversed(found))
        grid[where] = arrays[patch][np.ix_(*(index for _, index in reversed(found)))]
        if filled is not None:
            filled[where] = True


def check_boxes(step):
    """Raises Error if the patches cannot be put on one grid."""
    if step.mesh:
        raise step_error(step, "cannot sample a grid of type %s on one grid. Use read() with the names in `mesh` for its points and cells." % step.grid)
    if step.coordinates:
        raise step_error(step, "cannot sample a curvilinear grid on one grid. Use to_pyvista() instead.")


def patches_with(step, name):
    """Returns the numbers of the patches that have a variable. Raises Error if they cannot be put on a grid."""
    step._number(name)
    check_boxes(step)
    patches = np.flatnonzero(step.presence[list(step.variables).index(name)])
    roles = np.array(step.level_roles)[step.patches["level"][patches]]
    if (roles == "points").any():
        raise step_error(step, "'%s' has values at scattered points, not on a grid. Use Step.positions() for their positions.", name)
    if not patches.size:
        raise step_error(step, "no patch has '%s'.", name)
    return patches


def positions_of_level(step, level, centering, low, high):
    """Returns the positions of a level's cells or nodes along each axis. `low`, `high`: corners, extended to whole cells."""
    axes = []
    for axis in range(step.dimension):
        if step.axes:
            nodes = step.axes[axis].positions
            nodes = nodes[max(np.searchsorted(nodes, low[axis], "right") - 1, 0):np.searchsorted(nodes, high[axis]) + 1]
        else:
            spacing = step.levels["spacing"][level][axis]
            with np.errstate(over="ignore", invalid="ignore"):
                ends = (np.array([low[axis], high[axis]]) - step.origin[axis]) / spacing
                first, last = np.floor(ends[0] + _CLOSE), np.ceil(ends[1] - _CLOSE)
            if not last - first <= _MOST_ALONG_AXIS:
                raise step_error(step, "a grid of %.9g cells along an axis is too large. Choose a coarser level or smaller bounds.", last - first)
            if not max(-first, last) <= _FARTHEST:
                raise step_error(step, "bounds %g to %g are too far from the data. Choose bounds near the data.", low[axis], high[axis])
            nodes = step.origin[axis] + np.arange(first, last + 1) * spacing
        axes.append(0.5 * (nodes[1:] + nodes[:-1]) if centering == "cell" and len(nodes) > 1 else nodes)
    return axes


def _positions_of_shape(step, shape, centering, low, high):
    words = "%d whole numbers from 1 to %d" % (step.dimension, _MOST_ALONG_AXIS)
    counts = _arguments.wholes(shape, "shape", words, 1, _MOST_ALONG_AXIS)
    if counts.shape != (step.dimension,):
        raise _arguments.wrong(ValueError, "shape", words, shape)
    axes = []
    for axis, count in enumerate(counts[::-1].tolist()):
        middle = (np.arange(count) + 0.5) / count
        part = np.linspace(0, 1, count) if centering == "node" and count > 1 else middle
        axes.append(low[axis] + part * (high[axis] - low[axis]))
    return axes


def _region(step, given, low, high):
    """Returns the two corners of the given bounds; the corners of all patches if `given` is None."""
    if given is None:
        return low.min(0), high.max(0)
    words = "%d numbers (xmin, xmax, ymin, ymax, ...)" % (2 * step.dimension)
    found = _arguments.numbers(given, "bounds", words).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        widths = found[1::2] - found[:len(found) // 2 * 2:2]
    if len(found) not in (6, 2 * step.dimension) or not np.isfinite(widths).all() or (widths < 0).any():
        raise _arguments.wrong(ValueError, "bounds", words, given)
    if len(found) == 4:
        found = np.append(found, [low[:, 2].min(), high[:, 2].max()])
    return found[::2], found[1::2]


def patches_near(step, patches, given):
    """Returns the patches that touch the region `given`, six numbers, or four in two dimensions. Also returns all lists of points,
    deformed patches and meshes, whose positions are unknown."""
    if not step.axes and step.grid != "uniform":
        return patches
    low, high = corners(step)
    first, last = _region(step, given, low, high)
    near = ((low <= last) & (high >= first)).all(1) | (np.array(step.level_roles)[step.patches["level"]] == "points")
    return [patch for patch in patches if near[patch]]


def uniform_grid(step, name, level, shape, given, outside):
    """Implements Step.uniform_grid()."""
    if level is not None and shape is not None:
        raise ValueError("give either level or shape, not both")
    outside = _arguments.array(outside, "outside", "a number", "biuf")
    if outside.ndim:
        raise _arguments.wrong(TypeError, "outside", "a number", outside)
    number = step._level(0 if level is None else level)
    patches = patches_with(step, name)
    variable = step.variables[name]
    low, high = (corner[patches] for corner in corners(step))
    first, last = _region(step, given, low, high)
    if shape is None:
        axes = positions_of_level(step, number, variable.centering, first, last)
    else:
        axes = _positions_of_shape(step, shape, variable.centering, first, last)
    more = (variable.components,) if variable.components > 1 else ()
    dtype = np.promote_types(step.dtype(name), np.min_scalar_type(outside))
    grid = new_grid(step, tuple(len(at) for at in reversed(axes)) + more, dtype, outside)
    meet = ((low <= [at[-1] for at in axes] + [last[2]] * (3 - len(axes)))
            & (high >= [at[0] for at in axes] + [first[2]] * (3 - len(axes)))).all(1)
    paint(step, variable.centering, step.read(name, patches=patches[meet]), axes, grid)
    return grid, tuple(axes)

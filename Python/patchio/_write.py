"""Writing containers from numpy arrays."""
import os

import numpy as np

from . import _core, _errors


def write(path, values, *, step=0, time=None, lower=None, level=None, spacing=1.0, origin=0.0, ratio=2, nodes=(), compress="off",
          overwrite=False, threads=2):
    """Adds a time step to the container `path`, a folder NAME.pio, which is made if it is not there.

        patchio.write("run.pio", {"density": array}, step=10, time=0.5, spacing=0.1)          # one box
        patchio.write("run.pio", {"density": [a, b, c]}, lower=[[0, 0, 0], [8, 0, 0], [4, 4, 4]], level=[0, 0, 1])

    values     {name: array} for a single box, else {name: [array, ...]}, one a patch; None where a patch lacks the variable.
               Arrays have their slowest axis first: [k, j, i] or [j, i], with one axis more at the end if there are several
               components. Types: float32, float64, int32, int64, int16, uint16, uint8
    step       number of the step; each once in a container
    time       its time; by default its number
    lower      n x 3 (or n x 2): lowest cell of each patch, counted in cells of its level; by default 0 for a single box
    level      n numbers, not falling: the level of each patch, from 0, the coarsest; by default 0 for all
    spacing    size of a cell of level 0, one number or one an axis (x, y, z)
    origin     position of the lower corner of cell (0, 0, 0), one number or one an axis
    ratio      cells in one of the next coarser level: a number, or one for each level above 0
    nodes      names of variables that lie at nodes: their arrays have one value more along each axis than there are cells
    compress   "off"; "deflate", which all that read HDF5 can read; "zstd", which is faster, but others need HDF5's plugin for it;
               "auto": deflate for those variables that become at least a tenth smaller
    overwrite  begin the container anew
    threads    that write at once

    The step is in the container, and on the storage, when this returns. Raises Error if it is there already, if another program
    writes the container, or if the storage fails; ValueError or TypeError for arrays that do not fit each other.
    """
    single = not any(isinstance(value, (list, tuple)) for value in values.values())
    arrays = {name: [np.asarray(value)] if single else [None if a is None else np.asarray(a) for a in value] for name, value in values.items()}
    places = _Places(arrays, lower, level, set(nodes))
    variables, given = [], []
    for name, patches in arrays.items():
        kinds = {(a.dtype.name, a.shape[places.dimension:]) for a in patches if a is not None}
        if len(kinds) != 1:
            raise ValueError("arrays of '%s' need one type and one number of components, not %s" % (name, sorted(kinds) or "none at all"))
        dtype, components = kinds.pop()
        variables.append((str(name), name in nodes, int(components[0]) if components else 1, dtype))
        for patch, array in enumerate(patches):
            if array is not None:
                given.append((patch, len(variables) - 1, np.ascontiguousarray(array, array.dtype.newbyteorder("="))))
    levels = _levels(places.level, spacing, ratio, places.dimension)
    _core.write(os.fspath(path), overwrite, int(step), float(step if time is None else time), places.dimension,
                _triple(origin, "origin", 0.0), levels, places.boxes, variables, given, str(compress),
                _errors.whole(threads, "threads is a number"))


class _Places:
    """Dimension, boxes and levels of the patches, from what is given and from the shapes of arrays."""

    def __init__(self, arrays, lower, level, nodes):
        counts = {len(patches) for patches in arrays.values()}
        if len(counts) != 1:
            raise ValueError("each variable needs an array, or None, for each patch; there are lists of %s"
                             % (" and ".join(map(str, sorted(counts))) or "no variable"))
        unknown = nodes - set(arrays)
        if unknown:
            raise ValueError("nodes names '%s', which is not among the values" % sorted(unknown)[0])
        count = counts.pop()
        least = min((a.ndim for patches in arrays.values() for a in patches if a is not None), default=3)
        lower = np.zeros((1, min(least, 3)), int) if lower is None and count == 1 else np.asarray(lower)
        if lower.ndim != 2 or lower.shape[0] != count or lower.shape[1] not in (2, 3) or lower.dtype.kind not in "iu":
            raise ValueError("lower has the lowest cell of each patch: %d rows of 2 or 3 whole numbers" % count)
        self.dimension = lower.shape[1]
        self.level = np.zeros(count, int) if level is None else np.asarray(level)
        if self.level.shape != (count,) or self.level.dtype.kind not in "iu" or (np.diff(self.level) < 0).any() or (self.level < 0).any():
            raise ValueError("level has a number for each of the %d patches, from 0 on, in rising order" % count)
        self.boxes = [self._box(patch, lower[patch], arrays, nodes) for patch in range(count)]

    def _box(self, patch, lower, arrays, nodes):
        shapes = {}
        for name, patches in arrays.items():
            array = patches[patch]
            if array is not None:
                if array.ndim not in (self.dimension, self.dimension + 1):
                    raise ValueError("'%s' on patch %d has %d axes, not %d or, with components, %d"
                                     % (name, patch, array.ndim, self.dimension, self.dimension + 1))
                shapes.setdefault(tuple(n - (name in nodes) for n in array.shape[:self.dimension]), name)
        if len(shapes) != 1:
            raise ValueError("patch %d needs arrays of one shape, not %s" % (patch, sorted(shapes) or "none at all"))
        cells = shapes.popitem()[0][::-1]
        rest = [0] * (3 - self.dimension)
        if min(cells) < 1:
            raise ValueError("patch %d has no cells" % patch)
        return [int(n) for n in lower] + rest, [int(n + c - 1) for n, c in zip(lower, cells)] + rest


def _triple(value, name, rest):
    numbers = np.atleast_1d(np.asarray(value, float))
    if numbers.shape == (1,):
        return [float(numbers[0])] * 3
    if numbers.shape not in ((2,), (3,)):
        raise ValueError("%s is a number, or one an axis" % name)
    return [float(n) for n in numbers] + [rest] * (3 - len(numbers))


def _levels(level, spacing, ratio, dimension):
    """(ratio, spacing, number of patches) of each level."""
    count = int(level.max()) + 1 if len(level) else 1
    ratios = [1] + ([ratio] * (count - 1) if np.ndim(ratio) == 0 else list(ratio))
    if len(ratios) != count:
        raise ValueError("ratio is a number, or one for each of the %d levels above 0" % (count - 1))
    cell, levels = _triple(spacing, "spacing", 1.0), []
    for number, finer in enumerate(ratios):
        finer = [_errors.whole(finer, "ratio is a whole number") if axis < dimension else 1 for axis in range(3)]
        cell = [size / r for size, r in zip(cell, finer)]
        levels.append((finer, cell, int((level == number).sum())))
    return levels

"""Writing containers from numpy arrays."""
import os

import numpy as np

from . import _core, _errors


def write(path, values, *, step=0, time=None, lower=None, level=None, spacing=1.0, origin=0.0, ratio=2, nodes=(), dimension=None,
          compress="off", overwrite=False, threads=2):
    """Adds a time step to the container `path`, a folder NAME.pio, which is made if it is not there.

        patchio.write("run.pio", {"density": array}, step=10, time=0.5, spacing=0.1)          # one box
        patchio.write("run.pio", {"density": [a, b, c]}, lower=[[0, 0, 0], [8, 0, 0], [4, 4, 4]], level=[0, 0, 1])

    values     {name: array} for a single box, else {name: [array, ...]}, one a patch; None where a patch lacks the variable.
               Arrays have their slowest axis first: [k, j, i] or [j, i], with one axis more at the end if there are several
               components. Types: float32, float64, and int and uint of 8, 16, 32 and 64 bits
    step       number of the step, from 0; each once in a container
    time       its time, a finite number; by default the step's number
    lower      n x 3 (or n x 2): lowest cell of each patch, counted in cells of its level; by default 0 for a single box. Patches of a level
               must not overlap
    level      n numbers, not falling: the level of each patch, from 0, the coarsest; by default 0 for all
    spacing    size of a cell of level 0, one number or one an axis (x, y, z)
    origin     position of the lower corner of cell (0, 0, 0), one number or one an axis
    ratio      cells in one of the next coarser level: a number, or one for each level above 0
    nodes      names of variables that lie at nodes: their arrays have one value more along each axis than there are cells
    dimension  2 or 3. By default `lower` says it, or the arrays of a single box. Needed where all arrays of a single box have three axes and
               the last has a length of 2 or 3: an array (20, 30, 2) is a vector in two dimensions, or a scalar in three
    compress   "off"; "deflate", which all that read HDF5 can read; "zstd", which is faster, but others need HDF5's plugin for it;
               "auto": deflate for those variables that become at least a tenth smaller
    overwrite  begin the container anew
    threads    that write at once

    The step is in the container, and on the storage, when this returns. Raises Error if it is there already, if another program
    writes the container, or if the storage fails; ValueError or TypeError for arrays that do not fit each other.
    """
    if not hasattr(values, "items"):
        raise TypeError("values is a dict of arrays by name, not %s" % type(values).__name__)
    step = _errors.whole(step, "step is a whole number")
    if not 0 <= step <= _MOST_STEP:
        raise ValueError("step is a number from 0 to %d, not %d" % (_MOST_STEP, step))
    if isinstance(nodes, (str, bytes)):
        raise TypeError("nodes is a list of names, not the text %r: [%r]" % (nodes, nodes))
    single = not any(isinstance(value, (list, tuple)) for value in values.values())
    arrays = {str(name): _arrays(name, value, single) for name, value in values.items()}
    places = _Places(arrays, lower, level, set(nodes), dimension)
    variables, given = [], []
    for name, patches in arrays.items():
        kinds = {(a.dtype.name, a.shape[places.dimension:]) for a in patches if a is not None}
        if len(kinds) != 1:
            raise ValueError("arrays of '%s' need one type and one number of components, not %s" % (name, sorted(kinds) or "none at all"))
        dtype, components = kinds.pop()
        if components and not 1 <= components[0] <= _MOST_COMPONENTS:
            raise ValueError("'%s' has %d components, not 1 to %d" % (name, components[0], _MOST_COMPONENTS))
        variables.append((name, name in nodes, int(components[0]) if components else 1, dtype))
        for patch, array in enumerate(patches):
            if array is not None:
                given.append((patch, len(variables) - 1, np.ascontiguousarray(array, array.dtype.newbyteorder("="))))
    levels = _levels(places.level, spacing, ratio, places.dimension)
    threads = _errors.whole(threads, "threads is a number")
    if not 1 <= threads <= _MOST_THREADS:
        raise ValueError("threads is a number from 1 to %d, not %d" % (_MOST_THREADS, threads))
    _core.write(os.fspath(path), bool(overwrite), step, _number(step if time is None else time, "time"), places.dimension,
                _triple(origin, "origin", 0.0), levels, places.boxes, variables, given, str(compress), threads)


_TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_MOST_STEP, _MOST_CELL, _MOST_COMPONENTS, _MOST_THREADS, _MOST_RATIO, _MOST_LEVELS = 2**63 - 1, 2**30, 2**20, 4096, 1024, 1000


def _arrays(name, value, single):
    """The arrays of a variable, one a patch, of types that a container has."""
    if not str(name):
        raise ValueError("a variable needs a name, not ''")
    if not single and not isinstance(value, (list, tuple)):
        raise TypeError("'%s' is a single array, where other variables have a list of arrays, one a patch" % name)
    arrays = [np.asarray(value)] if single else [None if a is None else np.asarray(a) for a in value]
    for patch, array in enumerate(arrays):
        if array is not None and array.dtype.name not in _TYPES:
            raise TypeError("'%s' on patch %d has the type %s, not one of %s" % (name, patch, array.dtype.name, ", ".join(_TYPES)))
    return arrays


def _number(value, name):
    """A finite number as float."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError("%s is a number, not %r" % (name, value)) from None
    if not np.isfinite(number):
        raise ValueError("%s is a finite number, not %r" % (name, number))
    return number


class _Places:
    """Dimension, boxes and levels of the patches, from what is given and from the shapes of arrays."""

    def __init__(self, arrays, lower, level, nodes, dimension):
        counts = {len(patches) for patches in arrays.values()}
        if len(counts) != 1:
            raise ValueError("each variable needs an array, or None, for each patch; there are lists of %s"
                             % (" and ".join(map(str, sorted(counts))) or "no variable"))
        unknown = nodes - set(arrays)
        if unknown:
            raise ValueError("nodes names '%s', which is not among the values" % sorted(unknown)[0])
        count = counts.pop()
        if dimension not in (None, 2, 3):
            raise ValueError("dimension is 2 or 3, not %r" % (dimension,))
        if lower is None and count == 1:
            lower = np.zeros((1, dimension or _dimension_of(arrays, nodes)), int)
        lower = np.asarray(lower)
        if lower.ndim != 2 or lower.shape[0] != count or lower.shape[1] not in (2, 3) or lower.dtype.kind not in "iu":
            raise ValueError("lower has the lowest cell of each patch: %d rows of 2 or 3 whole numbers" % count)
        if (abs(lower.astype(object)) > _MOST_CELL).any():
            raise ValueError("lower has cells from %d to %d, not %s" % (-_MOST_CELL, _MOST_CELL, lower.ravel()[np.argmax(abs(lower.astype(object)))]))
        self.dimension = lower.shape[1]
        if dimension not in (None, self.dimension):
            raise ValueError("lower has %d numbers a patch, and dimension is %d" % (self.dimension, dimension))
        self.level = np.zeros(count, int) if level is None else np.asarray(level)
        if self.level.shape != (count,) or self.level.dtype.kind not in "iu" or (np.diff(self.level) < 0).any() or (self.level < 0).any():
            raise ValueError("level has a number for each of the %d patches, from 0 on, in rising order" % count)
        if count and self.level[-1] >= _MOST_LEVELS:
            raise ValueError("level has numbers below %d, not %d" % (_MOST_LEVELS, self.level[-1]))
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


def _dimension_of(arrays, nodes):
    """That of a single box, from the axes of its arrays. Raises ValueError where they may be vectors or not."""
    given = {name: patches[0] for name, patches in arrays.items() if patches and patches[0] is not None}
    axes = {array.ndim for array in given.values()}
    if axes == {3} and all(array.shape[2] - (name in nodes) in (2, 3) for name, array in given.items()):
        name, array = next(iter(given.items()))
        raise ValueError("'%s' has the shape %s: give dimension=2 if it has %d components in two dimensions, or dimension=3 if it is a scalar in three"
                         % (name, array.shape, array.shape[2]))
    return max(2, min(axes | {3}))


def _triple(value, name, rest):
    try:
        numbers = np.atleast_1d(np.asarray(value, float))
    except (TypeError, ValueError):
        raise TypeError("%s is a number, or one an axis, not %r" % (name, value)) from None
    if not np.isfinite(numbers).all():
        raise ValueError("%s has finite numbers, not %r" % (name, value))
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
    if min(cell) <= 0:
        raise ValueError("spacing is above 0, not %r" % (spacing,))
    for number, finer in enumerate(ratios):
        finer = _errors.whole(finer, "ratio is a whole number")
        if not 1 <= finer <= _MOST_RATIO:
            raise ValueError("ratio is a number from 1 to %d, not %d" % (_MOST_RATIO, finer))
        finer = [finer if axis < dimension else 1 for axis in range(3)]
        cell = [size / r for size, r in zip(cell, finer)]
        levels.append((finer, cell, int((level == number).sum())))
    return levels

"""The function write(), which writes numpy arrays to containers."""
import collections.abc

import numpy as np

from . import _arguments, _core, _threads


def write(path, values, *, step=0, time=None, lower=None, level=None, spacing=1.0, origin=0.0, ratio=2, nodes=(), dimension=None,
          compress="off", overwrite=False, threads=2):
    """Adds a time step to the container `path`, a folder NAME.pio, which is created if needed.

        patchio.write("run.pio", {"density": array}, step=10, time=0.5, spacing=0.1)          # one box
        patchio.write("run.pio", {"density": [a, b, c]}, lower=[[0, 0, 0], [8, 0, 0], [4, 4, 4]], level=[0, 0, 1])

    values     {name: array} for a single box, otherwise {name: [array, ...]}, one per patch; None if a patch lacks the variable.
               Arrays have their slowest axis first: [k, j, i] or [j, i], with one axis more at the end if there are several
               components. Types: float32, float64, and int and uint of 8, 16, 32 and 64 bits. Masked values are an error
    step       number of the step, from 0; the steps of a container have different numbers
    time       time of the step, a finite number; by default the step's number
    lower      n x 3 (or n x 2): lowest cell of each patch, in cells of the patch's level; by default 0 for a single box. Patches
               of a level must not overlap
    level      n numbers in ascending order: the level of each patch, from 0, the coarsest; by default 0 for all patches
    spacing    size of a cell of level 0, one number or one per axis (x, y, z)
    origin     position of the lower corner of cell (0, 0, 0), one number or one per axis
    ratio      cells per axis in one cell of the next coarser level: a number, or one for each level above 0
    nodes      name or names of variables at nodes, whose arrays have one value more along each axis than there are cells
    dimension  2 or 3. By default, the dimension follows from `lower`, or from the arrays of a single box. The argument is needed if
               all arrays of a single box have three axes and the last axis has a length of 2 or 3: an array (20, 30, 2) may be a
               vector in two dimensions, or a scalar in three
    compress   "off"; "deflate", which every program with HDF5 can read; "zstd", which is faster, but other programs need the HDF5
               plugin for zstd; "auto": deflate for variables that become at least a tenth smaller
    overwrite  True: replace an existing container
    threads    number of threads that write

    When this function returns, the step is in the container and on the storage. Raises Error if the container has the step already,
    if another program writes to the container, or if the storage fails. Raises ValueError or TypeError for wrong arguments and for
    arrays that do not fit each other.
    """
    path, overwrite = _arguments.file_name(path, "path"), _arguments.flag(overwrite, "overwrite")
    step = _arguments.integer(step, "step", "a whole number from 0 to %d" % _MAX_STEP, 0, _MAX_STEP)
    time = float(step) if time is None else _arguments.number(time, "time", "a finite number")
    compress = _arguments.choice(compress, "compress", ("off", "deflate", "zstd", "auto"))
    threads = _arguments.integer(threads, "threads", "a whole number from 1 to %d" % _threads.MAX_THREADS, 1, _threads.MAX_THREADS)
    threads = _threads.usable_threads(threads)
    nodes = {_arguments.text(name, "nodes", "a list of names") for name in _arguments.as_list(nodes)}
    arrays = _arrays_of(values)
    geometry = _PatchBoxes(arrays, lower, level, nodes, dimension)
    variables, buffers = [], []
    for name, patches in arrays.items():
        types = {(a.dtype.name, a.shape[geometry.dimension:]) for a in patches if a is not None}
        if len(types) != 1:
            raise ValueError("arrays of '%s' need one type and one number of components, found %s" % (name, sorted(types) or "no array"))
        dtype, components = types.pop()
        if components and not 1 <= components[0] <= _MAX_COMPONENTS:
            raise ValueError("'%s' has %d components, not 1 to %d" % (name, components[0], _MAX_COMPONENTS))
        variables.append((name, name in nodes, int(components[0]) if components else 1, dtype))
        for patch, array in enumerate(patches):
            if array is not None:
                buffers.append((patch, len(variables) - 1, np.ascontiguousarray(array, array.dtype.newbyteorder("="))))
    levels = _levels(geometry.level, spacing, ratio, geometry.dimension)
    _core.write(path, overwrite, step, time, geometry.dimension, _per_axis(origin, "origin", 0.0), levels, geometry.boxes, variables, buffers,
                compress, threads)


_TYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_MAX_STEP, _MAX_CELL, _MAX_COMPONENTS, _MAX_RATIO, _MAX_LEVELS = 2**63 - 1, 2**30, 2**20, 1024, 1000


def _arrays_of(values):
    """Returns {name: [array, ...]}, one array per patch, of types that containers support; None if a patch lacks the variable."""
    if not isinstance(values, collections.abc.Mapping):
        raise _arguments.argument_error(TypeError, "values", "a dict of arrays by name", values)
    single = not any(isinstance(value, (list, tuple)) for value in values.values())
    arrays = {}
    for name, value in values.items():
        if not _arguments.text(name, "the name of a variable"):
            raise ValueError("the name of a variable must not be empty")
        if not single and not isinstance(value, (list, tuple)):
            raise TypeError("'%s' must be a list of arrays, one per patch, because another variable has such a list" % name)
        arrays[name] = [None if array is None and not single else _array(name, patch, array)
                        for patch, array in enumerate([value] if single else value)]
    return arrays


def _array(name, patch, value):
    """Returns a value of `values` as an array of a type that containers support. Raises TypeError for other types."""
    name, condition = "'%s' on patch %d" % (name, patch), "an array of numbers"
    array = _arguments.array(value, name, condition, "biufc")
    if array.dtype.name not in _TYPES:
        raise TypeError("%s must have one of the types %s, not %s" % (name, ", ".join(_TYPES), array.dtype.name))
    return array


class _PatchBoxes:
    """The dimension, boxes and levels of the patches, from the arguments of write() and the shapes of the arrays.

    Raises TypeError and ValueError if the arguments or the arrays do not fit each other.
    """

    def __init__(self, arrays, lower, level, nodes, dimension):
        counts = {len(patches) for patches in arrays.values()}
        if len(counts) != 1 or 0 in counts:
            raise ValueError("values must have an array, or None, for each patch and each variable, found %s"
                             % ("lists of length " + " and ".join(map(str, sorted(counts))) if counts else "no variables"))
        unknown = nodes - set(arrays)
        if unknown:
            raise ValueError("nodes contains '%s', which is not a name in values" % sorted(unknown)[0])
        count = counts.pop()
        if dimension is not None:
            dimension = _arguments.integer(dimension, "dimension", "2 or 3", 2, 3)
        if lower is None and count == 1:
            lower = np.zeros((1, dimension or _dimension_of(arrays, nodes)), int)
        condition = "the lowest cell of each patch, %d rows of 2 or 3 whole numbers from %d to %d" % (count, -_MAX_CELL, _MAX_CELL)
        cells = _arguments.integers(lower, "lower", condition, -_MAX_CELL, _MAX_CELL)
        if cells.shape not in ((count, 2), (count, 3)):
            raise _arguments.argument_error(ValueError, "lower", condition, lower)
        self.dimension = cells.shape[1]
        if dimension not in (None, self.dimension):
            raise ValueError("lower has %d numbers per patch, but dimension is %d" % (self.dimension, dimension))
        condition = "the level of each of the %d patches, whole numbers from 0 to %d in rising order" % (count, _MAX_LEVELS - 1)
        self.level = _arguments.integers(np.zeros(count, int) if level is None else level, "level", condition, 0, _MAX_LEVELS - 1)
        if self.level.shape != (count,) or (np.diff(self.level) < 0).any():
            raise _arguments.argument_error(ValueError, "level", condition, level)
        self.boxes = [self._box(patch, cells[patch], arrays, nodes) for patch in range(count)]

    def _box(self, patch, lower, arrays, nodes):
        """Returns the first and the last cell of a patch, from its first cell and the shape of its arrays."""
        shapes = {}
        for name, patches in arrays.items():
            array = patches[patch]
            if array is not None:
                if array.ndim not in (self.dimension, self.dimension + 1):
                    raise ValueError("'%s' on patch %d has %d axes, not %d or, with components, %d"
                                     % (name, patch, array.ndim, self.dimension, self.dimension + 1))
                shapes.setdefault(tuple(n - (name in nodes) for n in array.shape[:self.dimension]), name)
        if len(shapes) != 1:
            raise ValueError("patch %d needs arrays of one shape, found %s" % (patch, sorted(shapes) or "no array"))
        cells = shapes.popitem()[0][::-1]
        rest = [0] * (3 - self.dimension)
        if min(cells) < 1:
            raise ValueError("patch %d has no cells" % patch)
        upper = [int(n + c - 1) for n, c in zip(lower, cells)]
        if max(upper) > _MAX_CELL:
            raise ValueError("patch %d ends at cell %d, beyond the limit %d. Choose a smaller lower" % (patch, max(upper), _MAX_CELL))
        return lower.tolist() + rest, upper + rest


def _dimension_of(arrays, nodes):
    """Returns the dimension of a single box, from the axes of its arrays. Raises ValueError if the arrays may be vectors in two
    dimensions or scalars in three dimensions."""
    first_patch = {name: patches[0] for name, patches in arrays.items() if patches and patches[0] is not None}
    axes = {array.ndim for array in first_patch.values()}
    if axes == {3} and all(array.shape[2] - (name in nodes) in (2, 3) for name, array in first_patch.items()):
        name, array = next(iter(first_patch.items()))
        raise ValueError("'%s' has the shape %s: give dimension=2 if it has %d components in two dimensions, or dimension=3 if it is a scalar in three"
                         % (name, array.shape, array.shape[2]))
    return max(2, min(axes | {3}))


def _per_axis(value, name, rest):
    """Returns a list of three numbers from one number for all axes, or from one number per axis. Missing axes get the number `rest`."""
    condition = "a finite number, or one for each axis"
    numbers = np.atleast_1d(_arguments.numbers(value, name, condition))
    if numbers.shape not in ((1,), (2,), (3,)):
        raise _arguments.argument_error(ValueError, name, condition, value)
    return numbers.tolist() * 3 if len(numbers) == 1 else numbers.tolist() + [rest] * (3 - len(numbers))


def _levels(level, spacing, ratio, dimension):
    """Returns (ratio, spacing, number of patches) of each level."""
    count = int(level.max()) + 1 if len(level) else 1
    condition = "a whole number from 1 to %d, or one for each of the %d levels above 0" % (_MAX_RATIO, count - 1)
    ratios = _arguments.integers(ratio, "ratio", condition, 1, _MAX_RATIO)
    if ratios.shape not in ((), (count - 1,)):
        raise _arguments.argument_error(ValueError, "ratio", condition, ratio)
    cell, levels = _per_axis(spacing, "spacing", 1.0), []
    if min(cell) <= 0:
        raise _arguments.argument_error(ValueError, "spacing", "above 0", spacing)
    for number, finer in enumerate([1] + np.broadcast_to(ratios, count - 1).tolist()):
        finer = [finer if axis < dimension else 1 for axis in range(3)]
        cell = [size / r for size, r in zip(cell, finer)]
        levels.append((finer, cell, int((level == number).sum())))
    return levels

"""Levels of steps as datasets of xarray. Values are read at once, or when a program indexes an array."""
import numpy as np

from . import _sampling
from ._errors import step_error
from ._optional import import_optional

_DATES = ("1678", "2261")    # first and last year of xarray's dates, which count nanoseconds
_MIN_CHUNK = 128             # cells along an axis
_HIDDEN_CELL = 32            # VTK's flag of hidden cells


# ---- one variable ----------------------------------------------------------------------------------------

def patches_of(step, name, level):
    """Returns the patches of a level that have a variable. The level None means all levels. Returns no patches if the step lacks the
    variable."""
    if name not in step.variables:
        return np.zeros(0, int)
    present = step._presence_of(name)
    return np.flatnonzero(present if level is None else present & (step.patches["level"] == level))


def _are_disjoint(lower, upper):
    """Returns whether the boxes share no cells. lower, upper: first and last cells of the boxes, n x 3."""
    return all(not ((lower[n + 1:] <= upper[n]).all(1) & (upper[n + 1:] >= lower[n]).all(1)).any() for n in range(len(lower)))


class LevelArray:
    """The patches of one level as one array, [k, j, i] and components. read() reads only the box around the indexed values.

    Cells without a patch are NaN, which turns integers into floats.

    box           first and last cell of the array; None: the bounding box of all patches of the level
    full          True: the patches fill the box; None: the class checks whether the patches fill the box
    extra_nodes   number of values minus number of cells, along x, y, z
    borders       first cells of patches along each axis, where chunks may end
    """

    def __init__(self, step, name, level, box=None, full=None):
        self.name, self.level = name, level
        variable, patches = step.variables[name], patches_of(step, name, level)
        lower, upper = step.patches["lower"][patches], step.patches["upper"][patches]
        if step.coordinates and not _are_disjoint(lower, upper):
            raise step_error(step, "patches of '%s' are in several blocks that share indices, so they are not one array. "
                                   "Use to_pyvista() instead.", name)
        # All variables of a level have the same box, so that they share the coordinates.
        of_level = step.patches[np.isin(step.patches["level"], step.patches["level"][patches])]
        self.lower, self.upper = box or (of_level["lower"].min(0), of_level["upper"].max(0))
        cells = (upper - lower + 1).astype(np.int64).prod(1).sum()
        if not step.coordinates:    # patches of a level may overlap; these blocks do not
            _, rows = step._plan_blocks([name], patches, None, "filled")
            cells = (rows["upper"] - rows["lower"] + 1).astype(np.int64).prod(1).sum()
        self.full = cells == (self.upper - self.lower + 1).astype(np.int64).prod() if full is None else full
        self.extra_nodes = step._extra_nodes[step.patches["level"][patches[0]]] * (variable.centering == "node")
        self.axes = step.dimension
        sizes = (self.upper - self.lower + 1 + self.extra_nodes)[:self.axes][::-1]
        self.shape = tuple(sizes.tolist()) + ((variable.components,) if variable.components > 1 else ())
        dtype = step.dtype(name)
        self.dtype = dtype if self.full else np.promote_types(dtype, np.float16)
        self.borders = [np.unique(lower[:, axis]) for axis in range(self.axes)][::-1]

    def read(self, step, key=()):
        """Reads and returns the values of `step` at `key`, a tuple of whole numbers and slices as for numpy."""
        key = tuple(key) + (slice(None),) * (len(self.shape) - len(key))
        picks = [range(size)[part] for size, part in zip(self.shape, key)]
        ranges = [pick if isinstance(pick, range) else range(pick, pick + 1) for pick in picks]
        if not all(len(indices) for indices in ranges):
            return np.zeros([len(pick) for pick in picks if isinstance(pick, range)], self.dtype)
        first, last = np.zeros(3, int), np.zeros(3, int)
        for axis, indices in enumerate(reversed(ranges[:self.axes])):
            # A node needs only one of its cells, but next to gaps, the existing cell may be on either side.
            most, sides = self.upper[axis] - self.lower[axis], self.extra_nodes[axis] * (not self.full)
            first[axis] = min(max(min(indices[0], indices[-1]) - sides, 0), most)
            last[axis] = min(max(max(indices[0], indices[-1]) - self.extra_nodes[axis] + sides, first[axis]), most)
        values = self._read_cells(step, first, last)
        start = list(first[:self.axes][::-1]) + [0] * (len(self.shape) - self.axes)
        index = tuple(pick - low if not isinstance(pick, range) else np.arange(pick.start, pick.stop, pick.step) - low
                      for pick, low in zip(picks, start))
        for axis, part in reversed(list(enumerate(index))):    # one axis at a time, because numpy would combine the index lists
            values = values.take(part, axis)
        return values

    def _read_cells(self, step, first, last):
        """Returns the values of the cells `first` to `last`, or of the nodes of these cells. Cell (0, 0, 0) is the first cell of the array."""
        patches = patches_of(step, self.name, self.level)
        extra_nodes = tuple(self.extra_nodes[:self.axes][::-1])
        whole = tuple(np.add((last - first + 1)[:self.axes][::-1], extra_nodes)) + self.shape[self.axes:]
        # A step may have fewer patches than the array, or no patches.
        boxes = step.patches[patches]
        low, high = self.lower + first, self.lower + last
        if patches.size:
            low, high = np.maximum(low, boxes["lower"].min(0)), np.minimum(high, boxes["upper"].max(0))
        if not patches.size or (low > high).any():
            return np.full(whole, np.nan, self.dtype)
        plan = step._core.plan_box(patches.tolist(), low.tolist(), high.tolist())
        found = step._read_blocks(plan, [self.name])[self.name].get(0)
        if found is None:
            return np.full(whole, np.nan, self.dtype)
        found = found.astype(self.dtype, copy=False)
        cells = tuple((high - low + 1)[:self.axes][::-1])
        flags = b"" if self.full else plan.flags(0)
        if flags:
            gaps = np.frombuffer(flags, np.uint8).reshape(cells) == _HIDDEN_CELL
            found[_nodes_in_gaps(gaps, extra_nodes)] = np.nan
        if found.shape == whole:
            return found
        values = np.full(whole, np.nan, self.dtype)
        start = (low - self.lower - first)[:self.axes][::-1]
        values[tuple(slice(begin, begin + size) for begin, size in zip(start, found.shape))] = found
        return values

    def chunks(self):
        """Returns the sizes of chunks along each axis. Chunks end at borders of patches, and all chunks except the last have at least
        _MIN_CHUNK cells."""
        found = []
        for axis, borders in enumerate(self.borders):
            ends = [0]
            for border in (borders - self.lower[:self.axes][::-1][axis]).tolist():
                if border - ends[-1] >= _MIN_CHUNK:
                    ends.append(border)
            found.append(tuple(np.diff(ends + [self.shape[axis]]).tolist()))
        return found + [(size,) for size in self.shape[self.axes:]]


def _nodes_in_gaps(gaps, extra_nodes):
    """Returns a mask of the nodes whose adjacent cells are all gaps.

    gaps           mask of cells without values
    extra_nodes    number of nodes minus number of cells, along each axis; 0: the mask stays unchanged along the axis
    """
    for axis, wider in enumerate(extra_nodes):
        if wider:
            pad = [(0, 0)] * gaps.ndim
            pad[axis] = (1, 1)
            wide = np.pad(gaps, pad, constant_values=True)
            gaps = wide.take(range(wide.shape[axis] - 1), axis) & wide.take(range(1, wide.shape[axis]), axis)
    return gaps


class PointsArray:
    """The values of lists of points as one array. read() reads all values, even if only some values are indexed."""

    def __init__(self, step, name, level):
        self.name, self.level = name, level
        patches = patches_of(step, name, level)
        variable = step.variables[name]
        count = int((step.patches["upper"] - step.patches["lower"] + 1)[patches].astype(np.int64).prod(1).sum())
        self.shape = (count,) + ((variable.components,) if variable.components > 1 else ())
        self.dtype = step.dtype(name)

    def read(self, step, key=()):
        """Returns the values of a step at an index of whole numbers and slices."""
        values = step.read(self.name, patches=patches_of(step, self.name, self.level))
        return np.concatenate(list(values.values()))[tuple(key)]

    def chunks(self):
        """Returns the sizes of chunks along each axis: one chunk with all values."""
        return [(size,) for size in self.shape]


# ---- one step --------------------------------------------------------------------------------------------

def _level_of(step, names):
    """Returns the first level with one of the variables among the levels that ParaView's reader would show; else 0."""
    for level in step._core.levels_shown([step._variable_number(name) for name in names]):
        if any(patches_of(step, name, level).size for name in names):
            return level
    return 0


def _variables_of_level(step, variables, level):
    """Returns the names of the variables on a level. Raises Error for a named variable that no patch of the level has, and if `variables` is
    None and the level has no variables."""
    found = []
    for name in step._variable_names(variables):
        step._variable_number(name)
        if patches_of(step, name, level).size:
            found.append(name)
        elif variables is not None:
            raise step_error(step, "'%s' is not on level %d, '%s'.", name, level, step.level_names[level])
    if variables is None and not found:
        raise step_error(step, "level %d, '%s', has no variables. Use nodes() and positions() for its geometry.", level,
                               step.level_names[level])
    return found


def _axis_names(step, centering):
    """Returns the names of the dimensions of xarray along the axes x, y, z; on curvilinear grids along i, j, k."""
    if step.axes:
        names = ("lon", "lat", "lev") if step.geographic else ("x", "y", "lev")
        return [name + ("_middle" if centering == "cell" else "") for name in names]
    return [name + ("" if centering == "cell" else "_node") for name in ("ijk" if step.coordinates else "xyz")]


def _coordinates_of(step, names, axes):
    """Returns the coordinates of xarray, {name: (dimension, values)}: the positions along the axes. A rectilinear grid has the labels of
    the axis z as `lev`, and the positions as `height`.

    names    result of _axis_names()
    axes     positions along each axis
    """
    coordinates = {name: (name, at) for name, at in zip(names, axes)}
    if step.axes and names[2] == "lev":
        third = step.axes[2]
        coordinates["lev"] = ("lev", third.labels[np.searchsorted(third.positions, axes[2])])
        coordinates["height"] = ("lev", axes[2])
    return coordinates


def _positions_of(step, array, centering, names):
    """Returns the coordinates x, y (and z) of the nodes of a curvilinear grid, or of the middles of its cells. array: a LevelArray."""
    dimensions = names[::-1]
    shape = tuple((array.upper - array.lower + 2)[:array.axes][::-1])
    grid = None
    level = step.patches["level"][patches_of(step, array.name, array.level)[0]]
    for patch, positions in step.read(step.coordinates, levels=level).items():
        grid = np.full(shape + positions.shape[-1:], np.nan, positions.dtype) if grid is None else grid
        low = (step.patches["lower"][patch] - array.lower)[:array.axes][::-1]
        grid[tuple(slice(first, first + size) for first, size in zip(low, positions.shape))] = positions
    for axis in range(array.axes if centering == "cell" else 0):
        grid = 0.5 * (grid.take(range(grid.shape[axis] - 1), axis) + grid.take(range(1, grid.shape[axis]), axis))
    suffix = "" if centering == "cell" else "_node"
    return {"xyz"[axis] + suffix: (dimensions, grid[..., axis]) for axis in range(grid.shape[-1])}


def axes_of_box(step, level, lower, upper, centering):
    """Returns the coordinates of xarray for a box of cells on a uniform or rectilinear grid. lower, upper: first and last cell."""
    nodes = step._nodes_of(level, lower, upper)[:step.dimension]
    axes = [0.5 * (at[1:] + at[:-1]) if centering == "cell" and len(at) > 1 else at for at in nodes]
    return _coordinates_of(step, _axis_names(step, centering)[:step.dimension], axes)


def _array_of_boxes(step, name, level, box, full):
    """Returns (dimensions, LevelArray or SurfaceArray) and the coordinates of a variable on boxes. box, full: see LevelArray."""
    variable, array = step.variables[name], LevelArray(step, name, level, box, full)
    names = _axis_names(step, variable.centering)[:step.dimension]
    dimensions = names[::-1]
    first = step.patches["level"][patches_of(step, name, level)[0]]
    if step.coordinates:
        coordinates = _positions_of(step, array, variable.centering, names)
    else:
        coordinates = axes_of_box(step, first, array.lower, array.upper, variable.centering)
    if step.level_names[first] == "surface":
        array = SurfaceArray(array)
        dimensions = dimensions[1:]
        coordinates = {key: coordinates[key] for key in dimensions}
    return (dimensions + [name + "_component"] * (variable.components > 1), array), coordinates


class SurfaceArray:
    """A LevelArray without its first axis, which has one value: a surface variable of GrADS."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape[1:], array.dtype

    def read(self, step, key=()):
        """Returns the values of a step at an index of whole numbers and slices."""
        return self.array.read(step, (0, *key))

    def chunks(self):
        """Returns the sizes of chunks along each axis."""
        return self.array.chunks()[1:]


def _array_of_points(step, name, level):
    """Returns (dimensions, PointsArray) and the coordinates of a variable on lists of points."""
    positions = np.concatenate([step.positions(patch) for patch in patches_of(step, name, level)])
    more = [name + "_component"] * (step.variables[name].components > 1)
    return (["point"] + more, PointsArray(step, name, level)), {axis: ("point", positions[:, a]) for a, axis in enumerate("xyz"[:step.dimension])}


def describe(step, variables, level, boxes=None):
    """Returns {name: (dimensions, array, attributes)} and the coordinates of a level. array.read(step) returns the values.

    variables, level    as for Step.to_xarray()
    boxes               {name: (lower, upper, full)} for arrays that are larger than the box of the patches at this step
    """
    if step.mesh:
        _sampling.check_can_sample(step)
    names = step._variable_names(variables)
    for name in names:
        step._variable_number(name)
    if level is None and step.axes:
        names = [name for name in names if patches_of(step, name, None).size]
    else:
        level = _level_of(step, names) if level is None else step._level_number(level)
        names = _variables_of_level(step, variables, level)
    arrays, coordinates = {}, {}
    for name in names:
        points = step.level_roles[step.patches["level"][patches_of(step, name, level)[0]]] == "points"
        *box, full = (boxes or {}).get(name, (None, None))
        array, of_array = _array_of_points(step, name, level) if points else _array_of_boxes(step, name, level, tuple(box) if full is not None else None, full)
        long_name = step.variables[name].long_name
        arrays[name] = (*array, {"long_name": long_name} if long_name else {})
        coordinates.update(of_array)
    # A variable with the name of a coordinate gets another name.
    found = {}
    for name, array in arrays.items():
        key = name
        while key in coordinates or key == "time" or (key != name and key in arrays):
            key += "_"
        found[key] = array
    return found, coordinates


def boxes_of_series(steps, paths, level):
    """Returns {name: (lower, upper, full)}: the box around the patches of all steps, and whether the patches fill the box at each step.

    steps    a DataSet, or another sequence of steps
    paths    the file of each step
    """
    firsts, changes = [], False
    for index, path in enumerate(paths):    # most files with several steps have the same patches at all of them
        begins = index == 0 or path != paths[index - 1]
        changes = steps[index]._patches_change if begins else changes
        firsts += [index] if begins or changes else []
    found, of_levels = {}, {}
    for index in firsts:
        step = steps[index]
        for name in step.variables:
            patches = patches_of(step, name, level)
            if patches.size and step.level_roles[step.patches["level"][patches[0]]] != "points":
                array, number = LevelArray(step, name, level), int(step.patches["level"][patches[0]])
                found.setdefault(name, []).append((number, array))
                of_levels.setdefault(number, []).append(array)
    boxes = {}
    for name, arrays in found.items():
        of_level = of_levels[arrays[0][0]]
        lower, upper = np.min([array.lower for array in of_level], 0), np.max([array.upper for array in of_level], 0)
        same = all(array.full and (array.lower == lower).all() and (array.upper == upper).all() for _, array in arrays)
        boxes[name] = lower, upper, same and len(arrays) == len(firsts)
    return boxes


def time_of(date, time):
    """Returns the date as a numpy.datetime64 if xarray can represent the date, otherwise the time as a number."""
    if _DATES[0] <= date[:4] <= _DATES[1]:
        try:
            return np.datetime64(date.replace(" ", "T")).astype("datetime64[ns]")
        except ValueError:
            pass
    return float(time)


def times_of(data):
    """Returns the times of all steps: dates if xarray can represent all dates, otherwise numbers."""
    dates = [time_of(date, time) for date, time in zip(data.dates or [""] * len(data), data.times)]
    return np.array(dates if all(isinstance(date, np.datetime64) for date in dates) else data.times)


def to_xarray(step, variables, level):
    """Implements Step.to_xarray()."""
    arrays, coordinates = describe(step, variables, level)
    xarray = import_optional("xarray", "to_xarray()")
    arrays = {name: (dimensions, array.read(step), attributes) for name, (dimensions, array, attributes) in arrays.items()}
    coordinates["time"] = time_of(step.date, step.time)
    return xarray.Dataset(arrays, coordinates, {"source": str(step.path), "step": step.number})

"""Reads patch-based simulation output into numpy arrays, with many reads in flight at once and without copies.

It opens what PatchIO's ParaView plugin opens (SAMRAI dumps, AMReX plotfiles, k-Wave files, GrADS descriptors), but
needs neither ParaView nor MPI.

    import patchio

    data = patchio.open("dumps.visit")          # a series of time steps; or plt00010, out.h5, model.ctl
    print(data.times)
    step = data[-1]                             # the last one: what it holds, no values yet
    print(step.variables)                       # {'density': Variable(name='density', centering='cell', ...), ...}
    print(step.patches["lower"])                # n x 3: lowest cell of each patch

    density = step.read("density")              # {patch: array}; density[17][k, j, i] is a value of patch 17
    some = step.read(["density", "velocity"], levels=[0, 1])      # {name: {patch: array}}
    print(step.report_text)                     # what the reading cost

    values, (x, y, z) = step.uniform_grid("density", level=1)     # all levels as one array, finest data first
    blocks = step.to_pyvista("density")         # for pyvista, one grid a patch
    table = step.to_xarray("density", level=0)  # for xarray, one level

Arrays have their axes slowest first, [k, j, i] in three dimensions and [j, i] in two; several components come last,
[k, j, i, component]. They are numpy arrays in every respect, own their memory and outlive everything they were read
with. Values have the type that the file has, in this machine's byte order; where a format has a number that stands for
no value, there is NaN.

All levels of a refined grid are read, coarse cells under finer ones too, and patches of a level may overlap:
Step.covered() says which cells others have.

Faults of files, unknown names and the like are Error, with a message that says which file and what to do; where a file
is not there it is a FileNotFoundError, too. Ctrl-C ends a read. Other Python threads run while one reads, but reads follow
one another, each with threads of its own.

Several processes divide the patches among them with Step.part(). Those of multiprocessing are best started by
get_context("spawn"): forked ones, after a read, have one thread each.
"""
import contextlib
import dataclasses
import errno
import functools
import math
import os
import warnings

try:
    import numpy as np
except ImportError as error:
    raise ImportError("patchio needs numpy: install it by 'python3 -m pip install numpy', or 'apt install python3-numpy'") from error

from ._core import Error, __version__
from . import _convert, _core, _describe, _sampling

__all__ = ["Axis", "DataSet", "Error", "MissingFile", "Step", "Variable", "open"]

Error.__module__ = __name__
Error.__doc__ = "What is wrong with a file, a name or a number, and what to do about it."


class MissingFile(Error, FileNotFoundError):
    """A file that is not there: `filename`."""

    def __init__(self, message):
        super().__init__(message)
        name, expected, _ = message.partition(": expected")
        self.errno, self.filename = errno.ENOENT, name if expected else None

    def __str__(self):
        return self.args[0]


@contextlib.contextmanager
def _missing_files():
    """Errors about files that are not there become MissingFile."""
    try:
        yield
    except Error as error:
        if os.strerror(errno.ENOENT) in str(error):
            raise MissingFile(str(error)) from None
        raise


_LEVEL = np.dtype([("first_patch", "i4"), ("patch_count", "i4"), ("ratio", "i4", 3), ("spacing", "f8", 3)])
_PATCH = np.dtype([("level", "i4"), ("number", "i4"), ("writer", "i4"), ("lower", "i4", 3), ("upper", "i4", 3)])


@dataclasses.dataclass(frozen=True)
class Variable:
    """An array on patches.

    name
    centering   "cell" or "node"
    components
    ghosts      layers beyond the patch that the file has, on both sides of the axes x, y, z
    steady      True: the same values at all steps of its file
    long_name   what it is and its unit, in the words of the file (GrADS); "" where it does not say
    """

    name: str
    centering: str
    components: int
    ghosts: tuple
    steady: bool
    long_name: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Axis:
    """Nodes along one axis of a rectilinear grid.

    first       index of the first node, as in Step.patches
    positions   array
    labels      what the positions stand for, such as pressures; else the positions
    """

    first: int
    positions: np.ndarray
    labels: np.ndarray


def open(path, *, metadata="on", threads=None, listed_only=False):  # noqa: A001
    """Opens a data set, of whatever format, and gives its DataSet.

    path         what ParaView opens: dumps.visit, summary.samrai, the folder plt00010 or its Header, out.h5, model.ctl;
                 or a list of them, which become one series
    metadata     "on": where everything lies is kept in small files beside the data (*.patchio), as ParaView's
                 reader does, so that the next opening is quick; "read": such files are used, but none is made;
                 "off": neither
    threads      reads in flight at once: a number, or None for what the storage is known, or found, to like best
    listed_only  SAMRAI, AMReX: leave out steps that lie beside the path but are not named by it

    Raises Error when there is not one step that can be opened, MissingFile when that is because there is no such file.
    A series that was changed is to be opened again.
    """
    return DataSet(path, metadata, threads, listed_only)


class DataSet:
    """A series of time steps, as open() gives it: len(data), data[0], data[-1], `for step in data`.

    `with patchio.open(path) as data:` closes it at the end. A notebook shows it as a table.

    path      as it was opened
    format    "SAMRAI", "AMReX", "k-Wave" or "GrADS"
    times     array of times, strictly increasing: those of the files or, where these do not increase, the numbers
    numbers   array of the simulation's numbers of the steps
    dates     list of dates as people write them; empty texts where a format has none
    paths     list of the files that describe the steps
    notes     list of what else is good to know
    """

    def __init__(self, path, metadata="on", threads=None, listed_only=False):
        self.path = path
        try:
            paths = [os.fspath(p) for p in ([path] if isinstance(path, (str, os.PathLike)) else path)]
        except TypeError:
            raise TypeError("path is a file's name, or a list of names, not %r" % (path,)) from None
        self._threads = _threads(threads)
        with _missing_files():
            self._core = _core.DataSet(paths, metadata, listed_only)
        heads = self._core.heads
        self.times = np.array(self._core.times, float)
        self.numbers = np.array([head[2] for head in heads], np.int64)
        self.dates = [head[3] for head in heads]
        self.paths = [head[0] for head in heads]
        self.notes = self._core.notes
        self.format = self._core.format()
        for text in self._core.warnings:
            warnings.warn(text, stacklevel=3)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        """Opens a step; data[i:j] is a list of several.

        Raises IndexError, Error when a step cannot be read, and ValueError after close().
        """
        count = len(self)
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(count))]
        index = _sampling.whole(index, "steps are counted from 0")
        if not -count <= index < count:
            raise IndexError("there is no step %d; there are %s, counted from 0" % (index, _describe.count(count, "step")))
        if self._core is None:
            raise ValueError("%s was closed" % self.path)
        with _missing_files():
            return Step(self, index % count)

    def nearest(self, time):
        """The Step whose time is nearest; of two that are equally near, the earlier one. ValueError for NaN."""
        if math.isnan(time):
            raise ValueError("a time is a number, not nan")
        later = min(int(np.searchsorted(self.times, time)), len(self) - 1)
        earlier = max(later - 1, 0)
        return self[earlier if time - self.times[earlier] <= self.times[later] - time else later]

    @functools.cached_property
    def _first(self):
        return self[0]

    @property
    def variables(self):
        """{name: Variable} of the first step. Others may have other variables: see Step.variables."""
        return self._first.variables

    @property
    def bounds(self):
        """Of the first step, as Step.bounds."""
        return self._first.bounds

    def close(self):
        """Lets go of the files. Steps that were opened before can still be read."""
        self._core = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return "<patchio.DataSet %r: %s, %s>" % (self.path, self.format, _describe.count(len(self), "step"))

    def _repr_html_(self):
        return _describe.html_of_data_set(self)


class Step:
    """One time step of a DataSet: what it holds, and read() for the values.

    index, number, time, date, path   which step it is
    dimension     2 or 3
    bounds        see below
    geographic    True: x and y are longitudes and latitudes, in degrees
    grid          "uniform": boxes of equal cells; "rectilinear": see `axes`; "curvilinear": see `coordinates`
    origin        uniform grids: position of the lower corner of cell (0, 0, 0), on all levels
    levels        array with the fields first_patch, patch_count (patches are numbered level by level), ratio (cells in
                  one of the next coarser level, along x, y, z) and spacing (size of a cell; uniform grids)
    level_names   list: "level 0", "sensor", ...
    level_roles   list: "refinement"; "separate", boxes that hide nothing of other levels; "points", lists of
                  points, see positions()
    patches       array with the fields level, number (within the level, as the format counts), writer (process of the simulation), lower and
                  upper (first and last cell along x, y, z; in two dimensions 0 along z)
    variables     {name: Variable}
    presence      bool array, variables x patches: which patch has which of `variables`
    axes          three Axis, on rectilinear grids; else empty
    coordinates   name of the variable with the positions of nodes on curvilinear grids; else None
    report        dict of what the last read() cost; report_text says it in words
    faults        list of (patch, variable, message) of the last read(skip_broken=True)
    """

    def __init__(self, data, index):
        core = data._core.open(index)
        fields = core.catalog()
        self.index, self.number, self.time, self.date = index, int(data.numbers[index]), data.times[index], data.dates[index]
        self.path = data.paths[index]
        self.dimension, self.grid, self.origin = fields["dimension"], fields["grid"], np.array(fields["origin"])
        self.levels = np.array(fields["levels"], _LEVEL)
        self.level_names, self.level_roles = fields["level_names"], fields["level_roles"]
        self.patches = np.frombuffer(fields["patches"], _PATCH)
        self.geographic = fields["geographic"]
        self.axes = [Axis(first, np.array(positions), np.array(labels)) for first, positions, labels in fields["axes"]]
        self.report, self.report_text, self.faults = {}, "", []
        self._core, self._threads = core, data._threads
        self._flat, self._lattice = fields["level_flat"], fields["lattice"]
        self._set_variables(fields)
        if core.warning:
            warnings.warn(core.warning, stacklevel=3)

    def _set_variables(self, fields):
        variables = [Variable(name, centering, components, tuple(ghosts), steady, long_name)
                     for name, centering, components, ghosts, steady, long_name in fields["variables"]]
        self._numbers = {variable.name: number for number, variable in enumerate(variables)}
        self._positions = [variables[v].name if v >= 0 else None for v in fields["level_positions"]]
        self.coordinates = variables[fields["coordinates"]].name if fields["coordinates"] >= 0 else None
        geometry = set(self._positions) | {self.coordinates}
        self.variables = {v.name: v for v in variables if v.name not in geometry}
        presence = np.frombuffer(fields["presence"], np.uint8).reshape(len(variables), len(self.patches))
        self.presence = presence[[self._numbers[name] for name in self.variables]] != 0

    def read(self, variables=None, *, patches=None, levels=None, ghosts=False, threads=None, skip_broken=False):
        """Reads variables of patches, all at once.

        variables    a name; or several, or None for all
        patches      a patch's number, or several, as they are counted in `patches`; None: all
        levels       a level, or several, by number or by name: only their patches
        ghosts       True: with the layers of ghosts that the file has, False: without
        threads      reads in flight at once; None: as open() was told
        skip_broken  True: what cannot be read is left out, with a warning, and `faults` has the reasons;
                     False: it is an Error

        Gives {patch: array} for one name, else {name: {patch: array}}. Patches that do not have a variable
        are missing there. Memory of arrays that are gone is used again by the next read.

        Raises Error for names, patches and levels that do not exist, for faults of files (MissingFile where one is not
        there), and when memory does not suffice.
        """
        names = self._names(variables)
        numbers = [self._number(name) for name in names]
        wanted = self._wanted(patches, levels)
        count = _threads_here(self._threads if threads is None else _threads(threads))
        with _missing_files():
            read, faults, self.report, self.report_text = self._core.read(numbers, wanted, bool(ghosts), count, not skip_broken)
        # An array on memory that it owns: no copy.
        arrays = [{patch: np.ndarray(shape, kind, memory) for patch, memory, kind, shape in of_variable} for of_variable in read]
        self.faults = faults
        if faults:
            text = "%d of %d arrays could not be read; the first: %s" % (len(faults), len(names) * len(wanted), faults[0][2])
            if not skip_broken:
                with _missing_files():
                    raise Error(faults[0][2])
            warnings.warn(text, stacklevel=2)
        return arrays[0] if isinstance(variables, str) else dict(zip(names, arrays))

    def dtype(self, name):
        """numpy's type of the values of a variable, without reading any; None where no patch has it."""
        with _missing_files():
            kind = self._core.dtype(self._number(name))
        return None if kind is None else np.dtype(kind)

    def part(self, part, parts):
        """Numbers of the patches for process `part`, 0 .. parts-1, of `parts` that divide the reading among them.

        Each patch is in one part. Parts lie close together in space and have about the same number of bytes. All processes
        work out the same, so that none needs to tell the others:

            mine = step.part(rank, size)                  # of mpi4py, multiprocessing, a batch system's task number ...
            density = step.read("density", patches=mine)
        """
        return np.array(self._core.part(*(_sampling.whole(n, "parts are counted from 0") for n in (part, parts))), int)

    def covered(self, patch):
        """Which cells of a patch count elsewhere, as an array of bool, one a cell.

        These are cells that a finer level covers, and those that a patch of the same level with a lower number has too
        (SAMRAI writes patches that overlap). Sums and means are to leave them out: values[~step.covered(patch)] has each
        place once, with its finest data.
        """
        shape, flags = self._core.covered(self._patch(patch))
        return np.frombuffer(flags, bool).reshape(shape).copy() if flags else np.zeros(shape, bool)

    @functools.cached_property
    def bounds(self):
        """(x from, x to, y from, y to, z from, z to) of all patches of all levels, as in ParaView.

        Reads positions of nodes on curvilinear grids, and those of points. NaN where there are no patches.
        """
        return _sampling.bounds(self)

    def uniform_grid(self, name, *, level=None, shape=None, bounds=None, outside=np.nan):
        """A variable of all levels on one grid, from the finest data: its array, and the positions along x, y (and z).

        level    the spacing of the grid is that of this level, a number or a name; level 0 where neither is given
        shape    or so many values along each axis, slowest first, [k, j, i], as in arrays
        bounds   where: six numbers as in Step.bounds (four in two dimensions); with `level` they grow to whole cells.
                 None: around all patches that have the variable
        outside  a number, the value at places where no patch has the variable; the array's type is one that can have it: NaN makes
                 floats of integers

        Variables in cells are given for the middles of the grid's cells, and have there the value of the finest cell
        around; where that is a border of cells, of the upper one. Nothing is averaged, so that sums over a grid that is
        coarser than the data are not those of the data. Variables at nodes are given for the grid's nodes (with `shape`
        the first and the last lie on the bounds) and have there the value of the nearest node of the finest patch.
        On rectilinear grids `level` gives the grid's own positions.

            values, (x, y, z) = step.uniform_grid("density", level=1)

        Raises Error for curvilinear grids, for lists of points, and for grids that the memory does not hold.
        """
        return _sampling.uniform_grid(self, name, level, shape, bounds, outside)

    def to_pyvista(self, variables=None, *, patches=None, levels=None):
        """Reads, and gives a pyvista.MultiBlock: a grid for each patch, or a cloud for each list of points.

        variables, patches, levels    as for read()

        Cells that covered() tells are hidden by "vtkGhostType", so that each place is drawn once. Values are not
        copied. Raises ImportError where pyvista is not installed.
        """
        return _convert.to_pyvista(self, variables, patches, levels)

    def to_xarray(self, variables=None, *, level=None):
        """Reads, and gives an xarray.Dataset of one level: dimensions x, y, z, or lon, lat, lev.

        variables    a name; or several, or None for all that the level has
        level        its number or name; None: the first with one of the variables, of k-Wave's domain and sensor that which
                     ParaView's reader shows of them: the sensor where it has time series. On rectilinear grids (GrADS) None is
                     all levels: variables of the surface lack the dimension lev

        Patches are put together; where no patch is, there is NaN (integers become floats then). Cells under finer ones
        have the values of this level: uniform_grid() has the finest. x, y, z are the middles of cells; variables at nodes
        have the dimensions x_node, y_node, z_node. Lists of points have the dimension `point`. `lev` is what the levels
        of GrADS stand for, such as pressures, and `height` where ParaView shows them. A variable with the name of a
        coordinate gets "_" at its end. `time` is a coordinate, a date where the format has dates:

            series = xarray.concat([step.to_xarray("u") for step in data], "time")

        Raises ImportError where xarray is not installed, and Error for curvilinear grids and for levels without variables.
        """
        return _convert.to_xarray(self, variables, level)

    def nodes(self, patch):
        """Where the nodes of a patch are: three arrays of positions, along x, y and z.

        There is one more node than cells along each axis; where the grid is flat, in two dimensions along z, just one.
        Raises Error on curvilinear grids, where the variable `coordinates` has the positions, and for points.
        """
        box = self.patches[self._patch(patch)]
        level = box["level"]
        if self.grid == "curvilinear" or self.level_roles[level] == "points":
            raise Error("Patch %d of %s has no axes: read %s." % (patch, self.path, "its positions()" if self.coordinates is None
                                                                else "'%s'" % self.coordinates))
        found = []
        for axis in range(3):
            more = 1 if axis < self.dimension and not self._flat[level][axis] else 0
            index = np.arange(box["lower"][axis], box["upper"][axis] + 1 + more)
            if self.axes:
                found.append(self.axes[axis].positions[index - self.axes[axis].first])
            else:
                found.append(self.origin[axis] + index * self.levels[level]["spacing"][axis])
        return tuple(found)

    def positions(self, patch):
        """Where the points of a patch are whose level is a list of points ("points" in `level_roles`): n x 3.

        They are the middles of cells of the domain; in two dimensions they lie in the plane of the nodes, as in ParaView.
        Reads them, like read().
        """
        level = self.patches[self._patch(patch)]["level"]
        if self.level_roles[level] != "points":
            raise Error("Patch %d of %s is a box, not a list of points: see nodes()." % (patch, self.path))
        lower, upper = (np.array(corner) for corner in self._lattice)
        cells = self.read(self._positions[level], patches=patch)[int(patch)].astype(np.int64) - 1
        size = upper - lower + 1
        if cells.size and not 0 <= cells.min() <= cells.max() < size.prod():
            raise Error("%s: expected points within the domain of %s cells, found others. The file is damaged." % (self.path, size))
        index = lower + np.stack(np.unravel_index(cells, size, order="F"), 1)
        middle = np.where(np.arange(3) < self.dimension, 0.5, 0)
        return self.origin + (index + middle) * self.levels[level]["spacing"]

    def _names(self, variables):
        return [variables] if isinstance(variables, str) else list(self.variables if variables is None else variables)

    def _level(self, level):
        """The number of a level that is given by its number or name."""
        if isinstance(level, str):
            if level not in self.level_names:
                raise Error("%s: there is no level '%s'; there are %s." % (self.path, level, ", ".join(self.level_names)))
            return self.level_names.index(level)
        level = _sampling.whole(level, "levels are given by number or name")
        if not 0 <= level < len(self.levels):
            raise Error("%s: there is no level %d; levels are numbered 0 to %d." % (self.path, level, len(self.levels) - 1))
        return level

    def _number(self, name):
        if name not in self._numbers:
            raise Error("%s: there is no variable '%s'; there are %s." % (self.path, name, ", ".join(self.variables) or "none"))
        return self._numbers[name]

    def _patch(self, patch):
        patch = _sampling.whole(patch, "patches are given by number")
        if not 0 <= patch < len(self.patches):
            raise Error("%s: there is no patch %d; patches are numbered 0 to %d." % (self.path, patch, len(self.patches) - 1))
        return patch

    def _wanted(self, patches, levels):
        """Numbers of patches, each once, in the order given."""
        if patches is None:
            wanted = np.arange(len(self.patches))
        else:
            given = np.atleast_1d(np.asarray(patches))
            if given.size and given.dtype.kind not in "iu":
                raise TypeError("patches are whole numbers, not %s" % given.dtype)
            wanted = np.array([self._patch(p) for p in dict.fromkeys(given.ravel().tolist())], int)
        if levels is not None:
            chosen = [self._level(level) for level in (levels if np.ndim(levels) else [levels])]
            wanted = wanted[np.isin(self.patches["level"][wanted], chosen)]
        return wanted.tolist()

    def __repr__(self):
        return "<patchio.Step %d at time %g: %s on %s, %s>" % (
            self.number, self.time, _describe.count(len(self.patches), "patch"), _describe.count(len(self.levels), "level"),
            _describe.count(len(self.variables), "variable"))

    def _repr_html_(self):
        return _describe.html_of_step(self)


_has_threads = False    # once several threads have read: they stay, for the next read
_lost_threads = False   # this process is a copy of such a one, and a copy has none of its threads


def _after_fork():
    global _lost_threads
    _lost_threads = _has_threads


os.register_at_fork(after_in_child=_after_fork)


def _threads_here(count):
    """How many threads may read in this process, for one that wants so many."""
    global _has_threads
    if _lost_threads and count != 1:
        warnings.warn("This process was forked from one that had read already: it reads with one thread. "
                      "Start it by multiprocessing.get_context('spawn') instead.", stacklevel=3)
        return 1
    _has_threads = _has_threads or count != 1
    return count


def _threads(threads):
    """As the compiled part wants them: 0 for automatic."""
    if threads is None:
        return 0
    count = _sampling.whole(threads, "threads are 1 or more, or None for automatic")
    if count < 1:
        raise ValueError("threads are 1 or more, or None for automatic, not %d" % count)
    return count

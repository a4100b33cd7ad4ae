"""One time step of a series."""
import dataclasses
import functools
import warnings

import numpy as np

from . import _convert, _describe, _errors, _sampling, _threads
from ._errors import Error

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
    long_name   description and unit from the file (GrADS); "" if it has none
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
    labels      the values that the positions stand for, such as pressures; else the positions
    """

    first: int
    positions: np.ndarray
    labels: np.ndarray


class Step:
    """One time step of a DataSet: what it holds, and read() for the values.

    index, number, time, date, path   which step it is
    dimension     2 or 3
    bounds        see below
    geographic    True: x and y are longitudes and latitudes, in degrees
    grid          "uniform": boxes of equal cells; "rectilinear": see `axes`; "curvilinear": see `coordinates`;
                  "unstructured", "polygonal": see `mesh`
    origin        uniform grids: position of the lower corner of cell (0, 0, 0), on all levels
    levels        array with the fields first_patch, patch_count (patches are numbered level by level), ratio (cells in
                  one of the next coarser level, along x, y, z) and spacing (size of a cell; uniform grids)
    level_names   list: "level 0", "sensor", ...
    level_roles   list: "refinement"; "separate", boxes that hide nothing of other levels; "points", lists of
                  points, see positions()
    patches       array with the fields level, number (within the level, as the format counts), writer (process of the
                  simulation), lower and upper (first and last cell along x, y, z; in two dimensions 0 along z)
    variables     {name: Variable}
    presence      bool array, variables x patches: which patch has which of `variables`
    axes          three Axis, on rectilinear grids; else empty
    coordinates   name of the variable with the positions of nodes on curvilinear grids and of meshes; else None
    mesh          names of the arrays of a mesh, for read(): points and lists of cells, each of one patch (partition); else empty.
                  `patches` then only has the number of cells: from `lower` to `upper` along x
    report        dict of what the last read() cost; report_text is the same as text
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
        self._core, self._threads, self._verify = core, data._threads, data._verify
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
        self.mesh = [variables[v].name for v in fields["mesh"]]
        geometry = set(self._positions) | {self.coordinates} | set(self.mesh)
        self.variables = {v.name: v for v in variables if v.name not in geometry}
        presence = np.frombuffer(fields["presence"], np.uint8).reshape(len(variables), len(self.patches))
        self.presence = presence[[self._numbers[name] for name in self.variables]] != 0

    def read(self, variables=None, *, patches=None, levels=None, ghosts=False, threads=None, skip_broken=False):
        """Reads variables of patches, all at once.

        variables    a name; or several, or None for all
        patches      a patch's number, or several, as they are counted in `patches`; None: all
        levels       a level, or several, by number or by name: only their patches
        ghosts       True: with the ghost layers of the file; False: without them
        threads      reads in flight at once; None: as open() was told
        skip_broken  True: arrays that cannot be read are left out, with a warning, and `faults` has the reasons;
                     False: they raise Error

        Returns {patch: array} for one name, else {name: {patch: array}}. Patches that do not have a variable
        are missing there. The next read uses the memory of deleted arrays again.

        Raises Error for names, patches and levels that do not exist, for faults of files (MissingFile where one is not
        there), and when memory does not suffice.
        """
        names = self._names(variables)
        numbers = [self._number(name) for name in names]
        wanted = self._wanted(patches, levels)
        count = _threads.threads_here(self._threads if threads is None else _threads.threads_wanted(threads))
        with _errors.missing_files():
            read, faults, self.report, self.report_text = self._core.read(
                numbers, wanted, bool(ghosts), count, not skip_broken, self._verify)
        # The array owns the memory: no copy.
        arrays = [{patch: np.ndarray(shape, kind, memory) for patch, memory, kind, shape in of_variable} for of_variable in read]
        self.faults = faults
        if faults:
            text = "%d of %d arrays could not be read; the first: %s" % (len(faults), len(names) * len(wanted), faults[0][2])
            if not skip_broken:
                with _errors.missing_files():
                    raise Error(faults[0][2])
            warnings.warn(text, stacklevel=2)
        return arrays[0] if isinstance(variables, str) else dict(zip(names, arrays))

    def dtype(self, name):
        """numpy's type of the values of a variable, without reading any; None if no patch has it."""
        with _errors.missing_files():
            kind = self._core.dtype(self._number(name))
        return None if kind is None else np.dtype(kind)

    def part(self, part, parts):
        """Numbers of the patches for process `part`, 0 .. parts-1, of `parts` that divide the reading among them.

        Each patch is in one part. The patches of a part are close together, and all parts have about the same number of bytes.
        All processes find the same parts, so they need not communicate:

            mine = step.part(rank, size)                  # of mpi4py, multiprocessing, a batch system's task number ...
            density = step.read("density", patches=mine)
        """
        return np.array(self._core.part(*(_errors.whole(n, "parts are counted from 0") for n in (part, parts))), int)

    def covered(self, patch):
        """The cells of a patch that count elsewhere, as an array with a bool for each cell.

        These are cells that a finer level covers, and cells that a patch of the same level with a lower number has too
        (SAMRAI writes patches that overlap). Leave them out of sums and means: values[~step.covered(patch)] has each place
        once, with its finest data.
        """
        shape, flags = self._core.covered(self._patch(patch))
        return np.frombuffer(flags, bool).reshape(shape).copy() if flags else np.zeros(shape, bool)

    @functools.cached_property
    def bounds(self):
        """(x from, x to, y from, y to, z from, z to) of all patches of all levels, as in ParaView.

        Reads the positions of nodes on curvilinear grids and of meshes, and those of points. NaN if there are no patches.
        """
        return _sampling.bounds(self)

    def uniform_grid(self, name, *, level=None, shape=None, bounds=None, outside=np.nan):
        """A variable of all levels on one grid, from the finest data: its array, and the positions along x, y (and z).

        level    use the spacing of this level, a number or a name; level 0 if neither level nor shape is given
        shape    or use so many values along each axis, slowest first, [k, j, i], as in arrays
        bounds   six numbers as in Step.bounds (four in two dimensions); with `level` they grow to whole cells.
                 None: around all patches that have the variable
        outside  a number, the value where no patch has the variable; the array's type can hold it: NaN turns integers
                 into floats

        A variable in cells is given at the middles of the grid's cells, and has the value of the finest cell there; on a
        border between cells, that of the upper one. Nothing is averaged, so sums over a grid that is coarser than the data
        differ from those of the data. A variable at nodes is given at the grid's nodes (with `shape`, the first and the last
        lie on the bounds), and has the value of the nearest node of the finest patch there. On rectilinear grids `level`
        gives the grid's own positions.

            values, (x, y, z) = step.uniform_grid("density", level=1)

        Raises Error for curvilinear grids, meshes and lists of points, and for grids that do not fit into memory.
        """
        return _sampling.uniform_grid(self, name, level, shape, bounds, outside)

    def to_pyvista(self, variables=None, *, patches=None, levels=None):
        """Reads into a pyvista.MultiBlock: a grid for each patch, or a cloud for each list of points.

        variables, patches, levels    as for read()

        The cells of covered() are hidden by "vtkGhostType", so that each place is drawn once. Values are not copied.
        Raises ImportError if pyvista is not installed, and Error for meshes.
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

        Raises ImportError where xarray is not installed, and Error for curvilinear grids, meshes, and levels without variables.
        """
        return _convert.to_xarray(self, variables, level)

    def to_yt(self, variables=None, *, levels=None):
        """Reads into a data set of yt, with all levels: slices, projections and profiles of yt work on it.

        variables, levels    as for read(); variables of cells, on every patch of the levels, which begin with level 0

        A vector V becomes the fields V_x, V_y and V_z. Data in two dimensions get one cell along z, from 0 to 1. Lengths and
        values have no units. Values are copied.
        Raises ImportError if yt is not installed, and Error for data that are no uniform cells, for levels whose refinement is
        not one whole number along all axes, and for variables that some patches lack.
        """
        return _convert.to_yt(self, variables, levels)

    def nodes(self, patch):
        """Positions of the nodes of a patch: three arrays, along x, y and z.

        There is one more node than cells along each axis, but just one along z in two dimensions and wherever a grid is flat.
        Raises Error on curvilinear grids and meshes, whose positions are in the variable `coordinates`, and for points.
        """
        box = self.patches[self._patch(patch)]
        level = box["level"]
        if self.coordinates or self.level_roles[level] == "points":
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
        """Positions of the points of a patch on a level of points ("points" in `level_roles`): n x 3.

        They are the middles of cells of the domain; in two dimensions they lie in the plane of the nodes, as in ParaView.
        They are read, like values by read().
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
        """The number of a level, from its number or its name."""
        if isinstance(level, str):
            if level not in self.level_names:
                raise Error("%s: there is no level '%s'; there are %s." % (self.path, level, ", ".join(self.level_names)))
            return self.level_names.index(level)
        level = _errors.whole(level, "levels are given by number or name")
        if not 0 <= level < len(self.levels):
            raise Error("%s: there is no level %d; levels are numbered 0 to %d." % (self.path, level, len(self.levels) - 1))
        return level

    def _number(self, name):
        if name not in self._numbers:
            raise Error("%s: there is no variable '%s'; there are %s." % (self.path, name, ", ".join(self.variables) or "none"))
        return self._numbers[name]

    def _patch(self, patch):
        patch = _errors.whole(patch, "patches are given by number")
        if not 0 <= patch < len(self.patches):
            raise Error("%s: there is no patch %d; patches are numbered 0 to %d." % (self.path, patch, len(self.patches) - 1))
        return patch

    def _wanted(self, patches, levels):
        """Numbers of patches, each once, in the order in which they were given."""
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

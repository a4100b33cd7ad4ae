"""One time step of a series."""
import dataclasses
import functools
import warnings

import numpy as np

from . import _arguments, _describe, _errors, _sampling, _threads, _xarray, _yt
from ._errors import Error, step_error
from ._optional import import_optional

_LEVEL = np.dtype([("first_patch", "i4"), ("patch_count", "i4"), ("ratio", "i4", 3), ("spacing", "f8", 3)])
_PATCH = np.dtype([("level", "i4"), ("number", "i4"), ("writer", "i4"), ("lower", "i4", 3), ("upper", "i4", 3)])
_BLOCK = np.dtype([("level", "i4"), ("patch", "i4"), ("parts", "i4"), ("lower", "i4", 3), ("upper", "i4", 3)])
_MAX_PARTS = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable, which has an array of values on each patch, or on some patches.

    name        name in the file
    centering   "cell" or "node"
    components  number of components, 1 for a scalar
    ghosts      number of ghost layers in the file on each side, along x, y, z
    steady      True: the values are the same at all steps of the variable's file
    long_name   description and unit from the file (GrADS); "" if the file has none
    """

    name: str
    centering: str
    components: int
    ghosts: tuple
    steady: bool
    long_name: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Axis:
    """The nodes along one axis of a rectilinear grid.

    first       index of the first node, on the scale of `lower` and `upper` in Step.patches
    positions   array of the positions of the nodes
    labels      values of the nodes, such as pressures, if they differ from the positions; otherwise the positions
    """

    first: int
    positions: np.ndarray
    labels: np.ndarray


class Step:
    """One time step of a DataSet. The attributes describe the step, and read() returns the values.

    index, number, time, date, path   identify the step
    dimension     2 or 3
    bounds        bounds of all patches, see the property
    geographic    True: x and y are longitudes and latitudes, in degrees
    grid          "uniform": boxes of equal cells; "rectilinear": see `axes`; "curvilinear": see `coordinates`;
                  "unstructured", "polygonal": see `mesh`
    origin        uniform grids: position of the lower corner of cell (0, 0, 0), on all levels
    levels        array with the fields first_patch, patch_count (patches are numbered level by level), ratio (number of cells
                  in a cell of the next coarser level, along x, y, z) and spacing (size of a cell; uniform grids)
    level_names   list: "level 0", "sensor", ...
    level_roles   list: "refinement"; "separate", boxes independent of other levels; "points", lists of
                  points, see positions()
    patches       array with the fields level, number (within the level, as the format counts), writer (process of the
                  simulation), lower and upper (first and last cell along x, y, z; in two dimensions 0 along z)
    variables     {name: Variable}
    presence      bool array, variables x patches: True where a patch has a variable
    axes          three Axis, on rectilinear grids; otherwise empty
    coordinates   name of the variable with the positions of nodes on curvilinear grids and of meshes; otherwise None
    mesh          names of the arrays of a mesh, for read(): points and lists of cells of each patch (partition). Other grids: empty.
                  On a mesh, each row of `patches` has only the number of cells: `lower` to `upper` along x
    report        dict with the cost of the last read of values, also by positions(), bounds or a conversion; report_text has the
                  same as text
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
        self._lattice, self._patches_change = fields["lattice"], fields["patches_change"]
        # For each level, the number of nodes minus the number of cells, along x, y and z.
        self._extra_nodes = np.array(fields["level_nodes"], int).reshape(-1, 3)
        self._set_variables(fields)
        if core.warning:
            warnings.warn(core.warning, stacklevel=3)

    def _set_variables(self, fields):
        """Sets the attributes about variables from the fields of the catalog."""
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

        variables    a name, several names, or None for all
        patches      a patch number or several, indices in the attribute `patches`; None: all patches
        levels       a level or several, by number or name: only patches of these levels are read; None: all levels
        ghosts       True: with the ghost layers of the file; False: without ghost layers
        threads      number of concurrent reads; None: as in open()
        skip_broken  True: arrays that cannot be read are skipped with a warning, and the attribute `faults` has the reasons;
                     False: such arrays raise Error

        Returns {patch: array} for one name, otherwise {name: {patch: array}}. Patches without the variable, and arrays that were
        skipped, are missing. The next read reuses the memory of deleted arrays.

        Raises Error for unknown names, patches and levels, for faulty files (MissingFile for a missing file), and if
        the memory is insufficient.
        """
        names, patches = self._variable_names(variables), self._select_patches(patches, levels)
        ghosts, skip_broken = _arguments.flag(ghosts, "ghosts"), _arguments.flag(skip_broken, "skip_broken")
        arrays = self._read(self._core.read, patches, names, ghosts, threads, skip_broken)
        arrays = [{patches[number]: array for number, array in of_variable.items()} for of_variable in arrays]
        return arrays[0] if isinstance(variables, str) else dict(zip(names, arrays))

    def _read(self, read, blocks, names, ghosts=False, threads=None, skip_broken=False):
        """Reads variables on patches or blocks.

        read      method of the compiled part: read or read_blocks
        blocks    patch numbers for read, a BlockPlan for read_blocks
        names     names of the variables
        ghosts, threads, skip_broken    as for read()

        Returns a list with {index in `blocks`: array} for each variable.
        """
        numbers = [self._variable_number(name) for name in names]
        count = _threads.usable_threads(self._threads if threads is None else _threads.thread_count(threads))
        with _errors.as_missing_file():
            found, faults, self.report, self.report_text = read(blocks, numbers, ghosts, count, not skip_broken, self._verify)
        # The arrays use the memory without a copy, and keep it alive.
        arrays = [{number: np.ndarray(shape, dtype, memory) for number, memory, dtype, shape in of_variable} for of_variable in found]
        if skip_broken:
            self.faults = faults
        if faults:
            if not skip_broken:
                with _errors.as_missing_file():
                    raise Error(faults[0][2])
            text = "%d of %d arrays cannot be read. The first error: %s" % (len(faults), len(names) * len(blocks), faults[0][2])
            warnings.warn(text, stacklevel=3)
        return arrays

    def _plan_blocks(self, names, patches, levels, form):
        """Makes blocks of patches. Returns the BlockPlan of the compiled part, and an array with a row for each block.

        names    names of variables: only patches that have the same variables among `names` are merged
        patches  patch numbers
        levels   levels whose patches hide coarser cells, by numbers or names as for read(); None: all levels
        form     "patches", "merged", "fewest" or "filled", see BlockForm in DataSet.h
        """
        shown = np.ones(len(self.levels), bool)
        if levels is not None:
            shown = np.isin(np.arange(len(self.levels)), [self._level_number(level) for level in _arguments.as_list(levels)])
        numbers = [self._variable_number(name) for name in names]
        plan = self._core.plan(np.asarray(patches, int).tolist(), shown.tolist(), numbers, form)
        return plan, np.frombuffer(plan.rows, _BLOCK)

    def _read_blocks(self, plan, names, threads=None):
        """Returns {name: {number of the block: array}} for the blocks of a BlockPlan."""
        return dict(zip(names, self._read(self._core.read_blocks, plan, names, threads=threads)))

    def dtype(self, name):
        """Returns the numpy dtype of a variable, without reading values; None if no patch has the variable.

        Raises Error if the step does not have the variable, or its values cannot be located.
        """
        with _errors.as_missing_file():
            dtype = self._core.dtype(self._variable_number(name))
        return None if dtype is None else np.dtype(dtype)

    def part(self, part, parts):
        """Returns the numbers of the patches that process `part` (0 .. parts-1) of `parts` processes should read.

        Each patch is in one part. The patches of a part are close together, and all parts have about the same number of values.
        All processes get the same parts without communication:

            patches = step.part(rank, size)               # from mpi4py, multiprocessing, a batch system ...
            density = step.read("density", patches=patches)
        """
        parts = _arguments.integer(parts, "parts", "a whole number from 1 to %d" % _MAX_PARTS, 1, _MAX_PARTS)
        part = _arguments.integer(part, "part", "a whole number from 0 to %d" % _MAX_PARTS, 0, _MAX_PARTS)
        return np.array(self._core.part(part, parts), int)

    def covered(self, patch):
        """Returns the cells of a patch that other patches replace, as a bool array over the patch's cells.

        Other patches replace the cells that a finer level covers, and the cells that a patch of the same level with a lower number also
        has (SAMRAI writes overlapping patches). Exclude these cells from sums and means: values[~step.covered(patch)] of all patches
        covers the domain exactly once, with the finest data.
        """
        shape, flags = self._core.covered(self._patch_number(patch))
        return np.frombuffer(flags, bool).reshape(shape).copy() if flags else np.zeros(shape, bool)

    @functools.cached_property
    def bounds(self):
        """The bounds (x from, x to, y from, y to, z from, z to) of all patches of all levels, as in ParaView.

        The positions of points, and of the nodes of curvilinear grids and meshes, are read from the file. The bounds are NaN if
        the step has no patches.
        """
        return _sampling.bounds(self)

    def uniform_grid(self, name, *, level=None, shape=None, bounds=None, outside=np.nan):
        """Returns a variable of all levels on one grid, from the finest data, and the positions along x, y (and z).

        level    number or name of the level whose spacing the grid has; level 0 if neither `level` nor `shape` is given
        shape    number of values along each axis, slowest first, [k, j, i], instead of `level`
        bounds   six numbers as in Step.bounds (four in two dimensions); with `level`, the bounds are extended to whole cells.
                 None: around all patches that have the variable
        outside  value where no patch has the variable. If the type of the array cannot represent `outside`, the type is changed:
                 NaN turns integers into floats

        A cell variable is sampled at the cell centres of the grid. The value is that of the finest cell there (on a border
        between cells, of the upper cell). Values are not averaged, so sums over a grid coarser than the data differ from sums
        over the data. A node variable is sampled at the nodes of the grid (with `shape`, the first and the last node are on
        the bounds). The value is that of the nearest node of the finest patch there. On rectilinear grids, `level` uses the
        positions of the grid itself.

            values, (x, y, z) = step.uniform_grid("density", level=1)

        Raises Error for curvilinear grids, meshes and lists of points, and for grids that do not fit into memory.
        """
        return _sampling.uniform_grid(self, name, level, shape, bounds, outside)

    def to_pyvista(self, variables=None, *, patches=None, levels=None, bounds=None, blocks="merged"):
        """Reads variables and returns a pyvista.MultiBlock of grids. Lists of points become point clouds.

        variables, patches, levels    as for read()
        bounds    six numbers as in Step.bounds (four in two dimensions): only patches that touch this region, as a whole
        blocks    "merged": few grids: patches of a level that form a box are one grid, and cells under finer patches of `levels` are
                  left out; "fewest": larger boxes, with gaps and covered cells; "patches": one grid per patch. Curvilinear grids
                  and the partitions of a mesh are not merged

        Each position is drawn once, with the finest data: "vtkGhostType" flags the cells that other grids replace. Merged grids have
        few or no such cells, so that the results of filters that ignore the flags (VTK's contours) are correct, too.
        Values are not copied. Raises ImportError if pyvista is not installed.
        """
        pyvista = import_optional("pyvista", "to_pyvista()")
        from ._grids import grids_of    # needs VTK, which PyVista brings
        found = pyvista.MultiBlock()
        for _, name, grid in grids_of(self, variables, patches, levels, bounds, blocks):
            found.append(pyvista.wrap(grid), name)
        return found

    def to_xarray(self, variables=None, *, level=None):
        """Reads one level and returns an xarray.Dataset with the dimensions x, y, z, or lon, lat, lev.

        variables    a name, several names, or None for all variables of the level
        level        number or name of the level. None: the first level with one of the variables; for k-Wave, the grid that
                     ParaView's reader shows (the sensor if it has time series); for rectilinear grids (GrADS) all levels,
                     where surface variables lack the dimension lev

        Patches are joined. Cells without a patch are NaN (which turns integers into floats). Cells under finer levels have the
        values of this level; for the finest values, use uniform_grid(). x, y, z are cell centres; node variables have
        the dimensions x_node, y_node, z_node. Lists of points have the dimension `point`. `lev` has the values of the GrADS
        levels, such as pressures, and `height` has the positions of these levels in ParaView. A variable with the name of a
        coordinate gets a trailing "_". `time` is a coordinate, and a date if the format has dates:

            series = xarray.concat([step.to_xarray("u") for step in data], "time")

        Curvilinear grids have the dimensions i, j, k. The coordinates are x, y, z for the middles of cells, and x_node, y_node, z_node
        for nodes.
        xarray.open_dataset(path, engine="patchio") returns the same data, but reads values only when they are needed.

        Raises ImportError if xarray is not installed, and Error for meshes, curvilinear grids of several blocks that share
        indices, and levels without variables.
        """
        return _xarray.to_xarray(self, variables, level)

    def to_yt(self, variables=None, *, levels=None):
        """Returns a yt data set of all levels for slices, projections and profiles. yt reads values only when yt needs the values.

        variables, levels    as for read(); variables=None: all cell variables. Every patch must have the variables, and the
                             levels must begin with 0

        A vector V becomes the fields V_x, V_y and V_z. 2-D data get one cell along z, from 0 to 1. Lengths and
        values have no units. Patches of a level that form a box become one grid.
        Raises ImportError if yt is not installed, and Error for grids other than uniform, lists of points, levels whose
        refinement ratio is not the same whole number along all axes, and variables that some patches lack.
        """
        return _yt.to_yt(self, variables, levels)

    def nodes(self, patch):
        """Returns the positions of the nodes of a patch: three arrays, along x, y and z.

        Each axis has one more node than cells, but a flat axis, such as z in two dimensions, has one node.
        Raises Error on curvilinear grids and meshes, whose positions are in the variable `coordinates`, and for points.
        """
        box = self.patches[self._patch_number(patch)]
        level = box["level"]
        if self.coordinates or self.level_roles[level] == "points":
            raise step_error(self, "patch %d has no axes. Use %s instead.", patch,
                             "positions()" if self.coordinates is None else "the variable '%s'" % self.coordinates)
        return self._nodes_of(level, box["lower"], box["upper"])

    def _nodes_of(self, level, lower, upper):
        """Returns the positions of the nodes of a box of cells of a level, along x, y and z. lower, upper: first and last cell."""
        found = []
        for axis in range(3):
            index = np.arange(lower[axis], upper[axis] + 1 + self._extra_nodes[level, axis])
            if self.axes:
                found.append(self.axes[axis].positions[index - self.axes[axis].first])
            else:
                found.append(self.origin[axis] + index * self.levels[level]["spacing"][axis])
        return tuple(found)

    def positions(self, patch):
        """Returns the positions of the points of a patch on a level of points ("points" in `level_roles`): n x 3.

        Points are cell centres of the domain. In two dimensions, the points lie in the plane of the nodes, as in ParaView.
        This method reads from the file, as read() does. Raises Error for other patches, and for points outside the domain.
        """
        level = self.patches[self._patch_number(patch)]["level"]
        if self.level_roles[level] != "points":
            raise step_error(self, "patch %d is a box, not a list of points. Use nodes() instead.", patch)
        lower, upper = (np.array(corner) for corner in self._lattice)
        cells = self.read(self._positions[level], patches=patch)[int(patch)].astype(np.int64) - 1
        size = upper - lower + 1
        if cells.size and not 0 <= cells.min() <= cells.max() < size.prod():
            raise step_error(self, "expected points within the domain of %s cells, found points outside it. The file is damaged.", size)
        index = lower + np.stack(np.unravel_index(cells, size, order="F"), 1)
        middle = np.where(np.arange(3) < self.dimension, 0.5, 0)
        return self.origin + (index + middle) * self.levels[level]["spacing"]

    def _presence_of(self, name):
        """Returns a bool array: True for each patch that has the variable."""
        return self.presence[list(self.variables).index(name)]

    def _variable_names(self, variables):
        """Returns the argument `variables` of read() as a list of names."""
        return list(self.variables) if variables is None else _arguments.as_list(variables)

    def _level_number(self, level):
        """Returns the number of a level, from its number or its name. Raises Error if the step does not have the level."""
        if isinstance(level, str):
            level = _arguments.text(level, "level")
            if level not in self.level_names:
                raise step_error(self, "the step has no level '%s'. The levels are: %s.", level, ", ".join(self.level_names))
            return self.level_names.index(level)
        level = _arguments.integer(level, "level", "a number or name")
        if not 0 <= level < len(self.levels):
            raise step_error(self, "the step has no level %d. It has %d levels, numbered from 0.", level, len(self.levels))
        return level

    def _variable_number(self, name):
        """Returns the index of a variable in the catalog of the compiled part. Raises Error if the step does not have the variable."""
        name = _arguments.text(name, "variable", "a name")
        if name not in self._numbers:
            raise step_error(self, "the step has no variable '%s'. The variables are: %s.", name, ", ".join(self.variables) or "none")
        return self._numbers[name]

    def _patch_number(self, patch):
        """Returns a patch number as int. Raises Error if the step does not have the patch."""
        patch = _arguments.integer(patch, "patch", "a number")
        if not 0 <= patch < len(self.patches):
            raise step_error(self, "the step has no patch %d. It has %d patches, numbered from 0.", patch, len(self.patches))
        return patch

    def _select_patches(self, patches, levels):
        """Returns the numbers of the patches that the arguments `patches` and `levels` of read() select. Each number occurs once, in the
        order of `patches`."""
        if patches is None:
            selected = np.arange(len(self.patches))
        else:
            numbers = _arguments.integers(patches, "patches", "whole numbers")
            selected = np.array([self._patch_number(p) for p in dict.fromkeys(numbers.ravel().tolist())], int)
        if levels is not None:
            level_numbers = [self._level_number(level) for level in _arguments.as_list(levels)]
            selected = selected[np.isin(self.patches["level"][selected], level_numbers)]
        return selected.tolist()

    def __repr__(self):
        return "<patchio.Step %d at time %g: %s on %s, %s>" % (
            self.number, self.time, _describe.count_text(len(self.patches), "patch"), _describe.count_text(len(self.levels), "level"),
            _describe.count_text(len(self.variables), "variable"))

    def _repr_html_(self):
        return _describe.html_of_step(self)

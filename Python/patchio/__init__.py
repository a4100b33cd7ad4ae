"""Reads patch-based simulation output into numpy arrays, with many concurrent reads and without copies, and writes containers.

The package opens the formats of PatchIO's ParaView plugin (SAMRAI dumps, AMReX plotfiles, k-Wave files, GrADS descriptors, VTKHDF
files, PatchIO containers), and needs neither ParaView nor MPI.

    import patchio

    data = patchio.open("dumps.visit")          # a series of time steps; or plt00010, out.h5, model.ctl
    print(data.times)
    step = data[-1]                             # the last step; reads no values yet
    print(step.variables)                       # {'density': Variable(name='density', centering='cell', ...), ...}
    print(step.patches["lower"])                # n x 3: lowest cell of each patch

    density = step.read("density")              # {patch: array}; density[17][k, j, i] is a value of patch 17
    some = step.read(["density", "velocity"], levels=[0, 1])      # {name: {patch: array}}
    print(step.report_text)                     # cost of the read

    values, (x, y, z) = step.uniform_grid("density", level=1)     # all levels as one array, finest data first
    blocks = step.to_pyvista("density")         # for pyvista, one grid per patch
    table = step.to_xarray("density", level=0)  # for xarray, one level
    ds = step.to_yt("density")                  # for yt, all levels

    patchio.write("run.pio", {"density": array}, step=10, spacing=0.1)    # adds a step to a container

Arrays have their slowest axis first: [k, j, i] in three dimensions, [j, i] in two dimensions, and [k, j, i, component] for
several components. The arrays are ordinary numpy arrays that keep their memory alive and outlive the data set. Values have the type of
the file, in this machine's byte order. Undefined values are NaN, also if the format marks undefined values by a number.

read() returns all levels of a refined grid, including coarse cells under finer cells, and patches of a level may overlap:
Step.covered() returns the cells that other patches replace.

Faulty files, unknown names and similar errors raise Error, whose message names the file and a remedy. For a missing file, the
error is also a FileNotFoundError. An argument of a wrong type raises TypeError, an argument with a wrong value ValueError; the
message has the name of the argument, the condition for its value, and the value. Ctrl-C ends a read. Other Python threads run
during a read. Reads of several threads run one after another, and each read uses several I/O threads.

Several processes can share the patches with Step.part(). With multiprocessing, start the processes by get_context("spawn"),
because a process that is forked after a read or write uses only one thread.
"""
import functools
import warnings

try:
    import numpy as np
except ImportError as error:
    raise ImportError("patchio needs numpy. Install it with 'python3 -m pip install numpy', or 'apt install python3-numpy'") from error

from . import _arguments, _core, _describe, _errors, _references, _threads
from ._core import Error, __version__  # noqa: F401
from ._errors import MissingFile
from ._step import Axis, Step, Variable
from ._write import write

__all__ = ["Axis", "DataSet", "Error", "MissingFile", "Step", "Variable", "open", "write"]

for _public in (Axis, MissingFile, Step, Variable, write):
    _public.__module__ = __name__


def open(path, *, metadata="on", threads=None, listed_only=False, verify=False):  # noqa: A001
    """Opens a data set of any supported format and returns its DataSet.

    path         a file or folder: dumps.visit, summary.samrai, the folder plt00010 or its Header, out.h5, model.ctl;
                 or a list of files and folders, which become one series
    metadata     "on": reads and writes index files (.*.patchio in the folder of the data, or in your cache folder), which store
                 the locations of all values, so that the data open faster the next time, also in ParaView; "read": reads index
                 files, but writes none; "off": neither reads nor writes index files
    threads      number of concurrent reads, 1 to 256, or None for the best number for the storage
    listed_only  True: skip other steps in the folder. SAMRAI: only the dumps that dumps.visit lists; AMReX: only the given plotfile
    verify       True: check each array during the read, and treat arrays that fail the check as broken. Containers: the array must
                 match its checksum; the check takes noticeable time only if the storage is as fast as memory. AMReX: the header
                 before the array must match the box of the patch

    Raises Error if a path has no step that can be opened, or the paths have several formats, and MissingFile if the file does
    not exist. Open a series again after its files have changed.
    """
    return DataSet(path, metadata, threads, listed_only, verify)


class DataSet:
    """A series of time steps, as returned by open(): len(data), data[0], data[-1], `for step in data`.

    `with patchio.open(path) as data:` closes the series at the end. A notebook shows the series as a table.

    path      the argument of open()
    format    name of the format: "SAMRAI", "AMReX", "k-Wave", "GrADS", ...
    times     array of times, strictly increasing: the times in the files or, if these do not increase, the step numbers (or
              0, 1, 2 ...)
    numbers   array of the step numbers of the simulation
    dates     list of dates as text; "" for steps without a date
    paths     list of the files that describe the steps
    notes     list of remarks on the files, as texts
    """

    def __init__(self, path, metadata="on", threads=None, listed_only=False, verify=False):
        self.path = path
        paths = [_arguments.file_name(p, "path", "a file name or a list of file names") for p in _arguments.as_list(path)]
        metadata = _arguments.choice(metadata, "metadata", ("on", "read", "off"))
        listed_only = _arguments.flag(listed_only, "listed_only")
        self._threads = _threads.thread_count(threads)
        self._verify = _arguments.flag(verify, "verify")
        with _errors.as_missing_file():
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
        """Opens and returns a Step. data[i:j] opens several steps and returns a list.

        Raises IndexError if the step does not exist, Error if the step cannot be read, and ValueError after close().
        """
        count = len(self)
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(count))]
        index = _arguments.integer(index, "step index", "a whole number, counted from 0")
        if not -count <= index < count:
            raise IndexError("step index %d is out of range: the series has %s, counted from 0" % (index, _describe.count_text(count, "step")))
        if self._core is None:
            raise ValueError("%s is closed" % _errors.path_text(self.path))
        with _errors.as_missing_file():
            return Step(self, index % count)

    def nearest(self, time):
        """Returns the Step with the nearest time, or the earlier of two equally near steps. Raises ValueError for NaN."""
        time = _arguments.number(time, "time", "a number", lambda value: value == value)
        later = min(int(np.searchsorted(self.times, time)), len(self) - 1)
        earlier = max(later - 1, 0)
        return self[earlier if time - self.times[earlier] <= self.times[later] - time else later]

    @functools.cached_property
    def _first(self):
        """The first step, opened at the first access."""
        return self[0]

    @property
    def variables(self):
        """The variables of the first step, {name: Variable}. Other steps may have other variables; see Step.variables."""
        return self._first.variables

    @property
    def bounds(self):
        """The bounds of the first step; see Step.bounds."""
        return self._first.bounds

    def references(self, prefix=None):
        """Returns a dict with references to the bytes of all values, in the format of kerchunk, version 1. json.dump() writes the dict.

        With the references, zarr, xarray and other packages read the same files lazily, without patchio, also from an object store:

            with open("refs.json", "w") as out:
                json.dump(data.references(), out)
            files = fsspec.filesystem("reference", fo="refs.json", asynchronous=True, remote_options={"asynchronous": True})
            store = zarr.storage.FsspecStore(files, read_only=True, path="level_1")
            level = xarray.open_zarr(store, consolidated=False)

        prefix   prefix of the file names in the references, such as "s3://bucket/run/", instead of the folder of the data; None: local
                 paths

        Each level has a group (a single level has none) with the arrays of xarray.open_dataset(path, engine="patchio"). The first axis
        of an array is `time`, unless the values are the same at all steps. If the patches of a level do not form a regular grid of chunks,
        each patch has its own arrays, in groups such as level_1/patch_00017, or step_00003/level_1/patch_00017. Attributes of these arrays
        give the position, the ghost layers and, for values in one row, the shape. Arrays whose stored bytes are not the values are left
        out with a warning.

        Raises Error for meshes, and for files outside the folder that `prefix` replaces.
        """
        if prefix is not None:
            prefix = _arguments.text(prefix, "prefix", "a text")
        found, left_out = _references.references(self, prefix)
        if left_out:
            name, reason = next(iter(left_out.items()))
            warnings.warn("%s cannot be referenced. The first: '%s': %s" % (_describe.count_text(len(left_out), "array"), name, reason), stacklevel=2)
        return found

    def close(self):
        """Closes the series. Steps that are open remain readable."""
        self._core = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return "<patchio.DataSet %r: %s, %s>" % (self.path, self.format, _describe.count_text(len(self), "step"))

    def _repr_html_(self):
        return _describe.html_of_data_set(self)

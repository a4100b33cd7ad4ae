"""The backend of xarray.open_dataset(path, engine="patchio"), which xarray finds by the entry point `xarray.backends`."""
import functools
import os
import threading

import numpy as np
from xarray import Dataset, Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from . import _arguments, _xarray
from . import open as open_data

_EXTENSIONS = (".visit", ".samrai", ".pio", ".ctl")
_CACHED_STEPS = 4


class _Series:
    """The steps of a data set. Pickling stores only the path and the options, so a process that unpickles a copy opens the data set again.

    options    keyword arguments of patchio.open()
    """

    def __init__(self, path, options):
        self.path, self.options = path, options
        self.__setstate__(self.__getstate__())

    def __getstate__(self):
        return self.path, self.options

    def __setstate__(self, state):
        self.path, self.options = state
        self.lock = threading.Lock()
        self.step = functools.lru_cache(_CACHED_STEPS)(lambda index: self.data[index])

    @functools.cached_property
    def data(self):
        """The DataSet of `path`, opened at the first access."""
        return open_data(self.path, **self.options)

    def read(self, index, array, key):
        """Returns the values of an array (see _xarray.describe()) at the step `index` and the array index `key`. Thread-safe: one thread
        reads at a time."""
        with self.lock:
            return array.read(self.step(index), key)

    def close(self):
        """Closes the data set."""
        self.step.cache_clear()
        self.data.close()


class _LazyArray(BackendArray):
    """A variable whose values are read when xarray computes them.

    steps    range of step indices, which become the first axis; or the index of one step, without an axis for the steps
    """

    def __init__(self, series, array, steps):
        self.series, self.array, self.steps = series, array, steps
        self.shape = array.shape if isinstance(steps, int) else (len(steps), *array.shape)
        self.dtype = array.dtype

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key):
        if isinstance(self.steps, int):
            return self.series.read(self.steps, self.array, key)
        chosen = self.steps[key[0]]
        if isinstance(chosen, int):
            return self.series.read(chosen, self.array, key[1:])
        values = [self.series.read(step, self.array, key[1:]) for step in chosen]
        if values:
            return np.stack(values)
        return np.zeros((0, *(len(range(size)[part]) for size, part in zip(self.shape[1:], key[1:]) if isinstance(part, slice))), self.dtype)


class PatchBackend(BackendEntrypoint):
    """The backend of xarray that opens a level of one step or of all steps, see PatchBackend.open_dataset()."""

    description = "Open SAMRAI, AMReX, k-Wave, GrADS, VTKHDF and container data by patchio"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "level", "step", "metadata", "threads", "listed_only")

    def open_dataset(self, filename_or_obj, *, drop_variables=None, level=None, step=None, metadata="on", threads=None,
                     listed_only=True):
        """Returns a Dataset as Step.to_xarray() does, but reads values only when they are needed.

        level    as for Step.to_xarray()
        step     index of a step; None: all steps, along the dimension `time`
        drop_variables    name or names of variables to leave out
        metadata, threads, listed_only    as for patchio.open(); with listed_only=False, all plotfiles in the folder are one series
        """
        series = _Series(os.fspath(filename_or_obj), {"metadata": metadata, "threads": threads, "listed_only": listed_only})
        data = series.data
        if step is not None:
            step = range(len(data))[_arguments.integer(step, "step", "the index of a step, %d to %d" % (-len(data), len(data) - 1),
                                                     -len(data), len(data) - 1)]
        first = data[step or 0]
        steps = range(len(data)) if step is None else step
        if level is None and not first.axes and not first.mesh:
            level = _xarray._level_of(first, list(first.variables))
        elif level is not None:
            level = first._level_number(level)
        boxes = {} if step is not None or first.coordinates or first.mesh else _xarray.boxes_of_series(data, data.paths, level)
        arrays, coordinates = _xarray.describe(first, None, level, boxes)
        times = _xarray.times_of(data)
        coordinates["time"] = ("time", times) if step is None else times[step]
        dropped = set(_arguments.as_list(drop_variables)) if drop_variables is not None else set()
        along = ["time"] if step is None else []
        variables = {}
        for name, (dimensions, array, attributes) in arrays.items():
            if name not in dropped:
                chunks = [1] * len(along) + array.chunks()
                encoding = {"preferred_chunks": dict(zip(along + dimensions, chunks))}
                lazy = indexing.LazilyIndexedArray(_LazyArray(series, array, steps))
                variables[name] = Variable(along + dimensions, lazy, attributes, encoding)
        attributes = {"source": str(data.path)} if step is None else {"source": str(first.path), "step": first.number}
        found = Dataset(variables, coordinates, attributes)
        found.set_close(series.close)
        return found

    def guess_can_open(self, filename_or_obj):
        """Returns whether the path looks like data: NAME.visit, NAME.samrai, NAME.pio, NAME.ctl, or a folder with a Header."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        path = os.fspath(filename_or_obj)
        return path.endswith(_EXTENSIONS) or os.path.isfile(os.path.join(path, "Header"))

"""References to the stored bytes of values, as zarr arrays: the JSON format of kerchunk, version 1, with zarr's metadata of version 2."""
import base64
import itertools
import json
import os
import zlib

import numpy as np

from . import _xarray
from ._errors import Error, as_missing_file

_MAX_INLINE = 1 << 22    # maximum number of bytes of coordinates, or of constant chunks, that one array may have inside the references
_CHUNK = np.dtype([("number", "u8"), ("offset", "u8"), ("bytes", "u8"), ("skipped", "u8")])
# {filter of HDF5: codec of numcodecs}. _array_of_chunks() adds the size of elements to "shuffle".
_CODECS = {"deflate": {"id": "zlib", "level": 6}, "shuffle": {"id": "shuffle"}, "fletcher32": {"id": "fletcher32"},
           "zstd": {"id": "zstd", "level": 3}}


class _Unsupported(Exception):
    """The reason why references cannot describe values, either as one array or at all."""


# ---- stored arrays ---------------------------------------------------------------------------------------

class _ChunkedArray:
    """The values of one variable on a patch, on a level or in a series, in chunks of the same shape.

    dtype       type of the values
    filters     codecs of the chunks, in the order in which the writer applied the codecs
    shape       shape of the values, [k, j, i] and components
    chunk       shape of a chunk
    flat        True: the values of a patch are in one row, and `shape` has one axis in place of [k, j, i]
    locations   {index of a chunk: [file, offset, bytes]}; a number instead of the list if all values of the chunk equal this number
    """

    def __init__(self, dtype, filters, shape, chunk, flat=False):
        self.dtype, self.filters, self.shape, self.chunk = dtype, filters, tuple(shape), tuple(chunk)
        self.flat, self.locations = flat, {}

    def layout(self):
        """Returns the properties that all patches of one zarr array must share."""
        return self.dtype, self.filters, self.chunk, self.flat


def _box_of(dims, first, count):
    """Returns the first index and the end, along each axis, of the box of `count` values from the flat index `first` in an array.

    dims    shape of the array

    Raises _Unsupported if the values are not a box.
    """
    if count < 1:
        raise _Unsupported("there are no values")
    begin, end, rest = [0] * len(dims), list(dims), first
    stride = int(np.prod(dims, dtype=object))
    for axis, size in enumerate(dims):
        stride //= size
        begin[axis], rest = divmod(rest, stride)
        end[axis] = begin[axis] + max(count // stride, 1)
        if count >= stride:
            if rest or count % stride or end[axis] > size:
                break
            return begin, end[:axis + 1] + list(dims[axis + 1:])
    raise _Unsupported("the values are not a box of their array")


def _chunk_shape(shape, flat_chunk, padded):
    """Returns the shape of chunks of `flat_chunk` consecutive values in an array of `shape`; None if such chunks are not boxes.

    padded    True: the last chunk may extend beyond the values
    """
    rest = flat_chunk
    chunk = [1] * len(shape)
    for axis in reversed(range(len(shape))):
        chunk[axis] = min(rest, shape[axis])
        if rest % chunk[axis]:
            return None
        rest //= chunk[axis]
    if rest != 1:
        return None
    # Chunks that end within an axis must end at the same index in each row or plane.
    cut = next((axis for axis in range(len(shape)) if chunk[axis] > 1), len(shape))
    exact = all(shape[axis] % chunk[axis] == 0 for axis in range(len(shape)) if axis > 0 or not padded)
    return tuple(chunk) if exact and all(chunk[axis] == shape[axis] for axis in range(cut + 1, len(shape))) else None


def _merge_short_chunks(dims, chunk_dims, item, chunks):
    """Merges the chunks of each row if the last chunks of rows are short, because zarr needs chunks of equal size.

    item    bytes per value
    chunks    array of _CHUNK

    Returns the shape of the chunks, and the chunks. Raises _Unsupported if chunks of a row are missing or apart in the file.
    """
    whole = int(np.prod(chunk_dims, dtype=object)) * item
    if (chunks["bytes"] % whole == 0).all():
        return chunk_dims, chunks
    axis = next((axis for axis, (size, chunk) in enumerate(zip(dims, chunk_dims)) if 1 < chunk < size), None)
    if axis is None:
        raise _Unsupported("the last chunks are short")
    parts = -(-dims[axis] // chunk_dims[axis])
    merged = list(chunk_dims[:axis]) + list(dims[axis:])
    rows = chunks.reshape(-1, parts) if len(chunks) % parts == 0 else chunks[:0]
    stored = rows["bytes"].sum(1)    # 0 for rows that were never written
    apart = (rows["offset"] + rows["bytes"])[:, :-1] != rows["offset"][:, 1:]
    if not rows.size or (rows["number"][:, 0] % parts).any() or (apart & (stored > 0)[:, None]).any() or \
            not np.isin(stored, (0, int(np.prod(merged, dtype=object)) * item)).all():
        raise _Unsupported("the last chunks are short")
    joined = rows[:, 0].copy()
    joined["number"], joined["bytes"] = joined["number"] // parts, stored
    return merged, joined


def _array_of_chunks(stored, files, shape):
    """Returns the _ChunkedArray of a chunked array in a file.

    stored    the result of ChunkedAsTuple() in Bindings.cxx
    shape     shape of the values

    Raises _Unsupported, for example if the chunks also hold values of other patches or steps.
    """
    dtype, file, dims, chunk_dims, filters, first, count, fill, chunks = stored
    begin, end = _box_of(dims, first, count)
    chunks = np.frombuffer(chunks, _CHUNK)
    if not filters:
        chunk_dims, chunks = _merge_short_chunks(dims, chunk_dims, np.dtype(dtype).itemsize, chunks)
    grid = [-(-size // chunk) for size, chunk in zip(dims, chunk_dims)]
    for axis, chunk in enumerate(chunk_dims):
        if begin[axis] % chunk or (end[axis] % chunk and end[axis] != dims[axis]):
            raise _Unsupported("chunks hold values of several patches or steps")
    padded = any(end[axis] % chunk for axis, chunk in enumerate(chunk_dims))
    kept = [axis for axis in range(len(dims)) if end[axis] - begin[axis] > 1]
    if any(chunk_dims[axis] > 1 for axis in range(len(dims)) if axis not in kept):
        raise _Unsupported("chunks hold values of several patches or steps")
    sizes, steps = [end[a] - begin[a] for a in kept], [chunk_dims[a] for a in kept]
    filters = [dict(_CODECS[name], **({"elementsize": np.dtype(dtype).itemsize} if name == "shuffle" else {})) for name in filters]
    wide = [axis for axis, size in enumerate(shape) if size > 1]
    if sizes == [shape[axis] for axis in wide]:
        chunk = [1] * len(shape)
        for axis, step in zip(wide, steps):
            chunk[axis] = step
        chunked, axes = _ChunkedArray(dtype, filters, shape, chunk), wide
    elif len(kept) == 1 and _chunk_shape(shape, steps[0], padded):
        chunked = _ChunkedArray(dtype, filters, shape, _chunk_shape(shape, steps[0], padded))
        axes = None
    else:
        chunked, axes = _ChunkedArray(dtype, filters, sizes, steps, True), list(range(len(sizes)))
    constant = np.frombuffer(fill, np.dtype(dtype).newbyteorder("="))[0].item()
    counts = [-(-size // step) for size, step in zip(chunked.shape, chunked.chunk)]
    for number, offset, size, skipped in chunks.tolist():
        if skipped and size:
            raise _Unsupported("a chunk was stored without one of its filters")
        index = np.array(np.unravel_index(number, grid))[kept] - [begin[a] // chunk_dims[a] for a in kept]
        if axes is None:
            chunk_index = tuple(int(i) for i in np.unravel_index(index[0], counts))
        else:
            chunk_index = [0] * len(chunked.shape)
            for axis, i in zip(axes, index.tolist()):
                chunk_index[axis] = i
        chunked.locations[tuple(chunk_index)] = [files[file], offset, size] if size else constant
    return chunked


def _array_of_location(location, files, shape, components, interleaved):
    """Returns the _ChunkedArray of a variable on a patch.

    location    the result of LocationAsObject() in Bindings.cxx

    Raises _Unsupported if references cannot describe the values as one array.
    """
    if isinstance(location, str):
        raise _Unsupported(location)
    whole = tuple(shape) + ((components,) if components > 1 else ())
    if isinstance(location, float):
        chunked = _ChunkedArray("<f4", [], whole, whole)
        chunked.locations[(0,) * len(whole)] = location
        return chunked
    parts = []
    for stored in location:
        of_part = whole if interleaved or components == 1 else tuple(shape)
        if len(stored) > 4:
            parts.append(_array_of_chunks(stored, files, of_part))
        else:
            dtype, file, offset, size = stored
            parts.append(_ChunkedArray(dtype, [], of_part, of_part))
            parts[-1].locations[(0,) * len(of_part)] = [files[file], offset, size]
    if len(parts) == 1:
        return parts[0]
    if any(part.layout() != parts[0].layout() for part in parts):
        raise _Unsupported("components are stored in different ways")
    joined = _ChunkedArray(parts[0].dtype, parts[0].filters, parts[0].shape + (components,), parts[0].chunk + (1,), parts[0].flat)
    for number, part in enumerate(parts):
        joined.locations.update({chunk_index + (number,): where for chunk_index, where in part.locations.items()})
    return joined


def _patch_arrays(step, name, patches, ghosts):
    """Returns the range of undefined numbers, and a list with an entry for each patch: the _ChunkedArray of the patch; the reason why
    references cannot describe the patch, as text; or None if the patch has no values."""
    variable = step.variables[name]
    with as_missing_file():
        files, undefined, interleaved, locations = step._core.locate(step._variable_number(name), patches.tolist())
    found = []
    for patch, location in zip(patches.tolist(), locations):
        try:
            shape = _shape_of(step, variable, patch, ghosts)
            found.append(None if location is None else _array_of_location(location, files, shape, variable.components, interleaved))
        except _Unsupported as reason:
            found.append(str(reason))
    return undefined, found


def _shape_of(step, variable, patch, ghosts):
    """Returns the number of stored values of a patch per axis, [k, j, i], with `ghosts` layers. A list of points has one axis."""
    box = step.patches[patch]
    level = box["level"]
    sizes = (box["upper"] - box["lower"] + 1).astype(np.int64)
    if step.level_roles[level] == "points":
        return (int(sizes.prod()),)
    sizes = sizes + (step._extra_nodes[level] if variable.centering == "node" else 0) + 2 * np.array(ghosts)
    return tuple(sizes[:step.dimension][::-1].tolist())


# ---- zarr ------------------------------------------------------------------------------------------------

class _Store:
    """The references under construction.

    path_of    function that returns the path of a file in the references
    left_out   {array: reason} for the arrays that the references cannot describe
    """

    def __init__(self, path_of):
        self.refs, self.path_of, self.left_out = {}, path_of, {}
        self.add_group("")

    def add_group(self, name, attributes=None):
        """Adds the group `name`, its parent groups, and `attributes` to that group. Returns the prefix of the names in the group."""
        parts = name.split("/") if name else []
        for depth in range(len(parts) + 1):
            self.refs.setdefault("/".join(parts[:depth] + [".zgroup"]), '{"zarr_format":2}')
        prefix = name + "/" if name else ""
        if attributes:
            known = json.loads(self.refs.get(prefix + ".zattrs", "{}"))
            self.refs[prefix + ".zattrs"] = json.dumps(dict(known, **attributes))
        return prefix

    def add_array(self, name, chunked, dimensions, attributes, fill=None):
        """Adds a _ChunkedArray with its attributes and its chunks. Adds nothing if the method raises _Unsupported.

        dimensions    names of the axes
        fill          value of missing chunks; None: the array has no missing chunks
        """
        name, found = self._unused_name(name), {}
        meta = {"zarr_format": 2, "shape": [int(size) for size in chunked.shape], "chunks": list(chunked.chunk), "dtype": chunked.dtype, "compressor": None,
                "filters": chunked.filters or None, "fill_value": fill, "order": "C"}
        found[name + "/.zarray"] = json.dumps(meta)
        found[name + "/.zattrs"] = json.dumps(dict(attributes, _ARRAY_DIMENSIONS=list(dimensions)))
        constants, inline = {}, 0
        for chunk_index, where in chunked.locations.items():
            if not isinstance(where, list):
                if where != where and fill is not None:    # zarr returns the fill value where a chunk is missing
                    continue
                if where not in constants:
                    constants[where] = _base64(_constant_chunk(chunked, where))
                inline += len(constants[where])
                if inline > _MAX_INLINE:
                    raise _Unsupported("too many chunks have one value and no stored bytes")
                where = constants[where]
            else:
                where = [self.path_of(where[0]), where[1], where[2]]
            found["%s/%s" % (name, ".".join(map(str, chunk_index)) or "0")] = where
        self.refs.update(found)

    def _unused_name(self, name):
        """Returns `name`, with "_" appended until no other array has the name. Two names may become equal, because _array_name()
        replaces characters."""
        while name + "/.zarray" in self.refs:
            name += "_"
        return name

    def add_coordinate(self, name, dimensions, values, attributes=None):
        """Adds a coordinate, an array whose values are in the references themselves. Does nothing if the array exists. A coordinate
        with too many values is left out, with a reason in `left_out`."""
        if name + "/.zarray" in self.refs:
            return
        values = np.asarray(values, np.dtype(values.dtype).newbyteorder("<"), order="C")
        if values.nbytes > _MAX_INLINE:
            self.left_out[name] = "a coordinate with too many values for references"
            return
        chunked = _ChunkedArray(values.dtype.str, [], values.shape, values.shape)
        self.add_array(name, chunked, dimensions, attributes or {})
        self.refs["%s/%s" % (name, ".".join("0" * values.ndim) or "0")] = _base64(values.tobytes())


def _base64(data):
    """Returns bytes as text, as references contain them."""
    return "base64:" + base64.b64encode(data).decode()


def _constant_chunk(chunked, value):
    """Returns the bytes of a chunk whose values all equal `value`, after the filters. Raises _Unsupported for chunks of more than 256 MiB
    and for filters other than shuffle and zlib."""
    count = int(np.prod(chunked.chunk, dtype=object))
    if np.dtype(chunked.dtype).itemsize * count > 1 << 28:
        raise _Unsupported("a chunk without bytes is too large for references")
    data = np.full(count, value, chunked.dtype).tobytes()
    for codec in chunked.filters:
        if codec["id"] == "shuffle":
            data = np.frombuffer(data, np.uint8).reshape(count, -1).T.tobytes()
        elif codec["id"] == "zlib":
            data = zlib.compress(data)
        else:
            raise _Unsupported("chunks without bytes have the filter " + codec["id"])
    return data


def _fill_value(chunked, undefined):
    """Returns the fill value of a zarr array, which xarray reads as a missing value; None if the values are not floating-point numbers.

    undefined    range of the numbers that mean "undefined"; None: every number is a value
    """
    kind = np.dtype(chunked.dtype)
    if kind.kind != "f":
        return None
    if undefined is None:
        return "NaN"
    with np.errstate(over="ignore"):
        number = float(kind.type(0.5 * undefined[0] + 0.5 * undefined[1]))
    return number if undefined[0] <= number <= undefined[1] else "NaN"


def _undefined_attribute(numbers):
    """Returns {"undefined": range of the numbers that mean "undefined"}; an empty dict if `numbers` is None: every number is a value."""
    most = float(np.finfo(float).max)    # JSON has no infinite numbers
    return {} if numbers is None else {"undefined": [min(max(number, -most), most) for number in numbers]}


# ---- levels ----------------------------------------------------------------------------------------------

def _join_patches(patch_arrays, lowers, lower, shape):
    """Returns the arrays of a level's patches as one _ChunkedArray.

    lowers, lower    lowest index of each patch, and of the level
    shape            shape of the level

    Raises _Unsupported if the patches do not form a regular grid of chunks.
    """
    first = next((chunked for chunked in patch_arrays if chunked.locations and not all(isinstance(w, float) for w in chunked.locations.values())), patch_arrays[0])
    joined = _ChunkedArray(first.dtype, first.filters, shape, first.chunk)
    for chunked, low in zip(patch_arrays, lowers):
        offset = list(np.subtract(low, lower).tolist()) + [0] * (len(shape) - len(low))
        constant = chunked.chunk == chunked.shape and not isinstance(next(iter(chunked.locations.values()), []), list)
        if chunked.flat or (chunked.layout() != first.layout() and not (constant and all(s % c == 0 for s, c in zip(chunked.shape, first.chunk)))):
            raise _Unsupported("patches differ in the shape or the form of their chunks")
        for axis, (size, chunk) in enumerate(zip(chunked.shape, first.chunk)):
            if offset[axis] < 0 or offset[axis] + size > shape[axis]:
                raise _Unsupported("patches lie outside the array of the first step")
            if offset[axis] % chunk or (size % chunk and offset[axis] + size != shape[axis]):
                raise _Unsupported("patches do not lie on a grid of chunks")
        if constant:
            value = next(iter(chunked.locations.values()))
            indices = itertools.product(*(range(-(-size // chunk)) for size, chunk in zip(chunked.shape, first.chunk)))
            chunk_locations = {chunk_index: value for chunk_index in indices}
        else:
            chunk_locations = chunked.locations
        start = [o // chunk for o, chunk in zip(offset, first.chunk)]
        for chunk_index, where in chunk_locations.items():
            index = tuple(s + p for s, p in zip(start, chunk_index))
            if index in joined.locations:
                raise _Unsupported("patches overlap")
            joined.locations[index] = where
    return joined


def _level_array(step, name, level, array):
    """Returns the range of undefined numbers, and a variable of a level at one step as one _ChunkedArray; None if no patch has values.

    array    the array of _xarray.describe() for the variable

    Raises _Unsupported if one array cannot describe the patches.
    """
    variable, patches = step.variables[name], _xarray.patches_of(step, name, level)
    if any(variable.ghosts[:step.dimension]):
        raise _Unsupported("patches have ghost layers")
    undefined, patch_arrays = _patch_arrays(step, name, patches, (0, 0, 0))
    for chunked in patch_arrays:
        if isinstance(chunked, str):
            raise _Unsupported(chunked)
    surface = isinstance(array, _xarray.SurfaceArray)
    if isinstance(array, _xarray.PointsArray):
        sizes = [_shape_of(step, variable, patch, (0, 0, 0))[0] for patch in patches]
        lowers = np.cumsum([0] + sizes)[:-1, None]
        lower, shape = [0], array.shape
    else:
        box = array.array if surface else array
        lowers = step.patches["lower"][patches][:, :step.dimension][:, ::-1]
        lower, shape = box.lower[:step.dimension][::-1], box.shape
    there = [number for number, chunked in enumerate(patch_arrays) if chunked]
    if not there:
        return undefined, None
    joined = _join_patches([patch_arrays[number] for number in there], lowers[there].tolist(), list(lower), shape)
    if surface:
        joined.shape, joined.chunk = joined.shape[1:], joined.chunk[1:]
        joined.locations = {chunk_index[1:]: where for chunk_index, where in joined.locations.items()}
    return undefined, joined


def _series_array(steps, name, level, array):
    """Returns the range of undefined numbers, and a variable of a level at all steps as one _ChunkedArray, whose first axis is
    time; None if no step has values.

    Raises _Unsupported, as _level_array() does, and if the chunks differ between steps.
    """
    series, undefined = None, None
    for number, step in enumerate(steps):
        if not _xarray.patches_of(step, name, level).size:
            continue
        undefined, chunked = _level_array(step, name, level, array)
        if chunked is None:
            continue
        if series is None:
            series = _ChunkedArray(chunked.dtype, chunked.filters, (len(steps),) + chunked.shape, (1,) + chunked.chunk)
        if (chunked.dtype, chunked.filters, chunked.chunk) != (series.dtype, series.filters, series.chunk[1:]):
            raise _Unsupported("steps differ in the shape or the form of their chunks")
        series.locations.update({(number,) + chunk_index: where for chunk_index, where in chunked.locations.items()})
    return undefined, series


def _is_complete(chunked):
    """Returns whether the _ChunkedArray has a location for each chunk."""
    return len(chunked.locations) == np.prod([-(-size // chunk) for size, chunk in zip(chunked.shape, chunked.chunk)], dtype=object)


class _Steps:
    """The steps of a data set, opened when they are needed."""

    def __init__(self, data):
        self.data, self.opened = data, {}
        self.times = _xarray.times_of(data)

    def is_steady(self, variable):
        """Returns whether a variable has the same values at all steps. `variable.steady` is about the steps of one file only."""
        return len(self) == 1 or (variable.steady and len(set(self.data.paths)) == 1)

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return (self[index] for index in range(len(self.data)))

    def __getitem__(self, index):
        if index not in self.opened:
            self.opened[index] = self.data[index]
        return self.opened[index]


def _array_name(name):
    """Returns the name of a variable without "/", which zarr does not allow in names of arrays."""
    return name.replace("/", "_")


def _add_patches(store, steps, name, level_of, group):
    """Adds one array per patch, in the group of the patch. level_of: see _add_level()."""
    for number, step in enumerate(steps):
        patches = _xarray.patches_of(step, name, level_of(step))
        if not patches.size:
            continue
        variable = step.variables[name]
        steady = steps.is_steady(variable)
        above = ["step_%05d" % number] if len(steps) > 1 and not steady else []
        if above:
            time = {"time": float(step.time), "number": step.number, "date": step.date}
            store.add_group(above[0], {key: value for key, value in time.items() if value != ""})
        undefined, patch_arrays = _patch_arrays(step, name, patches, variable.ghosts)
        for patch, chunked in zip(patches.tolist(), patch_arrays):
            where = "/".join(above + ([group] if group else []) + ["patch_%05d" % patch])
            reason = chunked if isinstance(chunked, str) else chunked and _add_patch(store, where, step, name, patch, chunked, undefined)
            if reason:
                store.left_out["%s/%s" % (where, name)] = reason
        if steady:
            return


def _add_patch(store, where, step, name, patch, chunked, undefined):
    """Adds the array of a patch to the group `where`. Returns None, or the reason why references cannot describe the array."""
    variable = step.variables[name]
    points = step.level_roles[step.patches["level"][patch]] == "points"
    names = ["point"] if points else _xarray._axis_names(step, variable.centering)[:step.dimension][::-1]
    attributes = dict(_attributes_of_patch(step, variable, patch), **_undefined_attribute(undefined))
    if chunked.flat:
        attributes["shape"] = list(_shape_of(step, variable, patch, variable.ghosts))
        names = [name + "_value"]
        if variable.components > 1 and len(chunked.shape) == 1:
            attributes["shape"].append(variable.components)
    elif any(variable.ghosts[:step.dimension]):    # arrays of a group share the sizes of their dimensions
        names = [axis + "_of_" + _array_name(name) for axis in names]
    names = names + [name + "_component"] * (len(chunked.shape) - len(names))
    if chunked.locations and all(not isinstance(location, list) for location in chunked.locations.values()) and not chunked.filters:
        chunked.filters = [dict(_CODECS["deflate"])]
    group = store.add_group(where)
    try:
        store.add_array(group + _array_name(name), chunked, names, attributes, _fill_value(chunked, undefined))
    except _Unsupported as reason:
        return str(reason)
    if step.axes and not chunked.flat and not any(variable.ghosts):
        box = step.patches[patch]
        for axis, (dimensions, values) in _xarray.axes_of_box(step, box["level"], box["lower"], box["upper"], variable.centering).items():
            _add_coordinate(store, group + axis, _as_list(dimensions), np.asarray(values))
    return None


def _attributes_of_patch(step, variable, patch):
    """Returns the attributes of a variable's array on a patch: cells, ghost layers, position and spacing."""
    box = step.patches[patch]
    attributes = {"lower": box["lower"][:step.dimension].tolist(), "upper": box["upper"][:step.dimension].tolist(),
                  "ghosts": list(variable.ghosts[:step.dimension])}
    if step.grid == "uniform" and step.level_roles[box["level"]] != "points":
        spacing = step.levels["spacing"][box["level"]]
        middle = 0.5 if variable.centering == "cell" else 0.0
        first = step.origin + (box["lower"] - np.array(variable.ghosts) + middle) * spacing
        attributes.update(first_position=first[:step.dimension].tolist(), spacing=spacing[:step.dimension].tolist())
    if variable.long_name:
        attributes["long_name"] = variable.long_name
    return attributes


def _add_level(store, steps, level_of, group):
    """Adds each variable of a level as one array, or as one array per patch if the patches do not form a regular grid of chunks.

    level_of    function that returns the level's number in a step; -1 if the step lacks the level, None for all levels together
    """
    numbers = {level_of(step) for step in steps} - {-1}
    level = numbers.pop() if len(numbers) == 1 else -1    # k-Wave files may number the same level differently
    boxes = {} if steps[0].coordinates or level == -1 else _xarray.boxes_of_series(steps, steps.data.paths, level)
    used, done = {}, set()
    for step in steps:
        names = [name for name in step.variables if name not in done and _xarray.patches_of(step, name, level_of(step)).size]
        done.update(names)
        try:
            arrays, coordinates = _xarray.describe(step, names, level, boxes) if names and level != -1 else ({}, {})
        except Error:    # curvilinear grids that are not one array
            arrays, coordinates = {}, {}
        for name, described in itertools.zip_longest(names, arrays.items()):
            dimensions = _add_array(store, steps, step, name, level, group, described) if described else None
            if dimensions is None:
                _add_patches(store, steps, name, level_of, group)
            else:
                used.update({key: of for key, of in coordinates.items() if set(_as_list(of[0])) <= set(dimensions)})
                used["time"] = ("time", steps.times) if len(steps) > 1 else ((), steps.times[0])
    for name, (dimensions, *values) in used.items():
        _add_coordinate(store, store.add_group(group) + name, _as_list(dimensions), np.asarray(values[0]))
    prefix = group + "/" if group else ""
    more = [name for name, (dimensions, *_) in used.items() if name not in _as_list(dimensions) and prefix + name + "/.zarray" in store.refs]
    if more:
        store.add_group(group, {"coordinates": " ".join(more)})


def _add_array(store, steps, step, name, level, group, described):
    """Adds a variable of a level as one array. Returns the dimensions of the array, or None if the variable needs one array per patch.

    described    an item of the first result of _xarray.describe()
    """
    key, (dimensions, array, attributes) = described
    steady = steps.is_steady(step.variables[name])
    dimensions = ([] if steady else ["time"]) + dimensions
    try:
        undefined, chunked = _level_array(step, name, level, array) if steady else _series_array(steps, name, level, array)
        if chunked is None:
            raise _Unsupported("no patch has values")
        fill = _fill_value(chunked, undefined)
        if fill is None and not _is_complete(chunked):
            raise _Unsupported("patches leave gaps, which whole numbers cannot express")
        store.add_array(store.add_group(group) + _array_name(key), chunked, dimensions, dict(attributes, **_undefined_attribute(undefined)), fill)
    except _Unsupported:
        return None
    return dimensions


def _as_list(names):
    """Returns a name or a list of names as a list."""
    return [names] if isinstance(names, str) else list(names)


def _add_coordinate(store, name, dimensions, values):
    """Adds a coordinate. Dates become seconds since 1970."""
    attributes = {}
    if values.dtype.kind == "M":
        values, attributes = values.astype("datetime64[s]").astype(np.int64), {"units": "seconds since 1970-01-01", "calendar": "proleptic_gregorian"}
    store.add_coordinate(name, dimensions, values, attributes)


def _folder_of(data):
    """Returns the innermost folder that contains the data set's file or folder, or all files of a list."""
    given = [data.path] if isinstance(data.path, (str, os.PathLike)) else data.path
    paths = [os.path.abspath(os.fspath(path)) for path in given]
    paths = [os.path.dirname(path) if os.path.basename(path) == "Header" else path for path in paths]
    return os.path.commonpath([os.path.dirname(path) for path in paths])


def _group_names(steps):
    """Returns {name of a level: name of its group}; the group is "" if there is one level."""
    names = dict.fromkeys(name for step in steps for name in step.level_names)
    groups = {}
    for name in names:
        group = _array_name(name).replace(" ", "_")
        while group in groups.values():
            group += "_"
        groups[name] = group if len(names) > 1 else ""
    return groups


def references(data, prefix):
    """Implements DataSet.references(). Returns the references, and {array: reason} for the arrays that are left out."""
    folder = _folder_of(data)

    def path_of(file):
        path = os.path.abspath(file)
        if prefix is None:
            return path
        inside = os.path.relpath(path, folder)
        if inside.split(os.sep)[0] == "..":
            raise Error("%s is outside the folder %s, which the prefix replaces. Leave the prefix out." % (path, folder))
        return prefix + ("" if not prefix or prefix.endswith("/") else "/") + inside

    steps, store = _Steps(data), _Store(path_of)
    first = steps[0]
    if first.mesh:
        raise Error("%s is a mesh, which references cannot describe. Use read() or to_pyvista() instead." % first.path)
    store.add_group("", {"source": str(data.path), "format": data.format})
    if first.axes:
        _add_level(store, steps, lambda step: None, "")
    else:
        for name, group in _group_names(steps).items():
            _add_level(store, steps, lambda step, name=name: step.level_names.index(name) if name in step.level_names else -1, group)
    return {"version": 1, "refs": store.refs}, store.left_out

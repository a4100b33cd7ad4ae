#!/usr/bin/python3
"""Compares what references lead to with the values that h5py and numpy read: by the rules of zarr, and by zarr, fsspec and xarray where
they are installed.

usage: PYTHONPATH=... PATCHIO_METADATA_DIR=... references.py series|kwave|grads TRUTHDIR
       PYTHONPATH=... references.py tool PATCHIO DATA SCRATCH
"""
import base64
import glob
import importlib.util
import itertools
import json
import os
import subprocess
import sys
import warnings
import zlib

import numpy as np
import patchio
import values
from patchio import _references
from values import TruthOfStep, check_values, expect

HAS_ZARR = all(importlib.util.find_spec(name) for name in ("zarr", "fsspec"))


# ---- readers of references -------------------------------------------------------------------------------

def undone(data, filters, kind):
    """Returns the bytes of a chunk before its filters."""
    for codec in reversed(filters or []):
        if codec["id"] == "zlib":
            data = zlib.decompress(data)
        elif codec["id"] == "shuffle":
            assert codec["elementsize"] == kind.itemsize
            data = np.frombuffer(data, np.uint8).reshape(kind.itemsize, -1).T.tobytes()
        elif codec["id"] == "fletcher32":
            data = data[:-4]
        else:
            raise ValueError(codec["id"])
    return data


def bytes_of(where):
    if isinstance(where, str):
        assert where.startswith("base64:")
        return base64.b64decode(where[7:])
    path, offset, size = where
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(size)


class PlainReader:
    """Arrays by the specification of zarr 2, without zarr."""

    def __init__(self, refs):
        self.refs = refs

    def attributes(self, name):
        return json.loads(self.refs[name + "/.zattrs"])

    def read(self, name):
        meta = json.loads(self.refs[name + "/.zarray"])
        kind, shape, chunk = np.dtype(meta["dtype"]), meta["shape"], meta["chunks"]
        fill = meta["fill_value"]
        whole = np.full(shape, 0 if fill is None else float(fill) if kind.kind == "f" else fill, kind)
        missing = 0
        for place in itertools.product(*(range(-(-size // step)) for size, step in zip(shape, chunk))):
            where = self.refs.get("%s/%s" % (name, ".".join(map(str, place)) or "0"))
            if where is None:
                missing += 1
                continue
            data = np.frombuffer(undone(bytes_of(where), meta["filters"], kind), kind).reshape(chunk)
            region = tuple(slice(p * step, min(p * step + step, size)) for p, step, size in zip(place, chunk, shape))
            whole[region] = data[tuple(slice(part.stop - part.start) for part in region)]
        expect(not missing or fill is not None, "%s: %d chunks are missing", name, missing)
        return whole


class ZarrReader:
    """Arrays as zarr reads them by fsspec."""

    def __init__(self, refs):
        import fsspec
        import zarr
        if zarr.__version__.startswith("2."):
            self.store = fsspec.filesystem("reference", fo=refs).get_mapper("")
            self.root = zarr.open_group(self.store, mode="r")
        else:
            files = fsspec.filesystem("reference", fo=refs, asynchronous=True, remote_options={"asynchronous": True})
            self.store = zarr.storage.FsspecStore(files, read_only=True)
            self.root = zarr.open_group(self.store, mode="r", zarr_format=2)

    def attributes(self, name):
        return dict(self.root[name].attrs)

    def read(self, name):
        return self.root[name][...]


def plain(values_read, attributes):
    """Returns values in this machine's byte order, with NaN for undefined ones, as patchio reads them."""
    found = values_read.astype(values_read.dtype.newbyteorder("="))
    if "undefined" in attributes and found.dtype.kind == "f":
        low, high = attributes["undefined"]
        found = np.where((found >= low) & (found <= high), np.nan, found).astype(found.dtype)
    return found


class Found:
    """The values of patches in references, however they are arranged."""

    def __init__(self, data, reader, refs):
        self.data, self.reader, self.cache = data, reader, {}
        self.has_groups = not data[0].axes and len({name for step in data for name in step.level_names}) > 1
        self.arrays = {name[:-len("/.zarray")] for name in refs if name.endswith("/.zarray")}

    def read(self, name):
        if name not in self.cache:
            self.cache[name] = plain(self.reader.read(name), self.reader.attributes(name))
        return self.cache[name]

    def groups_of(self, step, level):
        """Returns the parts of the name of a level's group."""
        return [step.level_names[level].replace(" ", "_")] if self.has_groups else []

    def level_array(self, number, step, variable, level):
        """Returns the array of a level at one step, its first cell, and its dimensions; None if there is no such array."""
        name = "/".join(self.groups_of(step, level) + [variable.replace("/", "_")])
        if name not in self.arrays:
            return None
        array, dimensions = self.read(name), self.reader.attributes(name)["_ARRAY_DIMENSIONS"]
        if dimensions[0] == "time":
            array, dimensions = array[number], dimensions[1:]
        return array, dimensions

    def patch(self, number, step, variable, patch, lowest):
        """Returns the values of a patch with its ghost layers. lowest: lowest cell of the level's patches at all steps."""
        level, steady = step.patches["level"][patch], step.variables[variable].steady
        found = self.level_array(number, step, variable, level)
        if found is not None:
            array, dimensions = found
            shape = step.patches["upper"][patch] - step.patches["lower"][patch] + 1
            more = np.array([dim.endswith("_node") or bool(step.axes) for dim in dimensions[:step.dimension]][::-1] + [False] * 3)[:3]
            if len(dimensions) < step.dimension:    # a surface
                more = np.array([True, True, False])
            first, count = step.patches["lower"][patch] - lowest, shape + more
            axes = min(step.dimension, len(dimensions))
            return array[tuple(slice(f, f + n) for f, n in zip(first[:axes][::-1], count[:axes][::-1]))]
        parts = ["step_%05d" % number] if len(self.data) > 1 and not steady else []
        name = "/".join(parts + self.groups_of(step, level) + ["patch_%05d" % patch, variable.replace("/", "_")])
        if name not in self.arrays:
            return None
        array, attributes = self.read(name), self.reader.attributes(name)
        expect(attributes["lower"] == step.patches["lower"][patch][:step.dimension].tolist(), "%s: lower %s", name, attributes["lower"])
        if "shape" in attributes:
            array = array.reshape(tuple(attributes["shape"]) + array.shape[1:])
        return array


def opened(path):
    """Returns the data set, for each reader a Found, and the names of variables that have arrays without references."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")    # about dumps that are broken on purpose
        data = patchio.open(path, listed_only=False)
    found, left_out = _references.references(data, None)
    refs = json.loads(json.dumps(found))["refs"]
    readers = [PlainReader(refs)] + ([ZarrReader(refs)] if HAS_ZARR else [])
    return data, [Found(data, reader, refs) for reader in readers], {name.rpartition("/")[2] for name in left_out}


# ---- comparison ------------------------------------------------------------------------------------------

def check_series(folder):
    with open(os.path.join(folder, "series.json")) as file:
        table = json.load(file)
    for series in table:
        data, readers, left_out = opened(series["index"])
        truths = [TruthOfStep(os.path.join(folder, about["npz"])) for about in series["steps"]]
        lowest = {}
        for box in (box for truth in truths for box in truth.meta["patches"]):
            lowest[box["level"]] = np.minimum(lowest.get(box["level"], box["lower"]), box["lower"])
        for found in readers:
            for number, truth in enumerate(truths):
                step = data[number]
                for variable, patch in itertools.product(truth.meta["variables"], range(len(truth.meta["patches"]))):
                    name, level = variable["name"], truth.meta["patches"][patch]["level"]
                    want = truth.array(patch, variable, True)
                    if want is None or name == step.coordinates:
                        continue
                    values_read = found.patch(number, step, name, patch, np.resize(lowest[level], 3))
                    where = "%s '%s' of patch %d at step %d, %s" % (series["index"], name, patch, number, type(found.reader).__name__)
                    if expect(values_read is not None or name in left_out, "%s: there is no array", where) and values_read is not None:
                        check_values(values_read, want, where)
    return len(table)


def check_kwave(folder):
    paths = sorted(glob.glob(folder + "/*.npz"))
    for path in paths:
        truth = {key: value for key, value in np.load(path).items() if key != "none"}
        data, readers, left_out = opened(str(truth["path"]))
        expect(not left_out, "%s: %s", path, left_out)
        for found, number in itertools.product(readers, sorted({0, len(data) - 1})):
            step = data[number]
            for key in truth:
                part, _, name = key.partition("/")
                if not name or name in ("lower", "upper", "places"):
                    continue
                want = values.at_step(name, truth[key], number)
                check_part(found, number, step, part, name, want, "%s %s at step %d, %s" % (path, key, number, type(found.reader).__name__))
    return len(paths)


def check_part(found, number, step, part, name, want, where):
    """Compares the domain, a cuboid or a list of points. Each may consist of several patches."""
    level_name = {"domain": "domain", "points": "sensor"}.get(part, "sensor" if part.startswith("cuboid") else part)
    level = step.level_names.index(level_name)
    array = found.level_array(number, step, name, level)
    if step.level_roles[level] == "points":
        if expect(array is not None, "%s: there is no array", where):
            check_values(array[0], want, where)
        return
    patches = [p for p, patch in enumerate(step.patches) if patch["level"] == level and (part == "domain" or patch["number"] == int(part[6:]))]
    corner = step.patches["lower"][patches].min(0)
    of_level = step.patches["lower"][step.patches["level"] == level].min(0)
    for patch in patches:
        values_read = found.patch(number, step, name, patch, of_level)
        first, size = step.patches["lower"][patch] - corner, step.patches["upper"][patch] - step.patches["lower"][patch] + 1
        region = want[tuple(slice(f, f + n) for f, n in zip(first[::-1], size[::-1]))]
        if expect(values_read is not None, "%s: there is no array", where):
            check_values(values_read, region[0] if step.dimension == 2 else region, where)


def check_grads(folder):
    truths = values.grads.load_all(folder) if os.path.exists(os.path.join(folder, "truths.json")) else []
    for truth in truths:
        data, readers, left_out = opened(truth.ctl)
        for found, number in itertools.product(readers, range(len(data))):
            step = data[number]
            for name in truth.arrays[number]:
                want = truth.on_grid(number, name)
                for patch in np.flatnonzero(step.presence[list(step.variables).index(name)]):
                    values_read = found.patch(number, step, name, patch, np.zeros(3, int))
                    where = "%s '%s' at step %d, %s" % (truth.ctl, name, number, type(found.reader).__name__)
                    if not expect(values_read is not None or name in left_out, "%s: there is no array", where) or values_read is None:
                        continue
                    lower = step.patches["lower"][patch] + [0, 0, 0 if name in truth.deep else 1]
                    region = want[tuple(slice(first, first + len(axis)) for first, axis in zip(lower[::-1], step.nodes(patch)[::-1]))]
                    check_values(values_read, region if values_read.ndim == 3 else region[0], where)
    return len(truths)


def check_store():
    """An array that cannot be added as a whole leaves nothing behind, and names that differ in a slash stay apart."""
    store = _references._Store(lambda path: path)
    large = _references._ChunkedArray("<f8", [], (4096, 1024), (1024, 1024))
    large.locations = {(n, 0): ["a", 0, 8 << 20] if n == 0 else float(n) for n in range(4)}
    before = dict(store.refs)
    try:
        store.add_array("large", large, ["y", "x"], {}, "NaN")
        expect(False, "32 MB of constants are in the references")
    except _references._Unsupported:
        expect(store.refs == before, "a part of an array stayed")
    small = _references._ChunkedArray("<f8", [], (1,), (1,))
    small.locations = {(0,): 1.0}
    for _ in range(2):
        store.add_array("a_b", small, ["x"], {})
    expect({"a_b/.zarray", "a_b_/.zarray"} <= set(store.refs), "arrays of the same name: %s", sorted(store.refs))


def check_virtualizarr(file, references):
    """Checks the manifests that VirtualiZarr makes of a file of references. It refuses arrays with values in the file itself."""
    try:
        import virtualizarr
        from obspec_utils.registry import ObjectStoreRegistry
        from obstore.store import LocalStore
        from virtualizarr.parsers import KerchunkJSONParser
    except ImportError:
        print("skipped: virtualizarr is not installed")
        return
    made, registry = 0, ObjectStoreRegistry({"file://": LocalStore()})
    for group in sorted({os.path.dirname(os.path.dirname(name)) for name in references if name.endswith(".zarray")}):
        chunks = {name: where for name, where in references.items() if os.path.dirname(os.path.dirname(name)) == group and not os.path.basename(name).startswith(".z")}
        inside = {name.split("/")[-2] for name, where in chunks.items() if not isinstance(where, list)}
        chunks = {name: where for name, where in chunks.items() if name.split("/")[-2] not in inside}
        if not chunks:
            continue
        parser = KerchunkJSONParser(group=group or None, skip_variables=sorted(inside))
        found = virtualizarr.open_virtual_dataset("file://" + file, registry=registry, parser=parser, loadable_variables=[])
        for name, array in found.data_vars.items():
            for at, chunk in array.data.manifest.dict().items():
                path, first, size = chunks.pop(os.path.join(group, name, at))
                expect(chunk == {"path": "file://" + path, "offset": first, "length": size}, "%s/%s: %s in VirtualiZarr", group, name, chunk)
                made += 1
        expect(not chunks, "VirtualiZarr lacks %s", sorted(chunks)[:3])
    expect(made > 0, "VirtualiZarr: no chunk was compared")


def check_tool(program, path, scratch):
    """Checks `patchio references` with a prefix, and its messages."""
    check_store()
    os.makedirs(scratch, exist_ok=True)
    out = os.path.join(scratch, "refs.json")
    done = subprocess.run([program, "references", path, out, "--prefix", "s3://bucket", "--python", sys.executable], capture_output=True, text=True)
    expect(done.returncode == 0 and done.stdout.startswith(out + ": ") and not done.stderr, "patchio references: %s", done)
    with open(out) as file:
        found = json.load(file)
    local = patchio.open(path, listed_only=False).references()
    with open(os.path.join(scratch, "local.json"), "w") as file:
        json.dump(local, file)
    check_virtualizarr(os.path.abspath(file.name), local["refs"])
    folder = os.path.dirname(os.path.abspath(path))
    back = {name: [folder + "/" + where[0][len("s3://bucket/"):], *where[1:]] if isinstance(where, list) else where for name, where in found["refs"].items()}
    expect(back == json.loads(json.dumps(local))["refs"], "the prefix changes more than names")
    for wrong, text in (([path + ".no", out], "No such file"), ([path, scratch + "/no/refs.json"], "no/refs.json"),
                        ([path, out, "--python", "/nonexistent/python"], "no Python 3")):
        done = subprocess.run([program, "references"] + wrong + (["--python", sys.executable] if "--python" not in wrong else []), capture_output=True, text=True)
        expect(done.returncode == 1 and text in done.stderr and "Traceback" not in done.stderr, "%s: %s", wrong, done)
    values.compared[0] += 1
    return 1


def main():
    checks = {"series": check_series, "kwave": check_kwave, "grads": check_grads, "tool": check_tool}
    count = checks[sys.argv[1]](*sys.argv[2:])
    print("references: %d data sets, %d values compared, %d faults%s" % (
        count, values.compared[0], len(values.failed), "" if HAS_ZARR else "; zarr and fsspec are not installed, so that they were not tried"))
    return 1 if values.failed or not values.compared[0] else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Compares the values of the package patchio with those that h5py and numpy read, bit by bit.

usage: PYTHONPATH=... PATCHIO_METADATA_DIR=... values.py series|kwave|grads TRUTHDIR

TRUTHDIR has the reference values of the format's reference.py (SAMRAI and AMReX: `series`) or make_cases.py.
"""
import glob
import json
import os
import sys

import numpy as np
import patchio

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "GRADS"))
import truth as grads  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

KWAVE_SERIES = ["p", "ux", "uy", "uz", "ux_non_staggered", "uy_non_staggered", "uz_non_staggered"]
compared = [0]


def check_array(found, want, where):
    """Expects the same type, shape and bits."""
    if not expect(found.dtype == want.dtype and found.shape == want.shape, "%s: %s %s instead of %s %s", where, found.dtype,
                  found.shape, want.dtype, want.shape):
        return
    bits = "u%d" % want.dtype.itemsize
    differ = found.view(bits) != np.ascontiguousarray(want).view(bits)
    expect(not differ.any(), "%s: %d of %d values differ", where, differ.sum(), want.size)
    compared[0] += want.size


def check_values(found, want, where):
    """Expects the same values, with NaN for undefined ones."""
    same = found.dtype == want.dtype and found.shape == want.shape
    expect(same and np.array_equal(found, want, equal_nan=want.dtype.kind == "f"), "%s: %s %s instead of %s %s, or other values",
           where, found.dtype, found.shape, want.dtype, want.shape)
    compared[0] += want.size


def check_times(data, times, where):
    expect(len(data.times) == len(times) and np.allclose(data.times, times, rtol=1e-12, atol=1e-9), "%s: times %s instead of %s", where,
           data.times, times)


# ---- SAMRAI and AMReX ------------------------------------------------------------------------------------

class TruthOfStep:
    """The values in one npz of reference.py."""

    def __init__(self, path):
        stored = np.load(path)
        self.meta = json.loads(stored["meta"].tobytes().decode())
        self.arrays = {name: stored[name] for name in stored.files if name != "meta"}

    def shape(self, patch, variable, ghosts):
        box, dim = self.meta["patches"][patch], self.meta["dim"]
        more = 0 if variable["cell"] else 1
        return [box["upper"][a] - box["lower"][a] + 1 + more + 2 * ghosts[a] for a in reversed(range(dim))]

    def array(self, patch, variable, with_ghosts):
        """Returns the array with the slowest axis first; None if the patch does not have the variable."""
        values = self.arrays.get("p%d/%s" % (patch, variable["name"]))
        if values is None:
            return None
        values = values.reshape(self.shape(patch, variable, variable["ghosts"]) + list(values.shape[1:]))
        if not with_ghosts:
            layers = variable["ghosts"][:self.meta["dim"]][::-1]
            values = values[tuple(slice(n, values.shape[a] - n) for a, n in enumerate(layers))]
        return values[..., 0] if values.shape[-1] == 1 else values


def check_catalog(step, truth, where):
    meta = truth.meta
    expect((step.dimension, step.number) == (meta["dim"], meta["step"]) and np.isclose(step.number, meta["step"]), "%s: is step %d in %d-D",
           where, step.number, step.dimension)
    expect(step.levels["patch_count"].tolist() == meta["level_sizes"], "%s: levels %s", where, step.levels)
    expect(step.grid == ("curvilinear" if meta["deformed"] else "uniform"), "%s: grid %s", where, step.grid)
    for name in ("level", "number", "lower", "upper"):
        want = [patch[name] for patch in meta["patches"]]
        expect(np.array_equal(step.patches[name], np.array(want).reshape(step.patches[name].shape)), "%s: %s of patches", where, name)
    dim = meta["dim"]
    if not meta["deformed"]:
        expect(np.allclose(step.levels["spacing"][:, :dim], np.array(meta["spacing"])[:, :dim]), "%s: spacing", where)
        expect(np.allclose(step.origin[:dim], meta["origin"][:dim]), "%s: origin %s instead of %s", where, step.origin, meta["origin"])
    known = dict(step.variables)
    for variable in meta["variables"]:
        name = variable["name"]
        if name == step.coordinates:
            continue
        if not expect(name in known, "%s: no variable '%s'", where, name):
            continue
        found = known.pop(name)
        expect((found.centering, found.components, list(found.ghosts)[:dim]) == (
            "cell" if variable["cell"] else "node", variable["components"], variable["ghosts"][:dim]), "%s: %s instead of %s",
            where, found, variable)
        present = ["p%d/%s" % (p, name) in truth.arrays for p in range(len(meta["patches"]))]
        expect(step.presence[list(step.variables).index(name)].tolist() == present, "%s: presence of '%s'", where, name)
    expect(not known, "%s: variables %s that nobody wrote", where, list(known))


def check_nodes(step, truth, where):
    for p, box in enumerate(truth.meta["patches"] if step.grid == "uniform" else []):
        nodes = step.nodes(p)
        for axis in range(truth.meta["dim"]):
            dx = truth.meta["spacing"][box["level"]][axis]
            want = truth.meta["origin"][axis] + dx * np.arange(box["lower"][axis], box["upper"][axis] + 2)
            expect(len(nodes[axis]) == len(want) and np.allclose(nodes[axis], want, atol=1e-12), "%s patch %d: nodes along axis %d", where, p, axis)


def check_arrays(step, truth, with_ghosts, threads, where):
    names = [variable["name"] for variable in truth.meta["variables"]]
    read = step.read(names, ghosts=with_ghosts, threads=threads)
    for variable in truth.meta["variables"]:
        wanted = {p: truth.array(p, variable, with_ghosts) for p in range(len(truth.meta["patches"]))}
        wanted = {p: values for p, values in wanted.items() if values is not None}
        found = read[variable["name"]]
        expect(sorted(found) == sorted(wanted), "%s '%s': patches %s instead of %s", where, variable["name"], sorted(found), sorted(wanted))
        for p in set(found) & set(wanted):
            check_array(found[p], wanted[p], "%s '%s' of patch %d" % (where, variable["name"], p))
            expect(step.dtype(variable["name"]) == found[p].dtype, "%s: dtype of '%s'", where, variable["name"])


def check_parts(step, truth, where):
    """Checks a level, a single patch, and the shares of three processes."""
    variable = truth.meta["variables"][0]
    level = len(truth.meta["level_sizes"]) - 1
    ofLevel = [p for p, patch in enumerate(truth.meta["patches"]) if patch["level"] == level]
    present = [p for p in ofLevel if truth.array(p, variable, False) is not None]
    expect(sorted(step.read(variable["name"], levels=level)) == present, "%s: patches of level %d", where, level)
    parts = [step.part(part, 3).tolist() for part in range(3)]
    expect(sorted(sum(parts, [])) == list(range(len(truth.meta["patches"]))), "%s: parts %s", where, parts)
    for part in parts:
        for p, values in step.read(variable["name"], patches=part).items():
            check_array(values, truth.array(p, variable, False), "%s part with patch %d" % (where, p))


def check_series(folder):
    with open(os.path.join(folder, "series.json")) as file:
        table = json.load(file)
    for series in table:
        data = patchio.open(series["index"])
        check_times(data, series["times"], series["index"])
        for number, about in enumerate(series["steps"]):
            truth = TruthOfStep(os.path.join(folder, about["npz"]))
            step, where = data[number], about["summary"]
            check_catalog(step, truth, where)
            check_nodes(step, truth, where)
            for p in range(len(truth.meta["patches"])):
                want = (truth.arrays["b%d" % p].ravel() | truth.arrays.get("o%d" % p, np.uint8(0))) != 0
                expect(np.array_equal(step.covered(p).ravel(), want), "%s patch %d: other cells are covered", where, p)
            for ghosts, threads in ((False, None), (True, 1), (False, 4)):
                check_arrays(step, truth, ghosts, threads, where)
            if truth.meta["variables"]:
                check_parts(step, truth, where)
    return len(table)


# ---- k-Wave ----------------------------------------------------------------------------------------------

def at_step(name, values, step):
    return values[step] if name in KWAVE_SERIES else values


def check_box(step, truth, p, number, read, held, where):
    """Checks a patch of the domain or of a cuboid, which may be a part of it. Marks its values in `held`."""
    patch = step.patches[p]
    part = "domain" if step.level_names[patch["level"]] == "domain" else "cuboid%d" % patch["number"]
    first = patch["lower"] - (truth[part + "/lower"] if part != "domain" else 0)
    low = truth["origin"] + (patch["lower"] - 0.5) * truth["spacing"]
    expect(np.allclose([axis[0] for axis in step.nodes(p)][:step.dimension], low[:step.dimension]), "%s %s: at %s instead of %s", where,
           part, [axis[0] for axis in step.nodes(p)], low)
    region = tuple(slice(f, f + n) for f, n in zip(first[::-1], (patch["upper"] - patch["lower"] + 1)[::-1]))
    for name in step.variables:
        key = part + "/" + name
        if p in read[name] and expect(key in truth, "%s: %s was not written", where, key):
            want = at_step(name, truth[key], number)
            held.setdefault(key, np.zeros(want.shape, int))[region] += 1
            check_array(read[name][p], want[region][0] if step.dimension == 2 else want[region], where + " " + key)


def check_points(step, truth, level, patches, number, read, held, where):
    part = "points" if step.level_names[level] == "sensor" else step.level_names[level]
    places = np.concatenate([step.positions(p) for p in patches])
    # In two dimensions, points lie in the plane of the domain's nodes.
    expect(step.dimension == 3 or (places[:, 2] == step.origin[2]).all(), "%s: points of %s lie beside the plane", where, part)
    places = places[:, :step.dimension]
    want = (truth["origin"] + truth[part + "/places"] * truth["spacing"])[:, :step.dimension]
    expect(places.shape == want.shape and np.allclose(places, want), "%s: points of %s lie elsewhere", where, part)
    for name in step.variables:
        key = part + "/" + name
        if patches[0] in read[name] and expect(key in truth, "%s: %s was not written", where, key):
            values = np.concatenate([read[name][p] for p in patches])
            held[key] = np.ones(values.shape, int)
            check_array(values, at_step(name, truth[key], number), where + " " + key)


def check_kwave_step(step, truth, number, where):
    read, held, points = step.read(), {}, {}
    for p, patch in enumerate(step.patches):
        if step.level_roles[patch["level"]] == "points":
            points.setdefault(patch["level"], []).append(p)
        else:
            check_box(step, truth, p, number, read, held, where)
    for level, patches in points.items():
        check_points(step, truth, level, patches, number, read, held, where)
    wanted = {key for key in truth if "/" in key and key.rsplit("/", 1)[1] not in ("lower", "upper", "places")}
    expect(set(held) == wanted, "%s: %s instead of %s", where, sorted(held), sorted(wanted))
    for key, count in held.items():
        expect((count == 1).all(), "%s: values of %s are missing, or there twice", where, key)


def check_kwave(folder):
    paths = sorted(glob.glob(folder + "/*.npz"))
    for path in paths:
        truth = {key: value for key, value in np.load(path).items() if key != "none"}
        for metadata in ("on", "off"):
            data = patchio.open(str(truth["path"]), metadata=metadata)
            check_times(data, truth["times"], path)
            expect(data.numbers.tolist() == truth["steps"].tolist(), "%s: steps %s", path, data.numbers)
            steps = list(range(len(data)))
            opened = {number: data[number] for number in steps}    # all open at the same time; each must read its own step
            for number in steps[:3] + steps[:1] + steps[-1:]:
                check_kwave_step(opened[number], truth, number, "%s step %d" % (os.path.basename(path), number))
    return len(paths)


# ---- GrADS -----------------------------------------------------------------------------------------------

def check_grads_step(step, truth, number, where):
    read = step.read()
    expect((step.date, step.grid) == (truth.dates[number], "rectilinear"), "%s: date %s, grid %s", where, step.date, step.grid)
    for name, arrays in read.items():
        if not arrays and name not in truth.arrays[number]:
            continue
        want = truth.on_grid(number, name)
        held = np.zeros(want.shape, bool)
        axes = (truth.x, truth.y, truth.z(name))
        for p, values in arrays.items():
            lower = step.patches[p]["lower"] + [0, 0, 0 if name in truth.deep else 1]    # the surface is below the levels
            sizes = [len(axis) for axis in step.nodes(p)]
            region = tuple(slice(first, first + size) for first, size in zip(lower[::-1], sizes[::-1]))
            held[region] = True
            check_values(values, want[region] if values.ndim == 3 else want[region][0], "%s '%s'" % (where, name))
            for found, all_of_axis, part in zip(step.nodes(p), axes, region[::-1]):
                at = all_of_axis[part]
                expect(len(found) == len(at) and np.allclose(found, at, rtol=1e-12, atol=1e-9), "%s '%s': elsewhere", where, name)
        expect(held.all(), "%s: not all of '%s' is there", where, name)
    expect(set(truth.arrays[number]) <= set(read), "%s: only %s read", where, list(read))


def check_grads(folder):
    truths = grads.load_all(folder) if os.path.exists(os.path.join(folder, "truths.json")) else []
    for truth in truths:
        data = patchio.open(truth.ctl)
        check_times(data, truth.hours, truth.ctl)
        for number, step in enumerate(data):
            check_grads_step(step, truth, number, "%s step %d" % (os.path.basename(truth.ctl), number))
    return len(truths)


def main():
    kind, folder = sys.argv[1:]
    count = {"series": check_series, "kwave": check_kwave, "grads": check_grads}[kind](folder)
    print("patchio: %d data sets, %d values compared, %d faults" % (count, compared[0], len(failed)))
    return 1 if failed or not compared[0] else 0


if __name__ == "__main__":
    sys.exit(main())

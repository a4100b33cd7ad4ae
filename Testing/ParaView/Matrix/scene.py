"""The expected output for a data set at each time step, from the reference values of Testing/Formats/*/reference.py. Needs numpy
only.

A Scene has grids (cells between nodes, some of them hidden) or points, and returns the expected results of filters: sums over
visible cells, and the possible values at a place.
"""
import functools
import glob
import json
import os
import sys

import numpy as np

FORMATS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Formats")
sys.path += [os.path.join(FORMATS, "SAMRAI"), os.path.join(FORMATS, "GRADS")]
import expected  # noqa: E402
import truth as grads  # noqa: E402

KWAVE_SERIES = {"p", "ux", "uy", "uz", "ux_non_staggered", "uy_non_staggered", "uz_non_staggered"}


class Grid:
    """A grid with node positions along x, y, z (or points [z, y, x, 3] of deformed grids). cells, nodes: name -> values [z, y, x,
    component]. visible: flags of cells [z, y, x]. A flat axis has one node."""

    def __init__(self, axes, cells, nodes, visible, points=None):
        self.axes, self.cells, self.nodes, self.visible, self.points = axes, cells, nodes, visible, points

    def widths(self):
        return [np.diff(a) if len(a) > 1 else np.ones(1) for a in self.axes]

    def sizes(self):
        """Returns the volume of each cell [z, y, x]; the area or length if axes are flat."""
        if self.points is not None:
            return deformed_sizes(self.points)
        x, y, z = self.widths()
        return z[:, None, None] * y[None, :, None] * x[None, None, :]

    def near(self, points, sign):
        """Returns the numbers of the places within the bounds and, for each axis, the cells on both sides within a tolerance of
        about 1e-5 of a cell. sign -1: only places farther than the tolerance from the bounds."""
        reach = [1e-5 * np.min(w) + 1e-6 * np.abs(a).max() for a, w in zip(self.axes, self.widths())]
        numbers = np.flatnonzero(np.all([(points[:, d] >= a[0] - sign * reach[d]) & (points[:, d] <= a[-1] + sign * reach[d])
                                         for d, a in enumerate(self.axes) if len(a) > 1 or sign > 0], axis=0))
        def cells(d, shift):
            found = np.searchsorted(self.axes[d], points[numbers, d] + shift, side="right") - 1
            return np.clip(found, 0, max(len(self.axes[d]) - 2, 0))
        return numbers, [(cells(d, -reach[d]), cells(d, reach[d])) for d in range(3)]

    def centres(self):
        """Returns the centres of the cells, [z, y, x, 3]."""
        if self.points is not None:
            return corners_of(self.points).mean(0)
        x, y, z = [(a[:-1] + a[1:]) / 2 if len(a) > 1 else a for a in self.axes]
        return np.stack(np.meshgrid(x, y, z, indexing="ij"), -1).transpose(2, 1, 0, 3)


def corners_of(nodes):
    """Returns the values or positions at the corners of each cell, [corner, z, y, x, ...]."""
    shape = [max(n - 1, 1) for n in nodes.shape[:3]]
    steps = [range(2) if n > 1 else range(1) for n in nodes.shape[:3]]
    return np.stack([nodes[k:k + shape[0], j:j + shape[1], i:i + shape[2]] for k in steps[0] for j in steps[1] for i in steps[2]])


def deformed_sizes(points):
    """Returns the sizes of hexahedra, each as five tetrahedra, or of quadrilaterals, each as two triangles. Exact for flat
    faces."""
    c = corners_of(points.astype(float))
    if len(c) == 4:
        cross = lambda a, b: np.cross(b - c[0], a - c[0])  # noqa: E731
        return (np.linalg.norm(cross(c[1], c[3]), axis=-1) + np.linalg.norm(cross(c[3], c[2]), axis=-1)) / 2
    total = 0
    for a, b, d, e in ((0, 1, 2, 4), (3, 1, 2, 7), (5, 1, 4, 7), (6, 2, 4, 7), (1, 2, 4, 7)):
        total = total + np.abs(np.einsum("...i,...i", np.cross(c[b] - c[a], c[d] - c[a]), c[e] - c[a])) / 6
    return total


class Scene:
    """The expected output of one time step."""

    def __init__(self, grids, time, places=None, values=None):
        self.grids, self.time, self.refined = grids, time, False
        self.places, self.values = places, values or {}    # for points without cells: [n, 3], name -> [n, component]

    def names(self, kind):
        """Returns the names of arrays on "CELLS" or "POINTS" with their numbers of components, including arrays that some grids
        lack."""
        if self.places is not None:
            return {n: v.shape[1] for n, v in self.values.items()} if kind == "POINTS" else {}
        found = {}
        for grid in self.grids:
            for name, values in (grid.cells if kind == "CELLS" else grid.nodes).items():
                found[name] = values.shape[3]
        return found

    def dimensions(self):
        return 0 if self.places is not None else sum(len(a) > 1 for a in self.grids[0].axes)

    def deformed(self):
        return self.places is None and self.grids[0].points is not None

    def visible(self, what):
        """Returns values of the visible cells of all grids: "centre" (n, 3), "size" (n, 1), "low" and "high" corners (n, 3), or the
        array `what` (n, components); NaN for grids without the array."""
        return np.concatenate([self.of_cells(g, what)[g.visible] for g in self.grids])

    def of_cells(self, grid, what):
        if what == "centre":
            return grid.centres()
        if what == "size":
            return grid.sizes()[..., None]
        if what in ("low", "high"):
            side = slice(None, -1) if what == "low" else slice(1, None)
            ends = [a[side] if len(a) > 1 else a for a in grid.axes]
            return np.stack(np.meshgrid(*ends, indexing="ij"), -1).transpose(2, 1, 0, 3)
        absent = np.full(grid.visible.shape + (self.names("CELLS")[what],), np.nan)
        return grid.cells.get(what, absent).astype(float)

    def corner_values(self, name):
        """Returns (n, corners, components): the node values at the corners of visible cells."""
        absent = lambda g: np.full([len(a) for a in g.axes[::-1]] + [self.names("POINTS")[name]], np.nan)  # noqa: E731
        return np.concatenate([np.moveaxis(corners_of(g.nodes.get(name, absent(g)).astype(float)), 0, 3)[g.visible] for g in self.grids])

    def bounds(self):
        if self.places is not None:
            return np.stack([self.places.min(0), self.places.max(0)])
        if self.deformed():
            ends = [(g.points.reshape(-1, 3).min(0), g.points.reshape(-1, 3).max(0)) for g in self.grids]
        else:
            ends = [([a[0] for a in g.axes], [a[-1] for a in g.axes]) for g in self.grids]
        ends = np.array(ends, float)
        return np.stack([ends[:, 0].min(0), ends[:, 1].max(0)])

    def at(self, points, kind, name, hidden=False):
        """Returns the possible values at each place: the least and the greatest value (n, components), whether the value may be
        undefined, and whether there is any value (n,). Cell values are those of all visible cells at the place, or of all cells
        (hidden). Node values are interpolated in each cell."""
        low = np.full((len(points), self.names(kind)[name]), np.inf)
        found = {"low": low, "high": -low, "undefined": np.zeros(len(points), bool), "known": np.zeros(len(points), bool)}
        for grid in self.grids:
            numbers, ranges = grid.near(points, 1)
            for choice in np.ndindex(2, 2, 2):
                if len(numbers):
                    take(grid, points, numbers, [ranges[d][choice[d]] for d in range(3)], kind, name, found, hidden)
        return found

    def apart(self):
        """Returns whether no two visible cells overlap."""
        centres = self.visible("centre")
        found = np.zeros(len(centres), int)
        for grid in self.grids:
            numbers, ranges = grid.near(centres, 1)
            i, j, k = (low for low, _ in ranges)
            found[numbers] += grid.visible[k, j, i]
        return (found == 1).all()

    def inside(self, points):
        """Returns whether each place is well inside a visible cell."""
        found = np.zeros(len(points), bool)
        for grid in self.grids:
            numbers, ranges = grid.near(points, -1)
            one = np.all([low == high for low, high in ranges], axis=0)
            i, j, k = (low for low, _ in ranges)
            found[numbers] |= one & grid.visible[k, j, i]
        return found


def take(grid, points, numbers, cell, kind, name, found, hidden):
    """Adds the values of a cell at each of the places to `found`."""
    i, j, k = cell
    seen = grid.visible[k, j, i] | hidden
    here = numbers[seen]
    values = (grid.cells if kind == "CELLS" else grid.nodes).get(name)
    if values is None:
        stands = np.full((len(here), found["low"].shape[1]), np.nan)
    elif kind == "CELLS":
        stands = values[k[seen], j[seen], i[seen]].astype(float)
    else:
        stands, holes = interpolate(grid.axes, values, points[here], (i[seen], j[seen], k[seen]))
        found["undefined"][here] |= holes
    found["known"][here] = True
    found["undefined"][here] |= np.isnan(stands).any(1)
    found["low"][here] = np.fmin(found["low"][here], stands)
    found["high"][here] = np.fmax(found["high"][here], stands)


def interpolate(axes, values, points, cell):
    """Returns values that are interpolated linearly along each axis, and whether a corner of the cell is undefined."""
    total, holes = 0, np.zeros(len(points), bool)
    parts = []
    for d, axis in enumerate(axes):
        if len(axis) == 1:
            parts.append([(cell[d], np.ones(len(points)))])
            continue
        t = np.clip((points[:, d] - axis[cell[d]]) / (axis[cell[d] + 1] - axis[cell[d]]), 0, 1)
        parts.append([(cell[d], 1 - t), (cell[d] + 1, t)])
    for k, wk in parts[2]:
        for j, wj in parts[1]:
            for i, wi in parts[0]:
                weight = (wi * wj * wk)[:, None]
                part = weight * values[k, j, i].astype(float)
                holes |= np.isnan(part).any(1)
                total = total + np.where((weight > 1e-4) | np.isfinite(part), part, 0)    # because places are rounded
    return total, holes


# ---- SAMRAI and AMReX -----------------------------------------------------------------------------------

def refined_scene(path, time):
    stored = expected.Truth(path)
    grids, levels = [], []
    for p, patch in enumerate(stored.patches):
        form = stored.grid(p)
        e = np.array(form["extent"]).reshape(3, 2)
        n = np.array(stored.cells(p))
        origin, spacing = list(form.get("origin", (0, 0, 0))) + [0], list(form.get("spacing", (1, 1, 1))) + [1]
        axes = [origin[d] + spacing[d] * np.arange(e[d, 0], e[d, 1] + 1) if d < form["dim"] else np.zeros(1) for d in range(3)]
        nodes = [len(a) for a in axes[::-1]]
        shaped = lambda data, shape: {k: v.reshape(tuple(shape) + (-1,)) for k, v in data.items()}  # noqa: E731
        grid = Grid(axes, shaped(stored.data(p, True), n[::-1]), shaped(stored.data(p, False), nodes),
                    (stored.ghost_types(p)[0] == 0).reshape(n[::-1]))
        if "points" in form:
            grid.points = form["points"].reshape(nodes + [3])
        else:
            hide_overlap(grid, patch, zip(levels, grids))
        grids.append(grid)
        levels.append(patch)
    scene = Scene(grids, time)
    scene.refined = len(stored.meta["level_sizes"]) > 1
    return scene


def hide_overlap(grid, patch, earlier):
    """Hides cells that several patches have, except in the patch with the lowest number."""
    for other, _ in earlier:
        low, high = np.array(other["lower"]) - patch["lower"], np.array(other["upper"]) + 1 - np.array(patch["lower"])
        if other["level"] == patch["level"] and (high > 0).all():
            x, y, z = (slice(max(int(a), 0), int(b)) for a, b in zip(low, high))
            grid.visible[z, y, x] = False


# ---- k-Wave: each family of arrays is a grid, or points, of its own --------------------------------------

def kwave_scene(stored, step):
    """Returns the default output: the sensor if it has arrays, otherwise the domain."""
    spacing, origin, size = stored["spacing"], stored["origin"], stored["size"]
    parts = sorted({k.split("/")[0] for k in stored if k.startswith("cuboid")})
    sensor = [p for p in parts if any(k.startswith(p + "/") and not k.endswith("er") for k in stored)]
    sampled = [k for k in stored if k.startswith("points/") and k != "points/places"]
    time = stored["times"][step]
    if sampled:
        values = {k.split("/")[1]: at_step(k, stored[k], step) for k in sampled}
        return Scene([image_of_points(stored["points/places"], values, origin, spacing, size)], time)
    grids = []
    for part in sensor or ["domain"]:
        lower = stored.get(part + "/lower", np.zeros(3, int))
        cells = {k.split("/")[1]: at_step(k, stored[k], step) for k in stored
                 if k.startswith(part + "/") and not k.endswith(("/lower", "/upper"))}
        cells = {k: v.reshape(v.shape[-3:] + (1,)) for k, v in cells.items()}
        shape = next(iter(cells.values())).shape[:3]
        axes = [origin[d] + spacing[d] * (lower[d] - 0.5 + np.arange(shape[2 - d] + 1)) for d in range(3)]
        if size[2] == 1:
            axes[2] = np.zeros(1)
        grids.append(Grid(axes, cells, {}, np.ones(shape, bool)))
    return Scene(grids, time)


def image_of_points(places, values, origin, spacing, size):
    """Returns the grid around points, in which other cells are hidden."""
    low, high = places.min(0), places.max(0)
    axes = [origin[d] + spacing[d] * (np.arange(low[d], high[d] + 2) - 0.5) if size[d] > 1 else np.zeros(1) for d in range(3)]
    at = tuple((places - low).T[::-1])
    visible = np.zeros((high - low + 1)[::-1], bool)
    visible[at] = True
    cells = {name: np.full(visible.shape + (1,), np.nan) for name in values}
    for name in values:
        cells[name][at] = values[name].reshape(-1, 1)
    return Grid(axes, cells, {}, visible)


def at_step(key, values, step):
    return values[step] if key.split("/")[1] in KWAVE_SERIES else values


def kwave_series(folder):
    for path in sorted(glob.glob(os.path.join(folder, "*.npz"))):
        with np.load(path) as file:
            stored = {k: file[k] for k in file.files if k != "none"}
        yield str(stored["path"]), list(stored["times"]), lambda step, stored=stored: kwave_scene(stored, step)


# ---- GrADS ----------------------------------------------------------------------------------------------

def grads_scene(stored, step):
    """Returns the levels if there are any, otherwise the surface. Points that are undefined in each variable are hidden."""
    names = [n for n in stored.arrays[step] if n in stored.deep] or list(stored.arrays[step])
    nodes = {n: stored.on_grid(step, n)[..., None] for n in names}
    holes = np.all([np.isnan(v[..., 0].astype(float)) for v in nodes.values()], axis=0)
    axes = [stored.x, stored.y, stored.z(names[0])]
    return Scene([Grid(axes, {}, nodes, ~corners_of(holes).any(0))], stored.hours[step])


def grads_series(folder):
    for stored in grads.load_all(folder):
        yield stored.ctl, stored.hours, lambda step, stored=stored: grads_scene(stored, step)


def refined_series(folder):
    with open(os.path.join(folder, "series.json")) as file:
        for entry in json.load(file):
            yield entry["index"], entry["times"], lambda step, entry=entry: \
                refined_scene(os.path.join(folder, entry["steps"][step]["npz"]), entry["times"][step])


class Series:
    """The expected output for a file that can be opened."""

    def __init__(self, path, times, scene):
        self.path, self.times, self.scene = path, [float(t) for t in times], functools.lru_cache(maxsize=2)(scene)


def find_series(folder, name):
    """Returns the first series in a folder of reference values whose path contains `name`, or None."""
    kinds = {"series.json": refined_series, "truths.json": grads_series}
    found = [kinds[k] for k in kinds if os.path.exists(os.path.join(folder, k))] or [kwave_series]
    for path, times, scene in found[0](folder):
        if "/%s" % name in path and len(times):
            return Series(path, times, scene)
    return None

"""Filters as the GUI applies them, with ParaView's defaults for all other settings, and checks of their results.

Each check is a function of a Case: reader, scene (the expected output of the displayed step), and expect(). `needs` names features
that a check requires, such as vectors. The check is left out for data sets without these features.
"""
import functools
import itertools
import os

import numpy as np
from paraview import servermanager, simple

from leaves import HIDING, pixels_of
from made_grids import cells_beside
from on_ranks import controller, rank, ranks
from output import Output
from scene import corners_of

CHECKS = []     # (name, function, needs), in the order in which they run


def check(name, *needs):
    def add(function):
        CHECKS.append((name, function, needs))
        return function
    return add


class Case:
    """An open data set at one of its steps."""

    def __init__(self, reader, series, step, scratch):
        self.reader, self.series, self.scratch, self.faults = reader, series, scratch, []
        self.step, self.scene, self.time = step, series.scene(step), series.times[step]
        self.view, self.made = None, []
        self.kind, self.name = self.scalar()

    @functools.cached_property
    def has(self):
        return self.properties()

    def scalar(self):
        """Returns the first scalar that is not constant and is defined everywhere."""
        for kind in ("CELLS", "POINTS"):
            for name, components in self.scene.names(kind).items():
                if components == 1:
                    values = self.of_scene(kind, name)
                    if np.isfinite(values).all() and np.ptp(values) > 0:
                        return kind, name
        kind = "CELLS" if self.scene.names("CELLS") else "POINTS"
        return kind, next(iter(self.scene.names(kind)))

    def of_scene(self, kind, name):
        """Returns all visible values: of cells, or of their corners."""
        if self.scene.places is not None:
            return self.scene.values[name]
        return self.scene.visible(name) if kind == "CELLS" else self.scene.corner_values(name).reshape(-1, self.scene.names(kind)[name])

    def properties(self):
        scene, has = self.scene, set()
        if scene.places is None:
            has |= {"cells", "%d-D" % scene.dimensions()} | (set() if scene.deformed() else {"boxes"})
            has |= {"boxes apart"} if "boxes" in has and scene.apart() else set()
        has |= {"steps"} if len(self.series.times) > 1 else set()
        has |= {"cell data"} if self.kind == "CELLS" else {"point data"}
        has |= {"vectors"} if self.vectors() else set()
        has |= {"even"} if scene.places is None and all(np.allclose(np.diff(w), 0) for g in scene.grids for w in g.widths()) and not any(
            np.isnan(v).any() for g in scene.grids for d in (g.cells, g.nodes) for k, v in d.items() if k == self.name) else set()
        return has

    def same_blocks(self):
        """Returns whether all steps have the same blocks."""
        found = []
        for time in self.series.times:
            self.reader.UpdatePipeline(time)
            found.append(Output(self.reader).blocks())
        self.reader.UpdatePipeline(self.time)
        return all(np.array_equal(blocks, found[0]) for blocks in found)

    def vectors(self):
        return [(kind, name) for kind in ("POINTS", "CELLS") for name, n in self.scene.names(kind).items()
                if n == 3 and np.abs(np.nan_to_num(self.of_scene(kind, name))).max() > 0]

    # ---- making and comparing ----

    def apply(self, make, source=None, show=True, part=None, **settings):
        """Makes a filter, updates it and shows it. part: name and settings of a part, such as SliceType."""
        proxy = make(Input=source or self.reader, **settings)
        self.made.append(proxy)
        for name, value in part[1].items() if part else ():
            setattr(getattr(proxy, part[0]), name, value)
        self.update(proxy, show)
        return proxy

    def update(self, proxy, show=True):
        proxy.UpdatePipeline(self.time)
        if show:
            self.view = self.view or simple.CreateRenderView(ViewSize=[120, 90])
            self.view.ViewTime = self.time
            simple.Show(proxy, self.view)
            simple.Render(self.view)

    def clean(self):
        for proxy in self.made[::-1]:
            simple.Delete(proxy)
        self.made = []
        if self.view is not None:
            simple.Delete(self.view)
            self.view = None

    def expect(self, right, message, *details):
        if not right:
            self.faults.append(message % details)
        return right

    def known(self, limit, message=""):
        """Reports a known limit of ParaView from Documentation/Guide/Limits.md. Lines with its message do not count as failures
        then."""
        if rank == 0:
            print("known limit: %s: %s" % (limit, message), flush=True)

    def equal(self, found, want, what, tolerance=1e-6, scale=None):
        """Compares numbers; two NaN are equal. tolerance: relative to `scale`, or to the greatest number."""
        found, want = np.atleast_1d(np.asarray(found, float)), np.atleast_1d(np.asarray(want, float))
        if self.expect(found.shape == want.shape, "%s: %s numbers instead of %s", what, found.shape, want.shape):
            if scale is None:
                scale = np.nanmax(np.abs(want)) if np.isfinite(want).any() else 1.0
            same = np.isclose(found, want, rtol=0, atol=tolerance * scale + 1e-300, equal_nan=True)
            worst = np.flatnonzero(~same.ravel())
            self.expect(same.all(), "%s: %s instead of %s (%d of %d differ)", what, *(a.ravel()[worst[:1]] for a in (found, want)),
                        len(worst), same.size)

    def names(self, kind):
        return self.scene.names(kind).items()

    def right_values(self, out, what, kinds=("CELLS", "POINTS")):
        """Checks that each value is at its place in the raw files, and that no array is missing."""
        for kind in kinds:
            if kind == "POINTS" and self.scene.places is None and "boxes" not in self.has or kind == "CELLS" and self.scene.deformed():
                continue
            at = out.cells("centre") if kind == "CELLS" else out.points("place")
            for name, components in self.names(kind):
                self.expect(not out.lacks(kind, name), "%s: %d blocks lack '%s'", what, out.lacks(kind, name), name)
                found = (out.cells if kind == "CELLS" else out.points)(name, components)
                self.compare_at(at, found, kind, name, what)

    def compare_at(self, places, found, kind, name, what, hidden=False):
        if self.scene.places is not None:
            return self.compare_points(places, found, name, what)
        # A node between patches has the value of one of them, which may be hidden there.
        want = self.scene.at(places, kind, name, hidden or kind == "POINTS")
        slack = 1e-5 * np.nanmax(np.abs(self.of_scene(kind, name)), initial=0) + 1e-300
        within = ((found >= want["low"] - slack) & (found <= want["high"] + slack)).all(1) | (np.isnan(found).any(1) & want["undefined"])
        wrong = np.flatnonzero(~(within & want["known"]))
        self.expect(len(wrong) == 0, "%s: %d of %d values of '%s' are wrong, at %s: %s instead of %s to %s", what, len(wrong), len(found),
                    name, *(a[wrong[:1]] for a in (places, found, want["low"], want["high"])))

    def compare_points(self, places, found, name, what):
        """Compares points without cells: each must be one of the expected points, with its value."""
        distance = np.abs(places[:, None] - self.scene.places[None]).max(2)
        nearest = distance.argmin(1) if len(places) else np.zeros(0, int)
        self.equal(found, self.scene.values[name][nearest], "%s: '%s' at points" % (what, name))

    def measure(self, out, what, size=None, count=None, tolerance=1e-6):
        """Checks the total size and the number of cells."""
        sizes = out.cells("size")
        if size is not None:
            self.equal(sizes.sum(), size, what + ": size", tolerance)
        if count is not None:
            self.equal(len(sizes), count, what + ": cells", 0)

    def whole(self, out, what):
        """Checks that the output is complete, with right values."""
        if self.scene.places is not None:
            self.equal(len(out.points("place")), len(self.scene.places), what + ": points", 0)
        else:
            self.measure(out, what, self.scene.visible("size").sum(), len(self.scene.visible("size")))
            size = out.cells("size")
            for name, components in self.names("CELLS"):
                self.integral((out.cells(name, components) * size).sum(0), "CELLS", name, what + ": ")
        self.right_values(out, what)

    def integral(self, found, kind, name, what=""):
        values = self.scene.visible(name) if kind == "CELLS" else self.scene.corner_values(name).mean(1)
        size = self.scene.visible("size")
        self.equal(found, (values * size).sum(0), "%sintegral of '%s'" % (what, name), scale=np.nansum(np.abs(values * size)))

    def middle(self):
        return self.scene.bounds().mean(0)

    def cut(self, make, kind):
        """Cuts by the plane that the GUI proposes. (If each rank ran the script, each rank would propose another plane.)"""
        return self.apply(make, part=(kind, dict(Origin=list(self.middle()), Normal=[1, 0, 0])))

    def nodes(self):
        """Returns a source with the scalar at points: the reader, or Cell Data to Point Data."""
        if self.kind == "POINTS":
            return self.reader
        return self.apply(simple.CellDatatoPointData, show=False)


# ---- the data themselves --------------------------------------------------------------------------------

@check("open")
def opened(case):
    case.update(case.reader)
    case.whole(Output(case.reader), "reader")


@check("steps forwards and backwards", "steps")
def steps(case):
    times = list(np.atleast_1d(np.asarray(case.reader.TimestepValues, float)))
    case.equal(times, case.series.times, "times", 1e-12)
    order = sorted({0, 1, len(times) // 2, len(times) - 1})
    for step in order + order[-2::-1]:
        other = Case(case.reader, case.series, step, case.scratch)
        other.view = case.view
        other.update(other.reader)
        other.whole(Output(other.reader), "step %d" % step)
        case.faults, case.view = case.faults + other.faults, other.view
    case.update(case.reader, False)


# ---- filters that cut -----------------------------------------------------------------------------------

@check("Slice", "boxes")
def slice_(case):
    """Tests the slice at ParaView's default place, the middle, where faces often are. Each place must be shown once, by the cells
    above if there are any."""
    out = Output(case.cut(simple.Slice, "SliceType"))
    low, high, size = (case.scene.visible(w) for w in ("low", "high", "size"))
    cut = cells_beside(low, high, 0, case.middle()[0])
    case.measure(out, "slice", (size[:, 0] / (high - low)[:, 0])[cut].sum())
    case.right_values(out, "slice")


@check("Slice elsewhere", "cells", "3-D")
def slice_elsewhere(case):
    """Tests an oblique slice: its values, and that it is not empty."""
    ends = case.scene.bounds()
    plane = dict(Origin=list(ends[0] + 0.43 * (ends[1] - ends[0])), Normal=[1, 0.7, 0.4])
    out = Output(case.apply(simple.Slice, part=("SliceType", plane)))
    case.expect(len(out.cells("size")) > 0, "slice: empty")
    case.right_values(out, "slice")


@check("Clip, plane", "boxes")
def clip_plane(case):
    out = Output(case.cut(simple.Clip, "ClipType"))
    low, high, size = (case.scene.visible(w) for w in ("low", "high", "size"))
    part = np.clip((case.middle()[0] - low[:, 0]) / (high - low)[:, 0], 0, 1)
    case.measure(out, "clip", (size[:, 0] * part).sum(), tolerance=1e-5)
    case.right_values(out, "clip")


@check("Clip, box", "boxes")
def clip_box(case):
    """Tests a slab inside the data. The default is the whole data, but near its edges, ParaView cuts off too much."""
    ends = case.scene.bounds()
    wide = ends[1] - ends[0]
    place, length = ends[0] - wide - 1, 3 * wide + 2
    place[0], length[0] = (ends[0] + 0.3 * wide)[0], 0.41 * wide[0]
    out = Output(case.apply(simple.Clip, ClipType="Box", part=("ClipType", dict(Position=list(place), Length=list(length)))))
    low, high, size = (case.scene.visible(w)[:, 0] for w in ("low", "high", "size"))
    part = np.clip(np.minimum(high, place[0] + length[0]) - np.maximum(low, place[0]), 0, None) / (high - low)
    case.measure(out, "clip", (size * part).sum(), tolerance=1e-5)
    case.right_values(out, "clip")


@check("Threshold")
def threshold(case):
    values = case.of_scene(case.kind, case.name)[:, 0]
    # A limit between two values, so that no value equals the limit.
    ordered = np.unique(values[np.isfinite(values)])
    least = (ordered[len(ordered) // 2 - 1] + ordered[len(ordered) // 2]) / 2 if len(ordered) > 1 else ordered[0] - 1
    out = Output(case.apply(simple.Threshold, Scalars=[case.kind, case.name], LowerThreshold=least, UpperThreshold=ordered[-1] + 1))
    if case.scene.places is not None:
        case.equal(len(out.points("place")), (values > least).sum(), "threshold: points", 0)
    elif case.kind == "CELLS":
        case.measure(out, "threshold", case.scene.visible("size")[values > least].sum(), (values > least).sum())
    else:    # all points of a cell, the default
        kept = (case.scene.corner_values(case.name)[:, :, 0] > least).all(1)
        case.measure(out, "threshold", case.scene.visible("size")[kept].sum(), kept.sum())
    case.right_values(out, "threshold")


@check("Contour", "boxes apart", "3-D")
def contour(case):
    """Tests which cells the contour passes, for cells so far from all borders that their point data are certain."""
    values = case.of_scene(case.kind, case.name)
    ordered = np.unique(values[np.isfinite(values)])
    level = min(float(np.nanquantile(values, 0.6)) + 1e-4 * float(np.ptp(ordered)), float(ordered[-2:].mean()))
    out = Output(case.apply(simple.Contour, case.nodes(), ContourBy=["POINTS", case.name], Isosurfaces=[level]))
    places = out.cells("centre")
    for grid in case.scene.grids:
        nodes, sure = node_values(case, grid)
        corners, certain = corners_of(nodes), corners_of(sure).all(0) & grid.visible
        crossed = (corners.min(0) < level) & (corners.max(0) > level) & certain
        within, touched = np.zeros(grid.visible.shape, bool), np.zeros(grid.visible.shape, bool)
        numbers, ranges = grid.near(places, -1)
        i, j, k = (low[np.all([a == b for a, b in ranges], axis=0)] for low, _ in ranges)
        within[k, j, i] = True
        numbers, ranges = grid.near(places, 1)
        for choice in np.ndindex(2, 2, 2):
            i, j, k = (ranges[d][choice[d]] for d in range(3))
            touched[k, j, i] = True
        case.expect(not (crossed & ~touched).any(), "contour: not in %d of %d cells", (crossed & ~touched).sum(), crossed.sum())
        wrong = within & certain & ~crossed
        case.expect(not wrong.any(), "contour: in %d cells that it has nothing to do with", wrong.sum())
    if not len(places) and all_alone(case):
        return case.known("Contour of an index mask of scattered points")
    case.expect(len(places) > 0, "contour: empty")
    case.equal(out.points(case.name), np.full((len(out.points("place")), 1), level), "contour: its value")


def all_alone(case):
    """Returns whether no visible cell touches another one."""
    return all(corners_of(np.pad(grid.visible, 1).astype(int)).sum(0).max(initial=0) <= 1 for grid in case.scene.grids)


def node_values(case, grid):
    """Returns the node values [z, y, x] of the scalar, and whether they are certain. For cell data, they are the mean of the cells
    around, and are certain if all of these are visible and no block ends there."""
    if case.kind == "POINTS":
        values = grid.nodes[case.name][..., 0].astype(float)
        return values, np.isfinite(values)
    values = grid.cells[case.name][..., 0].astype(float)
    inner = tuple(slice(1, -1) if len(a) > 1 else slice(None) for a in grid.axes[::-1])
    nodes = np.zeros([len(a) for a in grid.axes[::-1]])
    sure = np.zeros(nodes.shape, bool)
    if all(len(a) != 2 for a in grid.axes):
        nodes[inner] = corners_of(values).mean(0)
        sure[inner] = corners_of(grid.visible).all(0)
    return nodes, sure & within_block(case, grid.axes, grid)


def within_block(case, axes, grid):
    """Returns whether places between axes, [z, y, x], lie inside a block of the reader, and not at its border or in its outermost
    cells."""
    found = np.zeros([len(a) for a in axes[::-1]], bool)
    of_cells = len(axes[0]) < len(grid.axes[0])
    for low, high, width in Output(case.reader).boxes():
        margin = width * (1.01 if of_cells else 0.01)
        if all(abs(w[0] - s) < 1e-6 * s for w, s, a in zip(grid.widths(), width, grid.axes) if len(a) > 1):
            x, y, z = ((a > low[d] + margin[d]) & (a < high[d] - margin[d]) if len(grid.axes[d]) > 1 else np.ones(1, bool)
                       for d, a in enumerate(axes))
            found |= z[:, None, None] & y[None, :, None] & x[None, None, :]
    return found


# ---- filters that sample --------------------------------------------------------------------------------

def sampled(case, out, what, must):
    """Checks values at points: they must be right where they are valid, and must be valid well inside cells."""
    places, valid = out.points("place"), out.points("vtkValidPointMask")[:, 0] == 1
    if case.scene.places is None:
        missed = case.scene.inside(places) & ~valid
        case.expect(not missed.any(), "%s: no value at %d of %d places, first %s", what, missed.sum(), len(missed), places[missed][:1])
    case.expect(valid.sum() >= must, "%s: %d values instead of %d", what, valid.sum(), must)
    for kind in ("CELLS", "POINTS"):
        for name, components in case.names(kind):
            case.expect(not out.lacks("POINTS", name), "%s: no array '%s'", what, name)
            case.compare_at(places[valid], out.points(name, components)[valid], kind, name, what)


@check("Plot Over Line", "boxes")
def plot_over_line(case):
    ends = case.scene.bounds()
    out = Output(case.apply(simple.PlotOverLine, show=False, Point1=list(ends[0]), Point2=list(ends[1])))
    case.expect(len(out.points("place")) > 2, "line: empty")
    sampled(case, out, "line", 2)


@check("Probe Location", "boxes")
def probe(case):
    visible = case.scene.visible("centre")
    for number in (0, len(visible) // 3, len(visible) - 1):
        out = Output(case.apply(simple.ProbeLocation, show=False, ProbeType="Fixed Radius Point Source",
                                part=("ProbeType", dict(Center=list(visible[number])))))
        # Each rank has a copy of the output.
        sampled(case, out, "probe", 1)


@check("Resample To Image", "boxes")
def resample(case):
    """Tests resampling; of 2-D data with one sample along the third axis, because on several ranks, ParaView's default hides the
    whole image (limits.py)."""
    flat = {"SamplingDimensions": [100 if wide > 0 else 1 for wide in np.ptp(case.scene.bounds(), axis=0)]}
    out = Output(case.apply(simple.ResampleToImage, **(flat if ranks > 1 else {})), thin=37)
    sampled(case, out, "image", 100)


@check("Integrate Variables")
def integrate(case):
    out = Output(case.apply(simple.IntegrateVariables, show=False))
    total = lambda values: np.nansum(values, 0) if len(values) else None  # noqa: E731
    if case.scene.places is not None:
        for name, n in case.names("POINTS"):
            case.equal(total(out.points(name, n)), case.scene.values[name].sum(0), "integral of '%s'" % name)
        return
    size = case.scene.visible("size")
    kind = ["Length", "Area", "Volume"][case.scene.dimensions() - 1]
    case.equal(total(out.cells(kind)), size.sum(0), kind)
    for name, n in case.names("CELLS"):
        case.integral(out.cells(name, n).sum(0), "CELLS", name)
    for name, n in case.names("POINTS"):
        case.integral(out.points(name, n).sum(0), "POINTS", name)


# ---- filters that change arrays -------------------------------------------------------------------------

@check("Cell Data to Point Data", "boxes apart", "cell data")
def cell_to_point(case):
    out = Output(case.apply(simple.CellDatatoPointData))
    places, found = out.points("place"), out.points(case.name)[:, 0]
    sure_nodes = 0
    for grid in case.scene.grids:
        nodes, sure = node_values(case, grid)
        near, (x, y, z) = nodes_at(places, grid.axes, [1e-5 * w.min() + 1e-6 * np.abs(a).max() for a, w in zip(grid.axes, grid.widths())])
        ours = sure[z, y, x]
        case.equal(found[near][ours], nodes[z, y, x][ours], "at points", 1e-5)
        seen = np.zeros(sure.shape, bool)
        seen[z, y, x] = True
        case.expect((seen | ~sure).all(), "%d nodes are not there", (sure & ~seen).sum())
        sure_nodes += sure.sum()
    case.expect(len(places) > 0, "empty")


def nodes_at(places, axes, reach):
    """Returns the numbers of the places within `reach` of a node, and the indices of these nodes along x, y and z."""
    index = [np.clip(np.searchsorted((a[1:] + a[:-1]) / 2, places[:, d]), 0, len(a) - 1) for d, a in enumerate(axes)]
    near = np.all([np.abs(a[i] - places[:, d]) < r for d, (a, i, r) in enumerate(zip(axes, index, reach))], axis=0)
    return near, [i[near] for i in index]


@check("Cell Centers", "cells")
def cell_centers(case):
    out = Output(case.apply(simple.CellCenters))
    case.equal(len(out.points("place")), len(case.scene.visible("size")), "centres", 0)
    if "boxes" in case.has:
        for name, components in case.names("CELLS"):
            case.compare_at(out.points("place"), out.points(name, components), "CELLS", name, "centres")


@check("Calculator")
def calculator(case):
    made = case.apply(simple.Calculator, AttributeType="Cell Data" if case.kind == "CELLS" else "Point Data",
                      Function='2*"%s"+1' % case.name, ResultArrayName="twice")
    out = Output(made)
    get = out.cells if case.kind == "CELLS" else out.points
    case.expect(len(get("twice")) > 0, "calculator: empty")
    # By default, the filter replaces NaN by 0.
    case.equal(get("twice"), np.nan_to_num(2 * get(case.name) + 1), "calculator")
    case.whole(out, "calculator")


@check("Gradient", "boxes apart")
def gradient(case):
    """Tests gradients away from borders: differences of the neighbours on both sides."""
    out = Output(case.apply(simple.Gradient, ScalarArray=[case.kind, case.name], ResultArrayName="slope"))
    on_cells = case.kind == "CELLS"
    places, found = (out.cells("centre"), out.cells("slope", 3)) if on_cells else (out.points("place"), out.points("slope", 3))
    case.expect(len(found) > 0, "gradient: empty")
    compared = 0
    for grid in case.scene.grids:
        axes = [(a[1:] + a[:-1]) / 2 if on_cells and len(a) > 1 else a for a in grid.axes]
        values = (grid.cells if on_cells else grid.nodes)[case.name][..., 0].astype(float)
        sure = away_from_borders(grid.visible if on_cells else np.isfinite(values)) & within_block(case, axes, grid)
        if not sure.any():
            continue
        near, (x, y, z) = nodes_at(places, axes, [1e-3 * w.min() for w in grid.widths()])
        ours = sure[z, y, x]
        for d in range(3):
            if len(axes[d]) > 2:
                want = difference(values, axes[d], 2 - d)[z, y, x][ours]
                case.equal(found[near][ours][:, d], want, "gradient along %s" % "xyz"[d], 1e-4)
        compared += ours.sum()


def away_from_borders(known):
    """Returns where the neighbours along all axes are known."""
    sure = known.copy()
    for axis in range(3):
        if known.shape[axis] > 1:
            around = np.pad(known, [(1, 1) if a == axis else (0, 0) for a in range(3)])
            sure &= np.take(around, range(known.shape[axis]), axis) & np.take(around, range(2, known.shape[axis] + 2), axis)
    return sure


def difference(values, axis, along):
    """Returns (next - previous) / distance; 0 at the ends."""
    out = np.zeros(values.shape)
    inner = [slice(None)] * 3
    inner[along] = slice(1, -1)
    ends = [np.take(values, r, along) for r in (range(2, values.shape[along]), range(values.shape[along] - 2))]
    shape = [1, 1, 1]
    shape[along] = -1
    out[tuple(inner)] = (ends[0] - ends[1]) / (axis[2:] - axis[:-2]).reshape(shape)
    return out


@check("Warp By Scalar", "boxes")
def warp(case):
    factor = 0.1 * float(np.ptp(case.scene.bounds()[:, 0])) / max(float(np.nanmax(np.abs(case.of_scene(case.kind, case.name)))), 1e-300)
    out = Output(case.apply(simple.WarpByScalar, case.nodes(), Scalars=["POINTS", case.name], ScaleFactor=factor))
    values = out.points(case.name)
    back = (out.points("place") - factor * values * np.array([0, 0, 1]))[np.isfinite(values[:, 0])]
    values = values[np.isfinite(values)][:, None]
    case.expect(len(values) > 0, "warp: empty")
    # Cell data become the mean of the cells at the point; ParaView includes hidden cells.
    case.compare_at(back, values, case.kind, case.name, "warp", hidden=True)


# ---- geometry -------------------------------------------------------------------------------------------

@check("Extract Surface", "boxes", "3-D")
def surface(case):
    """Tests the sides of the domain, and the values everywhere. Blocks have walls inside the domain."""
    out = Output(case.apply(simple.ExtractSurface))
    places, size = out.cells("centre"), out.cells("size")
    ends, low, high = case.scene.bounds(), case.scene.visible("low"), case.scene.visible("high")
    wide = high - low
    for axis in range(3):
        face = case.scene.visible("size")[:, 0] / wide[:, axis]
        for side, corner in enumerate((low, high)):
            near = 1e-5 * (ends[1] - ends[0])[axis]
            want = face[np.abs(corner[:, axis] - ends[side, axis]) < near].sum()
            found = size[np.abs(places[:, axis] - ends[side, axis]) < near].sum()
            case.equal(found, want, "surface: %s of %s" % (["least", "greatest"][side], "xyz"[axis]), 1e-5)
    case.right_values(out, "surface")


@check("Extract Block", "cells")
def extract_block(case):
    case.whole(Output(case.apply(simple.ExtractBlock, Selectors=["/Root"])), "all blocks")


@check("Merge Blocks")
def merge_blocks(case):
    case.whole(Output(case.apply(simple.MergeBlocks)), "merged")


@check("Append Datasets")
def append(case):
    """Tests the filter on single data sets from Merge Blocks, because ParaView does not offer it for others."""
    one = case.apply(simple.MergeBlocks, show=False)
    two = case.apply(simple.Calculator, one, show=False, ResultArrayName="copy", Function="1")
    double(case, Output(case.apply(simple.AppendDatasets, [one, two])), "appended")


@check("Group Datasets")
def group(case):
    copy = case.apply(simple.Calculator, show=False, ResultArrayName="copy", Function="1")
    double(case, Output(case.apply(simple.GroupDatasets, [case.reader, copy])), "grouped")


def double(case, out, what):
    if case.scene.places is not None:
        case.equal(len(out.points("place")), 2 * len(case.scene.places), what + ": points", 0)
    else:
        size = case.scene.visible("size")
        case.measure(out, what, 2 * size.sum(), 2 * len(size))
    case.right_values(out, what)


@check("Glyph")
def glyph(case):
    """Tests points evenly distributed in space, the default, and all points."""
    some = Output(case.apply(simple.Glyph, GlyphType="Arrow"))
    case.expect(len(some.points("place")) > 0, "glyphs: empty")
    every = case.apply(simple.Glyph, show=False, GlyphType="2D Glyph", GlyphMode="All Points", OrientationArray=["POINTS", "No orientation array"], ScaleArray=["POINTS", "No scale array"], ScaleFactor=0)
    every.GlyphType.GlyphType = "Vertex"
    case.update(every, False)
    found, wanted = Output(every).points("place"), Output(case.reader).points("place")
    # Includes points that have only hidden cells.
    scale = 1e4 / np.ptp(case.scene.bounds(), axis=0).max()
    raster = lambda places, shift=0: set(map(tuple, np.rint(places * scale + shift).astype(int)))  # noqa: E731
    near = set().union(*(raster(found, shift) for shift in itertools.product((-0.1, 0.1), repeat=3)))
    missed = raster(wanted) - near
    case.expect(not missed, "glyphs: %d points have none", len(missed))


@check("Stream Tracer", "vectors", "boxes")
def stream(case):
    """Tests that lines run along the vectors of the raw files."""
    kind, name = case.vectors()[0]
    ends = case.scene.bounds()
    out = Output(case.apply(simple.StreamTracer, Vectors=[kind, name], SeedType="Line", MaximumStreamlineLength=float(np.ptp(ends, axis=0).max()),
                            part=("SeedType", dict(Point1=list(ends[0]), Point2=list(ends[1]), Resolution=50))))
    places, found = out.points("place"), out.points(name, 3)
    if case.expect(len(places) > 1, "streamlines: empty"):
        seen = case.scene.at(places, kind, name)["known"]
        case.compare_at(places[seen], found[seen], kind, name, "streamlines")
        case.expect(seen.mean() > 0.9, "streamlines: %d of %d points where nothing is", (~seen).sum(), len(seen))


# ---- time -----------------------------------------------------------------------------------------------

@check("Temporal Statistics", "steps")
def statistics(case):
    """Tests right values if the blocks stay the same; otherwise a message and no values."""
    made, said = simple.TemporalStatistics(Input=case.reader), []
    case.made.append(made)
    made.GetClientSideObject().AddObserver("ErrorEvent", lambda *about: said.append(1))
    case.update(made)
    out = Output(made)
    same = case.same_blocks()
    case.expect(len(said) == (not same and rank == 0), "statistics: %d messages, same blocks: %s", len(said), same)
    if not same:
        return case.expect(not len(out.cells("size")), "statistics of blocks that change")
    scenes, average = [case.series.scene(s) for s in range(len(case.series.times))], case.name + "_average"
    if case.scene.places is not None:
        want = np.mean([s.values[case.name].sum() for s in scenes])
        return case.equal(out.points(average).sum(), want, "mean over time")
    on_cells = case.kind == "CELLS"
    places, found = (out.cells("centre"), out.cells(average)) if on_cells else (out.points("place"), out.points(average))
    case.expect(len(found) > 0, "mean over time: empty")
    # At places with a single value. Cells that are hidden at any step are hidden.
    if "boxes apart" in case.has and (on_cells or not case.scene.refined):
        lows = [s.at(places, case.kind, case.name)["low"] for s in scenes]
        case.equal(found, np.mean([np.where(np.isfinite(a), a, np.nan) for a in lows], 0), "mean over time", 1e-5)


@check("Resample To Image, Temporal Statistics", "steps", "boxes apart")
def resampled_statistics(case):
    """Tests the workaround for changing blocks: the mean of data that are resampled at each step."""
    counts = [n if wide > 0 else 1 for n, wide in zip((11, 9, 7), np.ptp(case.scene.bounds(), axis=0))]
    image = simple.ResampleToImage(Input=case.reader, SamplingDimensions=counts)
    made = simple.TemporalStatistics(Input=image)
    case.made += [image, made]
    steps = []
    for time in case.series.times:
        image.UpdatePipeline(time)
        steps.append(Output(image).points(case.name))
    made.UpdatePipeline(case.time)
    found = Output(made).points(case.name + "_average")
    case.expect(np.isfinite(found).any() or not all(np.isfinite(s).any() for s in steps), "mean of images: empty")
    if len({len(s) for s in steps}) == 1 and len(found) == len(steps[0]):
        case.equal(found, np.mean(steps, 0), "mean of images", 1e-5)


@check("Plot Selection Over Time", "steps", "boxes")
def over_time(case):
    """Tests the cell, or point, at a place, in all steps."""
    centre = case.scene.visible("centre")
    place = centre[len(centre) // 2]
    if case.kind == "POINTS":
        grid = case.scene.grids[0]
        k, j, i = np.argwhere(grid.visible)[grid.visible.sum() // 2]
        place = np.array([grid.axes[0][i], grid.axes[1][j], grid.axes[2][k]])
    source = simple.LocationSelectionSource(FieldType=0 if case.kind == "CELLS" else 1, Locations=list(place))
    plot = simple.PlotSelectionOverTime(Input=case.reader, Selection=source, OnlyReportSelectionStatistics=0)
    case.made += [source, plot]
    case.update(plot, False)
    out = Output(plot)
    valid = out.rows("vtkValidPointMask")[:, 0] == 1
    found, times = out.rows(case.name)[valid, 0], out.rows("Time")[valid, 0]
    for time, value in zip(times, found):
        step = int(np.argmin(np.abs(np.array(case.series.times) - time)))
        want = case.series.scene(step).at(place[None], case.kind, case.name)
        slack = 1e-5 * abs(want["high"][0])
        case.expect(want["low"][0] - slack <= value <= want["high"][0] + slack or np.isnan(value) and want["undefined"][0], "plot over time: %s at %s instead of %s to %s", value, time, want["low"][0], want["high"][0])
    case.expect(len(set(times)) == len(case.series.times), "plot over time: %d of %d steps", len(set(times)), len(case.series.times))
    plot.OnlyReportSelectionStatistics = 1
    case.update(plot, False)
    names = sorted({c.GetColumnName(i) for c in Output(plot).leaves for i in range(c.GetNumberOfColumns())})
    if rank == 0:    # rank 0 gets the tables of all ranks
        case.expect("avg(%s)" % case.name in names, "plot over time: no statistics of '%s' among %s", case.name, names)


# ---- pictures, files, states ----------------------------------------------------------------------------

@check("Volume of one level", "boxes", "3-D", "even")
def volume(case):
    levels = list(case.reader.LevelRange)
    case.reader.LevelRange = [0, 0] if case.scene.refined else levels
    try:
        case.reader.UpdatePipeline(case.time)
        view = case.view = simple.CreateRenderView(ViewSize=[200, 150])
        view.OrientationAxesVisibility = 0
        view.ViewTime = case.time
        shown = simple.Show(case.reader, view)
        shown.SetRepresentationType("Volume")
        simple.ColorBy(shown, (case.kind, case.name))
        shown.RescaleTransferFunctionToDataRange(True, False)
        shown.SetScalarBarVisibility(view, False)
        simple.ResetCamera(view)
        simple.Render(view)
        path = os.path.join(case.scratch, "volume.png")
        simple.SaveScreenshot(path, view)
        if rank == 0:
            case.expect(coloured(path) > 0.02, "volume: the picture is empty")
    finally:
        case.reader.LevelRange = levels
        case.update(case.reader, False)


def coloured(path):
    """Returns the share of a picture that differs from its background."""
    pixels = pixels_of(path)
    return (np.abs(pixels - pixels[0, 0]).max(2) > 8).mean()


def saved(case, name, source=None, **settings):
    path = os.path.join(case.scratch, name)
    simple.SaveData(path, proxy=source or case.reader, **settings)
    controller.Barrier()
    return path


def read_back(case, reader, what):
    case.made.append(reader)
    case.update(reader)
    case.whole(Output(reader), what)


@check("Save Data, vtm")
def save_vtm(case):
    case.update(case.reader, False)
    read_back(case, simple.XMLMultiBlockDataReader(FileName=[saved(case, "saved.vtm")]), "vtm")


@check("Save Data, pvd")
def save_pvd(case):
    """Tests single data sets, because ParaView does not offer the format for others."""
    merged = case.apply(simple.MergeBlocks, show=False)
    if any(not np.isfinite(np.linalg.norm(case.of_scene(kind, name), axis=1)).any()
           for kind in ("CELLS", "POINTS") for name, n in case.names(kind) if n > 1):
        case.known("reading saved vectors without numbers back", "Error reading InformationKey element for vtkDataArray::L2_NORM_RANGE")
    read_back(case, simple.PVDReader(FileName=saved(case, "saved.pvd", merged)), "pvd")


@check("Save Data, csv")
def save_csv(case):
    """Tests that there is a line for each cell, or point."""
    case.update(case.reader, False)
    on_cells = case.kind == "CELLS"
    path = saved(case, "saved.csv", **({"FieldAssociation": "Cell Data"} if on_cells else {}))
    found = np.genfromtxt(path, delimiter=",", names=True, comments=None, deletechars="", replace_space=" ")
    column = case.name if case.name in found.dtype.names else case.name + ":0"
    if case.expect(column in found.dtype.names, "csv: no '%s' among %s", case.name, found.dtype.names):
        got, want = found[column], case.of_scene(case.kind, case.name)[:, 0]
        if on_cells and "vtkGhostType" in found.dtype.names:
            got = got[(found["vtkGhostType"].astype(int) & HIDING) == 0]
        if on_cells:
            case.equal(len(got), len(want), "csv: lines", 0)
        # The default is five digits.
        every = want if on_cells or case.scene.places is not None else np.concatenate([g.nodes[case.name].ravel() for g in case.scene.grids])
        for name, some, others in (("missing", want, got), ("not in the data", got, every)):
            some, others = (np.unique(a[np.isfinite(a)]) for a in (some, others))
            gap = nearest_gap(some, others)
            case.expect((gap <= 1e-4 * np.abs(some).max(initial=0)).all(), "csv: %d values %s", (gap > 1e-4 * np.abs(some).max()).sum(), name)


def nearest_gap(some, others):
    """Returns the distance of each of `some` to the nearest of `others`, which ascend."""
    if not len(others):
        return np.full(len(some), np.inf)
    after = np.clip(np.searchsorted(others, some), 0, len(others) - 1)
    return np.minimum(np.abs(others[after] - some), np.abs(others[np.maximum(after - 1, 0)] - some))


def load_state(path):
    """Loads a state. In ParaView 5.13, LoadState gives the file's text only to rank 0, so a script that runs on all ranks reads the
    file on each rank."""
    if ranks == 1:
        return simple.LoadState(path)
    parser = servermanager.vtkPVXMLParser()
    with open(path) as file:
        parser.Parse(file.read())
    simple.RemoveViewsAndLayouts()
    servermanager.ProxyManager().SMProxyManager.LoadXMLState(parser.GetRootElement(), None)


@check("Save State, Load State")
def state(case):
    path = os.path.join(case.scratch, "state_%d.pvsm" % rank)
    case.update(case.reader)
    simple.SaveState(path)
    before = set(simple.GetSources())
    load_state(path)
    made = [s for key, s in simple.GetSources().items() if key not in before and key[0].startswith("PatchReader")]
    case.made += made
    if case.expect(len(made) == 1, "state: %s", sorted(set(simple.GetSources()) - before)):
        made[0].UpdatePipeline(case.time)
        case.whole(Output(made[0]), "state")
    for view in simple.GetRenderViews():
        if view is not case.view:
            simple.Delete(view)

#!/usr/bin/python3
"""uniform_grid(), to_xarray(), to_pyvista(), to_yt(), bounds, and the plug-ins of PyVista and xarray against analytic fields, h5py and numpy.

usage: PYTHONPATH=... PATCHIO_METADATA_DIR=... grids.py SCRATCH GRADSTRUTH [CLASS...]

SCRATCH: an empty folder. GRADSTRUTH: the reference values of GrADS's make_cases.py. If xarray, pyvista or yt are not installed,
their tests are left out with a message.
"""
import dataclasses
import datetime
import importlib.util
import os
import sys
import unittest
import warnings

import h5py
import numpy as np
import patchio

FORMATS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats")
sys.path[:0] = [os.path.join(FORMATS, name) for name in ("SAMRAI", "GRADS", "AMReX", "VTKHDF")]
import dump_writer  # noqa: E402
import meshes  # noqa: E402
import plotfile_writer  # noqa: E402
import truth as grads  # noqa: E402
from dump_writer import Dump, Level, Variable  # noqa: E402

scratch = grads_truth = None


def needs(module):
    missing = importlib.util.find_spec(module) is None
    return unittest.skipIf(missing, "skipped: %s is not installed" % module)


def field(x, patch):
    """Returns a field that differs for all places and levels."""
    return 1.0 + x[0] + 10.0 * x[1] + 100.0 * x[2] + 5000.0 * patch.level


def vector(x, patch):
    return [field(x, patch), -field(x, patch), 0.5 * x[0]]


def make_3d():
    levels = [Level([((0, 0, 0), (3, 3, 3)), ((4, 0, 0), (6, 3, 3))]), Level([((2, 2, 2), (7, 5, 5)), ((8, 2, 2), (9, 3, 7))], (2, 2, 2)),
              Level([((9, 9, 9), (14, 14, 11))], (3, 3, 3))]
    variables = [Variable("U", field), Variable("V", vector, 3), Variable("n", field, cell=False, ghosts=(1, 1, 1)),
                 Variable("fine", field, where=lambda p: p.level == 1)]
    return Dump(levels, variables, dx=(0.5, 0.25, 1.0), origin=(-1.0, 2.0, 0.0))


def make_2d():
    """Makes data with holes in level 0, and overlapping patches of level 1."""
    levels = [Level([((0, 0), (3, 2)), ((4, 3), (7, 5))]), Level([((8, 6), (13, 9)), ((10, 8), (15, 11))], (2, 2))]
    tagged = Variable("tag", lambda x, p: np.full(len(x[0]), 100.0 * p.level + p.number))
    return Dump(levels, [Variable("U", field), tagged], dx=(0.5, 0.25, 0), origin=(3.0, -1.0, 0))


def make_deformed():
    levels = [Level([((0, 0), (3, 2)), ((4, 0), (7, 2))]), Level([((4, 2), (11, 5))], (2, 2))]
    return Dump(levels, [Variable("U", field)], mapping=lambda u, block: [u[0] + 0.25 * u[1], u[1] + 0.05 * u[0] ** 2, 0.0 * u[0]])


def opened(name, dump):
    folder = os.path.join(scratch, name)
    dump_writer.write_series(folder, [dump], None)
    return patchio.open(os.path.join(folder, "dumps.visit"))[0]


def finest(dump, name, point):
    """Returns the expected value at a place: that of the cell in the finest patch with the lowest number, or None."""
    variable = next(v for v in dump.variables if v.name == name)
    for patch in sorted(dump.patches, key=lambda p: (-p.level, p.gpn)):
        if not variable.where(patch):
            continue
        dx = dump.level_dx(patch.level)[:dump.dim]
        origin = np.array(dump.position(patch, [np.zeros(1)] * 3))[:dump.dim, 0]
        index = np.floor((np.array(point) - origin) / dx + 1e-9).astype(int)
        if (index >= patch.lower[:dump.dim]).all() and (index <= patch.upper[:dump.dim]).all():
            middle = list(index + 0.5) + [0.0] * (3 - dump.dim)
            values = variable.function(dump.position(patch, [np.array([m]) for m in middle]), patch)
            return np.array(values, float).reshape(-1)
    return None


class UniformGrid(unittest.TestCase):
    def check(self, dump, name, found, outside=np.nan, stride=1):
        """Checks that all values equal finest(). Returns the number of places with a value. stride: checks only every `stride`-th
        place of large grids."""
        grid, axes = found
        grid = grid.reshape(tuple(len(axis) for axis in axes[::-1]) + (-1,))
        grid, axes = grid[(slice(None, None, stride),) * len(axes)], [axis[::stride] for axis in axes]
        known = 0
        for index in np.ndindex(grid.shape[:-1]):
            want = finest(dump, name, [axis[i] for axis, i in zip(axes, index[::-1])])
            known += want is not None
            want = np.full(grid.shape[-1], outside) if want is None else want
            np.testing.assert_allclose(grid[index], want, rtol=1e-6, err_msg="%s at %s" % (name, index))
        return known

    def test_at_levels(self):
        dump = make_3d()
        step = opened("levels", dump)
        for level, shape in ((0, (4, 4, 7)), (1, (8, 8, 14)), (2, (24, 24, 42))):
            grid, axes = step.uniform_grid("U", level=level)
            self.assertEqual((grid.shape, grid.dtype), (shape, step.dtype("U")))
            self.check(dump, "U", (grid, axes), stride=2 * level + 1)
            self.assertFalse(np.isnan(grid).any())
            dx = dump.level_dx(level)
            for axis, low in enumerate((-1.0, 2.0, 0.0)):
                np.testing.assert_allclose(axes[axis], low + dx[axis] * (np.arange(shape[2 - axis]) + 0.5), atol=1e-12)
        self.assertEqual(self.check(dump, "V", step.uniform_grid("V")), 4 * 4 * 7)
        self.assertEqual(step.uniform_grid("U", level="level 1")[0].shape, (8, 8, 14))

    def test_where_a_variable_is(self):
        dump = make_3d()
        step = opened("partly", dump)
        grid, axes = step.uniform_grid("fine", level=1)
        self.assertEqual(grid.shape, (6, 4, 8))      # around the patches of level 1
        self.assertEqual(self.check(dump, "fine", (grid, axes)), 6 * 4 * 4 + 2 * 2 * 6)
        self.assertEqual(self.check(dump, "fine", step.uniform_grid("fine", level=1, bounds=step.bounds, outside=-1), -1), 6 * 4 * 4 + 2 * 2 * 6)

    def test_shape_and_bounds(self):
        dump = make_3d()
        step = opened("shape", dump)
        grid, axes = step.uniform_grid("U", shape=(5, 6, 7), bounds=(-1.2, 1.1, 2.1, 2.9, -0.5, 5.0))
        self.assertEqual(grid.shape, (5, 6, 7))
        np.testing.assert_allclose(axes[0], -1.2 + 2.3 * (np.arange(7) + 0.5) / 7)
        self.assertTrue(0 < self.check(dump, "U", (grid, axes)) < grid.size)
        grid, axes = step.uniform_grid("U", level=1, bounds=(0.1, 0.6, 2.0, 2.5, 1.2, 1.3))
        self.assertEqual(grid.shape, (1, 4, 3))      # whole cells
        self.assertEqual(self.check(dump, "U", (grid, axes)), 12)
        self.assertTrue(np.isnan(step.uniform_grid("U", bounds=(50, 51, 0, 1, 0, 1))[0]).all())

    def test_flat(self):
        dump = make_2d()
        step = opened("flat", dump)
        self.assertEqual(step.bounds, (3.0, 7.0, -1.0, 0.5, 0.0, 0.0))
        grid, axes = step.uniform_grid("U", level=1)
        self.assertEqual((grid.shape, len(axes)), ((12, 16), 2))
        self.assertEqual(self.check(dump, "U", (grid, axes)), 2 * 6 * 8)
        self.check(dump, "tag", step.uniform_grid("tag", level=1))      # the patch with the lowest number
        self.check(dump, "U", step.uniform_grid("U", shape=(7, 9), bounds=(2.5, 7.0, -1, 1), outside=-99), -99)

    def test_nodes(self):
        dump = make_3d()
        step = opened("nodes", dump)
        for found in (step.uniform_grid("n", level=0), step.uniform_grid("n", shape=(5, 5, 8))):
            grid, (x, y, z) = found
            self.assertEqual(grid.shape, (5, 5, 8))
            place = grid % 5000.0
            np.testing.assert_allclose(place, 1 + x + 10 * y[:, None] + 100 * z[:, None, None], rtol=1e-6)
            level = grid // 5000.0
            self.assertEqual(level[2, 2, 2], 2)          # the corner of level 2 at index 9, 9, 9 of 18
            self.assertEqual((level[1, 1, 1], level[0, 0, 0], level[4, 4, 7]), (1, 0, 0))

    def test_integers(self):
        folder = os.path.join(scratch, "integers")
        os.makedirs(folder, exist_ok=True)
        values = np.arange(24, dtype="<i2").reshape(2, 3, 4)
        values.tofile(os.path.join(folder, "i.dat"))
        with open(os.path.join(folder, "i.ctl"), "w") as file:
            file.write("dset ^i.dat\nundef -9\noptions little_endian\nxdef 4 linear 10 2\nydef 3 linear -1 1\nzdef 2 levels 900 300\n"
                       "tdef 1 linear 00z01jan2000 1dy\nvars 1\nz 2 -1,40,2,-1 x\nendvars\n")
        step = patchio.open(os.path.join(folder, "i.ctl"))[0]
        grid, (x, y, z) = step.uniform_grid("z", outside=-5)
        self.assertEqual(grid.dtype, np.int16)
        np.testing.assert_array_equal(grid, values)
        np.testing.assert_allclose((x, ), [10 + 2 * np.arange(4)])
        np.testing.assert_allclose(z, 7 * np.log(1000 / np.array([900, 300])))
        wide, _ = step.uniform_grid("z", shape=(1, 1, 3), bounds=(4, 16, 0, 0, z[1], z[1]))
        self.assertEqual((wide.dtype, wide[0, 0, 1:].tolist()), (np.float32, [16.0, 19.0]))
        self.assertTrue(np.isnan(wide[0, 0, 0]))

    def test_faults(self):
        step = opened("faults", make_3d())
        deformed = opened("deformed", make_deformed())
        for words, work, kind in (
                ("has no variable 'w'", lambda: step.uniform_grid("w"), patchio.Error),
                ("has no level 3", lambda: step.uniform_grid("U", level=3), patchio.Error),
                ("curvilinear", lambda: deformed.uniform_grid("U"), patchio.Error),
                ("GB are free", lambda: step.uniform_grid("U", shape=(10**6, 10**6, 10**6)), patchio.Error),
                ("too large", lambda: step.uniform_grid("U", bounds=(0, 1e12, 0, 1, 0, 1)), patchio.Error),
                ("either", lambda: step.uniform_grid("U", level=1, shape=(2, 2, 2)), ValueError),
                ("shape must be 3", lambda: step.uniform_grid("U", shape=(2, 2)), ValueError),
                ("not (2.5, 2, 2)", lambda: step.uniform_grid("U", shape=(2.5, 2, 2)), TypeError),
                ("outside must be a number, not 'x'", lambda: step.uniform_grid("U", outside="x"), TypeError),
                ("bounds must be", lambda: step.uniform_grid("U", bounds=(1, 0, 0, 1, 0, 1)), ValueError),
                ("bounds must be", lambda: step.uniform_grid("U", bounds=(-1e308, 1e308, 0, 1, 0, 1)), ValueError),
                ("2e+300 cells", lambda: step.uniform_grid("U", bounds=(-1e300, 0, 0, 1, 0, 1)), patchio.Error),
                ("inf cells", lambda: step.uniform_grid("U", level=2, bounds=(0, 1.7e308, 0, 1, 0, 1)), patchio.Error),
                ("too far", lambda: step.uniform_grid("U", bounds=(1e300, 1e300, 0, 1, 0, 1)), patchio.Error)):
            with self.assertRaises(kind) as caught:
                work()
            self.assertIn(words, str(caught.exception))
            self.assertLess(len(str(caught.exception)), 300)


class Bounds(unittest.TestCase):
    def test_boxes_and_deformed(self):
        self.assertEqual(opened("bounds", make_3d()).bounds, (-1.0, 2.5, 2.0, 3.0, 0.0, 4.0))
        dump = make_deformed()
        found = opened("bounds_deformed", dump).bounds
        places = np.concatenate([np.stack(dump.position(p, [axis.ravel() for axis in np.meshgrid(
            np.arange(p.lower[0], p.upper[0] + 2), np.arange(p.lower[1], p.upper[1] + 2), [0.0])])) for p in dump.patches], 1)
        np.testing.assert_allclose(found, np.stack([places.min(1), places.max(1)], 1).ravel(), rtol=1e-6)

    def test_points(self):
        path = write_points()
        step = patchio.open(path)[0]
        places = step.positions(int(np.flatnonzero(step.patches["level"] == step.level_names.index("sensor"))[0]))
        np.testing.assert_allclose(places, POINTS * [0.25, 0.5, 0] + [-8 * 0.25, -4 * 0.5, 0], atol=1e-6)
        self.assertTrue((places[:, 2] == step.origin[2]).all())    # as in nodes() and ParaView
        self.assertEqual(step.nodes(0)[2].tolist(), [step.origin[2]])


POINTS = np.array([[0, 0, 0], [5, 2, 0], [15, 8, 0]])


def write_points(name="points.h5"):
    """Writes a flat k-Wave output of 16 x 9 grid points, with three sensor points."""
    path = os.path.join(scratch, name)
    with h5py.File(path, "w") as f:
        for name, text in (("created_by", "x"), ("creation_date", "x"), ("file_description", "x"), ("major_version", "1"),
                           ("minor_version", "2"), ("file_type", "output")):
            f.attrs[name] = np.bytes_(text)
        scalars = {"Nx": 16, "Ny": 9, "Nz": 1, "Nt": 4, "t_index": 4, "sensor_mask_type": 0}
        data = {name: np.full((1, 1, 1), value, np.uint64) for name, value in scalars.items()}
        for name, value in (("dt", 0.5), ("dx", 0.25), ("dy", 0.5), ("dz", 1.0), ("c_ref", 1500)):
            data[name] = np.full((1, 1, 1), value, np.float32)
        data["sensor_mask_index"] = (POINTS @ [1, 16, 144] + 1).astype(np.uint64).reshape(1, 1, -1)
        data["p_final"] = np.zeros((1, 9, 16), np.float32)
        data["p"] = np.arange(12, dtype=np.float32).reshape(1, 4, 3)
        for name, values in data.items():
            item = f.create_dataset(name, data=values)
            item.attrs["data_type"] = np.bytes_("float" if values.dtype.kind == "f" else "long")
            item.attrs["domain_type"] = np.bytes_("real")
    return path


@needs("yt")
class Yt(unittest.TestCase):
    def test_levels(self):
        import yt
        yt.set_log_level(50)
        levels = [Level([((0, 0, 0), (3, 3, 3)), ((4, 0, 0), (7, 3, 3))]), Level([((4, 2, 2), (11, 5, 5))], (2, 2, 2))]
        dump = Dump(levels, [Variable("U", field), Variable("V", vector, 3), Variable("n", field, cell=False)],
                    dx=(0.5, 0.25, 1.0), origin=(-1.0, 2.0, 0.0))
        step = opened("yt", dump)
        ds = step.to_yt(["U", "V"])
        self.assertEqual((ds.index.max_level, list(ds.domain_dimensions), ds.refine_by), (1, [8, 4, 4], 2))
        np.testing.assert_allclose(ds.domain_left_edge.d, (-1, 2, 0))
        np.testing.assert_allclose(ds.domain_right_edge.d, (3, 3, 4))
        cells = ds.all_data()
        x, y, z = (np.asarray(cells["index", axis]) for axis in "xyz")
        # yt shows a place once, with the finest cell.
        fine = np.asarray(cells["index", "dx"]) < 0.3
        self.assertEqual((fine.sum(), len(x)), (8 * 4 * 4, 8 * 4 * 4 + 8 * 4 * 4 - 4 * 2 * 2))
        np.testing.assert_allclose(cells["stream", "U"], 1 + x + 10 * y + 100 * z + 5000 * fine, rtol=1e-6)
        np.testing.assert_allclose(cells["stream", "V_z"], 0.5 * x, rtol=1e-6)

    def test_refusals(self):
        for name, dump, options, words in (
                ("node", make_3d(), {"variables": "n"}, "cell variables"), ("ratios", make_3d(), {"variables": "U"}, "one whole refinement ratio"),
                ("some", make_3d(), {"variables": "fine", "levels": [0, 0]}, "needs variables on every patch"), ("deformed", make_deformed(), {}, "only uniform grids"),
                ("level", make_3d(), {"variables": "U", "levels": [1, 1]}, "needs all levels from 0"),
                ("gap", make_3d(), {"variables": "U", "levels": [0, 2]}, "found no patches of level 1")):
            with self.assertRaisesRegex(patchio.Error, words):
                opened("yt_" + name, dump).to_yt(**options)


@needs("xarray")
class Xarray(unittest.TestCase):
    def test_levels_of_cells_and_nodes(self):
        dump = make_3d()
        step = opened("xarray", dump)
        self.check_level(dump, step.to_xarray(level=1))
        import xarray
        with xarray.open_dataset(os.path.join(scratch, "xarray", "dumps.visit"), engine="patchio", level=1, step=0) as table:
            self.check_level(dump, table)
        self.assertEqual(list(step.to_xarray("fine")), ["fine"])
        self.assertEqual(step.to_xarray("fine").sizes["z"], 6)
        with self.assertRaisesRegex(patchio.Error, "'fine' is not on level 0"):
            step.to_xarray("fine", level=0)

    def check_level(self, dump, table):
        """The values of level 1 of make_3d()."""
        self.assertEqual(table["U"].dims, ("z", "y", "x"))
        self.assertEqual(table["V"].dims, ("z", "y", "x", "V_component"))
        self.assertEqual(table["n"].dims, ("z_node", "y_node", "x_node"))
        self.assertEqual((float(table.time), table.attrs["step"]), (0.0, 0))
        for name, suffix, half in (("U", "", 0.5), ("n", "_node", 0.0)):
            x, y, z = (table[axis + suffix].values for axis in "xyz")
            want = np.full(table[name].shape, np.nan)
            for patch in dump.patches:
                for k, j, i in np.ndindex(want.shape) if patch.level == 1 else []:
                    at = np.round((np.array([x[i], y[j], z[k]]) - (-1, 2, 0)) / dump.level_dx(1) - half).astype(int)
                    if (at >= patch.lower).all() and (at <= patch.upper + (half == 0)).all():
                        want[k, j, i] = 5001.0 + x[i] + 10 * y[j] + 100 * z[k]
            self.assertTrue(np.isnan(want).any() and not np.isnan(want).all())
            np.testing.assert_allclose(table[name].values, want, rtol=1e-6)
            for part in (np.s_[1, :, ::2], np.s_[::-1, 2, 3], np.s_[2:5, 1:1, :], np.s_[-1, -1, -1], np.s_[[0, 3], [1, 2], 4]):
                picked = want[part] if isinstance(part[0], (int, slice)) else want[part[0]][:, part[1]][..., part[2]]
                np.testing.assert_allclose(table[name][part].values, picked, rtol=1e-6)

    def test_grads(self):
        warnings.simplefilter("ignore")    # warnings about files that are missing on purpose
        truths = grads.load_all(grads_truth)
        self.assertTrue(truths)
        surfaces = long_names = 0
        for truth in truths:
            for number, step in enumerate(patchio.open(truth.ctl)):
                table = step.to_xarray()
                for name in truth.arrays[number]:
                    found, want = table[name if name in table.data_vars else name + "_"], truth.on_grid(number, name)
                    surfaces += name not in truth.deep
                    long_names += found.attrs.get("long_name", "") == step.variables[name].long_name != ""
                    want = want if name in truth.deep else want[0]
                    np.testing.assert_array_equal(found.values, want, err_msg="%s %s" % (truth.ctl, name))
                    x, y = (("lon", "lat") if step.geographic else ("x", "y"))
                    self.assertEqual(found.dims, (("lev",) if name in truth.deep else ()) + (y, x))
                    np.testing.assert_allclose(table[x], truth.x)
                    np.testing.assert_allclose(table[y], truth.y)
                    if name in truth.deep:
                        np.testing.assert_allclose(table["lev"], truth.levels)
                        np.testing.assert_allclose(table["height"], truth.z(name), atol=1e-9)
                date = datetime.datetime.strptime(truth.dates[number], "%Y-%m-%d %H:%M")
                self.assertEqual(table.time.values, np.datetime64(date))
        self.assertTrue(surfaces)
        self.assertTrue(long_names)

    def test_points(self):
        table = patchio.open(write_points())[1].to_xarray("p")
        self.assertEqual(table["p"].values.tolist(), [3, 4, 5])
        np.testing.assert_allclose(table["x"], POINTS[:, 0] * 0.25 - 2, atol=1e-6)
        self.assertNotIn("z", table.coords)

    def test_the_level_that_paraview_shows(self):
        step = patchio.open(write_points())[1]
        for variables, want in ((None, {"p": 3}), ("p", {"p": 3}), ("p_final", {"p_final": 9 * 16})):
            table = step.to_xarray(variables)
            self.assertEqual({name: values.size for name, values in table.data_vars.items()}, want)
        with self.assertRaisesRegex(patchio.Error, "'p_final' is not on level 1, 'sensor'"):
            step.to_xarray(["p", "p_final"])
        with h5py.File(write_points("steady.h5"), "r+") as f:    # only the positions of the sensor
            del f["p"]
        step = patchio.open(os.path.join(scratch, "steady.h5"))[0]
        self.assertEqual(list(step.to_xarray()), ["p_final"])
        with self.assertRaisesRegex(patchio.Error, "level 1, 'sensor', has no variables"):
            step.to_xarray(level="sensor")

    def test_deformed(self):
        import xarray
        dump = make_deformed()
        step = opened("xarray_deformed", dump)
        path = os.path.join(scratch, "xarray_deformed", "dumps.visit")
        for level, table in [(0, step.to_xarray()), (1, step.to_xarray(level=1)), (0, xarray.open_dataset(path, engine="patchio", step=0))]:
            self.assertEqual(table["U"].dims, ("j", "i"))
            low = np.min([patch.lower for patch in dump.patches if patch.level == level], 0)
            for patch in (patch for patch in dump.patches if patch.level == level):
                part = tuple(slice(patch.lower[a] - low[a], patch.upper[a] - low[a] + 1) for a in (1, 0))
                j, i = np.meshgrid(np.arange(patch.lower[1], patch.upper[1] + 2), np.arange(patch.lower[0], patch.upper[0] + 2), indexing="ij")
                nodes = np.stack(dump.position(patch, [i.ravel(), j.ravel(), 0.0 * i.ravel()]), -1).reshape(i.shape + (3,))
                middle = 0.25 * (nodes[1:, 1:] + nodes[1:, :-1] + nodes[:-1, 1:] + nodes[:-1, :-1])
                for axis, name in enumerate("xy"):
                    np.testing.assert_allclose(table[name].values[part], middle[..., axis], rtol=1e-5)
                variable = next(v for v in dump.variables if v.name == "U")
                np.testing.assert_allclose(table["U"].values[part].ravel(), dump.sample(patch, variable)[:, 0], rtol=1e-6)

    def test_lazy_series(self):
        """GrADS files along time: the bytes that an index reads, and chunks of dask."""
        import xarray
        truth = next(t for t in grads.load_all(grads_truth) if len(t.hours) > 1 and t.deep)
        name = sorted(truth.deep)[0]
        read, bytes_read = patchio.Step._read_blocks, []

        def counted(step, *what):
            found = read(step, *what)
            bytes_read.append(step.report["bytes"])
            return found

        patchio.Step._read_blocks = counted
        try:
            with xarray.open_dataset(truth.ctl, engine="patchio") as series:
                found = series[name if name in series.data_vars else name + "_"]
                want = np.stack([truth.on_grid(number, name) for number in range(len(truth.hours))])
                self.assertEqual((found.dims[0], found.shape, bytes_read), ("time", want.shape, []))
                np.testing.assert_array_equal(found[1, 0].values, want[1, 0])
                self.assertLessEqual(sum(bytes_read), 2 * want[1, 0].nbytes)
                np.testing.assert_array_equal(found.values, want)
                dates = [datetime.datetime.strptime(date, "%Y-%m-%d %H:%M") for date in truth.dates]
                self.assertEqual(series.time.values.tolist(), np.array(dates, "datetime64[ns]").tolist())
            if importlib.util.find_spec("dask"):
                with xarray.open_dataset(truth.ctl, engine="patchio", chunks={}) as series:
                    found = series[name if name in series.data_vars else name + "_"]
                    self.assertEqual(found.chunks[0], (1,) * len(want))
                    np.testing.assert_allclose(found.mean("time").values, np.nanmean(want, 0), rtol=1e-5)
        finally:
            patchio.Step._read_blocks = read

    def test_levels_that_change(self):
        import xarray
        patches = [[((0, 0), (3, 3)), ((4, 0), (7, 3))], [((4, 0), (7, 3)), ((8, 0), (11, 3))], [((0, 0), (3, 3))]]
        dumps = [Dump([Level([((0, 0), (5, 5))]), Level(boxes, (2, 2))], [Variable("U", field), Variable("once", field)][:2 if step == 0 else 1], dx=(1, 1, 0),
                      step=step, time=step) for step, boxes in enumerate(patches)]
        folder = os.path.join(scratch, "changing")
        dump_writer.write_series(folder, dumps, None)
        with xarray.open_dataset(os.path.join(folder, "dumps.visit"), engine="patchio", level=1) as series:
            self.assertEqual(series["U"].sizes, {"time": 3, "y": 4, "x": 12})
            np.testing.assert_array_equal(series["once"].values[0], series["U"].values[0])
            self.assertTrue(np.isnan(series["once"].values[1:]).all(), "steps without the variable")
            empty = np.isnan(series["U"].values)
            want = 5001 + series["x"].values + 10 * series["y"].values[:, None]
            for number, gap in enumerate((slice(8, 12), slice(0, 4), slice(4, 12))):
                wide = np.zeros(12, bool)
                wide[gap] = True
                np.testing.assert_array_equal(empty[number], np.broadcast_to(wide, (4, 12)))
                np.testing.assert_allclose(series["U"].values[number][:, ~wide], want[:, ~wide], rtol=1e-6)


@needs("pyvista")
class Pyvista(unittest.TestCase):
    def test_boxes(self):
        dump = make_3d()
        step = opened("pyvista", dump)
        blocks = step.to_pyvista(blocks="patches")
        self.assertEqual(len(blocks), len(dump.patches))
        for patch, block in zip(dump.patches, blocks):
            low = np.array([-1.0, 2.0, 0.0]) + patch.lower * dump.level_dx(patch.level)
            np.testing.assert_allclose(block.bounds[::2], low)
            whole = block.copy()
            if "vtkGhostType" in whole.cell_data:
                del whole.cell_data["vtkGhostType"]    # otherwise hidden cells have no centres
            middles, corners = whole.cell_centers().points.T, whole.points.T
            np.testing.assert_allclose(block.cell_data["U"], field(middles, patch), rtol=1e-6)
            np.testing.assert_allclose(block.cell_data["V"], np.stack(vector(middles, patch), 1), rtol=1e-6)
            np.testing.assert_allclose(block.point_data["n"], field(corners, patch), rtol=1e-6)
            self.assertEqual("fine" in block.cell_data, patch.level == 1)
            hidden = block.cell_data["vtkGhostType"] != 0 if "vtkGhostType" in block.cell_data else np.zeros(block.n_cells, bool)
            finer = [c for c in dump.patches if c.level == patch.level + 1]
            ratio = dump.refinement[min(patch.level + 1, 2)] // dump.refinement[patch.level]
            index = np.round((middles.T - low) / dump.level_dx(patch.level) - 0.5).astype(int) + patch.lower
            want = [any((c.lower <= i * ratio).all() and (c.upper >= i * ratio + ratio - 1).all() for c in finer) for i in index]
            np.testing.assert_array_equal(hidden, want)
        self.assertEqual(blocks.get_block_name(2), "level 1, patch 0")
        self.assertEqual(len(step.to_pyvista("U", levels=1, blocks="patches")), 2)

    def test_deformed(self):
        dump = make_deformed()
        for patch, block in zip(dump.patches, opened("pyvista_deformed", dump).to_pyvista("U")):
            j, i = np.meshgrid(np.arange(patch.lower[1], patch.upper[1] + 2), np.arange(patch.lower[0], patch.upper[0] + 2), indexing="ij")
            np.testing.assert_allclose(block.points, np.stack(dump.position(patch, [i.ravel(), j.ravel(), 0.0 * i.ravel()]), 1), atol=1e-6)
            variable = next(v for v in dump.variables if v.name == "U")
            np.testing.assert_allclose(block.cell_data["U"], dump.sample(patch, variable)[:, 0], rtol=1e-6)

    def test_rectilinear(self):
        truth = next(t for t in grads.load_all(grads_truth) if t.deep and len(t.levels) > 1)
        name = sorted(truth.deep)[0]
        block = patchio.open(truth.ctl)[0].to_pyvista(name, levels="levels")[0]
        want = truth.on_grid(0, name)
        np.testing.assert_array_equal(block.point_data[name].reshape(want.shape), want)
        np.testing.assert_allclose(block.points.reshape(want.shape + (3,))[:, 0, 0, 2], truth.z(name), atol=1e-6)

    def test_points(self):
        block = patchio.open(write_points())[1].to_pyvista("p", levels="sensor")[0]
        np.testing.assert_allclose(block.points[:, :2], POINTS[:, :2] * [0.25, 0.5] - [2, 2], atol=1e-6)
        self.assertEqual(block.point_data["p"].tolist(), [3, 4, 5])

    def test_no_copies(self):
        step = opened("pyvista_copies", make_3d())
        read, kept = step._read_blocks, []
        step._read_blocks = lambda *what: kept.append({name: dict(arrays) for name, arrays in read(*what).items()}) or {
            name: dict(arrays) for name, arrays in kept[-1].items()}
        block = step.to_pyvista("U", patches=0)[0]
        self.assertTrue(np.shares_memory(np.asarray(block.cell_data["U"]), kept[0]["U"][0]))

    def check_cells(self, dump, blocks, volume):
        """Each visible cell has the value of finest(), and together they fill the volume once."""
        found = 0.0
        for block in blocks:
            shown = block.cell_data["vtkGhostType"] == 0 if "vtkGhostType" in block.cell_data else np.ones(block.n_cells, bool)
            whole = block.copy()
            whole.cell_data.pop("vtkGhostType", None)
            middles, values = whole.cell_centers().points, block.cell_data["U"]
            for cell in np.flatnonzero(shown):
                np.testing.assert_allclose(values[cell], finest(dump, "U", middles[cell][:dump.dim]), rtol=1e-6)
            found += shown.sum() * np.prod([size for size in block.spacing if size > 0])
        self.assertAlmostEqual(found, volume)

    def test_merged(self):
        dump = make_3d()
        step = opened("pyvista_merged", dump)
        self.check_cells(dump, step.to_pyvista("U"), 3.5 * 1.0 * 4.0)
        coarse = step.to_pyvista("U", levels=0)      # one block without hidden cells
        self.assertEqual((len(coarse), coarse[0].n_cells, coarse[0].array_names), (1, 7 * 4 * 4, ["U"]))
        near = step.to_pyvista("U", bounds=(-1, -0.9, 2, 2.1, 0, 0.1), blocks="patches")
        self.assertEqual([near.get_block_name(n) for n in range(len(near))], ["level 0, patch 0"])
        self.check_cells(make_2d(), opened("pyvista_merged_2d", make_2d()).to_pyvista("U"), 4 * 3 * 2 * 0.5 * 0.25)

    def test_filters(self):
        """Slices, contours and thresholds of merged and of single patches show each place once."""
        place = lambda x, patch: 1.0 + x[0] + 10.0 * x[1] + 100.0 * x[2]
        levels = [Level([((i, j, k), (i + 3, j + 3, k + 3)) for k in (0, 4) for j in (0, 4) for i in (0, 4)]),
                  Level([((4, 4, 4), (11, 7, 11)), ((4, 8, 4), (11, 11, 11))], (2, 2, 2))]
        dump = Dump(levels, [Variable("n", place, cell=False), Variable("U", place)], dx=(0.5, 0.5, 0.5))
        step = opened("pyvista_filters", dump)
        self.assertLess(len(step.to_pyvista()), 9)
        for form in ("merged", "patches"):
            blocks = step.to_pyvista(blocks=form)
            cut = blocks.slice(normal="z", origin=(2, 2, 2.1)).combine()
            self.assertAlmostEqual(cut.compute_cell_sizes()["Area"].sum(), 16, places=5)
            np.testing.assert_allclose(cut["n"], place(cut.points.T, None), rtol=1e-5)
            whole = blocks.generic_filter("threshold", -1, scalars="U").combine()
            self.assertAlmostEqual(whole.compute_cell_sizes()["Volume"].sum(), 64, places=4)
        # VTK's contours do not know hidden cells, of which merged blocks have none.
        surface = step.to_pyvista("n").generic_filter("contour", [1 + 210.0 + 11.0], scalars="n").combine()
        np.testing.assert_allclose(place(surface.points.T, None), 222, rtol=1e-5)
        across = 16 * np.sqrt(1 + 100 + 10000) / 100     # the plane leaves through the sides only
        self.assertAlmostEqual(surface.compute_cell_sizes()["Area"].sum(), across, places=3)


@needs("pyvista")
class PyvistaReader(unittest.TestCase):
    def setUp(self):
        import pyvista
        if not hasattr(pyvista, "register_reader") or not hasattr(pyvista, "BaseVTKReader"):
            self.skipTest("skipped: this PyVista has no registry of readers; it needs 0.49")
        self.pyvista = pyvista

    def test_reader(self):
        dump, folder = make_3d(), os.path.join(scratch, "reader")
        dump_writer.write_series(folder, [dump, dataclasses.replace(dump, step=7, time=0.5)], None)
        reader = self.pyvista.get_reader(os.path.join(folder, "dumps.visit"))
        self.assertEqual((reader.cell_array_names, reader.point_array_names), (["U", "V", "fine"], ["n"]))
        self.assertEqual(reader.number_time_points, 2)
        reader.set_active_time_value(reader.time_values[1])
        self.assertEqual(reader.active_time_value, reader.time_values[1])
        reader.disable_all_cell_arrays()
        reader.disable_all_point_arrays()
        reader.enable_cell_array("U")
        reader.levels = (0, 1)
        found = reader.read()
        self.assertEqual(set(found[0].array_names) - {"vtkGhostType"}, {"U"})
        shown = [block.cell_data["U"][block.cell_data.get("vtkGhostType", np.zeros(block.n_cells)) == 0] for block in found]
        self.assertEqual(sorted(set((np.concatenate(shown) // 5000).astype(int))), [0, 1])
        self.assertEqual(len(self.pyvista.read(os.path.join(folder, "dumps.visit"), levels=0, blocks="patches")), 2)

    def test_names(self):
        folder = os.path.join(scratch, "plt00020")
        boxes = [plotfile_writer.tiles((0, 0, 0), (7, 7, 7), (4, 4, 4))]
        plotfile_writer.write_plotfile(folder, ((0, 0, 0), (7, 7, 7)), boxes, [], names=["density"], real="f8")
        plotfile_writer.write_plotfile(os.path.join(scratch, "plt00019"), ((0, 0, 0), (3, 3, 3)), [[((0, 0, 0), (3, 3, 3))]], [], names=["density"])
        found = self.pyvista.read(folder)      # not the first step of the series
        self.assertEqual((len(found), found[0].dimensions), (1, (9, 9, 9)))
        k, j, i = np.ogrid[0:8, 0:8, 0:8]
        np.testing.assert_array_equal(found[0]["density"].reshape(8, 8, 8), plotfile_writer.value(0, 0, (i, j, k)))
        container = os.path.join(scratch, "reader.pio")
        patchio.write(container, {"d": np.arange(24.0).reshape(2, 3, 4)}, overwrite=True)
        self.assertEqual(self.pyvista.read(container)[0]["d"].tolist(), list(range(24)))
        truth = grads.load_all(grads_truth)[0]
        self.assertTrue(self.pyvista.read(truth.ctl).n_blocks)
        points = self.pyvista.read(write_points("reader.h5"), force_ext=".patchio")
        self.assertIn("p_final", points[0].array_names)
        os.makedirs(os.path.join(scratch, "nothing"), exist_ok=True)
        with self.assertRaises((OSError, ValueError)):
            self.pyvista.read(os.path.join(scratch, "nothing"))


class Meshes(unittest.TestCase):
    def open(self, kind, steps, name):
        path = os.path.join(scratch, name)
        meshes.several(path, kind, steps)
        return patchio.open(path)

    def test_values_points_and_cells(self):
        step = self.open("UnstructuredGrid", [(0.5, meshes.BOXES), (0.75, meshes.BOXES)], "steady.vtkhdf")[1]
        self.assertEqual((step.grid, step.coordinates, list(step.variables)), ("unstructured", "Points", ["c", "k", "p", "v"]))
        self.assertEqual(step.bounds, (0, 11, 0, 3, 0, 2))
        points, values, vectors = (step.read(name) for name in ("Points", "p", "v"))
        mesh = step.read(step.mesh)
        for number, box in enumerate(meshes.BOXES):
            np.testing.assert_array_equal(points[number], box.points)
            np.testing.assert_array_equal(values[number], meshes.field(box.points, 0.75))
            self.assertEqual(vectors[number].shape, (len(box.points), 3))
            np.testing.assert_array_equal(mesh["Connectivity"][number], np.concatenate(box.cells()))
            np.testing.assert_array_equal(mesh["Types"][number], box.types)

    @needs("pyvista")
    def test_pyvista(self):
        for kind, parts, name in (("UnstructuredGrid", meshes.BOXES, "boxes.vtkhdf"), ("PolyData", meshes.CARPETS, "carpets.vtkhdf")):
            found = self.open(kind, [(0.5, parts)], name)[0].to_pyvista()
            self.assertEqual(len(found), len(parts))
            for block, part in zip(found, parts):
                np.testing.assert_array_equal(block.points, part.points)
                np.testing.assert_allclose(block.point_data["p"], meshes.field(part.points, 0.5))
                cells = part.cells()
                self.assertEqual(block.n_cells, len(cells))
                for number in range(block.n_cells):
                    self.assertEqual(block.get_cell(number).point_ids, list(cells[number]))
                if part.types is not None:
                    self.assertEqual(block.celltypes.tolist(), list(part.types))
                    self.assertAlmostEqual(np.abs(block.compute_cell_sizes()["Volume"]).sum(), np.prod(np.ptp(part.points, axis=0)))
        path = os.path.join(scratch, "wrong.vtkhdf")
        for array, value, words in (("Connectivity", 10**6, "found points"), ("Types", 10, "type 10 with 8 points"), ("Offsets", 10**6, "offsets of cells")):
            meshes.one(path, "UnstructuredGrid", meshes.BOXES[:1])
            with h5py.File(path, "r+") as file:
                file["VTKHDF"][array][1] = value
            with self.assertRaisesRegex(patchio.Error, words):
                patchio.open(path, metadata="off")[0].to_pyvista()

    def test_partitions_that_change(self):
        data = self.open("PolyData", [(0.5, meshes.CARPETS), (0.75, meshes.CARPETS[1:])], "changing.vtkhdf")
        first, second = data[0], data[1]
        for step, parts in ((first, meshes.CARPETS), (second, meshes.CARPETS[1:]), (first, meshes.CARPETS)):
            self.assertEqual(len(step.patches), len(parts))
            for number, part in enumerate(parts):
                np.testing.assert_array_equal(step.read("p")[number], meshes.field(part.points, step.time))

    def test_what_meshes_are_not(self):
        step = self.open("UnstructuredGrid", [(0.5, meshes.BOXES)], "one.vtkhdf")[0]
        for ask in (lambda: step.nodes(0), lambda: step.uniform_grid("p"), lambda: step.positions(0), step.to_xarray):
            self.assertRaises(patchio.Error, ask)
        self.assertFalse(step.covered(0).any())


class Plotfiles(unittest.TestCase):
    def test_amrex(self):
        folder = os.path.join(scratch, "plt00010")
        boxes = [plotfile_writer.tiles((0, 0, 0), (7, 7, 7), (4, 4, 4)), [((4, 4, 4), (9, 9, 9))]]
        plotfile_writer.write_plotfile(folder, ((0, 0, 0), (7, 7, 7)), boxes, [(2, 2, 2)], names=["density"], real="f8")
        step = patchio.open(folder)[0]
        grid, _ = step.uniform_grid("density", level=1)
        self.assertEqual(grid.shape, (16, 16, 16))
        k, j, i = np.ogrid[0:16, 0:16, 0:16]
        inside = (i >= 4) & (i <= 9) & (j >= 4) & (j <= 9) & (k >= 4) & (k <= 9)
        want = np.where(inside, plotfile_writer.value(1, 0, (i, j, k)), plotfile_writer.value(0, 0, (i // 2, j // 2, k // 2)))
        np.testing.assert_array_equal(grid, want)


if __name__ == "__main__":
    scratch, grads_truth = sys.argv[1:3]
    os.makedirs(scratch, exist_ok=True)
    result = unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2, exit=False).result
    if result.wasSuccessful() and len(result.skipped) == result.testsRun:
        sys.exit(77)
    sys.exit(0 if result.wasSuccessful() else 1)

#!/usr/bin/python3
"""Tests wrong arguments of the functions of patchio: each must be rejected with its name, the expected and the actual value.

usage: PYTHONPATH=... PATCHIO_METADATA_DIR=... arguments.py DATA SCRATCH

DATA: the repository's folder Data. SCRATCH: an empty folder.
"""
import decimal
import fractions
import os
import pathlib
import shutil
import sys
import unittest
import warnings

import numpy as np
import patchio

data_folder = scratch = None
A = np.zeros((2, 3, 4))
LONE = "\ud800"    # half of a surrogate pair, which cannot be encoded
RAGGED = [[0, 0, 0], [4, 0]]


class Text(str):
    pass


def linadv():
    return os.path.join(data_folder, "linadv_3d", "dumps.visit")


def target(name):
    return os.path.join(scratch, name)


def shown(value):
    return "10**5000" if isinstance(value, int) and value > 10**100 else repr(value)[:60]


class Arguments(unittest.TestCase):
    def refused(self, kind, words, call, *arguments, **named):
        with self.assertRaises(kind) as caught:
            call(*arguments, **named)
        self.assertIn(words, str(caught.exception))
        self.assertIs(type(caught.exception), kind)
        str(caught.exception).encode()

    def write(self, kind, words, values=None, **named):
        self.refused(kind, words, patchio.write, target("refused.pio"), {"a": A} if values is None else values, **named)
        self.assertFalse(os.path.exists(target("refused.pio")))


class Writing(Arguments):
    def test_overwrite_is_a_bool(self):
        path = target("kept.pio")
        patchio.write(path, {"a": A})
        for value in ("no", "false", "off", "", 0, 1, None, np.array(True), np.array([True, False]), [], b"no"):
            self.refused(TypeError, "overwrite must be True or False, not %r" % (value,), patchio.write, path, {"a": A}, step=1, overwrite=value)
        patchio.write(path, {"a": A}, step=1, overwrite=np.bool_(False))
        self.assertEqual(patchio.open(path).numbers.tolist(), [0, 1])
        patchio.write(path, {"a": A}, step=2, overwrite=np.bool_(True))
        self.assertEqual(patchio.open(path).numbers.tolist(), [2])

    def test_names(self):
        self.write(TypeError, "the name of a variable must be text, not 1", {1: A, "1": A})
        self.write(ValueError, "the name of a variable must be text without NUL characters and surrogates, not '\\ud800'", {LONE: A})
        self.write(ValueError, "the name of a variable must be text without NUL characters and surrogates, not 'a\\x00b'", {"a\0b": A, "a\0c": A})
        self.write(TypeError, "nodes must be a list of names, not 5", nodes=5)
        self.write(TypeError, "nodes must be a list of names, not ['a']", nodes=[["a"]])
        self.write(ValueError, "nodes must be a list of names without NUL characters and surrogates, not '\\ud800'", nodes=[LONE])
        patchio.write(target("names.pio"), {Text("a"): A, "ä\n": A, "n": np.zeros((3, 4, 5))}, nodes="n")
        self.assertEqual([(v.name, v.centering) for v in patchio.open(target("names.pio")).variables.values()],
                         [("a", "cell"), ("ä\n", "cell"), ("n", "node")])

    def test_values(self):
        for values in ([], 5, "a", A, [A], dict):
            self.write(TypeError, "values must be a dict of arrays by name, not ", values)
        for values, found in (({}, "no variables"), ({"a": []}, "lists of length 0"), ({"a": [A], "b": [A, A]}, "lists of length 1 and 2")):
            self.write(ValueError, "values must have an array, or None, for each patch and each variable, found " + found, values)
        for value in (None, "a", {1, 2}, (x for x in A), object, np.datetime64("2020"), np.array(["a"])):
            self.write(TypeError, "'a' on patch 0 must be an array of numbers, not ", {"a": value})
        self.write(TypeError, "'a' on patch 0 must be an array of numbers, not [[1, 2], [3]]", {"a": [[[1, 2], [3]]]}, lower=[[0, 0]])
        self.write(TypeError, "'a' must be a list of arrays, one per patch", {"a": A, "b": [A]})
        self.write(TypeError, "'a' on patch 0 must have one of the types float32, ", {"a": A.astype(complex)})

    def test_masked_arrays(self):
        masked = np.ma.masked_array(A, A == 0)
        self.write(ValueError, "'a' on patch 0 must have no masked values. Fill them first, for example with array.filled(numpy.nan)", {"a": masked})
        self.write(ValueError, "'a' on patch 1 must have no masked values", {"a": [A, masked]}, lower=[[0, 0, 0], [4, 0, 0]])
        self.write(ValueError, "spacing must have no masked values", spacing=np.ma.masked_array([1, 2, 3], [0, 1, 0]))
        self.write(ValueError, "time must have no masked values", time=np.ma.masked)
        patchio.write(target("filled.pio"), {"a": masked.filled(np.nan), "b": np.ma.masked_array(A)})    # no value is masked
        read = patchio.open(target("filled.pio"))[0].read()
        self.assertTrue(np.isnan(read["a"][0]).all() and (read["b"][0] == 0).all())

    def test_numbers(self):
        two = {"a": [A, A]}
        self.write(TypeError, "lower must be the lowest cell of each patch, 2 rows of 2 or 3 whole numbers from", two, lower=RAGGED)
        self.write(TypeError, "rows of 2 or 3 whole numbers from -1073741824 to 1073741824, not None", two)
        self.write(TypeError, "not [[0.5, 0, 0]]", {"a": [A]}, lower=[[0.5, 0, 0]])
        self.write(ValueError, "to 1073741824, not 1000000000000000000000000000000", {"a": [A]}, lower=[[10**30, 0, 0]])
        self.write(ValueError, "to 1073741824, not -1073741825", {"a": [A]}, lower=[[0, -2**30 - 1, 0]])
        self.write(ValueError, "patch 0 ends at cell 1073741827, beyond the limit 1073741824", {"a": [A]}, lower=[[2**30, 0, 0]])
        self.write(TypeError, "level must be the level of each of the 2 patches", two, lower=[[0, 0, 0], [4, 0, 0]], level=RAGGED)
        for level in (10**30, 1000):
            self.write(ValueError, "to 999 in rising order, not %d" % level, {"a": [A]}, lower=[[0, 0, 0]], level=[level])
        self.write(TypeError, "dimension must be 2 or 3, not '2'", dimension="2")
        self.write(ValueError, "dimension must be 2 or 3, not 4", dimension=4)
        self.write(TypeError, "spacing must be a finite number, or one for each axis, not [[0, 0, 0], [4, 0]]", spacing=RAGGED)
        self.write(ValueError, "spacing must be a finite number, or one for each axis, not [1, 2, 3, 4]", spacing=[1, 2, 3, 4])
        self.write(TypeError, "origin must be a finite number, or one for each axis, not None", origin=None)
        self.write(TypeError, "time must be a finite number, not '1'", time="1")
        self.write(TypeError, "time must be a finite number, not 1000", time=10**400)
        self.write(ValueError, "time must be a finite number, not inf", time=float("inf"))
        self.write(TypeError, "ratio must be a whole number from 1 to 1024, or one for each of the 0 levels above 0, not None", ratio=None)
        self.write(TypeError, "step must be a whole number from 0 to 9223372036854775807, not None", step=None)
        self.write(ValueError, "step must be a whole number from 0 to 9223372036854775807, not ", step=10**5000)
        self.write(ValueError, "threads must be a whole number from 1 to 256, not 1000000000000000000000000000000", threads=10**30)
        self.write(TypeError, "compress must be 'off', 'deflate', 'zstd' or 'auto', not None", compress=None)
        patchio.write(target("numbers.pio"), {"a": A}, time=fractions.Fraction(1, 2), spacing=decimal.Decimal("0.25"), origin=np.float32(1), step=np.uint8(3))
        step = patchio.open(target("numbers.pio"))[0]
        self.assertEqual((step.time, step.number, step.levels["spacing"][0, 0], step.origin[0]), (0.5, 3, 0.25, 1))

    def test_paths(self):
        for path in (None, 5, b"a.pio", ["a.pio"]):
            self.refused(TypeError, "path must be a file name, not %r" % (path,), patchio.write, path, {"a": A})
        for path in ("", "a\0b.pio", LONE):
            self.refused(ValueError, "path must be a file name, not %r" % path, patchio.write, path, {"a": A})
        for path in (target("caf\udce9.pio"), pathlib.Path(target("path.pio")), Text(target("text.pio"))):
            patchio.write(path, {"a": A})
            self.assertTrue(os.path.exists(path))
            self.assertEqual(len(patchio.open(path)[0].read("a")), 1)
            self.refused(patchio.Error, "an unused step number", patchio.write, path, {"a": A})
            self.refused(patchio.Error, "the step has no variable 'b'", patchio.open(path)[0].read, "b")
        folder = target("slash.pio")
        for step, path in enumerate((folder, folder + "/", folder + "//", folder + "/.", os.path.relpath(folder) + "/")):
            patchio.write(path, {"a": A}, step=step)
            self.assertEqual(patchio.open(path).numbers.tolist(), list(range(step + 1)))
        patchio.write(folder + "/", {"a": A}, overwrite=True)
        self.assertEqual(sorted(os.listdir(folder)), ["index", "step.000000.hdf"])
        self.refused(patchio.Error, "a folder within a container", patchio.write, folder + "/inner.pio/", {"a": A})


class Reading(Arguments):
    def setUp(self):
        self.data = patchio.open(linadv())
        self.step = self.data[-1]

    def test_open(self):
        for path in ("", "a\0b", LONE, ["a", ""]):
            self.refused(ValueError, "path must be a file name or a list of file names, not ", patchio.open, path)
        self.refused(TypeError, "path must be a file name or a list of file names, not b'a'", patchio.open, b"a")
        self.refused(TypeError, "metadata must be 'on', 'read' or 'off', not None", patchio.open, linadv(), metadata=None)
        self.refused(ValueError, "metadata must be 'on', 'read' or 'off', not 'yes'", patchio.open, linadv(), metadata="yes")
        self.refused(ValueError, "threads must be 1 or more, at most 256, or None for automatic, not 1000", patchio.open, linadv(), threads=10**30)
        for name in ("listed_only", "verify"):
            self.refused(TypeError, name + " must be True or False, not 'no'", patchio.open, linadv(), **{name: "no"})
        self.assertEqual(len(patchio.open(pathlib.Path(linadv()))), 4)

    def test_series(self):
        for time in (None, "1", [1, 2], 1j):
            self.refused(TypeError, "time must be a number, not %r" % (time,), self.data.nearest, time)
        self.refused(ValueError, "time must be a number, not nan", self.data.nearest, float("nan"))
        for index in (None, "0", 0.0, b"0"):
            self.refused(TypeError, "step index must be a whole number, counted from 0, not %r" % (index,), self.data.__getitem__, index)

    def test_read(self):
        step = self.step
        for threads in (0, 257, 1000, 10**30):
            self.refused(ValueError, "threads must be 1 or more, at most 256, or None for automatic, not %d" % min(threads, 1000), step.read, "uval", threads=threads)
        step.read("uval", threads=256)
        self.assertEqual(step.report["threads"], 256)
        for name in (5, b"uval", [["uval"]], [None], object):
            self.refused(TypeError, "variable must be a name, not ", step.read, name)
            self.refused(TypeError, "variable must be a name, not ", step.dtype, name)
        self.refused(ValueError, "variable must be a name without NUL characters and surrogates, not '\\ud800'", step.read, LONE)
        for name in ("ghosts", "skip_broken"):
            self.refused(TypeError, name + " must be True or False, not 'no'", step.read, "uval", **{name: "no"})
        for patches in ("a", RAGGED, [{}], [0.5], b"\1", {0: 1}, [True]):
            self.refused(TypeError, "patches must be whole numbers, not ", step.read, "uval", patches=patches)
        for level in (None, 0.5, b"\1", object, [0], True, np.bool_(True)):
            self.refused(TypeError, "level must be a number or name, not ", step.read, "uval", levels=[level])
        self.refused(ValueError, "level must be text without NUL characters and surrogates, not '\\ud800'", step.read, "uval", levels=LONE)
        for read in (step.read(["uval"], patches=range(2), levels=(n for n in range(3))), step.read(n for n in ["uval"])):
            self.assertEqual(list(read), ["uval"])

    def test_parts_and_patches(self):
        step = self.step
        self.refused(ValueError, "parts must be a whole number from 1 to 2147483647, not 1000", step.part, 0, 10**30)
        self.refused(ValueError, "part must be a whole number from 0 to 2147483647, not -1", step.part, -1, 2)
        self.refused(patchio.Error, "Part 2 of 2 is invalid", step.part, 2, 2)
        self.refused(TypeError, "part must be a whole number from 0 to 2147483647, not None", step.part, None, 2)
        for work in (step.covered, step.nodes, step.positions):
            self.refused(TypeError, "patch must be a number, not None", work, None)
            self.refused(ValueError, "patch must be a number, not 1000", work, 10**30)

    def test_uniform_grid(self):
        grid = self.step.uniform_grid
        for bounds in ("a", RAGGED, [None], {1}, 1j):
            self.refused(TypeError, "bounds must be 6 numbers (xmin, xmax, ymin, ymax, ...), not ", grid, "uval", bounds=bounds)
        self.refused(ValueError, "bounds must be 6 numbers (xmin, xmax, ymin, ymax, ...), not 5", grid, "uval", bounds=5)
        self.refused(TypeError, "shape must be 3 whole numbers from 1 to 100000000, not 'a'", grid, "uval", shape="a")
        self.refused(TypeError, "shape must be 3 whole numbers from 1 to 100000000, not [[0, 0, 0], [4, 0]]", grid, "uval", shape=RAGGED)
        self.refused(ValueError, "shape must be 3 whole numbers from 1 to 100000000, not 1000", grid, "uval", shape=[10**30, 1, 1])
        for outside in (None, RAGGED, "a", [1], np.ma.masked):
            self.refused(ValueError if outside is np.ma.masked else TypeError, "outside must ", grid, "uval", outside=outside)


class OddValues(unittest.TestCase):
    """Tests each argument of each function with each odd value: the call must work, or an error of patchio must name the argument
    or the file."""

    ODD = (None, True, 0, -1, 2**31, 2**63, 10**30, 10**5000, 0.5, float("nan"), float("inf"), 1j, "", "a", "a\0", LONE, b"a", Text("b"), [], [[]], [None],
           RAGGED, [10**30], ["a", 1], (), {}, {"a": None}, {1, 2}, object(), object, len, np.nan, np.ma.masked, np.array(5), np.array([]),
           np.array([True]), np.array(["a"]), np.array([None, {}], object), np.array([{1: 2}, [3]], object), np.zeros((0, 3), int), np.zeros(2, "M8[s]"),
           np.zeros(2, "i4,f8"), np.float32(2), np.int8(-1), decimal.Decimal("NaN"), fractions.Fraction(1, 3), slice(None), Ellipsis, range(10**9, 10**9 + 2))
    WHAT = {"name": "variable", "variables": "variable", "levels": "level"}    # words in messages about one item of a list

    def works_or_says(self, call, arguments, name, value):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                call(**{**arguments, name: value})
        except (TypeError, ValueError, IndexError, patchio.Error) as error:
            text = "%s: %s" % (type(error).__name__, error)
            self.assertIn(type(error), (TypeError, ValueError, IndexError, patchio.Error, patchio.MissingFile), text)
            words = (self.WHAT.get(name, name), name, "linadv_3d", scratch, "'a'", "the name of a variable", "No such file", "patch 0", "Part ")
            self.assertTrue(any(word in str(error) for word in words), text)
            for raw in ("incompatible function arguments", "ambiguous", "object is not", "unhashable", "conver"):
                self.assertNotIn(raw, str(error), text)
            str(error).encode()

    def odd_calls(self, call, **arguments):
        for name in arguments:
            for value in self.ODD:
                with self.subTest(call=call.__name__, name=name, value=shown(value)):
                    self.works_or_says(call, arguments, name, value)

    def test_write(self):
        os.chdir(scratch)
        for boxes in ({"values": {"a": A}, "lower": None, "level": None}, {"values": {"a": [A, A]}, "lower": [[0, 0, 0], [0, 0, 0]], "level": [0, 1]}):
            self.odd_calls(patchio.write, path=target("odd.pio"), step=0, time=None, spacing=1.0, origin=0.0, ratio=2, nodes=(), dimension=None,
                           compress="off", overwrite=True, threads=2, **boxes)

    def test_values(self):
        def write(a):
            patchio.write(target("values.pio"), {"a": a}, overwrite=True)

        def write_named(name):
            patchio.write(target("values.pio"), {name: A}, overwrite=True)
        self.odd_calls(write, a=A)
        self.WHAT = {"name": "the name of a variable"}
        for value in self.ODD:
            try:
                hash(value)
            except TypeError:
                continue
            self.works_or_says(write_named, {}, "name", value)

    def test_read(self):
        data = patchio.open(linadv())
        step = data[-1]
        self.odd_calls(patchio.open, path=linadv(), metadata="on", threads=None, listed_only=False, verify=False)
        self.odd_calls(data.nearest, time=0)
        self.odd_calls(step.read, variables="uval", patches=0, levels=None, ghosts=False, threads=None, skip_broken=False)
        self.odd_calls(step.dtype, name="uval")
        self.odd_calls(step.part, part=0, parts=2)
        for call in (step.covered, step.nodes, step.positions):
            self.odd_calls(call, patch=0)
        self.odd_calls(step.uniform_grid, name="uval", level=0, shape=None, bounds=None, outside=0)
        self.odd_calls(step.uniform_grid, name="uval", level=None, shape=(2, 2, 2), bounds=None, outside=0)

    def test_conversions(self):
        step = patchio.open(linadv())[-1]
        for name, arguments in (("pyvista", {"variables": "uval", "patches": 0, "levels": None}), ("xarray", {"variables": "uval", "level": 0}),
                                ("yt", {"variables": "uval", "levels": 0})):
            try:
                __import__(name)
            except ImportError:
                continue
            self.odd_calls(getattr(step, "to_" + name), **arguments)


if __name__ == "__main__":
    data_folder, scratch = map(os.path.abspath, sys.argv[1:3])
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=1)

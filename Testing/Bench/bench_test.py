"""Tests of ./dev bench and of the comparison of builds: names, goals, ratios and failures, with invented figures.

usage: bench_test.py
"""
import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

import bench
import compare
from measuring import Spread, here


def suite(work):
    module = types.ModuleType("made_up", "A suite of this test.")
    module.run = work
    return module


def met(report, _folder, rounds):
    report.goal("high enough", 2, Spread([1.9, 2.0, 9.0]))
    report.at_most("low enough", 3, Spread([2.0, 3.0, 9.0]))
    report.at_most("each low enough", 9, Spread([2.0, 3.0, 9.0]), every=True)
    report.figure("rounds", Spread([rounds]))
    report.figure("quick", Spread([int(report.quick)]))


def too_low(report, *_):
    report.goal("too low", 2, Spread([1.0, 1.9, 5.0]))
    report.goal("high enough", 2, Spread([2.1]))


def too_high(report, *_):
    report.at_most("too high", 3, Spread([1.0, 3.1, 3.2]))


def one_too_high(report, *_):
    report.at_most("one too high", 3, Spread([1.0, 1.1, 3.1]), every=True)


def skips(report, *_):
    report.skipped("cannot be", "nothing to measure with")


def fails(*_):
    raise RuntimeError("broken on purpose")


MADE_UP = {"met": met, "too-low": too_low, "too-high": too_high, "one-too-high": one_too_high, "skips": skips, "fails": fails}
GROUPS = {"fine": ("met", "skips"), "mixed": ("too-low", "skips", "met", "one-too-high"), "broken": ("fails", "met")}


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="patchio_bench_test_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        modules = {"suites." + name.replace("-", "_"): suite(work) for name, work in MADE_UP.items()}
        for patch in (mock.patch.dict(sys.modules, modules), mock.patch.object(bench, "SUITES", tuple(MADE_UP)),
                      mock.patch.object(bench, "GROUPS", GROUPS)):
            patch.start()
            self.addCleanup(patch.stop)

    def run_bench(self, *words):
        """Returns the exit code, the standard output and the error output."""
        printed, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
            code = bench.main([*words, "--data", os.path.join(self.folder, "data"), "--out", os.path.join(self.folder, "out")])
        return code, printed.getvalue(), errors.getvalue()

    def results(self, name):
        with open(os.path.join(self.folder, "out", name, "results.json")) as file:
            return json.load(file)

    def measured(self, name, measure):
        found, = (row["measured"] for row in self.results(name)["rows"] if row["measure"] == measure)
        return found["median"]

    def summary(self, printed):
        return [line for line in printed.splitlines() if line.startswith(("MISSED ", "FAILED ", "skips: "))]

    def test_goals(self):
        for name, code, lines in (("met", 0, []), ("skips", 0, ["skips: cannot be: skipped: nothing to measure with"]),
                                  ("too-low", 1, ["MISSED too-low: too low: 1.9 (1 to 5), not >= 2"]),
                                  ("too-high", 1, ["MISSED too-high: too high: 3.1 (1 to 3.2), not <= 3"]),
                                  ("one-too-high", 1, ["MISSED one-too-high: one too high: 1.1 (1 to 3.1), not <= 3"])):
            with self.subTest(name):
                found, printed, _ = self.run_bench(name, "--check")
                self.assertEqual((found, self.summary(printed)), (code, lines))
                self.assertEqual("MISSED |" in printed, code == 1)
                found, printed, _ = self.run_bench(name)
                self.assertEqual((found, self.summary(printed)), (0, []), "without --check")
        self.assertEqual([row["met"] for row in self.results("met")["rows"]], [True] * 5)

    def test_groups(self):
        self.assertEqual(self.run_bench("fine", "--check")[0], 0)
        code, printed, _ = self.run_bench("mixed", "--check")
        self.assertEqual(code, 1)
        self.assertEqual([line.split(":")[0] for line in self.summary(printed)], ["MISSED too-low", "skips", "MISSED one-too-high"])
        for name in GROUPS["mixed"]:
            self.assertEqual(self.results(name)["suite"], name)

    def test_a_suite_that_fails(self):
        for words in (["broken"], ["broken", "--check"]):
            code, printed, errors = self.run_bench(*words)
            self.assertEqual(code, 1)
            self.assertIn("broken on purpose", errors)
            self.assertIn("| high enough |", printed)  # the next suite still runs
            self.assertEqual(self.summary(printed), ["FAILED fails, see above"])

    def test_names(self):
        self.assertEqual(bench.suites_of([]), list(MADE_UP))
        self.assertEqual(bench.suites_of(["fine", "too-low", "met"]), ["met", "skips", "too-low"])
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as errors:
            bench.main(["fine", "unheard-of"])
        self.assertEqual(ended.exception.code, 2)
        self.assertIn("unheard-of", errors.getvalue())

    def test_rounds(self):
        for words, rounds, quick in ((["met"], 5, 0), (["met", "--quick"], 1, 1), (["met", "--quick", "--rounds", "3"], 3, 1)):
            self.run_bench(*words)
            self.assertEqual(self.measured("met", "rounds"), rounds)
            self.assertEqual(self.measured("met", "quick"), quick)
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            self.run_bench("met", "--rounds", "0")


class Compare(unittest.TestCase):
    """A build that is twice as fast, and needs half as much; its second round differs."""

    def test_above_one_is_better(self):
        def rows(rate, size, count):
            return {name: {"measure": name, "goal": goal, "measured": {"median": value}}
                    for name, goal, value in (("rate", ">= 1", rate), ("size", "<= 9", size), ("count", "", count))}

        before, after = rows(2, 8, 3), [rows(4, 4, 6), rows(6, 4, 3)]
        after[0]["new"] = after[1]["new"] = dict(before["rate"], measure="new")
        order = []

        def measure(sources, *_):
            order.append(sources)
            return before if sources == "old" else after[order.count("new") - 1]

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(compare, "measure", measure), \
                contextlib.redirect_stdout(io.StringIO()) as said:
            compare.main(["old", "new", "any", "--rounds", "2", "--data", folder, "--out", folder])
            with open(os.path.join(folder, "compare.json")) as written:
                found = {row["measure"]: row["ratios"] for row in json.load(written)}
        self.assertEqual(order, ["old", "new", "new", "old"])
        self.assertEqual(found, {"rate": [2, 3], "size": [2, 2], "count": [2, 1]})
        self.assertIn("| any | rate | 2.50 (2.00 to 3.00) |", said.getvalue())
        self.assertIn("| any | count (no goal) | 1.50 (1.00 to 2.00) |", said.getvalue())


class Names(unittest.TestCase):
    """Tests of the real suites."""

    def test_each_suite_is_there_and_described(self):
        with open(os.path.join(here, "README.md")) as file:
            rows = [line.split("|")[1].strip() for line in file if line.startswith("| `")]
        self.assertEqual(sorted(rows), sorted("`%s`" % name for name in bench.SUITES))
        for name in bench.SUITES:
            self.assertIsNotNone(importlib.util.find_spec("suites." + name.replace("-", "_")), name)
        files = [name[:-3].replace("_", "-") for name in os.listdir(os.path.join(here, "suites")) if name.endswith(".py")]
        self.assertEqual(sorted(files), sorted(bench.SUITES + ("--init--",)))

    def test_groups_are_of_suites(self):
        for group, suites in bench.GROUPS.items():
            self.assertNotIn(group, bench.SUITES)
            self.assertLessEqual(set(suites), set(bench.SUITES))


if __name__ == "__main__":
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""Tests of the judgements of `patchio probe` about its results: judge_probe_test.py [unittest's arguments]

The results consist of rates that follow a law, with noise of known size.
"""
import copy
import csv
import json
import math
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tools", "Probe"))
sys.dont_write_bytecode = True

import judge_probe
import probe_results
from probe_results import Key, mean_ratio, ratio_of, student_tail

READS = ["read_at", "read_at_all", "iread_at", "iread_at_all", "read_at_all_begin", "read", "read_all", "iread", "iread_all",
         "read_all_begin", "read_shared", "iread_shared", "read_ordered", "read_ordered_begin", "pread", "pread_direct"]
FUNCTIONS = READS + [name.replace("read", "write") for name in READS]
SMALL, LARGE = 1 << 20, 1 << 24
BLOCKS = (4096, 16384, 65536, 262144)


def is_shared(function):
    return "shared" in function or "ordered" in function


def is_collective(function):
    return "_all" in function or "ordered" in function


def is_write(function):
    return "write" in function


def raw_result(law, ranks=2, noise=0.01):
    """Returns a result.json with the rates, in KB/s, of `law` for each function, view, file and block."""
    points = []
    for function in FUNCTIONS:
        for view in ("own", "whole", "interleaved"):
            if is_write(function) and view == "whole" or is_shared(function) and view != "own":
                continue
            for file in (SMALL, LARGE):
                for block in BLOCKS:
                    rate = law(function, view, file, block)
                    rates = [rate * (1 - noise), rate, rate * (1 + noise)]
                    points.append({"function": function, "view": view, "file_bytes": file, "block_bytes": block,
                                   "kb_per_s": {"min": rates[0], "mean": rate, "max": rates[2], "all": rates}})
    return {"schema": "patchio-probe", "version": 1, "complete": True, "label": "", "points": points, "features": [], "influence": [],
            "machine": {"host": "h", "hosts": 1, "ranks": ranks, "system": "s", "directory": "/d", "file_system": "ext4", "mpi": "m",
                        "mpi_io": "chosen by the library"},
            "settings": {"piece_bytes": 1024, "repetitions": 3, "in_flight": 1, "sync": True}}


def make_result(law, ranks=2):
    return probe_results.Result(raw_result(law, ranks))


def steady(*_):
    return 1e5


class Statistics(unittest.TestCase):
    def test_students_table(self):
        """Compares with published tables."""
        for tail, freedom, expected in ((0.025, 1, 12.706), (0.005, 1, 63.657), (0.005, 2, 9.925), (0.005, 3, 5.841), (0.005, 10, 3.169),
                                        (0.0005, 5, 6.869), (0.0005, 30, 3.646), (0.05, 120, 1.658), (0.05, 1000, 1.646)):
            self.assertAlmostEqual(student_tail(tail, freedom), expected, delta=0.001)

    def test_small_tails(self):
        """Compares with the closed forms for one and two degrees of freedom, which hold for any small tail."""
        for tail in (0.4, 0.1, 1e-3, 1e-6):
            self.assertAlmostEqual(student_tail(tail, 1) * math.tan(math.pi * tail), 1, delta=1e-6)
            inside = 1 - 2 * tail
            self.assertAlmostEqual(student_tail(tail, 2) / (inside * math.sqrt(2 / (1 - inside ** 2))), 1, delta=1e-6)

    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        dice = random.Random(1)
        outside = 0
        for _ in range(2000):
            a, b = [[middle * math.exp(dice.gauss(0, 0.1)) for _ in range(4)] for middle in (100, 150)]
            ratio = ratio_of(a, b)
            outside += not ratio.low <= 1.5 <= ratio.high
        self.assertGreaterEqual(outside, 5)
        self.assertLessEqual(outside, 40)    # 20 are expected

    def test_one_value_tells_nothing(self):
        self.assertEqual(ratio_of([1], [2]).low, 0)
        self.assertEqual(ratio_of([1], [2, 3]).high, math.inf)
        self.assertAlmostEqual(ratio_of([2], [6]).value, 3)
        self.assertEqual(mean_ratio([]).count, 0)
        self.assertAlmostEqual(mean_ratio([2, 8]).value, 4)


class Reading(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.path = os.path.join(place.name, "bad.json")

    def message(self, text):
        with open(self.path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        with self.assertRaises(probe_results.Fault) as caught:
            probe_results.load(self.path)
        return str(caught.exception)

    def test_is_read_back(self):
        raw = raw_result(lambda f, v, file, block: 1e3 + block)
        raw["points"].append({"function": "read_shared", "view": "own", "file_bytes": SMALL, "block_bytes": 512, "error": "unsupported",
                              "wrong_values": True})
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(raw, file)
        result = probe_results.load(self.path)
        self.assertEqual(len(result.rates), len(raw["points"]) - 1)
        for point in raw["points"][:-1]:
            key = Key(point["function"], point["view"], point["file_bytes"], point["block_bytes"])
            self.assertEqual(result.rates[key], point["kb_per_s"]["all"])
        self.assertEqual(result.errors, {Key("read_shared", "own", SMALL, 512): "unsupported"})
        self.assertEqual([block for block, _ in result.curves()["pread", "own", SMALL]], list(BLOCKS))

    def test_refuses_what_cannot_be(self):
        good = raw_result(steady)

        def changed(*path_and_value):
            *path, last, value = path_and_value
            raw = copy.deepcopy(good)
            inner = raw
            for step in path:
                inner = inner[step]
            inner[last] = value
            return raw

        rates = ("points", 0, "kb_per_s", "all")
        for bad in (3, [], None, {}, changed("schema", "other"), changed("version", 99), changed("points", 7),
                    {key: value for key, value in good.items() if key != "points"}, changed("machine", "ranks", -1),
                    changed("machine", "ranks", 0), changed("machine", "ranks", 1e300), changed("machine", "ranks", 10 ** 400),
                    changed("machine", "ranks", True), changed("machine", 7), changed("label", 7), changed("complete", 1),
                    changed(*rates, 0, -1), changed(*rates, 0, 0), changed(*rates, 0, 10 ** 400), changed(*rates, 0, math.nan),
                    changed(*rates, 0, math.inf), changed(*rates, []), changed(*rates, "fast"), changed("points", 0, "kb_per_s", 5),
                    changed("points", 0, "block_bytes", 0), changed("points", 0, "block_bytes", 0.5), changed("points", 0, "view", "sideways"),
                    changed("points", 0, "function", "a,b\n"), changed("points", 0, "function", "ä"), changed("points", 0, "function", ["a"]),
                    changed("points", good["points"] + good["points"][:1]), changed("features", [{}]), changed("influence", 7),
                    changed("influence", [{"block_bytes": 8, "readers": 1, "writers": 1, "read_alone_kb_per_s": []}]), changed("flight", 7),
                    changed("flight", {"request_bytes": 1, "samples": []}),
                    changed("flight", {"request_bytes": 1, "samples": [{"in_flight": 0, "kb_per_s": 1}]})):
            self.assertIn("bad.json: expected a result of patchio probe, found ", self.message(json.dumps(bad)))
        for text in (json.dumps(good)[:1000], "[" * 100000, '{"a":' * 100000, "", "1" * 10000, '{"a": \udcdd\udc81'):
            self.assertIn("bad.json: expected a result of patchio probe, found ", self.message(text))

    def test_messages_are_plain(self):
        self.assertTrue(self.message('{"schema": "patchio-probe", "version": "\\u001b[31m"}').isprintable())

    def test_refuses_what_is_no_file(self):
        pipe, huge = self.path + ".pipe", self.path + ".huge"
        os.mkfifo(pipe)
        with open(huge, "wb") as file:
            file.truncate(1 << 40)
        for path, text in ((os.path.dirname(self.path), "Is a directory"), (self.path, "No such file"), ("/dev/zero", "a device"),
                           (pipe, "a pipe"), (huge, "expected")):
            with self.assertRaisesRegex(probe_results.Fault, "%s.*%s" % (path, text)):
                probe_results.load(path)


class Comparing(unittest.TestCase):
    def test_finds_what_differs(self):
        factors = {"read_at": 2, "write": 0.5}
        a, b = make_result(steady), make_result(lambda function, *_: 1e5 * factors.get(function, 1.01))
        b.machine["mpi_io"], b.machine["ranks"] = "another", 3
        gone = Key("pread", "own", SMALL, 4096)
        del b.rates[gone]
        b.errors[gone] = "broken"
        points, series = judge_probe.compare(a, b)
        self.assertEqual(len(points), len(a.rates) - 1)
        for point in points:
            factor = factors.get(point.key.function, 1.01)
            self.assertAlmostEqual(point.ratio.value, factor, delta=0.01)
            self.assertEqual(judge_probe.difference(point.ratio), {2: 1, 0.5: -1, 1.01: 0}[factor], point)
        for each in series:
            factor = factors.get(each.function, 1.01)
            self.assertEqual(judge_probe.difference(each.ratio), {2: 1, 0.5: -1, 1.01: 0}[factor], each)
            self.assertEqual((each.faster, each.slower), (each.points * (factor == 2), each.points * (factor == 0.5)))
        text = judge_probe.comparison_text(a, b, ("one", "two"))
        self.assertIn("Different conditions: MPI-IO: chosen by the library and another\n", text)
        self.assertIn("Different conditions: ranks: 2 and 3\n", text)
        self.assertIn("1 points have a rate in only one result:\n  pread own, 1 MiB in blocks of 4 KiB: only in A (B: broken)\n", text)
        self.assertIn("; the 20 largest differences:\n", text)
        rows = list(csv.DictReader(judge_probe.comparison_csv(a, b).splitlines()))
        self.assertEqual(len(rows), len(points))
        for row in rows:
            factor = factors.get(row["function"], 1.01)
            self.assertAlmostEqual(float(row["b_to_a"]), factor, delta=0.01)
            self.assertEqual(row["differs"], "no" if factor == 1.01 else "yes")

    def test_equal_things_do_not_differ(self):
        dice = random.Random(4)
        differing = 0
        for _ in range(50):
            results = [make_result(steady) for _ in range(2)]
            for result in results:
                for key in result.rates:
                    result.rates[key] = [1e5 * math.exp(dice.gauss(0, 0.15)) for _ in range(3)]
            for found in judge_probe.compare(*results):
                differing += any(judge_probe.difference(each.ratio) for each in found)
        self.assertLessEqual(differing, 5)    # 1 is expected
        same = make_result(steady)
        self.assertIn("points differ by more than noise.\n", judge_probe.comparison_text(same, same, ("one", "two")))


def as_in_the_paper(ranks):
    """Returns rates as in the paper, times `ranks` / 2."""
    def law(function, view, file, block):
        odd = 1 + 0.01 * ((file >> 20) % 3)    # different for all files
        small = 262144 / (262144 + 8 * 65536 * 4096 / block)
        collective = (3 if view == "interleaved" else 0.6) if is_collective(function) else 1
        return 1e5 * ranks * odd * small * collective * (0.2 if is_shared(function) else 1)
    return make_result(law, ranks)


YES, NO, PARTLY, UNCLEAR, UNKNOWN = "confirmed", "refuted", "confirmed in part", "unclear", "not measured"


class Findings(unittest.TestCase):
    def expect(self, results, *verdicts):
        findings = judge_probe.evaluate_findings(results)
        self.assertEqual([finding["judged"] for finding in findings], list(verdicts))
        for finding in findings:
            self.assertTrue(finding["parts"] or finding["remarks"])
        return findings

    def test_are_confirmed(self):
        self.expect([as_in_the_paper(2), as_in_the_paper(8)], YES, YES, YES, YES, YES)
        self.expect([as_in_the_paper(2)], YES, YES, YES, YES, UNKNOWN)

    def test_are_refuted(self):
        def opposite(function, view, file, block):
            collective = (0.5 if view == "interleaved" else 1.5) if is_collective(function) else 1
            return 1e5 * (3 if file > SMALL else 1) * collective * (1.5 if is_shared(function) else 1)
        self.expect([make_result(opposite, 2), make_result(opposite, 8)], NO, NO, NO, NO, NO)

    def test_are_divided_where_reading_and_writing_differ(self):
        def divided(function, view, file, block):
            return 1e5 * (1 if is_write(function) else (0.2 if block < 65536 else 1) * (3 if file > SMALL else 1))
        findings = judge_probe.evaluate_findings([make_result(divided)])
        self.assertEqual((findings[0]["judged"], findings[3]["judged"]), (PARTLY, PARTLY))

    def test_are_not_measured_without_results(self):
        self.expect([], *[UNKNOWN] * 5)
        # A result of one rank cannot show the differences of collective functions.
        findings = self.expect([as_in_the_paper(1)], YES, UNKNOWN, UNKNOWN, YES, UNKNOWN)
        text = judge_probe.findings_text(findings)
        self.assertIn("3. Shared file pointers are slow. not measured\n", text)
        self.assertNotIn("unclear", text)

    def test_are_unclear_where_parts_are_missing(self):
        reading = as_in_the_paper(2)
        reading.rates = {key: rates for key, rates in reading.rates.items() if not is_write(key.function)}
        self.expect([reading], UNCLEAR, UNCLEAR, UNCLEAR, UNCLEAR, UNKNOWN)

    def test_numbers_are_those_of_the_law(self):
        small, collective, *_ = self.expect([as_in_the_paper(2)], YES, YES, YES, YES, UNKNOWN)
        # The ratio of 4 KiB to the mean of 64 KiB and 256 KiB, for a law that is the same for all.
        rate = [262144 / (262144 + 8 * 65536 * 4096 / block) for block in BLOCKS]
        self.assertAlmostEqual(small["parts"][0]["ratio"], rate[0] / (rate[2] + rate[3]) * 2, delta=1e-6)
        for part, ratio in zip(collective["parts"], (0.6, 0.6, 3, 3)):
            self.assertAlmostEqual(part["ratio"], ratio, delta=1e-6)
            self.assertEqual(part["count"], 16)

    def test_remarks_name_functions_that_fail(self):
        result = as_in_the_paper(2)
        result.errors[Key("read_ordered", "own", SMALL, 8)] = "unsupported"
        self.assertEqual(judge_probe.evaluate_shared([result])["remarks"], ["read_ordered fails: unsupported"])


class Texts(unittest.TestCase):
    def test_sizes_and_rates(self):
        self.assertEqual([judge_probe.size_text(size) for size in (1000, 65536, 3 << 19, 1 << 30, 50001)],
                         ["1000 bytes", "64 KiB", "1.5 MiB", "1 GiB", "48.83 KiB"])
        self.assertEqual([judge_probe.rate_text(rate) for rate in (0.5, 1, 12.34, 999.6, 123456, 5e9)],
                         ["500 bytes/s", "1.00 kB/s", "12.3 kB/s", "1.00 MB/s", "123 MB/s", "5.00 TB/s"])

    def test_the_best_of_each_function_and_view(self):
        result = make_result(lambda f, view, file, block: 1e3 * block / 4096)
        result.rates = {key: rates for key, rates in result.rates.items() if key.function in ("read", "write") and key.file == SMALL}
        result.errors[Key("read_shared", "own", SMALL, 4096)] = "unsupported"
        lines = [line.split() for line in judge_probe.best_points(result)[1:]]
        best = ["256", "KiB", "1", "MiB", "63360", "64000", "64640"]
        self.assertEqual(lines, [["read", view] + best for view in ("own", "whole", "interleaved")]
                         + [["read_shared", "own", "no", "rate:", "unsupported"]] + [["write", view] + best for view in ("own", "interleaved")])


if __name__ == "__main__":
    unittest.main()

"""Tests that the quick probe finds N* and the cost of requests of emulated storages, and removes its files.

usage: quick_probe_test.py --probe PATCHIO_QUICK_PROBE [--emulator PATCHIO_SLOW_STORAGE] [--mpiexec MPIEXEC]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Emulator"))
import emulator

options = None
KIBIBYTE = 1 << 10
MEGABYTE = 1 << 20
LATENCY = 1  # ms
STREAM = 30  # MB/s


class QuickProbe(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="patchio_probe_")
        self.addCleanup(folder.cleanup)
        self.source = folder.name

    def storage(self, **settings):
        settings = dict({"latency": LATENCY, "stream": STREAM}, **settings)
        context = emulator.slow_storage(self.source, options.emulator, **settings)
        storage = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return storage

    def command(self, storage, ranks, *arguments):
        command = [options.probe, storage.mount, "--bytes", str(48 * MEGABYTE), "--request", str(256 * KIBIBYTE),
                   "--most", "64"] + list(arguments)
        if ranks > 1:
            command = [options.mpiexec, "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] + command
        return command

    def probe(self, storage, ranks=1, seconds=6):
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           HWLOC_COMPONENTS="-gl", HWLOC_HIDE_ERRORS="2", PMIX_MCA_gds="hash")
        run = subprocess.run(self.command(storage, ranks, "--seconds", str(seconds)), stdout=subprocess.PIPE,
                             env=environment, check=True, timeout=100)
        return json.loads(run.stdout)

    def check_peak(self, true, ranks=1):
        storage = self.storage(concurrency=true)
        found = self.probe(storage, ranks)
        # The goal is 0.7 to 1.4; in a test, other processes may use the cores for a while.
        self.assertGreaterEqual(found["best"], true / 2, found)
        self.assertLessEqual(found["best"], true * 2, found)
        self.assertFalse(found["cache_answered"])
        # The probe may omit 64 if it would only take longer.
        self.assertIn(storage.counters()["most_in_flight"], (32, 64))
        self.assertEqual(os.listdir(self.source), [])
        return found

    def test_finds_a_peak_at_4(self):
        found = self.check_peak(4)
        # The measured values include overhead in addition to the model.
        self.assertTrue(found["alone"]["known"])
        self.assertGreater(found["alone"]["latency"], 0.7e-3 * LATENCY)
        self.assertLess(found["alone"]["latency"], 4e-3 * LATENCY)
        self.assertGreater(found["alone"]["bandwidth"], 0.5e6 * STREAM)
        self.assertLess(found["alone"]["bandwidth"], 1.3e6 * STREAM)

    def test_finds_a_peak_at_16_with_two_ranks(self):
        self.check_peak(16, ranks=2)

    def test_leaves_out_what_takes_long_and_tells_nothing(self):
        # 16 requests in flight have half the rate of 4, and each of 32 would take many seconds.
        storage = self.storage(concurrency=4, stream=2)
        found = json.loads(subprocess.run([options.probe, storage.mount, "--bytes", str(16 * MEGABYTE), "--request",
                                           str(1024 * KIBIBYTE), "--seconds", "8"], stdout=subprocess.PIPE,
                                          check=True, timeout=100).stdout)
        self.assertLessEqual(storage.counters()["most_in_flight"], 32, found)
        self.assertGreaterEqual(found["best"], 2, found)
        self.assertLessEqual(found["best"], 8, found)

    def test_leaves_nothing_when_reading_fails(self):
        storage = self.storage(fault="0_0 eio --after 50")
        run = subprocess.run(self.command(storage, 1, "--seconds", "6"), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=100)
        self.assertEqual(run.returncode, 1)
        self.assertIn("Input/output error", run.stderr)
        self.assertEqual(os.listdir(self.source), [])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--emulator")
    parser.add_argument("--mpiexec", default="mpiexec")
    options, rest = parser.parse_known_args()
    lacking = emulator.missing(options.emulator or "/none")
    if lacking:
        print("skipped: this machine lacks " + lacking)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]] + rest, verbosity=2)


if __name__ == "__main__":
    main()

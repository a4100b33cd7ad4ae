"""Tests that patchio_pread_rate reads all bytes that it reports, and reports errors.

usage: pread_rate_test.py PATCHIO_PREAD_RATE
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

program = None


class PreadRate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="patchio_pread_")
        self.addCleanup(self.folder.cleanup)
        self.sizes = [1000000, 1, 65536]
        self.files = [os.path.join(self.folder.name, str(size)) for size in self.sizes]
        for path, size in zip(self.files, self.sizes):
            with open(path, "wb") as file:
                file.write(os.urandom(size))

    def run_program(self, *arguments):
        return subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def measure(self, *arguments):
        run = self.run_program(*arguments)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_reads_every_byte_once(self):
        for threads in (1, 7):
            for extra in ([], ["--keep"]):
                found = self.measure(*self.files, "--threads", str(threads), "--request", "65536", *extra)
                self.assertEqual(found["bytes"], sum(self.sizes))
                self.assertEqual(found["requests"], 16 + 1 + 1)
                self.assertEqual(found["threads"], threads)
                self.assertAlmostEqual(found["MB_per_s"] * 1e6 * found["seconds"], found["bytes"], delta=1)

    def test_reads_over_and_over(self):
        found = self.measure(self.files[0], "--threads", "3", "--request", "65536", "--seconds", "0.2", "--warm-up", "0.1")
        self.assertGreaterEqual(found["seconds"], 0.3)
        self.assertGreater(found["requests"], 16)
        self.assertGreater(found["MB_per_s"], 0)

    def test_says_what_is_wrong(self):
        empty = os.path.join(self.folder.name, "empty")
        open(empty, "wb").close()
        for arguments, message in (([self.folder.name + "/none"], "No such file"), ([self.folder.name], "a folder"), ([empty], "no bytes"),
                                   ([self.files[0], "--threads", "0"], "--threads"), ([], "files")):
            run = self.run_program(*arguments)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(message, run.stderr)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()

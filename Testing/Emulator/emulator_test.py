"""Tests of the emulated storage through a real mount: content, counters, faults, writing, and removal of the mount.

usage: emulator_test.py --rate PATCHIO_PREAD_RATE [--emulator PATCHIO_SLOW_STORAGE]
"""
import argparse
import errno
import hashlib
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import emulator

options = None
MEGABYTE = 1 << 20


def write_file(path, size, seed):
    data = random.Random(seed).randbytes(size)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return data


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


class EmulatorTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="patchio_emulator_")
        self.addCleanup(self.folder.cleanup)
        self.source = self.folder.name
        self.data = write_file(self.source + "/big.bin", 5 * MEGABYTE + 12345, 1)
        self.other = write_file(self.source + "/sub/deep/small.bin", 54321, 2)

    def storage(self, **settings):
        settings.setdefault("latency", 0.2)
        settings.setdefault("stream", 10000)
        context = emulator.slow_storage(self.source, options.emulator, **settings)
        storage = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return storage

    def read_aligned(self, file, size, offset):
        """Returns the number of bytes read into page-aligned memory; for other memory, the kernel may need one more request."""
        with mmap.mmap(-1, size) as buffer:
            return os.preadv(file, [buffer], offset)

    def read_error(self, path):
        try:
            with open(path, "rb", buffering=0) as file:
                file.read(100)
            return 0
        except OSError as error:
            return error.errno


class Content(EmulatorTest):
    def check_random_reads(self, path, seed, failures):
        chooser = random.Random(seed)
        file = os.open(path, os.O_RDONLY)
        for _ in range(60):
            offset = chooser.randrange(len(self.data) + 1000)
            size = chooser.choice([1, 100, 4096, 70001, 2 * MEGABYTE])
            if os.pread(file, size, offset) != self.data[offset:offset + size]:
                failures.append((seed, offset, size))
        os.close(file)

    def check_content(self, cached):
        storage = self.storage(cached=cached)
        failures = []
        threads = [threading.Thread(target=self.check_random_reads, args=(storage.path("big.bin"), seed, failures))
                   for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        with open(storage.path("sub/deep/small.bin"), "rb") as file:
            self.assertEqual(file.read(), self.other)

    def test_equals_the_source(self):
        for cached in (False, True):
            self.check_content(cached)

    def test_attributes_and_names_come_through(self):
        os.utime(self.source + "/big.bin", ns=(1, 1234567890123456789))
        os.symlink("big.bin", self.source + "/link")
        storage = self.storage()
        self.assertEqual(sorted(os.listdir(storage.mount)), ["big.bin", "link", "sub"])
        self.assertEqual(os.readlink(storage.path("link")), "big.bin")
        for name in ("big.bin", "sub", "sub/deep/small.bin"):
            shown, real = os.stat(storage.path(name)), os.stat(os.path.join(self.source, name))
            for field in ("st_ino", "st_mtime_ns", "st_size", "st_mode", "st_nlink", "st_uid"):
                self.assertEqual(getattr(shown, field), getattr(real, field), name + " " + field)
        entries = {entry.name: entry.inode() for entry in os.scandir(storage.mount)}
        self.assertEqual(entries["big.bin"], os.stat(self.source + "/big.bin").st_ino)


class Counters(EmulatorTest):
    def test_count_opens_requests_and_bytes(self):
        storage = self.storage()
        storage.reset()
        for _ in range(3):
            file = os.open(storage.path("big.bin"), os.O_RDONLY)
            os.pread(file, 1000, 0)
            self.read_aligned(file, MEGABYTE, 7)
            os.pread(file, 1000, len(self.data) - 10)  # ten bytes are left
            os.close(file)
        counted = storage.counters()
        self.assertEqual(counted["opens"], 3)
        self.assertEqual(counted["reads"], 9)
        self.assertEqual(counted["read_bytes"], 3 * (1000 + MEGABYTE + 10))
        self.assertEqual(counted["most_in_flight"], 1)
        self.assertGreater(counted["busy_seconds"], 9 * 0.0002)
        storage.reset()
        with open(storage.path("big.bin"), "rb", buffering=0) as file:
            self.read_aligned(file.fileno(), 4 * MEGABYTE, 0)
        self.assertEqual(storage.counters()["reads"], 4, "requests of at most a mebibyte")

    def test_count_metadata_requests(self):
        for cached, lookups in ((True, 3), (False, 12)):
            storage = self.storage(no_metadata_cache=not cached)
            for _ in range(4):
                os.close(os.open(storage.path("sub/deep/small.bin"), os.O_RDONLY))
            counted = storage.counters()
            self.assertEqual(counted["opens"], 4)
            # The kernel looks up three parts of the path, once or each time, and opens the file. Reading the counters makes
            # further requests without the cache.
            self.assertGreaterEqual(counted["metadata_requests"], lookups + 4)
            self.assertLessEqual(counted["metadata_requests"], lookups + 4 + (0 if cached else 2))

    def test_the_kernel_keeps_what_was_read_only_when_cached(self):
        for cached, reads in ((False, 2), (True, 1)):
            storage = self.storage(cached=cached)
            for _ in range(2):
                file = os.open(storage.path("sub/deep/small.bin"), os.O_RDONLY)
                os.pread(file, 4096, 0)
                os.close(file)
            self.assertEqual(storage.counters()["reads"], reads)

    def test_most_in_flight_is_the_threads_used(self):
        # 86 requests take long compared with the start of 24 threads.
        storage = self.storage(latency=200, metadata_latency=0, concurrency=64)
        for threads in (1, 24):
            storage.command("set latency %d" % (1 if threads == 1 else 200))
            storage.reset()
            run = subprocess.run([options.rate, storage.path("big.bin"), "--threads", str(threads), "--request", "65536"],
                                 stdout=subprocess.PIPE, check=True)
            measured, counted = json.loads(run.stdout), storage.counters()
            self.assertEqual(counted["most_in_flight"], threads)
            self.assertEqual(counted["reads"], measured["requests"])
            self.assertEqual(counted["read_bytes"], len(self.data))
            self.assertEqual(counted["in_flight"], 0)

    def test_load_and_settings_change_while_it_runs(self):
        storage = self.storage(load=5)
        self.assertEqual(storage.counters()["load"], 5)
        storage.load(32)
        storage.command("set concurrency 8")
        self.assertEqual(storage.counters()["load"], 32)
        self.assertEqual(storage.counters()["settings"]["concurrency"], 8)
        with self.assertRaisesRegex(emulator.EmulatorError, "dance"):
            storage.command("dance")

    def test_a_request_takes_at_least_as_long_as_modelled(self):
        storage = self.storage(latency=30, metadata_latency=0, concurrency=1, contention=1, load=1)
        with open(storage.path("big.bin"), "rb", buffering=0) as file:
            begin = time.monotonic()
            file.read(1)
        # Two requests are in flight, and one is served: half of the speed, and half of that because of contention.
        self.assertGreaterEqual(time.monotonic() - begin, 0.120)


class Faults(EmulatorTest):
    def test_hit_the_matching_file_until_healed(self):
        storage = self.storage(fault="small.* eio")
        small, big = storage.path("sub/deep/small.bin"), storage.path("big.bin")
        self.assertEqual(self.read_error(small), errno.EIO)
        self.assertEqual(self.read_error(big), 0)
        storage.command("heal")
        self.assertEqual(self.read_error(small), 0)
        storage.command("fault big.bin eio --after 2")
        self.assertEqual([self.read_error(big) for _ in range(4)], [0, 0, errno.EIO, errno.EIO])
        self.assertEqual(storage.counters()["faults_given"], 3)

    def test_stall(self):
        storage = self.storage(fault="big.bin stall --seconds 0.3")
        begin = time.monotonic()
        self.assertEqual(self.read_error(storage.path("big.bin")), 0)
        self.assertGreaterEqual(time.monotonic() - begin, 0.3)


class Writing(EmulatorTest):
    def check_writing(self, **settings):
        storage = self.storage(**settings)
        data = write_file(storage.path("new/folder/file.bin"), 3 * MEGABYTE + 17, 3)
        real = self.source + "/new/folder/file.bin"
        with open(real, "rb") as file:
            self.assertEqual(file.read(), data)
        with open(storage.path("new/folder/file.bin"), "ab") as file:
            file.write(b"appended")
            file.flush()
            os.fsync(file.fileno())
        os.truncate(storage.path("big.bin"), 1000)
        os.rename(storage.path("new/folder/file.bin"), storage.path("renamed.bin"))
        os.rmdir(storage.path("new/folder"))
        os.utime(storage.path("renamed.bin"), ns=(5, 987654321012345678))
        os.chmod(storage.path("renamed.bin"), 0o640)
        os.unlink(storage.path("sub/deep/small.bin"))
        for root in (self.source, storage.mount):
            self.assertEqual(digest(root + "/renamed.bin"), hashlib.sha256(data + b"appended").hexdigest())
            self.assertEqual(os.stat(root + "/renamed.bin").st_mtime_ns, 987654321012345678)
            self.assertEqual(os.stat(root + "/renamed.bin").st_mode & 0o777, 0o640)
            self.assertEqual(os.path.getsize(root + "/big.bin"), 1000)
            self.assertEqual(os.listdir(root + "/sub/deep"), [])
            self.assertEqual(os.listdir(root + "/new"), [])
        self.assertEqual(storage.counters()["written_bytes"], len(data) + 8)
        self.assertEqual(os.statvfs(storage.mount).f_blocks, os.statvfs(self.source).f_blocks)

    def test_comes_through(self):
        self.check_writing()

    def test_comes_through_when_cached_and_slow(self):
        self.check_writing(cached=True, slow_writes=True)

    def test_several_writes_to_one_file_are_in_flight_together(self):
        storage = self.storage(latency=200, metadata_latency=0, concurrency=64, slow_writes=True)
        file = os.open(storage.path("big.bin"), os.O_WRONLY)
        self.addCleanup(os.close, file)
        threads = [threading.Thread(target=os.pwrite, args=(file, b"x" * 4096, 4096 * i)) for i in range(8)]
        storage.reset()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        release = tuple(int(part) for part in os.uname().release.split(".")[:2])
        self.assertEqual(storage.counters()["most_in_flight"], 8 if release >= (6, 2) else 1)

    def test_an_open_file_that_is_unlinked_stays_readable(self):
        storage = self.storage()
        with open(storage.path("big.bin"), "rb", buffering=0) as file:
            os.unlink(storage.path("big.bin"))
            self.assertEqual(file.read(100), self.data[:100])
        self.assertEqual(os.listdir(self.source), ["sub"])


class Ending(EmulatorTest):
    def start_alone(self, **settings):
        mount = tempfile.mkdtemp(prefix="patchio_mount_")
        self.addCleanup(os.rmdir, mount)
        storage = emulator.start(self.source, mount, options.emulator, **settings)
        self.addCleanup(storage.stop)
        return storage

    def assert_gone(self, mount):
        self.assertTrue(wait_until(lambda: not emulator.is_mounted(mount)), "the mount is still there")
        self.assertEqual(os.listdir(mount), [])

    def test_leaves_nothing_behind(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            storage = self.start_alone()
            self.assertTrue(emulator.is_mounted(storage.mount))
            storage.process.send_signal(how)
            self.assertEqual(storage.process.wait(timeout=20), 0)
            self.assert_gone(storage.mount)

    def test_interrupts_requests_in_flight(self):
        storage = self.start_alone(latency=1e6, metadata_latency=0)
        reader = threading.Thread(target=self.read_error, args=(storage.path("big.bin"),))
        reader.start()
        self.assertTrue(wait_until(lambda: storage.counters()["in_flight"] == 1))
        storage.process.terminate()
        self.assertEqual(storage.process.wait(timeout=20), 0)
        reader.join(timeout=20)
        self.assertFalse(reader.is_alive())
        self.assert_gone(storage.mount)

    def test_a_killed_emulator_leaves_no_mount(self):
        storage = self.start_alone()
        storage.process.kill()
        storage.process.wait()
        self.assert_gone(storage.mount)

    def test_a_killed_parent_leaves_no_mount(self):
        mount = tempfile.mkdtemp(prefix="patchio_mount_")
        self.addCleanup(os.rmdir, mount)
        script = "import subprocess, sys, time\nsubprocess.Popen(sys.argv[1:])\ntime.sleep(1000)"
        parent = subprocess.Popen([sys.executable, "-c", script, options.emulator, self.source, mount],
                                  stdout=subprocess.PIPE)
        self.addCleanup(parent.stdout.close)
        self.assertTrue(emulator.await_ready(parent, 20))
        self.assertTrue(emulator.is_mounted(mount))
        parent.kill()
        parent.wait()
        self.assert_gone(mount)

    def test_refuses_what_cannot_be_mounted(self):
        os.mkdir(self.source + "/inside")
        for source, mount, message in ((self.source + "/none", "/tmp", "none"),
                                       (self.source, self.source + "/none", "folder to mount on"),
                                       (self.source, self.source + "/inside", "outside")):
            with self.assertRaisesRegex(emulator.EmulatorError, message):
                emulator.start(source, mount, options.emulator)
        with self.assertRaisesRegex(emulator.EmulatorError, "one request"):
            emulator.start(self.source, self.source, options.emulator, stream=0)


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", required=True)
    parser.add_argument("--emulator", default="")
    options, rest = parser.parse_known_args()
    lacking = emulator.missing(options.emulator or "/none")
    if lacking:
        print("skipped: this machine lacks " + lacking)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]] + rest)


if __name__ == "__main__":
    main()

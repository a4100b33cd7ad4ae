#!/usr/bin/python3
"""Tests files without step numbers and gaps, in the formats grads and kwave: lost, repeated, unordered and different steps, and
shapes of data sets that repeat a number. Reads values with numpy and h5py.

usage: sequence.py --library LIBRARY --patchio PATCHIO
       sequence.py --rank LIBRARY CONFIGURATION CELLS STEPS     (a rank; STEPS: JSON, see write())
"""
import json
import os
import resource
import shutil
import signal
import sys
import tempfile

import h5py
import numpy as np

import simulation
from output import run    # lets expectations be found
from expectations import expect, failed

UNDEF = np.float32(-9.99e33)


def values(step, rank, cells):
    """Returns the values [z, y, x] of this rank's half of the grid along x."""
    z, y, x = np.meshgrid(np.arange(cells), np.arange(cells), np.arange(cells) + cells * rank, indexing="ij")
    return 1000.0 * step + 100 * z + 10 * y + x


def write(library, configuration, cells, steps):
    """Writes steps. Each step has a number and an anomaly: "null" (rank 0 has no list of arrays), "origin" (another origin from
    here on), "folder" (another current folder), "signal" (a limit for the size of files from the begin), "moved" (the first
    channel's file is moved, and another run writes it anew), "cut" (the first channel's file is truncated), "time" (another time on
    rank 1). Prints the message of each failed call."""
    mpi, cells = simulation.Mpi(library), int(cells)
    if "signal" in steps:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)    # like in programs other than Python
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    with mpi.output(configuration) as out:
        if not out.compute():
            steps = "[]"

        def declare(origin):
            out.grid(3, (origin, 0, 0), (1, 1, 1))
            out.patches([(0, (cells * mpi.rank, 0, 0), (cells * (mpi.rank + 1) - 1, cells - 1, cells - 1))])
        if steps != "[]":
            declare(0)
            out.variable("a", "float64")
        for number, odd in json.loads(steps):
            if odd == "origin":
                declare(5)
            if odd == "folder":
                os.makedirs("elsewhere", exist_ok=True)
                os.chdir("elsewhere")
            if odd == "moved":
                path = json.loads(configuration)["channels"][0]["path"]
                os.rename(path, path + ".old")
                shutil.copytree(path + ".old", path)
            if odd == "cut":
                path = json.loads(configuration)["channels"][0]["path"]
                os.truncate(os.path.join(path, "index") if path.endswith(".pio") else path[:-3] + "dat", 100)
            try:
                array = values(number, mpi.rank, cells)
                out.write(number, 0.5 * number + (odd == "time" and mpi.rank == 1), None if odd == "null" and mpi.rank == 0 else [array])
            except simulation.Failed as fault:
                print("rank %d, step %d: %s" % (mpi.rank, number, fault), flush=True)
            try:
                out.flush()
            except simulation.Failed as fault:
                print("rank %d, step %d: %s" % (mpi.rank, number, fault), flush=True)
    mpi.end()


def simulate(options, ranks, channel, steps, cells=4, cwd=None, **settings):
    """Runs this program as the simulation: see write()."""
    program = [sys.executable, "-B", os.path.abspath(__file__), "--rank", options["library"], json.dumps({"channels": channel if isinstance(channel, list) else [channel], **settings}), str(cells)]
    return run(program + [json.dumps(steps)], ranks, cwd=cwd)


def wanted(step, ranks, cells=4):
    return np.concatenate([values(step, rank, cells) for rank in range(ranks)], axis=2).astype("f4")


def grads(options, folder):
    """Tests that a lost step keeps its date, without values. Repeated, unordered and different steps must be rejected, without loss
    of other steps."""
    path = os.path.join(folder, "maps.ctl")
    sequences = (("lost", [(0, ""), (1, ""), (2, "null"), (3, "")], [0, 1, None, 3], "no list of arrays"), ("the first one lost", [(0, "null"), (1, "")], [None, 1], "no list of arrays"),
                 ("lost and given again", [(0, ""), (1, "null"), (1, ""), (2, "")], [0, 1, 2], "no list of arrays"), ("repeated", [(0, ""), (1, ""), (1, ""), (2, "")], [0, 1, 2], "step 1"),
                 ("unordered", [(3, ""), (2, ""), (5, ""), (4, "null"), (6, "")], [3, 5, 6], "a step after step 3"), ("moved", [(0, ""), (1, "origin")], [0], "the origin (0, 0, 0) at all steps"))
    for mode, ranks in (("direct", 1), ("direct", 2), ("thread", 2), ("ranks", 3)):
        writing = ranks - (mode == "ranks")
        for name, steps, want, word in sequences:
            code, text = simulate(options, ranks, {"path": path, "format": "grads", "overwrite": True}, steps, mode=mode)
            where = "grads, %s, %s on %d ranks" % (name, mode, ranks)
            expect(code == 0 and word in text, "%s: exit code %d, %s", where, code, text)
            with open(path) as file:
                expect("TDEF %d LINEAR" % len(want) in file.read(), "%s: another number of steps", where)
            found = np.fromfile(path.replace(".ctl", ".dat"), "<f4")
            if found.size < len(want) * 64 * writing:
                expect(False, "%s: %d values", where, found.size)
                continue
            for slot, step in enumerate(want):
                there = found[slot * 64 * writing:(slot + 1) * 64 * writing].reshape(4, 4, 4 * writing)
                expect(np.array_equal(there, wanted(step, writing)) if step is not None else np.all(there == UNDEF), "%s: other values in slot %d", where, slot)


def kwave(options, folder):
    """Tests that a file gets no steps after a lost one. Repeated, unordered and different steps must be rejected, without loss of
    other steps."""
    path = os.path.join(folder, "s.h5")
    channel = {"path": path, "format": "kwave", "overwrite": True, "windows": [{"last": 20}], "cuboids": [{"lower": [0, 0, 0], "upper": [3, 3, 3]}]}
    whole = {"path": os.path.join(folder, "all.pio"), "overwrite": True}
    sequences = (("lost", [(0, ""), (1, ""), (2, "null"), (3, "")], [0, 1], "no list of arrays"), ("repeated", [(0, ""), (1, ""), (1, ""), (2, "")], [0, 1, 2], "step 1"),
                 ("unordered", [(3, ""), (2, ""), (5, ""), (4, ""), (6, "")], [3, 5, 6], "a step after step 3"), ("moved", [(0, ""), (1, "origin")], [0], "the origin (0, 0, 0) at all steps"))
    for mode, ranks in (("direct", 1), ("thread", 2)):
        for channels in ([channel], [whole, channel]):
            for name, steps, want, word in sequences:
                code, text = simulate(options, ranks, channels, steps, mode=mode)
                where = "kwave, %s, %s on %d ranks, %d channels" % (name, mode, ranks, len(channels))
                expect(code == 0 and word in text, "%s: exit code %d, %s", where, code, text)
                with h5py.File(path, "r") as file:
                    expect(file["a/1"].shape == (len(want), 4, 4, 4), "%s: the shape %s", where, file["a/1"].shape)
                    for slot, step in enumerate(want[:file["a/1"].shape[0]]):
                        expect(np.array_equal(file["a/1"][slot], values(step, 0, 4).astype("f4")), "%s: other values of step %d", where, step)


def places(options, folder):
    """Tests that relative paths refer to the folder in which the output was opened. A moved container gets no further steps, and
    neither does a container in its place."""
    container = os.path.join(folder, "run.pio")
    for mode in ("direct", "thread"):
        code, text = simulate(options, 1, {"path": "run.pio"}, [(0, ""), (1, "folder"), (2, "")], cwd=folder, mode=mode)
        expect(code == 0 and text == "" and sorted(os.listdir(container)) == ["index"] + ["step.00000%d.hdf" % step for step in range(3)], "another folder, %s: %s, %s",
               mode, text, os.listdir(container))
        expect(os.listdir(os.path.join(folder, "elsewhere")) == [], "something was written to another folder")
        shutil.rmtree(container)
        code, text = simulate(options, 1, {"path": container}, [(0, ""), (1, "moved"), (2, "")], mode=mode)
        expect(code == 0 and text.count("expected the container that this run writes") == 2, "moved, %s: exit code %d, %s", mode, code, text)
        for path in (container, container + ".old"):
            expect([name for name in sorted(os.listdir(path)) if name.startswith("step")] == ["step.000000.hdf"], "moved, %s: %s has %s", mode, path, os.listdir(path))
            shutil.rmtree(path)


def cut(options, folder):
    """Tests that a file that is truncated while it is written gets no further steps, and that the simulation gets a message."""
    for mode in ("direct", "thread"):
        for channel in ({"path": os.path.join(folder, "a.pio")}, {"path": os.path.join(folder, "m.ctl"), "format": "grads"}):
            code, text = simulate(options, 1, {**channel, "overwrite": True}, [(0, ""), (1, ""), (2, "cut"), (3, "")], mode=mode)
            expect(code == 0 and text.count("that this run has written, found 100") == 2, "%s, %s: exit code %d, %s", channel["path"], mode, code, text)


def strangers(options, folder):
    """Tests that `overwrite` replaces the files of an earlier run, also of one that ended early, and no other file."""
    sensor = {"format": "kwave", "windows": [{"last": 20}], "cuboids": [{"lower": [0, 0, 0], "upper": [3, 3, 3]}]}
    for name, data, channel in (("s.h5", "s.h5", sensor), ("m.ctl", "m.dat", {"format": "grads"})):
        path, data = os.path.join(folder, name), os.path.join(folder, data)
        other = os.path.join(folder, "precious")
        channel = {**channel, "path": path, "overwrite": True}

        def is_refused(word):
            before = sorted(os.listdir(folder))
            code, text = simulate(options, 1, channel, [(0, "")])
            expect(code == 0 and word in text and '"overwrite" replaces' in text, "%s, %s: exit code %d, %s", name, word, code, text)
            expect(sorted(os.listdir(folder)) == before, "%s, %s: files %s, before %s", name, word, sorted(os.listdir(folder)), before)

        with h5py.File(data, "w") as file:
            file["values"] = [1.0, 2.0]
        is_refused("a file of another type")
        os.rename(data, other)
        os.symlink(other, data)
        is_refused("a symbolic link")
        os.remove(data)
        os.mkdir(data)
        is_refused("a folder or a special file")
        os.rmdir(data)
        with h5py.File(other, "r") as file:
            expect(file["values"][1] == 2.0, "the file of a stranger was changed")
        open(data, "w").close()
        for steps in ([(0, "")], [(0, ""), (1, "")], [(0, "null")], [(0, "")]):
            code, text = simulate(options, 1, channel, steps)
            expect(code == 0 and (text == "" or steps[0][1]), "%s again: exit code %d, %s", name, code, text)


def small_files(options, folder):
    """Tests that a limit of file sizes loses steps with a message, and does not end the simulation."""
    sensor = {"path": os.path.join(folder, "s.h5"), "format": "kwave", "windows": [{"last": 20}], "cuboids": [{"lower": [0, 0, 0], "upper": [3, 3, 3]}]}
    for channel in (sensor, {"path": os.path.join(folder, "a.pio")}, {"path": os.path.join(folder, "m.ctl"), "format": "grads"}):
        code, text = simulate(options, 1, {**channel, "overwrite": True}, [(0, "signal"), (1, "")])
        expect(code == 0 and "File too large" in text and "filesystem error" not in text, "%s: exit code %d, %s", channel["path"], code, text)


def ranks_differ(options, folder):
    """Tests that ranks with different times for a k-Wave file get a message."""
    channel = {"path": os.path.join(folder, "s.h5"), "format": "kwave", "overwrite": True, "windows": [{"last": 20}], "cuboids": [{"lower": [0, 0, 0], "upper": [3, 3, 3]}]}
    for more in ({}, {"steps at once": 2}):
        code, text = simulate(options, 2, {**channel, **more}, [(0, ""), (1, "time")], mode="direct")
        expect(code == 0 and text.count("rank 0 has the time 0.5, but rank 1 has the time 1.5") >= 2, "%s: exit code %d, %s", more, code, text)


def shapes(options, folder):
    """Tests as many steps as cells along each axis, and other lengths that occur in several shapes."""
    path = os.path.join(folder, "s.h5")
    cuboids = [{"lower": [0, 0, 0], "upper": [n - 1, m - 1, k - 1]} for n, m, k in ((4, 4, 4), (1, 1, 1), (1, 4, 1), (4, 1, 1), (1, 1, 4))]
    for sensor in ([cuboids[0]], cuboids, cuboids[1:2]):
        for count in (1, 2, 4, 5):
            channel = {"path": path, "format": "kwave", "overwrite": True, "windows": [{"last": count - 1}], "cuboids": sensor}
            code, text = simulate(options, 1, channel, [(step, "") for step in range(count)])
            where = "%d steps of %d cuboids" % (count, len(sensor))
            expect(code == 0 and text == "", "%s: exit code %d, %s", where, code, text)
            with h5py.File(path, "r") as file:
                for number, cuboid in enumerate(sensor):
                    x, y, z = (n + 1 for n in cuboid["upper"])
                    want = np.stack([values(step, 0, 4)[:z, :y, :x] for step in range(count)])
                    expect(np.array_equal(file["a/%d" % (number + 1)], want.astype("f4")), "%s: other values in cuboid %d", where, number + 1)


def main():
    if sys.argv[1] == "--rank":
        return write(*sys.argv[2:])
    options = {sys.argv[i][2:]: os.path.abspath(sys.argv[i + 1]) for i in range(1, len(sys.argv), 2)}
    for case in (grads, kwave, places, cut, strangers, small_files, ranks_differ, shapes):
        with tempfile.TemporaryDirectory() as folder:
            case(options, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

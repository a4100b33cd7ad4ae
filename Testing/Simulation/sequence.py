#!/usr/bin/python3
"""Steps of files that have neither step numbers nor gaps, of the formats grads and kwave: lost, repeated, unordered and unlike ones,
and shapes of data sets that repeat a number. Values are read by numpy and h5py.

usage: sequence.py --library LIBRARY --patchio PATCHIO
       sequence.py --rank LIBRARY CONFIGURATION CELLS STEPS     (a rank; STEPS: JSON, see write())
"""
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import simulation
from output import MPI, expect, faults

UNDEF = np.float32(-9.99e33)


def values(step, rank, cells):
    """z, y, x of this rank's half of the grid along x."""
    z, y, x = np.meshgrid(np.arange(cells), np.arange(cells), np.arange(cells) + cells * rank, indexing="ij")
    return 1000.0 * step + 100 * z + 10 * y + x


def write(library, configuration, cells, steps):
    """Each step: number, and what is odd about it: "null" (rank 0 has no list of arrays), "origin" or "name" (from here on). Prints the
    message of each call that fails."""
    mpi, cells = simulation.Mpi(library), int(cells)
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
            try:
                array = values(number, mpi.rank, cells)
                out.write(number, 0.5 * number, None if odd == "null" and mpi.rank == 0 else [array])
            except simulation.Failed as fault:
                print("rank %d, step %d: %s" % (mpi.rank, number, fault), flush=True)
            try:
                out.flush()
            except simulation.Failed as fault:
                print("rank %d, step %d: %s" % (mpi.rank, number, fault), flush=True)
    mpi.end()


def run(options, ranks, channel, steps, cells=4, **settings):
    program = [sys.executable, "-B", os.path.abspath(__file__), "--rank", options["library"], json.dumps({"channels": channel if isinstance(channel, list) else [channel], **settings}), str(cells)]
    done = subprocess.run(["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] + program + [json.dumps(steps)], env={**os.environ, **MPI}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return done.returncode, done.stdout


def wanted(step, ranks, cells=4):
    return np.concatenate([values(step, rank, cells) for rank in range(ranks)], axis=2).astype("f4")


def grads(options, folder):
    """A lost step keeps its date, without values; repeated, unordered and unlike steps are refused, and cost no other step."""
    path = os.path.join(folder, "maps.ctl")
    sequences = (("lost", [(0, ""), (1, ""), (2, "null"), (3, "")], [0, 1, None, 3], "no list of arrays"), ("the first one lost", [(0, "null"), (1, "")], [None, 1], "no list of arrays"),
                 ("lost and given again", [(0, ""), (1, "null"), (1, ""), (2, "")], [0, 1, 2], "no list of arrays"), ("repeated", [(0, ""), (1, ""), (1, ""), (2, "")], [0, 1, 2], "step 1"),
                 ("unordered", [(3, ""), (2, ""), (5, ""), (4, "null"), (6, "")], [3, 5, 6], "a step after step 3"), ("moved", [(0, ""), (1, "origin")], [0], "the origin (0, 0, 0) at all steps"))
    for mode, ranks in (("direct", 1), ("direct", 2), ("thread", 2), ("ranks", 3)):
        writing = ranks - (mode == "ranks")
        for name, steps, want, word in sequences:
            code, text = run(options, ranks, {"path": path, "format": "grads", "overwrite": True}, steps, mode=mode)
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
    """After a lost step a file takes no others; repeated, unordered and unlike ones are refused, and cost no other step."""
    path = os.path.join(folder, "s.h5")
    channel = {"path": path, "format": "kwave", "overwrite": True, "windows": [{"last": 20}], "cuboids": [{"lower": [0, 0, 0], "upper": [3, 3, 3]}]}
    whole = {"path": os.path.join(folder, "all.pio"), "overwrite": True}
    sequences = (("lost", [(0, ""), (1, ""), (2, "null"), (3, "")], [0, 1], "no list of arrays"), ("repeated", [(0, ""), (1, ""), (1, ""), (2, "")], [0, 1, 2], "step 1"),
                 ("unordered", [(3, ""), (2, ""), (5, ""), (4, ""), (6, "")], [3, 5, 6], "a step after step 3"), ("moved", [(0, ""), (1, "origin")], [0], "the origin (0, 0, 0) at all steps"))
    for mode, ranks in (("direct", 1), ("thread", 2)):
        for channels in ([channel], [whole, channel]):
            for name, steps, want, word in sequences:
                code, text = run(options, ranks, channels, steps, mode=mode)
                where = "kwave, %s, %s on %d ranks, %d channels" % (name, mode, ranks, len(channels))
                expect(code == 0 and word in text, "%s: exit code %d, %s", where, code, text)
                with h5py.File(path, "r") as file:
                    expect(file["a/1"].shape == (len(want), 4, 4, 4), "%s: the shape %s", where, file["a/1"].shape)
                    for slot, step in enumerate(want[:file["a/1"].shape[0]]):
                        expect(np.array_equal(file["a/1"][slot], values(step, 0, 4).astype("f4")), "%s: other values of step %d", where, step)


def shapes(options, folder):
    """As many steps as cells along each axis, and other lengths that occur in several shapes."""
    path = os.path.join(folder, "s.h5")
    cuboids = [{"lower": [0, 0, 0], "upper": [n - 1, m - 1, k - 1]} for n, m, k in ((4, 4, 4), (1, 1, 1), (1, 4, 1), (4, 1, 1), (1, 1, 4))]
    for sensor in ([cuboids[0]], cuboids, cuboids[1:2]):
        for count in (1, 2, 4, 5):
            channel = {"path": path, "format": "kwave", "overwrite": True, "windows": [{"last": count - 1}], "cuboids": sensor}
            code, text = run(options, 1, channel, [(step, "") for step in range(count)])
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
    options = {sys.argv[i][2:]: sys.argv[i + 1] for i in range(1, len(sys.argv), 2)}
    for case in (grads, kwave, shapes):
        with tempfile.TemporaryDirectory() as folder:
            case(options, folder)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

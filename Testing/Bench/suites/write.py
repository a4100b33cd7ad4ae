"""Writes the values of sensors of a simulation at every step (the study of k-Wave's output): PatchIO, and one collective HDF5 write per step.

Each of 8 ranks has two planes of the grid, like each of 256 ranks with 512^3 in the study, so the bytes per rank are the same, and
the total is a 32nd. The time ends when all bytes are on the storage. PatchIO writes in mode direct, with a profile of the storage. The
emulator keeps its files in memory, so that the disk of this machine does not matter. For "only the bytes", one rank writes the same
number of bytes from one buffer, 16 requests of 1 MiB at once: no output can be faster."""
import json
import os
import shutil
import tempfile

import emulator
from measuring import Spread, interleave, programs, ratios, run_json

RANKS = 8
GRID = (512, 512, 16)
STORAGE = {"latency": 2, "stream": 50, "concurrency": 16, "slow_writes": True}
PEAK = 800e6  # 16 requests of 50 MB/s, without their latency
PROFILE = {"best_concurrency": 16, "latency_seconds": 0.002, "request_bytes_per_second": 5e7}


def box(*corners):
    return {"lower": corners[:3], "upper": corners[3:]}


# Tests 1 to 5 of the study: factor in the study, goal, steps, cuboids.
PATTERNS = {
    "three planes through all ranks": (4.3, 5.2, 1000, [box(0, y, 0, 511, y, 15) for y in (0, 200, 400)]),
    "three planes, each of one rank": (3.0, 3.6, 200, [box(0, 0, z, 511, 511, z) for z in (1, 7, 13)]),
    "three planes, one along each axis": (4.0, 4.8, 400, [box(0, 0, 8, 511, 511, 8), box(0, 256, 0, 511, 256, 15), box(256, 0, 0, 256, 511, 15)]),
    "a cube in half of the ranks": (1.0, 1.0, 200, [box(128, 128, 4, 383, 383, 11)]),
    "three small cuboids": (6.6, 7.9, 1000, [box(0, 0, 0, 63, 63, 5), box(100, 100, 7, 132, 164, 10), box(200, 200, 12, 209, 239, 15)]),
}
EVEN = {20: (100, 50, 8), 200: (500, 100, 8)}  # kB per rank and step -> the grid, with all cells sampled


def write(storage, how, cells, cuboids, steps, *more, profiles=None):
    """Writes into a new file and returns the rate. profiles: the folder of the profile, or None for no profile."""
    folder = storage.path("written_" + how)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = [os.path.join(programs(), "patchio_bench_write"), os.path.join(folder, "out.h5"), "--how", how.split()[0], "--cells", ",".join(map(str, cells)),
               "--cuboids", json.dumps(cuboids), "--steps", str(steps), *more]
    return run_json(command, ranks=RANKS, environment={"PATCHIO_PROFILE_DIR": profiles or folder})["rate"]


def even(report, storage, profiles, rounds, kilobytes):
    """Writes all cells of a grid at every step."""
    cells = EVEN[kilobytes]
    all_cells = [box(0, 0, 0, *(n - 1 for n in cells))]
    steps = {"patchio": 80000 // kilobytes, "bytes": 80000 // kilobytes, "patchio alone": 4000 // kilobytes, "parallel": 4000 // kilobytes}
    more = {"bytes": ["--threads", "16"]}
    known = {"patchio": profiles}
    found = interleave({how: (lambda how=how: write(storage, how, cells, all_cells, steps[how], *more.get(how, []), profiles=known.get(how))) for how in steps}, rounds)
    what = "%d kB per rank and step: " % kilobytes
    report.figure(what + "only the bytes / peak of the storage", Spread([rate / PEAK for rate in found["bytes"]]))
    report.goal(what + "PatchIO / peak of the storage", 0.8, Spread([rate / PEAK for rate in found["patchio"]]))
    report.figure(what + "PatchIO / only the bytes", ratios(found["patchio"], found["bytes"]))
    report.goal(what + "PatchIO / collective HDF5", 12, ratios(found["patchio"], found["parallel"]))
    report.goal(what + "PatchIO without a profile / collective HDF5", 0.95, ratios(found["patchio alone"], found["parallel"]))


def on_emulator(report, storage, profiles, rounds):
    for name, (study, goal, steps, cuboids) in PATTERNS.items():
        found = interleave({how: (lambda how=how: write(storage, how, GRID, cuboids, steps, profiles=profiles)) for how in ("patchio", "parallel")}, rounds)
        report.goal("%s: PatchIO / collective HDF5 (study: %.1f)" % (name, study), goal, ratios(found["patchio"], found["parallel"]))
    for kilobytes in EVEN:
        even(report, storage, profiles, rounds, kilobytes)


def run(report, _folder, rounds):
    """./dev bench write"""
    def measure(storage):
        with tempfile.TemporaryDirectory() as profiles:
            with open(os.path.join(profiles, "emulated.json"), "w") as file:
                json.dump({"mount": storage.mount, **PROFILE}, file)
            on_emulator(report, storage, profiles, rounds)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        emulator.measure_on(report, "all rows", memory, measure, **STORAGE)

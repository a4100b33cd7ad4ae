"""Measures the time that the output of a step costs the computing ranks, on the emulator. Reference: B. Yang et al.,
"Input/Output analysis and optimization for GRAPES regional model" (2022)."""
import json
import os
import shutil
import statistics
import time

import emulator
import measuring
from measuring import Spread, interleave, programs, ratios, ratios_of, run_json

STORAGE = {"latency": 2, "stream": 100, "concurrency": 64, "slow_writes": True}
RANKS = 8


def program():
    return os.path.join(programs(), "patchio_bench_output")


def once(folder, settings, *arguments):
    """Makes one run in an empty folder. settings: the output configuration, or None for MPI-IO."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if settings is None:
        return run_json([program(), os.path.join(folder, "direct.dat"), "--mpi", *map(str, arguments)], ranks=RANKS)
    channel = {"path": os.path.join(folder, "out.pio"), **settings.get("channel", {})}
    config = {"channels": [channel], **{key: value for key, value in settings.items() if key != "channel"}}
    return run_json([program(), json.dumps(config), *map(str, arguments)], ranks=RANKS + settings.get("io ranks", 0))


def lost_time(report, storage, rounds):
    """Measures the time that ranks lose: 50 levels of 192 x 96 cells, 4 variables, 15 MB per step."""
    ways = {"direct MPI-IO": None, "direct": {"mode": "direct", "threads": 8}, "thread": {"mode": "thread", "threads": 8},
            "ranks": {"mode": "ranks", "io ranks": 2, "threads": 32}}
    found = interleave({way: (lambda way=way: once(storage.path(way.replace(" ", "_")), ways[way])) for way in ways}, rounds)
    for way in ("direct", "thread", "ranks"):
        report.figure("time that ranks lose in the output of a step: direct MPI-IO / mode %s" % way,
                      ratios_of(found["direct MPI-IO"], found[way], "lost"))
    report.goal("time that ranks lose: direct MPI-IO / mode thread (paper: 10)", 10, ratios_of(found["direct MPI-IO"], found["thread"], "lost"))
    report.goal("time that ranks lose: direct MPI-IO / mode ranks, two I/O ranks in addition to the eight (paper: 10)", 20, ratios_of(found["direct MPI-IO"], found["ranks"], "lost"))
    report.goal("whole run: direct MPI-IO / mode ranks", 1.5, ratios_of(found["direct MPI-IO"], found["ranks"], "all"))
    report.goal("whole run: direct MPI-IO / mode thread", 1.5, ratios_of(found["direct MPI-IO"], found["thread"], "all"))
    if rounds < 2:
        return  # one run has no spread
    spread = {way: (max(times) - min(times)) / statistics.median(times) for way, times in ((way, [each["all"] for each in found[way]]) for way in ways)}
    for way, name in (("thread", "mode thread"), ("ranks", "mode ranks")):
        report.at_most("spread of whole runs, (maximum - minimum) / median: %s / direct MPI-IO" % name, 0.5, Spread([spread[way] / spread["direct MPI-IO"]]))


def whole_linadv(report, storage, rounds):
    """Runs linadv on 4 ranks, with 2 levels, and writes each step: as SAMRAI dumps of 32-bit floats, and as a container of doubles."""
    command = [os.path.join(programs(), "patchio-linadv"), "--cells", "64,64,64", "--patch", "16", "--levels", "2", "--steps", "10", "--dump-every", "1", "--variables", "4"]

    def simulate(*arguments):
        folder = storage.path("linadv")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        begin = time.monotonic()
        measuring.run(command + [argument.replace("FOLDER", folder) for argument in arguments], ranks=4)
        return time.monotonic() - begin

    config = json.dumps({"threads": 8, "channels": [{"path": "FOLDER/out.pio"}]})
    found = interleave({"dumps": lambda: simulate("--output", "FOLDER/dumps"), "ours": lambda: simulate("--output-config", config)}, rounds)
    report.goal("linadv, whole run: SAMRAI dumps / container in mode thread", 2, ratios(found["dumps"], found["ours"]))


def copies(report, rounds):
    """Measures how fast a call packs fields with ghost layers into new memory."""
    found = [run_json([program(), "none", "--copies"]) for _ in range(max(rounds, 3))]
    report.goal("bytes packed per second / memcpy of the same number", 0.7, Spread([each["packed"] / each["copied"] for each in found]))


def run(report, folder, rounds):
    """./dev bench output"""
    def measure(storage):
        lost_time(report, storage, rounds)
        whole_linadv(report, storage, rounds)
    copies(report, rounds)
    emulator.measure_on(report, "output on the emulator", os.path.join(folder, "output"), measure, **STORAGE)

"""Compares two-level reading with one-level HDF5: the read rate by ranks NP and threads NT, on an emulated parallel file system, on the
local disk and in the page cache (figures 12 to 15 of S. Liu et al., "Two Level Parallel Data Read Acceleration Method for Visualization
in Scientific Computing", 2017).

One-level is the classical serial loop of HDF5 reads in each rank. "Locked" is the same loop in NT threads with one lock, like
a thread-safe HDF5. All programs read patches of the same files and must give the same values."""
import os

import emulator
from measuring import (Spread, files_below, folder_of, forget, interleave, make_dump, programs, ratios, read_dump, remember, run_json,
                       say)

# A parallel file system that serves 64 requests at once; each gets 12.5 MB/s, so all together 800 MB/s.
STORAGE = {"latency": 2, "stream": 12.5, "concurrency": 64, "contention": 0.5}
MODEL = {"latency": 2e-3, "bandwidth": 12.5e6}
PROCESSES = (1, 2, 4, 8)
THREADS = (1, 2, 4, 8, 16, 32, 64)
DISK_THREADS = (1, 2, 4, 8, 16)
LOCKED = (16,)
PATCHES, SIZE = 2548, 64  # 2.7 GB
PATCH_MB = SIZE ** 3 * 4e-6


def rate(result):
    """Returns MB/s from a known data set to values in memory, for the last step."""
    return result["bytes"] * 1e-6 / (result["locate"] + result["read"][-1])


def patches_for(seconds, stream, concurrency):
    """Returns the number of patches for a read of about `seconds`, or 2.5 times as long at N*, where start and end matter."""
    best = concurrency == STORAGE["concurrency"]
    served = min(concurrency, STORAGE["concurrency"])
    return int((2.5 if best else 1) * seconds * stream * served / PATCH_MB)


def ways_of(ranks, threads, summary, seconds, stream, model, steps, warm):
    """Returns name -> function that measures a rate. Each function reads `steps` times, for about `seconds` each, and first fetches
    `warm` times the memory of the values from the host of the machine (see patchio_bench_read --warm)."""
    def reader(how, nt, concurrency):
        count = min(PATCHES if stream < 1e3 else PATCHES // 2, max(2 * ranks, patches_for(seconds, stream, concurrency)))
        options = dict(model) if how == "patchio" else {}
        return lambda: rate(read_dump(summary, ranks=ranks, threads=nt, how=how, patches=count, sidecar=how == "patchio",
                                      steps=steps, warm=warm * count * PATCH_MB * 1e-3 / ranks, **options))

    ways = {"one-level": reader("hdf5", 1, ranks)}
    for nt in LOCKED:
        ways["locked NT=%d" % nt] = reader("hdf5", nt, ranks)
    for nt in threads:
        ways["two-level NT=%d" % nt] = reader("patchio", nt, ranks * nt)
    return ways


def check_values(summary):
    """Checks that all programs read the same sum of values."""
    sums = {how: read_dump(summary, ranks=2, threads=4, how=how, sidecar=how == "patchio")["sum"] for how in ("hdf5", "patchio")}
    if abs(sums["hdf5"] - sums["patchio"]) > 1e-9 * abs(sums["hdf5"]):
        raise RuntimeError("the programs read different values: %s" % sums)


def measure_grid(report, place, summary, rounds, threads, seconds, stream, model, before=None, extra=None, steps=1,
                 warm=1.2):
    """Measures all programs at each NP, interleaved. Returns NP -> name -> list of rates."""
    found = {}
    for ranks in PROCESSES:
        ways = ways_of(ranks, threads, summary, seconds, stream, model, steps, warm)
        ways.update(extra(ranks) if extra else {})
        found[ranks] = interleave(ways, rounds, before)
        for name, rates in found[ranks].items():
            say("  %s, NP %d, %-16s %s MB/s" % (place, ranks, name, Spread(rates)))
    report.data[place] = {str(ranks): {name: Spread(r).as_json() for name, r in ways.items()}
                          for ranks, ways in found.items()}

    def draw(axes):
        for ranks in PROCESSES:
            line, = axes.plot(threads, [Spread(found[ranks]["two-level NT=%d" % t]).median for t in threads], "o-",
                              label="NP = %d" % ranks)
            axes.plot(threads, [Spread(found[ranks]["one-level"]).median] * len(threads), ":", color=line.get_color())
        axes.set(xscale="log", yscale="log", xlabel="NT, threads of each rank", ylabel="MB/s",
                 title="Two-level reading, %s (dotted: one-level HDF5)" % place)
        axes.set_xticks(threads, [str(t) for t in threads])
        axes.legend()
    report.plot("two-level-" + place.replace(" ", "-"), draw)
    return found


def best_of(ways, prefix="two-level"):
    """Returns the rates of the program with the best median."""
    return max((rates for name, rates in ways.items() if name.startswith(prefix)), key=lambda rates: Spread(rates).median)


def worst_ratio(found):
    """Returns the ratio two-level / one-level with the lowest median of all NP and NT."""
    worst = None
    for ways in found.values():
        for name, rates in ways.items():
            if name.startswith("two-level"):
                spread = ratios(rates, ways["one-level"])
                worst = spread if worst is None or spread.median < worst.median else worst
    return worst


def on_emulator(report, summary, rounds):
    folder = folder_of(summary)
    if emulator.is_missing(report, "all rows on the emulator"):
        return
    with emulator.slow_storage(folder, **STORAGE) as storage:
        mounted = storage.path(os.path.relpath(summary, folder))
        clusters = [storage.path(os.path.relpath(path, folder)) for path in files_below(folder) if "cluster" in path]

        def peak():
            return run_json([programs() + "/patchio_pread_rate"] + clusters +
                            ["--threads", str(STORAGE["concurrency"]), "--request", str(1 << 20), "--seconds", "2",
                             "--warm-up", "0.5"])["MB_per_s"]
        # For all programs, the second of two steps counts: its memory is reused, so that the storage determines the rate.
        found = measure_grid(report, "emulator", mounted, rounds, THREADS, 1.4, STORAGE["stream"], MODEL,
                             extra=lambda _: {"the emulator's own peak": peak}, steps=2)
    report.goal("emulator, NP = 8: best two-level rate / one-level HDF5 rate (paper: 3.70)", 8,
                ratios(best_of(found[8]), found[8]["one-level"]))
    for ranks in PROCESSES:
        report.goal("emulator, NP = %d, best NT: rate / the emulator's own peak" % ranks, 0.95,
                    ratios(best_of(found[ranks]), found[ranks]["the emulator's own peak"]))
    report.goal("emulator: worst two-level / one-level at any NP, NT (paper: slower below 4 ranks)", 1.0, worst_ratio(found))
    for ranks in PROCESSES:
        report.figure("emulator, NP = %d: HDF5 with one lock, best / one-level" % ranks,
                      ratios(best_of(found[ranks], "locked"), found[ranks]["one-level"]))


def on_disk(report, summary, rounds):
    data = folder_of(summary)
    found = measure_grid(report, "local disk", summary, rounds, DISK_THREADS, 1e9, 1e9, {}, before=lambda _: forget(data), warm=3)
    report.goal("local disk, cold: worst two-level / one-level at any NP, NT", 1.0, worst_ratio(found))
    for ranks in PROCESSES:
        report.figure("local disk, cold, NP = %d: best two-level / one-level" % ranks,
                      ratios(best_of(found[ranks]), found[ranks]["one-level"]))


def run(report, folder, rounds):
    """./dev bench two-level"""
    summary = make_dump(folder, "two_level_%d" % PATCHES, ranks=2, patches=PATCHES, size=SIZE)
    data = folder_of(summary)
    read_dump(summary, sidecar=True)  # writes the index file
    check_values(summary)
    on_emulator(report, summary, rounds)
    on_disk(report, summary, rounds)
    remember(data)
    cache = measure_grid(report, "page cache", summary, rounds, DISK_THREADS, 1e9, 1e9, {})
    report.goal("page cache: worst two-level / one-level at any NP, NT", 1.0, worst_ratio(cache))

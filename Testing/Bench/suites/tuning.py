"""Measures how PatchIO chooses its number of threads: shares of simulated reads near the best fixed number; estimates of N* and NC on
the emulated storage; the mode Automatic and the best fixed number on the emulator, on the local disk and in the page cache; and the
five findings of A. Putilin and A. Salnikov about MPI-IO."""
import os
import re
import shutil
import tempfile

import emulator
import measuring
from measuring import Spread, files_below, folder_of, forget, interleave, make_dump, programs, read_dump, remember, run_json, say

PROCESSES = (1, 2, 4, 8)
PATCHES, SIZE = 2548, 64  # 2.7 GB
PATCH_MB = SIZE ** 3 * 4e-6
STEPS = 3  # to read with Automatic on the emulator, which takes about a minute
# 64 requests at once, 153 MB/s: reading all takes 17 s. Automatic begins with a guess of 16.
STORAGE = {"latency": 2, "stream": 2.5, "concurrency": 64, "contention": 0.5}
# The fixed numbers of requests in flight; Automatic is compared with the best of them.
EMULATED = (8, 16, 32, 64, 96, 128)
LOCAL = (1, 2, 4, 8, 16)
# N* -> MB/s per request: about the same peak rate for each N*, which FUSE can serve.
PROBED = {4: 100, 16: 50, 64: 12}
SIMULATED = "simulated reads of 60 s, %s: %% within 5 %% of the best fixed number"
LOADED = {"latency": 2, "stream": 50, "concurrency": 16, "contention": 0.5}
OBSERVER = ["--concurrency", str(LOADED["concurrency"]), "--stream", str(LOADED["stream"]), "--threads", "16,32", "--windows", "6"]


# ---- in simulated time ---------------------------------------------------------------------------------------

def simulated(report):
    """Measures the share of 200 simulated reads of a minute within 5 % of the best fixed number. The seed is fixed, so one round suffices."""
    found = run_json([programs() + "/patchio_controller_shares"])
    for scenario, label in (("right", "correct profile"), ("wrong", "profile wrong by a factor of 4"), ("loads", "changing load of others")):
        report.goal(SIMULATED % label, 95, Spread([100 * found[scenario]["controller"]]))
    report.figure(SIMULATED % "no profile", Spread([100 * found["none"]["controller"]]))
    report.data["simulated"] = found


# ---- N* and NC -----------------------------------------------------------------------------------------------

def probe(storage, seed):
    return run_json([programs() + "/patchio_quick_probe", storage.mount, "--seconds", "30", "--bytes", str(256 << 20),
                      "--seed", str(seed)])


def best_concurrency(report, folder, rounds):
    with tempfile.TemporaryDirectory(dir=folder) as files:
        found = {}
        for concurrency, stream in PROBED.items():
            with emulator.slow_storage(files, latency=2, stream=stream, concurrency=concurrency, contention=0.5) as storage:
                found[concurrency] = [probe(storage, seed) for seed in range(rounds)]
            ratios = Spread(each["best"] / concurrency for each in found[concurrency])
            text = "N* = %d on the emulator: N* of the quick probe / true N*" % concurrency
            report.goal(text + ", minimum", 0.7, Spread([ratios.least]))
            report.at_most(text + ", maximum", 1.4, Spread([ratios.most]))
        report.data["probes"] = {str(n): each for n, each in found.items()}


def others(report, folder, clusters, rounds):
    with emulator.slow_storage(folder, **LOADED) as storage:
        paths = [storage.path(os.path.relpath(path, folder)) for path in clusters]
        for load in (0, 4, 16):
            storage.load(load)
            loads = [run_json([programs() + "/patchio_bench_load"] + paths[:4] + OBSERVER)["load"] for _ in range(rounds)]
            error = Spread(abs(found - load) for found in loads)
            report.at_most("%d requests of others on the emulator: error of the estimated NC" % load, max(2, load / 4), error)


# ---- Automatic -----------------------------------------------------------------------------------------------

def rate(result):
    """Returns MB/s from a known data set to values in memory, for all steps."""
    return len(result["read"]) * result["bytes"] * 1e-6 / sum(result["read"])


def automatic(summary, ranks, steps):
    """Reads in the mode Automatic, without a profile of the storage."""
    with tempfile.TemporaryDirectory() as profiles:
        os.environ["PATCHIO_PROFILE_DIR"] = profiles
        try:
            return read_dump(summary, ranks=ranks, automatic=True, sidecar=True, steps=steps,
                             warm=1.3 * PATCHES * PATCH_MB * 1e-3 / ranks)
        finally:
            del os.environ["PATCHIO_PROFILE_DIR"]


def fixed(summary, ranks, threads, steps, patches=PATCHES):
    return read_dump(summary, ranks=ranks, threads=threads, sidecar=True, steps=steps, patches=patches,
                     warm=1.3 * patches * PATCH_MB * 1e-3 / ranks)


def best_of_others(found, round_):
    """Returns the fixed number with the best median in all other rounds. The best number of the same round would owe part of its
    rate to chance, and no user can choose a number that way."""
    def median(name):
        others = found[name][:round_] + found[name][round_ + 1:]
        return Spread(others or found[name]).median
    return max(found, key=median)


def against_fixed(report, place, text, ways, rounds, before=None):
    """Adds the row Automatic / best fixed number, with the ratio of each round."""
    found = interleave(ways, rounds, before)
    auto = found.pop("automatic")
    best = [best_of_others(found, i) for i in range(rounds)]
    for name in found:
        say("  %s, %-14s %s MB/s" % (place, name, Spread(found[name])))
    say("  %s, %-14s %s MB/s" % (place, "automatic", Spread(auto)))
    names = " or ".join(sorted(set(best)))
    report.goal("%s: Automatic / best fixed (%s)" % (text, names), 0.95,
                Spread(a / found[name][i] for i, (a, name) in enumerate(zip(auto, best))))
    report.data["%s" % text] = dict(found, automatic=auto)


def on_emulator(report, folder, summary, rounds):
    with emulator.slow_storage(folder, **STORAGE) as storage:
        mounted = storage.path(os.path.relpath(summary, folder))
        for ranks in PROCESSES:
            ways = {}
            for total in EMULATED:
                if total >= ranks:
                    # Enough patches for 4 s, and several requests per thread.
                    served = 2.5 * min(total, 64) * (64 / max(total, 64)) ** 0.5
                    patches = min(PATCHES, max(int(4 * served / PATCH_MB), 4 * total))
                    ways["%d in flight" % total] = lambda total=total, patches=patches: rate(
                        fixed(mounted, ranks, total // ranks, 1, patches))
            ways["automatic"] = lambda: rate(automatic(mounted, ranks, STEPS))
            against_fixed(report, "emulator, NP %d" % ranks, "emulator with N* = 64, no profile, NP = %d" % ranks, ways, rounds)


def on_local(report, folder, summary, rounds):
    data = folder_of(summary)
    # A read takes 0.2 s from memory, and little more from disk.
    for place, before, steps, times in (("page cache", None, 10, 1), ("local disk", lambda _: forget(data), 1, 3)):
        remember(data)
        for ranks in (1, 2):
            ways = {"NT = %d" % nt: lambda nt=nt: rate(fixed(summary, ranks, nt, steps)) for nt in LOCAL}
            ways["automatic"] = lambda: rate(automatic(summary, ranks, steps))
            against_fixed(report, "%s, NP %d" % (place, ranks), "%s, no profile, NP = %d" % (place, ranks), ways, times * rounds, before)


# ---- the parameter study -------------------------------------------------------------------------------------

def findings(report, folder):
    """Tests the findings on this disk, with plots. The goal is a clear verdict on each finding."""
    results = []
    place = os.path.join(report.folder, "study")
    shutil.rmtree(place, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder) as files:
        four, seven = "4k,32k,256k,2M", "4k,16k,64k,256k,1M,2M,4M"
        for name, ranks, options in (
                ("np4", 4, ["--blocks", four, "--repetitions", "5", "--budget", "360", "--influence", "0.3", "--features", "4"]),
                ("pointers", 4, ["--functions", "shared,individual-pointer", "--views", "own", "--blocks", seven,
                                 "--repetitions", "5", "--budget", "200", "--features", "0"]),
                ("np1", 1, ["--views", "own", "--blocks", four, "--repetitions", "3", "--budget", "120", "--features", "0"])):
            out = os.path.join(place, name)
            measuring.run([programs() + "/patchio", "probe", files, "--full", "--sizes", "8M,32M", "-o", out] + options,
                          ranks=ranks)
            results.append(os.path.join(out, "result.json"))
    text = measuring.run([programs() + "/patchio", "probe", "findings", "--plot", os.path.join(place, "findings.png")]
                         + results)
    say(text)
    judged = re.findall(r"^\d\. .* (?:confirmed|refuted|confirmed in part)$", text, re.MULTILINE)
    report.goal("findings of the MPI-IO parameter study, confirmed or refuted, with plots", 5, Spread([len(judged)]))
    report.data["findings"] = text.splitlines()


def run(report, folder, rounds):
    """./dev bench tuning"""
    few = min(rounds, 3)
    simulated(report)
    summary = make_dump(folder, "two_level_%d" % PATCHES, ranks=2, patches=PATCHES, size=SIZE)
    data = folder_of(summary)
    read_dump(summary, sidecar=True)  # writes the index file
    if not emulator.is_missing(report, "all rows on the emulator"):
        best_concurrency(report, folder, few)
        others(report, data, [path for path in files_below(data) if "cluster" in path], few)
        on_emulator(report, data, summary, few)
    on_local(report, data, summary, rounds)
    findings(report, folder)

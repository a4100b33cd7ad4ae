"""Compares two builds of PatchIO, such as those before and after a change: runs suites of both in turn, and prints each row's ratio.

usage: compare.py BEFORE AFTER SUITE|times ... [--rounds N] [--data FOLDER] [--out FOLDER]

BEFORE and AFTER are the sources of PatchIO, each with its own build in build/release (./dev build patchio_bench). Each round runs
a suite once with each of them, on the same data. A ratio above 1 means that AFTER is better: faster, or smaller in rows with
an upper limit. Rows without a goal have no better direction; their ratios are AFTER / BEFORE. Writes compare.json.

Most rows of the suites extract and tuning are ratios of PatchIO to ParaView or to fixed numbers of threads, which take most of an
hour. `times` measures PatchIO alone, in a quarter of an hour a round: PatchIO's filters with their images, and reads for which PatchIO
chooses the number of threads."""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

import measuring    # lets emulator be found
import emulator
from suites import extract, tuning


def settings_of(sources):
    """Returns the environment variables that choose a build."""
    build = os.path.join(sources, "build", "release")
    plugins = glob.glob(os.path.join(build, "lib", "paraview-*", "plugins", "PatchIO", "PatchIO.so"))
    return {"PATCHIO_PROGRAMS": os.path.join(build, "bin"), "PATCHIO_PLUGIN": max(plugins, key=os.path.getmtime, default="")}


def row_of(number, goal="<="):
    """Returns a row of `times`. goal: "<=" if a smaller number is better, ">=" if a larger number is."""
    return {"goal": goal, "measured": {"median": number}}


def filter_times(data):
    """Returns rows with the seconds of PatchIO's filters: alone, and with their images in ParaView."""
    times = {}
    for program, names in (("patchio_bench_extract", extract.SLICES), ("patchio_bench_contour", (extract.CONTOUR,))):
        found = measuring.run_json([measuring.programs() + "/" + program, "--rounds", "8"])
        for name in names:
            for way in ("one thread", "all threads"):
                times["%s alone, %s" % (name, way)] = row_of(statistics.median(found[name][way]))
    for label, path, array, _ in extract.data_sets(measuring.Report("times", data), data):
        measuring.remember(os.path.dirname(path))
        # The surfaces of clips and thresholds of large data take VTK minutes.
        solids = extract.SOLIDS if label == "sphere" else ()
        found = measuring.pvbatch("extract_frame.py", path, array, "merged", 2, "PatchIO", *extract.SLICES, extract.SURFACE, extract.CONTOUR, *solids, timeout=6000)
        for name, ways in found.items():
            times["%s: %s and its image" % (label, name)] = row_of(statistics.median(each["filter"] + each["picture"] for each in ways["PatchIO"]))
            times["%s: %s, next image" % (label, name)] = row_of(statistics.median(each["again"] for each in ways["PatchIO"]))
    return times


def automatic_times(data):
    """Returns rows with shares of simulated reads near the best number of threads, and the seconds of reads for which PatchIO chooses
    the number."""
    found = measuring.run_json([measuring.programs() + "/patchio_controller_shares"])
    times = {"share of simulated reads, " + scenario: row_of(found[scenario]["controller"], ">=") for scenario in ("right", "wrong", "loads", "none")}
    summary = measuring.make_dump(data, "two_level_%d" % tuning.PATCHES, ranks=2, patches=tuning.PATCHES, size=tuning.SIZE)
    dump = os.path.dirname(os.path.dirname(summary))
    measuring.remember(dump)
    for ranks in (1, 2):
        times["page cache, NP = %d" % ranks] = row_of(statistics.median(tuning.automatic(summary, ranks, 10)["read"]))
    if not emulator.missing():
        with emulator.slow_storage(dump, **tuning.STORAGE) as storage:
            mounted = storage.path(os.path.relpath(summary, dump))
            for ranks in (1, 4):
                times["emulator with N* = 64, NP = %d" % ranks] = row_of(sum(tuning.automatic(mounted, ranks, 1)["read"]))
    return times


def measure_times(sources, data):
    """Runs `times` once with a build, and returns its rows, measure -> row."""
    os.environ.update(settings_of(sources))
    rows = {**filter_times(data), **automatic_times(data)}
    measuring.say("%s: %s" % (sources, {name: row["measured"]["median"] for name, row in rows.items()}))
    return rows


def measure(sources, suite, data, out):
    """Runs a suite once with a build, and returns its rows, measure -> row."""
    if suite == "times":
        return measure_times(sources, data)
    settings = dict(os.environ, **settings_of(sources))
    command = [sys.executable, os.path.join(sources, "Testing", "Bench", "bench.py"), suite, "--rounds", "1", "--data", data, "--out", out]
    done = subprocess.run(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit("%s ended with %d:\n%s" % (" ".join(command), done.returncode, done.stdout[-4000:]))
    with open(os.path.join(out, suite, "results.json")) as results:
        return {row["measure"]: row for row in json.load(results)["rows"] if row["measured"]}


def compare(suite, before, after, arguments):
    """Returns the rows of a suite, as dictionaries with the ratios of all rounds."""
    found = {}
    for number in range(arguments.rounds):
        sides = [("before", before), ("after", after)]
        # The second run of a round finds the machine as the first has left it, so they take turns.
        measured = {side: measure(sources, suite, arguments.data, os.path.join(arguments.out, side))
                    for side, sources in (sides if number % 2 == 0 else sides[::-1])}
        for name, row in measured["after"].items():
            if name not in measured["before"]:
                continue
            values = [measured[side][name]["measured"]["median"] for side in ("before", "after")]
            ratio = values[1] / values[0] if values[0] else float("nan")
            if row["goal"].startswith("<="):
                ratio = 1 / ratio if ratio else float("nan")
            found.setdefault(name, {"suite": suite, "measure": name, "goal": row["goal"], "ratios": []})["ratios"].append(ratio)
    return list(found.values())


def table(rows):
    lines = ["| suite | measure | after / before: median (minimum to maximum) |", "|---|---|---|"]
    for row in rows:
        ratios = row["ratios"]
        lines.append("| %s | %s%s | %.2f (%.2f to %.2f) |" % (
            row["suite"], row["measure"], "" if row["goal"] else " (no goal)", statistics.median(ratios), min(ratios), max(ratios)))
    return "\n".join(lines)


def main(words=None):
    parser = argparse.ArgumentParser(description="Compares two builds of PatchIO by suites of ./dev bench.")
    parser.add_argument("before", help="sources of PatchIO before a change, built in build/release")
    parser.add_argument("after", help="sources of PatchIO after a change, built in build/release")
    parser.add_argument("suites", nargs="+", metavar="SUITE", help="suites of ./dev bench, or times")
    parser.add_argument("--rounds", type=int, default=3, help="number of runs of each suite with each build (%(default)s)")
    parser.add_argument("--data", default=os.path.join(tempfile.gettempdir(), "patchio_bench"),
                        help="folder for the data, on the disk to measure (%(default)s)")
    parser.add_argument("--out", default=os.path.join(tempfile.gettempdir(), "patchio_compare"), help="folder for the results (%(default)s)")
    arguments = parser.parse_args(words)
    os.makedirs(arguments.data, exist_ok=True)
    os.makedirs(arguments.out, exist_ok=True)
    rows = []
    for suite in arguments.suites:
        found = compare(suite, arguments.before, arguments.after, arguments)
        rows += found
        print(table(found), flush=True)
        with open(os.path.join(arguments.out, "compare.json"), "w") as out:
            json.dump(rows, out, indent=1)


if __name__ == "__main__":
    main()

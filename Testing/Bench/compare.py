"""Compares two builds of PatchIO, such as those before and after a change: runs suites of both in turn, and prints each row's ratio.

usage: compare.py BEFORE AFTER SUITE ... [--rounds N] [--data FOLDER] [--out FOLDER]

BEFORE and AFTER are the sources of PatchIO, each with its own build in build/release (./dev build patchio_bench). Each round runs
a suite once with each of them, on the same data. A ratio above 1 means that AFTER is better: faster, or smaller in rows with
an upper limit. Rows without a goal have no better direction; their ratios are AFTER / BEFORE. Writes compare.json."""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile


def settings_of(sources):
    """Returns the environment variables that choose a build."""
    build = os.path.join(sources, "build", "release")
    plugins = glob.glob(os.path.join(build, "lib", "paraview-*", "plugins", "PatchIO", "PatchIO.so"))
    return {"PATCHIO_PROGRAMS": os.path.join(build, "bin"), "PATCHIO_PLUGIN": max(plugins, key=os.path.getmtime, default="")}


def measure(sources, suite, data, out):
    """Runs a suite once with a build, and returns its rows, measure -> row."""
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
    parser.add_argument("suites", nargs="+", metavar="SUITE", help="suites of ./dev bench")
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

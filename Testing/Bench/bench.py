"""The program behind ./dev bench: makes data, measures on them, prints a table, writes JSON and images.

usage: bench.py [SUITE or GROUP ...] [--check] [--quick] [--rounds N] [--data FOLDER] [--out FOLDER]
"""
import argparse
import importlib
import os
import sys
import tempfile
import time
import traceback

import measuring
from measuring import say

SUITES = ("two-level", "metadata", "container", "output", "write", "limits", "peers", "scale", "at-scale", "stages", "blocks", "end-to-end", "extract", "filters", "ranges",
          "play", "cache", "cancel", "tuning", "steps", "python")
# Groups of suites.
GROUPS = {"frame": ("blocks", "end-to-end", "filters", "play", "cache", "cancel")}


def suites_of(names):
    """Returns the suites that the names of suites and groups mean, each once; without names, all suites."""
    found = [suite for name in names for suite in GROUPS.get(name, (name,))]
    return list(dict.fromkeys(found or SUITES))


def run_suite(name, arguments):
    """Runs a suite. Returns its report, or None after a failure, which is printed at once; the other suites still run."""
    begin = time.monotonic()
    report = measuring.Report(name, arguments.out, arguments.quick)
    try:
        suite = importlib.import_module("suites." + name.replace("-", "_"))
        say("== %s: %s" % (name, " ".join(suite.__doc__.split())))
        suite.run(report, arguments.data, arguments.rounds)
    except Exception:
        traceback.print_exc()
        return None
    report.finish()
    say("%s took %.1f minutes" % (name, (time.monotonic() - begin) / 60))
    return report


def say_goals(reports):
    """Prints the tables of all suites, then the rows that were not measured and the rows that fall short of their goals."""
    say("\n" + "\n\n".join(report.table() for report in reports))
    for report in reports:
        for row in report.not_measured():
            say("%s: %s: %s" % (report.suite, row["measure"], row["text"]))
        for row in report.missed():
            say("MISSED %s: %s: %s, not %s" % (report.suite, row["measure"], row["text"], row["goal"]))


def parse(words):
    names = "suites: %s; groups: %s" % (", ".join(SUITES), "; ".join(
        "%s (%s)" % (group, ", ".join(suites)) for group, suites in GROUPS.items()))
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measures PatchIO and its competitors.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="suites and groups to run, all suites by default. " + names)
    parser.add_argument("--check", action="store_true",
                        help="list the rows that fall short of their goals, and exit with 1 if there are any")
    parser.add_argument("--quick", action="store_true",
                        help="in the suites of frame, omit most rows without a goal; one round")
    parser.add_argument("--rounds", type=int, help="number of interleaved runs (5; with --quick 1)")
    parser.add_argument("--data", default=os.path.join(tempfile.gettempdir(), "patchio_bench"),
                        help="folder for the data, on the disk to measure (%(default)s)")
    parser.add_argument("--out", default=os.path.join(measuring.root, "build", "bench"), help="folder for the results (%(default)s)")
    arguments = parser.parse_args(words)
    unknown = [name for name in arguments.names if name not in SUITES and name not in GROUPS]
    if unknown:
        parser.error("unknown: %s; available are %s" % (", ".join(unknown), names))
    if arguments.rounds is None:
        arguments.rounds = 1 if arguments.quick else 5
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    return arguments


def main(words=None):
    arguments = parse(words)
    os.makedirs(arguments.data, exist_ok=True)
    os.environ.pop("PATCHIO_METADATA_DIR", None)  # index files in the folder of the data, regardless of the user's setting
    reports = {name: run_suite(name, arguments) for name in suites_of(arguments.names)}
    finished = [report for report in reports.values() if report]
    failed = [name for name, report in reports.items() if not report]
    if arguments.check:
        say_goals(finished)
    for name in failed:
        say("FAILED %s, see above" % name)
    return 1 if failed or (arguments.check and any(report.missed() for report in finished)) else 0


if __name__ == "__main__":
    sys.exit(main())

"""What ./dev bench runs: measures on data that it makes, prints a table, leaves JSON and pictures.

usage: bench.py [SUITE ...] [--check] [--rounds N] [--data FOLDER] [--out FOLDER]
"""
import argparse
import importlib
import os
import sys
import tempfile

import measuring
from measuring import say

SUITES = ("two-level", "metadata", "limits", "peers", "scale", "threads", "stages", "frame", "end-to-end", "filters", "tuning",
          "steps", "python", "play")


def run_suite(name, arguments):
    suite = importlib.import_module("suites." + name.replace("-", "_"))
    say("== %s: %s" % (name, " ".join(suite.__doc__.split())))
    report = measuring.Report(name, arguments.out)
    suite.run(report, arguments.data, arguments.rounds)
    report.finish()
    return report


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measures PatchIO and what it competes with.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="%s; all by default" % ", ".join(SUITES))
    parser.add_argument("--check", action="store_true", help="end with exit code 1 when a figure falls short of its goal")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved runs of each way (5)")
    parser.add_argument("--data", default=os.path.join(tempfile.gettempdir(), "patchio_bench"),
                        help="where the data are made, on the disk that is to be measured (%(default)s)")
    parser.add_argument("--out", default=os.path.join(measuring.root, "build", "bench"), help="for results (%(default)s)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.suites if name not in SUITES]
    if unknown:
        parser.error("there is no suite %s; there are %s" % (", ".join(unknown), ", ".join(SUITES)))
    os.makedirs(arguments.data, exist_ok=True)
    os.environ.pop("PATCHIO_METADATA_DIR", None)  # sidecars beside the data, whatever the user has set
    reports = [run_suite(name, arguments) for name in arguments.suites or SUITES]
    if arguments.check:
        say("\n" + "\n\n".join(report.table() for report in reports))
        return 0 if all(report.met() for report in reports) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

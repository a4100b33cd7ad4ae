#!/usr/bin/python3
"""Gives the broken series of make_faults.py to the example program of the Core library: it must end by
itself, with a message where there is an error. Quick, needs no ParaView, and so fit for sanitizers.

usage: core_faults.py --program patchio_read_patch_data FAULTSDIR [FAULT...]
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats"))
from compare_core import MPI_SETTINGS  # noqa: E402

LONGEST = 20
ENDS = {"error": (1,), "ok": (0,), "error_or_right": (0, 1), "anything": (0, 1)}


def summary_of(fault):
    """The program takes a summary, so faults of dumps.visit are none to it."""
    found = glob.glob(os.path.join(os.path.dirname(fault["index"]), "visit_dump.00000", "summary.samrai"))
    return found[0] if found and os.path.exists(fault["index"]) else None


def run(program, summary):
    """Exit status (None: had to be killed) and all that was said."""
    with tempfile.TemporaryDirectory() as scratch:
        try:
            result = subprocess.run([program, summary, "4", os.path.join(scratch, "out")], timeout=LONGEST,
                                    env={**os.environ, **MPI_SETTINGS}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired as late:
            return None, (late.stdout or b"").decode(errors="replace")
    return result.returncode, result.stdout.decode(errors="replace")


def check(program, fault):
    """What is wrong, or None."""
    summary = summary_of(fault)
    if summary is None or fault["outcome"] == "ok":
        return None
    status, text = run(program, summary)
    if status not in ENDS[fault["outcome"]] or "Sanitizer" in text or "runtime error" in text:
        return "exit status %s instead of %s: %s" % (status, ENDS[fault["outcome"]], text.strip()[-1500:])
    if fault["outcome"] == "error":
        silent = [p for p in fault["messages"] if not re.search(p, text)]
        return "no message matches %s: %s" % (silent, text.strip()[-500:]) if silent else None
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("folder")
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    with open(os.path.join(arguments.folder, "faults.json")) as f:
        table = [fault for fault in json.load(f) if not arguments.faults or fault["name"] in arguments.faults]
    failed = 0
    for fault in table:
        problem = check(arguments.program, fault)
        if problem:
            failed += 1
            print("FAILED %s: %s" % (fault["name"], problem), flush=True)
    print("core: %d broken dumps, %d failed" % (len(table), failed))
    return 1 if failed or not table else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
"""Reads the damaged series of make_faults.py with the example program of Core: it must end by itself, with a message if there is an
error. Some series are also read on 2 ranks, files without permission by an unprivileged user, and a valid series while the disk is full. The
test is quick and does not need ParaView, so it is suitable for sanitizers.

usage: core_faults.py --program patchio_read_patch_data FAULTSDIR [FAULT...]
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats"))
from compare_core import MPI_SETTINGS  # noqa: E402

LONGEST = 60
ENDS = {"error": (1,), "ok": (0,), "error_or_right": (0, 1), "anything": (0, 1)}
NOBODY = 65534
# One fault of each kind: on both ranks or on one of them, before or during reading.
ON_TWO_RANKS = ["cluster_missing", "cluster_truncated_in_data", "cluster_empty", "cluster_not_hdf5", "dataset_too_short",
                "dataset_missing", "dataset_compressed", "patch_group_missing", "summary_truncated", "summary_empty",
                "patches_most", "map_level_million", "box_of_billion_cells"]


def summary_of(fault):
    """Returns the summary of a fault's series; None for faults of dumps.visit, which the program does not read."""
    found = glob.glob(os.path.join(os.path.dirname(fault["index"]), "visit_dump.00000", "summary.samrai"))
    return found[0] if found and os.path.exists(fault["index"]) else None


def run(program, summary, ranks=1, user=None, full=None):
    """Returns the exit status (124, 137: the program was killed) and the output. `full`: ending of the file that has no space."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["timeout", "--kill-after=5", str(LONGEST)]
        command += ["mpirun", "-np", str(ranks), "--oversubscribe"] if ranks > 1 else []
        command += [program, summary, "4", os.path.join(scratch, "out")]
        if full:
            os.symlink("/dev/full", os.path.join(scratch, "out.rank0." + full))
        # MPI jobs that share a session folder may remove it while another job uses it.
        environment, switch = {**os.environ, **MPI_SETTINGS, "TMPDIR": scratch}, {}
        if user is not None:
            os.chown(scratch, user, user)
            environment["HOME"] = scratch
            switch = dict(user=user, group=user, extra_groups=[], cwd=scratch)
        result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **switch)
    return result.returncode, result.stdout.decode(errors="replace")


def problem_in(status, text, wanted, messages):
    """Returns the problem with a result, or None."""
    if status not in wanted or "Sanitizer" in text or "runtime error" in text:
        return "exit status %s instead of %s: %s" % (status, wanted, text.strip()[-1500:])
    if "HDF5-DIAG" in text:
        return "the HDF5 library itself speaks: %s" % text.strip()[-1500:]
    silent = [p for p in messages if not re.search(p, text)]
    return "no message matches %s: %s" % (silent, text.strip()[-500:]) if silent else None


def check(program, fault, ranks=1):
    summary = summary_of(fault)
    if summary is None or fault["outcome"] == "ok":
        return None
    messages = fault["messages"] if fault["outcome"] == "error" else []
    return problem_in(*run(program, summary, ranks), ENDS[fault["outcome"]], messages)


def check_without_permission(program, good, name):
    """Tests the valid series with mode 000 for the file `name`, with a program that does not run as root."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = shutil.copytree(good, os.path.join(folder, "series"))
        for path, _, files in os.walk(copy):
            os.chmod(path, 0o755)
            for file in files:
                os.chmod(os.path.join(path, file), 0o644)
        # Other users may not have access to the build tree.
        program = shutil.copy(program, folder)
        os.chmod(program, 0o755)
        summary = os.path.join(copy, "visit_dump.00000", "summary.samrai")
        user = NOBODY if os.geteuid() == 0 else None
        problem = problem_in(*run(program, summary, user=user), (0,), [])
        if problem:
            return "cannot even read the sound series: " + problem
        os.chmod(os.path.join(os.path.dirname(summary), name), 0)
        return problem_in(*run(program, summary, user=user), (1,), [re.escape(name), "Permission denied"])


def check_full_disk(program, good):
    """Tests that files that cannot be written are an error."""
    summary = os.path.join(good, "visit_dump.00000", "summary.samrai")
    problems = [problem_in(*run(program, summary, full=ending), (1,), ["Cannot write the files of"]) for ending in ("raw", "json")]
    return next(filter(None, problems), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("folder")
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    with open(os.path.join(arguments.folder, "faults.json")) as f:
        table = [fault for fault in json.load(f) if not arguments.faults or fault["name"] in arguments.faults]
    results = [(fault["name"], check(arguments.program, fault)) for fault in table]
    two = [fault for fault in table if fault["name"] in ON_TWO_RANKS]
    results += [(fault["name"] + " on 2 ranks", check(arguments.program, fault, 2)) for fault in two]
    if not arguments.faults:
        results.append(("names of faults for 2 ranks", None if len(two) == len(ON_TWO_RANKS) else "some do not exist"))
        for name in ("summary.samrai", "processor_cluster.00001.samrai"):
            problem = check_without_permission(arguments.program, os.path.join(arguments.folder, "good"), name)
            results.append((name + " without permission", problem))
        results.append(("full disk", check_full_disk(arguments.program, os.path.join(arguments.folder, "good"))))
    failed = [(name, problem) for name, problem in results if problem]
    for name, problem in failed:
        print("FAILED %s: %s" % (name, problem), flush=True)
    print("core: %d broken dumps, %d of them on 2 ranks, %d runs failed" % (len(table), len(two), len(failed)))
    return 1 if failed or not table else 0


if __name__ == "__main__":
    sys.exit(main())

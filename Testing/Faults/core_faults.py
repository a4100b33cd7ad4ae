#!/usr/bin/python3
"""Reads damaged series of make_faults.py with the example program of Core on 2 ranks, files without permission as an unprivileged
user, and a valid series while the disk is full. The program must end by itself, with a message. faults.py tests all damaged series.

usage: core_faults.py --program patchio_read_patch_data FAULTSDIR
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

LONGEST = 60
NOBODY = 65534
# One fault of each kind: on both ranks or on one of them, before or during reading.
ON_TWO_RANKS = ["cluster_missing", "cluster_truncated_in_data", "cluster_not_hdf5", "dataset_too_short", "patch_group_missing",
                "summary_truncated", "summary_empty", "patches_most", "map_level_million", "box_of_billion_cells"]
SUMMARY = os.path.join("visit_dump.00000", "summary.samrai")


def check(where, program, summary, end, messages, ranks=1, user=None, full=None):
    """Runs the program. end: the exit status (124, 137: the program was killed). full: ending of the file that has no space."""
    with tempfile.TemporaryDirectory() as scratch:
        command = ["timeout", "--kill-after=5", str(LONGEST)]
        command += ["mpirun", "-np", str(ranks), "--oversubscribe"] if ranks > 1 else []
        command += [program, summary, "4", os.path.join(scratch, "out")]
        if full:
            os.symlink("/dev/full", os.path.join(scratch, "out.rank0." + full))
        # MPI jobs that share a session folder may remove it while another job uses it. mpirun does not wait after a rank has failed.
        environment, switch = {**os.environ, "TMPDIR": scratch, "OMPI_MCA_odls_base_sigkill_timeout": "0"}, {}
        if user is not None:
            os.chown(scratch, user, user)
            environment["HOME"] = scratch
            switch = dict(user=user, group=user, extra_groups=[], cwd=scratch)
        result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **switch)
    text = result.stdout.decode(errors="replace")
    expect(result.returncode == end and "Sanitizer" not in text and "runtime error" not in text, "%s: exit status %d instead of %d: %s", where,
           result.returncode, end, text[-1500:])
    expect("HDF5-DIAG" not in text, "%s: a message of the HDF5 library itself: %s", where, text[-1500:])
    for message in messages:
        expect(re.search(message, text), "%s: no message matches '%s': %s", where, message, text[-500:])


def check_without_permission(program, good, name):
    """Tests the valid series with mode 000 for the file `name`, with a program that does not run as root."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(good, os.path.join(folder, "series"))
        program = shutil.copy(program, folder)    # other users may not have access to the build tree
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        summary = os.path.join(copy, SUMMARY)
        user = NOBODY if os.geteuid() == 0 else None
        check("the valid series", program, summary, 0, [], user=user)
        os.chmod(os.path.join(os.path.dirname(summary), name), 0)
        check(name + " without permission", program, summary, 1, [re.escape(name), "Permission denied"], user=user)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    with open(os.path.join(arguments.folder, "faults.json")) as f:
        table = {fault["name"]: fault for fault in json.load(f)}
    for name in ON_TWO_RANKS:
        summary = os.path.join(os.path.dirname(table[name]["index"]), SUMMARY)
        check(name, arguments.program, summary, 1, table[name]["messages"], ranks=2)
    good = os.path.join(arguments.folder, "good")
    for name in ("summary.samrai", "processor_cluster.00001.samrai"):
        check_without_permission(arguments.program, good, name)
    for ending in ("raw", "json"):
        check("full disk, " + ending, arguments.program, os.path.join(good, SUMMARY), 1, ["Cannot write the files of"], full=ending)
    print("core: %d broken dumps on 2 ranks, %d faults" % (len(ON_TWO_RANKS), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

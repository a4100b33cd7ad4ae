#!/usr/bin/python3
"""Runs the example program of Core and compares its values with those of an independent reader, bit by bit.

usage: compare_core.py --program patchio_read_patch_data [--format SAMRAI] [--np "1 2 4"] [--threads "1 4"] PATH...

PATH is a file that describes a dump (summary.samrai) or a folder, which stands for every dump below it. FORMAT is the folder beside
this file with the reader: reference.py has the pattern of such files, DESCRIBING, and read_truth(). If it has none, the reference
is the package patchio on one rank, which Testing/Python/values.py tests (PYTHONPATH). Each dump is read with each number of ranks
and threads, and also with one variable only. The exit status is 1 after a difference, or if nothing was compared.
"""
import argparse
import glob
import importlib
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

TIMEOUT = 120


class Difference(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Difference(message)


def run_program(program, ranks, path, threads, prefix, variables):
    command = [program, path, str(threads), prefix] + variables
    if ranks > 1:
        command = ["mpirun", "-np", str(ranks), "--oversubscribe"] + command
    # MPI jobs that share a session folder may remove it while another job uses it.
    with tempfile.TemporaryDirectory() as sessions:
        result = subprocess.run(command, env={**os.environ, "TMPDIR": sessions}, timeout=TIMEOUT,
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expect(result.returncode == 0, "exit status %d: %s" % (result.returncode, result.stdout.strip()[-500:]))


def load_ranks(prefix, ranks):
    for rank in range(ranks):
        with open("%s.rank%d.json" % (prefix, rank)) as f:
            report = json.load(f)
        with open("%s.rank%d.raw" % (prefix, rank), "rb") as f:
            yield report, f.read()


def check_rank(report, rank, ranks, threads):
    expect(report["error"] == 0, "rank %d: error %s" % (rank, report["message"]))
    expect((report["rank"], report["size"]) == (rank, ranks), "rank %d says it is %d of %d" % (rank, report["rank"], report["size"]))
    expect(report["threads"] == threads, "rank %d used %d threads, asked for %d" % (rank, report["threads"], threads))
    expect(report["peak_reads_in_flight"] <= threads, "rank %d had %d reads in flight with %d threads"
           % (rank, report["peak_reads_in_flight"], threads))
    expect(report["peak_reads_in_flight"] >= 1 or report["bytes_read"] == 0, "rank %d read %d bytes with no read in flight"
           % (rank, report["bytes_read"]))
    read = sum(v["status"] == "read" for patch in report["patches"] for v in patch["variables"])
    expect(report["tasks"] == read, "rank %d carried out %d tasks for %d arrays" % (rank, report["tasks"], read))


def truth_of(reference, path):
    """Returns the facts about patches and variables, and the arrays "p<patch>/<variable>" as [tuple, component]."""
    if hasattr(reference, "read_truth"):
        return reference.read_truth(path, blanking=False)
    import patchio
    step = patchio.open(path, metadata="off")[0]
    arrays = {}
    for name, values in step.read().items():
        for patch, array in values.items():
            components = array.shape[-1] if array.ndim > step.dimension else 1
            arrays["p%d/%s" % (patch, name)] = np.ascontiguousarray(array).reshape(-1, components)
    return {"variables": [{"name": name} for name in step.variables], "patches": step.patches}, arrays


def check_variable(found, raw, want, where):
    if want is None:
        expect(found["status"] == "absent", "%s: %s, but the file does not hold it" % (where, found["status"]))
        return 0
    expect(found["status"] == "read", "%s: %s instead of read" % (where, found["status"]))
    shape = (found["tuples"], found["components"])
    expect(found["type"] == want.dtype.name and shape == want.shape, "%s: %s %s instead of %s %s"
           % (where, found["type"], shape, want.dtype.name, want.shape))
    data = raw[found["offset"]:found["offset"] + want.nbytes]
    expect(len(data) == want.nbytes, "%s: reaches past the end of the raw file" % where)
    # Compares raw bits, so that NaN and -0 are distinguished.
    bits = "u%d" % want.dtype.itemsize
    differ = np.flatnonzero(np.frombuffer(data, bits) != np.ascontiguousarray(want).view(bits).ravel())
    expect(not len(differ), "%s: %d of %d values differ, first at %d" % (where, len(differ), want.size, differ[0] if len(differ) else -1))
    return want.nbytes


def check_run(meta, arrays, selected, prefix, ranks, threads):
    owner, compared = {}, 0
    names = sorted(selected or [v["name"] for v in meta["variables"]])
    for rank, (report, raw) in enumerate(load_ranks(prefix, ranks)):
        check_rank(report, rank, ranks, threads)
        for patch in report["patches"]:
            p = patch["id"]
            expect(p not in owner, "patch %d is on ranks %s and %d" % (p, owner.get(p), rank))
            owner[p] = rank
            # Lists of points have their positions as another variable; the package returns them as positions.
            found = {v["name"]: v for v in patch["variables"] if v["name"] in names or not v["name"].endswith(" positions")}
            expect(sorted(found) == names, "patch %d: variables %s instead of %s" % (p, sorted(found), names))
            for name in names:
                compared += check_variable(found[name], raw, arrays.get("p%d/%s" % (p, name)), "patch %d %s" % (p, name))
    expect(sorted(owner) == list(range(len(meta["patches"]))), "patches %s of %d" % (sorted(owner), len(meta["patches"])))
    return compared


def summaries(paths, name):
    out = []
    for path in paths:
        found = glob.glob(path + "/**/" + name, recursive=True) if os.path.isdir(path) else [path]
        if not found:
            sys.exit("no %s below %s" % (name, path))
        out += sorted(found)
    return out


def check_dump(program, reference, path, all_ranks, all_threads):
    """Returns the number of failed runs, the number of runs, and the bytes compared."""
    meta, arrays = truth_of(reference, path)
    last = [meta["variables"][-1]["name"]] if meta["variables"] else []
    runs = [(n, t, []) for n in all_ranks for t in all_threads] + ([(all_ranks[0], all_threads[0], last)] if last else [])
    failed, compared = 0, 0
    for ranks, threads, selected in runs:
        with tempfile.TemporaryDirectory() as scratch:
            prefix = os.path.join(scratch, "out")
            try:
                run_program(program, ranks, path, threads, prefix, selected)
                compared += check_run(meta, arrays, selected, prefix, ranks, threads)
            except (Difference, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as fault:
                failed += 1
                print("FAILED %s, %d ranks, %d threads%s: %s: %s" % (path, ranks, threads,
                      ", only %s" % selected if selected else "", type(fault).__name__, fault), flush=True)
    return failed, len(runs), compared


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--format", default="SAMRAI")
    parser.add_argument("--np", default="1 4", help="numbers of ranks")
    parser.add_argument("--threads", default="4", help="numbers of threads")
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    ranks, threads = ([int(n) for n in text.split()] for text in (arguments.np, arguments.threads))
    missing = [p for p in arguments.paths if not os.path.exists(p)]
    if missing:
        sys.exit("%s does not exist" % missing[0])
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), arguments.format))
    reference = importlib.import_module("reference")
    results = [check_dump(arguments.program, reference, path, ranks, threads)
               for path in summaries(arguments.paths, reference.DESCRIBING)]
    failed, runs, compared = (sum(column) for column in zip(*results))
    print("core: %d dumps, %d runs, %d bytes compared, %d runs failed" % (len(results), runs, compared, failed))
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

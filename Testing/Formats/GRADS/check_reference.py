#!/usr/bin/python3
"""Compares the reference values with those that GrADS itself reads.

usage: check_reference.py TRUTHFOLDER (prints "skipped:" if GrADS is not installed)
"""
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from truth import load_all  # noqa: E402

# GrADS does not support files of these kinds, or shows their data on another grid.
BEYOND = ("lambert", "members", "no_undef", "one_row", "cross_section", "one_column")


def plain_name(ctl):
    return os.path.basename(os.path.dirname(ctl))


def read_by_grads(truth, folder):
    """Returns all values that GrADS writes, in the order step, variable, level; -1e30 for undefined values."""
    out = os.path.join(folder, "out.bin")
    script = os.path.join(folder, "run.gs")
    keys = [(t, name) for t in range(len(truth.hours)) for name in truth.arrays[t]]
    lines = ["'open %s'" % truth.ctl, "'set x 1 %d'" % truth.x.size, "'set y 1 %d'" % truth.y.size,
             "'set gxout fwrite'", "'set undef -1e30'", "'set fwrite -le -st %s'" % out]
    for step, name in keys:
        lines.append("'set t %d'" % (truth.steps[step] + 1))
        member = ""
        variable = name
        for e, m in enumerate(members_of(truth)):
            if name.endswith("_" + m):
                variable, member = name[:-len(m) - 1], "'set e %d'" % (e + 1)
        lines += [member] if member else []
        for level in range(len(truth.arrays[step][name])):
            lines += ["'set z %d'" % (level + 1), "'d %s'" % variable]
    lines += ["'disable fwrite'", "'quit'"]
    with open(script, "w") as f:
        f.write("\n".join(lines) + "\n")
    done = subprocess.run(["grads", "-blc", "run %s" % script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                   stderr=subprocess.STDOUT, timeout=100, cwd=folder, check=True)
    if not os.path.exists(out):
        raise RuntimeError("%s: GrADS says %s" % (truth.ctl, done.stdout.decode(errors="replace")[-600:]))
    return keys, np.fromfile(out, "<f4")


def members_of(truth):
    for line in open(truth.ctl):
        words = line.split()
        if words and words[0].lower() == "edef":
            return words[3:]
    return []


def check(truth, folder):
    keys, values = read_by_grads(truth, folder)
    want = np.concatenate([truth.arrays[t][n].astype("f4").ravel() for t, n in keys])
    if values.shape != want.shape:
        return "%d values instead of %d" % (values.size, want.size)
    values = np.where(np.abs(values + 1e30) < 1e25, np.float32(np.nan), values)
    undef_of_ints = np.isnan(values) & ~np.isnan(want)
    if any(a.dtype.kind != "f" for a in truth.arrays[0].values()):
        values = np.where(undef_of_ints, want, values)
    differ = ~((values == want) | (np.isnan(values) & np.isnan(want)))
    return "%d of %d values differ" % (differ.sum(), want.size) if differ.any() else ""


def main():
    if not shutil.which("grads"):
        print("skipped: no GrADS")
        return 77
    failed = compared = 0
    for truth in load_all(sys.argv[1]):
        if plain_name(truth.ctl) in BEYOND:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                fault = check(truth, folder)
            except RuntimeError as error:
                fault = str(error)
        compared += 1
        if fault:
            failed += 1
            print("FAILED %s: %s" % (truth.ctl, fault))
    print("%d data sets compared with GrADS, %d faults" % (compared, failed))
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

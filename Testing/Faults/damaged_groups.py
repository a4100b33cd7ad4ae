#!/usr/bin/python3
"""Damages the signatures of the groups of an HDF5 file, one at a time. `verify` must find a fault, unless the data are complete
without the group.

usage: damaged_groups.py PATCHIO DATA      (DATA: the project's own folder)
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "KWave"))
import make_cases as kwave  # noqa: E402

program, data = sys.argv[1:3]
faults = []


def verify(path):
    done = subprocess.run([program, "verify", path], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.strip()


def check(opened, damaged, least):
    code, sound = verify(opened)
    if code != 0:
        return faults.append("%s: %s" % (opened, sound))
    with open(damaged, "rb") as file:
        whole = file.read()
    found = 0
    for match in re.finditer(b"TREE|SNOD|HEAP", whole):
        with open(damaged, "r+b") as file:
            file.seek(match.start() + 1)
            file.write(bytes([whole[match.start() + 1] ^ 1]))
        code, text = verify(opened)
        found += code == 1
        if code not in (0, 1) or code == 0 and text != sound:
            faults.append("%s, %s at %d: exit code %d, %s, not %s" % (damaged, match.group(), match.start(), code, text, sound))
        with open(damaged, "r+b") as file:
            file.write(whole)
    if found < least:
        faults.append("%s: %d faults found, fewer than %d" % (damaged, found, least))


with tempfile.TemporaryDirectory() as folder:
    with kwave.start(folder + "/k.h5") as file:
        kwave.cuboids(file)
    check(folder + "/k.h5", folder + "/k.h5", 6)
    shutil.copytree(os.path.join(data, "linadv_3d"), folder + "/s")
    check(folder + "/s/visit_dump.00016/summary.samrai", folder + "/s/visit_dump.00016/summary.samrai", 6)
    subprocess.run([program, "export", folder + "/s/dumps.visit", folder + "/files", "--steps", "16"], check=True, stdout=subprocess.DEVNULL)
    check(folder + "/files/step.000016.hdf", folder + "/files/step.000016.hdf", 20)
print("\n".join(["FAILED: " + fault for fault in faults] or ["passed"]))
sys.exit(1 if faults else 0)

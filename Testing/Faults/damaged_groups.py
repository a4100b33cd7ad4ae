#!/usr/bin/python3
"""Groups of HDF5 files of which a signature is wrong, each in turn: `verify` finds a fault, or the data are complete without that group.

usage: damaged_groups.py PATCHIO DATA      (DATA: the project's own folder)
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

program, data = sys.argv[1:3]
faults = []


def verify(path):
    done = subprocess.run([program, "verify", path], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.strip()


def write_kwave(path):
    with h5py.File(path, "w") as file:
        for name, text in {"created_by": "kspaceFirstOrder-OMP v1.3", "file_type": "output", "major_version": "1", "minor_version": "2"}.items():
            file.attrs[name] = np.bytes_(text)
        for name, value in dict(Nx=8, Ny=8, Nz=8, Nt=3, t_index=3, sensor_mask_type=1).items():
            file[name] = np.full((1, 1, 1), value, np.uint64)
        for name in ("dt", "dx", "dy", "dz"):
            file[name] = np.full((1, 1, 1), 0.5, np.float32)
        file["sensor_mask_corners"] = np.array([2, 2, 2, 5, 5, 5], np.uint64).reshape(1, 1, 6)
        for name in ("p", "ux"):
            file[name + "/1"] = np.random.default_rng(1).random((3, 4, 4, 4)).astype(np.float32)


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
    write_kwave(folder + "/k.h5")
    check(folder + "/k.h5", folder + "/k.h5", 6)
    shutil.copytree(os.path.join(data, "linadv_3d"), folder + "/s")
    check(folder + "/s/visit_dump.00016/summary.samrai", folder + "/s/visit_dump.00016/summary.samrai", 6)
    subprocess.run([program, "export", folder + "/s/dumps.visit", folder + "/files", "--steps", "16"], check=True, stdout=subprocess.DEVNULL)
    check(folder + "/files/step.000016.hdf", folder + "/files/step.000016.hdf", 20)
print("\n".join(["FAILED: " + fault for fault in faults] or ["passed"]))
sys.exit(1 if faults else 0)

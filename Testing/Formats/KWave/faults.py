#!/usr/bin/python3
"""Breaks k-Wave files and has them opened and read: a program must end by itself, with 0 or 1, and where a file cannot be
right it must say so.

usage: faults.py --info patchio --read patchio_read_patch_data [--mutations N] CASESDIR

CASESDIR comes from make_cases.py. Files are cut off, bytes of theirs are changed at random (seeded), and values are made to
contradict each other.
"""
import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

LONGEST = 20
MOST_MEMORY = 4 << 30
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader",
       "HWLOC_COMPONENTS": "-gl", "HWLOC_HIDE_ERRORS": "2", "PMIX_MCA_gds": "hash", "OMPI_MCA_ess_singleton_isolated": "1"}
failed = []


def run(command, scratch):
    """Exit status and what was said."""
    done = subprocess.run(["timeout", "--kill-after=5", str(LONGEST)] + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **MPI, "TMPDIR": scratch, "PATCHIO_METADATA_DIR": scratch},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY)))
    return done.returncode, done.stdout.decode(errors="replace")


def check(programs, path, what, wanted=None):
    """wanted: part of the message of one of the programs; None: anything but a crash will do."""
    info, read = programs
    with tempfile.TemporaryDirectory() as scratch:
        said = ""
        for command in ([info, "info", path], [read, path, "2", os.path.join(scratch, "out")]):
            status, text = run(command, scratch)
            said += text
            if status not in (0, 1) or "Sanitizer" in text:
                failed.append(what)
                print("FAILED: %s: %s ended with %d: %s" % (what, os.path.basename(command[0]), status, text[-400:]), flush=True)
        if "HDF5-DIAG" in said:
            failed.append(what)
            print("FAILED: %s: the HDF5 library itself speaks: %s" % (what, said[-600:]), flush=True)
        if wanted is not None and wanted not in said:
            failed.append(what)
            print("FAILED: %s: nobody says '%s': %s" % (what, wanted, said[-600:]), flush=True)


def contradictions(programs, cases, folder):
    """Files whose parts are sound and do not go together."""
    def edited(name, source, edit):
        path = os.path.join(folder, name + ".h5")
        shutil.copy(os.path.join(cases, source), path)
        with h5py.File(path, "r+") as f:
            edit(f)
        return path

    def replace(f, name, values):
        attributes = dict(f[name].attrs)
        del f[name]
        f[name] = values
        f[name].attrs.update(attributes)

    def set_to(name, value):
        return lambda f: f[name].__setitem__((0, 0, 0), value)

    table = [
        ("huge_domain", "index/out.h5", set_to("Nx", 2 ** 60), "'Nx'"),
        ("domain_of_nothing", "index/out.h5", set_to("Ny", 0), "'Ny'"),
        ("no_spacing", "index/out.h5", set_to("dx", np.nan), "'dx'"),
        ("unknown_mask", "index/out.h5", set_to("sensor_mask_type", 7), "sensor_mask_type"),
        ("no_grid", "index/out.h5", lambda f: f.__delitem__("Nz"), None),
        ("cuboid_beyond", "corners/out.h5", lambda f: f["sensor_mask_corners"].__setitem__((0, 0, 3), 99), "cuboid 1"),
        ("cuboid_reversed", "corners/out.h5", lambda f: f["sensor_mask_corners"].__setitem__((0, 1, 0), 9), "cuboid 2"),
        ("cuboid_of_other_size", "corners/out.h5", lambda f: f["sensor_mask_corners"].__setitem__((0, 1, 3), 6), "another one"),
        ("a_cuboid_less", "corners/out.h5", lambda f: f["p"].__delitem__("3"), None),
        ("a_point_less", "index/out.h5", lambda f: replace(f, "sensor_mask_index", np.ones((1, 1, 5), "u8")), "another one"),
        ("texts", "index/out.h5", lambda f: replace(f, "p", np.full((1, 6, 70), b"text")), None),
        ("halves", "index/out.h5", lambda f: replace(f, "p_max", np.zeros((1, 1, 70), "f2")), None),
        ("more_done_than_wanted", "index/out.h5", set_to("t_index", 2 ** 62), None),
        ("nothing_done", "index/out.h5", set_to("t_index", 0), None),
        ("steps_that_differ", "index/out.h5", lambda f: replace(f, "ux", np.zeros((1, 4, f["p"].shape[2]), "f4")), "'ux'"),
    ]
    for name, source, edit, wanted in table:
        check(programs, edited(name, source, edit), name, wanted)

    def endless(f):
        del f["p"]
        f["p"] = h5py.SoftLink("/p")
        f.create_group("loop")["1"] = h5py.SoftLink("/loop")
        f["loop"]["self"] = f["loop"]
        f["outside"] = h5py.ExternalLink("/etc/passwd", "/x")
    check(programs, edited("circles", "index/out.h5", endless), "circles")

    def vast(f):
        f.create_dataset("p_min_all", (8, 10, 12), "f4", chunks=(1, 1, 1))
        del f["p"]
        f.create_dataset("p", (1, 900000, f["p_max"].shape[2]), "f4", chunks=(1, 1, 1))
        replace(f, "Nt", np.full((1, 1, 1), 900000, "u8"))
        replace(f, "t_index", np.full((1, 1, 1), 900000, "u8"))
    check(programs, edited("vast", "index/out.h5", vast), "vast")


def truncations(programs, cases, folder):
    for source in ("index/out.h5", "corners/out.h5", "input/in.h5"):
        whole = open(os.path.join(cases, source), "rb").read()
        for share in (0.999, 0.7, 0.3, 0.05):
            path = os.path.join(folder, "cut.h5")
            with open(path, "wb") as file:
                file.write(whole[:int(len(whole) * share)])
            check(programs, path, "%s cut to %g" % (source, share), "truncated")
    open(os.path.join(folder, "empty.h5"), "wb").close()
    check(programs, os.path.join(folder, "empty.h5"), "empty", "complete HDF5 file")


def mutations(programs, cases, folder, count):
    dice = random.Random(7)
    for n in range(count):
        source = dice.choice(["index/out.h5", "corners_deflate/out.h5", "index_contiguous/out.h5"])
        data = bytearray(open(os.path.join(cases, source), "rb").read())
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(min(len(data), dice.choice([2000, 20000, len(data)])))] = dice.randrange(256)
        path = os.path.join(folder, "mutant.h5")
        with open(path, "wb") as file:
            file.write(data)
        check(programs, path, "mutation %d of %s" % (n, source))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--info", required=True)
    parser.add_argument("--read", required=True)
    parser.add_argument("--mutations", type=int, default=40)
    parser.add_argument("cases")
    arguments = parser.parse_args()
    programs = (arguments.info, arguments.read)
    with tempfile.TemporaryDirectory() as folder:
        contradictions(programs, arguments.cases, folder)
        truncations(programs, arguments.cases, folder)
        mutations(programs, arguments.cases, folder, arguments.mutations)
    print("k-Wave: %d faults of faults" % len(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

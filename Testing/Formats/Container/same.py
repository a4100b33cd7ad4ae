#!/usr/bin/python3
"""Converts series into containers, reads these with stranger.py and with the package patchio, and compares both with the series.

usage: same.py --program PATCHIO [--np N] [--option OPTION]... --format FORMAT FOLDER...     (PYTHONPATH: the package patchio)

FOLDER holds the cases of a format, or real data. Testing/Python/values.py tests the package's reads of the series.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
import patchio
import stranger

PATTERNS = {"SAMRAI": ["dumps.visit"], "AMReX": ["Header"], "KWave": ["out*.h5"], "GRADS": ["*.ctl"], "VTKHDF": ["*.vtkhdf", "*.hdf"]}


def series_below(folder, patterns):
    """Returns one path per series; for a series of plotfiles, the first one."""
    found, folders = [], set()
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(folder, "**", pattern), recursive=True)):
            place = os.path.dirname(os.path.dirname(path)) if pattern == "Header" else path
            if place not in folders and "Level_" not in path:
                folders.add(place)
                found.append(path)
    return found


def run(ranks, *command):
    if ranks > 1:
        command = ("mpirun", "-np", str(ranks), "--oversubscribe") + command
    with tempfile.TemporaryDirectory() as sessions:
        return subprocess.run(command, env={**os.environ, "TMPDIR": sessions}, timeout=120, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def alike(found, want, where):
    assert found.dtype == want.dtype and found.size == want.size, "%s: %s %s instead of %s %s" % (where, found.dtype, found.shape, want.dtype, want.shape)
    same = found.reshape(-1).view("u1") == want.reshape(-1).view("u1")
    assert same.all() or np.array_equal(found.reshape(-1), want.reshape(-1), equal_nan=want.dtype.kind == "f"), where + ": other values"


def compare(source, container, step):
    """Returns the number of values compared in one step."""
    first = np.concatenate([[0], np.cumsum([sum(level["patches"]) for level in container.json["levels"]])])
    places = container.json["variables"][container.json["coordinates"]]["name"] if "coordinates" in container.json else None
    geometry = ("points", "connectivity", "offsets", "types")
    names = [variable["name"] for variable in container.json["variables"]
             if not variable.get("positions") and variable["name"] != places and variable.get("role") not in geometry]
    assert names == list(source.variables) == list(step.variables), "%s instead of %s" % (names, list(source.variables))
    assert source.time == step.time, "time %r instead of %r" % (step.time, source.time)
    names += list(source.mesh)
    assert list(source.mesh) == list(step.mesh)
    arrays, again = {name: source.read(name) for name in names}, {name: step.read(name) for name in names}
    assert np.array_equal(source.patches["lower"], step.patches["lower"]) and np.array_equal(source.patches["upper"], step.patches["upper"])
    count, seen = 0, 0
    for row, variable, values in container.values():
        if variable["name"] not in names:
            continue
        info = container.rows[row]
        patch = int(first[info["level"]]) + info["number"]
        where = "'%s' on patch %d" % (variable["name"], patch)
        assert len(container.meshes) or np.array_equal(info["lower"][:source.dimension], source.patches["lower"][patch][:source.dimension]), where
        alike(values, arrays[variable["name"]][patch], where)
        alike(again[variable["name"]][patch], arrays[variable["name"]][patch], where + ", read by PatchIO")
        count, seen = count + values.size, seen + 1
    assert seen == sum(len(of) for of in arrays.values()), "%d arrays instead of %d" % (seen, sum(len(of) for of in arrays.values()))
    return count


def check(arguments, path, folder):
    container = os.path.join(folder, "out")    # a container is recognized by its log, so the name need not end with .pio
    subprocess.run(["rm", "-rf", container], check=True)
    result = run(arguments.np, arguments.program, "convert", path, container, *arguments.option)
    try:
        source = patchio.open(path, metadata="off")
        steps = [(step, step.read()) and step for step in source]
    except patchio.Error as error:
        assert result.returncode == 1, "was converted, though it cannot be read: %s" % error
        return 0
    # The existing steps are still converted.
    assert result.returncode == ("is incomplete" in result.stdout), result.stdout[-500:]
    found = stranger.read(container)
    assert len(found) == len(steps), "%d steps instead of %d" % (len(found), len(steps))
    verify = run(1, arguments.program, "verify", container)
    assert verify.returncode == 0, verify.stdout
    info = run(1, arguments.program, "info", container)
    assert info.returncode == 0 and "format: Container" in info.stdout, info.stdout
    before = sorted(os.listdir(folder) + os.listdir(container))
    index = run(1, arguments.program, "index", container)
    assert index.returncode == 0 and sorted(os.listdir(folder) + os.listdir(container)) == before, index.stdout
    return sum(compare(*each) for each in zip(steps, found, patchio.open(container, metadata="off")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--np", type=int, default=1)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--format", choices=PATTERNS, required=True)
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    faults = compared = series = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = os.path.join(folder, "sessions")    # a separate session folder of MPI
        os.makedirs(os.environ["TMPDIR"])
        for path in [path for each in arguments.folders for path in series_below(each, PATTERNS[arguments.format])]:
            series += 1
            try:
                compared += check(arguments, path, folder)
            except AssertionError as error:
                faults += 1
                print("FAILED %s: %s" % (path, error), flush=True)
    print("%d series, %d values compared, %d faults" % (series, compared, faults))
    return 1 if faults or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

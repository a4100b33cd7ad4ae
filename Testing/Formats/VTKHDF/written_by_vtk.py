#!/usr/bin/python3
"""Tests VTKHDF files that the newest VTK writes with its vtkHDFWriter (vtk_files.py), and AMR like that of simulations. PatchIO
must read the same data as VTK's own vtkHDFReader, or report that the file is not supported.

usage: written_by_vtk.py --info patchio FOLDER     (PYTHONPATH: the package patchio)

$PATCHIO_VTK_PYTHON is a Python with the package vtk 9.5 or newer; the default is this Python. Without VTK, the test is skipped.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np

from make_cases import LEVELS_2D, LEVELS_3D, respell, write_amr, write_amr_steps
from written_by_h5py import expect, failed, opened, prepare, said_by

HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = ("", "Vertices/", "Lines/", "Polygons/", "Strips/")
compared = [0]


def same(where, found, wanted):
    """Compares values, regardless of their shapes and types."""
    found, wanted = np.asarray(found).ravel(), np.asarray(wanted).ravel()
    expect(found.shape == wanted.shape and np.array_equal(found, wanted), "%s: %s instead of %s", where, found[:8], wanted[:8])
    compared[0] += wanted.size


def python_with_vtk():
    """Returns a Python with vtkHDFWriter, or None."""
    python = os.environ.get("PATCHIO_VTK_PYTHON", sys.executable)
    code = "import vtk; vtk.vtkHDFWriter().SetUseExternalPartitions"
    found = shutil.which(python) and subprocess.run([python, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120).returncode == 0
    return python if found else None


def write_simulations(folder):
    """Writes OverlappingAMR with h5py, in the versions 2.0 to 3.0 with both spellings of the lists, like PHARE and VTK's
    specification."""
    cells, nodes = {"a": ("CellData", 1, "f8"), "v": ("CellData", 3, "f4")}, {"data": ("PointData", 3, "f8")}
    other = [LEVELS_3D[0], ([[0, 7, 0, 7, 0, 7]], 0.5)]
    paths = []
    for arrays, kind in ((cells, "cells"), (nodes, "nodes")):
        paths.append(os.path.join(folder, "amr_%s.vtkhdf" % kind))
        write_amr(paths[-1], LEVELS_3D, arrays)
        for version in ((2, 0), (2, 1), (2, 2), (2, 3), (3, 0)):
            for spelling in ("Offset", "Offsets"):
                paths.append(os.path.join(folder, "amr_%s_%d_%d_%s.vtkhdf" % ((kind,) + version + (spelling,))))
                write_amr_steps(paths[-1], [LEVELS_3D[:2], other, other], arrays, [0.5, 0.75, 1.0])
                respell(paths[-1], version, spelling)
    paths.append(os.path.join(folder, "amr_flat.vtkhdf"))
    write_amr(paths[-1], LEVELS_2D, cells, axes="XY")
    return paths


def check_unsupported(name, path, pattern):
    wanted = "%s: not supported: %s" % (re.escape(path), pattern)
    for command in ("info", "verify"):
        status, text = said_by(command, path)
        expect(status == 1 and re.search(wanted, text) and "damaged" not in text, "%s: %s: %d, %s", name, command, status, text)
    series, said = opened(path)
    expect(series is None and re.match(wanted, said), "%s: %s", name, said)


def twin_of(name):
    """Returns the file with the same values that VTK can read: VTK reads "Offset" in version 2.2 and "Offsets" in others."""
    spelling = "Offset" if "_2_2_" in name else "Offsets"
    return re.sub(r"_Offsets?\b", "_" + spelling, name) if name.startswith("given_amr") else name


def grids_of_step(truth, step):
    """Returns the arrays of each grid, by the number of the grid."""
    grids = {}
    for key in truth.files:
        of_step, number, name = key.split("/", 2)
        if int(of_step) == step:
            grids.setdefault(int(number), {})[name] = truth[key]
    return [grids[number] for number in sorted(grids)]


def check_data(where, step, patches, grid):
    """Compares the arrays of cells and points of a grid with those of the patches together."""
    wanted = {name.split("/", 1)[1]: values for name, values in grid.items() if name.startswith(("cell/", "point/")) and values.size and "vtkGhostType" not in name}
    data = [name for name in step.variables if name != "vtkGhostType"]
    for name in data:
        # Arrays without any values are also listed.
        found = step.read(name, patches=patches)
        if name in wanted or any(values.size for values in found.values()):
            same("%s: '%s'" % (where, name), np.concatenate([found[p].ravel() for p in sorted(found)] or [[]]), wanted.get(name, []))
    expect(set(wanted) <= set(data), "%s: arrays %s instead of %s", where, data, list(wanted))


def check_images(where, step, grids):
    """Compares images, and the boxes of AMR."""
    expect(len(step.patches) == len(grids), "%s: %d patches instead of %d", where, len(step.patches), len(grids))
    for number, grid in enumerate(grids[:len(step.patches)]):
        patch, extent = step.patches[number], grid["extent"].reshape(3, 2)
        same("%s: cells of patch %d" % (where, number), patch["upper"] - patch["lower"] + 1, np.maximum(extent[:, 1] - extent[:, 0], 1))
        spacing = np.array(step.levels[patch["level"]]["spacing"])
        found, wanted = step.origin + patch["lower"] * spacing, grid["origin"] + extent[:, 0] * grid["spacing"]
        expect(np.allclose(found, wanted), "%s: patch %d begins at %s instead of %s", where, number, found, wanted)
        expect(np.allclose(spacing, grid["spacing"]), "%s: spacing %s instead of %s", where, spacing, grid["spacing"])
        check_data("%s patch %d" % (where, number), step, [number], grid)


def check_meshes(where, step, grids):
    """Compares meshes. Each partition is a grid, or one grid has all partitions, one after another."""
    expect(len(grids) == len(step.patches), "%s: %d partitions instead of %d", where, len(step.patches), len(grids))
    for number, grid in enumerate(grids[:len(step.patches)]):
        own = {name: step.read(name, patches=[number]).get(number) for name in step.mesh}
        wanted = {"Points": grid["points"], "Types": grid.get("types")}
        for group in LISTS:
            for name in ("Connectivity", "Offsets"):
                wanted[group + name] = grid.get(group + name.lower())
        for name, values in wanted.items():
            found = own.get(name)
            if values is not None or (found is not None and found.size):
                same("%s partition %d: %s" % (where, number, name), [] if found is None else found, [] if values is None else values)
        check_data("%s partition %d" % (where, number), step, [number], grid)


def check_file(told, truth):
    name, path = told["name"], told["path"]
    series, said = opened(path)
    expect(not said, "%s: %s", name, said)
    if series is None:
        return
    expect(np.allclose(list(series.times), told["times"]), "%s: times %s instead of %s", name, series.times, told["times"])
    for number in range(min(len(series), len(told["times"]))):
        grids = grids_of_step(truth, number)
        if not grids:
            expect(not any(values.size for name in series[number].variables for values in series[number].read(name).values()), "%s has values", name)
            continue
        check = check_images if "extent" in grids[0] else check_meshes
        check("%s step %d" % (name, number), series[number], grids)
    status, text = said_by("verify", path)
    expect(status == 0 and text.startswith("intact: "), "%s: verify: %s", name, text)


def main():
    folder = prepare(__doc__)
    python = python_with_vtk()
    if not python:
        print("skipped: no Python with VTK's vtkHDFWriter; pip install vtk, and set PATCHIO_VTK_PYTHON")
        sys.exit(77)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([python, "-B", os.path.join(HERE, "vtk_files.py"), folder, *write_simulations(folder)], check=True, timeout=600, env=clean)
    with open(folder + "/truth/truth.json") as file:
        table = json.load(file)
    for told in table:
        if told["unsupported"]:
            check_unsupported(told["name"], told["path"], told["unsupported"])
        else:
            with np.load(folder + "/truth/%s.npz" % twin_of(told["name"])) as truth:
                check_file(told, truth)
    expect(compared[0] > 50000, "only %d values were compared", compared[0])
    if failed:
        raise SystemExit("%d faults" % len(failed))
    print("written_by_vtk: %d values of %d files are those of vtkHDFReader" % (compared[0], len(table)))


if __name__ == "__main__":
    main()

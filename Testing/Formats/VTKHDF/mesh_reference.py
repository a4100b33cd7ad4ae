#!/usr/bin/python3
"""The reference reader for meshes in VTKHDF files, with h5py only, according to the description of the format.

usage: mesh_reference.py OUTDIR FOLDER     (writes OUTDIR/meshes.json, and an npz for each step of each mesh below FOLDER)
"""
import glob
import json
import os
import shutil
import sys

import h5py
import numpy as np

LISTS = ("Vertices/", "Lines/", "Polygons/", "Strips/")


def is_mesh(root):
    return root.attrs["Type"] in (b"UnstructuredGrid", b"PolyData")


def is_mesh_file(path):
    with h5py.File(path, "r") as file:
        return is_mesh(file["VTKHDF"])


def entry(root, name, step, default=0):
    """Returns a row of a list in Steps."""
    return np.asarray(root["Steps/" + name][step]).ravel() if "Steps/" + name in root else np.array([default])


def offsets_of(root, group, cells, connectivity, first_cell, first_part):
    """Returns where the offsets of the partitions begin. The file does not have the number of earlier partitions, but the offsets
    of each partition run from 0 to its end."""
    stored = root[group + "Offsets"][()].astype(np.int64)
    for before in [first_part] + list(range(first_part)):
        parts, place = [], first_cell + before
        for count in cells:
            parts.append(stored[place:place + count + 1])
            place += count + 1
        if all(len(p) == n + 1 and p[0] == 0 and p[-1] == c for p, n, c in zip(parts, cells, connectivity)):
            return parts
    raise ValueError("no place for the offsets of '%s'" % group)


def partitions_of(root, step):
    """Returns [{name: values}] of each partition, with the mesh's own arrays by the names of their data sets, and the names of data
    arrays."""
    steps = "Steps" in root
    first, count = (int(entry(root, "PartOffsets", step)[0]), int(entry(root, "NumberOfParts", step)[0])) if steps else (0, len(root["NumberOfPoints"]))
    rows = slice(first, first + count)
    points = root["NumberOfPoints"][rows].astype(int)
    groups = [""] if root.attrs["Type"] == b"UnstructuredGrid" else [g for g in LISTS if g[:-1] in root]
    place = {"PointData": int(entry(root, "PointOffsets", step)[0]), "CellData": int(entry(root, "CellOffsets", step).sum())}
    parts = [{} for _ in range(count)]
    all_cells = np.zeros(count, int)
    for number, group in enumerate(groups):
        row = number if group == "" else LISTS.index(group)
        cells, ids = (root[group + n][rows].astype(int) for n in ("NumberOfCells", "NumberOfConnectivityIds"))
        cell, node = (int(entry(root, n, step)[row]) if steps else 0 for n in ("CellOffsets", "ConnectivityIdOffsets"))
        for part, offsets in zip(parts, offsets_of(root, group, cells, ids, cell, first)):
            part[group + "Offsets"] = offsets
        for part, c, i in zip(parts, cells, ids):
            part[group + "Connectivity"] = root[group + "Connectivity"][node:node + i]
            node += i
            if group == "":
                part["Types"] = root["Types"][cell:cell + c]
                cell += c
        all_cells += cells
    data = {}
    for folder in ("PointData", "CellData"):
        for name in root.get(folder, {}):
            listed = "Steps/%sOffsets/%s" % (folder, name) in root
            data[name] = folder, int(entry(root, "%sOffsets/%s" % (folder, name), step)[0]) if listed else place[folder]
    at = place["PointData"]
    for number, part in enumerate(parts):
        part["Points"] = root["Points"][at:at + points[number]]
        at += points[number]
    for name, (folder, begin) in data.items():
        for part, length in zip(parts, points if folder == "PointData" else all_cells):
            part[name] = root[folder + "/" + name][begin:begin + length]
            begin += length
    return parts, {name: folder for name, (folder, _) in data.items()}


def times_of(path):
    with h5py.File(path, "r") as file:
        root = file["VTKHDF"]
        return list(root["Steps/Values"][:root["Steps"].attrs["NSteps"]]) if "Steps" in root else [0.0]


def read(path, step):
    with h5py.File(path, "r") as file:
        return partitions_of(file["VTKHDF"], step)


def read_truth(path, step=0):
    """Returns the values for compare_core.py. Arrays without entries are absent, and so are offsets without cells."""
    parts, _ = read(path, step)
    arrays = {}
    for number, part in enumerate(parts):
        for name, values in part.items():
            stored = values.astype(values.dtype.newbyteorder("="))
            if name.endswith("Offsets"):
                with h5py.File(path, "r") as file:
                    stored = stored.astype(file["VTKHDF/" + name].dtype.newbyteorder("="))
            if len(stored) > (1 if name.endswith("Offsets") else 0):
                arrays["p%d/%s" % (number, name)] = np.ascontiguousarray(stored).reshape(len(stored), -1)
    return {"variables": [{"name": name} for name in parts[0]], "patches": parts}, arrays


def main():
    out, folder = sys.argv[1:]
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    table = []
    for path in sorted(glob.glob(os.path.abspath(folder) + "/**/*.*hdf", recursive=True)):
        steps, times = [], times_of(path)
        for step in range(len(times)):
            parts, data = read(path, step)
            steps.append("%d_%d.npz" % (len(table), step))
            arrays = {"p%d/%s" % (number, name): values for number, part in enumerate(parts) for name, values in part.items()}
            np.savez(os.path.join(out, steps[-1]), **arrays)
        table.append({"path": path, "times": times, "steps": steps, "data": data})
    with open(os.path.join(out, "meshes.json"), "w") as file:
        json.dump(table, file)


if __name__ == "__main__":
    main()

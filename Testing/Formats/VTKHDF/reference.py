#!/usr/bin/python3
"""The reference reader for VTKHDF files, with h5py only.

usage: reference.py --series OUTDIR PATH...     (writes OUTDIR/series.json and one npz per step; PATH is a folder, which
                                                 stands for every VTKHDF file below it, each a series)

The npz are those of SAMRAI/reference.py, and expected.py turns them into what ParaView must show.
"""
import glob
import os
import re
import sys

import h5py
import numpy as np

import mesh_reference

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import truth_files  # noqa: E402
from hidden import covered  # noqa: E402

DESCRIBING = "*.*hdf"


def entry(root, name, step):
    """Returns the entry of a list in Steps for a step; None if there is no such list. Lists may have two names."""
    for path in ("Steps/" + name, "Steps/" + name.replace("Offsets", "Offset").replace("Boxes", "Box")):
        if path in root:
            return int(root[path][step])
    return None


def levels_of(root, step):
    """Returns (group, boxes, spacing) of each level, the number of dimensions, and the axes with one layer of nodes."""
    if root.attrs["Type"] == b"ImageData":
        extent = np.array(root.attrs["WholeExtent"]).reshape(3, 2)
        flat = extent[:, 0] == extent[:, 1]
        upper = np.where(flat, extent[:, 0], extent[:, 1] - 1)
        return [(root, [(extent[:, 0], upper)], root.attrs["Spacing"])], 2 if flat[2] else 3, flat
    levels = []
    while "Level%d" % len(levels) in root:
        group = root["Level%d" % len(levels)]
        boxes = group["AMRBox"][:].astype(np.int64)
        if "Steps" in root:
            first = entry(root, "Level%d/AMRBoxOffsets" % len(levels), step)
            boxes = boxes[first:first + entry(root, "Level%d/NumberOfAMRBoxes" % len(levels), step)]
        levels.append((group, [(box[::2], box[1::2]) for box in boxes], group.attrs["Spacing"]))
    dim = len(root.attrs["GridDescription"])
    return levels, dim, np.array([axis >= dim for axis in range(3)])


def begin_of(root, group, place, name, step):
    """Returns where the step's values of an AMR array begin."""
    level = os.path.basename(group.name)
    return entry(root, "%s/%sOffsets/%s" % (level, place, name), step) or 0


def slice_of(root, place, name, step):
    """Returns an image's array at the step."""
    values = root[place + "/" + name]
    if "Steps" not in root:
        return values[()]
    listed = entry(root, "%sOffsets/%s" % (place, name), step)
    return values[step if listed is None else listed]


def read_truth(path, blanking=True, step=0):
    """Reads a step of a file. Returns the metadata and the arrays for the npz."""
    with h5py.File(path, "r") as file:
        root = file["VTKHDF"]
        if mesh_reference.is_mesh(root):
            return mesh_reference.read_truth(path)
        levels, dim, flat = levels_of(root, step)
        arrays, patches, variables, ratio = {}, [], {}, np.ones(3, np.int64)
        for number, (group, boxes, spacing) in enumerate(levels):
            data = {}
            for place in ("CellData", "PointData"):
                for name in group.get(place, {}):
                    image = group == root
                    values = slice_of(root, place, name, step) if image else group[place + "/" + name][()]
                    if image:  # with or without its flat axes
                        (lower, upper), = boxes
                        components = values.size // int((upper - lower + 1 + ((place == "PointData") & ~flat)).prod())
                    else:
                        components = values.shape[1] if values.ndim > 1 else 1
                    variables[place, name] = components
                    begin = 0 if image else begin_of(root, group, place, name, step)
                    data[place, name] = values.reshape(-1, components), np.full(1, begin, np.int64)
            if number + 1 < len(levels):
                ratio = np.rint(spacing / levels[number + 1][2]).astype(np.int64)
                ratio[dim:] = 1
            for box, (lower, upper) in enumerate(boxes):
                for (place, name), (values, taken) in data.items():
                    count = int((upper - lower + 1 + ((place == "PointData") & ~flat)).prod())
                    part = values[taken[0]:taken[0] + count]
                    taken += count
                    arrays["p%d/%s" % (len(patches), name)] = np.ascontiguousarray(part.astype(part.dtype.newbyteorder("=")))
                if blanking:
                    arrays["b%d" % len(patches)] = covered(boxes, levels[number + 1][1] if number + 1 < len(levels) else [], ratio, box)
                patches.append({"level": number, "number": box, "owner": 0, "lower": lower.tolist(), "upper": upper.tolist()})
        time = float(root["FieldData/TimeValue"][0]) if "FieldData/TimeValue" in root else 0.0
        digits = re.search(r"(\d+)\.[^.]*$", os.path.basename(path))
        number = int(digits.group(1)) if digits else 0
        if "Steps" in root:
            number, time = step, float(root["Steps/Values"][step])
        listed = [{"name": name, "components": c, "cell": place == "CellData", "ghosts": [0, 0, 0], "kind": "variable"}
                  for (place, name), c in variables.items()]
        return {"path": path, "dim": dim, "deformed": False, "time": time, "step": number,
                "level_sizes": [len(boxes) for _, boxes, _ in levels], "spacing": [list(map(float, s)) for _, _, s in levels],
                "origin": list(map(float, root.attrs["Origin"])), "variables": listed, "patches": patches}, arrays


def series_below(path):
    for file in sorted(glob.glob(path + "/**/*.*hdf", recursive=True)):
        # These suites support only z as a flat axis. written_by_h5py.py and written_by_vtk.py test other flat axes.
        if not mesh_reference.is_mesh_file(file) and not re.search("/(flat|kept)_(steps|xz|yz|x|y|z|none)/", file):
            steps = range(len(mesh_reference.times_of(file)))
            yield file, ((file, *read_truth(file, step=step)) for step in steps), {file}


if __name__ == "__main__":
    truth_files.main(__doc__, series_below)

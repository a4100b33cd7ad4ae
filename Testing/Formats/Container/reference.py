#!/usr/bin/python3
"""The reference reader for containers of refined boxes, based on stranger.py.

usage: reference.py --series OUTDIR PATH...     (writes OUTDIR/series.json and one npz per step; PATH is a folder, which
                                                 stands for every container below it)

The npz are those of SAMRAI/reference.py, and expected.py turns them into what ParaView must show.
"""
import glob
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import stranger  # noqa: E402
import truth_files  # noqa: E402
from hidden import covered  # noqa: E402

DESCRIBING = "step.??????.hdf"


def read_truth(path, blanking=True):
    """Reads a step, given by its first file. Returns the metadata and the arrays for the npz."""
    folder, name = os.path.split(os.path.abspath(path))
    return truth_of(next(step for step in stranger.read(folder) if step.json["files"][0] == name), blanking)


def truth_of(step, blanking=True):
    levels, dim = step.json["levels"], step.json["dimension"]
    order = sorted(range(len(step.rows)), key=lambda row: (step.rows[row]["level"], step.rows[row]["number"]))
    place = {row: patch for patch, row in enumerate(order)}
    arrays = {"p%d/%s" % (place[row], variable["name"]): values.reshape(-1, values.shape[-1]) for row, variable, values in step.values()}
    boxes = [[(step.rows[row]["lower"].astype(np.int64), step.rows[row]["upper"].astype(np.int64)) for row in order if step.rows[row]["level"] == level]
             for level in range(len(levels) + 1)]
    patches = []
    for level in range(len(levels)):
        files = [step.rows[row]["file"] for row in order if step.rows[row]["level"] == level]
        for number, (lower, upper) in enumerate(boxes[level]):
            if blanking:
                ratio = np.array(levels[level + 1]["ratio"]) if level + 1 < len(levels) else np.ones(3, np.int64)
                arrays["b%d" % len(patches)] = covered(boxes[level], boxes[level + 1], ratio, number)
            patches.append({"level": level, "number": number, "owner": files[number], "lower": lower.tolist(), "upper": upper.tolist()})
    variables = [{"name": v["name"], "components": v["components"], "cell": v["centering"] == "cell", "ghosts": [0, 0, 0], "kind": "variable"}
                 for v in step.json["variables"]]
    return {"path": step.folder, "dim": dim, "deformed": False, "time": step.time, "step": step.step,
            "level_sizes": [sum(level["patches"]) for level in levels], "spacing": [level["spacing"] for level in levels],
            "origin": step.json["origin"], "variables": variables, "patches": patches}, arrays


def series_below(path):
    for folder in sorted(glob.glob(path + "/**/*.pio", recursive=True)):
        steps = {os.path.join(folder, step.json["files"][0]): step for step in stranger.read(folder)}
        yield folder, ((path, *truth_of(step)) for path, step in steps.items()), steps


if __name__ == "__main__":
    truth_files.main(__doc__, series_below)

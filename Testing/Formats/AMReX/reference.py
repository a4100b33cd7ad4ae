#!/usr/bin/python3
"""The reference reader for plotfiles, with numpy only.

usage: reference.py --series OUTDIR PATH...     (writes OUTDIR/series.json and one npz per step; PATH is a folder, which
                                                 stands for every plotfile below it)

The npz are those of SAMRAI/reference.py, and expected.py turns them into what ParaView must show.
"""
import glob
import os
import re
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import truth_files  # noqa: E402
from hidden import covered  # noqa: E402

NUMBER = r"-?\d+"
DESCRIBING = "*plt*/Header"    # particles also have a Header


def three(values, fill):
    values = list(values)
    return values + [fill] * (3 - len(values))


def boxes_in(text, dim):
    """Returns (lower, upper, centring) of each "((l) (u) (c))" in a text."""
    numbers = np.array([int(n) for n in re.findall(NUMBER, text)]).reshape(-1, 3, dim)
    return numbers[:, 0], numbers[:, 1], numbers[:, 2]


def dtype_of(real):
    """Returns the numpy type of a description like "((8, (64 ...)),(8, (8 7 ...)))"."""
    lists = [[int(n) for n in part.split()] for part in re.findall(r"\(([\d ]+)\)", real)]
    bits, order = lists
    return np.dtype("%sf%d" % (">" if order[0] == 1 else "<", bits[0] // 8))


class Plotfile:
    """The contents of Header and Cell_H."""

    def __init__(self, header):
        self.folder = os.path.dirname(header)
        with open(header) as file:
            lines = file.read().split("\n")
        count = int(lines[1])
        self.names = [n.strip() for n in lines[2:2 + count]]
        rest = lines[2 + count:]
        self.dim, self.time, finest = int(rest[0]), float(rest[1]), int(rest[2])
        self.corner = np.array([float(x) for x in rest[3].split()])
        self.domains = boxes_in(rest[6], self.dim)
        self.step = int(rest[7].split()[0])
        self.dx = [[float(x) for x in line.split()] for line in rest[8:9 + finest]]
        first = rest[8 + finest + 1 + 4:]     # coordinates, boundary, level, step; then the corners of the first box
        self.first_corner = np.array([float(line.split()[0]) for line in first[:self.dim]])
        self.levels = [self.read_level(level) for level in range(finest + 1)]
        self.ratios = [np.array([1, 1, 1])]
        for level in range(1, finest + 1):
            self.ratios.append(np.array(three(np.rint(np.divide(self.dx[level - 1], self.dx[level])).astype(int), 1)))

    def read_level(self, level):
        with open(os.path.join(self.folder, "Level_%d" % level, "Cell_H")) as file:
            lines = file.read().split("\n")
        version, components = int(lines[0]), int(lines[2])
        assert components == len(self.names)
        ghosts = [int(n) for n in re.findall(NUMBER, lines[3])]
        count = int(re.findall(NUMBER, lines[4])[0])
        lower, upper, centring = boxes_in(" ".join(lines[5:5 + count]), self.dim)
        places = [line.split()[1:] for line in lines if line.startswith("FabOnDisk:")]
        assert len(places) == count
        return {"version": version, "ghosts": ghosts * (self.dim if len(ghosts) == 1 else 1), "lower": lower, "upper": upper - centring,
                "nodal": bool(centring.any()), "places": places, "real": lines[-2] if version > 1 else None}

    def fab(self, level, number):
        """Returns (components, values), including ghosts."""
        about = self.levels[level]
        name, offset = about["places"][number]
        shape = [int(n) for n in about["upper"][number] - about["lower"][number] + 1 + about["nodal"] + 2 * np.array(about["ghosts"])]
        with open(os.path.join(self.folder, "Level_%d" % level, name), "rb") as file:
            file.seek(int(offset))
            real = about["real"]
            if real is None:
                line = file.readline().decode()
                real = line[4:line.index(")))") + 3]
                lower, upper, _ = boxes_in(line[len(real) + 4:line.rindex(")")], self.dim)
                assert list(upper[0] - lower[0] + 1) == shape and int(line.split()[-1]) == len(self.names)
            values = np.frombuffer(file.read(len(self.names) * int(np.prod(shape)) * dtype_of(real).itemsize), dtype_of(real))
        return values.reshape(len(self.names), -1).astype(values.dtype.newbyteorder("="))


def read_truth(header, blanking=True):
    """Reads a plotfile. Returns the metadata and the arrays for the npz."""
    plotfile = Plotfile(header)
    arrays, patches = {}, []
    boxes = [[(np.array(three(lower, 0)), np.array(three(upper, 0))) for lower, upper in zip(about["lower"], about["upper"])] for about in plotfile.levels]
    for level, about in enumerate(plotfile.levels):
        finer = boxes[level + 1] if level + 1 < len(boxes) else []
        ratio = plotfile.ratios[level + 1] if finer else np.ones(3, int)
        for number in range(len(about["places"])):
            values = plotfile.fab(level, number)
            for name, component in zip(plotfile.names, values):
                arrays["p%d/%s" % (len(patches), name)] = np.ascontiguousarray(component).reshape(-1, 1)
            if blanking:
                arrays["b%d" % len(patches)] = covered(boxes[level], finer, ratio, number)
            patches.append({"level": level, "number": number, "owner": 0, "lower": [int(i) for i in three(about["lower"][number], 0)],
                            "upper": [int(i) for i in three(about["upper"][number], 0)]})
    first = plotfile.levels[0]
    variables = [{"name": n, "components": 1, "cell": not first["nodal"], "ghosts": three(first["ghosts"], 0), "kind": "variable"}
                 for n in plotfile.names]
    origin = plotfile.first_corner - first["lower"][0] * np.array(plotfile.dx[0])
    return {"path": header, "dim": plotfile.dim, "deformed": False, "time": plotfile.time, "step": plotfile.step,
            "level_sizes": [len(level["places"]) for level in plotfile.levels], "spacing": [three(dx, 1.0) for dx in plotfile.dx],
            "origin": three(origin.tolist(), 0.0), "variables": variables, "patches": patches}, arrays


def series_below(path):
    """Returns the plotfiles below a path, grouped by series. One plotfile is opened by its folder, and also by its Header."""
    found = {}
    for header in sorted(glob.glob(path + "/**/Header", recursive=True)):
        with open(header) as file:
            if re.match(r"\w+-V\d", file.readline()):
                found.setdefault(re.sub(r"\d+$", "", os.path.dirname(header)), []).append(header)
    for number, headers in enumerate(found.values()):
        first = headers[0]
        headers.sort(key=lambda header: Plotfile(header).step)
        yield os.path.dirname(first) if number % 2 else first, ((h, *read_truth(h)) for h in headers), {first}


if __name__ == "__main__":
    truth_files.main(__doc__, series_below)

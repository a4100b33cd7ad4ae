#!/usr/bin/python3
"""Writes two series of the same values: the distance from the middle, on cells of two levels.

usage: make_sphere.py OUTDIR

OUTDIR/patches has many patches on each level, OUTDIR/whole one.
"""
import os
import sys

# The cuts between the boxes of each level, axis by axis.
CUTS = [([0, 5, 9, 16], [0, 8, 16], [0, 6, 12, 16]), ([8, 12, 18, 32], [0, 10, 18, 24], [4, 16, 22, 28])]
RATIO = 2
# The bounds of each level (lower, upper), as places.
BOUNDS = [tuple(tuple(axis[end] / RATIO ** level for axis in axes) for end in (0, -1)) for level, axes in enumerate(CUTS)]
MIDDLE = (8.3, 7.9, 8.1)


def main(outdir):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "SAMRAI"))
    from dump_writer import Dump, Level, Variable, write_series
    from make_cases import boxes_3d
    distance = Variable("distance", lambda x, patch: sum((x[d] - MIDDLE[d]) ** 2 for d in range(3)) ** 0.5)
    for name in ("patches", "whole"):
        coarse, fine = (boxes_3d(*[axis if name == "patches" else [axis[0], axis[-1]] for axis in axes]) for axes in CUTS)
        write_series(os.path.join(outdir, name), [Dump([Level(coarse), Level(fine, (RATIO,) * 3)], [distance])])


if __name__ == "__main__":
    main(sys.argv[1])

#!/usr/bin/python3
"""Compares the values that reference.py reads with the formula of the cases.

usage: check_reference.py FOLDER
"""
import glob
import re
import sys

import numpy as np

from plotfile_writer import fab_values
from reference import read_truth


def main():
    headers = sorted(glob.glob(sys.argv[1] + "/**/Header", recursive=True))
    seeds = {header: seed for seed, header in enumerate(sorted((h for h in headers if "/series/" in h), key=lambda h: int(re.findall(r"\d+", h)[-1])))}
    compared = 0
    for header in headers:
        meta, arrays = read_truth(header)
        for p, patch in enumerate(meta["patches"]):
            for component, variable in enumerate(meta["variables"]):
                found = arrays["p%d/%s" % (p, variable["name"])]
                dim = meta["dim"]
                want = fab_values(patch["level"], component + 1, patch["lower"][:dim], patch["upper"][:dim], variable["ghosts"][:dim],
                                  not variable["cell"], found.dtype, seeds.get(header, 0))[component]
                if not np.array_equal(found.ravel(), want.ravel()):
                    sys.exit("FAILED: %s patch %d '%s' differs from the formula" % (header, p, variable["name"]))
                compared += found.size
    print("reference: %d plotfiles, %d values" % (len(headers), compared))
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())

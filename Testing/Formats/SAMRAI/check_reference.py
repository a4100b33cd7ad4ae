#!/usr/bin/python3
"""Compares the reference reader with the formulas of make_cases.py and with a few masks determined by hand.

usage: check_reference.py CASESDIR        exit status 1 on a difference
"""
import os
import sys

import numpy as np

import make_cases
from dump_writer import Variable, dump_directory
from reference import read_truth
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from expectations import expect, failed  # noqa: E402


def same(a, b):
    return a.shape == b.shape and a.astype("<f4").tobytes() == b.astype("<f4").tobytes()


def material_functions(dump):
    m = dump.materials
    if m is None:
        return {}
    out = {name + " fraction": f for name, f in m.fractions.items()}
    for material, species in ({} if m.sparse else m.species).items():
        out.update({"%s in %s" % (s, material): f for s, f in species.items()})
    return out


def check_dump(case, dump, directory):
    meta, arrays = read_truth(os.path.join(directory, "summary.samrai"))
    wanted = {v.name: v for v in dump.variables}
    for name, function in material_functions(dump).items():
        wanted[name] = Variable(name, function, ghosts=dump.materials.ghosts, ghost_offset=0.0)
    expect({v["name"] for v in meta["variables"]} == set(wanted), "%s: names" % case)
    expect(dump.mapping or np.allclose(meta["origin"][:dump.dim],
        [dump.origin[d] - dump.dx[d] * dump.first_index[d] for d in range(dump.dim)]), "%s: origin" % case)
    for p in dump.patches:
        for name, v in wanted.items():
            found = arrays.get("p%d/%s" % (p.gpn, name))
            with np.errstate(all="ignore"):
                good = same(found, dump.sample(p, v)) if v.where(p) and found is not None else v.where(p) == (found is not None)
            expect(good, "%s step %d patch %d %s: values differ from the formula" % (case, dump.step, p.gpn, name))


def check_mask(directory, patch, rows):
    """Checks the covered cells. rows: one text per row of cells, lowest y last, as on paper; '#' is covered."""
    _, arrays = read_truth(os.path.join(directory, "visit_dump.00000", "summary.samrai"))
    found = arrays["b%d" % patch].reshape(len(rows), len(rows[0]))[::-1]
    drawn = ["".join("#" if c else "." for c in row) for row in found]
    expect(drawn == rows, "%s patch %d: covered cells\n  %s, by hand\n  %s" % (directory, patch, drawn, rows))


def main(root):
    for case, make in make_cases.CASES.items():
        for dump in make():
            check_dump(case, dump, os.path.join(root, case, dump_directory(dump.step)))
    # Fine boxes (3,2)-(9,9) and (10,0)-(17,11), ratio 4. Coarse cell (2,1) is fine 8..11 x 4..7: covered by both
    # together. Cell (1,1): by the first alone. Row 0: the first starts at y = 2. Row 2: it ends at y = 9.
    unaligned = os.path.join(root, "unaligned")
    check_mask(unaligned, 0, ["...#..", ".###..", "...#.."])
    print("reference: %d faults" % len(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

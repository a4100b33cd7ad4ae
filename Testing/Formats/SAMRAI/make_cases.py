#!/usr/bin/python3
"""Writes small synthetic SAMRAI dump series with analytic values, one directory per case.

usage: make_cases.py OUTDIR

Each case has a feature that is missing in the real data (SAMRAI.md section 12), or that is error-prone.
"""
import os
import sys

import numpy as np

from dump_writer import Dump, Level, Materials, Variable, write_series

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


# ---- fields ---------------------------------------------------------------------------------------------

def linear(x, patch):
    return 1.0 + x[0] + 10.0 * x[1] + 100.0 * x[2]


def identity(x, patch):
    return np.full(len(x[0]), 1000.0 * patch.level + patch.number)


def components(n):
    """Returns n components, each a different function of the position."""
    return lambda x, patch: [(c + 1) * linear(x, patch) + 0.25 * c * c for c in range(n)]


def scalar(name="U", **more):
    return Variable(name, linear, **more)


def tagged():
    """Returns a cell scalar that identifies the patch."""
    return Variable("patch id", identity)


def boxes_2d(x, y):
    """Returns the boxes between neighbouring cuts: boxes_2d([0, 4, 8], [0, 4]) are two boxes side by side."""
    return [((x[i], y[j]), (x[i + 1] - 1, y[j + 1] - 1)) for j in range(len(y) - 1) for i in range(len(x) - 1)]


def boxes_3d(x, y, z):
    return [(a[0] + (z[k],), a[1] + (z[k + 1] - 1,)) for k in range(len(z) - 1) for a in boxes_2d(x, y)]


def two_levels_2d():
    return [Level(boxes_2d([0, 4, 8], [0, 3, 6])), Level([((4, 2), (11, 9)), ((12, 4), (13, 7))], (2, 2))]


def two_levels_3d():
    return [Level(boxes_3d([0, 3, 6], [0, 4], [0, 2, 4])), Level([((2, 2, 2), (7, 5, 5))], (2, 2, 2))]


# ---- deformed grids -------------------------------------------------------------------------------------

def sheared_2d(u, block):
    return [u[0] + 0.25 * u[1], u[1] + 0.05 * u[0] * u[0], 0.0 * u[0]]


def blocks_3d(u, block):
    """Returns positions in three blocks that meet like the faces of a cube, so that the axes differ between blocks."""
    a, b, c = u[0], u[1], u[2]
    return [[10.0 + a, b + 0.1 * c * c, c], [-b - 10.0, a + 0.1 * c * c, c], [a, -10.0 - c, b + 0.1 * a * a]][block]


@case
def deformed_2d():
    return [Dump(two_levels_2d(), [scalar(), Variable("V", components(2), 2, False)], mapping=sheared_2d)]


@case
def deformed_3d_blocks():
    coarse = [((0, 0, 0), (5, 3, 3)), ((0, 0, 0), (3, 3, 3)), ((4, 0, 0), (7, 3, 3)), ((0, 0, 0), (5, 5, 3))]
    fine = [((2, 2, 2), (7, 5, 5)), ((4, 0, 2), (11, 7, 5)), ((0, 4, 0), (5, 11, 3))]
    levels = [Level(coarse, None, [0, 1, 1, 2]), Level(fine, (2, 2, 2), [0, 1, 2])]
    return [Dump(levels, [scalar(), tagged(), Variable("V", components(3), 3)], mapping=blocks_3d)]


@case
def ghosts_deformed():
    variables = [scalar(ghosts=(1, 1, 0)), Variable("n", linear, cell=False, ghosts=(1, 0, 0))]
    return [Dump(two_levels_2d(), variables, mapping=sheared_2d, coords_ghosts=(1, 1, 0))]


# ---- ghosts, centring, components, names ----------------------------------------------------------------

@case
def ghosts_3d():
    variables = [scalar("cell all", ghosts=(1, 1, 1)), scalar("cell none"), scalar("cell xz", ghosts=(1, 0, 1)),
                 Variable("node all", linear, cell=False, ghosts=(1, 1, 1)),
                 Variable("node y", components(3), 3, False, ghosts=(0, 1, 0))]
    return [Dump(two_levels_3d(), variables, dx=(0.5, 0.25, 1.0), origin=(-1.0, 2.0, 0.0))]


@case
def ghosts_wide():
    """More ghost layers than the current writer keeps."""
    variables = [scalar("two", ghosts=(2, 2, 0)), scalar("three one", ghosts=(3, 1, 0)),
                 Variable("node", components(2), 2, False, ghosts=(1, 2, 0))]
    return [Dump(two_levels_2d(), variables)]


@case
def absent():
    fine_only = scalar("fine only", where=lambda p: p.level == 1)
    odd_only = Variable("odd vector", components(3), 3, False, where=lambda p: p.number % 2 == 1)
    nowhere = scalar("nowhere", where=lambda p: False)
    return [Dump(two_levels_3d(), [fine_only, scalar(), odd_only, nowhere])]


def mixed(levels, dim):
    variables = []
    for cell in (True, False):
        for n in (1, dim, dim * dim):
            variables.append(Variable("%s %d" % ("cell" if cell else "node", n), components(n), n, cell))
    return [Dump(levels, variables)]


@case
def mixed_2d():
    return mixed(two_levels_2d(), 2)


@case
def mixed_3d():
    return mixed(two_levels_3d(), 3)


@case
def odd_components():
    """Component counts of neither a scalar, a vector nor a tensor: 3 and 5 in 2-D (VisIt cannot open such a dump)."""
    return [Dump(two_levels_2d(), [Variable("three", components(3), 3), Variable("five", components(5), 5, False),
                                   Variable("six", components(6), 6), Variable("nine", components(9), 9)])]


@case
def names():
    odd = ["Div U", "ucell::node", "a+b (c) #1", "x.y", "x.00", "-", "a name much longer than VisIt's buffer of fifty characters allows",
           "100%", "quote\"d", "<&>", "U", "u"]
    variables = [Variable(n, lambda x, p, i=i: linear(x, p) + 1000.0 * i, cell=i % 2 == 0) for i, n in enumerate(odd)]
    return [Dump(two_levels_2d(), variables + [Variable("vector.01", components(2), 2)])]


# ---- boxes ----------------------------------------------------------------------------------------------

@case
def offset_aniso_2d():
    levels = [Level(boxes_2d([-3, 1, 5], [5, 8])), Level([((-2, 24), (3, 31))], (2, 4)),
              Level([((0, 50), (7, 59)), ((-8, 48), (-1, 61))], (4, 2))]
    return [Dump(levels, [scalar(), Variable("n", linear, cell=False)], origin=(3.5, 15.5), dx=(0.5, 0.75))]


@case
def offset_aniso_3d():
    levels = [Level(boxes_3d([-3, 0, 3], [5, 7], [2, 4])), Level([((-4, 10, 6), (3, 13, 11))], (4, 2, 3)),
              Level([((-4, 22, 14), (3, 25, 17))], (2, 2, 2))]
    return [Dump(levels, [scalar()], origin=(1.0, -2.0, 3.0), dx=(0.3, 0.7, 1.1))]


@case
def large_indices():
    """Fine indices near +-2^30, PatchIO's limit; their sums and products overflow 32 bits."""
    low, high = -536870900, 536870900
    levels = [Level([((low, high), (low + 3, high + 3)), ((low + 4, high), (low + 5, high + 3))]),
              Level([((2 * low + 1, 2 * high + 2), (2 * low + 9, 2 * high + 5))], (2, 2))]
    return [Dump(levels, [tagged()])]


@case
def one_cell_2d():
    levels = [Level(boxes_2d([0, 1, 3, 4], [0, 1, 2])), Level([((0, 0), (0, 0)), ((1, 0), (1, 1)), ((3, 1), (5, 1))], (2, 2))]
    return [Dump(levels, [scalar(), Variable("n", components(2), 2, False)])]


@case
def one_cell_3d():
    levels = [Level(boxes_3d([0, 1, 2], [0, 1], [0, 1, 4])), Level([((0, 0, 0), (0, 0, 0)), ((1, 0, 0), (1, 1, 1)), ((2, 0, 2), (3, 1, 3))], (2, 2, 2))]
    return [Dump(levels, [scalar(), Variable("n", linear, cell=False)])]


@case
def overlap():
    """Boxes of one level overlap, on both levels."""
    levels = [Level([((0, 0), (5, 5)), ((4, 0), (9, 5))]), Level([((2, 2), (9, 7)), ((6, 4), (13, 9)), ((6, 4), (9, 7))], (2, 2))]
    return [Dump(levels, [scalar(), tagged()])]


@case
def unaligned():
    """Fine boxes cut through coarse cells: one box covers a part of such a cell, and two boxes cover it completely."""
    levels = [Level(boxes_2d([0, 6], [0, 3, 6])), Level([((3, 2), (9, 9)), ((10, 0), (17, 11)), ((18, 13), (19, 13))], (4, 4))]
    return [Dump(levels, [scalar()])]


@case
def unaligned_3d():
    levels = [Level([((0, 0, 0), (3, 3, 3))]), Level([((0, 0, 0), (8, 5, 9)), ((9, 0, 0), (11, 5, 9)), ((0, 6, 1), (11, 8, 8))], (3, 3, 3))]
    return [Dump(levels, [scalar()])]


@case
def l_shaped():
    levels = [Level([((0, 0), (7, 2)), ((0, 3), (2, 7)), ((3, 3), (3, 3))]), Level([((0, 4), (5, 11)), ((6, 0), (11, 5))], (2, 2))]
    return [Dump(levels, [scalar()], origin=(-1.0, 1.0), dx=(0.125, 0.25), old_writer=True)]


@case
def four_levels():
    """A middle level is refined and a refinement; another level has one patch far from the first."""
    levels = [Level(boxes_3d([0, 4, 8], [0, 4], [0, 4])), Level([((2, 2, 2), (11, 5, 5))], (2, 2, 2)),
              Level([((6, 6, 6), (17, 11, 11))], (3, 2, 2)), Level([((14, 14, 14), (21, 17, 17))], (2, 2, 2))]
    return [Dump(levels, [scalar()])]


def tiled(levels):
    """Node values that differ between patches, to show which patch determines a shared node."""
    return [Dump(levels, [scalar(), tagged(), Variable("node", identity, cell=False),
                          Variable("vector", lambda x, p: [identity(x, p), x[0], x[1]], 3, False)])]


@case
def tiles_2d():
    """Many patches side by side; the finer level has a hole, a notch and an island."""
    fine = boxes_2d([4, 8, 12, 16, 20], [4, 8, 12, 16])
    del fine[9], fine[5]
    return [Dump([Level(boxes_2d([0, 4, 8, 12], [0, 4, 8, 12])), Level(fine + [((0, 22), (1, 23))], (2, 2)),
                  Level(boxes_2d([8, 12, 16], [8, 14, 16, 24]), (2, 2))],
                 [scalar(), tagged(), Variable("node", identity, cell=False)])]


@case
def tiles_3d():
    fine = boxes_3d([2, 6, 8, 12], [2, 4, 8], [2, 4, 6, 8])
    del fine[7], fine[-1]
    return tiled([Level(boxes_3d([0, 2, 4, 7], [0, 4, 6], [0, 3, 6])), Level(fine, (2, 2, 2)),
                  Level(boxes_3d([4, 6, 10, 12], [4, 8], [4, 6, 8]), (2, 2, 2))])


@case
def tiles_of_kinds():
    """Every second patch lacks a variable, so that patches cannot be merged in one direction."""
    odd = Variable("odd", identity, cell=False, where=lambda p: p.number % 2 == 1)
    return [Dump([Level(boxes_2d([0, 4, 8, 12, 16], [0, 4, 8]))], [scalar(), tagged(), odd])]


# ---- files ----------------------------------------------------------------------------------------------

@case
def many_processors_per_cluster():
    return [Dump(two_levels_3d(), [scalar(), tagged()], ranks=5, processors_per_cluster=2)]


@case
def empty_rank():
    """Ranks 0, 2 and 4 have no patches, but also write files."""
    return [Dump(two_levels_2d(), [scalar()], ranks=5, rank_of=lambda p: 1 + 2 * (p.number % 2))]


@case
def no_variables():
    return [Dump(two_levels_2d(), [])]


@case
def vdr3():
    return [Dump(two_levels_2d(), [scalar()], version=3.0)]


@case
def nan():
    def holes(x, patch):
        values = linear(x, patch)
        values[0], values[1], values[2], values[3] = np.nan, np.inf, -np.inf, -0.0
        return values
    variables = [Variable("holes", holes), Variable("all nan", lambda x, p: np.full(len(x[0]), np.nan)),
                 Variable("tiny", lambda x, p: 1e-42 * linear(x, p)), Variable("huge", lambda x, p: 1e36 * linear(x, p), cell=False)]
    return [Dump(two_levels_2d(), variables)]


# ---- series ---------------------------------------------------------------------------------------------

def series(steps, times):
    return [Dump(two_levels_2d(), [Variable("U", lambda x, p, s=s: linear(x, p) + s)], step=s, time=t)
            for s, t in zip(steps, times)]


@case
def big_step():
    """Six-digit directories precede five-digit ones in text order."""
    return series([99990, 100000, 100010], [9.0, 10.0, 11.0])


@case
def changing():
    """Levels, patches, ranks, clusters and variables differ from step to step."""
    return [Dump(two_levels_2d(), [scalar(), tagged()], 0, 0.0),
            Dump([Level(boxes_2d([0, 8], [0, 6]))], [scalar()], 5, 0.5, ranks=1),
            Dump(two_levels_2d() + [Level([((10, 6), (19, 15))], (2, 2))], [scalar(), scalar("late", cell=False)], 9, 0.75, ranks=7)]


@case
def equal_times():
    return series([0, 3, 7, 8], [0.0, 1.5, 1.5, 2.0])


@case
def zero_times():
    return series([0, 10, 20], [0.0, 0.0, 0.0])


def missing_index():
    """dumps.visit lacks steps 2 and 6, names the missing step 99, repeats step 4, and has Windows line ends."""
    lines = ["visit_dump.%05d/summary.samrai" % s for s in (0, 4, 4, 99, 8)]
    return "\r\n".join(lines) + "\r\n"


@case
def index_missing():
    return series([0, 2, 4, 6, 8], [0.0, 0.2, 0.4, 0.6, 0.8])


INDEX = {"index_missing": missing_index()}


# ---- files that h5repack has been over ------------------------------------------------------------------

FILTERS = {"gzip": {"compression": "gzip"}, "shuffled": {"compression": "gzip", "shuffle": True},
           "checked": {"compression": "gzip", "shuffle": True, "fletcher32": True}, "sums": {"fletcher32": True},
           "chunks": {}, "szip": {"compression": "szip", "compression_opts": ("nn", 4)}}


def repacked(name):
    """Returns chunks of a size that does not divide the array, with the filters in the name of the variable."""
    return dict(FILTERS[name], chunks=(7,), maxshape=(None,))


def filtered_variables():
    """Returns scalars, a vector and a tensor, on nodes and with ghosts."""
    return [scalar("gzip"), Variable("shuffled", components(3), components=3), scalar("checked", ghosts=(1, 1, 1)),
            Variable("sums", components(3), components=3, cell=False), scalar("chunks"), scalar("szip")]


@case
def repacked_3d():
    """Chunks with each filter that PatchIO decodes itself, and with szip, which only the HDF5 library decodes."""
    return [Dump(two_levels_3d(), filtered_variables(), storage=repacked)]


# ---- materials ------------------------------------------------------------------------------------------

def ball(center, radius):
    return lambda x, patch: np.round(np.clip(radius - np.sqrt(sum((x[d] - center[d]) ** 2 for d in range(3))), 0, 1) * 64) / 64


def rest(*functions):
    return lambda x, patch: 1.0 - sum(f(x, patch) for f in functions)


def two_materials(center, radius):
    inside = ball(center, radius)
    return {"ball": inside, "gas": rest(inside)}


def three_materials(center, radius):
    """Returns fractions of three materials: shell and gas share the part that the ball leaves, so that mixed cells have three
    materials."""
    inside = ball(center, radius)
    around = lambda x, p: ball(center, radius + 1)(x, p) * (1 - inside(x, p)) * 0.75
    return {"gas": rest(inside, around), "ball": inside, "shell": around}


SPECIES = {"gas": {"N2": lambda x, p: 0.75 + 0.0 * x[0], "He": lambda x, p: np.where(x[0] < 4, 1.0, 0.5),
                   "none": lambda x, p: 0.0 * x[0]}}


@case
def materials_dense_2d():
    """Some patches are pure gas (flags 0 and 1, no data set), and some are mixed. Only the fractions have ghosts."""
    return [Dump(two_levels_2d(), [scalar()], materials=Materials(two_materials((1, 1, 0), 2.5), ghosts=(1, 1, 0), species=SPECIES))]


@case
def materials_dense_3d():
    return [Dump(two_levels_3d(), [scalar()], materials=Materials(three_materials((2, 2, 2), 2.0), species=SPECIES))]


@case
def materials_sparse_2d():
    return [Dump(two_levels_2d(), [scalar()], materials=Materials(three_materials((1, 1, 0), 2.0), sparse=True))]


@case
def materials_sparse_3d():
    """Has patches without mix arrays, with one material (one value) and with two (one value per cell)."""
    half = lambda x, p: np.where(x[0] < 1, 1.0, 0.0)
    corner = lambda x, p: np.where((x[0] > 4) & (x[2] > 2), 0.5, 0.0)
    table = {"left": half, "right": rest(half, corner), "corner": corner}
    return [Dump(two_levels_3d(), [scalar()], materials=Materials(table, sparse=True))]


def main():
    for name, make in CASES.items():
        write_series(os.path.join(sys.argv[1], name), make(), INDEX.get(name))
    print("%d cases" % len(CASES))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Makes plotfiles of many kinds for the tests.

usage: make_cases.py FOLDER
"""
import os
import shutil
import sys

from plotfile_writer import tiles, write_plotfile

DOMAIN_3D = ((0, 0, 0), (15, 11, 7))
LEVELS_3D = [tiles((0, 0, 0), (15, 11, 7), (8, 4, 8)),
             tiles((8, 4, 4), (23, 15, 11), (8, 8, 4)),
             tiles((20, 12, 12), (35, 19, 19), (8, 8, 8))]
TWICE = ((2, 2, 2), (2, 2, 2))
DOMAIN_2D = ((0, 0), (23, 15))
LEVELS_2D = [tiles((0, 0), (23, 15), (8, 8)), tiles((8, 8), (31, 23), (16, 4)), tiles((24, 24), (39, 31), (8, 8))]


def make(folder, name, *rest, **changes):
    write_plotfile(os.path.join(folder, name, "plt00010"), *rest, **{"step": 10, **changes})


def main():
    folder = sys.argv[1]
    shutil.rmtree(folder, ignore_errors=True)
    make(folder, "double_3d", DOMAIN_3D, LEVELS_3D, TWICE, names=["density", "x_velocity", "y_velocity", "z_velocity"])
    make(folder, "single_3d", DOMAIN_3D, LEVELS_3D, TWICE, real="f4", names=["a", "b"])
    make(folder, "big_3d", DOMAIN_3D, LEVELS_3D, TWICE, big=True, files=1)
    make(folder, "big_single_2d", DOMAIN_2D, LEVELS_2D, ((2, 2), (2, 2)), real="f4", big=True)
    make(folder, "shuffled_2d", DOMAIN_2D, LEVELS_2D, ((2, 2), (2, 2)), shuffled=True, files=3, names=list("abcde"))
    for version in (2, 3, 4):
        make(folder, "headers_%d" % version, DOMAIN_3D, LEVELS_3D, TWICE, version=version, names=["u", "v"], shuffled=version == 3)
    make(folder, "no_headers_single_big", DOMAIN_3D, LEVELS_3D, TWICE, version=2, real="f4", big=True)
    make(folder, "ghosts_3d", DOMAIN_3D, LEVELS_3D, TWICE, ghosts=(1, 1, 1), names=["u", "v"])
    make(folder, "ghosts_2d", DOMAIN_2D, LEVELS_2D, ((2, 2), (2, 2)), ghosts=(2, 1), names=["u", "v"], version=2)
    make(folder, "nodes_3d", DOMAIN_3D, LEVELS_3D, TWICE, nodal=True, names=["phi"])
    make(folder, "offset_3d", ((-8, 4, 100), (7, 15, 107)), [tiles((-8, 4, 100), (7, 15, 107), (8, 4, 8)),
                                                            tiles((-8, 12, 204), (7, 19, 211), (8, 8, 4))], ((2, 2, 2),))
    make(folder, "offset_old_2d", ((16, 32), (31, 47)), [tiles((16, 32), (31, 47), (8, 8))], shifted=False)
    make(folder, "blank_names_2d", DOMAIN_2D, LEVELS_2D[:1], names=["x velocity", " mass  fraction(H2)"])
    make(folder, "aniso_3d", DOMAIN_3D, [LEVELS_3D[0], tiles((16, 4, 2), (47, 7, 5), (16, 4, 4))], ((4, 1, 1),))
    make(folder, "ratio_4_2d", DOMAIN_2D, [LEVELS_2D[0], tiles((32, 32), (63, 47), (16, 16))], ((4, 4),))
    make(folder, "odd_headers", DOMAIN_3D, LEVELS_3D, TWICE, odd_headers=True, names=["u", "v"])
    make(folder, "one_level", DOMAIN_2D, LEVELS_2D[:1])
    for number, (step, time) in enumerate(((8, 0.5), (16, 0.75), (100000, 1.0))):
        write_plotfile(os.path.join(folder, "series", "run_plt%05d" % step), DOMAIN_2D, LEVELS_2D[:number + 1],
                       ((2, 2), (2, 2))[:number], seed=number, step=step, time=time, names=["u", "v"])
    os.makedirs(os.path.join(folder, "series", "run_plt00016.old.0123"))    # AMReX renames replaced plotfiles like this


if __name__ == "__main__":
    main()

"""Faults of AMReX plotfiles; see Testing/Faults/broken_files.py."""
import os
import shutil

SOUND = {"double_3d/plt00010/Header": ["Header", "Level_0/Cell_H", "Level_1/Cell_D_00000"],
         "no_headers_single_big/plt00010/Header": ["Level_0/Cell_H", "Level_0/Cell_D_00000"]}
# The end of the file has the minima and maxima, which are optional.
QUIET = {("Level_0/Cell_H", "cut at 0.9"), ("Level_0/Cell_H", "cut at 0.3")}
HEADER, CELL_H = "Header", "Level_0/Cell_H"
# name, file, text, its replacement, expected message
EDITS = [
    ("other_version", HEADER, "HyperCLaw-V1.1", "HyperCLaw-V9.9", None),
    ("components_most", HEADER, "V1.1\n4\n", "V1.1\n2147483647\n", "Header"),
    ("components_negative", HEADER, "V1.1\n4\n", "V1.1\n-4\n", "Header"),
    ("components_of_letters", HEADER, "V1.1\n4\n", "V1.1\nfour\n", "Header"),
    ("a_component_less", HEADER, "V1.1\n4\ndensity\n", "V1.1\n3\n", "Cell_H|Header"),
    ("dimensions_7", HEADER, "z_velocity\n3\n", "z_velocity\n7\n", "Header"),
    ("levels_most", HEADER, "0.5\n2\n", "0.5\n2147483647\n", "Header"),
    ("levels_negative", HEADER, "0.5\n2\n", "0.5\n-2\n", "Header"),
    ("domain_reversed", HEADER, "(15,11,7)", "(-15,11,7)", "Header"),
    ("domain_huge", HEADER, "(15,11,7)", "(2147483647,2147483647,2147483647)", "Header|Cell_H"),
    ("ratio_zero", HEADER, "\n2 2\n", "\n0 2\n", None),
    ("spacing_nan", HEADER, "0.5 0.25 0.125", "nan 0.25 0.125", "Header"),
    ("spacing_zero", HEADER, "0.5 0.25 0.125", "0 0.25 0.125", "Header"),
    ("names_twice", HEADER, "x_velocity", "y_velocity", None),
    ("boxes_most", CELL_H, "\n(6 0\n", "\n(2147483647 0\n", "Cell_H"),
    ("boxes_negative", CELL_H, "\n(6 0\n", "\n(-6 0\n", "Cell_H"),
    ("a_box_less", CELL_H, "\n(6 0\n", "\n(5 0\n", "Cell_H|Header"),
    ("offset_beyond_file", CELL_H, "FabOnDisk: Cell_D_00000 0", "FabOnDisk: Cell_D_00000 999999999999", "Cell_D_00000"),
    ("offset_negative", CELL_H, "FabOnDisk: Cell_D_00000 0", "FabOnDisk: Cell_D_00000 -8", "Cell_H|Cell_D_00000"),
    ("file_elsewhere", CELL_H, "FabOnDisk: Cell_D_00000 0", "FabOnDisk: ../../../../etc/passwd 0", "Cell_H|passwd"),
    ("file_of_the_root", CELL_H, "FabOnDisk: Cell_D_00000 0", "FabOnDisk: /etc/passwd 0", "Cell_H|passwd"),
]


def contradictions(cases, folder):
    for name, file, old, new, wanted in EDITS:
        path = os.path.join(folder, name, "plt00010")
        shutil.copytree(os.path.join(cases, "double_3d", "plt00010"), path)
        with open(os.path.join(path, file)) as stream:
            text = stream.read()
        assert old in text, (name, text)
        with open(os.path.join(path, file), "w") as stream:
            stream.write(text.replace(old, new, 1))
        yield name, os.path.join(path, "Header"), wanted

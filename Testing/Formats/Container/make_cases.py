#!/usr/bin/python3
"""Makes containers for the tests from the cases of other formats.

usage: make_cases.py PATCHIO CASES FOLDER     (CASES: the folder of all formats' cases)
"""
import os
import shutil
import subprocess
import sys

SERIES = {"amr_3d": "samrai/mixed_3d", "amr_2d": "samrai/mixed_2d", "ghosts": "samrai/ghosts_3d", "offset": "samrai/offset_aniso_3d",
          "levels": "samrai/four_levels", "absent": "samrai/absent", "changing": "samrai/changing", "components": "samrai/odd_components", "tiles": "samrai/tiles_3d"}
IN_PARTS = {"groups": "samrai/tiles_of_kinds"}


def main():
    program, cases, folder = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    for name, series in {**SERIES, **IN_PARTS}.items():
        os.makedirs(os.path.join(folder, name))
        command = [program, "convert", os.path.join(cases, series, "dumps.visit"), os.path.join(folder, name, "run.pio")]
        if name in IN_PARTS:
            command = ["mpirun", "-np", "3", "--oversubscribe"] + command + ["--ranks-a-file", "1"]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()

"""How VTKHDF files break; see Testing/Faults/broken_files.py."""
import os
import shutil

import h5py
import numpy as np

SOUND = {"amr_3d/amr.vtkhdf": ["amr.vtkhdf"], "packed_image/image.vtkhdf": ["image.vtkhdf"]}
QUIET = set()


def attribute(group, name, value):
    def change(file):
        if value is None:
            del file[group].attrs[name]
        else:
            file[group].attrs[name] = value
    return change


def dataset(name, value):
    def change(file):
        del file[name]
        if value is not None:
            file[name] = value
    return change


# name, the sound file, what is done to it, what must be said
EDITS = [
    ("no_origin", "amr_3d", attribute("VTKHDF", "Origin", None), "Origin"),
    ("origin_nan", "amr_3d", attribute("VTKHDF", "Origin", np.array([0, np.nan, 0])), "Origin"),
    ("other_axes", "amr_3d", attribute("VTKHDF", "GridDescription", np.bytes_("YZ")), "GridDescription"),
    ("spacing_zero", "amr_3d", attribute("VTKHDF/Level1", "Spacing", np.zeros(3)), "level 1"),
    ("spacing_odd", "amr_3d", attribute("VTKHDF/Level1", "Spacing", np.full(3, 0.3)), "level 1"),
    ("no_levels", "amr_3d", dataset("VTKHDF/Level0", None), "Level0"),
    ("no_boxes", "amr_3d", dataset("VTKHDF/Level1/AMRBox", None), "AMRBox"),
    ("boxes_flat", "amr_3d", dataset("VTKHDF/Level1/AMRBox", np.arange(12)), "AMRBox"),
    ("box_reversed", "amr_3d", dataset("VTKHDF/Level1/AMRBox", np.array([[4, 1, 4, 11, 4, 11], [12, 19, 4, 9, 4, 11]])), "AMRBox"),
    ("box_huge", "amr_3d", dataset("VTKHDF/Level1/AMRBox", np.array([[0, 2**31 - 1] * 3] * 2)), "AMRBox"),
    ("a_box_more", "amr_3d", dataset("VTKHDF/Level2/AMRBox", np.array([[16, 23, 12, 19, 16, 23], [0, 1, 0, 1, 0, 1]])), "values of each"),
    ("array_short", "amr_3d", dataset("VTKHDF/Level0/CellData/density", np.zeros(7)), "density"),
    ("array_of_text", "amr_3d", dataset("VTKHDF/Level0/CellData/density", np.bytes_("x")), None),
    ("extent_reversed", "packed_image", attribute("VTKHDF", "WholeExtent", np.array([0, -20, 0, 15, 0, 12])), "WholeExtent"),
    ("extent_huge", "packed_image", attribute("VTKHDF", "WholeExtent", np.array([0, 2**30 - 1] * 3)), "values of each"),
    ("turned", "packed_image", attribute("VTKHDF", "Direction", np.array([0., 1, 0, 1, 0, 0, 0, 0, 1])), "Direction"),
    ("steps", "packed_image", lambda file: file.create_group("VTKHDF/Steps").attrs.create("NSteps", 3), "one time step"),
]


def contradictions(cases, folder):
    for name, sound, change, wanted in EDITS:
        path = os.path.join(folder, name + ".vtkhdf")
        shutil.copy(os.path.join(cases, sound, "amr.vtkhdf" if "amr" in sound else "image.vtkhdf"), path)
        with h5py.File(path, "r+") as file:
            change(file)
        yield name, path, wanted

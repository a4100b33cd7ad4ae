"""Faults of VTKHDF files; see Testing/Faults/broken_files.py."""
import os
import shutil

import h5py
import numpy as np

SOUND = {"amr_3d/amr.vtkhdf": ["amr.vtkhdf"], "packed_image/image.vtkhdf": ["image.vtkhdf"], "packed_steps/image.vtkhdf": ["image.vtkhdf"],
         "changing_amr/amr.vtkhdf": ["amr.vtkhdf"], "meshes/boxes/mesh.vtkhdf": ["mesh.vtkhdf"],
         "meshes/changing_carpets/mesh.vtkhdf": ["mesh.vtkhdf"]}
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


def entries(name, place, value):
    def change(file):
        file[name][place] = value
    return change


# name, valid file, change, expected message
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
    ("a_box_more", "amr_3d", dataset("VTKHDF/Level2/AMRBox", np.array([[16, 23, 12, 19, 16, 23], [0, 1, 0, 1, 0, 1]])), "values per component"),
    ("array_short", "amr_3d", dataset("VTKHDF/Level0/CellData/density", np.zeros(7)), "density"),
    ("array_of_text", "amr_3d", dataset("VTKHDF/Level0/CellData/density", np.bytes_("x")), "not supported: type text in .*density"),
    ("extent_reversed", "packed_image", attribute("VTKHDF", "WholeExtent", np.array([0, -20, 0, 15, 0, 12])), "WholeExtent"),
    ("extent_huge", "packed_image", attribute("VTKHDF", "WholeExtent", np.array([0, 2**30 - 1] * 3)), "values per component"),
    ("turned", "packed_image", attribute("VTKHDF", "Direction", np.array([0., 1, 0, 1, 0, 0, 0, 0, 1])), "not supported: .*Direction"),
    ("no_times", "packed_image", lambda file: file.create_group("VTKHDF/Steps").attrs.create("NSteps", 3), "Steps/Values"),
    ("steps_none", "packed_steps", attribute("VTKHDF/Steps", "NSteps", None), "NSteps"),
    ("steps_zero", "packed_steps", attribute("VTKHDF/Steps", "NSteps", 0), "NSteps"),
    ("steps_huge", "packed_steps", attribute("VTKHDF/Steps", "NSteps", 2**31), "NSteps"),
    ("a_step_more", "packed_steps", attribute("VTKHDF/Steps", "NSteps", 4), "Steps/Values"),
    ("time_nan", "packed_steps", entries("VTKHDF/Steps/Values", 1, np.nan), "finite times"),
    ("slice_beyond", "image_steps", entries("VTKHDF/Steps/PointDataOffsets/phi", 2, 9), "phi"),
    ("slice_negative", "image_steps", entries("VTKHDF/Steps/PointDataOffsets/phi", 2, -1), "phi"),
    ("slice_huge", "image_steps", entries("VTKHDF/Steps/PointDataOffsets/phi", 2, 2**62), "phi"),
    ("boxes_of_steps", "changing_amr", entries("VTKHDF/Steps/Level1/NumberOfAMRBoxes", 1, 5), "boxes"),
    ("no_boxes_of_steps", "changing_amr", dataset("VTKHDF/Steps/Level1/AMRBoxOffsets", None), "AMRBoxOffsets"),
    ("amr_beyond", "changing_amr", entries("VTKHDF/Steps/Level0/CellDataOffsets/density", 0, 99999), "density"),
    ("composite", "meshes/boxes", attribute("VTKHDF", "Type", np.bytes_("PartitionedDataSetCollection")), "not supported: .*of type 'PartitionedDataSetCollection'"),
    ("no_points", "meshes/boxes", dataset("VTKHDF/Points", None), "Points"),
    ("points_flat", "meshes/boxes", dataset("VTKHDF/Points", np.zeros(999)), "Points"),
    ("points_of_text", "meshes/boxes", dataset("VTKHDF/Points", np.array([[b"x"] * 3] * 200)), "Points"),
    ("no_types", "meshes/boxes", dataset("VTKHDF/Types", None), "Types"),
    ("no_offsets", "meshes/boxes", dataset("VTKHDF/Offsets", None), "Offsets"),
    ("no_counts", "meshes/boxes", dataset("VTKHDF/NumberOfCells", None), "NumberOfCells"),
    ("counts_short", "meshes/boxes", dataset("VTKHDF/NumberOfCells", np.array([24, 1])), "NumberOfCells"),
    ("counts_negative", "meshes/boxes", entries("VTKHDF/NumberOfPoints", 1, -1), "NumberOfPoints"),
    ("counts_huge", "meshes/boxes", entries("VTKHDF/NumberOfConnectivityIds", 1, 2**62), "NumberOfConnectivityIds"),
    ("counts_large", "meshes/boxes", entries("VTKHDF/NumberOfCells", 1, 2**40), "values per component"),
    ("a_point_more", "meshes/boxes", entries("VTKHDF/NumberOfPoints", 1, 200), "values per component"),
    ("partition_beyond", "meshes/changing_carpets", entries("VTKHDF/Steps/PartOffsets", 2, 8), "partitions"),
    ("no_part_offsets", "meshes/changing_carpets", dataset("VTKHDF/Steps/PartOffsets", None), "PartOffsets"),
    ("cell_offsets_flat", "meshes/changing_carpets", dataset("VTKHDF/Steps/CellOffsets", np.zeros(3, int)), "CellOffsets"),
    ("cells_beyond", "meshes/changing_carpets", entries("VTKHDF/Steps/CellOffsets", 0, 2**39), "values per component"),
    ("no_polygons", "meshes/changing_carpets", dataset("VTKHDF/Polygons/NumberOfCells", None), "NumberOfCells"),
]


# Faults that appear when VTK grids are made, so only in ParaView.
EDITS_OF_GRIDS = [
    ("node_beyond", "meshes/boxes", entries("VTKHDF/Connectivity", 3, 60)),
    ("node_negative", "meshes/boxes", entries("VTKHDF/Connectivity", 5, -1)),
    ("node_far", "meshes/boxes", entries("VTKHDF/Connectivity", 7, 2**60)),
    ("offsets_fall", "meshes/boxes", entries("VTKHDF/Offsets", 3, 0)),
    ("offsets_late", "meshes/boxes", entries("VTKHDF/Offsets", 0, 3)),
    ("offsets_far", "meshes/boxes", entries("VTKHDF/Offsets", 24, 2**60)),
    ("type_of_more_nodes", "meshes/boxes", entries("VTKHDF/Types", 2, 25)),
    ("type_unknown", "meshes/boxes", entries("VTKHDF/Types", 2, 200)),
    ("polyhedron", "meshes/boxes", entries("VTKHDF/Types", 2, 42)),
    ("nodes_as_floats", "meshes/boxes", dataset("VTKHDF/Connectivity", np.zeros(2000))),
    ("polygon_without_nodes", "meshes/changing_carpets", entries("VTKHDF/Polygons/Offsets", 1, 0)),
]
SEEN_IN_PARAVIEW = {name for name, _, _ in EDITS_OF_GRIDS}


def contradictions(cases, folder):
    for name, sound, change, wanted in EDITS + [edit + (None,) for edit in EDITS_OF_GRIDS]:
        path = os.path.join(folder, name + ".vtkhdf")
        shutil.copy(os.path.join(cases, sound, "mesh.vtkhdf" if "mesh" in sound else "amr.vtkhdf" if "amr" in sound else "image.vtkhdf"), path)
        with h5py.File(path, "r+") as file:
            change(file)
        yield name, path, wanted

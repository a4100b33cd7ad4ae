#!/usr/bin/python3
"""VTKHDF files of many kinds for the tests, written by h5py alone.

usage: make_cases.py FOLDER
"""
import os
import shutil
import sys

import h5py
import numpy as np

TILES = [[x, x + 3, y, y + 3, z, z + 3] for z in (0, 4) for y in (0, 4) for x in (0, 4, 8, 12)]
LEVELS_3D = [(TILES, 1.0),
             ([[4, 11, 4, 11, 4, 11], [12, 19, 4, 9, 4, 11]], 0.5),
             ([[16, 23, 12, 19, 16, 23]], 0.25)]
LEVELS_2D = [([[0, 11, 0, 7, 0, 0], [12, 23, 0, 7, 0, 0]], 1.0), ([[8, 15, 4, 11, 0, 0]], 0.5)]


def values(rng, count, components, dtype):
    shape = (count, components) if components > 1 else (count,)
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        return rng.integers(0, np.iinfo(kind).max // 2, shape).astype(kind)
    return rng.standard_normal(shape).astype(kind)


def root_of(file, kind, version=(1, 0)):
    root = file.create_group("VTKHDF")
    root.attrs["Version"] = np.array(version)
    root.attrs["Type"] = np.bytes_(kind)
    return root


def write_amr(path, levels, arrays, axes="XYZ", origin=(0.0, 0.0, 0.0), time=None, seed=0, missing=(), libver=None, **storage):
    """arrays: name -> (CellData or PointData, components, dtype); missing: (level, name) that are not there."""
    rng = np.random.default_rng(seed)
    dim = len(axes)
    with h5py.File(path, "w", libver=libver) as file:
        root = root_of(file, "OverlappingAMR")
        root.attrs["Origin"] = np.array(origin)
        root.attrs["GridDescription"] = np.bytes_(axes)
        for number, (boxes, spacing) in enumerate(levels):
            group = root.create_group("Level%d" % number)
            group.attrs["Spacing"] = np.full(3, spacing)
            boxes = np.array(boxes, np.int32)
            group["AMRBox"] = boxes
            widths = boxes[:, 1::2] - boxes[:, ::2] + 1
            for name, (place, components, dtype) in arrays.items():
                more = np.array([1 if place == "PointData" and axis < dim else 0 for axis in range(3)])
                count = int((widths + more).prod(axis=1).sum())
                if (number, name) not in missing:
                    group.create_dataset(place + "/" + name, data=values(rng, count, components, dtype), **storage)
        if time is not None:
            root["FieldData/TimeValue"] = np.array([time])


def write_image(path, extent, arrays, origin=(0.0, 0.0, 0.0), spacing=(1.0, 1.0, 1.0), seed=0, time=None, **storage):
    rng = np.random.default_rng(seed)
    with h5py.File(path, "w") as file:
        root = root_of(file, "ImageData")
        root.attrs["WholeExtent"] = np.array(extent)
        root.attrs["Origin"], root.attrs["Spacing"] = np.array(origin), np.array(spacing)
        root.attrs["Direction"] = np.eye(3).ravel()
        nodes = np.array(extent[1::2]) - np.array(extent[::2]) + 1
        for name, (place, components, dtype) in arrays.items():
            shape = nodes if place == "PointData" else np.maximum(nodes - 1, 1)
            data = values(rng, int(shape.prod()), components, dtype)
            root.create_dataset(place + "/" + name, data=data.reshape(tuple(shape[::-1]) + data.shape[1:]), **storage)
        if time is not None:
            root["FieldData/TimeValue"] = np.array([time])


def main():
    folder = sys.argv[1]
    shutil.rmtree(folder, ignore_errors=True)

    def path(name, file):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
        return os.path.join(folder, name, file)

    mixed = {"density": ("CellData", 1, "f4"), "velocity": ("CellData", 3, "f8"), "phi": ("PointData", 1, "f8"),
             "force": ("PointData", 3, "f4")}
    write_amr(path("amr_3d", "amr.vtkhdf"), LEVELS_3D, mixed, time=0.5)
    write_amr(path("amr_2d", "amr.hdf"), LEVELS_2D, {"a": ("CellData", 1, "f8"), "flow": ("CellData", 3, "f4")}, axes="XY",
              origin=(1.0, 2.0, 0.0))
    write_amr(path("packed_3d", "amr.vtkhdf"), LEVELS_3D, mixed, maxshape=None, chunks=True, compression="gzip", shuffle=True)
    write_amr(path("big_3d", "amr.vtkhdf"), LEVELS_3D, {"a": ("CellData", 3, ">f8"), "b": ("CellData", 1, ">f4"), "c": ("CellData", 2, ">i4")})
    write_amr(path("latest_3d", "amr.vtkhdf"), LEVELS_3D[:2], {"a": ("CellData", 3, "f4"), "b": ("PointData", 1, "f8")}, libver="latest")
    write_amr(path("types_3d", "amr.vtkhdf"), LEVELS_3D[:1], {t: ("CellData", 1, t) for t in ("u1", "i2", "u2", "i4", "i8", "f4", "f8")})
    write_amr(path("missing_3d", "amr.vtkhdf"), LEVELS_3D, {"a": ("CellData", 1, "f4"), "b": ("CellData", 3, "f4")}, missing=[(1, "b")])
    write_image(path("image_3d", "image.vtkhdf"), (-2, 10, 3, 9, 0, 5), mixed, origin=(1, 2, 3), spacing=(0.1, 0.2, 0.3), time=2.5)
    write_image(path("image_2d", "image.hdf"), (0, 12, 0, 7, 0, 0), {"a": ("CellData", 1, "f4"), "n": ("PointData", 3, "f8")})
    write_image(path("packed_image", "image.vtkhdf"), (0, 20, 0, 15, 0, 12), mixed, chunks=True, compression="gzip", shuffle=True)
    write_image(path("points_image", "image.vtkhdf"), (0, 20, 0, 15, 0, 12), {"phi": ("PointData", 1, "f8"), "force": ("PointData", 3, "f4")})
    for step, time in ((8, 0.5), (9, 0.75), (100, 1.0)):
        write_amr(path("series", "run_%d.vtkhdf" % step), LEVELS_3D[:1 + step % 3], {"a": ("CellData", 1, "f4")}, time=time, seed=step)


if __name__ == "__main__":
    main()

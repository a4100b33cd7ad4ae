#!/usr/bin/python3
"""Makes VTKHDF files of many kinds for the tests, with h5py only: images and AMR below FOLDER, meshes below FOLDER/meshes.

usage: make_cases.py FOLDER
"""
import os
import shutil
import sys

import h5py
import numpy as np

import meshes

TILES = [[x, x + 3, y, y + 3, z, z + 3] for z in (0, 4) for y in (0, 4) for x in (0, 4, 8, 12)]
LEVELS_3D = [(TILES, 1.0),
             ([[4, 11, 4, 11, 4, 11], [12, 19, 4, 9, 4, 11]], 0.5),
             ([[16, 23, 12, 19, 16, 23]], 0.25)]
LEVELS_2D = [([[0, 11, 0, 7, 0, 0], [12, 23, 0, 7, 0, 0]], 1.0), ([[8, 15, 4, 11, 0, 0]], 0.5)]


def made(folder, name, file):
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    return os.path.join(folder, name, file)


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
    """Writes AMR data. arrays: name -> (CellData or PointData, components, dtype). missing: pairs (level, name) that are left
    out."""
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


def axes_stored(shape, flat, thin):
    """Returns the stored lengths of an array's axes, slowest first. thin: without flat axes, like VTK's writer."""
    kept = [n for n, is_flat in zip(shape, flat) if not (thin and is_flat)]
    return tuple(int(n) for n in (kept or [1])[::-1])


def write_image(path, extent, arrays, origin=(0.0, 0.0, 0.0), spacing=(1.0, 1.0, 1.0), seed=0, time=None, thin=False, **storage):
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
            root.create_dataset(place + "/" + name, data=data.reshape(axes_stored(shape, nodes == 1, thin) + data.shape[1:]), **storage)
        if time is not None:
            root["FieldData/TimeValue"] = np.array([time])


def write_image_steps(path, extent, arrays, times, replayed=(), thin=False, **storage):
    """Writes the steps of an image. replayed: arrays with one slice for all steps."""
    rng = np.random.default_rng(3)
    with h5py.File(path, "w") as file:
        root = root_of(file, "ImageData", (2, 0))
        root.attrs["WholeExtent"] = np.array(extent)
        root.attrs["Origin"], root.attrs["Spacing"], root.attrs["Direction"] = np.zeros(3), np.ones(3), np.eye(3).ravel()
        steps = root.create_group("Steps")
        steps.attrs["NSteps"] = len(times)
        steps["Values"] = np.array(times)
        nodes = np.array(extent[1::2]) - np.array(extent[::2]) + 1
        for name, (place, components, dtype) in arrays.items():
            shape = axes_stored(nodes if place == "PointData" else np.maximum(nodes - 1, 1), nodes == 1, thin)
            count = 1 if name in replayed else len(times)
            data = values(rng, count * int(np.prod(shape)), components, dtype)
            root.create_dataset(place + "/" + name, data=data.reshape((count,) + shape + data.shape[1:]), **storage)
            if name in replayed:
                steps[place + "Offsets/" + name] = np.zeros(len(times), int)


def write_amr_steps(path, levels_of_steps, arrays, times, **storage):
    """Writes the steps of AMR data. levels_of_steps: for each step, the levels as in write_amr(). If they are the same object as
    before, boxes are not written again."""
    rng = np.random.default_rng(4)
    with h5py.File(path, "w") as file:
        root = root_of(file, "OverlappingAMR", (2, 3))
        root.attrs["Origin"], root.attrs["GridDescription"] = np.zeros(3), np.bytes_("XYZ")
        steps = root.create_group("Steps")
        steps.attrs["NSteps"] = len(times)
        steps["Values"] = np.array(times)
        for number in range(max(map(len, levels_of_steps))):
            boxes, first, counts, data, begin = [], [], [], {name: [] for name in arrays}, {name: [] for name in arrays}
            for step, levels in enumerate(levels_of_steps):
                own = np.array(levels[number][0], np.int32) if number < len(levels) else np.zeros((0, 6), np.int32)
                again = step > 0 and levels is levels_of_steps[step - 1]
                first.append(first[-1] if again else sum(map(len, boxes)))
                counts.append(len(own))
                boxes += [] if again else [own]
                widths = own[:, 1::2] - own[:, ::2] + 1
                for name, (place, components, dtype) in arrays.items():
                    count = int((widths + (place == "PointData")).prod(axis=1).sum())
                    begin[name].append(sum(map(len, data[name])))
                    data[name].append(values(rng, count, components, dtype))
            group = root.create_group("Level%d" % number)
            group.attrs["Spacing"] = np.full(3, 0.5 ** number)
            group["AMRBox"] = np.concatenate(boxes)
            level = steps.create_group("Level%d" % number)
            level["AMRBoxOffsets"], level["NumberOfAMRBoxes"] = np.array(first), np.array(counts)
            for name, (place, _, _) in arrays.items():
                group.create_dataset(place + "/" + name, data=np.concatenate(data[name]), **storage)
                level["%sOffsets/%s" % (place, name)] = np.array(begin[name])


def respell(path, version, spelling):
    """Changes the version, and the spelling of the names of AMR lists: "Offsets" or "Offset"."""
    with h5py.File(path, "r+") as file:
        file["VTKHDF"].attrs["Version"] = np.array(version)
        for level in file["VTKHDF/Steps"].values():
            if spelling == "Offset" and isinstance(level, h5py.Group):
                for old, new in (("AMRBoxOffsets", "AMRBoxOffset"), ("NumberOfAMRBoxes", "NumberOfAMRBox"),
                                 ("CellDataOffsets", "CellDataOffset"), ("PointDataOffsets", "PointDataOffset")):
                    if old in level:
                        level.move(old, new)


def main():
    folder = sys.argv[1]
    shutil.rmtree(folder, ignore_errors=True)
    meshes.write_all(lambda name, file: made(os.path.join(folder, "meshes"), name, file))

    def path(name, file):
        return made(folder, name, file)

    mixed = {"density": ("CellData", 1, "f4"), "velocity": ("CellData", 3, "f8"), "phi": ("PointData", 1, "f8"),
             "force": ("PointData", 3, "f4")}
    write_amr(path("amr_3d", "amr.vtkhdf"), LEVELS_3D, mixed, time=0.5)
    write_amr(path("amr_2d", "amr.hdf"), LEVELS_2D, {"a": ("CellData", 1, "f8"), "flow": ("CellData", 3, "f4")}, axes="XY",
              origin=(1.0, 2.0, 0.0))
    write_amr(path("packed_3d", "amr.vtkhdf"), LEVELS_3D, mixed, maxshape=None, chunks=True, compression="gzip", shuffle=True)
    write_amr(path("big_3d", "amr.vtkhdf"), LEVELS_3D, {"a": ("CellData", 3, ">f8"), "b": ("CellData", 1, ">f4"), "c": ("CellData", 2, ">i4")})
    write_amr(path("latest_3d", "amr.vtkhdf"), LEVELS_3D[:2], {"a": ("CellData", 3, "f4"), "b": ("PointData", 1, "f8")}, libver="latest")
    write_amr(path("types_3d", "amr.vtkhdf"), LEVELS_3D[:1], {t: ("CellData", 1, t) for t in ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")})
    write_amr(path("missing_3d", "amr.vtkhdf"), LEVELS_3D, {"a": ("CellData", 1, "f4"), "b": ("CellData", 3, "f4")}, missing=[(1, "b")])
    write_image(path("image_3d", "image.vtkhdf"), (-2, 10, 3, 9, 0, 5), mixed, origin=(1, 2, 3), spacing=(0.1, 0.2, 0.3), time=2.5)
    write_image(path("image_2d", "image.hdf"), (0, 12, 0, 7, 0, 0), {"a": ("CellData", 1, "f4"), "n": ("PointData", 3, "f8")})
    with h5py.File(path("user_block", "image.vtkhdf"), "w", userblock_size=1024) as file, h5py.File(path("image_2d", "image.hdf"), "r") as plain:
        plain.copy("VTKHDF", file)
    for axes, extent in (("xy", (0, 12, 0, 7, 0, 0)), ("xz", (-2, 10, 3, 3, 0, 7)), ("yz", (4, 4, 0, 12, 0, 7)), ("x", (0, 12, 0, 0, 0, 0)),
                         ("y", (4, 4, 0, 7, 5, 5)), ("z", (0, 0, 5, 5, 0, 7)), ("none", (0, 0, 1, 1, 2, 2))):
        origin = (1, 2, 0 if axes == "xy" else 3)
        write_image(path("flat_" + axes, "image.vtkhdf"), extent, mixed, origin=origin, spacing=(0.1, 0.2, 0.3), thin=True)
        write_image(path("kept_" + axes, "image.vtkhdf"), extent, mixed, origin=origin, spacing=(0.1, 0.2, 0.3))
    write_image_steps(path("flat_steps", "image.vtkhdf"), (0, 12, 0, 0, 0, 7), mixed, [0.5, 0.75], thin=True)
    write_image(path("packed_image", "image.vtkhdf"), (0, 20, 0, 15, 0, 12), mixed, chunks=True, compression="gzip", shuffle=True)
    write_image(path("points_image", "image.vtkhdf"), (0, 20, 0, 15, 0, 12), {"phi": ("PointData", 1, "f8"), "force": ("PointData", 3, "f4")})
    times = [0.5, 0.75, 2.0]
    packed = {"chunks": True, "compression": "gzip", "shuffle": True}
    write_image_steps(path("image_steps", "image.vtkhdf"), (0, 12, 0, 9, 0, 7), mixed, times, replayed=("phi",))
    write_image_steps(path("packed_steps", "image.vtkhdf"), (0, 12, 0, 9, 0, 7), mixed, times, **packed)
    write_image_steps(path("one_step", "image.vtkhdf"), (0, 5, 0, 4, 0, 3), mixed, times[:1])
    write_amr_steps(path("steady_amr", "amr.vtkhdf"), [LEVELS_3D] * 3, mixed, times)
    write_amr_steps(path("changing_amr", "amr.vtkhdf"), [LEVELS_3D, LEVELS_3D[:1] + [([[0, 7, 0, 7, 0, 7]], 0.5)], LEVELS_3D], mixed, times, **packed)
    # In version 2.2, and in PHARE's files, the lists have other names.
    write_amr_steps(path("respelled_amr", "amr.vtkhdf"), [LEVELS_3D, LEVELS_3D[:2], LEVELS_3D], mixed, times)
    respell(os.path.join(folder, "respelled_amr", "amr.vtkhdf"), (2, 2), "Offset")
    for step, time in ((8, 0.5), (9, 0.75), (100, 1.0)):
        write_amr(path("series", "run_%d.vtkhdf" % step), LEVELS_3D[:1 + step % 3], {"a": ("CellData", 1, "f4")}, time=time, seed=step)


if __name__ == "__main__":
    main()

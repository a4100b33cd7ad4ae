#!/usr/bin/python3
"""Writes small k-Wave files of all kinds, with h5py and formulas, and the expected results of a reader.

usage: make_cases.py OUTPUTDIR [REALDATADIR]

The files in REALDATADIR, which k-Wave itself has written, are linked into folders in which they can be opened.
"""
import os
import shutil
import sys

import h5py
import numpy as np

SIZE = (12, 10, 8)      # Nx, Ny, Nz
STEP = 0.5              # dt
HEADER = {"created_by": "kspaceFirstOrder-OMP v1.3", "creation_date": "x", "file_description": "made for tests",
          "major_version": "1", "minor_version": "2"}


def put(group, name, values, complex_values=False, **how):
    values = np.asarray(values)
    data = group.create_dataset(name, data=values, **how)
    data.attrs["data_type"] = np.bytes_("float" if values.dtype.kind == "f" else "long")
    data.attrs["domain_type"] = np.bytes_("complex" if complex_values else "real")
    return data


def scalars(f, **values):
    for name, value in values.items():
        put(f, name, np.full((1, 1, 1), value, np.float32 if isinstance(value, float) else np.uint64))


def start(path, kind="output", size=SIZE, steps=20, done=None, libver=None, **more):
    f = h5py.File(path, "w", libver=libver)
    for name, text in HEADER.items():
        f.attrs[name] = np.bytes_(text)
    f.attrs["file_type"] = np.bytes_(kind)
    nx, ny, nz = size
    scalars(f, Nx=nx, Ny=ny, Nz=nz, Nt=steps, dt=STEP, dx=0.25, dy=0.5, dz=1.0, c_ref=1500.0, **more)
    if kind == "output":
        scalars(f, t_index=steps if done is None else done)
    return f


def field(shape, seed):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def domain(f, size=SIZE, **how):
    for seed, name in enumerate(["p_final", "p_max_all"]):
        put(f, name, field(size[::-1], seed), **how)


INDEX = np.unique(np.random.default_rng(5).integers(1, np.prod(SIZE) + 1, 70)).astype(np.uint64)
CORNERS = np.array([[1, 1, 1, 12, 10, 1], [3, 2, 2, 7, 6, 7], [5, 5, 5, 9, 9, 8], [4, 4, 4, 4, 4, 4]], np.uint64)


def points(f, sampled=6, mask=INDEX, own=True, chunks=True, level=0):
    count = len(mask)
    how = dict(compression="gzip", compression_opts=level) if level is not None else {}
    for seed, name in enumerate(["p", "ux", "uy_non_staggered"]):
        data = dict(chunks=(1, 1, count), **how) if chunks else {}
        put(f, name, field((1, sampled, count), 10 + seed), **data)
    for seed, name in enumerate(["p_max", "p_rms", "Ix_avg"]):
        put(f, name, field((1, 1, count), 20 + seed))
    scalars(f, sensor_mask_type=0)
    if own:
        put(f, "sensor_mask_index", mask.reshape(1, 1, -1))


def gather(path, names):
    """Moves data sets to a file beside this one, which becomes their source as virtual data sets."""
    near = os.path.join(os.path.dirname(path), "values.bin")
    with h5py.File(path, "a") as f, h5py.File(near, "w") as there:
        for name in names:
            old = f[name]
            f.copy(old, there, name.replace("/", "_"))
            attributes = dict(old.attrs)
            layout = h5py.VirtualLayout(old.shape, old.dtype)
            layout[...] = h5py.VirtualSource("values.bin", name.replace("/", "_"), old.shape)
            del f[name]
            f.create_virtual_dataset(name, layout).attrs.update(attributes)


def cuboids(f, sampled=5, corners=CORNERS, own=True, level=0, cut=None):
    for seed, name in enumerate(["p", "uz"]):
        group = f.create_group(name)
        for c, (x1, y1, z1, x2, y2, z2) in enumerate(corners.astype(int)):
            shape = (z2 - z1 + 1, y2 - y1 + 1, x2 - x1 + 1)
            chunk = (1,) + ((min(cut, shape[0]),) + shape[1:] if cut else shape)
            put(group, str(c + 1), field((sampled,) + shape, 100 * seed + c), chunks=chunk, compression="gzip", compression_opts=level)
    group = f.create_group("p_max")
    for c, (x1, y1, z1, x2, y2, z2) in enumerate(corners.astype(int)):
        put(group, str(c + 1), field((z2 - z1 + 1, y2 - y1 + 1, x2 - x1 + 1), 300 + c))
    scalars(f, sensor_mask_type=1)
    if own:
        put(f, "sensor_mask_corners", corners.reshape(1, -1, 6))


def case(out, name):
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    return folder


def make(out):
    shutil.rmtree(out, ignore_errors=True)
    with start(case(out, "index") + "/out.h5") as f:
        domain(f)
        points(f)
    with start(case(out, "index_contiguous") + "/out.h5") as f:
        points(f, chunks=False)
    # Time series in another file: contiguous, and in chunks.
    with start(case(out, "virtual") + "/out.h5") as f:
        points(f, chunks=False)
    gather(out + "/virtual/out.h5", ["p", "ux", "p_max"])
    with start(case(out, "virtual_deflate") + "/out.h5") as f:
        cuboids(f, level=9, cut=2)
    gather(out + "/virtual_deflate/out.h5", ["p/1", "p/2", "p_max/1"])
    with start(case(out, "index_deflate") + "/out.h5") as f:
        points(f, level=6)
        domain(f, chunks=(1,) + SIZE[1::-1], compression="gzip", compression_opts=9, shuffle=True)
    with start(case(out, "index_new_style") + "/out.h5", libver="latest") as f:
        points(f)
    with start(case(out, "corners") + "/out.h5") as f:
        domain(f, chunks=(1,) + SIZE[1::-1], compression="gzip", compression_opts=0)
        cuboids(f)
    with start(case(out, "corners_deflate") + "/out.h5") as f:
        cuboids(f, level=9, cut=2)
    # The first step is 11 = Nt - 10 + 1. The run has stopped after step 14.
    with start(case(out, "checkpoint") + "/out.h5", done=14) as f:
        group = f.create_group("p")
        for c, (x1, y1, z1, x2, y2, z2) in enumerate(CORNERS.astype(int)):
            shape = (z2 - z1 + 1, y2 - y1 + 1, x2 - x1 + 1)
            data = group.create_dataset(str(c + 1), (10,) + shape, np.float32, chunks=(1,) + shape, compression="gzip", compression_opts=0)
            data[:4] = field((4,) + shape, c)
        scalars(f, sensor_mask_type=1)
    with start(case(out, "checkpoint") + "/in.h5", "input") as f:
        scalars(f, sensor_mask_type=1)
        put(f, "sensor_mask_corners", CORNERS.reshape(1, -1, 6))
    # There are two inputs; the mask is in the one with the same name.
    with start(case(out, "mask_in_input") + "/run_output.h5") as f:
        points(f, own=False)
    for name, mask in (("a.h5", INDEX), ("run_input.h5", INDEX[::-1][::-1])):
        with start(os.path.join(out, "mask_in_input", name), "input") as f:
            scalars(f, sensor_mask_type=0)
            put(f, "sensor_mask_index", (mask if name != "a.h5" else np.arange(1, len(mask) + 1, dtype=np.uint64)).reshape(1, 1, -1))
    flat = (16, 9, 1)
    with start(case(out, "flat_index") + "/out.h5", size=flat) as f:
        domain(f, flat)
        points(f, mask=np.arange(1, 145, 7, dtype=np.uint64))
    with start(case(out, "flat_corners") + "/out.h5", size=flat) as f:
        cuboids(f, corners=np.array([[2, 3, 1, 9, 8, 1], [12, 1, 1, 12, 9, 1]], np.uint64))
    with start(case(out, "only_domain") + "/out.h5") as f:
        domain(f)
        scalars(f, sensor_mask_type=0)
    with start(case(out, "extras") + "/out.h5") as f:
        points(f)
        put(f, "p_c", field((1, 1, 2 * len(INDEX)), 1), complex_values=True)
        put(f, "odd", field((3, 4, 5), 1))
        f.create_group("strange").create_dataset("x", data=[1.0])
    with start(case(out, "input") + "/in.h5", "input") as f:
        for seed, name in enumerate(["c0", "rho0", "p0_source_input"]):
            put(f, name, field(SIZE[::-1], seed), chunks=True)
        scalars(f, sensor_mask_type=0)
        put(f, "sensor_mask_index", INDEX.reshape(1, 1, -1))
        put(f, "u_source_index", INDEX[:9].reshape(1, 1, -1))
        put(f, "p_source_input", field((1, 20, 1), 9))
    # Large parts, which are divided into several patches.
    big = (160, 160, 200)
    with start(case(out, "big") + "/out.h5", size=big, steps=3) as f:
        put(f, "p_final", field(big[::-1], 3), chunks=(1, 160, 160), compression="gzip", compression_opts=0)
        cuboids(f, 2, np.array([[1, 1, 1, 160, 160, 180]], np.uint64), cut=7)
    # Points that are far apart. The file is not in a folder, because files in folders are also shown as images.
    with start(out + "/far.h5", size=big, steps=3) as f:
        points(f, 3, np.array([1, np.prod(big)], np.uint64))


def link_real(out, real):
    shutil.rmtree(out, ignore_errors=True)
    for name in ("kwave13_corners", "kwave13_corners_c9", "kwave13_index", "kwave_input_corners"):
        os.makedirs(os.path.join(out, name))
        for file in os.listdir(os.path.join(real, name)):
            os.symlink(os.path.join(real, name, file), os.path.join(out, name, file))
    # This output needs the mask of its input, which is in another folder.
    folder = os.path.join(out, "kwave13_checkpoint")
    os.makedirs(folder)
    os.symlink(os.path.join(real, "kwave13_checkpoint", "out_ck.h5"), folder + "/out_ck.h5")
    os.symlink(os.path.join(real, "kwave13_checkpoint", "ck.h5"), folder + "/ck.h5")
    os.symlink(os.path.join(real, "kwave_input_corners", "in.h5"), folder + "/in.h5")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        link_real(sys.argv[1], sys.argv[2])
    else:
        make(sys.argv[1])

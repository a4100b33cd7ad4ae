"""Steps through files of 1000 time steps (k-Wave outputs): compares a step in ParaView with plain reads of the same
stored bytes by one thread into reused memory, from the page cache and from the disk. Draws the steps of a mesh that stays the same, too."""
import os
import statistics
import zlib

import numpy as np

from measuring import Spread, pvbatch, ratios, remember, say, settle

STEPS = 1000
GOAL = 1.2
# Each case: kind of mask, its size, level of compression.
CASES = {"cuboid of 4 MB": ("corners", 100, 0), "cuboid of 1 MB": ("corners", 64, 0), "list of 1 MB": ("index", 64, 0)}


def write(path, kind, width, level):
    """Writes a file like k-Wave: one chunk per step, with the deflate filter even if nothing is compressed."""
    import h5py
    with h5py.File(path + ".part", "w") as f:
        for name, text in {"created_by": "kspaceFirstOrder-OMP v1.3", "file_type": "output", "major_version": "1",
                           "minor_version": "2"}.items():
            f.attrs[name] = np.bytes_(text)
        size = width + 32
        numbers = dict(Nx=size, Ny=size, Nz=size, Nt=STEPS, t_index=STEPS, sensor_mask_type=int(kind == "corners"))
        for name, value in numbers.items():
            f[name] = np.full((1, 1, 1), value, np.uint64)
        for name, value in dict(dt=1e-8, dx=1e-4, dy=1e-4, dz=1e-4).items():
            f[name] = np.full((1, 1, 1), value, np.float32)
        if kind == "corners":
            f["sensor_mask_corners"] = np.array([9, 9, 9] + [8 + width] * 3, np.uint64).reshape(1, 1, 6)
            shape, chunk, name = (STEPS, width, width, width), (1, width, width, width), "p/1"
        else:
            f["sensor_mask_index"] = np.arange(1, width ** 3 + 1, dtype=np.uint64).reshape(1, 1, -1) * 2
            shape, chunk, name = (1, STEPS, width ** 3), (1, 1, width ** 3), "p"
        data = f.create_dataset(name, shape, np.float32, chunks=chunk, compression="gzip", compression_opts=level)
        values = np.random.default_rng(1).normal(size=width ** 3).astype(np.float32)
        for n in range(STEPS):
            values[0] = n
            data.id.write_direct_chunk((n, 0, 0, 0) if kind == "corners" else (0, n, 0), zlib.compress(values, level))
        places = [data.id.get_chunk_info_by_coord((n, 0, 0, 0) if kind == "corners" else (0, n, 0)) for n in range(STEPS)]
    np.savez(path + ".npz", offsets=[[p.byte_offset] for p in places], sizes=[[p.size] for p in places])
    os.rename(path + ".part", path)


def draw_static_mesh(report, folder, rounds):
    path = os.path.join(folder, "steps", "static.vtkhdf")
    runs = [pvbatch("static_mesh.py", path, 90) for _ in range(min(rounds, 5))]
    for what in ("surface", "slice"):
        report.figure("steps of a mesh that stays the same, %s and image: mesh made anew / kept" % what,
                      ratios([run[what + ", new"] for run in runs], [run[what + ", kept"] for run in runs]))
    report.data["static mesh"] = runs


def run(report, folder, rounds):
    """./dev bench steps"""
    os.makedirs(os.path.join(folder, "steps"), exist_ok=True)
    draw_static_mesh(report, folder, rounds)
    os.environ["PATCHIO_METADATA_DIR"] = os.path.join(folder, "steps", "indices")
    try:
        for name, (kind, width, level) in CASES.items():
            path = os.path.join(folder, "steps", name.replace(" ", "_"), "out.h5")
            if not os.path.exists(path):
                say("making %s" % path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                write(path, kind, width, level)
                settle()
            for cache, options in (("page cache", ()), ("disk", ("--forget",))):
                if cache == "page cache":
                    remember(os.path.dirname(path))
                runs = [pvbatch("kwave_steps.py", path, path + ".npz", *options) for _ in range(rounds)]
                steps, plain = ([statistics.median(run[key]) for run in runs] for key in ("steps", "plain"))
                report.at_most("%s x %d in one file, %s: time step in ParaView / plain read of its bytes" % (name, STEPS, cache), GOAL,
                               ratios(steps, plain))
                report.figure("the same, ms per step in addition to the plain read", Spread(1e3 * (s - p) for s, p in zip(steps, plain)))
                report.figure("the same, ms to open and to read the first step", Spread(1e3 * (r["open"] + r["first"]) for r in runs))
                report.data["%s, %s" % (name, cache)] = runs
    finally:
        del os.environ["PATCHIO_METADATA_DIR"]

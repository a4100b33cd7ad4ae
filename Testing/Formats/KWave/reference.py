#!/usr/bin/python3
"""The reference reader for k-Wave files, with h5py; conformance.py compares with its results.

usage: reference.py TRUTHDIR CASESDIR

For each *out*.h5 and in.h5 that make_cases.py made, or linked, one .npz:
  paths, steps, times        the file, and what its series must be
  spacing, origin            of grid point (0,0,0), by k-Wave's centred coordinates
  domain/NAME                [z,y,x]
  cuboidN/lower              first grid point, from 0: x, y, z
  cuboidN/NAME               [z,y,x], or [step,z,y,x]
  points/places              [point, axis] grid points, from 0
  points/NAME                [point], or [step,point]
  SOURCE source/places       of inputs
"""
import glob
import os
import sys

import h5py
import numpy as np

DESCRIBING = "*out*.h5"
SERIES = ["p", "ux", "uy", "uz", "ux_non_staggered", "uy_non_staggered", "uz_non_staggered"]
MASKS = {"sensor_mask_index", "sensor_mask_corners", "p_source_index", "u_source_index"}
LEFT_OUT = {"p_c", "odd", "strange", "p_source_input"}


def places(index, size):
    """Returns grid points from column-major numbers that start at 1, as in MATLAB."""
    return np.stack(np.unravel_index(index.ravel().astype(np.int64) - 1, size, order="F"), 1)


def mask_file(path):
    """Returns the file with the mask: the file itself, or the input that belongs to it."""
    folder, name = os.path.split(path)
    with h5py.File(path) as f:
        if "sensor_mask_index" in f or "sensor_mask_corners" in f or "sensor_mask_type" not in f:
            return path
    for other in (name.replace("output", "input"), name.replace("out", "in"), "in.h5"):
        if other != name and os.path.exists(os.path.join(folder, other)):
            return os.path.join(folder, other)
    return path


def read(path):
    truth = {"path": path}
    with h5py.File(path) as f, h5py.File(mask_file(path)) as m:
        number = lambda name: f[name][0, 0, 0]  # noqa: E731
        size = tuple(int(number(n)) for n in ("Nx", "Ny", "Nz"))
        spacing = np.array([float(number(n)) for n in ("dx", "dy", "dz")])
        truth["size"], truth["spacing"] = np.array(size), spacing
        truth["origin"] = -np.array([n // 2 for n in size]) * spacing
        dt, output = float(number("dt")), f.attrs["file_type"] in (b"output", "output")
        sampled = None
        for name in f:
            item = f[name]
            if name in MASKS or name in LEFT_OUT:
                continue
            if isinstance(item, h5py.Group):
                for part in item:
                    truth["cuboid%s/%s" % (part, name)] = item[part][...]
                    sampled = item[part].shape[0] if name in SERIES else sampled
            elif item.shape == size[::-1] and (not output or name.endswith(("_all", "_final"))):
                truth["domain/" + name] = item[...]
            elif item.shape[0] == 1 and item.shape[2] > 1:
                truth["points/" + name] = item[0] if name in SERIES else item[0, 0]
                sampled = item.shape[1] if name in SERIES else sampled
        truth["points/places" if "sensor_mask_index" in m else "none"] = \
            places(m["sensor_mask_index"][...], size) if "sensor_mask_index" in m else 0
        if "sensor_mask_corners" in m:
            for c, corners in enumerate(m["sensor_mask_corners"][0].astype(int)):
                truth["cuboid%d/lower" % (c + 1)] = corners[:3] - 1
                truth["cuboid%d/upper" % (c + 1)] = corners[3:] - 1
        for kind, name in (("pressure", "p"), ("velocity", "u")):
            if name + "_source_index" in f:
                truth[kind + " source/places"] = places(f[name + "_source_index"][...], size)
        total, done = int(number("Nt")), int(number("t_index")) if output else 0
        first = total - sampled + 1 if sampled else max(done, 1)
        steps = np.arange(first, done + 1) if sampled else np.array([first])
        truth["steps"], truth["times"] = steps, (steps - 1) * dt
        for name in list(truth):
            quantity = name.split("/")[-1]
            if quantity in SERIES:
                truth[name] = truth[name][:len(steps)]
    return truth


def main(out, cases):
    os.makedirs(out, exist_ok=True)
    paths = [p for p in sorted(glob.glob(cases + "/*/*.h5")) if os.path.basename(p) not in ("ck.h5", "a.h5", "run_input.h5")]
    if not paths:
        sys.exit("no files in %s" % cases)
    for path in paths:
        np.savez(os.path.join(out, os.path.basename(os.path.dirname(path)) + "." + os.path.basename(path) + ".npz"), **read(path))


if __name__ == "__main__":
    main(*sys.argv[1:])

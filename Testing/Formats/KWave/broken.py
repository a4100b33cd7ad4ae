"""Faults of k-Wave files; see Testing/Faults/broken_files.py."""
import os
import shutil

import h5py
import numpy as np

SOUND = {"index/out.h5": ["out.h5"], "corners_deflate/out.h5": ["out.h5"], "input/in.h5": ["in.h5"],
         "index_contiguous/out.h5": ["out.h5"]}
QUIET = set()


def contradictions(cases, folder):
    """Yields files with valid parts that contradict each other."""
    def edited(name, source, edit):
        path = os.path.join(folder, name + ".h5")
        shutil.copy(os.path.join(cases, source), path)
        with h5py.File(path, "r+") as f:
            edit(f)
        return path

    def replace(f, name, values):
        attributes = dict(f[name].attrs)
        del f[name]
        f[name] = values
        f[name].attrs.update(attributes)

    def set_to(name, value):
        return lambda f: f[name].__setitem__((0, 0, 0), value)

    table = [
        ("huge_domain", "index/out.h5", set_to("Nx", 2 ** 60), "'Nx'"),
        ("domain_of_nothing", "index/out.h5", set_to("Ny", 0), "'Ny'"),
        ("no_spacing", "index/out.h5", set_to("dx", np.nan), "'dx'"),
        ("unknown_mask", "index/out.h5", set_to("sensor_mask_type", 7), "sensor_mask_type"),
        ("no_grid", "index/out.h5", lambda f: f.__delitem__("Nz"), None),
        ("cuboid_beyond", "corners/out.h5", lambda f: f["sensor_mask_corners"].__setitem__((0, 0, 3), 99), "cuboid 1"),
        ("cuboid_reversed", "corners/out.h5", lambda f: f["sensor_mask_corners"].__setitem__((0, 1, 0), 9), "cuboid 2"),
        ("cuboid_of_other_size", "corners/out.h5", lambda f: f["sensor_mask_corners"].__setitem__((0, 1, 3), 6), "a mask of another size"),
        ("a_cuboid_less", "corners/out.h5", lambda f: f["p"].__delitem__("3"), None),
        ("a_point_less", "index/out.h5", lambda f: replace(f, "sensor_mask_index", np.ones((1, 1, 5), "u8")), "a mask of another size"),
        ("texts", "index/out.h5", lambda f: replace(f, "p", np.full((1, 6, 70), b"text")), None),
        ("halves", "index/out.h5", lambda f: replace(f, "p_max", np.zeros((1, 1, 70), "f2")), None),
        ("more_done_than_wanted", "index/out.h5", set_to("t_index", 2 ** 62), None),
        ("nothing_done", "index/out.h5", set_to("t_index", 0), None),
        ("steps_that_differ", "index/out.h5", lambda f: replace(f, "ux", np.zeros((1, 4, f["p"].shape[2]), "f4")), "damaged data sets of .*: ux"),
    ]
    for name, source, edit, wanted in table:
        yield name, edited(name, source, edit), wanted

    def endless(f):
        del f["p"]
        f["p"] = h5py.SoftLink("/p")
        f.create_group("loop")["1"] = h5py.SoftLink("/loop")
        f["loop"]["self"] = f["loop"]
        f["outside"] = h5py.ExternalLink("/etc/passwd", "/x")
    yield "circles", edited("circles", "index/out.h5", endless), None

    def vast(f):
        f.create_dataset("p_min_all", (8, 10, 12), "f4", chunks=(1, 1, 1))
        del f["p"]
        f.create_dataset("p", (1, 900000, f["p_max"].shape[2]), "f4", chunks=(1, 1, 1))
        replace(f, "Nt", np.full((1, 1, 1), 900000, "u8"))
        replace(f, "t_index", np.full((1, 1, 1), 900000, "u8"))
    yield "vast", edited("vast", "index/out.h5", vast), None

    for source in ("index/out.h5", "corners/out.h5", "input/in.h5"):
        for share in (0.999, 0.7, 0.05):
            path = os.path.join(folder, "%s_%g.h5" % (source.split("/")[0], share))
            shutil.copy(os.path.join(cases, source), path)
            os.truncate(path, int(os.path.getsize(path) * share))
            yield "%s cut to %g" % (source, share), path, "truncated"

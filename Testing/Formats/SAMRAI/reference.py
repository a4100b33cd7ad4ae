#!/usr/bin/python3
"""The reference reader for SAMRAI dumps, with h5py and numpy only.

usage: reference.py --series OUTDIR PATH...     (writes OUTDIR/series.json and one npz per step; PATH is a
                                                 dumps.visit or a folder, which stands for every one below it)

An npz holds "meta" (JSON as bytes), "p<patch>/<variable>" with the values as stored, shape (tuples, components), including ghosts,
and "b<patch>" with 1 for each cell that the next finer level covers. expected.py derives the expected output of ParaView from it.
That file is separate because h5py and ParaView may bring different HDF5 libraries into one process.
"""
import glob
import os
import re
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import truth_files  # noqa: E402
from hidden import covered  # noqa: E402

DESCRIBING = "summary.samrai"


def text(value):
    return value.decode("latin1") if isinstance(value, bytes) else str(value)


def three(values, fill):
    values = list(values)
    return values + [fill] * (3 - len(values))


class Summary:
    """The metadata of one dump, in plain Python types."""

    def __init__(self, path):
        with h5py.File(path, "r") as f:
            basic, extents = f["BASIC_INFO"], f["extents"]
            self.dim = int(basic["number_dimensions_of_problem"][0])
            self.deformed = text(basic["grid_type"][0]) in ("DEFORMED", "ALE")
            self.time, self.step = float(basic["time"][0]), int(basic["time_step_number"][0])
            self.map, self.boxes = extents["patch_map"][:], extents["patch_extents"][:]
            self.lower = self.boxes["lower"].astype(np.int64)
            self.upper = self.boxes["upper"].astype(np.int64)
            self.level_sizes = [int(n) for n in basic["number_patches_at_level"][:]]
            ratios = basic["ratios_to_coarser_levels"][:].astype(np.int64)
            self.ratios = np.where(ratios < 1, 1, ratios)    # row 0 is -1, and the third axis is 0 in 2-D
            self.dx, self.corner = basic["dx"][:], basic["XLO"][:]
            self.variables = self._variables(basic)
            self.children = self._children(basic)
            self.materials = self._materials(f)

    def _variables(self, basic):
        if int(basic["number_visit_variables"][0]) == 0:
            return []
        columns = zip(basic["var_names"][:], basic["var_number_components"][:], basic["var_cell_centered"][:],
                      basic["var_number_ghosts"][:])
        return [{"name": text(n), "components": int(c), "cell": bool(cell), "ghosts": [int(i) for i in g],
                 "kind": "variable"} for n, c, cell, g in columns]

    def _children(self, basic):
        if int(basic["child_array_length"][0]) == 0:
            return [[] for _ in self.map]
        table, pointers = basic["child_array"][:], basic["child_pointer_array"][:]
        return [[int(c) for c in table[o:o + n]] if n else []
                for o, n in zip(pointers["offset"], pointers["number_children"])]

    def _materials(self, f):
        """Returns one entry per fraction array: the place of its flags (dense) or its number (sparse)."""
        if "materials" not in f:
            return []
        names = [text(n) for n in f["materials/material_names"][:]]
        ghosts = [int(g) for g in f["materials/material_number_ghosts"][:]]
        group = f["extents/materials"]
        if "sparse_material_list" in group:
            return [material(n + " fraction", ghosts, number=i) for i, n in enumerate(names)]
        out = []
        for n in names:
            out.append(material(n + " fraction", ghosts, path="materials/%s/%s-fractions" % (n, n),
                                flags=group[n][n + "-Fractions"]["material_composition_flag"]))
            for s in group[n].get("species", {}):
                out.append(material("%s in %s" % (s, n), ghosts, path="materials/%s/species/%s" % (n, s),
                                    flags=group[n]["species"][s]["species_composition_flag"]))
        return out

    def origin(self):
        """Returns the true position of the lower corner of cell index 0.

        The writer uses the domain's lower corner as the position of index 0, so XLO is the corner of the lowest box of level 0
        (SAMRAI.md section 5).
        """
        first = self.lower[self.map["level_number"] == 0].min(axis=0)
        return self.corner - self.dx[0] * first

    def cells(self, patch):
        return [int(n) for n in self.upper[patch] - self.lower[patch] + 1]

    def dims(self, patch, cell, ghosts):
        """Returns the number of values per axis of an array on the patch."""
        extra = 0 if cell else 1
        cells = self.cells(patch)
        return [cells[d] + extra + 2 * ghosts[d] if d < self.dim else 1 for d in range(3)]


def material(name, ghosts, **where):
    return {"name": name, "components": 1, "cell": True, "ghosts": ghosts, "kind": "material", **where}


class Clusters:
    """The patch groups of a dump, in all of its files."""

    def __init__(self, directory, summary):
        self.directory, self.map, self.files = directory, summary.map, {}

    def patch(self, p):
        row = self.map[p]
        number = int(row["file_cluster_number"])
        if number not in self.files:
            self.files[number] = h5py.File(os.path.join(self.directory, "processor_cluster.%05d.samrai" % number), "r")
        return self.files[number]["processor.%05d/level.%05d/patch.%05d" % (
            row["processor_number"], row["level_number"], row["patch_number"])]

    def close(self):
        for f in self.files.values():
            f.close()


def read_variable(group, variable):
    """Returns values (tuples, components), or None if the patch does not have the variable."""
    if variable["components"] == 1 and variable["name"] != "Coords":
        names = [variable["name"]]
    else:
        names = ["%s.%02d" % (variable["name"], c) for c in range(variable["components"])]
    if names[0] not in group:
        return None
    return np.stack([group[n][:].astype("<f4") for n in names], axis=1)


def read_dense(group, variable, patch, tuples):
    flag = int(variable["flags"][patch])
    if flag in (0, 1):
        return np.full((tuples, 1), flag, "<f4")
    return group[variable["path"]][:].astype("<f4").reshape(-1, 1)


def read_sparse(group, number, tuples):
    """Returns the fraction of one material per cell, by following the chain of each mixed cell."""
    cells = group["materials/mat_list"][:]
    if len(cells) == 1:
        cells = np.full(tuples, cells[0])
    out = (cells == number).astype("<f4")
    if "materials/mix_mat" in group:
        mat, following = group["materials/mix_mat"][:], group["materials/next_mat"][:]
        fractions = group["materials/vol_fracs"][:].astype("<f4")
        for cell in np.flatnonzero(cells < 0):
            entry = -int(cells[cell])    # 1-based, as in next_mat
            while entry > 0:
                if mat[entry - 1] == number:
                    out[cell] += fractions[entry - 1]
                entry = int(following[entry - 1])
    return out.reshape(-1, 1)


def covered_cells(summary, patch):
    """Returns 1 for each cell (axis 0 fastest) whose fine cells all belong to patches of the next level.

    In deformed dumps, only the recorded children count, because blocks share one index space.
    """
    level = int(summary.map["level_number"][patch])
    finer = summary.children[patch] if summary.deformed else np.flatnonzero(summary.map["level_number"] == level + 1)
    ratio = summary.ratios[level + 1] if len(finer) else np.ones(3, int)
    return covered([(summary.lower[patch], summary.upper[patch])], [(summary.lower[child], summary.upper[child]) for child in finer], ratio, 0)


def others_cells(summary, patch):
    """Returns 1 for each cell (axis 0 fastest) that a patch of the level with a lower number also has; None if there is no such
    cell.

    Deformed dumps have no such cells, because their blocks share one index space.
    """
    others = np.zeros(summary.cells(patch), bool)
    before = np.flatnonzero(summary.map["level_number"][:patch] == summary.map["level_number"][patch])
    for other in [] if summary.deformed else before:
        low = np.clip(summary.lower[other] - summary.lower[patch], 0, others.shape)
        high = np.clip(summary.upper[other] + 1 - summary.lower[patch], 0, others.shape)
        others[low[0]:high[0], low[1]:high[1], low[2]:high[2]] = True
    return others.transpose(2, 1, 0).ravel().astype(np.uint8) if others.any() else None


def metadata(summary, path):
    keys = ("name", "components", "cell", "ghosts", "kind")
    patches = [{"level": int(m["level_number"]), "number": int(m["patch_number"]), "owner": int(m["processor_number"]),
                "lower": [int(i) for i in low], "upper": [int(i) for i in up]}
               for m, low, up in zip(summary.map, summary.lower, summary.upper)]
    return {"path": path, "dim": summary.dim, "deformed": summary.deformed, "time": summary.time, "step": summary.step,
            "level_sizes": summary.level_sizes, "spacing": summary.dx.tolist(), "origin": summary.origin().tolist(),
            "variables": [{k: v[k] for k in keys} for v in summary.variables + summary.materials], "patches": patches}


def read_truth(path, blanking=True):
    """Reads a dump. Returns the metadata and the arrays for the npz."""
    summary = Summary(path)
    arrays = {}
    clusters = Clusters(os.path.dirname(path), summary)
    for p in range(len(summary.map)):
        for v in summary.variables + summary.materials:
            values = read_array(summary, clusters.patch(p), v, p)
            if values is not None:
                arrays["p%d/%s" % (p, v["name"])] = values
        if blanking:
            arrays["b%d" % p] = covered_cells(summary, p)
            others = others_cells(summary, p)
            if others is not None:
                arrays["o%d" % p] = others
    clusters.close()
    return metadata(summary, path), arrays


def read_array(summary, group, variable, patch):
    tuples = int(np.prod(summary.dims(patch, variable["cell"], variable["ghosts"])))
    if variable["kind"] == "variable":
        values = read_variable(group, variable)
    elif "number" in variable:
        values = read_sparse(group, variable["number"], tuples)
    else:
        values = read_dense(group, variable, patch, tuples)
    assert values is None or values.shape == (tuples, variable["components"]), (patch, variable["name"], values.shape)
    return values


def steps_of(index):
    """Returns the summaries of a series in the order of their step numbers.

    dumps.visit is only a hint: a restarted run lists only its own dumps, and lines may name removed dumps. The dumps that exist
    beside it count.
    """
    base = os.path.dirname(os.path.abspath(index))
    found = set()
    for name in os.listdir(base):
        if re.fullmatch(r"visit_dump\.\d{5,}", name) and os.path.exists(os.path.join(base, name, "summary.samrai")):
            found.add(os.path.join(base, name, "summary.samrai"))
    return sorted(found, key=lambda p: int(os.path.dirname(p).rsplit(".", 1)[1]))


def listed_in(index):
    """Returns the existing summaries that dumps.visit itself names."""
    base = os.path.dirname(os.path.abspath(index))
    with open(index, newline="") as f:
        lines = {line.strip() for line in f if line.strip()}
    return {os.path.join(base, line) for line in lines if os.path.exists(os.path.join(base, line))}


def series_below(path):
    for index in sorted(glob.glob(path + "/**/dumps.visit", recursive=True)) if os.path.isdir(path) else [path]:
        if os.path.exists(index):
            yield os.path.abspath(index), ((step, *read_truth(step)) for step in steps_of(index)), listed_in(index)


if __name__ == "__main__":
    truth_files.main(__doc__, series_below)

"""Reads SAMRAI dumps with h5py alone: the tests' view of a dump, made without any code of PatchIO."""
import os

import h5py
import numpy as np


def text(value):
    return value.decode("latin1") if isinstance(value, bytes) else str(value)


class Patch:
    """level, lower and upper (inclusive cells, one number an axis), values: {component name: array}"""

    def __init__(self, level, lower, upper, values):
        self.level, self.lower, self.upper, self.values = level, lower, upper, values

    @property
    def box(self):
        return (self.level, tuple(int(i) for i in self.lower), tuple(int(i) for i in self.upper))


class Dump:
    """One dump, completely in memory. Arrays have axis 0 first: values[i, j(, k)]."""

    def __init__(self, summary):
        self.path = summary
        with h5py.File(summary, "r") as file:
            info, extents = file["BASIC_INFO"], file["extents"]
            self.dimension = int(info["number_dimensions_of_problem"][0])
            self.time = float(info["time"][0])
            self.step = int(info["time_step_number"][0])
            self.levels = int(info["number_levels"][0])
            self.ranks = int(info["number_processors"][0])
            d = self.dimension
            self.origin = info["XLO"][:d]
            self.spacing = info["dx"][:, :d]
            self.ratio = info["ratios_to_coarser_levels"][:, :d]
            self.variables = [(text(n), bool(c), int(k)) for n, c, k in zip(
                info["var_names"][:], info["var_cell_centered"][:], info["var_number_components"][:])]
            self.map, boxes = extents["patch_map"][:], extents["patch_extents"][:]
            self.ranges = {n: extents[n + "-Extents"][:] for n, _, _ in self.components()}
        self.patches = self._read_patches(boxes)

    def components(self):
        """(name, cell-centred, variable's name) of every component"""
        for name, cell, count in self.variables:
            for c in range(count):
                yield (name if count == 1 else "%s.%02d" % (name, c), cell, name)

    def _read_patches(self, boxes):
        patches, files = [], {}
        d = self.dimension
        for where, box in zip(self.map, boxes):
            cluster = int(where["file_cluster_number"])
            if cluster not in files:
                name = "processor_cluster.%05d.samrai" % cluster
                files[cluster] = h5py.File(os.path.join(os.path.dirname(self.path), name), "r")
            group = files[cluster]["processor.%05d/level.%05d/patch.%05d" % (
                where["processor_number"], where["level_number"], where["patch_number"])]
            lower, upper = box["lower"][:d], box["upper"][:d]
            values = {}
            for name, cell, _ in self.components():
                shape = upper - lower + (1 if cell else 2)
                values[name] = group[name][:].astype(np.float32).reshape(shape, order="F")
            patches.append(Patch(int(where["level_number"]), lower, upper, values))
        for file in files.values():
            file.close()
        return patches

    def on_level(self, level):
        return [p for p in self.patches if p.level == level]

    def level_array(self, level, name):
        """The level's cells as one array over its whole index space, NaN where there is no patch."""
        coarse = self.on_level(0)
        size = np.max([p.upper for p in coarse], axis=0) + 1
        for ratio in self.ratio[1:level + 1]:
            size = size * ratio
        whole = np.full(size, np.nan)
        for p in self.on_level(level):
            whole[tuple(slice(a, b + 1) for a, b in zip(p.lower, p.upper))] = p.values[name]
        return whole

    def centres(self, level, shape):
        """Cell centres of a level: one array an axis, ready to broadcast."""
        axes = [self.origin[a] + (np.arange(n) + 0.5) * self.spacing[level][a] for a, n in enumerate(shape)]
        return np.meshgrid(*axes, indexing="ij", sparse=True)


def read_series(directory):
    """The dumps that dumps.visit names, in its order."""
    with open(os.path.join(directory, "dumps.visit")) as index:
        return [Dump(os.path.join(directory, line.rstrip("\n"))) for line in index]

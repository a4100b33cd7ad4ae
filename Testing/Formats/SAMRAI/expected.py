"""The expected output of ParaView for a patch, from the reference values of reference.py. Needs numpy only, because ParaView
imports this file."""
import json

import numpy as np

DUPLICATECELL = 1   # vtkDataSetAttributes
REFINEDCELL = 8
REFINED = REFINEDCELL | DUPLICATECELL    # because filters that do not know refined cells know duplicates
HIDDENCELL = 32


class Truth:
    """The expected values of one time step."""

    def __init__(self, path):
        # Reads all arrays once, because NpzFile reads an array again at each access.
        with np.load(path) as stored:
            self.arrays = {name: stored[name] for name in stored.files}
        self.meta = json.loads(self.arrays.pop("meta").tobytes().decode())
        self.patches, self.dim = self.meta["patches"], self.meta["dim"]
        self.variables = [v for v in self.meta["variables"] if not (self.meta["deformed"] and v["name"] == "Coords")]
        self.coordinates = [v for v in self.meta["variables"] if self.meta["deformed"] and v["name"] == "Coords"]

    def names(self, cell):
        return sorted(v["name"] for v in self.variables if v["cell"] == cell)

    def cells(self, patch):
        p = self.patches[patch]
        return [p["upper"][d] - p["lower"][d] + 1 for d in range(3)]

    def stored(self, patch, variable):
        """Returns the values as a block [z, y, x, component], including ghosts; None if absent."""
        values = self.arrays.get("p%d/%s" % (patch, variable["name"]))
        if values is None:
            return None
        extra = 0 if variable["cell"] else 1
        n = [c + extra + 2 * g if d < self.dim else 1
             for d, (c, g) in enumerate(zip(self.cells(patch), variable["ghosts"]))]
        return values.reshape(n[2], n[1], n[0], -1)

    def layers(self, selected=None):
        """Returns the ghost layers of the grids if ghost cells are shown: the greatest number among the selected variables.
        Deformed grids have the layers of their node positions, because positions cannot be repeated."""
        if self.coordinates:
            return self.coordinates[0]["ghosts"]
        used = [v["ghosts"] for v in self.variables if selected is None or v["name"] in selected]
        return [max([g[d] for g in used] + [0]) if d < self.dim else 0 for d in range(3)]

    def grid(self, patch, layers=(0, 0, 0)):
        """Returns the range of node indices and, for uniform grids, origin and spacing; for deformed grids, the points."""
        p = self.patches[patch]
        extent = []
        for d in range(3):
            last = p["upper"][d] + 1 + layers[d] if d < self.dim else 0
            extent += [p["lower"][d] - layers[d] if d < self.dim else 0, last]
        grid = {"extent": extent, "dim": self.dim}
        if self.meta["deformed"]:
            grid["points"] = pad_components(self.values(patch, self.coordinates[0], layers), 2)
        else:
            grid["origin"] = self.meta["origin"][:self.dim]
            grid["spacing"] = self.meta["spacing"][p["level"]][:self.dim]
        return grid

    def values(self, patch, variable, layers=(0, 0, 0)):
        """Returns (tuples, components) with exactly `layers` ghost layers: surplus layers are cut off, and missing ones repeat the
        nearest value. None if absent."""
        block = self.stored(patch, variable)
        if block is None:
            return None
        cut, grow = [], []
        for d in (2, 1, 0):
            have, want = (variable["ghosts"][d], layers[d]) if d < self.dim else (0, 0)
            drop = max(have - want, 0)
            cut.append(slice(drop, block.shape[2 - d] - drop))
            grow.append((max(want - have, 0),) * 2)
        block = np.pad(block[tuple(cut)], grow + [(0, 0)], mode="edge")
        return block.reshape(-1, block.shape[3])

    def data(self, patch, cell, layers=(0, 0, 0)):
        """Returns name -> (tuples, components), as expected in a VTK array."""
        out = {}
        for v in self.variables:
            values = self.values(patch, v, layers) if v["cell"] == cell else None
            if values is not None:
                out[v["name"]] = pad_components(values, self.dim)
        return out

    def ghost_types(self, patch, layers=(0, 0, 0), blanking=True):
        """Returns vtkGhostType of each cell, and a mask of the bits to compare, because a ghost cell may also be refined."""
        n = self.cells(patch)
        covered = self.arrays["b%d" % patch].reshape(n[2], n[1], n[0]) if blanking else np.zeros(n[::-1], np.uint8)
        grow = [(layers[d],) * 2 if d < self.dim else (0, 0) for d in (2, 1, 0)]
        types = np.where(covered, REFINED, np.where(self.others(patch), DUPLICATECELL, 0)).astype(np.uint8)
        types = np.pad(types, grow, constant_values=DUPLICATECELL)
        ghost = types == DUPLICATECELL
        if ghost.any():
            types[ghost & ~self.drawn_elsewhere(patch, layers)] = DUPLICATECELL | HIDDENCELL
        return types.ravel(), np.where(ghost, DUPLICATECELL | HIDDENCELL, 255).ravel()

    def others(self, patch):
        """Returns [z, y, x], true for cells that a patch of the level with a lower number also has."""
        n = self.cells(patch)
        return self.arrays.get("o%d" % patch, np.zeros(np.prod(n), np.uint8)).reshape(n[2], n[1], n[0]) != 0

    def drawn_elsewhere(self, patch, layers):
        """Returns the cells of the grown patch whose centre lies in a patch of the same or a coarser level. For deformed grids,
        whose boxes cannot be compared, there are none."""
        own = self.patches[patch]
        axes = [np.arange(own["lower"][d] - layers[d], own["upper"][d] + 1 + layers[d]) if d < self.dim else np.zeros(1)
                for d in range(3)]
        inside = np.zeros([len(a) for a in axes[::-1]], bool)
        if self.meta["deformed"]:
            return inside
        spacing = self.meta["spacing"]
        for p in self.patches:
            if p["level"] <= own["level"]:
                hit = [np.ones(1, bool)] * 3
                for d in range(self.dim):
                    at = (axes[d] + 0.5) * spacing[own["level"]][d] / spacing[p["level"]][d]
                    hit[d] = (at > p["lower"][d]) & (at < p["upper"][d] + 1)
                inside |= hit[2][:, None, None] & hit[1][None, :, None] & hit[0][None, None, :]
        return inside


def pad_components(values, dim):
    """Makes 2-D vectors and tensors three-dimensional; returns other values unchanged."""
    n = values.shape[1]
    if dim != 2 or n not in (2, 4):
        return values
    out = np.zeros((len(values), 3 if n == 2 else 9), values.dtype)
    out[:, [0, 1] if n == 2 else [0, 1, 3, 4]] = values
    return out

"""Shows series in ParaView with merged blocks and compares each cell and node with the reference values of reference.py.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/merged.py TRUTHDIR [SERIES...]

TRUTHDIR and SERIES as in conformance.py. These rules hold for all blocks:
- each visible cell of each shown patch is visible once among all ranks, and nothing else is; where patches of a level
  overlap, the lowest has the cell, and cells of a patch by itself that are another's are duplicates with id -1;
- values are those of the patch that "patch id" names, to the last bit; nodes take the patch with the largest number;
- cells without a patch are hidden and repeat values of the block, with id -1;
- ghost layers have the value of the same level, else of the next coarser one, else they are hidden; refined cells
  beside visible ones are ghost cells too; all have id -1. No side of a grid is all hidden layer.
Runs on every rank. Several set-ups a series; the last one asks for more pieces than there are ranks.
"""
import os
import re
import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import conformance  # noqa: E402
from conformance import check_position, expect, field, name_of, open_reader, output_of, rank, ranks, report_of, sum_over_ranks  # noqa: E402
from expected import DUPLICATECELL, HIDDENCELL, REFINED, Truth, pad_components  # noqa: E402

# vtkCellDataToPointData sets values of hidden points to 0, also in its input. The soak test sets this flag, because ParaView
# converts arrays there.
hidden_may_be_zero = False


def id_names(truth):
    """Returns the names of the arrays that AddPatchIds adds, which change if the dump has variables of these names."""
    taken = [v["name"] for v in truth.meta["variables"]]
    return [n + "_" if n in taken else n for n in ("patch id", "patch owner", "level", "rank")]


class Shown:
    """The expected output for a time step: its patches, variables and hidden cells."""

    def __init__(self, truth, levels=None, patches=None, blanking=True, selected=None, layer=False):
        self.truth, self.blanking, self.layer = truth, blanking, layer
        levels = range(len(truth.meta["level_sizes"])) if levels is None else levels
        patches = range(len(truth.patches)) if patches is None else patches
        self.patches = [p for p in patches if truth.patches[p]["level"] in levels]
        self.levels = set(levels)
        self.variables = [v for v in truth.variables if selected is None or v["name"] in selected]
        self.first = np.cumsum([0] + [int(np.prod(truth.cells(p))) for p in range(len(truth.patches))])
        self.kept = {}

    def on_level(self, level):
        return [p for p in self.patches if self.truth.patches[p]["level"] == level]

    def number(self, level, number):
        """Returns the number of a patch, counted over all levels."""
        return sum(self.truth.meta["level_sizes"][:level]) + number

    def lower(self, patch):
        return np.array(self.truth.patches[patch]["lower"])

    def shape(self, patch):
        return tuple(self.truth.cells(patch)[::-1])

    def names(self, patch, cell):
        """Returns the variables of the patch. Patches with different variables are never in one block."""
        return sorted(v["name"] for v in self.variables if v["cell"] == cell and "p%d/%s" % (patch, v["name"]) in self.truth.arrays)

    def kind(self, patch):
        return self.names(patch, True), self.names(patch, False)

    def values(self, patch, name):
        """Returns the values as [z, y, x, component], without ghosts, like the VTK array."""
        if (patch, name) not in self.kept:
            variable = next(v for v in self.variables if v["name"] == name)
            n = [c + (0 if variable["cell"] or d >= self.truth.dim else 1) for d, c in enumerate(self.truth.cells(patch))]
            flat = pad_components(self.truth.values(patch, variable), self.truth.dim)
            self.kept[patch, name] = flat.reshape(n[2], n[1], n[0], -1)
        return self.kept[patch, name]

    def ratio(self, fine, coarse):
        """Returns the cells of one level per cell of a coarser level, along (x, y, z)."""
        spacing = self.truth.meta["spacing"]
        return np.array([int(round(spacing[coarse][d] / spacing[fine][d])) if d < self.truth.dim else 1 for d in range(3)])

    def covered(self, patch):
        """Returns [z, y, x], true for cells that shown patches of the next level cover completely, by marking each fine cell."""
        if ("covered", patch) not in self.kept:
            level = self.truth.patches[patch]["level"]
            out = np.zeros(self.shape(patch), bool)
            finer = self.on_level(level + 1) if self.blanking else []
            if finer:
                ratio = self.ratio(level + 1, level)
                size = np.array(self.truth.cells(patch)) * ratio
                fine = np.zeros(size[::-1], bool)
                for p in finer:
                    low = np.clip(self.lower(p) - self.lower(patch) * ratio, 0, size)
                    high = np.clip(self.lower(p) + self.truth.cells(p) - self.lower(patch) * ratio, 0, size)
                    fine[low[2]:high[2], low[1]:high[1], low[0]:high[0]] = True
                n = self.shape(patch)
                out = fine.reshape(n[0], ratio[2], n[1], ratio[1], n[2], ratio[0]).all(axis=(1, 3, 5))
            self.kept["covered", patch] = out
        return self.kept["covered", patch]

    def others(self, patch):
        """Returns [z, y, x], true for cells that a shown patch of the level with a lower number also has."""
        if ("others", patch) not in self.kept:
            out = np.zeros(self.shape(patch), bool)
            for p in self.on_level(self.truth.patches[patch]["level"]):
                if p < patch:
                    low = np.clip(self.lower(p) - self.lower(patch), 0, self.truth.cells(patch))
                    high = np.clip(self.lower(p) + self.truth.cells(p) - self.lower(patch), 0, self.truth.cells(patch))
                    out[low[2]:high[2], low[1]:high[1], low[0]:high[0]] = True
            self.kept["others", patch] = out
        return self.kept["others", patch]

    def visible_cells(self):
        """Returns how often each cell of each patch must be visible, patch after patch."""
        out = np.zeros(self.first[-1], np.int32)
        for p in self.patches:
            out[self.first[p]:self.first[p + 1]] = ~(self.covered(p) | self.others(p)).ravel()
        return out


def bits(values):
    """Returns the bits of the values, which distinguish all NaN and -0."""
    return np.ascontiguousarray(values).view("u%d" % values.dtype.itemsize)


def rows_of(values):
    """Returns each tuple as one item, for look-ups in a set."""
    flat = bits(values.reshape(-1, values.shape[-1]))
    return flat.view("V%d" % (flat.dtype.itemsize * flat.shape[1])).ravel()


class Block:
    """One grid of the output as arrays [z, y, x]; places are cell indices of the level."""

    def __init__(self, grid, level, id_names, where):
        self.grid, self.level, self.id_names, self.where = grid, level, id_names, where
        extent = grid.GetExtent()
        self.low = np.array(extent[0::2])
        self.size = np.maximum(np.array(extent[1::2]) - self.low, 1)
        self.dim = 2 if extent[4] == extent[5] else 3
        shape = tuple(self.size[::-1])
        types = grid.GetCellData().GetAbstractArray("vtkGhostType")
        self.types = vtk_to_numpy(types).reshape(shape) if types else np.zeros(shape, np.uint8)
        self.ids, self.owners, levels, ranks_of = (
            vtk_to_numpy(grid.GetCellData().GetAbstractArray(n)).reshape(shape) for n in id_names)
        expect((levels == level).all() and (ranks_of == rank).all(), "%s: levels %s, ranks %s", where, levels, ranks_of)
        self.own = self.ids >= 0

    def array(self, name, cell):
        array = (self.grid.GetCellData() if cell else self.grid.GetPointData()).GetAbstractArray(name)
        values = vtk_to_numpy(array)
        n = self.size if cell else self.size + [int(d < self.dim) for d in range(3)]
        if not expect(len(values) == np.prod(n), "%s '%s': %d values for %s", self.where, name, len(values), n):
            return None
        return values.reshape(n[2], n[1], n[0], -1)

    def common(self, low, size, extra=0):
        """Returns the slices, in this block and in a box that starts at `low`, of the cells that both have."""
        mine, others = [], []
        for d in (2, 1, 0):
            more = extra if d < self.dim else 0
            a = max(self.low[d], low[d])
            b = max(a, min(self.low[d] + self.size[d], low[d] + size[d]) + more)
            mine.append(slice(a - self.low[d], b - self.low[d]))
            others.append(slice(a - low[d], b - low[d]))
        return tuple(mine), tuple(others)

    def places(self, mask):
        """Returns the indices (x, y, z) of the cells in `mask`, one cell per row."""
        return np.argwhere(mask)[:, ::-1] + self.low


def check_equal(found, want, where):
    if not expect(found.dtype == want.dtype, "%s: %s instead of %s", where, found.dtype, want.dtype):
        return
    if expect(found.shape == want.shape, "%s: shape %s instead of %s", where, found.shape, want.shape):
        differ = np.argwhere(bits(found) != bits(want))
        conformance.compared[0] += found.size
        expect(not len(differ), "%s: %d of %d values differ", where, len(differ), found.size)


def check_block(block, shown, seen):
    """Checks a block, and adds its visible cells to `seen`."""
    patches = patches_of(block, shown)
    if not expect(len(patches), "%s: a block without a patch", block.where):
        return
    kinds = [shown.kind(p) for p in patches]
    expect(all(k == kinds[0] for k in kinds), "%s: patches with different variables: %s", block.where, kinds)
    check_names(block, kinds[0])
    expect(set(patches) <= set(shown.on_level(block.level)), "%s: patches %s are not of this level", block.where, patches)
    check_position(block.grid, shown.truth.grid(patches[0]), list(block.grid.GetExtent()), block.where)
    cells = {n: block.array(n, True) for n in kinds[0][0]}
    repeats = check_repeats(block, shown, cells)
    expect(shown.layer or not (block.types == DUPLICATECELL)[~repeats].any(), "%s: duplicate cells, not asked for", block.where)
    for p in patches:
        check_patch(block, shown, p, cells, seen)
    check_others(block, shown, ~block.own & ~repeats, cells, kinds[0])
    check_nodes(block, shown, patches, np.where(repeats, patches[0], block.ids), kinds[0][1])


def patches_of(block, shown):
    """Returns the patches of the block according to the cells' ids. If all cells of a single patch belong to other patches, returns
    this patch."""
    patches = np.unique(block.ids[block.own])
    alone = patch_alone(block, shown)
    return patches if len(patches) or alone is None else np.array([alone])


def patch_alone(block, shown):
    """Returns the patch of a block that is one patch or a part of one; None for other blocks."""
    number = field(block.grid, "patch")
    return None if number is None else shown.number(block.level, int(number))


def check_repeats(block, shown, cells):
    """Checks the cells of a single patch that another patch of its level also has, and that no finer patch covers. Blocks with a
    ghost layer are left out here. Returns these cells."""
    out = np.zeros_like(block.own)
    alone = patch_alone(block, shown)
    if alone is not None and not shown.layer:
        mine, its = block.common(shown.lower(alone), shown.truth.cells(alone))
        mask = (shown.others(alone) & ~shown.covered(alone))[its]
        out[mine] = mask
        expect((block.types[out] == DUPLICATECELL).all() and (block.ids[out] == -1).all(), "%s: not all of %d cells of other patches "
               "are duplicates", block.where, mask.sum())
        for name, found in cells.items():
            if found is not None:
                check_equal(found[mine][mask], shown.values(alone, name)[its][mask], "%s '%s'" % (block.where, name))
    return out


def check_names(block, kind):
    for data, names in ((block.grid.GetCellData(), block.id_names + kind[0]), (block.grid.GetPointData(), kind[1])):
        found = sorted(data.GetArrayName(i) for i in range(data.GetNumberOfArrays()))
        expect([n for n in found if n != "vtkGhostType"] == sorted(names), "%s: arrays %s instead of %s", block.where, found, sorted(names))


def check_patch(block, shown, patch, cells, seen):
    """Checks the cells that belong to a patch according to their ids."""
    mine, its = block.common(shown.lower(patch), shown.truth.cells(patch))
    where = "%s, cells of patch %d" % (block.where, patch)
    here = block.own & (block.ids == patch)
    mask = here[mine]
    expect(mask.sum() == here.sum(), "%s: %d of %d lie outside of it", where, here.sum() - mask.sum(), here.sum())
    refined = shown.covered(patch)[its]
    wrong = (block.types[mine] != np.where(refined, REFINED, 0)) & mask
    if shown.layer:
        # Refined cells beside visible cells are ghost cells.
        wrong |= refined & mask & beside(block.types == 0)[mine]
    expect(not wrong.any(), "%s: %d ghost types are wrong", where, wrong.sum())
    owner = shown.truth.patches[patch]["owner"]
    expect((block.owners[here] == owner).all(), "%s: other owners than %d", where, owner)
    for name, found in cells.items():
        if found is not None:
            check_equal(found[mine][mask], shown.values(patch, name)[its][mask], "%s '%s'" % (where, name))
    counts = seen[shown.first[patch]:shown.first[patch + 1]].reshape(shown.shape(patch))
    counts[its] += mask & (block.types[mine] == 0)


def beside(cells):
    """Returns the cells that share a node with one of `cells`, including `cells`."""
    padded = np.pad(cells, [(1, 1)] * 3)
    out = np.zeros_like(cells)
    for shift in np.ndindex(3, 3, 3):
        out |= padded[tuple(slice(s, s + n) for s, n in zip(shift, cells.shape))]
    return out


def check_others(block, shown, others, cells, kind):
    """Checks the cells that belong to no patch of the block: ghost layer and gaps."""
    if shown.layer:
        filled = check_fringe(block, shown, others, cells, kind)
    else:
        filled = np.zeros_like(others)
    gaps = others & ~filled
    grown = DUPLICATECELL if shown.layer else 0
    expect((block.types[gaps] == HIDDENCELL | grown).all(), "%s: %s as types of gaps", block.where, np.unique(block.types[gaps]))
    expect((block.ids[others] == -1).all() and (block.owners[others] == -1).all(), "%s: gaps or ghost cells with a patch id", block.where)
    for name, found in cells.items():
        if found is not None and gaps.any():
            known = np.isin(rows_of(found[gaps]), np.unique(rows_of(found[~gaps])))
            expect(known.all(), "%s '%s': %d of %d gaps have values of their own", block.where, name, (~known).sum(), len(known))


def check_fringe(block, shown, others, cells, kind):
    """Checks the ghost cells of a block. Returns where there must be ghost cells with values."""
    places = block.places(others)
    types = block.types[others]
    open_ = np.ones(len(places), bool)
    right = {n: np.zeros(len(places), bool) for n, found in cells.items() if found is not None}
    for level in range(block.level, -1, -1):
        ratio = shown.ratio(block.level, level)
        at = places // ratio
        here = np.zeros(len(places), bool)
        for p in shown.on_level(level):
            if shown.kind(p) == kind:
                inside = open_ & ((at >= shown.lower(p)) & (at < shown.lower(p) + shown.truth.cells(p))).all(1)
                here |= inside
                place = tuple((at[inside] - shown.lower(p)).T[::-1])
                for name in right:    # any of several overlapping patches may give the value
                    right[name][inside] |= (bits(cells[name][others][inside]) == bits(shown.values(p, name)[place])).all(-1)
        open_ &= ~here
    filled = ~open_
    for name in right:
        conformance.compared[0] += int(filled.sum())
        expect(right[name][filled].all(), "%s '%s': %d of %d ghost cells have wrong values", block.where, name, (~right[name][filled]).sum(), filled.sum())
    check_sides(block)
    expect((types[filled] == DUPLICATECELL).all(), "%s: %s as types of ghost cells", block.where, np.unique(types[filled]))
    out = np.zeros_like(others)
    out[others] = filled
    return out


def check_sides(block):
    """Checks that no side of the block consists of hidden ghost cells only."""
    for axis in (2, 1, 0)[:block.dim]:
        for end in (0, -1):
            side = np.take(block.types, end, axis)
            expect((side != DUPLICATECELL | HIDDENCELL).any(), "%s: nothing but hidden cells on a side", block.where)


def owners_of_nodes(block, ids):
    """Returns the largest patch number of the cells at each node; -1 if there is none."""
    owner = np.full([n + int(d < block.dim) for d, n in zip((2, 1, 0), ids.shape)], -1)
    for shift in np.ndindex(*[2 if d < block.dim else 1 for d in (2, 1, 0)]):
        part = tuple(slice(s, s + n) for s, n in zip(shift, ids.shape))
        owner[part] = np.maximum(owner[part], ids)
    return owner


def refined_ghosts(block, shown):
    """Returns the patches of refined ghost cells; -1 for all other cells."""
    out = np.full_like(block.ids, -1)
    for p in shown.on_level(block.level):
        mine, its = block.common(shown.lower(p), shown.truth.cells(p))
        refined = shown.covered(p)[its] & (block.types[mine] == DUPLICATECELL)
        out[mine] = np.where(refined, np.maximum(out[mine], p), out[mine])
    return out


def check_nodes(block, shown, patches, ids, names):
    """Checks that a node of several patches has the value of the patch with the largest number. ids: patch ids of the cells."""
    owner = owners_of_nodes(block, ids)
    if shown.layer:
        # Refined ghost cells may belong to the block. check_other_nodes() checks their nodes.
        owner = np.where(owners_of_nodes(block, refined_ghosts(block, shown)) > owner, -1, owner)
    for name in names:
        found = block.array(name, False)
        if found is None:
            continue
        for p in patches:
            mine, its = block.common(shown.lower(p), shown.truth.cells(p), 1)
            mask = owner[mine] == p
            expect(mask.sum() == (owner == p).sum(), "%s: nodes of patch %d outside of it", block.where, p)
            check_equal(found[mine][mask], shown.values(p, name)[its][mask], "%s, nodes of patch %d '%s'" % (block.where, p, name))
        check_other_nodes(block, shown, found, owner < 0, name)


def check_other_nodes(block, shown, found, others, name):
    """Checks that other nodes repeat a node of the block or, in the ghost layer, have the value of a patch with the node."""
    if not others.any():
        return
    known = np.isin(rows_of(found[others]), np.unique(rows_of(found[~others])))
    if shown.layer:
        every = [np.unique(rows_of(shown.values(p, name))) for p in shown.on_level(block.level) if name in shown.names(p, False)]
        known |= np.isin(rows_of(found[others]), np.concatenate(every))
    if hidden_may_be_zero:
        known |= (found[others].reshape(others.sum(), -1) == 0).all(axis=1)
    expect(known.all(), "%s '%s': %d of %d nodes in gaps have values of their own", block.where, name, (~known).sum(), len(known))


# ---- the tree -------------------------------------------------------------------------------------------

def check_tree(tree, shown, seen, most_cells, where):
    """Checks the blocks of this rank. Returns the number of pieces of each level, and how often this rank has each piece."""
    sizes = shown.truth.meta["level_sizes"]
    pieces, held = [0] * len(sizes), []
    expect(tree.IsA("vtkMultiBlockDataSet"), "%s: output is a %s", where, tree.GetClassName())
    if not expect(tree.GetNumberOfBlocks() == len(sizes), "%s: %d blocks for %d levels", where, tree.GetNumberOfBlocks(), len(sizes)):
        return pieces, held
    expect(field(tree, "time") == shown.truth.meta["time"], "%s: field 'time' is %s", where, field(tree, "time"))
    for level in range(len(sizes)):
        expect(name_of(tree, level) == "level %d" % level, "%s: block %d is called %s", where, level, name_of(tree, level))
        parts = tree.GetBlock(level)
        pieces[level] = parts.GetNumberOfPieces()
        expect(pieces[level] == 0 or level in shown.levels, "%s: %d pieces on level %d", where, pieces[level], level)
        for number in range(pieces[level]):
            grid = parts.GetPieceAsDataObject(number)
            held.append(int(grid is not None))
            if grid is not None:
                name = "%s level %d piece %d" % (where, level, number)
                expect(grid.IsA("vtkUniformGrid"), "%s: a %s", name, grid.GetClassName())
                block = Block(grid, level, id_names(shown.truth), name)
                check_block(block, shown, seen)
                check_label(block, shown, name_of(parts, number), most_cells)
    return pieces, held


def check_label(block, shown, name, most_cells):
    """Checks name, field data and size."""
    patches = [int(p) for p in patches_of(block, shown)]
    numbers = [shown.truth.patches[p]["number"] for p in patches]
    want = "patch %d" % numbers[0] if len(numbers) == 1 else "%d patches, %d to %d" % (len(numbers), min(numbers), max(numbers))
    if not shown.layer:    # with a layer, patches of only refined cells cannot be distinguished from neighbours
        expect(name == want, "%s is called '%s' instead of '%s'", block.where, name, want)
        # A block may have several parts of one patch.
        expect(field(block.grid, "patch") in ([numbers[0], None] if len(patches) == 1 else [None]), "%s: field 'patch' is %s", block.where, field(block.grid, "patch"))
    expect(field(block.grid, "level") == block.level, "%s: field 'level' is %s", block.where, field(block.grid, "level"))
    expect(field(block.grid, "rank") == rank, "%s: field 'rank' is %s", block.where, field(block.grid, "rank"))
    # The layer, if any, does not count, because it is only on some sides.
    cells = np.prod(np.ptp(block.places(block.own), axis=0) + 1) if shown.layer and block.own.any() else np.prod(block.size)
    expect(most_cells is None or cells <= most_cells or len(patches) == 1, "%s: %d cells", block.where, cells)


def check_output(reader, shown, where, most_cells=None):
    """Collective: checks the output. Returns the number of blocks."""
    seen = np.zeros(shown.first[-1], np.int32)
    pieces, held = check_tree(output_of(reader), shown, seen, most_cells, where)
    check_seen(seen, shown, where)
    check_held(held, where)
    blocks = sum(pieces)
    text = re.findall(r"^Blocks: (.*)$", report_of(reader), re.MULTILINE)
    if shown.layer and rank == 0:
        having = [sum(v["name"] in shown.names(p, v["cell"]) for p in shown.patches) for v in shown.variables]
        partial = any(0 < n < len(shown.patches) for n in having)
        notes = len(re.findall("^Note: Add Ghost Layer adds no cells between patches that have", report_of(reader), re.MULTILINE))
        expect(notes == int(partial), "%s: %d notes about variables that some patches lack", where, notes)
    expect(text == [str(blocks)] if blocks else text in ([], ["0"]), "%s: report says %s of %d blocks", where, text, blocks)
    return blocks


def check_seen(seen, shown, where):
    seen = sum_over_ranks(seen)
    if rank == 0:
        wrong = np.flatnonzero(seen != shown.visible_cells())
        places = [(int(np.searchsorted(shown.first, i, "right")) - 1, int(seen[i])) for i in wrong[:5]]
        expect(not len(wrong), "%s: %d cells are seen too often or not at all: (patch, times) %s", where, len(wrong), places)


def check_held(held, where):
    """Checks that all ranks have the same pieces, with each grid on one rank."""
    most, = sum_over_ranks([len(held)])
    if expect(most == len(held) * ranks, "%s: ranks differ in the number of pieces", where):
        total = sum_over_ranks(held)
        expect((total == 1).all(), "%s: pieces on other than one rank: %s", where, list(total))


def check_integrals(reader, shown, time, where):
    """Collective: checks that Integrate Variables counts each place once, by comparing with numpy."""
    sums = simple.IntegrateVariables(Input=reader)
    sums.UpdatePipeline(time)
    output = output_of(sums)
    for variable in shown.variables:
        name = variable["name"]
        if not variable["cell"] or not all(name in shown.names(p, True) for p in shown.patches):
            continue
        want, size = 0.0, 0.0
        for p in shown.patches:
            cell = np.prod(shown.truth.meta["spacing"][shown.truth.patches[p]["level"]][:shown.truth.dim])
            seen = shown.values(p, name)[~(shown.covered(p) | shown.others(p))].astype(float) * cell
            want, size = want + seen.sum(axis=0), size + abs(seen).sum()
        array = output.GetCellData().GetArray(name)
        found = sum_over_ranks(array.GetTuple(0) if array and array.GetNumberOfTuples() else np.zeros(len(want)))
        near = np.allclose(found, want, rtol=0, atol=1e-6 * size) or not np.isfinite(size)
        expect(near, "%s: integral of '%s' %s instead of %s", where, name, found, want)
    simple.Delete(sums)


# ---- a series -------------------------------------------------------------------------------------------

def open_merged(index, **properties):
    return open_reader(index, **{"Blocks": "Merged", "AddPatchIds": 1, **properties})


def select_all(reader, truth):
    conformance.select(reader, truth.names(True), truth.names(False))


def check_series(entry, folder):
    """Checks all steps. Returns the number of patches minus the number of blocks, over all steps."""
    reader = open_merged(entry["index"])
    saved = 0
    for step, time in zip(entry["steps"], entry["times"]):
        truth = Truth(os.path.join(folder, step["npz"]))
        if truth.meta["deformed"]:
            check_deformed(reader, truth, time, entry["index"])
            continue
        reader.UpdatePipelineInformation()
        select_all(reader, truth)
        reader.UpdatePipeline(time)
        shown, where = Shown(truth), "%s step %d merged" % (entry["index"], truth.meta["step"])
        saved += len(truth.patches) - check_output(reader, shown, where)
        check_integrals(reader, shown, time, where)
        if any(shown.others(p).any() for p in shown.patches):
            # Overlapping patches are merged, too.
            expect(len(truth.patches) == 1 or saved > 0, "%s: as many blocks as patches", where)
            check_by_themselves(reader, shown, time, where)
    if entry["steps"] and not truth.meta["deformed"]:
        check_setups(reader, truth, time, entry["index"])
    simple.Delete(reader)
    return saved


def check_by_themselves(reader, shown, time, where):
    reader.Blocks = "As patches"
    reader.UpdatePipeline(time)
    check_output(reader, shown, where + ", patches")
    check_integrals(reader, shown, time, where + ", patches")
    reader.Blocks = "Merged"


def check_deformed(reader, truth, time, index):
    """Checks that curvilinear grids are not merged."""
    reader.UpdatePipelineInformation()
    select_all(reader, truth)
    reader.AddPatchIds = 0
    reader.UpdatePipeline(time)
    for layer in (0, 1):
        reader.AddGhostLayer = layer
        reader.UpdatePipeline(time)
        conformance.check_output(reader, truth, range(len(truth.meta["level_sizes"])), (0, 0, 0), True, None,
                                 "%s step %d merged, ghost layer %d" % (index, truth.meta["step"], layer))
        check_note(reader, bool(layer), index)


def check_note(reader, wanted, where):
    """Checks that the report has one note if a ghost layer was requested without effect, and otherwise none."""
    notes = len(re.findall("^Note: Add Ghost Layer has no effect", report_of(reader), re.MULTILINE))
    expect(rank > 0 or notes == int(wanted), "%s: %d notes about the ghost layer", where, notes)


def check_setups(reader, truth, time, index):
    """Checks other settings, each changed from the plain settings and back."""
    last = len(truth.meta["level_sizes"]) - 1
    steps = [("no blanking", dict(BlankRefinedCells=0), dict(blanking=False)),
             ("level 0 only", dict(LevelRange=[0, 0]), dict(levels=[0])),
             ("finest level only", dict(LevelRange=[last, last]), dict(levels=[last])),
             ("all but the finest level", dict(LevelRange=[0, max(0, last - 1)]), dict(levels=range(max(1, last)))),
             ("all levels again", {}, {}),
             ("ghost layer", dict(AddGhostLayer=1), dict(layer=True)),
             ("ghost layer, no blanking", dict(AddGhostLayer=1, BlankRefinedCells=0), dict(layer=True, blanking=False)),
             ("ghost layer, finest level only", dict(AddGhostLayer=1, LevelRange=[last, last]), dict(layer=True, levels=[last])),
             ("ghost layer, patches", dict(AddGhostLayer=1, Blocks="As patches"), dict(layer=True)),
             ("patches", dict(Blocks="As patches"), {}),
             ("3 threads", dict(ThreadMode="Fixed", ThreadsPerRank=3), {})]
    for most in (1, 20, 100):
        steps.append(("up to %d cells" % most, dict(Blocks="Merged up to Maximum Block Cells", MaximumBlockCells=most), {}))
        steps.append(("ghost layer, up to %d cells" % most, dict(AddGhostLayer=1, **steps[-1][1]), dict(layer=True)))
    for setting, properties, shown in steps:
        before = {name: value_of(reader, name) for name in properties}
        set_properties(reader, properties)
        reader.UpdatePipeline(time)
        check_output(reader, Shown(truth, **shown), "%s step %d, %s" % (index, truth.meta["step"], setting), properties.get("MaximumBlockCells"))
        set_properties(reader, before)
    check_selection(reader, truth, time, index)
    check_file_ghosts(reader, truth, time, index)
    check_pieces(reader, truth, time, index)


def value_of(reader, name):
    value = reader.GetPropertyValue(name)
    return list(value) if name == "LevelRange" else value


def set_properties(reader, properties):
    for name, value in properties.items():
        setattr(reader, name, value)


def check_selection(reader, truth, time, index):
    """Checks one array at a time. Patches that differ only in other arrays may be merged."""
    for variable in truth.variables[:1] + truth.variables[-1:]:
        name = variable["name"]
        conformance.select(reader, *([n for n in [name] if n in truth.names(c)] for c in (True, False)))
        reader.UpdatePipeline(time)
        check_output(reader, Shown(truth, selected=[name]), "%s step %d, only '%s'" % (index, truth.meta["step"], name))
    select_all(reader, truth)


def check_file_ghosts(reader, truth, time, index):
    """Checks that patches with ghost cells from the files are not merged, and get no additional layer."""
    reader.ReadGhostCells, reader.AddPatchIds = 1, 0
    for layer in (0, 1):
        reader.AddGhostLayer = layer
        reader.UpdatePipeline(time)
        where = "%s step %d merged, ghost cells shown, ghost layer %d" % (index, truth.meta["step"], layer)
        if any(truth.layers()):
            conformance.check_output(reader, truth, range(len(truth.meta["level_sizes"])), truth.layers(), True, None, where)
            check_note(reader, bool(layer), where)
        else:
            check_note(reader, False, where)
            reader.AddPatchIds = 1
            reader.UpdatePipeline(time)
            check_output(reader, Shown(truth, layer=bool(layer)), where)
            reader.AddPatchIds = 0
    set_properties(reader, dict(ReadGhostCells=0, AddPatchIds=1, AddGhostLayer=0))


def check_pieces(reader, truth, time, index):
    """Checks more pieces than ranks: each rank requests three pieces, one after another."""
    reader.UpdatePipeline(time)
    vtk_reader, shown = reader.GetClientSideObject(), Shown(truth)
    seen = np.zeros(shown.first[-1], np.int32)
    total = 0
    where = "%s step %d, pieces of %d" % (index, truth.meta["step"], 3 * ranks)
    for turn in range(3):
        vtk_reader.UpdatePiece(rank + turn * ranks, 3 * ranks, 0)
        pieces, held = check_tree(output_of(reader), shown, seen, None, where)
        total = total + np.array(held, np.int32)
    check_seen(seen, shown, where)
    check_held(total, where)


def main():
    folder, *wanted = sys.argv[1:]
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    table = conformance.series_in(folder, wanted)
    saved = sum(check_series(entry, folder) for entry in table)
    # Otherwise nothing was merged, and the test would check little.
    expect(saved > 0, "as many blocks as patches in all series together")
    conformance.finish("merged: %d series, %d patches saved" % (len(table), saved))


if __name__ == "__main__":
    main()

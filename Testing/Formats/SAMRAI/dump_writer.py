"""Writes SAMRAI VisIt dumps from a short description: levels, boxes, variables, functions.

Follows shared/formats/SAMRAI.md with h5py only, so that the test data are independent of PatchIO's C++ code. Objects have the form
of SAMRAI's writer: old-style groups, contiguous big-endian data with a "Type" attribute, native compounds without one.
"""
import os
from dataclasses import dataclass, field
from typing import Callable, Optional, Sequence

import h5py
import numpy as np

GHOST_OFFSET = 10000.0    # added to values in ghost layers, so that ghost values differ from all interior values

# The order of members and their offsets differ, as in real files, so a reader must use the names.
MAP_TYPE = (16, [("processor_number", 4, "<i4"), ("file_cluster_number", 0, "<i4"), ("level_number", 8, "<i4"),
                 ("patch_number", 12, "<i4")])
BOX_TYPE = (72, [("lower", 0, ("<i4", (3,))), ("upper", 12, ("<i4", (3,))), ("xlo", 24, ("<f8", (3,))),
                 ("xup", 48, ("<f8", (3,)))])
RANGE_TYPE = (32, [("data_is_defined", 24, "i1"), ("material_composition_flag", 16, "<i4"),
                   ("species_composition_flag", 20, "<i4"), ("min", 0, "<f8"), ("max", 8, "<f8")])


def pointer_type(count_name):
    return (8, [("offset", 0, "<i4"), (count_name, 4, "<i4")])


def numpy_type(compound):
    size, members = compound
    return np.dtype({"names": [m[0] for m in members], "offsets": [m[1] for m in members],
                     "formats": [m[2] for m in members], "itemsize": size})


# ---- HDF5 objects the way SAMRAI writes them ------------------------------------------------------------

def set_type_attribute(dataset, code):
    attribute = h5py.h5a.create(dataset.id, b"Type", h5py.h5t.STD_I8BE, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(code, "i1"))


def put(group, name, values, kind, **storage):
    """Writes a data set, big endian with a Type attribute (tbox::HDFDatabase). kind: "f4", "f8" or "i4". storage: options of
    h5py."""
    dataset = group.create_dataset(name, data=np.atleast_1d(np.asarray(values)).astype(">" + kind), **storage)
    set_type_attribute(dataset, {"f4": 6, "f8": 5, "i4": 7}[kind])


def put_native(group, name, values, kind):
    group.create_dataset(name, data=np.asarray(values).astype("<" + kind))


def put_strings(group, name, texts):
    texts = [t.encode("latin1") for t in texts]
    size = max(len(t) for t in texts) + 1
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(size)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    identifier = h5py.h5d.create(group.id, name.encode(), kind, h5py.h5s.create_simple((len(texts),)))
    identifier.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array(texts, "S%d" % size), mtype=kind)
    set_type_attribute(h5py.Dataset(identifier), 8)


def put_compound(group, name, compound, records):
    size, members = compound
    kind = h5py.h5t.create(h5py.h5t.COMPOUND, size)
    for member, offset, spec in members:
        kind.insert(member.encode(), offset, h5py.h5t.py_create(np.dtype(spec)))
    identifier = h5py.h5d.create(group.id, name.encode("latin1"), kind, h5py.h5s.create_simple((len(records),)))
    identifier.write(h5py.h5s.ALL, h5py.h5s.ALL, records)


# ---- the description ------------------------------------------------------------------------------------

@dataclass
class Level:
    boxes: Sequence                      # [(lower, upper)], inclusive cell indices on this level
    ratio: Optional[Sequence] = None     # to the next coarser level
    blocks: Optional[Sequence] = None    # block of each box, deformed multiblock only


@dataclass
class Variable:
    name: str
    function: Callable                   # (x, patch) -> array, or list of one array per component
    components: int = 1
    cell: bool = True
    ghosts: Sequence = (0, 0, 0)
    where: Callable = lambda patch: True  # patches that hold the variable
    ghost_offset: float = GHOST_OFFSET


@dataclass
class Materials:
    fractions: dict                      # material -> function(x, patch)
    sparse: bool = False
    ghosts: Sequence = (0, 0, 0)
    species: dict = field(default_factory=dict)   # material -> {species: function(x, patch)}


@dataclass
class Patch:
    gpn: int
    level: int
    number: int
    lower: np.ndarray
    upper: np.ndarray
    block: int
    rank: int = 0
    cluster: int = 0


@dataclass
class Dump:
    levels: Sequence
    variables: Sequence
    step: int = 0
    time: float = 0.0
    ranks: int = 4
    processors_per_cluster: int = 1
    rank_of: Callable = None    # patch -> rank; default: round robin
    origin: Sequence = (0.0, 0.0, 0.0)   # true lower corner of the domain
    dx: Sequence = (1.0, 1.0, 1.0)       # cell size on level 0
    mapping: Callable = None             # deformed: (u in level-0 index units, block) -> position
    coords_ghosts: Sequence = (0, 0, 0)
    materials: Materials = None
    version: float = 2.0
    storage: Callable = None    # name of a variable -> chunks and filters, as from h5repack
    old_writer: bool = False             # SAMRAI 2.4.4: no bdry_type, no patch_names_printf

    def __post_init__(self):
        self.dim = len(self.levels[0].boxes[0][0])
        self.refinement = self._refinement()
        self.patches = self._patches()
        first = [p.lower for p in self.patches if p.level == 0]
        self.first_index = np.min(first, axis=0)
        if self.mapping is not None:
            self.variables = list(self.variables) + [Variable("Coords", lambda x, p: list(x[:self.dim]), self.dim,
                False, self.coords_ghosts, ghost_offset=0.0)]

    def _refinement(self):
        """Returns the cells of each level in one cell of level 0, per axis; 1 for the missing axis in 2-D."""
        total, out = np.ones(3, int), []
        for level in self.levels:
            if level.ratio is not None:
                total = total * three(level.ratio, 1)
            out.append(total)
        return out

    def _patches(self):
        patches = []
        for l, level in enumerate(self.levels):
            for n, (lower, upper) in enumerate(level.boxes):
                block = level.blocks[n] if level.blocks else 0
                p = Patch(len(patches), l, n, three(lower), three(upper), block)
                p.rank = self.rank_of(p) if self.rank_of else p.gpn % self.ranks
                p.cluster = p.rank // self.processors_per_cluster
                patches.append(p)
        return patches

    def level_dx(self, level):
        return np.asarray(three(self.dx, 0.0), float) / self.refinement[level]

    def position(self, patch, index):
        """Returns the true position of (fractional) level indices, as three arrays."""
        if self.mapping is not None:
            return self.mapping([index[d] / self.refinement[patch.level][d] for d in range(3)], patch.block)
        dx, dx0, origin = self.level_dx(patch.level), self.level_dx(0), three(self.origin, 0.0)
        return [origin[d] + dx[d] * index[d] - dx0[d] * self.first_index[d] if d < self.dim else 0.0 * index[d]
                for d in range(3)]

    def sample(self, patch, variable):
        """Returns the stored values (tuples, components), including ghosts."""
        ghosts = [variable.ghosts[d] if d < self.dim else 0 for d in range(3)]
        axes, outside = [], []
        for d in range(3):
            count = patch.upper[d] - patch.lower[d] + 1 + (0 if variable.cell or d >= self.dim else 1)
            i = np.arange(-ghosts[d], count + ghosts[d])
            axes.append(patch.lower[d] + i + (0.5 if variable.cell and d < self.dim else 0.0))
            outside.append((i < 0) | (i >= count))
        index = [a.ravel() for a in np.meshgrid(*axes[::-1], indexing="ij")][::-1]
        ghost = np.logical_or.reduce([g.ravel() for g in np.meshgrid(*outside[::-1], indexing="ij")])
        values = variable.function(self.position(patch, index), patch)
        if not isinstance(values, (list, tuple)):
            values = [values]
        assert len(values) == variable.components, variable.name
        values = np.stack([np.broadcast_to(np.asarray(v, float), ghost.shape) for v in values], axis=1)
        return np.where(ghost[:, None], values + variable.ghost_offset, values)

    def children(self, patch):
        if patch.level + 1 == len(self.levels):
            return []
        ratio = three(self.levels[patch.level + 1].ratio, 1)
        low, high = patch.lower * ratio, (patch.upper + 1) * ratio - 1
        found = [c.gpn for c in self.patches if c.level == patch.level + 1 and c.block == patch.block
                 and (c.lower <= high).all() and (c.upper >= low).all()]
        return found[::-1]    # SAMRAI's order, from a search tree, is not ascending either

    # ---- writing ----

    def write(self, directory):
        os.makedirs(directory, exist_ok=True)
        self._write_clusters(directory)
        with h5py.File(os.path.join(directory, "summary.samrai"), "w", libver="earliest") as f:
            self._write_basic_info(f.create_group("BASIC_INFO"))
            self._write_extents(f.create_group("extents"))
            if self.materials:
                self._write_material_names(f.create_group("materials"))

    def _write_clusters(self, directory):
        clusters = range((self.ranks - 1) // self.processors_per_cluster + 1)
        for c in clusters:
            name = os.path.join(directory, "processor_cluster.%05d.samrai" % c)
            with h5py.File(name, "w", libver="earliest") as f:
                for rank in range(self.ranks):
                    if rank // self.processors_per_cluster == c:
                        self._write_processor(f.create_group("processor.%05d" % rank), rank)

    def _write_processor(self, group, rank):
        for l in range(len(self.levels)):
            level = group.create_group("level.%05d" % l)
            for p in self.patches:
                if p.level == l and p.rank == rank:
                    self._write_patch(level.create_group("patch.%05d" % p.number), p)

    def _write_patch(self, group, patch):
        for v in self.variables:
            if v.where(patch):
                values = self.sample(patch, v)
                for c, name in enumerate(component_names(v)):
                    put(group, name, values[:, c], "f4", **(self.storage(v.name) if self.storage else {}))
        if self.materials:
            writer = self._write_sparse if self.materials.sparse else self._write_dense
            writer(group.create_group("materials"), patch)

    def _write_basic_info(self, g):
        levels, n, v = len(self.levels), len(self.patches), len(self.variables)
        deformed = self.mapping is not None
        put(g, "VDR_version_number", self.version, "f4")
        put_strings(g, "grid_type", ["DEFORMED" if deformed else "CARTESIAN"])
        put(g, "time", self.time, "f8")
        put(g, "time_step_number", self.step, "i4")
        put_strings(g, "time_of_dump", ["Mon Jan 01 12:00:00 UTC 2024"])
        put(g, "number_processors", self.ranks, "i4")
        put(g, "number_file_clusters", (self.ranks - 1) // self.processors_per_cluster + 1, "i4")
        put(g, "number_dimensions_of_problem", self.dim, "i4")
        put(g, "number_levels", levels, "i4")
        put(g, "number_patches_at_level", [len(l.boxes) for l in self.levels], "i4")
        put(g, "number_global_patches", n, "i4")
        put_native(g, "ratios_to_coarser_levels",
            [three(l.ratio if l.ratio is not None else [-1] * self.dim) for l in self.levels], "i4")
        put(g, "number_visit_variables", v, "i4")
        if v:
            self._write_variables(g)
        if deformed:
            put(g, "deformed_coordinate_scaling", [1.0, 1.0, 1.0], "f8")
        put(g, "XLO", np.zeros(3) if deformed else three(self.origin, 0.0), "f8")
        dx = [np.zeros(3) if deformed else self.level_dx(l) for l in range(levels)]
        put_native(g, "dx", dx, "f8")
        edges = [(p.gpn, c) for p in self.patches for c in self.children(p)]
        self._write_table(g, "child", "number_children", edges)
        self._write_table(g, "parent", "number_parents", sorted((c, p) for p, c in edges))
        if not self.old_writer:
            put_strings(g, "patch_names_printf", ["f%F R%P B%B L%02L P%05T"])

    def _write_variables(self, g):
        put_strings(g, "var_names", [v.name for v in self.variables])
        put(g, "var_cell_centered", [int(v.cell) for v in self.variables], "i4")
        put(g, "var_number_components", [v.components for v in self.variables], "i4")
        put_native(g, "var_number_ghosts", [three(v.ghosts[:self.dim]) for v in self.variables], "i4")
        put(g, "scaling", [0.0 if v.name == "Coords" else 1.0 for v in self.variables], "f8")
        put(g, "material_state_variable", [0] * len(self.variables), "i4")

    def _write_table(self, g, kind, count_name, edges):
        put(g, kind + "_array_length", len(edges), "i4")
        if not edges:
            return
        put(g, kind + "_array", [b for _, b in edges], "i4")
        records = np.zeros(len(self.patches), numpy_type(pointer_type(count_name)))
        records["offset"] = -1
        for i, (a, _) in enumerate(edges):
            if records[count_name][a] == 0:
                records["offset"][a] = i
            records[count_name][a] += 1
        put_compound(g, kind + "_pointer_array", pointer_type(count_name), records)

    def _write_extents(self, g):
        n = len(self.patches)
        records = np.zeros(n, numpy_type(MAP_TYPE))
        boxes = np.zeros(n, numpy_type(BOX_TYPE))
        for p in self.patches:
            records[p.gpn] = (p.rank, p.cluster, p.level, p.number)
            boxes["lower"][p.gpn], boxes["upper"][p.gpn] = p.lower, p.upper
            if self.mapping is None:
                boxes["xlo"][p.gpn], boxes["xup"][p.gpn] = self._shifted_corners(p)
        put_compound(g, "patch_map", MAP_TYPE, records)
        put_compound(g, "patch_extents", BOX_TYPE, boxes)
        if not self.old_writer:
            put_native(g, "bdry_type", np.zeros(6 * n), "i4")    # which PatchIO does not read
        for v in self.variables:
            for c, name in enumerate(component_names(v)):
                samples = [self.sample(p, v)[:, c] if v.where(p) else None for p in self.patches]
                put_compound(g, name + "-Extents", RANGE_TYPE, ranges(samples, 2))
        if self.materials:
            self._write_material_extents(g.create_group("materials"))

    def _shifted_corners(self, p):
        """Returns the corners that SAMRAI writes: it uses the domain's lower corner as the position of index 0, for each start of
        the domain."""
        dx, origin = self.level_dx(p.level), three(self.origin, 0.0)
        used = np.arange(3) < self.dim
        return (np.where(used, origin + dx * p.lower, 0.0), np.where(used, origin + dx * (p.upper + 1), 0.0))

    # ---- materials ----

    def _write_material_names(self, g):
        put_strings(g, "material_names", list(self.materials.fractions))
        put(g, "material_number_ghosts", three(self.materials.ghosts[:self.dim]), "i4")
        species = g.create_group("species")
        for material, functions in self.materials.species.items():
            put_strings(species, material, list(functions))

    def _fraction(self, patch, function):
        ghosts = (0, 0, 0) if self.materials.sparse else self.materials.ghosts
        return self.sample(patch, Variable("fraction", function, ghosts=ghosts, ghost_offset=0.0))[:, 0]

    def _write_material_extents(self, g):
        m = self.materials
        if m.sparse:
            put_compound(g, "sparse_material_list", RANGE_TYPE, ranges([np.zeros(1)] * len(self.patches), 2))
            return
        for name, function in m.fractions.items():
            material = g.create_group(name)
            put_compound(material, name + "-Fractions", RANGE_TYPE, self._composition(function))
            if name in m.species:
                group = material.create_group("species")
                for species, f in m.species[name].items():
                    put_compound(group, species, RANGE_TYPE, self._composition(f, True))

    def _composition(self, function, species=False):
        samples = [self._fraction(p, function) for p in self.patches]
        flags = [composition_flag(s) for s in samples]
        records = ranges([s if f == 2 else None for s, f in zip(samples, flags)], 2)
        records["species_composition_flag" if species else "material_composition_flag"] = flags
        return records

    def _write_dense(self, g, patch):
        put(g, "material_packing_type", 0, "i4")
        for name, function in self.materials.fractions.items():
            material = g.create_group(name)
            put_if_mixed(material, name + "-fractions", self._fraction(patch, function))
            if name in self.materials.species:
                group = material.create_group("species")
                for species, f in self.materials.species[name].items():
                    put_if_mixed(group, species, self._fraction(patch, f))

    def _write_sparse(self, g, patch):
        put(g, "material_packing_type", 1, "i4")
        table = np.stack([self._fraction(patch, f) for f in self.materials.fractions.values()])
        mat_list, entries = sparse_lists(table)
        put(g, "mat_list", mat_list, "i4")
        if entries:
            put(g, "mix_zones", [e[0] for e in entries], "i4")
            put(g, "mix_mat", [e[1] for e in entries], "i4")
            put(g, "next_mat", [e[2] for e in entries], "i4")
            put(g, "vol_fracs", [e[3] for e in entries], "f4")


def sparse_lists(table):
    """Returns mat_list and the mix entries (zone, material, next, fraction) for fractions table[material, cell].

    The entries of second materials are written last, so that the entries of a chain are not consecutive.
    """
    present = [np.flatnonzero(table[:, cell]) for cell in range(table.shape[1])]
    entries, where = [], {}
    for depth in range(table.shape[0]):
        for cell, materials in enumerate(present):
            if len(materials) > 1 and depth < len(materials):
                where[cell, depth] = len(entries)
                entries.append([cell, materials[depth], 0, table[materials[depth], cell]])
    for (cell, depth), i in where.items():
        if (cell, depth + 1) in where:
            entries[i][2] = where[cell, depth + 1] + 1
    mat_list = [-(where[c, 0] + 1) if len(m) > 1 else m[0] for c, m in enumerate(present)]
    if not entries and len(set(mat_list)) == 1:
        mat_list = mat_list[:1]          # the whole patch is clean: one value
    return mat_list, entries


def put_if_mixed(group, name, values):
    if composition_flag(values) == 2:
        put(group, name, values, "f4")


def composition_flag(values):
    return 0 if (values == 0).all() else 1 if (values == 1).all() else 2


def component_names(variable):
    if variable.components == 1 and variable.name != "Coords":
        return [variable.name]
    return ["%s.%02d" % (variable.name, c) for c in range(variable.components)]


def ranges(samples, flag):
    """Returns min/max records; None for a patch without data. The writer ignores NaN in comparisons."""
    records = np.zeros(len(samples), numpy_type(RANGE_TYPE))
    for record, values in zip(records, samples):
        if values is None:
            continue
        numbers = values[~np.isnan(values)]
        big = np.finfo(float).max
        record["data_is_defined"] = 1
        record["material_composition_flag"] = record["species_composition_flag"] = flag
        record["min"] = numbers.min() if len(numbers) else big
        record["max"] = numbers.max() if len(numbers) else -big
    return records


def three(values, fill=0):
    values = list(values)[:3]
    return np.array(values + [fill] * (3 - len(values)))


def dump_directory(step):
    return "visit_dump.%05d" % step


def write_series(directory, dumps, index=None):
    """Writes all dumps and dumps.visit. index: exact text of dumps.visit instead of the regular one."""
    os.makedirs(directory, exist_ok=True)
    for dump in dumps:
        dump.write(os.path.join(directory, dump_directory(dump.step)))
    if index is None:
        index = "".join("%s/summary.samrai\n" % dump_directory(d.step) for d in dumps)
    with open(os.path.join(directory, "dumps.visit"), "w", newline="") as f:
        f.write(index)

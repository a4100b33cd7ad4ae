#!/usr/bin/python3
"""Makes copies of a small SAMRAI dump series, each with one fault.

usage: make_faults.py OUTDIR

Writes OUTDIR/<fault>/dumps.visit ..., the valid original OUTDIR/good with its reference values OUTDIR/good.npz, and
OUTDIR/faults.json: the expected result of opening each fault.

outcome   "error"           an error that matches all `messages` (regular expressions), and an empty output
          "ok"              opens, and is right
          "error_or_right"  either of these: PatchIO may or may not be able to read it
          "anything"        only the session has to survive
good      patches that SkipBrokenPatches must still show; null: nothing can be shown
maybe     further patches that may be shown, if they are right
"""
import contextlib
import json
import os
import re
import shutil
import sys

import h5py
import numpy as np

FORMATS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats")
sys.path[:0] = [FORMATS, os.path.join(FORMATS, "SAMRAI")]
from dump_writer import Dump, Level, Variable, put, put_strings, write_series  # noqa: E402
from make_cases import components, linear  # noqa: E402
from reference import read_truth  # noqa: E402
from truth_files import save  # noqa: E402

DUMP = "visit_dump.00000"
FAULTS = []    # (name, function that damages a Copy, function of the Copy that returns the expected result)


class Copy:
    """A copy of the valid series, in which a fault is made."""

    def __init__(self, good, folder):
        self.folder = folder
        shutil.copytree(good, folder)
        self.dump = os.path.join(folder, DUMP)
        self.index = os.path.join(folder, "dumps.visit")
        self.summary = os.path.join(self.dump, "summary.samrai")
        with h5py.File(self.summary, "r") as f:
            self.map = f["extents/patch_map"][:]
            self.variable = f["BASIC_INFO/var_names"][0].decode()
        self.patch = len(self.map) - 1    # damages the last patch
        row = self.map[self.patch]
        self.broken_cluster = int(row["file_cluster_number"])
        self.cluster = os.path.join(self.dump, "processor_cluster.%05d.samrai" % self.broken_cluster)
        self.group = "processor.%05d/level.%05d/patch.%05d" % (row["processor_number"], row["level_number"], row["patch_number"])

    def patches_in_cluster(self):
        return [int(p) for p in np.flatnonzero(self.map["file_cluster_number"] == self.broken_cluster)]

    def basic(self):
        return edit(self.summary, "BASIC_INFO")

    def extents(self):
        return edit(self.summary, "extents")


@contextlib.contextmanager
def edit(path, group):
    """Opens a group of a file for changes."""
    with h5py.File(path, "r+", libver="earliest") as file:
        yield file[group]


def index_fault(name, damage, messages, outcome="error"):
    """Adds a fault after which nothing can be displayed."""
    FAULTS.append((name, damage, lambda c: dict(outcome=outcome, messages=messages, good=None)))


def summary_fault(name, damage, messages=(), outcome="error"):
    index_fault(name, damage, [r"summary\.samrai", *messages], outcome)


def cluster_fault(name, damage, messages=(), maybe=False):
    """Adds a fault of a whole cluster file. maybe: some of its patches may still be readable."""
    def spec(c):
        lost = c.patches_in_cluster()
        good = [p for p in range(len(c.map)) if p not in lost]
        return dict(outcome="error", messages=[re.escape(os.path.basename(c.cluster)), *messages], good=good, maybe=lost if maybe else [])
    FAULTS.append((name, damage, spec))


def patch_fault(name, damage, messages=("processor_cluster",), outcome="error"):
    """Adds a fault of one patch."""
    FAULTS.append((name, damage, lambda c: dict(outcome=outcome, messages=messages, good=[p for p in range(len(c.map)) if p != c.patch])))


def overwrite(path, content):
    with open(path, "wb") as f:
        f.write(content)


def instead_of(which, make):
    """Replaces the file that the attribute `which` of a Copy names by what make(path) makes."""
    def damage(c):
        os.remove(getattr(c, which))
        make(getattr(c, which))
    return damage


# ---- cluster files --------------------------------------------------------------------------------------

def truncate_in_data(c):
    """Cuts the file in the middle of the last data set."""
    with h5py.File(c.cluster, "r") as f:
        ends = []
        f.visititems(lambda n, o: ends.append((o.id.get_offset(), o.id.get_storage_size())) if isinstance(o, h5py.Dataset) else None)
    offset, size = max(ends)
    os.truncate(c.cluster, offset + size // 2)


PIPE = ["expected a file, found a pipe or a device"]
cluster_fault("cluster_missing", lambda c: os.remove(c.cluster), ["No such file|not found|missing"])
cluster_fault("cluster_truncated_in_data", truncate_in_data, ["(?i)truncat|incomplete|complete|cut|short|end of"], maybe=True)
cluster_fault("cluster_truncated_in_metadata", lambda c: os.truncate(c.cluster, 700), maybe=True)
cluster_fault("cluster_empty", lambda c: os.truncate(c.cluster, 0))    # as in a dump that is being written
cluster_fault("cluster_not_hdf5", lambda c: overwrite(c.cluster, b"These are not the data you are looking for.\n" * 200))
cluster_fault("cluster_is_directory", instead_of("cluster", os.mkdir))
cluster_fault("cluster_is_pipe", instead_of("cluster", os.mkfifo), PIPE)
cluster_fault("cluster_dangling_link", instead_of("cluster", lambda path: os.symlink("gone.samrai", path)))
if os.geteuid() != 0:    # root may read everything; core_faults.py tests it as another user
    cluster_fault("cluster_unreadable", lambda c: os.chmod(c.cluster, 0), ["(?i)permission"])


# ---- data sets in a cluster file ------------------------------------------------------------------------

def dataset_fault(name, make, **settings):
    """Adds a fault of a data set. make: function of the group, the name and the values that makes another object."""
    def damage(c):
        with edit(c.cluster, c.group) as group:
            values = group[c.variable][:]
            del group[c.variable]
            make(group, c.variable, values)
    patch_fault(name, damage, **settings)


def place_beyond_file(c):
    with h5py.File(c.cluster, "r") as f:
        address = f[c.group][c.variable].id.get_offset()
    with open(c.cluster, "rb") as f:
        content = f.read()
    old, new = (a.to_bytes(8, "little") for a in (address, 1 << 40))
    assert content.count(old) == 1
    overwrite(c.cluster, content.replace(old, new))


def remove_group(c):
    with edit(c.cluster, "/") as root:
        del root[c.group]


dataset_fault("dataset_too_short", lambda g, n, v: put(g, n, v[:-1], "f4"))
dataset_fault("dataset_too_long", lambda g, n, v: put(g, n, np.append(v, 0), "f4"))
dataset_fault("dataset_missing", lambda g, n, v: None)
dataset_fault("dataset_is_group", lambda g, n, v: g.create_group(n))
dataset_fault("dataset_of_text", lambda g, n, v: put_strings(g, n, ["abc"] * len(v)))
dataset_fault("dataset_without_storage", lambda g, n, v: g.create_dataset(n, shape=v.shape, dtype=">f4"))    # was never written
dataset_fault("dataset_compressed", lambda g, n, v: g.create_dataset(n, data=v, chunks=v.shape, compression="gzip"), outcome="error_or_right")
dataset_fault("dataset_double", lambda g, n, v: g.create_dataset(n, data=v.astype(">f8")), outcome="error_or_right")
dataset_fault("dataset_little_endian", lambda g, n, v: g.create_dataset(n, data=v.astype("<f4")), outcome="error_or_right")
dataset_fault("dataset_external_link", lambda g, n, v: g.__setitem__(n, h5py.ExternalLink("../../../../etc/passwd", "/x")))
dataset_fault("dataset_soft_link_loop", lambda g, n, v: g.__setitem__(n, h5py.SoftLink(n)))
patch_fault("dataset_offset_beyond_file", place_beyond_file)
patch_fault("patch_group_missing", remove_group)


# ---- the summary file -----------------------------------------------------------------------------------

def remove_dump(c):
    shutil.rmtree(c.dump)


def empty_index_alone(c):
    shutil.rmtree(c.dump)
    overwrite(c.index, b"")


def add_dump(c):
    """Adds a next dump with its cluster files, one of them empty, and without a summary."""
    later = os.path.join(c.folder, "visit_dump.90000")
    shutil.copytree(c.dump, later)
    os.remove(os.path.join(later, "summary.samrai"))
    os.truncate(os.path.join(later, os.path.basename(c.cluster)), 0)


summary_fault("summary_truncated", lambda c: os.truncate(c.summary, os.path.getsize(c.summary) // 2))
summary_fault("summary_cut_to_superblock", lambda c: os.truncate(c.summary, 96))
summary_fault("summary_empty", lambda c: os.truncate(c.summary, 0))
summary_fault("summary_not_hdf5", lambda c: overwrite(c.summary, b"<?xml version='1.0'?>\n" * 100), ["HDF5|SAMRAI"])
summary_fault("summary_is_directory", instead_of("summary", os.mkdir))
summary_fault("summary_is_pipe", instead_of("summary", os.mkfifo), PIPE)
summary_fault("summary_is_cluster_file", lambda c: shutil.copy(c.cluster, c.summary))
# A dump that is being written: the summary is written last.
index_fault("summary_missing", lambda c: os.remove(c.summary), ["dumps.visit|visit_dump"])
index_fault("index_names_nothing", remove_dump, ["dumps.visit|No such file"])
index_fault("index_empty_alone", empty_index_alone, ["dumps.visit"])
index_fault("index_empty_beside_dump", lambda c: overwrite(c.index, b""), [], "ok")
index_fault("index_of_garbage_beside_dump", lambda c: overwrite(c.index, b"\x00\xff\n\n  \n../../etc/passwd\n" + b"x" * 100000), [], "ok")
index_fault("index_does_not_exist", lambda c: os.remove(c.index), ["dumps.visit"])
index_fault("next_dump_being_written", add_dump, [], "ok")


# ---- hostile numbers in the summary ---------------------------------------------------------------------

def hostile_basic(name, dataset, change, messages=(), outcome="error"):
    """Adds a fault of the summary. change: function that changes the data set's values in place."""
    def damage(c):
        with c.basic() as g:
            values = g[dataset][...]
            change(values)
            g[dataset][...] = values
    summary_fault(name, damage, messages, outcome)


def hostile_extents(name, dataset, member, value, messages=(), add=summary_fault):
    def damage(c):
        with c.extents() as g:
            values = g[dataset][...]
            values[member][c.patch] = value
            g[dataset][...] = values
    add(name, damage, messages)


def to(value):
    return lambda a: a.__setitem__(Ellipsis, value)


def first_to(value):
    return lambda a: a.reshape(-1).__setitem__(0, value)


def last_to(value):
    return lambda a: a.reshape(-1).__setitem__(-1, value)


MOST = 2 ** 31 - 1
hostile_basic("version_1", "VDR_version_number", to(1.0), ["VDR", "1"])
hostile_basic("version_nan", "VDR_version_number", to(np.nan), ["VDR"])
hostile_basic("patches_most", "number_global_patches", to(MOST), ["2147483647|number_global_patches"])
hostile_basic("patches_negative", "number_global_patches", to(-5), ["-5|number_global_patches"])
hostile_basic("patches_zero", "number_global_patches", to(0))
hostile_basic("levels_most", "number_levels", to(MOST), ["2147483647|number_levels"])
hostile_basic("levels_negative", "number_levels", to(-1), ["-1|number_levels"])
hostile_basic("levels_zero", "number_levels", to(0))
hostile_basic("level_patches_negative", "number_patches_at_level", first_to(-3))
hostile_basic("level_patches_most", "number_patches_at_level", first_to(MOST))
hostile_basic("dimensions_7", "number_dimensions_of_problem", to(7), ["7"])
hostile_basic("variables_most", "number_visit_variables", to(MOST), ["2147483647|number_visit_variables"])
hostile_basic("variables_negative", "number_visit_variables", to(-1))
hostile_basic("components_billion", "var_number_components", first_to(10 ** 9), ["component|1000000000"])
hostile_basic("components_zero", "var_number_components", first_to(0), ["component"])
hostile_basic("components_negative", "var_number_components", first_to(-2), ["component"])
hostile_basic("ghosts_negative", "var_number_ghosts", first_to(-1), ["ghost"])
hostile_basic("ghosts_most", "var_number_ghosts", first_to(MOST), ["ghost"])
hostile_basic("ratio_zero", "ratios_to_coarser_levels", last_to(0), ["ratio"])
hostile_basic("ratio_negative", "ratios_to_coarser_levels", last_to(-2), ["ratio"])
hostile_basic("ratio_most", "ratios_to_coarser_levels", last_to(MOST), ["ratio"])
hostile_basic("spacing_nan", "dx", first_to(np.nan))
hostile_basic("spacing_zero", "dx", first_to(0.0))
hostile_basic("corner_infinite", "XLO", first_to(np.inf))
hostile_basic("children_length_most", "child_array_length", to(MOST))
hostile_basic("children_length_negative", "child_array_length", to(-1))
hostile_basic("child_out_of_range", "child_array", first_to(10 ** 6), outcome="error_or_right")
hostile_basic("child_negative", "child_array", first_to(-7), outcome="error_or_right")
hostile_basic("child_is_coarser", "child_array", first_to(0), outcome="error_or_right")
hostile_extents("map_level_million", "patch_map", "level_number", 10 ** 6, ["level"])
hostile_extents("map_level_negative", "patch_map", "level_number", -1)
hostile_extents("map_cluster_negative", "patch_map", "file_cluster_number", -1)
hostile_extents("map_processor_negative", "patch_map", "processor_number", -1)
hostile_extents("map_number_negative", "patch_map", "patch_number", MOST - 2 ** 31)
hostile_extents("box_inverted", "patch_extents", "upper", -1000, ["box|patch_extents|indices"])
hostile_extents("box_huge", "patch_extents", "upper", 10 ** 9, ["box|patch_extents|indices|cells"])
hostile_extents("box_most", "patch_extents", "upper", MOST, ["box|patch_extents|indices|cells"])
# The numbers are valid in the summary; only the cluster file shows that they are wrong.
hostile_extents("map_cluster_million", "patch_map", "file_cluster_number", 10 ** 6, ["1000000"], patch_fault)
hostile_extents("map_processor_million", "patch_map", "processor_number", 10 ** 6, ["processor_cluster"], patch_fault)
hostile_extents("map_number_million", "patch_map", "patch_number", 10 ** 6, ["processor_cluster"], patch_fault)
hostile_extents("box_of_billion_cells", "patch_extents", "upper", 1000, ["processor_cluster"], patch_fault)


def move_member(name, padded, offset):
    """Adds a fault that moves a member of a compound type far outside its record. HDF5 1.10.8 crashes in H5Dread (found by the
    fuzzer), so a reader must check this first."""
    def damage(c):
        with open(c.summary, "rb") as f:
            content = f.read()
        old = padded + offset.to_bytes(4, "little")
        assert old in content
        overwrite(c.summary, content.replace(old, padded + (0x40000000).to_bytes(4, "little")))
    summary_fault(name, damage)


move_member("member_of_extents_outside_record", b"upper\0\0\0", 12)
move_member("member_of_map_outside_record", b"patch_number\0\0\0\0", 12)
move_member("member_of_ranges_outside_record", b"data_is_defined\0", 24)


def text_fault(name, dataset, change, messages=(), outcome="error"):
    """Adds a fault of the summary. change: function that returns other texts."""
    def damage(c):
        with c.basic() as g:
            texts = [t.decode() for t in g[dataset][:]]
            del g[dataset]
            put_strings(g, dataset, change(texts))
    summary_fault(name, damage, messages, outcome)


text_fault("grid_type_unknown", "grid_type", lambda _: ["HEXAGONS"], ["grid_type|GRID"])
text_fault("deformed_without_coords", "grid_type", lambda _: ["DEFORMED"], ["Coords"])
for label, text in (("slash", "a/b"), ("up", "../../level.00000/patch.00000/U"), ("dot", "."), ("root", "/BASIC_INFO/time"), ("empty", "")):
    text_fault("name_" + label, "var_names", lambda names, text=text: [text] + names[1:])
text_fault("names_twice", "var_names", lambda names: names[:1] * len(names), outcome="anything")    # ambiguous


def lists_fault(name, dataset, change):
    def damage(c):
        with c.extents() as g:
            values = g[dataset][:]
            del g[dataset]
            change(g, values)
    summary_fault(name, damage, [dataset])


lists_fault("extents_missing", "patch_extents", lambda g, values: None)
lists_fault("map_too_short", "patch_map", lambda g, values: g.__setitem__("patch_map", values[:-1]))
lists_fault("map_of_plain_integers", "patch_map", lambda g, values: put(g, "patch_map", [0] * len(values), "i4"))


# ---- putting it together --------------------------------------------------------------------------------

def make_faults(good, outdir):
    table = []
    for name, damage, spec in FAULTS:
        c = Copy(good, os.path.join(outdir, name))
        damage(c)
        table.append({"name": name, "index": c.index, "maybe": [], **spec(c)})
    return table


def main():
    out = os.path.abspath(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    good = os.path.join(out, "good")
    levels = [Level([((0, 0, 0), (3, 3, 3)), ((4, 0, 0), (7, 3, 3))]),
              Level([((2, 2, 2), (7, 5, 5)), ((8, 2, 2), (11, 5, 5)), ((12, 0, 0), (13, 1, 1))], (2, 2, 2))]
    variables = [Variable("U", linear), Variable("V", components(3), 3, False)]
    write_series(good, [Dump(levels, variables, ranks=3)])
    save(*read_truth(os.path.join(good, DUMP, "summary.samrai")), os.path.join(out, "good.npz"))
    table = make_faults(good, out)
    with open(os.path.join(out, "faults.json"), "w") as f:
        json.dump(table, f, indent=1)
    print("%d faults in %s" % (len(table), out))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Makes copies of a small SAMRAI dump series, each with one fault.

usage: make_faults.py OUTDIR [--from SERIESDIR] [--fuzz 200] [--seed 1]

Writes OUTDIR/<fault>/dumps.visit ..., the valid original OUTDIR/good with its reference values OUTDIR/good.npz, and
OUTDIR/faults.json: the expected result of opening each fault.

outcome   "error"           an error that matches all `messages` (regular expressions), and an empty output
          "ok"              opens, and is right
          "error_or_right"  either of these: PatchIO may or may not be able to read it
          "anything"        fuzz: only the session has to survive
good      patches that SkipBrokenPatches must still show; null: nothing can be shown
maybe     further patches that may be shown, if they are right
"""
import argparse
import json
import os
import random
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

FAULTS = []


class Copy:
    """A copy of the valid series, in which a fault is made."""

    def __init__(self, good, folder):
        self.folder = folder
        shutil.copytree(good, folder)
        self.dump = [os.path.join(folder, n) for n in sorted(os.listdir(folder)) if n.startswith("visit_dump.")][0]
        self.index = os.path.join(folder, "dumps.visit")
        self.summary = os.path.join(self.dump, "summary.samrai")
        with h5py.File(self.summary, "r") as f:
            self.map = f["extents/patch_map"][:]
            self.variable = f["BASIC_INFO/var_names"][0].decode()
            self.dim = int(f["BASIC_INFO/number_dimensions_of_problem"][0])
        self.patch = len(self.map) - 1    # damages the last patch
        row = self.map[self.patch]
        self.broken_cluster = int(row["file_cluster_number"])
        self.cluster = os.path.join(self.dump, "processor_cluster.%05d.samrai" % self.broken_cluster)
        self.group = "processor.%05d/level.%05d/patch.%05d" % (row["processor_number"], row["level_number"], row["patch_number"])

    def patches_in_cluster(self):
        return [int(p) for p in np.flatnonzero(self.map["file_cluster_number"] == self.broken_cluster)]

    def basic(self):
        return Edit(self.summary, "BASIC_INFO")

    def extents(self):
        return Edit(self.summary, "extents")


class Edit:
    """Opens a group of a file for changes."""

    def __init__(self, path, group):
        self.path, self.group = path, group

    def __enter__(self):
        self.file = h5py.File(self.path, "r+", libver="earliest")
        return self.file[self.group]

    def __exit__(self, *_):
        self.file.close()


def summary_fault(messages, outcome="error"):
    """Registers a fault of the summary: nothing can be displayed."""
    return add(lambda c: dict(outcome=outcome, messages=[r"summary\.samrai"] + messages, good=None))


def index_fault(messages, outcome="error"):
    return add(lambda c: dict(outcome=outcome, messages=messages, good=None))


def cluster_fault(messages, maybe=False, outcome="error"):
    """Registers a fault of a whole cluster file. maybe: some of its patches may still be readable."""
    def spec(c):
        lost = c.patches_in_cluster()
        good = [p for p in range(len(c.map)) if p not in lost]
        return dict(outcome=outcome, messages=[re.escape(os.path.basename(c.cluster))] + messages, good=good,
                    maybe=lost if maybe else [])
    return add(spec)


def patch_fault(messages, outcome="error"):
    """Registers a fault of one patch."""
    return add(lambda c: dict(outcome=outcome, messages=messages, good=[p for p in range(len(c.map)) if p != c.patch]))


def add(spec):
    def register(function):
        FAULTS.append((function.__name__, function, spec))
        return function
    return register


def overwrite(path, content):
    with open(path, "wb") as f:
        f.write(content)


def truncate(path, size):
    os.truncate(path, int(size))


# ---- cluster files --------------------------------------------------------------------------------------

@cluster_fault(["No such file|not found|missing"])
def cluster_missing(c):
    os.remove(c.cluster)


@cluster_fault(["(?i)truncat|incomplete|complete|cut|short|end of"], maybe=True)
def cluster_truncated_in_data(c):
    """Cuts the file in the middle of the last data set."""
    with h5py.File(c.cluster, "r") as f:
        ends = []
        f.visititems(lambda n, o: ends.append((o.id.get_offset(), o.id.get_storage_size())) if isinstance(o, h5py.Dataset) else None)
    offset, size = max(ends)
    truncate(c.cluster, offset + size // 2)


@cluster_fault([], maybe=True)
def cluster_truncated_in_metadata(c):
    truncate(c.cluster, 700)


@cluster_fault([])
def cluster_empty(c):
    """Makes the file empty, as in a dump that is being written."""
    truncate(c.cluster, 0)


@cluster_fault([])
def cluster_not_hdf5(c):
    overwrite(c.cluster, b"These are not the data you are looking for.\n" * 200)


@cluster_fault([])
def cluster_is_directory(c):
    os.remove(c.cluster)
    os.mkdir(c.cluster)


@cluster_fault(["expected a file, found a pipe or a device"])
def cluster_is_pipe(c):
    os.remove(c.cluster)
    os.mkfifo(c.cluster)


@cluster_fault([])
def cluster_dangling_link(c):
    os.remove(c.cluster)
    os.symlink("gone.samrai", c.cluster)


@cluster_fault(["(?i)permission"])
def cluster_unreadable(c):
    if os.geteuid() == 0:
        return "root may read everything; core_faults.py tests it as another user"
    os.chmod(c.cluster, 0)


# ---- data sets in a cluster file ------------------------------------------------------------------------

def replace_dataset(c, make):
    with Edit(c.cluster, c.group) as group:
        name = c.variable if c.variable in group else c.variable + ".00"
        values = group[name][:]
        del group[name]
        make(group, name, values)


DATASET = [r"processor_cluster"]


@patch_fault(DATASET)
def dataset_too_short(c):
    replace_dataset(c, lambda g, n, v: put(g, n, v[:-1], "f4"))


@patch_fault(DATASET)
def dataset_too_long(c):
    replace_dataset(c, lambda g, n, v: put(g, n, np.append(v, 0), "f4"))


@patch_fault(DATASET)
def dataset_missing(c):
    replace_dataset(c, lambda g, n, v: None)


@patch_fault(DATASET)
def dataset_is_group(c):
    replace_dataset(c, lambda g, n, v: g.create_group(n))


@patch_fault(DATASET)
def dataset_of_text(c):
    replace_dataset(c, lambda g, n, v: put_strings(g, n, ["abc"] * len(v)))


@patch_fault(DATASET)
def dataset_without_storage(c):
    """Makes a data set that was never written, so that it has no place in the file."""
    replace_dataset(c, lambda g, n, v: g.create_dataset(n, shape=v.shape, dtype=">f4"))


@patch_fault(DATASET, outcome="error_or_right")
def dataset_compressed(c):
    replace_dataset(c, lambda g, n, v: g.create_dataset(n, data=v, chunks=v.shape, compression="gzip"))


@patch_fault(DATASET, outcome="error_or_right")
def dataset_double(c):
    replace_dataset(c, lambda g, n, v: g.create_dataset(n, data=v.astype(">f8")))


@patch_fault(DATASET, outcome="error_or_right")
def dataset_little_endian(c):
    replace_dataset(c, lambda g, n, v: g.create_dataset(n, data=v.astype("<f4")))


@patch_fault(DATASET)
def dataset_external_link(c):
    replace_dataset(c, lambda g, n, v: g.__setitem__(n, h5py.ExternalLink("../../../../etc/passwd", "/x")))


@patch_fault(DATASET)
def dataset_soft_link_loop(c):
    def loop(g, n, v):
        g[n] = h5py.SoftLink(n)
    replace_dataset(c, loop)


@patch_fault(DATASET)
def dataset_offset_beyond_file(c):
    with h5py.File(c.cluster, "r") as f:
        group = f[c.group]
        name = c.variable if c.variable in group else c.variable + ".00"
        address = group[name].id.get_offset()
    with open(c.cluster, "rb") as f:
        content = f.read()
    old, new = (a.to_bytes(8, "little") for a in (address, 1 << 40))
    assert content.count(old) == 1
    overwrite(c.cluster, content.replace(old, new))


@patch_fault(DATASET)
def patch_group_missing(c):
    with Edit(c.cluster, "/") as root:
        del root[c.group]


# ---- the summary file -----------------------------------------------------------------------------------

@summary_fault([])
def summary_truncated(c):
    truncate(c.summary, os.path.getsize(c.summary) // 2)


@summary_fault([])
def summary_cut_to_superblock(c):
    truncate(c.summary, 96)


@summary_fault([])
def summary_empty(c):
    truncate(c.summary, 0)


@summary_fault(["HDF5|SAMRAI"])
def summary_not_hdf5(c):
    overwrite(c.summary, b"<?xml version='1.0'?>\n" * 100)


@summary_fault([])
def summary_is_directory(c):
    os.remove(c.summary)
    os.mkdir(c.summary)


@summary_fault(["expected a file, found a pipe or a device"])
def summary_is_pipe(c):
    os.remove(c.summary)
    os.mkfifo(c.summary)


@summary_fault([])
def summary_is_cluster_file(c):
    shutil.copy(c.cluster, c.summary)


@index_fault(["dumps.visit|visit_dump"])
def summary_missing(c):
    """Simulates a dump that is being written: the summary is written last."""
    os.remove(c.summary)


@index_fault(["dumps.visit|No such file"])
def index_names_nothing(c):
    shutil.rmtree(c.dump)


@index_fault(["dumps.visit"])
def index_empty_alone(c):
    shutil.rmtree(c.dump)
    overwrite(c.index, b"")


@index_fault([], outcome="ok")
def index_empty_beside_dump(c):
    overwrite(c.index, b"")


@index_fault([], outcome="ok")
def index_of_garbage_beside_dump(c):
    overwrite(c.index, b"\x00\xff\n\n  \n../../etc/passwd\n" + b"x" * 100000)


@index_fault(["dumps.visit"])
def index_does_not_exist(c):
    os.remove(c.index)


@index_fault([], outcome="ok")
def next_dump_being_written(c):
    """Adds a next dump with its cluster files, one of them empty, and without a summary."""
    later = os.path.join(c.folder, "visit_dump.90000")
    shutil.copytree(c.dump, later)
    os.remove(os.path.join(later, "summary.samrai"))
    truncate(os.path.join(later, os.path.basename(c.cluster)), 0)


# ---- hostile numbers in the summary ---------------------------------------------------------------------

def hostile_basic(name, dataset, change, messages=(), outcome="error"):
    """Registers a fault of the summary. change: function that changes the data set's values in place."""
    def fault(c):
        with c.basic() as g:
            values = g[dataset][...]
            change(values)
            g[dataset][...] = values
    fault.__name__ = name
    summary_fault(list(messages), outcome)(fault)


def hostile_extents(name, dataset, member, value, messages=(), outcome="error", spec=summary_fault):
    def fault(c):
        with c.extents() as g:
            values = g[dataset][...]
            values[member][c.patch] = value
            g[dataset][...] = values
    fault.__name__ = name
    spec(list(messages), outcome)(fault)


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
hostile_extents("map_cluster_million", "patch_map", "file_cluster_number", 10 ** 6, [r"1000000"], spec=patch_fault)
hostile_extents("map_processor_million", "patch_map", "processor_number", 10 ** 6, DATASET, spec=patch_fault)
hostile_extents("map_number_million", "patch_map", "patch_number", 10 ** 6, DATASET, spec=patch_fault)
hostile_extents("box_of_billion_cells", "patch_extents", "upper", 1000, DATASET, spec=patch_fault)


def move_member(name, padded, offset):
    """Moves a member of a compound type far outside its record. HDF5 1.10.8 crashes in H5Dread (found by the fuzzer), so a reader
    must check this first."""
    def fault(c):
        with open(c.summary, "rb") as f:
            content = f.read()
        old = padded + offset.to_bytes(4, "little")
        assert old in content
        overwrite(c.summary, content.replace(old, padded + (0x40000000).to_bytes(4, "little")))
    fault.__name__ = name
    summary_fault([])(fault)


move_member("member_of_extents_outside_record", b"upper\0\0\0", 12)
move_member("member_of_map_outside_record", b"patch_number\0\0\0\0", 12)
move_member("member_of_ranges_outside_record", b"data_is_defined\0", 24)


@summary_fault(["grid_type|GRID"])
def grid_type_unknown(c):
    with c.basic() as g:
        del g["grid_type"]
        put_strings(g, "grid_type", ["HEXAGONS"])


@summary_fault(["Coords"])
def deformed_without_coords(c):
    with c.basic() as g:
        del g["grid_type"]
        put_strings(g, "grid_type", ["DEFORMED"])


def renamed(name):
    def fault(c):
        with c.basic() as g:
            names = [t.decode() for t in g["var_names"][:]]
            del g["var_names"]
            put_strings(g, "var_names", [name] + names[1:])
    return fault


for label, text in (("slash", "a/b"), ("up", "../../level.00000/patch.00000/U"), ("dot", "."), ("root", "/BASIC_INFO/time"), ("empty", "")):
    function = renamed(text)
    function.__name__ = "name_" + label
    summary_fault([])(function)


@summary_fault([])
def names_twice(c):
    """Makes two variables with the same name, which is ambiguous."""
    with c.basic() as g:
        names = [t.decode() for t in g["var_names"][:]]
        del g["var_names"]
        put_strings(g, "var_names", [names[0]] * len(names))


FAULTS[-1] = (FAULTS[-1][0], FAULTS[-1][1], lambda c: dict(outcome="anything", messages=[], good=None))


@summary_fault(["patch_extents"])
def extents_missing(c):
    with c.extents() as g:
        del g["patch_extents"]


@summary_fault(["patch_map"])
def map_too_short(c):
    with c.extents() as g:
        values = g["patch_map"][:-1]
        del g["patch_map"]
        g["patch_map"] = values


@summary_fault(["patch_map"])
def map_of_plain_integers(c):
    with c.extents() as g:
        del g["patch_map"]
        put(g, "patch_map", [0] * len(c.map), "i4")


# ---- fuzz -----------------------------------------------------------------------------------------------

def flip(content, generator):
    content = bytearray(content)
    for _ in range(generator.choice([1, 1, 2, 4, 16])):
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    return bytes(content)


def make_fuzz(good, outdir, count, seed):
    """Makes variants of the summary, and a quarter as many of a cluster file. All other files are links to the original."""
    generator, table = random.Random(seed), []
    for i in range(count + count // 4):
        folder = os.path.join(outdir, "fuzz_%03d" % i)
        c = CopyOfLinks(good, folder)
        victim = c.summary if i < count else c.cluster
        with open(victim, "rb") as f:
            content = f.read()
        os.remove(victim)
        overwrite(victim, flip(content, generator))
        table.append(dict(name=os.path.basename(folder), index=c.index, outcome="anything", messages=[], good=None))
    return table


class CopyOfLinks:
    def __init__(self, good, folder):
        dump = [n for n in sorted(os.listdir(good)) if n.startswith("visit_dump.")][0]
        self.index = os.path.join(folder, "dumps.visit")
        os.makedirs(os.path.join(folder, dump))
        shutil.copy(os.path.join(good, "dumps.visit"), self.index)
        for name in os.listdir(os.path.join(good, dump)):
            os.symlink(os.path.abspath(os.path.join(good, dump, name)), os.path.join(folder, dump, name))
        self.summary = os.path.join(folder, dump, "summary.samrai")
        self.cluster = os.path.join(folder, dump, "processor_cluster.00001.samrai")


# ---- putting it together --------------------------------------------------------------------------------

def write_good(folder, source):
    """Makes the valid series of one dump, or a copy of the first dump of `source` if it is given."""
    if source is None:
        levels = [Level([((0, 0, 0), (3, 3, 3)), ((4, 0, 0), (7, 3, 3))]),
                  Level([((2, 2, 2), (7, 5, 5)), ((8, 2, 2), (11, 5, 5)), ((12, 0, 0), (13, 1, 1))], (2, 2, 2))]
        variables = [Variable("U", linear), Variable("V", components(3), 3, False)]
        write_series(folder, [Dump(levels, variables, ranks=3)])
        return
    dump = min(n for n in os.listdir(source) if n.startswith("visit_dump."))
    shutil.copytree(os.path.join(source, dump), os.path.join(folder, dump))
    overwrite(os.path.join(folder, "dumps.visit"), ("%s/summary.samrai\n" % dump).encode())


def make_faults(good, outdir):
    table = []
    for name, function, spec in FAULTS:
        c = Copy(good, os.path.join(outdir, name))
        skipped = function(c)
        if skipped:
            print("left out: %s, %s" % (name, skipped))
            continue
        table.append({"name": name, "index": c.index, "maybe": [], **spec(c)})
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir")
    parser.add_argument("--from", dest="source", help="series to break instead of our own")
    parser.add_argument("--fuzz", type=int, default=200, help="variants of the summary with random bits flipped")
    parser.add_argument("--seed", type=int, default=20240607, help="of the random bits; equal seeds, equal variants")
    arguments = parser.parse_args()
    out = os.path.abspath(arguments.outdir)
    shutil.rmtree(out, ignore_errors=True)
    good = os.path.join(out, "good")
    write_good(good, arguments.source)
    dump = [n for n in os.listdir(good) if n.startswith("visit_dump.")][0]
    save(*read_truth(os.path.join(good, dump, "summary.samrai")), os.path.join(out, "good.npz"))
    table = make_faults(good, out) + make_fuzz(good, out, arguments.fuzz, arguments.seed)
    with open(os.path.join(out, "faults.json"), "w") as f:
        json.dump(table, f, indent=1)
    print("%d faults in %s" % (len(table), out))


if __name__ == "__main__":
    main()

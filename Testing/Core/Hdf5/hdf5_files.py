"""Makes random HDF5 files of all styles with h5py, and checks that the index reader finds the values that h5py reads.

usage: hdf5_files.py PROGRAM COUNT [FIRST]

PROGRAM: patchio_list_hdf5. COUNT files are made, with the seeds FIRST (0), FIRST + 1, ... The test uses all version bounds of this
h5py, because HDF5 1.10, 1.14 and 2 write different new structures. Values are taken from the file's bytes at the places that the
program prints, and filters are undone by zlib and numpy alone.
"""
import collections
import os
import random
import subprocess
import sys
import tempfile
import zlib

import h5py
import numpy as np

BOUNDS = [("earliest", "latest"), ("v108", "v108"), ("v108", "latest"), ("v110", "v110"), ("v110", "latest"), ("latest", "latest")]
BOUNDS += [("v112", "latest"), ("v114", "latest")] * (h5py.version.hdf5_version_tuple >= (1, 14, 0))
BOUNDS += [("v200", "latest")] * (h5py.version.hdf5_version_tuple >= (2, 0, 0))
TYPES = ["<f4", "<f8", ">f4", ">f8", "<i4", ">i4", "<i8", "<u1", "<i2", ">u2", "<u8", "<i1", "<u4"]
LENGTHS = [1, 2, 3, 5, 8, 13, 40]
MOST_COMPACT = 60000    # bytes


class Draft:
    """A file that is being made."""

    def __init__(self, path, seed):
        self.dice = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        bounds, kind = self.dice.choice(BOUNDS), self.dice.random()
        how = {}
        if kind < 0.2:
            how["userblock_size"] = self.dice.choice([512, 1024, 4096])
        elif kind < 0.35 and bounds[1] != "v108":
            how.update(fs_strategy=self.dice.choice(["page", "fsm", "aggregate", "none"]), fs_persist=self.dice.random() < 0.5)
        self.file = h5py.File(path, "w", libver=bounds, track_order=self.dice.random() < 0.3, **how)
        self.groups = [self.file]

    def make(self):
        for number in range(self.dice.randrange(4)):
            self.groups.append(self.dice.choice(self.groups).create_group("group%d" % number, track_order=self.dice.random() < 0.3))
        if self.dice.random() < 0.15:
            group = self.dice.choice(self.groups)
            for number in range(self.dice.choice([9, 50, 400, 3000])):
                group["many%d_%s" % (number, "x" * self.dice.randrange(40))] = np.int32(number)
        self.file["a type"] = np.dtype("<f8")
        for number in range(self.dice.randrange(1, 14)):
            shape = tuple(self.dice.choice(LENGTHS) for _ in range(self.dice.randrange(5)))
            values = self.numbers.integers(0, 100, shape).astype(self.dice.choice(TYPES))
            make = self.dice.choice([self.plain, self.compact, self.chunked, self.chunked, self.all_at_once] if shape else [self.plain, self.compact])
            make(self.dice.choice(self.groups), "data%d" % number, values)
        self.file.close()

    def plain(self, group, name, values):
        group.create_dataset(name, data=values, dtype=self.file["a type"] if values.dtype == "<f8" else None)

    def compact(self, group, name, values):
        values = values if values.nbytes < MOST_COMPACT else values.ravel()[:100]
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_layout(h5py.h5d.COMPACT)
        self.low_level(group, name, values, creation, values.shape)

    def low_level(self, group, name, values, creation, most):
        space = h5py.h5s.create_simple(values.shape, most) if values.shape else h5py.h5s.create(h5py.h5s.SCALAR)
        data = h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(values.dtype), space, creation)
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values))

    def shape_of_chunks(self, shape, most):
        chunks = [self.dice.choice([1, 2, 3, length, max(length // 2, 1), 7]) for length in shape]
        return tuple(min(chunk, length) if limit else chunk for chunk, length, limit in zip(chunks, shape, most))

    def all_at_once(self, group, name, values):
        """Allocates all chunks at the begin. Without filters, such chunks need no list."""
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk(self.shape_of_chunks(values.shape, values.shape))
        creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        self.low_level(group, name, values, creation, values.shape)

    def chunked(self, group, name, values):
        """Makes a chunked data set with or without unlimited axes and filters, with chunks that are never written, and with later
        changes of its extent."""
        rank = values.ndim
        unlimited = self.dice.choice([0, 0, 1, 1, rank])
        axes = set(self.dice.sample(range(rank), unlimited))
        room = self.dice.choice([0, 0, 20])
        most = tuple(None if axis in axes else length + self.dice.randrange(room + 1) for axis, length in enumerate(values.shape))
        filters = {}
        if self.dice.random() < 0.5:
            filters = dict(compression="gzip", shuffle=self.dice.random() < 0.5, fletcher32=self.dice.random() < 0.3)
        data = group.create_dataset(name, shape=values.shape, dtype=values.dtype, chunks=self.shape_of_chunks(values.shape, most),
                                    maxshape=most, fillvalue=self.dice.choice([None, 7]), **filters)
        if self.dice.random() < 0.3:
            for _ in range(5):
                at = tuple(self.dice.randrange(length) for length in values.shape)
                data[at] = values[at]
        else:
            data[...] = values
        if axes and self.dice.random() < 0.3:
            data.resize([length + self.dice.randrange(200 if rank == 1 else 9) if axis in axes else length for axis, length in enumerate(values.shape)])


def undo_filters(data, piece, skipped):
    """Returns the bytes of a chunk before the filters."""
    filters = [name for name, there in (("shuffle", data.shuffle), ("gzip", data.compression == "gzip"), ("sum", data.fletcher32)) if there]
    for place in reversed(range(len(filters))):
        if skipped >> place & 1:
            continue
        if filters[place] == "sum":
            piece = piece[:-4]
        elif filters[place] == "gzip":
            piece = zlib.decompress(piece)
        else:
            piece = np.frombuffer(piece, "u1").reshape(data.dtype.itemsize, -1).T.tobytes()
    return np.frombuffer(piece, data.dtype).reshape(data.chunks)


def values_of(data, found, chunks, content):
    """Returns the values of a data set, from the bytes of the file at the places that the program found."""
    if found[0] == "plain":
        return np.frombuffer(content, data.dtype, data.size, int(found[4])).reshape(data.shape)
    values = np.full(data.shape, data.fillvalue, data.dtype)
    along = [-(-length // chunk) for length, chunk in zip(data.shape, data.chunks)]
    for number, offset, size, skipped in chunks:
        piece = undo_filters(data, content[offset:offset + size], skipped)
        begin = [index * chunk for index, chunk in zip(np.unravel_index(number, along), data.chunks)]
        end = np.minimum(np.add(begin, data.chunks), data.shape)
        values[tuple(map(slice, begin, end))] = piece[tuple(slice(0, length) for length in np.subtract(end, begin))]
    return values


def check(program, path, seed, seen):
    """Compares all data sets of a file, and counts them. Returns the faults."""
    faults = []
    with h5py.File(path, "r") as file, open(path, "rb") as stream:
        content = stream.read()
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        lines = subprocess.run([program, path], input="\n".join(names + ["none", "no/such"]), stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        found, chunks = {}, collections.defaultdict(list)
        for line in lines:
            words = line.split(" ")
            if words[0] == "dataset":
                name = words[1]
                found[name] = words[2:]
            elif words[0] == "chunk":
                chunks[name].append([int(word) for word in words[1:]])
            elif line not in ("missing none", "missing no/such"):
                faults.append("file %d: %s" % (seed, line))
        for name in names:
            data, info = file[name], found.get(name)
            if not info:
                faults.append("file %d: %s is not found" % (seed, name))
                continue
            seen[info[0]] += 1
            big = data.dtype.byteorder == ">" if data.dtype.itemsize > 1 else info[1] == "1"
            if info[1:4] != [str(int(big)), str(data.dtype.itemsize), str(data.size)]:
                faults.append("file %d: %s is described by %s" % (seed, name, info))
            elif not np.array_equal(values_of(data, info, chunks[name], content), data[()]):
                faults.append("file %d: %s of %s in %s has other values" % (seed, name, data.shape, data.maxshape))
    return faults


def main():
    program, count, first = sys.argv[1], int(sys.argv[2]), int((sys.argv + ["0"])[3])
    seen, faults = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.h5")
        for seed in range(first, first + count):
            Draft(path, seed).make()
            faults += check(program, path, seed, seen)
    print("HDF5 %s: %d files, %s" % (h5py.version.hdf5_version, count, dict(seen)))
    print("\n".join(faults[:20]))
    return 1 if faults or seen["plain"] < count or seen["chunked"] < count else 0


if __name__ == "__main__":
    sys.exit(main())

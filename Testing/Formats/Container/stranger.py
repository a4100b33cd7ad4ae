#!/usr/bin/python3
"""Reads containers according to Documentation/Container.md, without PatchIO: with h5py, struct, json, zlib, numpy, and libzstd,
because h5py has no filter for Zstandard.

usage: stranger.py NAME.pio (compares all checksums, then prints the contents)

read(folder) returns the steps. Values are read from the bytes of the files, and again with h5py, which must give the same values.
"""
import ctypes
import ctypes.util
import json
import os
import struct
import sys
import zlib

import h5py
import numpy as np

BLOCK = 32768


def records(path):
    """Yields the records of a log, up to the first incomplete one."""
    with open(path, "rb") as file:
        log = file.read()
    at, parts = 0, b""
    while at + 7 <= len(log):
        left = BLOCK - at % BLOCK
        if left < 7:
            at += left
            continue
        checksum, length, kind = struct.unpack_from("<IHB", log, at)
        data = log[at + 7:at + 7 + length]
        if len(data) < length or zlib.crc32(log[at + 6:at + 7] + data) != checksum:
            return
        at += 7 + length
        parts = data if kind in (1, 2) else parts + data
        if kind in (1, 4):
            yield parts


def unpacked(chunk, count, dtype):
    """Returns the values of a chunk with the filters shuffle and Zstandard."""
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd"))
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    plain = ctypes.create_string_buffer(count * dtype.itemsize)
    found = zstd.ZSTD_decompress(plain, ctypes.c_size_t(len(plain)), chunk, ctypes.c_size_t(len(chunk)))
    assert found == len(plain), "%d bytes instead of %d in a chunk" % (found, len(plain))
    return np.frombuffer(plain.raw, "u1").reshape(dtype.itemsize, count).T.copy().view(dtype).reshape(-1)


def all_values(place, path):
    """Returns the values of a data set as a flat array."""
    with h5py.File(path, "r") as file:
        found = file[place["name"]]
        assert place.get("compression") in (None, "deflate", "zstd")
        if place.get("compression") == "deflate":
            assert found.compression == "gzip" and found.shuffle
        if place.get("compression") != "zstd":
            return found[()].reshape(-1)
        values, chunk = np.empty(found.shape, found.dtype), int(np.prod(found.chunks))
        for number in range(found.id.get_num_chunks()):
            info = found.id.get_chunk_info(number)
            skipped, stored = found.id.read_direct_chunk(info.chunk_offset)
            assert skipped & 3 in (0, 3)  # a bit for each of the two filters
            plain = np.frombuffer(stored, found.dtype) if skipped & 3 else unpacked(stored, chunk, found.dtype)
            where = tuple(slice(begin, begin + size) for begin, size in zip(info.chunk_offset, found.chunks))
            inside = tuple(slice(0, min(size, along - begin)) for begin, size, along in zip(info.chunk_offset, found.chunks, found.shape))
            values[where] = plain.reshape(found.chunks)[inside]
        return values.reshape(-1)


class Step:
    def __init__(self, folder, record):
        self.folder = folder
        kind, self.step, self.time, name, date = struct.unpack_from("<bqdHH", record)
        assert kind == 1
        self.date = record[21 + name:21 + name + date].decode()
        self.json = json.loads(record[21 + name + date:])
        assert self.json["files"][0] == record[21:21 + name].decode()
        self.sets = {(s["level"], s["variable"], s["file"]): s for s in self.json["data sets"]}
        boxes, numbers = self.table("boxes", "i4").reshape(-1, 3, 2), self.table("numbers", "i4")
        self.rows, row = [], 0
        for level, info in enumerate(self.json["levels"]):
            for file, count in enumerate(info["patches"]):
                for _ in range(count):
                    self.rows.append({"level": level, "file": file, "number": int(numbers[row]), "lower": boxes[row, :, 0], "upper": boxes[row, :, 1]})
                    row += 1
        shape = len(self.json["variables"]), len(self.rows)
        self.present = self.table("present", "u1").reshape(shape) != 0
        self.least, self.greatest = self.table("least", "f8").reshape(shape), self.table("greatest", "f8").reshape(shape)
        self.checksums = self.table("checksums", "u4").reshape(shape)
        if self.checksums.size:
            with h5py.File(os.path.join(folder, self.json["files"][0]), "r") as file:
                assert file["PatchIO/tables/checksums"].dtype == np.uint32
        self.meshes = self.table("meshes", "i8").reshape(-1, 9)

    def table(self, name, dtype):
        place = self.json["tables"].get(name, {"bytes": 0, "offset": 0, "checksum": 0})
        with open(os.path.join(self.folder, self.json["files"][0]), "rb") as file:
            file.seek(place["offset"])
            data = file.read(place["bytes"])
        assert zlib.crc32(data) == place["checksum"], name
        return np.frombuffer(data, dtype)

    def shape(self, row, variable):
        """Returns the number of values along each axis, slowest first, then the number of components."""
        if len(self.meshes):
            points, cells, connectivity = self.meshes[row, 0], self.meshes[row, 1:5], self.meshes[row, 5:]
            role, which = variable.get("role", "values"), variable.get("list", 0)
            own = {"points": points, "connectivity": connectivity[which], "offsets": cells[which] + 1, "types": cells[which]}
            return [int(own.get(role, points if variable["centering"] == "node" else cells.sum())), variable["components"]]
        info, level = self.rows[row], self.json["levels"][self.rows[row]["level"]]
        more = [variable["centering"] == "node" and axis < self.json["dimension"] and not level.get("flat axes", 0) >> axis & 1 for axis in range(3)]
        return [int(n) for n in (info["upper"] - info["lower"] + 1 + more)[::-1]] + [variable["components"]]

    def values(self):
        """Yields (row, variable, array) for all stored arrays."""
        for v, variable in enumerate(self.json["variables"]):
            before, read = {}, {}
            for row, info in enumerate(self.rows):
                if self.present[v, row]:
                    place, dtype = self.sets[info["level"], v, info["file"]], np.dtype(variable["type"])
                    shape, first = self.shape(row, variable), before.get((info["level"], info["file"]), 0)
                    count = int(np.prod(shape))
                    before[info["level"], info["file"]] = first + count
                    path = os.path.join(self.folder, self.json["files"][info["file"]])
                    if (path, place["name"]) not in read:
                        read[path, place["name"]] = all_values(place, path)
                    found = read[path, place["name"]][first:first + count]
                    assert ("offset" in place) == ("compression" not in place), place
                    if "offset" in place:
                        with open(path, "rb") as file:
                            file.seek(place["offset"] + first * dtype.itemsize)
                            assert file.read(count * dtype.itemsize) == found.tobytes(), place["name"]
                    assert found.dtype == dtype and len(found) == count, place["name"]
                    assert zlib.crc32(found.tobytes()) == self.checksums[v, row], place["name"]
                    finite = found[found == found]
                    assert len(finite) == 0 or (self.least[v, row] <= finite.min() and finite.max() <= self.greatest[v, row]), place["name"]
                    yield row, variable, found.reshape(shape)


def read(folder):
    """Returns the steps by their numbers. If two records have the same number, the later one counts."""
    log = records(os.path.join(folder, "index"))
    head = json.loads(next(log))
    assert head["format"] == "PatchIO container" and head["version"] == 1
    last = {struct.unpack_from("<bq", record)[1]: record for record in log}
    return [Step(folder, last[number]) for number in sorted(last)]


if __name__ == "__main__":
    for each in read(sys.argv[1]):
        total = sum(array.size for _, _, array in each.values())
        print("step %d, time %g: %d patches, %d values" % (each.step, each.time, len(each.rows), total))

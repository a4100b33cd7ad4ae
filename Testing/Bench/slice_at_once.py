"""Compares a slice made while reading with a slice that the filter Slice makes from the blocks that the plane cuts: in turn, in one
run of pvbatch. Prints, as JSON, for each direction, the seconds from the known data set to the slice, and the maximum additional
memory of the process until then, in MB on rank 0. suites/extract.py runs it.

usage: pvbatch slice_at_once.py PATH ARRAY CONCURRENCY LIMIT ROUNDS DIRECTION...
       ARRAY        its name, or all
       CONCURRENCY  N*, which the ranks share
       LIMIT        memory limit of a slice while reading, in MB; 0 means no limit, and the script also runs the filter
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

path, array, concurrency, limit, rounds = sys.argv[1:3] + [int(word) for word in sys.argv[3:6]]
NORMALS = {"along x": [1, 0, 0], "along y": [0, 1, 0], "along z": [0, 0, 1], "oblique": [1, 0.7, 0.4]}
PLACE = 0.5031    # of the domain: not on a face


def reader_of(normal, **settings):
    reader = PatchReader(FileName=[path], ThreadMode="From N* and NC", StorageConcurrency=concurrency, Prefetch=0, CacheMemory=0,
                         Region="Plane", RegionNormal=normal, **settings)
    bounds = reader.GetPropertyValue("DomainBounds")
    reader.RegionOrigin = [bounds[2 * a] + PLACE * (bounds[2 * a + 1] - bounds[2 * a]) for a in range(3)]
    if array != "all":
        reader.CellArrayStatus = [array]
    return reader


def at_once(normal):
    reader = reader_of(normal, SliceWhileReading=1, MemoryLimit=limit)
    return reader, reader


def after(normal):
    reader = reader_of(normal)
    return reader, plane_slice(reader, reader.RegionOrigin, normal, Triangulatetheslice=0)


at_first = memory("VmRSS")


def measure(make, normal):
    reader, source = make(normal)
    begin = time.perf_counter()
    source.UpdatePipeline(times_of(reader)[-1])
    cells = source.GetDataInformation().GetNumberOfCells()
    seconds = time.perf_counter() - begin
    added = (memory("VmHWM") - at_first) * 1e-6
    read = re.search(r"Bytes read: .*", report_of(reader)).group(0)
    if source is not reader:
        Delete(source)
    Delete(reader)
    return {"seconds": seconds, "cells": cells, "memory": added, "read": read}


WAYS = {"at once": at_once} if limit else {"after": after, "at once": at_once}
results = {name: {way: [] for way in WAYS} for name in sys.argv[6:]}
if not limit:
    measure(at_once, NORMALS["along z"])    # the first run opens the files and starts threads
for number in range(rounds):
    for name in results:
        for way in shuffled(WAYS, number):
            results[name][way].append(measure(WAYS[way], NORMALS[name]))
            print(name, way, results[name][way][-1], flush=True)
print_json(results)

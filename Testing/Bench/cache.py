"""What the cache saves and costs, in pvpython: bytes of toggled arrays, going back to a step, memory beside what is shown.

usage: PATCHIO_PLUGIN=... Testing/ParaView/pvbatch.sh 1 Testing/Bench/cache.py EIGHT SERIES [ROUNDS]

EIGHT: a dump of `patchio_bench_make --variables 8`; SERIES: one with several steps. Prints a line of JSON.
"""
import json
import os
import re
import statistics
import sys
import time

from paraview import simple

UNITS = {"byte": 1, "bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))


def timed(work, *arguments):
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def bytes_read(reader):
    reader.UpdatePropertyInformation()
    number, unit = re.search("^Bytes read: ([0-9.]+) (\\w+)", reader.GetPropertyValue("IOReport"), re.MULTILINE).groups()
    return float(number) * UNITS[unit]


def arrays_of(reader):
    """Bytes of all arrays that are shown, each once."""
    tree, seen = reader.GetClientSideObject().GetOutputDataObject(0), {}
    for level in range(tree.GetNumberOfBlocks()):
        pieces = tree.GetBlock(level)
        for i in range(pieces.GetNumberOfPieces()):
            grid = pieces.GetPieceAsDataObject(i)
            for data in (grid.GetCellData(), grid.GetPointData()):
                for a in range(data.GetNumberOfArrays()):
                    array = data.GetArray(a)
                    seen[array] = array.GetNumberOfValues() * array.GetDataTypeSize()
    return sum(seen.values())


def resident():
    with open("/proc/self/smaps_rollup") as file:
        return 1024 * int(re.search("^Anonymous: +([0-9]+)", file.read(), re.MULTILINE).group(1))


def toggles(path):
    before = resident()
    reader = simple.PatchReader(FileName=[path], StorageLatency=0, ThreadMode="Fixed")
    reader.UpdatePipeline()
    shown = arrays_of(reader)
    facts = {"held / shown": (resident() - before) / shown}
    names = list(reader.CellArrayStatus)
    of_one = bytes_read(reader) / len(names)
    reader.CellArrayStatus = names[:-1]
    simple.ReloadFiles(reader)
    reader.UpdatePipeline()
    reader.CellArrayStatus = names
    facts["toggle seconds"] = timed(reader.UpdatePipeline)
    facts["toggled bytes / array"] = bytes_read(reader) / of_one
    reader.CellArrayStatus = names[:-1]
    facts["off seconds"] = timed(reader.UpdatePipeline)
    facts["off bytes"] = bytes_read(reader)
    facts["held / shown, one off"] = (resident() - before) / arrays_of(reader)
    reader.CacheMemory = 0
    for n in range(3):
        reader.ThreadsPerRank = 3 + n
        reader.UpdatePipeline()
    facts["held / shown, no cache, after changes"] = (resident() - before) / arrays_of(reader)
    simple.Delete(reader)
    return facts


def steps(path, rounds):
    reader = simple.PatchReader(FileName=[path])
    reader.UpdatePipelineInformation()
    times = list(reader.TimestepValues)
    update = reader.GetClientSideObject().UpdateTimeStep  # the reader alone, without what ParaView gathers of the data
    first, again = [], []
    for _ in range(rounds):
        simple.ReloadFiles(reader)
        reader.UpdatePipelineInformation()
        update(times[0])
        first.append(timed(update, times[-1]))
        update(times[0])
        again.append(timed(update, times[-1]))
    return {"first seconds": statistics.median(first), "back seconds": statistics.median(again)}


print("JSON " + json.dumps({"toggles": toggles(sys.argv[1]),
                            "steps": steps(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 7)}))

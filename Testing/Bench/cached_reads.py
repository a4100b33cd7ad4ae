"""Measures memory, and bytes read after changes of the reader, in one process of pvbatch. suites/cache.py runs it.

usage: pvbatch cached_reads.py changes DUMP      arrays, levels and blanking of one step; memory in addition to the displayed arrays
       pvbatch cached_reads.py steps SERIES      the last step after the first one, and once more

Prefetch is off. Prints a line "JSON {...}": names -> bytes, seconds or ratios.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

task, path = sys.argv[1:3]


def new_reader():
    # Without latency, the reader reads no gaps, so that the bytes are those of the arrays.
    return patch_reader(path, Prefetch=0, StorageLatency=0)


def bytes_of(reader):
    """Returns the bytes of the last read, from the report."""
    return report_data_of(reader)["bytes"]


def sizes_of(reader):
    """Returns name -> bytes of the displayed arrays; an array that blocks share counts once."""
    found, seen = {}, set()
    for grid in grids_of(reader):
        for data in (grid.GetCellData(), grid.GetPointData()):
            for array in (data.GetArray(number) for number in range(data.GetNumberOfArrays())):
                if array not in seen:
                    seen.add(array)
                    size = array.GetNumberOfValues() * array.GetDataTypeSize()
                    found[array.GetName()] = found.get(array.GetName(), 0) + size
    return found


def resident():
    """Returns the memory of this process without mapped files, in bytes."""
    return memory("RssAnon", "RssShmem")


def change(reader, **properties):
    """Changes properties and returns the bytes that are read because of this."""
    for name, value in properties.items():
        setattr(reader, name, value)
    reader.UpdatePipeline()
    return bytes_of(reader)


def toggle_array(reader, facts):
    names = list(reader.CellArrayStatus)
    reader.CellArrayStatus = names[:-1]
    ReloadFiles(reader)
    reader.UpdatePipeline()
    before = bytes_of(reader)
    reader.CellArrayStatus = names
    reader.UpdatePipeline()
    facts["bytes, array on"] = bytes_of(reader)
    facts["bytes of the array"] = sizes_of(reader)[names[-1]]
    facts["bytes of the others, read and shown"] = [before, sum(sizes_of(reader)[name] for name in names[:-1])]
    facts["bytes, array off"] = change(reader, CellArrayStatus=names[:-1])
    facts["bytes, array on again"] = change(reader, CellArrayStatus=names)


def toggle_levels(reader, facts):
    whole = list(reader.LevelRange)
    facts["bytes, coarsest level alone"] = change(reader, LevelRange=[0, 0])
    facts["bytes, all levels again"] = change(reader, LevelRange=whole)
    # Blocks without blanking may have cells that were not needed before.
    change(reader, BlankRefinedCells=0)
    facts["bytes, blanking on again"] = change(reader, BlankRefinedCells=1)
    facts["bytes, blanking off again"] = change(reader, BlankRefinedCells=0)


def changes():
    before = resident()
    reader = new_reader()
    reader.UpdatePipeline()
    facts = {"bytes, first image": bytes_of(reader), "held / shown": (resident() - before) / sum(sizes_of(reader).values())}
    if len(reader.CellArrayStatus) > 1:
        toggle_array(reader, facts)
    toggle_levels(reader, facts)
    return facts


def steps():
    reader = new_reader()
    times = times_of(reader)
    update = reader.GetClientSideObject().UpdateTimeStep  # only the reader, without the information that ParaView gathers
    update(times[0])
    first = timed(update, times[-1])
    read = bytes_of(reader)
    update(times[0])
    back = bytes_of(reader)
    again = timed(update, times[-1])
    return {"seconds, first": first, "bytes, first": read, "bytes, back": back,
            "seconds, again": again, "bytes, again": bytes_of(reader)}


print_json({"changes": changes, "steps": steps}[task]())

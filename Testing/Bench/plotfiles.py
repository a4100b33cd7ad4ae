"""AMReX plotfiles for benchmarks, and comparisons with ParaView's own reader of the same files."""
import glob
import os
import sys
import tempfile

import emulator
from measuring import Spread, forget, here, interleave, pvbatch, ratios_of, remember, say, unpack

# Names of the archives, and the plotfile in each.
PACKED = (("amrex_adv", "plt00004"), ("amrex_adv_manypatches", "plt00001"))
# Least ratios of the first reader of a process, and of the next one.
GOALS = {"amrex_adv": (4, 5), "amrex_adv_manypatches": (8, 15)}
SLICE = ("open and read", "slice", "image of the slice")
# As in two_level.py: a small parallel file system.
STORAGE = {"latency": 2, "stream": 12.5, "concurrency": 64, "contention": 0.5}
COMPONENTS = 16


def find(report, folder, what="AMReX plotfiles"):
    """Returns name -> plotfile, without the plotfiles that are missing. If all are missing, the report lists `what`."""
    found = {}
    for name, plotfile in PACKED:
        path = unpack(folder, name, name)
        if path:
            found[name] = os.path.join(path, plotfile)
    if not found:
        report.skipped(what, "large/amrex_adv.tar.zst is missing in $PATCHIO_DATA or ../shared/data")
    return found


def make_wide(folder):
    """Makes a plotfile of many components, if it is missing. Returns its path."""
    sys.path.insert(0, os.path.join(here, "..", "Formats", "AMReX"))
    from plotfile_writer import tiles, write_plotfile
    path = os.path.join(folder, "wide", "plt00000")
    if not glob.glob(path + "/Level_0/Cell_H"):
        say("making %s" % path)
        write_plotfile(path, ((0, 0, 0), (127, 127, 127)), [tiles((0, 0, 0), (127, 127, 127), (32, 32, 32))], real="f4",
                       names=["c%02d" % i for i in range(COMPONENTS)])
    return path


def read_like_its_reader(report, name, path, rounds):
    """Measures the time from the name of a file to its data: as patches, like ParaView's reader, and merged, the default of PatchIO."""
    remember(path)
    kinds = {"AMReX": "AMReX", "patches": "PatchIO", "merged": "PatchIO merged"}
    found = interleave({way: lambda kind=kind: pvbatch("peer_read.py", kind, path, "phi") for way, kind in kinds.items()}, rounds)
    for way in ("patches", "merged"):
        label = "as patches" if way == "patches" else way
        for run, least, which in zip(("alone", "again"), GOALS[name], ("first", "next")):
            report.goal("%s, open and read, %s, %s reader: ParaView's AMReX reader / PatchIO" % (name, label, which), least,
                        ratios_of(found["AMReX"], found[way], run))
    report.goal("%s, memory: ParaView's AMReX reader / PatchIO merged" % name, 2,
                ratios_of(found["AMReX"], found["merged"], "memory"))
    if len({(run["cells"], round(run["sum"], 3)) for run in found["AMReX"] + found["patches"]}) != 1:
        raise RuntimeError("%s: the readers show different values" % name)
    report.data["plotfile " + name] = found


def slice_picture(report, name, path, rounds):
    with tempfile.TemporaryDirectory() as pictures:
        def draw(reader):
            target = os.path.join(pictures, reader)
            os.makedirs(target, exist_ok=True)
            return pvbatch("frame.py", reader, path, "phi", "--pictures", target, "slice")["seconds"]

        found = interleave({reader: lambda reader=reader: draw(reader) for reader in ("amrex", "own filters")}, rounds)
    report.goal("%s, open + slice + image: PatchIO merged / ParaView's AMReX reader and filters" % name, 10,
                ratios_of(found["amrex"], found["own filters"], *SLICE))
    report.data["plotfile slice " + name] = found


def slow_reading(report, name, path, rounds):
    """Measures one process on the emulated parallel file system; PatchIO has 16 threads and no information on the storage."""
    if emulator.is_missing(report, "%s on the emulator" % name):
        return
    with emulator.slow_storage(path, **STORAGE) as storage:
        found = interleave({"AMReX": lambda: pvbatch("peer_read.py", "AMReX", storage.mount, "phi"),
                            "PatchIO": lambda: pvbatch("peer_read.py", "PatchIO 16 threads", storage.mount, "phi")}, rounds)
    report.goal("%s, emulator, NP = 1, as patches: PatchIO with 16 threads / ParaView's AMReX reader" % name, 5,
                ratios_of(found["AMReX"], found["PatchIO"], "seconds"))
    report.data["plotfile slow " + name] = found


def one_of_many(report, folder):
    path = make_wide(folder)
    found = pvbatch("peer_read.py", "PatchIO only", path, "c07")
    wanted = found["cells"] * 4
    report.at_most("one of %d components: bytes read / bytes of that component" % COMPONENTS, 1.05,
                   Spread([found["bytes_read"] / wanted]))


def run(report, folder, rounds):
    found = find(report, folder)
    for name, path in found.items():
        read_like_its_reader(report, name, path, min(rounds, 5))
        slice_picture(report, name, path, min(rounds, 3))
    if "amrex_adv" in found:
        forget(found["amrex_adv"])
        slow_reading(report, "amrex_adv", found["amrex_adv"], min(rounds, 2))
    one_of_many(report, folder)

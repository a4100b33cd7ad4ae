"""Measures writing and reading containers, compared with HDF5 files (figures 8 to 11 of the paper on dual-channel parallel I/O by
L. Cao et al.).

For all programs, writing ends when the bytes are on the storage, and reads are those of a second step, into reused memory."""
import os
import shutil
import statistics
import time

import emulator
import measuring
from measuring import Spread, files_below, interleave, make_dump, programs, pvbatch, ratios, ratios_of, remember, run_json

# Cells per axis: blocks of 4 KB, 16 KB, 64 KB, 256 KB, 1 MB, 4 MB and 16 MB, with at most MOST bytes in total.
BLOCKS = {10: 4, 16: 16, 25: 64, 40: 256, 64: 1024, 102: 4096, 161: 16384}
MOST = 2 << 30
STORAGE = {"latency": 2, "stream": 100, "concurrency": 64, "slow_writes": True}
MODEL = ["--latency", "2e-3", "--bandwidth", "1e8"]


def program():
    return os.path.join(programs(), "patchio_bench_container")


def fresh(folder, *arguments, ranks=1):
    """Runs the program in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return run_json([program(), folder, *map(str, arguments)], ranks=ranks)


def by_size(report, folder, rounds):
    """Measures one process with 5000 blocks, or fewer if they exceed MOST bytes."""
    write, read, metadata, planned = {}, {}, {}, {}
    least = {"write": {}, "read": {}}  # plain writes and reads of the values
    for cells, kilobytes in BLOCKS.items():
        size = ["--blocks", min(5000, MOST // (kilobytes << 10)), "--cells", cells]
        folders = {how: os.path.join(folder, "blocks_" + how) for how in ("patchio", "hdf5", "plain")}
        found = interleave({how: (lambda how=how: fresh(folders[how], "--how", how, *size)) for how in folders}, rounds)
        write[kilobytes] = ratios_of(found["hdf5"], found["patchio"], "write")
        least["write"][kilobytes] = ratios_of(found["hdf5"], found["plain"], "write")
        for path in folders.values():
            remember(path)
        reads = {how: [program(), folders[how], "--read", "--steps", "2", "--how", how, *map(str, size)] for how in folders}
        reads["unverified"] = reads["patchio"] + ["--unverified"]
        found = interleave({how: (lambda how=how: run_json(reads[how])) for how in reads}, rounds)
        report.figure("read, blocks of %d KB: verified / not verified, seconds" % kilobytes,
                      ratios_of(found["patchio"], found["unverified"], "all"))
        found["patchio"] = found.pop("unverified")    # the default
        read[kilobytes] = ratios_of(found["hdf5"], found["patchio"], "all")
        metadata[kilobytes] = ratios_of(found["hdf5"], found["patchio"], "metadata")
        planned[kilobytes] = ratios([each["metadata"] for each in found["hdf5"]], [each["metadata"] + each["plan"] for each in found["patchio"]])
        report.figure("write, blocks of %d KB: PatchIO / HDF5, one data set per block" % kilobytes, write[kilobytes])
        report.figure("write, blocks of %d KB: only the bytes / HDF5" % kilobytes, least["write"][kilobytes])
        report.figure("read, blocks of %d KB: PatchIO / HDF5" % kilobytes, read[kilobytes])
        least["read"][kilobytes] = ratios_of(found["hdf5"], found["plain"], "all")
        report.figure("read, blocks of %d KB: only the bytes / HDF5" % kilobytes, least["read"][kilobytes])
        for path in folders.values():
            shutil.rmtree(path)
    for what, of_sizes in least.items():
        report.figure("%s, mean over all sizes: only the bytes / HDF5" % what, Spread([statistics.mean(each.median for each in of_sizes.values())]))
    report.goal("write, minimum over all sizes: PatchIO / HDF5", 0.97, Spread([min(each.median for each in write.values())]))
    report.goal("write, mean over all sizes (paper: 1.13)", 3.5, Spread([statistics.mean(each.median for each in write.values())]))
    report.goal("read, mean over all sizes (paper: 3.5)", 8, Spread([statistics.mean(each.median for each in read.values())]))
    report.goal("metadata, mean over all sizes (paper: 7.5)", 50, Spread([statistics.mean(each.median for each in metadata.values())]))
    report.figure("the same, including PatchIO's plan of requests, tasks and memory", Spread([statistics.mean(each.median for each in planned.values())]))


def many_steps(report, folder, rounds):
    paths = {}
    for steps in (1, 1000):
        paths[steps] = os.path.join(folder, "steps_%d" % steps)
        fresh(paths[steps], "--blocks", 64, "--cells", 8, "--steps", steps)
    found = interleave({steps: (lambda path=path: run_json([program(), path, "--read", "--steps", "3"])) for steps, path in paths.items()}, rounds)
    report.at_most("open: 1000 steps / one step", 1.5, ratios_of(found[1000], found[1], "metadata"))


def one_box(report, folder):
    """Reads 64 of 4096 blocks, in the middle. PatchIO reads a gap if another request would take longer, which depends on the storage."""
    for cells, kilobytes in ((16, 16), (40, 256)):
        path = os.path.join(folder, "box_%d" % kilobytes)
        fresh(path, "--blocks", 4096, "--cells", cells)
        for storage, latency in (("100 us per request", 1e-4), ("requests without latency", 1e-9)):
            found = run_json([program(), path, "--read", "--box", "--blocks", "4096", "--cells", str(cells), "--latency", str(latency)])
            report.at_most("a box of 1/64, blocks of %d KB, %s: bytes read / bytes of the box" % (kilobytes, storage), 1.05, Spread([found["surplus"]]))
        shutil.rmtree(path)


def on_emulator(report, storage, rounds):
    """Measures 1000 blocks of 256 KB: 8 ranks write, 4 ranks read."""
    size = ["--blocks", 1000, "--cells", 40]
    at = {how: storage.path(how) for how in ("patchio", "hdf5", "parallel")}
    found = interleave({how: (lambda how=how: fresh(at[how], "--how", how, *size, "--threads", 8, ranks=8)) for how in at}, rounds)
    for how, least in (("hdf5", 1.5), ("parallel", 4)):
        report.goal("emulator, 8 ranks write: PatchIO / %s" % {"hdf5": "one HDF5 file per rank", "parallel": "collective HDF5"}[how], least,
                    ratios_of(found[how], found["patchio"], "write"))
    found = interleave({how: (lambda how=how: run_json([program(), at[how], "--read", "--how", how, "--threads", "16", *MODEL] + list(map(str, size)), ranks=4))
                        for how in ("patchio", "hdf5")}, rounds)
    report.goal("emulator, 4 ranks read: PatchIO / HDF5", 8, ratios_of(found["hdf5"], found["patchio"], "all"))


def conversion(report, folder, rounds):
    """Converts 20,000 patches x 8 variables."""
    summary = make_dump(folder, "limits_small", patches=20000, size=16, variables=8)
    data = os.path.dirname(os.path.dirname(summary))
    remember(data)
    index, out, copied = os.path.join(data, "dumps.visit"), os.path.join(folder, "converted.pio"), os.path.join(folder, "copied")

    def convert():
        shutil.rmtree(out, ignore_errors=True)
        return timed(["sh", "-c", '"$0" convert "$1" "$2" && sync -f "$2"', os.path.join(programs(), "patchio"), index, out])

    def copy():
        shutil.rmtree(copied, ignore_errors=True)
        return timed(["sh", "-c", 'cp -r "$0" "$1" && sync -f "$1"', data, copied])

    found = interleave({"convert": convert, "copy": copy}, rounds)
    sizes = {name: sum(os.path.getsize(path) for path in files_below(place)) for name, place in (("convert", out), ("copy", copied))}
    rates = {name: [sizes[name] / seconds for seconds in found[name]] for name in found}
    report.goal("convert, bytes per second / cp of the files", 0.5, ratios(rates["convert"], rates["copy"]))


def in_paraview(report, folder, rounds):
    """Compares with ParaView's own reader of the same file, and with VTK's parallel XML files of the same data: 4096 boxes of 16^3 floats."""
    source = os.path.join(folder, "source")
    fresh(source, "--blocks", 4096, "--cells", 16)
    container = os.path.join(source, "blocks.pio")
    paths = {"VTKHDF": os.path.join(container, "step.000000.hdf"), "PatchIO": container, "PatchIO merged": container}
    for ranks, least in ((1, 3), (2, 5)):
        found = interleave({kind: (lambda kind=kind: pvbatch("peer_read.py", kind, paths[kind], "v0", ranks=ranks)) for kind in paths}, rounds)
        seconds = {kind: [each["seconds"] for each in found[kind]] for kind in paths}
        report.figure("%d ranks: ParaView's VTKHDF reader / PatchIO, as patches" % ranks, ratios(seconds["VTKHDF"], seconds["PatchIO"]))
        report.goal("%d ranks: ParaView's VTKHDF reader / PatchIO, merged" % ranks, least, ratios(seconds["VTKHDF"], seconds["PatchIO merged"]))
    saved = {kind: os.path.join(folder, "saved", "out." + kind) for kind in ("vtm", "pio")}

    def save(kind):
        shutil.rmtree(os.path.dirname(saved[kind]), ignore_errors=True)
        os.makedirs(os.path.dirname(saved[kind]))
        cost = pvbatch("save_rates.py", container, saved[kind])["seconds"]
        size = sum(os.path.getsize(path) for path in files_below(os.path.dirname(saved[kind])))
        kinds = ["XML"] if kind == "vtm" else ["PatchIO", "PatchIO merged"]
        return {"write": cost, "size": size, **{each: pvbatch("peer_read.py", each, saved[kind], "v0")["seconds"] for each in kinds}}

    found = interleave({kind: (lambda kind=kind: save(kind)) for kind in saved}, rounds)
    column = {kind: {name: [each[name] for each in runs] for name in runs[0]} for kind, runs in found.items()}
    report.goal("VTK's XML writer / Save Data", 3, ratios(column["vtm"]["write"], column["pio"]["write"]))
    report.figure("read back: VTK's XML reader / PatchIO, as patches", ratios(column["vtm"]["XML"], column["pio"]["PatchIO"]))
    report.goal("read back: VTK's XML reader / PatchIO, merged", 5, ratios(column["vtm"]["XML"], column["pio"]["PatchIO merged"]))
    report.at_most("size of the container / size of VTK's XML files", 1.0, ratios(column["pio"]["size"], column["vtm"]["size"]))


def timed(command):
    begin = time.monotonic()
    measuring.run(command)
    return time.monotonic() - begin


def run(report, folder, rounds):
    """./dev bench container"""
    by_size(report, folder, rounds)
    many_steps(report, folder, rounds)
    one_box(report, folder)
    conversion(report, folder, rounds)
    in_paraview(report, folder, rounds)
    emulator.measure_on(report, "all rows on the emulator", os.path.join(folder, "emulated"), lambda storage: on_emulator(report, storage, rounds), **STORAGE)

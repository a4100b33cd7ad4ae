"""Measures the metadata channel: the time to open, and reading by block size (figures 8 and 9 of the paper on dual-channel
parallel I/O by L. Cao et al.).

"Open" is all work before the first value can be read: the description of the step, and the locations of all its data sets, with
the HDF5 library, with PatchIO's own reader (the first open, which writes the index file), or from the index file (each later open)."""
import os
import shutil
import subprocess

import emulator
from measuring import Spread, files_below, folder_of, interleave, make_dump, programs, ratios, read_dump, remember, run_json

CORES = os.cpu_count()
# One request takes 2 ms, 64 are served at once, and bandwidth does not matter, because metadata is small.
STORAGE = {"latency": 2, "stream": 1000, "concurrency": 64}
MODEL = {"latency": 2e-3, "bandwidth": 1e9}
# Cells per axis: blocks of 4 KB, 16 KB, 64 KB, 256 KB, 1 MB, 4 MB and 16 MB.
BLOCKS = {10: 4, 16: 16, 25: 64, 40: 256, 64: 1024, 102: 4096, 161: 16384}


def opening(run):
    return run["open"] + run["locate"]


def remove_index_files(folder):
    for path in files_below(folder):
        if path.endswith(".patchio"):
            os.remove(path)


def open_costs(report, folder, rounds):
    """Opens 20,000 patches x 8 variables."""
    summary = make_dump(folder, "limits_small", patches=20000, size=16, variables=8)
    data = folder_of(summary)
    remember(data)
    options = {"threads": CORES, "steps": 0}

    def first():
        remove_index_files(data)
        return read_dump(summary, sidecar=True, **options)

    found = interleave({
        "library": lambda: read_dump(summary, library_locate=True, **options),
        "first": first,
        "second": lambda: read_dump(summary, sidecar=True, **options),
    }, rounds)
    seconds = {name: [opening(run) for run in runs] for name, runs in found.items()}
    report.goal("second open (index file) / open with the HDF5 library, 160,000 data sets (paper: 12.7)", 200,
                ratios(seconds["library"], seconds["second"]))
    report.goal("first open (own index reader, writes the index file) / open with the HDF5 library", 10,
                ratios(seconds["library"], seconds["first"]))
    size = os.path.getsize(os.path.join(os.path.dirname(summary), ".summary.samrai.patchio"))
    report.at_most("index file, bytes per (patch, variable)", 64, Spread([size / 160000]))
    report.data["open"] = seconds


def new_style_of(summary, folder):
    """Makes a copy of a dump with files in HDF5's new style, as HDF5 2 writes them. Returns its summary."""
    source = folder_of(summary)
    target = os.path.join(folder, "new_style", os.path.basename(source))
    for path in files_below(source):
        copy = os.path.join(target, os.path.relpath(path, source))
        if path.endswith(".patchio") or os.path.exists(copy):
            continue
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        if path.endswith(".samrai"):
            subprocess.run(["h5repack", "--low=1", path, copy], check=True)
        else:
            shutil.copy(path, copy)
    return os.path.join(target, os.path.relpath(summary, source))


def open_new_style(report, folder, rounds):
    """Opens the same 160,000 data sets in files of HDF5's new style."""
    if not shutil.which("h5repack"):
        report.skipped("files of HDF5's new style", "h5repack (package hdf5-tools) is not installed")
        return
    old = make_dump(folder, "limits_small", patches=20000, size=16, variables=8)
    new = new_style_of(old, folder)
    options = {"threads": CORES, "steps": 0}

    def first(summary):
        remove_index_files(folder_of(summary))
        return read_dump(summary, sidecar=True, **options)

    found = interleave({
        "old": lambda: first(old),
        "new": lambda: first(new),
        "library": lambda: read_dump(new, library_locate=True, **options),
    }, rounds)
    seconds = {name: [opening(run) for run in runs] for name, runs in found.items()}
    report.at_most("new style / old style, first open", 1.2, ratios(seconds["new"], seconds["old"]))
    report.goal("new style, open with the HDF5 library / first open", 10, ratios(seconds["library"], seconds["new"]))
    report.data["new style"] = seconds


def lists_of_chunks(report, folder, rounds):
    """Lists a million chunks in total, in each of the five kinds of lists that HDF5 has since version 1.10."""
    try:
        found = run_json([programs() + "/patchio_bench_chunks", os.path.join(folder, "chunks.h5"), "--rounds", str(rounds)])
    except RuntimeError as error:
        if "HDF5 1.14 or later" not in str(error):
            raise
        report.skipped("lists of chunks", "HDF5 1.14 or later is needed")
        return
    for kind, runs in found.items():
        report.goal("list of chunks (%s): HDF5 library / PatchIO" % kind, 5, ratios(runs["library"], runs["ours"]))
    report.data["lists of chunks"] = found


def new_style_on_emulator(report, summary, rounds):
    data = folder_of(summary)
    with emulator.slow_storage(data, **STORAGE) as storage:
        mounted = storage.path(os.path.relpath(summary, data))
        found = interleave({
            "library": lambda: read_dump(mounted, library_locate=True, steps=0),
            "first": lambda: read_dump(mounted, threads=64, steps=0, **MODEL),
        }, rounds)
    report.goal("emulator, files of HDF5's new style, open with the HDF5 library / first open", 20,
                ratios([opening(run) for run in found["library"]], [opening(run) for run in found["first"]]))


def open_on_emulator(report, folder, rounds):
    """Opens and reads 1,000 patches x 8 variables, for which the library makes thousands of requests, one after another."""
    summary = make_dump(folder, "metadata_small", patches=1000, size=16, variables=8)
    data = folder_of(summary)
    read_dump(summary, sidecar=True, steps=0)
    if emulator.is_missing(report, "all rows on the emulator"):
        return
    if shutil.which("h5repack"):
        new_style_on_emulator(report, new_style_of(summary, folder), rounds)
    with emulator.slow_storage(data, **STORAGE) as storage:
        mounted = storage.path(os.path.relpath(summary, data))
        ours = dict(threads=64, **MODEL)
        found = interleave({
            "hdf5": lambda: read_dump(mounted, how="hdf5"),
            "ours": lambda: read_dump(mounted, sidecar=True, **ours),
            "first": lambda: read_dump(mounted, **ours),
        }, rounds)
    total = {name: [opening(run) + run["read"][0] for run in runs] for name, runs in found.items()}
    report.goal("emulator (2 ms per request, 64 at once), NP = 1, open + read with index file / serial HDF5", 100,
                ratios(total["hdf5"], total["ours"]))
    report.figure("the same, without index file (first open)", ratios(total["hdf5"], total["first"]))
    report.data["emulator"] = total


def by_block_size(report, folder, rounds):
    """Opens and reads 128 MB from the page cache, in blocks of 4 KB to 16 MB."""
    for cells, kilobytes in BLOCKS.items():
        patches = max(8, 131072 // kilobytes)
        summary = make_dump(folder, "metadata_%d" % kilobytes, patches=patches, size=cells)
        read_dump(summary, sidecar=True, steps=0)
        remember(folder_of(summary))
        found = interleave({
            "hdf5": lambda: read_dump(summary, how="hdf5", warm=0.3),
            "ours": lambda: read_dump(summary, threads=CORES, sidecar=True, warm=0.3),
        }, rounds)
        report.figure("blocks of %d KB: open + read / serial HDF5 (paper: 7.11 at 16 KB, 2.72 at 1 MB, 1.76 at 4 MB)" % kilobytes,
                      ratios([run["open"] + run["read"][0] for run in found["hdf5"]],
                             [opening(run) + run["read"][0] for run in found["ours"]]))


def run(report, folder, rounds):
    """./dev bench metadata"""
    open_costs(report, folder, rounds)
    open_new_style(report, folder, rounds)
    lists_of_chunks(report, folder, rounds)
    open_on_emulator(report, folder, min(rounds, 2))
    by_block_size(report, folder, rounds)

"""Compares reading with the limits of the machine: large and small patches in the page cache, first read into new memory and
later reads into reused memory; compared with serial HDF5, and with pread with all cores into reused memory. Compares compressed
chunks with the HDF5 library."""
import os
import shutil
import subprocess

from measuring import files_below, folder_of, interleave, make_dump, programs, ratios, read_dump, remember, run_json

CORES = os.cpu_count()


def large_patches(report, folder, rounds):
    """Reads 2 GB in 1274 patches."""
    summary = make_dump(folder, "limits_large", patches=1274, size=74)
    data = folder_of(summary)
    read_dump(summary, sidecar=True)
    remember(data)
    clusters = [path for path in files_below(data) if "cluster" in path]
    # --warm: a virtual machine must first get unused memory back from its host, which takes longer than the read and would
    # slow the first program that asks for it.
    found = interleave({
        "hdf5": lambda: read_dump(summary, how="hdf5", warm=3)["read"][0],
        "ours": lambda: read_dump(summary, threads=CORES, steps=3, sidecar=True, warm=3),
        "pread": lambda: run_json([programs() + "/patchio_pread_rate"] + clusters +
                                  ["--threads", str(CORES), "--request", str(1 << 20), "--keep"])["seconds"],
    }, rounds)
    first = [run["locate"] + run["read"][0] for run in found["ours"]]
    again = [run["locate"] + min(run["read"][1:]) for run in found["ours"]]
    report.goal("page cache, 2 GB in 1274 patches, first read / serial HDF5 into new memory", 3.5,
                ratios(found["hdf5"], first))
    report.goal("the same, into reused memory (next step) / serial HDF5 into new memory", 6, ratios(found["hdf5"], again))
    report.goal("the same / pread with all cores into reused memory", 0.85, ratios(found["pread"], again))
    report.data["large"] = {"hdf5": found["hdf5"], "first": first, "again": again, "pread": found["pread"]}


def small_patches(report, folder, rounds):
    """Reads 20,000 patches x 8 variables of 16^3."""
    summary = make_dump(folder, "limits_small", patches=20000, size=16, variables=8)
    read_dump(summary, sidecar=True)
    remember(folder_of(summary))
    found = interleave({
        "hdf5": lambda: read_dump(summary, how="hdf5", warm=4),
        "ours": lambda: read_dump(summary, threads=CORES, steps=2, sidecar=True, warm=4),
    }, rounds)
    hdf5 = [run["open"] + run["read"][0] for run in found["hdf5"]]
    ours = [run["open"] + run["locate"] + run["read"][0] for run in found["ours"]]
    again = [run["open"] + run["locate"] + run["read"][1] for run in found["ours"]]
    report.goal("page cache, 20,000 patches x 8 variables of 16^3, open + read with index file / serial HDF5", 12,
                ratios(hdf5, ours))
    report.figure("the same, into reused memory / serial HDF5", ratios(hdf5, again))
    report.data["small"] = {"hdf5": hdf5, "ours": ours, "again": again}


def compressed(report, folder, rounds):
    """Reads chunks with deflate and shuffle, one chunk per patch."""
    plain = make_dump(folder, "limits_plain", patches=256, size=64)
    packed = plain.replace("limits_plain", "limits_packed")
    if not os.path.exists(packed):
        if not shutil.which("h5repack"):
            report.skipped("deflate + shuffle chunks", "h5repack (package hdf5-tools) is not installed")
            return
        os.makedirs(os.path.dirname(packed), exist_ok=True)
        for path in files_below(os.path.dirname(plain)):
            target = os.path.join(os.path.dirname(packed), os.path.basename(path))
            if path.endswith(".patchio"):
                continue
            if "cluster" in path:
                subprocess.run(["h5repack", "-l", "CHUNK=65536", "-f", "SHUF", "-f", "GZIP=4", path, target], check=True)
            else:
                shutil.copy(path, target)
    read_dump(packed, sidecar=True)
    found = interleave({
        "hdf5": lambda: read_dump(packed, how="hdf5", warm=1)["read"][0],
        "ours": lambda: read_dump(packed, threads=CORES, steps=1, sidecar=True, warm=1)["read"][0],
    }, rounds)
    report.goal("deflate + shuffle chunks, %d cores: PatchIO / HDF5 library" % CORES, 6, ratios(found["hdf5"], found["ours"]))
    report.data["compressed"] = found


def run(report, folder, rounds):
    """./dev bench limits"""
    large_patches(report, folder, rounds)
    small_patches(report, folder, rounds)
    compressed(report, folder, rounds)

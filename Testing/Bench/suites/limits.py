"""How near reading comes to what the machine can do: large and small patches in the page cache, first read into fresh
memory and later ones into memory used again; against serial HDF5, and against pread by all cores into memory that is
there already. Compressed chunks against the HDF5 library."""
import os
import shutil
import subprocess

from measuring import Spread, files_below, interleave, make_dump, programs, ratios, read_dump, remember, run_json, say

CORES = os.cpu_count()


def large_patches(report, folder, rounds):
    """2 GB in 1274 patches."""
    summary = make_dump(folder, "limits_large", patches=1274, size=74)
    data = os.path.dirname(os.path.dirname(summary))
    read_dump(summary, sidecar=True)
    remember(data)
    clusters = [path for path in files_below(data) if "cluster" in path]
    # --warm: on virtual machines, memory that nobody used lately must come back from the host first, which takes longer
    # than all else and would hit whoever asks first.
    found = interleave({
        "hdf5": lambda: read_dump(summary, how="hdf5", warm=3)["read"][0],
        "ours": lambda: read_dump(summary, threads=CORES, steps=3, sidecar=True, warm=3),
        "pread": lambda: run_json([programs() + "/patchio_pread_rate"] + clusters +
                                  ["--threads", str(CORES), "--request", str(1 << 20), "--keep"])["seconds"],
    }, rounds)
    first = [run["locate"] + run["read"][0] for run in found["ours"]]
    again = [run["locate"] + min(run["read"][1:]) for run in found["ours"]]
    report.goal("page cache, 2 GB in 1274 patches, first read / serial HDF5 into fresh memory", 3.5,
                ratios(found["hdf5"], first))
    report.goal("the same, memory used again (next step) / serial HDF5 into fresh memory", 6, ratios(found["hdf5"], again))
    report.goal("the same / pread by all cores into memory that is there", 0.85, ratios(found["pread"], again))
    report.data["large"] = {"hdf5": found["hdf5"], "first": first, "again": again, "pread": found["pread"]}


def small_patches(report, folder, rounds):
    """20,000 patches x 8 variables of 16^3."""
    summary = make_dump(folder, "limits_small", patches=20000, size=16, variables=8)
    read_dump(summary, sidecar=True)
    remember(os.path.dirname(os.path.dirname(summary)))
    found = interleave({
        "hdf5": lambda: read_dump(summary, how="hdf5", warm=4),
        "ours": lambda: read_dump(summary, threads=CORES, steps=2, sidecar=True, warm=4),
    }, rounds)
    hdf5 = [run["open"] + run["read"][0] for run in found["hdf5"]]
    ours = [run["open"] + run["locate"] + run["read"][0] for run in found["ours"]]
    again = [run["open"] + run["locate"] + run["read"][1] for run in found["ours"]]
    report.goal("page cache, 20,000 patches x 8 variables of 16^3, open + read, with sidecar / serial HDF5", 12,
                ratios(hdf5, ours))
    report.figure("the same, memory used again / serial HDF5", ratios(hdf5, again))
    report.data["small"] = {"hdf5": hdf5, "ours": ours, "again": again}


def compressed(report, folder, rounds):
    """deflate + shuffle, chunks of a patch."""
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
    report.goal("deflate + shuffle chunks, %d cores: ours / HDF5 library" % CORES, 6, ratios(found["hdf5"], found["ours"]))
    report.data["compressed"] = found


def memory_rates(report, rounds):
    """What memory itself gives, for scale."""
    found = interleave({"memory": lambda: run_json([programs() + "/patchio_memory_rate"])}, rounds)["memory"]
    for name in found[0]:
        spread = Spread(run[name] for run in found)
        report.figure("memory, GB/s: " + name.replace("_", " "), spread)


def run(report, folder, rounds):
    """./dev bench limits"""
    large_patches(report, folder, rounds)
    small_patches(report, folder, rounds)
    compressed(report, folder, rounds)
    memory_rates(report, rounds)

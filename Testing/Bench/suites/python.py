"""Reads a large dump, and a dump of many small patches, into numpy arrays: the Python package patchio and h5py."""
import os
import sys

from measuring import Spread, here, interleave, make_dump, programs, ratios, read_dump, remember, run_json


def compare(report, folder, rounds, what, name, warm, **size):
    summary = make_dump(folder, name, **size)
    read_dump(summary, sidecar=True, steps=0)
    remember(os.path.dirname(os.path.dirname(summary)))
    package = {"PYTHONPATH": os.path.join(os.path.dirname(programs()), "python")}

    def read(how):
        return run_json([sys.executable, os.path.join(here, "numpy_read.py"), how, summary, "v0", str(warm)], environment=package)

    found = interleave({how: (lambda how=how: read(how)) for how in ("patchio", "h5py")}, rounds)
    sums = {(run["bytes"], run["arrays"], run["sum"]) for runs in found.values() for run in runs}
    if len(sums) != 1:
        raise RuntimeError("patchio and h5py read different values: %s" % sums)
    ours, theirs = found["patchio"], found["h5py"]
    report.figure("%s, into numpy, open + read: patchio / h5py" % what, ratios([run["open"] + run["read"] for run in theirs],
                                                                   [run["open"] + run["read"] for run in ours]))
    report.figure("the same, into reused memory (next step)", ratios([run["again"] for run in theirs], [run["again"] for run in ours]))
    report.figure("the same, GB/s of patchio, first read", Spread(run["bytes"] * 1e-9 / run["read"] for run in ours))
    report.figure("the same, GB/s of patchio, into reused memory", Spread(run["bytes"] * 1e-9 / run["again"] for run in ours))
    report.data[name] = found


def run(report, folder, rounds):
    """./dev bench python"""
    compare(report, folder, rounds, "page cache, 2 GB in 1274 patches", "limits_large", 3000, patches=1274, size=74)
    compare(report, folder, rounds, "page cache, 330 MB in 20,000 patches of 16^3, one variable of 8", "limits_small", 800, patches=20000, size=16,
            variables=8)

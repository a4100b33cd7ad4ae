"""Writes the files of the reference readers of formats with boxes: an npz for each step, and series.json, which lists them."""
import argparse
import json
import os
import shutil

import numpy as np


def save(meta, arrays, path):
    np.savez(path, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)


def write_truths(outdir, series):
    """Writes the files. series: for each series, its index, (path, metadata, arrays) of each step, and the paths that the index
    itself names."""
    shutil.rmtree(outdir, ignore_errors=True)
    os.makedirs(outdir)
    table, count = [], 0
    for index, truths, listed in series:
        steps = []
        for path, meta, arrays in truths:
            steps.append({"npz": "%05d.npz" % count, "summary": path, "time": meta["time"], "step": meta["step"]})
            save(meta, arrays, os.path.join(outdir, steps[-1]["npz"]))
            count += 1
        table.append({"index": index, "steps": steps, "times": time_values(steps),
                      "listed_times": time_values([step for step in steps if step["summary"] in listed])})
    with open(os.path.join(outdir, "series.json"), "w") as file:
        json.dump(table, file)


def time_values(steps):
    """Returns the expected values of ParaView's time slider: the times if they ascend strictly, otherwise the step numbers."""
    times = [step["time"] for step in steps]
    if all(a < b for a, b in zip(times, times[1:])):
        return times
    return [float(step["step"]) for step in steps]


def main(description, series_below):
    """The program `reference.py --series OUTDIR PATH...`; series_below(path) returns the argument of write_truths()."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", metavar="OUTDIR", required=True)
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    write_truths(arguments.series, (one for path in arguments.paths for one in series_below(os.path.abspath(path))))

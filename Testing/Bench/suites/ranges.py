"""Compares the ranges of arrays that ParaView needs before each image: found by PatchIO while it reads, or found by VTK."""
import statistics

from measuring import Spread, interleave, pvbatch, remember
from suites.play import make_series


def medians(runs, kind, what):
    return [statistics.median(run[kind][what]) for run in runs]


def run(report, folder, rounds):
    """./dev bench ranges"""
    series = make_series(folder)
    remember(series)
    ways = {blocks: lambda blocks=blocks: pvbatch("range_costs.py", series + "/dumps.visit", "v0", blocks)
            for blocks in ("Merged", "As patches")}
    for blocks, runs in interleave(ways, min(rounds, 3)).items():
        label = "27 patches of 32^3, page cache, %s: " % blocks.lower()
        read, frame = medians(runs, "known", "read"), medians(runs, "known", "frame")
        report.figure(label + "VTK's search / reading the values with their ranges",
                      Spread(vtk / ours for vtk, ours in zip(medians(runs, "unknown", "ranges"), read)))
        report.figure(label + "next step with a slice to its image: ranges from VTK / from the reader",
                      Spread(vtk / ours for vtk, ours in zip(medians(runs, "unknown", "frame"), frame)))
        report.data[blocks] = runs

#!/usr/bin/env python3
"""Draws the output of `patchio tune --json`: plot_tune.py FOUND.json PICTURE.png

The picture has the rate F(N) of the profile, the measurements, and the initial number of reads in flight of each policy.
"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

MARKS = {"polite": "v", "balanced": "o", "greedy": "^"}


def rate_at(curve, reads):
    """Returns the rate at the point of the curve nearest to `reads`."""
    return min(curve, key=lambda point: abs(point[0] - reads))[1]


def main(found_path, picture):
    with open(found_path, encoding="utf-8") as file:
        found = json.load(file)
    curve = found["profile"]["curve"]
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    axes.plot([n for n, _ in curve], [rate * 1e-6 for _, rate in curve], label="F(N), as fitted")
    samples = found["profile"]["samples"]
    axes.plot([n for n, _ in samples], [rate * 1e-6 for _, rate in samples], "k.", alpha=0.5, label="measured")
    best = found["profile"]["concurrency"]
    axes.axvline(best, color="gray", linestyle=":", label="N* = %d" % best)
    for name, policy in found["policies"].items():
        axes.plot(policy["start"], rate_at(curve, policy["start"]) * 1e-6, MARKS[name], markersize=10, fillstyle="none",
                  label="%s begins with %d" % (name, policy["start"]))
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.legend()
    mount = found["mount"]
    axes.set(xlabel="N, reads in flight, all ranks together", ylabel="MB/s",
             title="%s (%s), NP = %d" % (mount["point"], mount["type"], found["ranks"]))
    axes.grid(alpha=0.3)
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])

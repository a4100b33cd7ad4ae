#!/usr/bin/env python3
"""Draws what `patchio probe findings --plot` judged: plot_findings.py FINDINGS.json PICTURE

A line for each ratio with the interval in which it lies with 99 % probability; grey is where rates are alike, or where
they grow, but too little.
"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLOURS = {"confirmed": "tab:green", "refuted": "tab:red", "confirmed in part": "tab:olive", "unclear": "tab:gray"}


def draw(axes, number, finding):
    parts = [part for part in finding["parts"] if part["ratio"] is not None]
    axes.set_title("%d. %s" % (number, finding["claim"]), loc="left", fontsize=10)
    axes.text(1.02, 0.5, finding["judged"].replace(" ", "\n", 1), transform=axes.transAxes, va="center",
              color=COLOURS[finding["judged"]], fontweight="bold")
    axes.set_xscale("log", base=2)
    axes.set_yticks(range(len(parts)), [part["what"] for part in parts], fontsize=8)
    axes.set_ylim(len(parts) - 0.5, -0.5)
    axes.axvline(1, color="black", linewidth=0.8)
    for y, part in enumerate(parts):
        axes.fill_betweenx([y - 0.5, y + 0.5], *part["alike"], color="0.9", linewidth=0)
        colour = COLOURS[part["judged"]]
        if part["low"] is not None:
            axes.plot([part["low"], part["high"]], [y, y], color=colour, linewidth=2)
        axes.plot(part["ratio"], y, "o", color=colour)
    if not parts:
        axes.text(0.5, 0.5, "not measured", ha="center", va="center", transform=axes.transAxes)


def main(path, picture):
    with open(path, encoding="utf-8") as file:
        findings = json.load(file)
    heights = [max(1, len(finding["parts"])) + 1.2 for finding in findings]
    figure, rows = plt.subplots(len(findings), 1, figsize=(10, 0.42 * sum(heights)), sharex=True, layout="constrained",
                                gridspec_kw={"height_ratios": heights})
    for number, (axes, finding) in enumerate(zip(rows, findings), 1):
        draw(axes, number, finding)
    rows[-1].xaxis.set_major_formatter(lambda value, _: "%g" % value)
    rows[-1].set_xlabel("ratio of rates")
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""Draws results of `patchio probe`: plot_probe.py RESULT.json [OTHER.json] --output FOLDER

One result: rates over block size, a picture for each view and direction; rates over file and block size as
surfaces; reading and writing at once; peaks and dips that were looked at again. Two: their ratios.
"""
import argparse
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

SURFACES = ("read_at", "read_at_all", "write_at", "write_at_all")


def size_text(size):
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")):
        if size >= unit:
            return "%g%s" % (round(size / unit, 2), name)
    return "%d" % size


def load(path):
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    if result.get("schema") != "patchio-probe":
        sys.exit("%s is no result of patchio probe." % path)
    return result


def title_of(result):
    machine = result["machine"]
    name = result["label"] or "%s, %s, %s" % (machine["host"], machine["file_system"], machine["mpi"])
    end = "" if result["complete"] else " (not complete)"
    return "%s, %d rank%s%s" % (name, machine["ranks"], "" if machine["ranks"] == 1 else "s", end)


def is_write(function):
    return "write" in function


def block_axis(axes, blocks):
    axes.set_xscale("log", base=2)
    axes.set_xticks(blocks)
    axes.set_xticklabels([size_text(block) for block in blocks], rotation=45, fontsize=7)
    axes.minorticks_off()
    axes.set_xlabel("block, bytes")


def save(figure, folder, name):
    figure.tight_layout()
    figure.savefig(os.path.join(folder, name + ".png"), dpi=90)
    plt.close(figure)


def curve(points, function, view, size):
    """Blocks, and min, mean and max in MB/s, of points that have rates."""
    chosen = sorted((p["block_bytes"], p["kb_per_s"]) for p in points
                    if (p["function"], p["view"], p["file_bytes"]) == (function, view, size) and "kb_per_s" in p)
    rates = [[rate[name] / 1000 for _, rate in chosen] for name in ("min", "mean", "max")]
    return [block for block, _ in chosen], rates


def draw_curves(result, folder):
    """A picture for each view and direction, of the largest file; bars from least to most."""
    points = result["points"]
    measured = {(p["view"], is_write(p["function"])) for p in points if "kb_per_s" in p}
    for view, write in sorted(measured):
        mine = [p for p in points if p["view"] == view and is_write(p["function"]) == write and "kb_per_s" in p]
        size = max(p["file_bytes"] for p in mine)
        functions = list(dict.fromkeys(p["function"] for p in mine))
        figure, axes = plt.subplots(figsize=(9, 5.5))
        for number, function in enumerate(functions):
            blocks, (least, mean, most) = curve(points, function, view, size)
            if blocks:
                colour = plt.cm.tab20(number % 20)
                style = "--" if "_all" in function or "ordered" in function else "-"
                bars = [np.subtract(mean, least), np.subtract(most, mean)]
                axes.errorbar(blocks, mean, yerr=bars, label=function, color=colour, linestyle=style, marker="o",
                              markersize=3, capsize=2, linewidth=1.2)
        block_axis(axes, sorted({p["block_bytes"] for p in mine}))
        axes.set_ylabel("MB/s of all ranks (mean, least to most)")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7, ncol=2)
        axes.set_title("%s, view %s, file of %s\n%s" % ("writing" if write else "reading", view, size_text(size),
                                                        title_of(result)), fontsize=9)
        save(figure, folder, "rates_%s_%s" % ("write" if write else "read", view))


def draw_surfaces(result, folder):
    for matrix in result["matrices"]:
        sizes, blocks = matrix["file_bytes"], matrix["block_bytes"]
        if matrix["function"] not in SURFACES or len(sizes) < 2 or len(blocks) < 2:
            continue
        rates = np.array([[np.nan if rate is None else rate / 1000 for rate in row]
                          for row in matrix["kb_per_s_mean"]])
        if np.isnan(rates).all():
            continue
        figure, axes = plt.subplots(figsize=(1.8 + 0.85 * len(blocks), 1.8 + 0.6 * len(sizes)))
        image = axes.imshow(rates, aspect="auto", origin="lower", cmap="viridis", vmin=0)
        axes.set_xticks(range(len(blocks)))
        axes.set_xticklabels([size_text(block) for block in blocks], rotation=45)
        axes.set_yticks(range(len(sizes)))
        axes.set_yticklabels([size_text(size) for size in sizes])
        axes.set_xlabel("block")
        axes.set_ylabel("file")
        middle = np.nanmax(rates) / 2
        for row, column in np.argwhere(~np.isnan(rates)):
            axes.text(column, row, "%.0f" % rates[row, column], ha="center", va="center", fontsize=7,
                      color="black" if rates[row, column] > middle else "white")
        figure.colorbar(image, label="MB/s")
        axes.set_title("%s, view %s\n%s" % (matrix["function"], matrix["view"], title_of(result)), fontsize=8)
        save(figure, folder, "surface_%s_%s" % (matrix["function"], matrix["view"]))


def draw_influence(result, folder):
    rows = sorted(result["influence"], key=lambda row: row["block_bytes"])
    if not rows:
        return
    blocks = [row["block_bytes"] for row in rows]
    figure, (rates, ratios) = plt.subplots(1, 2, figsize=(10, 4.2))
    for name, colour in (("read", "tab:blue"), ("write", "tab:red")):
        for kind, style in (("alone", "-"), ("both", "--")):
            means = [np.mean(row["%s_%s_kb_per_s" % (name, kind)]) / 1000 for row in rows]
            rates.plot(blocks, means, style, color=colour, marker="o", markersize=3,
                       label="%s, %s" % (name, "alone" if kind == "alone" else "at once"))
        ratios.plot(blocks, [row[name + "_ratio"] for row in rows], color=colour, marker="o", label=name)
    rates.set_ylabel("MB/s")
    ratios.set_ylabel("rate at once / alone")
    ratios.axhline(1, color="grey", linewidth=0.8)
    for axes in (rates, ratios):
        block_axis(axes, blocks)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.suptitle("%d reading, %d writing; %s" % (rows[0]["readers"], rows[0]["writers"], title_of(result)),
                    fontsize=9)
    save(figure, folder, "influence")


def draw_features(result, folder):
    features = [feature for feature in result["features"] if feature["refined"]]
    if not features:
        return
    figure, all_axes = plt.subplots(1, len(features), figsize=(1 + 3 * len(features), 3.4), squeeze=False)
    for axes, feature in zip(all_axes[0], features):
        blocks, rates = curve(result["points"], feature["function"], feature["view"], feature["file_bytes"])
        axes.plot(blocks, rates[1], color="grey", marker="o", markersize=3, label="study")
        refined = [(p["block_bytes"], np.array(p["kb_per_s"]) / 1000) for p in feature["refined"]]
        for block, values in refined:
            axes.plot([block] * len(values), values, ".", color="tab:orange", markersize=3)
        axes.plot([block for block, _ in refined], [values.mean() for _, values in refined], color="tab:orange",
                  label="again")
        axes.axvline(feature["again" if feature["stable"] else "first"]["block_bytes"], color="black", linewidth=0.6)
        block_axis(axes, blocks)
        axes.set_title("%s %s, %s:\n%s, %s" % (feature["function"], feature["view"], size_text(feature["file_bytes"]),
                                               feature["first"]["kind"],
                                               "stable" if feature["stable"] else "not there again"), fontsize=8)
        axes.legend(fontsize=7)
    all_axes[0][0].set_ylabel("MB/s")
    save(figure, folder, "features")


def draw_comparison(a, b, folder):
    """Ratios over block size, a line for each function; of the largest file that both have."""
    rates = [{(p["view"], p["function"], p["file_bytes"], p["block_bytes"]): p["kb_per_s"]["mean"]
              for p in result["points"] if "kb_per_s" in p} for result in (a, b)]
    common = sorted(set(rates[0]) & set(rates[1]))
    for view in sorted({key[0] for key in common}):
        size = max(key[2] for key in common if key[0] == view)
        keys = [key for key in common if key[0] == view and key[2] == size]
        figure, axes = plt.subplots(figsize=(9, 5.5))
        for number, function in enumerate(sorted({key[1] for key in keys})):
            line = [(key[3], rates[1][key] / rates[0][key]) for key in keys if key[1] == function]
            axes.plot(*zip(*line), marker="o", markersize=3, label=function, color=plt.cm.tab20(number % 20),
                      linestyle="--" if is_write(function) else "-")
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_yscale("log", base=2)
        block_axis(axes, sorted({key[3] for key in keys}))
        axes.set_ylabel("rate of B / rate of A")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=6, ncol=3)
        axes.set_title("view %s, file of %s\nA: %s; B: %s" % (view, size_text(size), title_of(a), title_of(b)),
                       fontsize=8)
        save(figure, folder, "comparison_%s" % view)


def main():
    parser = argparse.ArgumentParser(description="Draws results of patchio probe.")
    parser.add_argument("results", nargs="+", help="one result.json, or two to compare")
    parser.add_argument("--output", required=True, help="folder for the pictures")
    options = parser.parse_args()
    if len(options.results) > 2:
        parser.error("one or two results can be drawn")
    results = [load(path) for path in options.results]
    os.makedirs(options.output, exist_ok=True)
    if len(results) == 2:
        draw_comparison(results[0], results[1], options.output)
        return
    for draw in (draw_curves, draw_surfaces, draw_influence, draw_features):
        draw(results[0], options.output)


if __name__ == "__main__":
    main()

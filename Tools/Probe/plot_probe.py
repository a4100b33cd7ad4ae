#!/usr/bin/env python3
"""Draws results of `patchio probe`: plot_probe.py RESULT.json [OTHER.json] --output FOLDER

One result: rates over block size, a picture for each view and direction; rates over file and block size as
surfaces; reading and writing at once; peaks and dips that were looked at again; of the quick mode rates over
the requests in flight. Two: their ratios.
"""
import argparse
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

T_99 = (63.66, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17)  # Student's, two-sided 99 %, by degrees of freedom


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
    ranks = "%d rank%s" % (machine["ranks"], "" if machine["ranks"] == 1 else "s")
    return name + ("" if ranks in name else ", " + ranks) + end


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


def is_collective(function):
    return "_all" in function or "ordered" in function


def draw_lines(axes, points, functions, view, size):
    for number, function in enumerate(functions):
        blocks, (least, mean, most) = curve(points, function, view, size)
        # Side by side, so that the bars of one do not hide those of another.
        places = np.array(blocks) * 2.0 ** (0.5 * ((number + 0.5) / len(functions) - 0.5))
        axes.errorbar(places, mean, yerr=[np.subtract(mean, least), np.subtract(most, mean)], label=function,
                      color=plt.cm.tab10(number % 10), marker="osv^D<>p"[number % 8], markersize=4, capsize=2,
                      linewidth=1.2)
    block_axis(axes, sorted({p["block_bytes"] for p in points}))
    axes.legend(fontsize=7, ncol=2)


def draw_bars(axes, points, functions, view, size):
    """Draws the rates at a single block size."""
    for number, function in enumerate(functions):
        _, (least, mean, most) = curve(points, function, view, size)
        axes.bar(number, mean[0], yerr=[[mean[0] - least[0]], [most[0] - mean[0]]], capsize=4, width=0.7,
                 color=plt.cm.tab10(number % 10))
    axes.set_xticks(range(len(functions)))
    axes.set_xticklabels(functions, rotation=30, ha="right", fontsize=8)
    axes.set_xlabel("blocks of %s" % size_text(points[0]["block_bytes"]))


def draw_curves(result, folder):
    """A picture for each view and direction, of the largest file, individual and collective functions beside
    each other; bars from least to most."""
    points = result["points"]
    measured = {(p["view"], is_write(p["function"])) for p in points if "kb_per_s" in p}
    for view, write in sorted(measured):
        mine = [p for p in points if p["view"] == view and is_write(p["function"]) == write and "kb_per_s" in p]
        size = max(p["file_bytes"] for p in mine)
        mine = [p for p in mine if p["file_bytes"] == size]
        functions = list(dict.fromkeys(p["function"] for p in mine))
        draw = draw_lines if len({p["block_bytes"] for p in mine}) > 1 else draw_bars
        groups = [[f for f in functions if is_collective(f) == collective] for collective in (False, True)]
        groups = [group for group in groups if group] if draw is draw_lines else [functions]
        figure, all_axes = plt.subplots(1, len(groups), figsize=(4 + 5 * len(groups), 5.5), sharey=True, squeeze=False)
        for axes, group in zip(all_axes[0], groups):
            draw(axes, [p for p in mine if p["function"] in group], group, view, size)
            axes.set_ylim(bottom=0)
            axes.grid(alpha=0.3, axis="both" if draw is draw_lines else "y")
            if len(groups) > 1:
                axes.set_title("collective" if is_collective(group[0]) else "individual", fontsize=9)
        all_axes[0][0].set_ylabel("MB/s of all ranks (mean, least to most)")
        figure.suptitle("%s, view %s, file of %s\n%s" % ("writing" if write else "reading", view, size_text(size),
                                                         title_of(result)), fontsize=9)
        save(figure, folder, "rates_%s_%s" % ("write" if write else "read", view))


def draw_surfaces(result, folder):
    """Draws each function and view that has at least two sizes of files and of blocks."""
    for matrix in result["matrices"]:
        sizes, blocks = matrix["file_bytes"], matrix["block_bytes"]
        rates = np.array([[np.nan if rate is None else rate / 1000 for rate in row]
                          for row in matrix["kb_per_s_mean"]])
        if len(sizes) < 2 or len(blocks) < 2 or np.isnan(rates).all():
            continue
        figure, axes = plt.subplots(figsize=(max(7, 2.2 + 0.95 * len(blocks)), max(4.5, 2 + 0.8 * len(sizes))))
        image = axes.imshow(rates, aspect="auto", origin="lower", cmap="viridis", vmin=0)
        axes.set_xticks(range(len(blocks)))
        axes.set_xticklabels([size_text(block) for block in blocks], rotation=45)
        axes.set_yticks(range(len(sizes)))
        axes.set_yticklabels([size_text(size) for size in sizes])
        axes.set_xlabel("block, bytes")
        axes.set_ylabel("file, bytes")
        middle = np.nanmax(rates) / 2
        for row, column in np.argwhere(~np.isnan(rates)):
            axes.text(column, row, "%.3g" % rates[row, column], ha="center", va="center", fontsize=9,
                      color="black" if rates[row, column] > middle else "white")
        figure.colorbar(image, label="MB/s")
        axes.set_title("%s, view %s\n%s" % (matrix["function"], matrix["view"], title_of(result)), fontsize=9)
        save(figure, folder, "surface_%s_%s" % (matrix["function"], matrix["view"]))


def draw_flight(result, folder):
    """F(N) of the quick mode: what was measured, what was fitted, and N*."""
    flight = result.get("flight")
    if not flight:
        return
    figure, axes = plt.subplots(figsize=(8, 5))
    axes.plot([s["in_flight"] for s in flight["samples"]], [s["kb_per_s"] / 1000 for s in flight["samples"]], "k.",
              alpha=0.6, label="measured")
    if "best" in flight:
        axes.plot([s["in_flight"] for s in flight["fitted"]], [s["kb_per_s"] / 1000 for s in flight["fitted"]],
                  color="tab:blue", label="F(N), as fitted")
        axes.axvspan(flight["best_least"] * 0.98, flight["best_most"] * 1.02, color="tab:orange", alpha=0.2,
                     label="90 %% confidence: %d to %d" % (flight["best_least"], flight["best_most"]))
        axes.axvline(flight["best"], color="tab:orange", label="N* = %d" % flight["best"])
    axes.set_xscale("log", base=2)
    ticks = sorted({1 << power for power in range(21)
                    if (1 << power) <= 1.1 * max(s["in_flight"] for s in flight["samples"])})
    axes.set_xticks(ticks)
    axes.set_xticklabels([str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("N, requests%s in flight, all ranks together"
                    % (" of " + size_text(flight["request_bytes"]) if flight["request_bytes"] else ""))
    axes.set_ylabel("MB/s")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    axes.set_title("%s\n%s" % (result["machine"]["directory"], title_of(result)), fontsize=9)
    save(figure, folder, "rates")


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


def interval(a, b):
    """The interval of the ratio of mean rates, b to a, with 99 %, from the repetitions of both; (ratio, below,
    above), the lengths 0 where there are no repetitions."""
    ratio = np.mean(b) / np.mean(a)
    freedom = len(a) + len(b) - 2
    if min(len(a), len(b)) < 2:
        return ratio, 0, 0
    logs = np.log(a), np.log(b)
    variance = sum(((each - each.mean()) ** 2).sum() for each in logs) / freedom
    half = T_99[min(freedom, len(T_99)) - 1] * np.sqrt(variance * (1 / len(a) + 1 / len(b)))
    return ratio, ratio - ratio * np.exp(-half), ratio * np.exp(half) - ratio


def draw_comparison(a, b, folder):
    """Ratios over block size, a line for each function; of the largest file that both have."""
    rates = [{(p["view"], p["function"], p["file_bytes"], p["block_bytes"]): p["kb_per_s"]["all"]
              for p in result["points"] if "kb_per_s" in p} for result in (a, b)]
    common = sorted(set(rates[0]) & set(rates[1]))
    for view in sorted({key[0] for key in common}):
        size = max(key[2] for key in common if key[0] == view)
        keys = [key for key in common if key[0] == view and key[2] == size]
        functions = sorted({key[1] for key in keys})
        figure, axes = plt.subplots(figsize=(9, 5.5))
        shown = [1.0]
        for number, function in enumerate(functions):
            mine = [key for key in keys if key[1] == function]
            line = [interval(rates[0][key], rates[1][key]) for key in mine]
            shown += [ratio for ratio, _, _ in line]
            places = [key[3] * 2.0 ** (0.5 * ((number + 0.5) / len(functions) - 0.5)) for key in mine]
            axes.errorbar(places, [ratio for ratio, _, _ in line],
                          yerr=[[below for _, below, _ in line], [above for _, _, above in line]], marker="o",
                          markersize=3, capsize=2, linewidth=1, label=function, color=plt.cm.tab20(number % 20),
                          linestyle="--" if is_write(function) else "-")
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_yscale("log", base=2)
        ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100)
                 if min(shown) / 2 <= tick <= max(shown) * 2]
        axes.set_ylim(min(shown) / 2, max(shown) * 2)
        axes.set_yticks(ticks)
        axes.set_yticklabels(["%g" % tick for tick in ticks])
        block_axis(axes, sorted({key[3] for key in keys}))
        axes.set_ylabel("rate of B / rate of A, with 99 % interval")
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
    for draw in (draw_flight, draw_curves, draw_surfaces, draw_influence, draw_features):
        draw(results[0], options.output)


if __name__ == "__main__":
    main()

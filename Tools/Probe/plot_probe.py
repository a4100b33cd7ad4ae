"""Plots results of `patchio probe` for judge_probe.py.

Plots of one result: rates over the block size, for each view and direction; rates over file and block size as maps; simultaneous
reads and writes; peaks and dips that were measured again; for the quick mode, rates over the requests in flight. Plots of two
results, and of the five findings: ratios.
"""
import math
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from probe_results import VIEWS, count_text, is_write, mean, ratio_of

COLOURS = {"confirmed": "tab:green", "refuted": "tab:red", "confirmed in part": "tab:olive", "unclear": "tab:gray",
           "not measured": "tab:gray"}


def short_size(size):
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")):
        if size >= unit:
            return "%g%s" % (round(size / unit, 2), name)
    return "%d" % size


def title_of(result):
    name = result.label or "%s, %s, %s" % (result.machine["host"], result.machine["file_system"], result.machine["mpi"])
    ranks = count_text(result.ranks, "rank")
    return name + ("" if ranks in name else ", " + ranks) + ("" if result.complete else " (not complete)")


def is_collective(function):
    return "_all" in function or "ordered" in function


def block_axis(axes, blocks):
    axes.set_xscale("log", base=2)
    axes.set_xticks(blocks)
    axes.set_xticklabels([short_size(block) for block in blocks], rotation=45, fontsize=7)
    axes.minorticks_off()
    axes.set_xlabel("block, bytes")


def shifted_blocks(blocks, number, count):
    """Returns the positions of the points of line `number` of `count`. The positions shift a little from line to line, so that error
    bars do not hide each other."""
    return [block * 2.0 ** (0.5 * ((number + 0.5) / count - 0.5)) for block in blocks]


def save(figure, folder, name):
    figure.tight_layout()
    figure.savefig(os.path.join(folder, name + ".png"), dpi=90)
    plt.close(figure)


def spread(curve):
    """Returns blocks, mean rates in MB/s, and the lengths of error bars down to the minimum and up to the maximum."""
    means = [mean(rates) / 1000 for _, rates in curve]
    bars = [[middle - min(rates) / 1000 for middle, (_, rates) in zip(means, curve)],
            [max(rates) / 1000 - middle for middle, (_, rates) in zip(means, curve)]]
    return [block for block, _ in curve], means, bars


def draw_lines(axes, curves):
    """Draws a line for each curve of {function: curve}."""
    for number, (function, curve) in enumerate(curves.items()):
        blocks, means, bars = spread(curve)
        axes.errorbar(shifted_blocks(blocks, number, len(curves)), means, yerr=bars, label=function, color=plt.cm.tab10(number % 10),
                      marker="osv^D<>p"[number % 8], markersize=4, capsize=2, linewidth=1.2)
    block_axis(axes, sorted({block for curve in curves.values() for block, _ in curve}))
    axes.legend(fontsize=7, ncol=2)


def draw_bars(axes, curves):
    """Draws a bar for each curve of {function: curve}; all curves have a single block size."""
    for number, curve in enumerate(curves.values()):
        blocks, means, bars = spread(curve)
        axes.bar(number, means[0], yerr=bars, capsize=4, width=0.7, color=plt.cm.tab10(number % 10))
    axes.set_xticks(range(len(curves)))
    axes.set_xticklabels(curves, rotation=30, ha="right", fontsize=8)
    axes.set_xlabel("blocks of %s" % short_size(blocks[0]))


def draw_curves(result, folder):
    """Draws the rates with the largest file: a picture for each view and direction, individual and collective functions side by side."""
    for view in VIEWS:
        for write in (False, True):
            of_view = {key: curve for key, curve in result.curves().items() if key[1] == view and is_write(key[0]) == write}
            if not of_view:
                continue
            size = max(file for _, _, file in of_view)
            curves = {function: curve for (function, _, file), curve in of_view.items() if file == size}
            draw = draw_lines if len({block for curve in curves.values() for block, _ in curve}) > 1 else draw_bars
            groups = [{name: curve for name, curve in curves.items() if is_collective(name) == kind} for kind in (False, True)]
            groups = [group for group in groups if group] if draw is draw_lines else [curves]
            figure, all_axes = plt.subplots(1, len(groups), figsize=(4 + 5 * len(groups), 5.5), sharey=True, squeeze=False)
            for axes, group in zip(all_axes[0], groups):
                draw(axes, group)
                axes.set_ylim(bottom=0)
                axes.grid(alpha=0.3, axis="both" if draw is draw_lines else "y")
                if len(groups) > 1:
                    axes.set_title("collective" if is_collective(next(iter(group))) else "individual", fontsize=9)
            all_axes[0][0].set_ylabel("MB/s of all ranks (mean, minimum to maximum)")
            figure.suptitle("%s, view %s, file of %s\n%s" % ("writing" if write else "reading", view, short_size(size),
                                                             title_of(result)), fontsize=9)
            save(figure, folder, "rates_%s_%s" % ("write" if write else "read", view))


def draw_surfaces(result, folder):
    """Draws a map of rates over file and block size for each function and view, if there are at least two sizes of each."""
    keys = [*result.rates, *result.errors]
    sizes, blocks = sorted({key.file for key in keys}), sorted({key.block for key in keys})
    for function, view in dict.fromkeys(key[:2] for key in result.rates):
        found = {key[2:]: mean(rates) / 1000 for key, rates in result.rates.items() if key[:2] == (function, view)}
        if len(sizes) < 2 or len(blocks) < 2:
            continue
        figure, axes = plt.subplots(figsize=(max(7, 2.2 + 0.95 * len(blocks)), max(4.5, 2 + 0.8 * len(sizes))))
        image = axes.imshow([[found.get((size, block), math.nan) for block in blocks] for size in sizes], aspect="auto", origin="lower",
                            cmap="viridis", vmin=0)
        axes.set_xticks(range(len(blocks)))
        axes.set_xticklabels([short_size(block) for block in blocks], rotation=45)
        axes.set_yticks(range(len(sizes)))
        axes.set_yticklabels([short_size(size) for size in sizes])
        axes.set_xlabel("block, bytes")
        axes.set_ylabel("file, bytes")
        for (size, block), rate in found.items():
            axes.text(blocks.index(block), sizes.index(size), "%.3g" % rate, ha="center", va="center", fontsize=9,
                      color="black" if rate > max(found.values()) / 2 else "white")
        figure.colorbar(image, label="MB/s")
        axes.set_title("%s, view %s\n%s" % (function, view, title_of(result)), fontsize=9)
        save(figure, folder, "surface_%s_%s" % (function, view))


def draw_flight(result, folder):
    """Draws F(N) of the quick mode: the measured and the fitted rates, and N*."""
    flight = result.raw.get("flight")
    if not flight:
        return
    figure, axes = plt.subplots(figsize=(8, 5))

    def line(samples, *style, **how):
        axes.plot([s["in_flight"] for s in samples], [s["kb_per_s"] / 1000 for s in samples], *style, **how)

    line(flight["samples"], "k.", alpha=0.6, label="measured")
    if "best" in flight:
        line(flight["fitted"], color="tab:blue", label="F(N), as fitted")
        axes.axvspan(flight["best_least"] * 0.98, flight["best_most"] * 1.02, color="tab:orange", alpha=0.2,
                     label="90 %% confidence: %d to %d" % (flight["best_least"], flight["best_most"]))
        axes.axvline(flight["best"], color="tab:orange", label="N* = %d" % flight["best"])
    axes.set_xscale("log", base=2)
    most = 1.1 * max(s["in_flight"] for s in flight["samples"])
    ticks = [1 << power for power in range(21) if (1 << power) <= most]
    axes.set_xticks(ticks)
    axes.set_xticklabels([str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("N, requests%s in flight, all ranks together"
                    % (" of " + short_size(flight["request_bytes"]) if flight["request_bytes"] else ""))
    axes.set_ylabel("MB/s")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    axes.set_title("%s\n%s" % (result.machine["directory"], title_of(result)), fontsize=9)
    save(figure, folder, "rates")


def draw_influence(result, folder):
    rows = sorted(result.raw["influence"], key=lambda row: row["block_bytes"])
    if not rows:
        return
    blocks = [row["block_bytes"] for row in rows]
    figure, (rates, ratios) = plt.subplots(1, 2, figsize=(10, 4.2))
    for name, colour in (("read", "tab:blue"), ("write", "tab:red")):
        means = {kind: [mean(row["%s_%s_kb_per_s" % (name, kind)]) / 1000 for row in rows] for kind in ("alone", "both")}
        for kind, style, label in (("alone", "-", "alone"), ("both", "--", "at once")):
            rates.plot(blocks, means[kind], style, color=colour, marker="o", markersize=3, label="%s, %s" % (name, label))
        ratios.plot(blocks, [both / alone for both, alone in zip(means["both"], means["alone"])], color=colour, marker="o", label=name)
    rates.set_ylabel("MB/s")
    ratios.set_ylabel("rate at once / alone")
    ratios.axhline(1, color="grey", linewidth=0.8)
    for axes in (rates, ratios):
        block_axis(axes, blocks)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.suptitle("%d reading, %d writing; %s" % (rows[0]["readers"], rows[0]["writers"], title_of(result)), fontsize=9)
    save(figure, folder, "influence")


def draw_features(result, folder):
    features = [feature for feature in result.raw["features"] if feature["refined"]]
    if not features:
        return
    figure, all_axes = plt.subplots(1, len(features), figsize=(1 + 3 * len(features), 3.4), squeeze=False)
    for axes, feature in zip(all_axes[0], features):
        blocks, means, _ = spread(result.curves()[feature["function"], feature["view"], feature["file_bytes"]])
        axes.plot(blocks, means, color="grey", marker="o", markersize=3, label="study")
        refined = [(point["block_bytes"], point["kb_per_s"]) for point in feature["refined"]]
        for block, rates in refined:
            axes.plot([block] * len(rates), [rate / 1000 for rate in rates], ".", color="tab:orange", markersize=3)
        axes.plot(*spread(refined)[:2], color="tab:orange", label="again")
        axes.axvline(feature["again" if feature["stable"] else "first"]["block_bytes"], color="black", linewidth=0.6)
        block_axis(axes, blocks)
        axes.set_title("%s %s, %s:\n%s, %s" % (feature["function"], feature["view"], short_size(feature["file_bytes"]),
                                               feature["first"]["kind"],
                                               "stable" if feature["stable"] else "not reproduced"), fontsize=8)
        axes.legend(fontsize=7)
    all_axes[0][0].set_ylabel("MB/s")
    save(figure, folder, "features")


def draw_comparison(a, b, folder):
    """Draws the ratio of the rates of `b` to those of `a` over the block size, a line for each function: one image for each view, with the
    largest file of the view that both results have."""
    common = [key for key in a.rates if key in b.rates]
    for view in sorted({key.view for key in common}):
        size = max(key.file for key in common if key.view == view)
        keys = [key for key in common if (key.view, key.file) == (view, size)]
        functions = sorted({key.function for key in keys})
        figure, axes = plt.subplots(figsize=(9, 5.5))
        shown = [1.0]
        for number, function in enumerate(functions):
            blocks = [key.block for key in keys if key.function == function]
            ratios = [ratio_of(a.rates[key], b.rates[key]) for key in keys if key.function == function]
            values = [ratio.value for ratio in ratios]
            bars = [[ratio.value - ratio.low if ratio.low > 0 else 0 for ratio in ratios],
                    [ratio.high - ratio.value if ratio.low > 0 else 0 for ratio in ratios]]
            shown += values
            axes.errorbar(shifted_blocks(blocks, number, len(functions)), values, yerr=bars, marker="o", markersize=3, capsize=2,
                          linewidth=1, label=function, color=plt.cm.tab20(number % 20), linestyle="--" if is_write(function) else "-")
        axes.axhline(1, color="black", linewidth=0.8)
        axes.set_yscale("log", base=2)
        ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100)
                 if min(shown) / 2 <= tick <= max(shown) * 2]
        axes.set_ylim(min(shown) / 2, max(shown) * 2)
        axes.set_yticks(ticks)
        axes.set_yticklabels(["%g" % tick for tick in ticks])
        block_axis(axes, sorted({key.block for key in keys}))
        axes.set_ylabel("rate of B / rate of A, with 99 % interval")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=6, ncol=3)
        axes.set_title("view %s, file of %s\nA: %s; B: %s" % (view, short_size(size), title_of(a), title_of(b)), fontsize=8)
        save(figure, folder, "comparison_%s" % view)


def draw_results(results, folder):
    """Draws one result, or the comparison of two."""
    os.makedirs(folder, exist_ok=True)
    if len(results) == 2:
        draw_comparison(*results, folder)
        return
    for draw in (draw_flight, draw_curves, draw_surfaces, draw_influence, draw_features):
        draw(results[0], folder)


def draw_finding(axes, number, finding):
    """Draws a point for each ratio, with its 99 % confidence interval. The grey range means equal rates, or a growth that is too
    small."""
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


def draw_findings(findings, picture):
    heights = [max(1, len(finding["parts"])) + 1.2 for finding in findings]
    figure, rows = plt.subplots(len(findings), 1, figsize=(10, 0.42 * sum(heights)), sharex=True, layout="constrained",
                                gridspec_kw={"height_ratios": heights})
    for number, (axes, finding) in enumerate(zip(rows, findings), 1):
        draw_finding(axes, number, finding)
    rows[-1].xaxis.set_major_formatter(lambda value, _: "%g" % value)
    rows[-1].set_xlabel("ratio of rates")
    figure.savefig(picture, dpi=100)

#!/usr/bin/env python3
"""Evaluates results of `patchio probe`. The program calls this script, which also runs alone:

    judge_probe.py study RESULT [--plots FOLDER]
    judge_probe.py compare RESULT RESULT [--csv FILE] [--plots FOLDER]
    judge_probe.py findings RESULT... [--plot PICTURE.png]
    judge_probe.py plot RESULT [RESULT] [--output FOLDER]

RESULT is a result.json. The exit code is 1 after an error, such as a file that is not a result. Plots need matplotlib and numpy;
all other output needs only Python.
"""
import argparse
import collections
import json
import math
import os
import shlex
import signal
import sys

sys.dont_write_bytecode = True    # a __pycache__ in the folder of the scripts would not belong to the installed package

from probe_results import (Fault, Ratio, count_text, is_bounded, is_write, load, mean, mean_ratio, noise_of, sort_key,
                           ratio_of_pairs)

MOST_SHOWN = 20    # greatest number of points in a list


def warn(text):
    sys.stdout.flush()
    print("warning: " + text, file=sys.stderr)


def size_text(size):
    """Returns a size in binary units, because users mostly choose powers of 2: "64 KiB", "1.5 MiB"."""
    unit = min(4, max(0, (size.bit_length() - 1) // 10))
    return "%.4g %s" % (size / 1024 ** unit, ("bytes", "KiB", "MiB", "GiB", "TiB")[unit])


def rate_text(rate):
    """Returns a rate in KB/s as "970 bytes/s", "1.20 MB/s", "850 MB/s"."""
    value, unit = rate * 1000, 0
    while value >= 999.5 and unit < 5:    # 999.5 would become 1000
        value, unit = value / 1000, unit + 1
    decimals = 0 if unit == 0 or value >= 99.95 else 1 if value >= 9.995 else 2
    return "%.*f %s/s" % (decimals, value, ("bytes", "kB", "MB", "GB", "TB", "PB")[unit])


def ratio_text(ratio):
    return "%.2f" % ratio.value + (" (%.2f to %.2f)" % (ratio.low, ratio.high) if is_bounded(ratio) else "")


# ---- a study ------------------------------------------------------------------------------------------------------

def best_points(result):
    """Returns the lines of a table: the file and block size with the best mean rate, for each function and view."""
    best = {}
    for key in list(result.rates) + list(result.errors):
        other = best.setdefault(key[:2], key)
        if key in result.rates and mean(result.rates[key]) > mean(result.rates[other]):
            best[key[:2]] = key
    lines = ["%-20s %-12s %12s %12s %14s %14s %14s" % ("function", "view", "best: block", "file", "min KB/s", "mean KB/s", "max KB/s")]
    for key in sorted(best.values(), key=sort_key):
        if key in result.errors:
            lines.append("%-20s %-12s no rate: %s" % (key.function, key.view, result.errors[key]))
        else:
            rates = result.rates[key]
            lines.append("%-20s %-12s %12s %12s %14.0f %14.0f %14.0f" % (
                key.function, key.view, size_text(key.block), size_text(key.file), min(rates), mean(rates), max(rates)))
    return lines


def feature_lines(result):
    for feature in result.raw["features"]:
        shown = feature["again" if feature["stable"] else "first"]
        yield "%s of %s %s at blocks of %s (%.2f of its neighbours in a file of %s): %s" % (
            shown["kind"], feature["function"], feature["view"], size_text(shown["block_bytes"]), shown["height"],
            size_text(feature["file_bytes"]), "stable" if feature["stable"] else "not reproduced")


def both_to_alone(row, direction):
    """Returns the mean rate of reads (or writes) during simultaneous reads and writes, divided by their mean rate alone."""
    return mean(row[direction + "_both_kb_per_s"]) / mean(row[direction + "_alone_kb_per_s"])


def influence_lines(result):
    for row in result.raw["influence"]:
        yield "simultaneous reads and writes, blocks of %s: reads at %.2f, writes at %.2f of their rate alone" % (
            size_text(row["block_bytes"]), both_to_alone(row, "read"), both_to_alone(row, "write"))


def run_study(options):
    result = load(options.result)
    print("\n".join(best_points(result) + list(feature_lines(result)) + list(influence_lines(result)) + [""]))
    print(findings_text(evaluate_findings([result])))
    print("results: %s, %s" % (options.result, os.path.join(os.path.dirname(options.result), "matrices.csv")), flush=True)
    if options.plots:
        draw([result], [options.result], options.plots)


# ---- two results --------------------------------------------------------------------------------------------------

LEAST_DIFFERENCE = 1.05

ComparedPoint = collections.namedtuple("ComparedPoint", "key a b ratio")    # a point of both results, with its rates
# A summary of the points of a function and view. `ratio` is the geometric mean of the ratios of the points; `faster` and `slower`
# are the numbers of points at which B differs from A by more than noise.
Summary = collections.namedtuple("Summary", "function view points ratio faster slower")


def difference(ratio):
    """Returns 1 if B is faster than A by more than noise and by more than 5 %, -1 if B is slower in this sense, otherwise 0."""
    return int(ratio.low > 1 and ratio.value > LEAST_DIFFERENCE) - int(ratio.high < 1 and ratio.value < 1 / LEAST_DIFFERENCE)


def compare(a, b):
    """Returns the points that both results have, and their summaries. With the confidence used here, at most 1 % of comparisons of
    equal results find any difference. The noise is estimated from all points of a function and view together."""
    groups = collections.defaultdict(list)
    for key in a.rates:
        if key in b.rates:
            groups[key[:2]].append(key)
    tests = sum(map(len, groups.values()))
    points, summaries = [], []
    for (function, view), keys in groups.items():
        pairs = [(a.rates[key], b.rates[key]) for key in keys]
        noise = noise_of([each for pair in pairs for each in pair])
        own = [ComparedPoint(key, *pair, ratio_of_pairs([pair], noise, tests)) for key, pair in zip(keys, pairs)]
        signs = [difference(point.ratio) for point in own]
        points += own
        summaries.append(
            Summary(function, view, len(own), ratio_of_pairs(pairs, noise, len(groups)), signs.count(1), signs.count(-1)))
    return points, summaries


def point_text(key):
    return "%s %s, %s in blocks of %s" % (key.function, key.view, size_text(key.file), size_text(key.block))


def one_sided_points(a, b):
    """Yields texts about the points with a rate in one result and an error in the other result."""
    for key in sorted(set(a.rates) & set(b.errors) | set(b.rates) & set(a.errors), key=sort_key):
        names, errors = ("AB", b.errors) if key in a.rates else ("BA", a.errors)
        yield "%s: only in %s (%s: %s)" % (point_text(key), *names, errors[key])


def different_conditions(a, b):
    """Yields texts about the differences between the conditions of two results, such as the host or the number of ranks."""
    for name, group, member in (
            ("host", "machine", "host"), ("hosts", "machine", "hosts"), ("ranks", "machine", "ranks"), ("system", "machine", "system"),
            ("directory", "machine", "directory"), ("file system", "machine", "file_system"), ("MPI", "machine", "mpi"),
            ("MPI-IO", "machine", "mpi_io"), ("bytes per piece", "settings", "piece_bytes"),
            ("calls in flight", "settings", "in_flight"), ("writing with sync", "settings", "sync"), ("complete", None, "complete")):
        one, other = [(result.raw[group] if group else result.raw)[member] for result in (a, b)]
        if one != other:
            texts = [str(value).lower() if isinstance(value, bool) else value for value in (one, other)]
            yield "Different conditions: %s: %s and %s" % (name, *texts)


def result_name(result, path):
    machine = result.machine
    return result.label or "%s (%s, %s, MPI-IO %s)" % (path, count_text(result.ranks, "rank"), machine["mpi"], machine["mpi_io"])


def comparison_text(a, b, names):
    points, summaries = compare(a, b)
    lines = ["A: %s" % names[0], "B: %s" % names[1], "",
             "%-20s %-12s %6s  %-24s %8s %8s  mean" % ("function", "view", "points", "B/A, mean (99 %)", "B faster", "B slower")]
    for each in summaries:
        verdict = ("alike", "B faster", "B slower")[difference(each.ratio)]
        lines.append("%-20s %-12s %6d  %-24s %8d %8d  %s" % (each.function, each.view, each.points, ratio_text(each.ratio), each.faster,
                                                            each.slower, verdict))
    different = sorted((point for point in points if difference(point.ratio)), key=lambda point: -abs(math.log(point.ratio.value)))
    end = "; the %d largest differences:" % MOST_SHOWN if len(different) > MOST_SHOWN else ":" if different else "."
    lines += ["", "%d of %d points differ by more than noise%s" % (len(different), len(points), end)]
    for point in different[:MOST_SHOWN]:
        lines.append("  %s: %s and %s, B/A %s" % (point_text(point.key), rate_text(mean(point.a)), rate_text(mean(point.b)),
                                                 ratio_text(point.ratio)))
    one_sided = list(one_sided_points(a, b))
    if one_sided:
        lines += ["", "%d points have a rate in only one result:" % len(one_sided)] + ["  " + each for each in one_sided[:MOST_SHOWN]]
    return "\n".join(lines + list(different_conditions(a, b)) + [""])


def comparison_csv(a, b):
    lines = ["function,view,file_bytes,block_bytes,a_kb_per_s_min,a_kb_per_s_mean,a_kb_per_s_max,b_kb_per_s_min,b_kb_per_s_mean,"
             "b_kb_per_s_max,b_to_a,b_to_a_low,b_to_a_high,differs"]
    for point in compare(a, b)[0]:
        rates = ["%.6g" % part(each) for each in (point.a, point.b) for part in (min, mean, max)]
        ratio = ["%.4f" % value for value in point.ratio[:3]]
        lines.append(",".join([*map(str, point.key), *rates, *ratio, "yes" if difference(point.ratio) else "no"]))
    return "\n".join(lines) + "\n"


def run_compare(options):
    a, b = map(load, options.results)
    if not set(a.rates) & set(b.rates) and not list(one_sided_points(a, b)):
        raise Fault("%s and %s have no measurements in common." % tuple(options.results))
    print(comparison_text(a, b, [result_name(*each) for each in zip((a, b), options.results)]))
    if options.csv:
        with open(options.csv, "w", encoding="utf-8") as file:
            file.write(comparison_csv(a, b))
    if options.plots:
        draw([a, b], options.results, options.plots)


# ---- the five findings of A. Putilin and A. Salnikov, "Parameter study of MPI-IO" ----------------------------------

ALIKE = 0.8    # ratios of rates from ALIKE to 1 / ALIKE do not matter to a user, even if they are certain
GOOD_SCALING = 0.5    # the rate "scales well" if it grows by at least this part of the growth of ranks
ENOUGH = 0.9          # a block is large enough if it gives this part of the best rate

CONFIRMED, REFUTED, UNCLEAR, UNMEASURED = "confirmed", "refuted", "unclear", "not measured"
DIVIDED = "confirmed in part"    # confirmed in some parts, such as writing, and refuted in all others


def make_part(what, ratio, judged, alike=(ALIKE, 1 / ALIKE)):
    """Returns a dict with a ratio of a claim and the verdict: `judged`, UNCLEAR for a ratio of a single value, or UNMEASURED
    without values. `alike`: the range of ratios without a relevant difference. The claim says that the ratio is below, in or
    above this range."""
    low, high = (ratio.low, ratio.high) if is_bounded(ratio) else (None, None)
    return {"what": what, "ratio": ratio.value if ratio.count else None, "low": low, "high": high, "count": ratio.count,
            "alike": list(alike), "judged": judged if ratio.count >= 2 else UNCLEAR if ratio.count else UNMEASURED}


def make_finding(claim, parts, remarks=()):
    verdicts = {part["judged"] for part in parts}
    if verdicts <= {UNMEASURED}:
        judged = UNMEASURED
    elif verdicts & {UNCLEAR, UNMEASURED}:
        judged = UNCLEAR
    else:
        judged = DIVIDED if len(verdicts) > 1 else verdicts.pop()
    return {"claim": claim, "judged": judged, "parts": parts, "remarks": list(remarks)}


def evaluate_below(ratio):
    """Tests the claim that a ratio is below 1, and not only slightly (ALIKE). Returns CONFIRMED, REFUTED or UNCLEAR."""
    if ratio.high < 1 and ratio.value < ALIKE:
        return CONFIRMED
    return REFUTED if ratio.low > ALIKE else UNCLEAR


DIRECTIONS = (("reading", False), ("writing", True))    # each with whether the functions write


def ratios_of_functions(results, view, pairs):
    """Returns the ratios of the mean rates of two functions at the same file and block size, for all `pairs` of functions and all results
    of two or more ranks."""
    ratios = []
    for result in results:
        for key, rates in result.rates.items():
            for first, second in pairs:
                other = result.rates.get(key._replace(function=second))
                if result.ranks >= 2 and (key.function, key.view) == (first, view) and other:
                    ratios.append(mean(rates) / mean(other))
    return ratios


def sufficient_block(curves):
    """Returns the median over curves of the smallest block whose rate is at least ENOUGH times the best rate of its curve."""
    blocks = []
    for curve in curves:
        best = max(mean(rates) for _, rates in curve)
        blocks.append(next(block for block, rates in curve if mean(rates) >= ENOUGH * best))
    return sorted(blocks)[len(blocks) // 2]


def evaluate_small_blocks(results):
    parts, remarks = [], []
    for what, write in DIRECTIONS:
        curves = [curve for result in results for (function, view, _), curve in result.curves().items()
                  if view == "own" and is_write(function) == write]
        ratios = []
        for curve in curves:
            means = [mean(rates) for _, rates in curve]
            if len(means) >= 2:    # not compared with the best block, because noise can make any block the best
                ratios.append(means[0] / mean(means[len(means) // 2:]))
        ratio = mean_ratio(ratios)
        parts.append(make_part("%s, smallest block / mean of the larger half" % what, ratio, evaluate_below(ratio)))
        if curves:
            remarks.append("%s: %.0f %% of the best rate from blocks of %s on (median of %d curves)"
                           % (what, 100 * ENOUGH, size_text(sufficient_block(curves)), len(curves)))
    return make_finding("Small blocks are slow.", parts, remarks)


def evaluate_collective(results):
    parts = []
    for view in ("own", "interleaved"):
        for what, write in DIRECTIONS:
            name = "write" if write else "read"
            ratio = mean_ratio(ratios_of_functions(results, view, [(name + "_at_all", name + "_at"), (name + "_all", name)]))
            inverse = ratio
            if view == "interleaved":
                inverse = Ratio(1 / ratio.value, 1 / ratio.high, 1 / ratio.low if ratio.low > 0 else math.inf, ratio.count)
            parts.append(make_part("%s, %s: collective / individual" % (view, what), ratio, evaluate_below(inverse)))
    return make_finding("Collective functions are slower if each rank has its own part, and faster if parts are interleaved.", parts)


def evaluate_shared(results):
    parts, errors = [], {}
    for name in ("read", "write"):
        # Blocking, non-blocking and split functions.
        for what, pairs in (("{0}_shared / {0}", [("{0}_shared", "{0}"), ("i{0}_shared", "i{0}")]),
                            ("{0}_ordered / {0}_all", [("{0}_ordered", "{0}_all"), ("{0}_ordered_begin", "{0}_all_begin")])):
            named = [tuple(each.format(name) for each in pair) for pair in pairs]
            ratio = mean_ratio(ratios_of_functions(results, "own", named))
            parts.append(make_part(what.format(name), ratio, evaluate_below(ratio)))
    for result in results:
        for key, error in result.errors.items():
            if "_shared" in key.function or "_ordered" in key.function:
                errors.setdefault(key.function, error)
    return make_finding("Shared file pointers are slow.", parts, ["%s fails: %s" % each for each in sorted(errors.items())])


def evaluate_file_size(results):
    parts = []
    for what, write in DIRECTIONS:
        ratios = []
        for result in results:
            sizes = sorted(key.file for key in [*result.rates, *result.errors])
            for key, rates in result.rates.items():
                large = result.rates.get(key._replace(file=sizes[-1]))
                if key.file == sizes[0] < sizes[-1] and is_write(key.function) == write and large:
                    ratios.append(mean(large) / mean(rates))
        ratio = mean_ratio(ratios)
        judged = UNCLEAR
        if ratio.low > ALIKE and ratio.high < 1 / ALIKE:
            judged = CONFIRMED
        elif ratio.low > 1 / ALIKE or ratio.high < ALIKE:
            judged = REFUTED
        parts.append(make_part("%s, largest file / smallest" % what, ratio, judged))
    return make_finding("The size of the file does not matter.", parts)


def evaluate_scaling(results):
    claim = "The rate scales well with the number of ranks."
    fewest, most = [part((result.ranks for result in results), default=0) for part in (min, max)]
    if fewest == most:
        return make_finding(claim, [], ["the finding requires results for two numbers of ranks"])
    good = max(1.1, GOOD_SCALING * most / fewest)
    parts = []
    for what, write in DIRECTIONS:
        ratio = mean_ratio([mean(many.rates[key]) / mean(rates)
                            for few in results if few.ranks == fewest for many in results if many.ranks == most
                            for key, rates in few.rates.items()
                            if key.view == "own" and is_write(key.function) == write and key in many.rates])
        judged = CONFIRMED if ratio.low >= good else REFUTED if ratio.high < good else UNCLEAR
        parts.append(make_part("%s, %d ranks / %d (good: %.2g or more)" % (what, most, fewest, good), ratio, judged, (1, good)))
    return make_finding(claim, parts)


def evaluate_findings(results):
    """Tests the five findings. Results with different numbers of ranks show how the rate grows with the ranks; all results together
    serve the other findings. A part of a claim is confirmed or refuted only with 99 % probability. Small differences (ALIKE) do
    not count.
    Returns [{claim, judged, parts: [{what, ratio, low, high, count, alike: [low, high], judged}], remarks}]; None for unknown
    values."""
    claims = (evaluate_small_blocks, evaluate_collective, evaluate_shared, evaluate_file_size, evaluate_scaling)
    return [evaluate(results) for evaluate in claims]


def findings_text(findings):
    lines = []
    for number_, finding in enumerate(findings, 1):
        lines.append("%d. %s %s" % (number_, finding["claim"], finding["judged"]))
        for part in finding["parts"]:
            if part["count"] == 0:
                lines.append("   %s: %s" % (part["what"], UNMEASURED))
                continue
            sure = "" if part["low"] is None else " (%.2f to %.2f)" % (part["low"], part["high"])
            lines.append("   %s: %.2f%s, %s: %s" % (part["what"], part["ratio"], sure, count_text(part["count"], "ratio"), part["judged"]))
        lines += ["   " + remark for remark in finding["remarks"]]
    return "\n".join(lines + [""])


def run_findings(options):
    results = [load(path) for path in options.results]
    for path, result in zip(options.results, results):
        if not result.complete:
            warn("%s is incomplete: %s." % (path, result.why_incomplete))
    findings = evaluate_findings(results)
    print(findings_text(findings), flush=True)
    if options.plot:
        # A JSON file next to the plot has all numbers of the plot.
        with open(os.path.splitext(options.plot)[0] + ".json", "w", encoding="utf-8", errors="replace") as file:
            json.dump(findings, file, indent=1, sort_keys=True, ensure_ascii=False)
            file.write("\n")
        with_plots(["findings"] + options.results + ["--plot", options.plot], lambda plots: plots.draw_findings(findings, options.plot))


# ---- the command line ---------------------------------------------------------------------------------------------

def with_plots(command, work):
    """Calls `work` with the plot module, and returns whether `work` succeeded. If not, prints a warning. If a module is missing,
    the warning has the command that makes the plots with another Python."""
    try:
        import plot_probe
        work(plot_probe)
        return True
    except ImportError as error:
        warn("The plots are missing, because %s has no %s. Install python3-matplotlib, or make the plots with another Python: python3 %s"
             % (sys.executable, error.name, shlex.join([os.path.abspath(sys.argv[0])] + command)))
    except OSError as error:
        warn("The plots are missing: %s: %s." % (error.filename, error.strerror))
    return False


def draw(results, paths, folder):
    if with_plots(["plot"] + paths + ["--output", folder], lambda plots: plots.draw_results(results, folder)):
        print("plots: " + folder)


def run_plot(options):
    if len(options.results) > 2:
        raise Fault("plot: expected one or two results, found %d." % len(options.results))
    draw([load(path) for path in options.results], options.results,
         options.output or os.path.join(os.path.dirname(options.results[0]), "plots"))


def parse_arguments():
    parser = argparse.ArgumentParser(description="Evaluates results of patchio probe.")
    commands = parser.add_subparsers(dest="command", required=True)
    study = commands.add_parser("study", help="print the best rates of a study, and judge the findings")
    study.add_argument("result")
    study.add_argument("--plots", help="folder for plots")
    two = commands.add_parser("compare", help="compare two results")
    two.add_argument("results", nargs=2)
    two.add_argument("--csv", help="write the ratios of all points into this file")
    two.add_argument("--plots", help="folder for plots")
    findings = commands.add_parser("findings", help="test published findings about MPI-IO against results")
    findings.add_argument("results", nargs="+")
    findings.add_argument("--plot", help="plot the findings into this file, NAME.png; NAME.json gets their numbers")
    plot = commands.add_parser("plot", help="plot one result, or two to compare")
    plot.add_argument("results", nargs="+")
    plot.add_argument("--output", help="folder for the plots (default: plots, in the folder of the result)")
    return parser.parse_args()


def main():
    for number_ in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number_, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    options = parse_arguments()
    try:
        {"study": run_study, "compare": run_compare, "findings": run_findings, "plot": run_plot}[options.command](options)
        sys.stdout.flush()
    except Fault as fault:
        sys.exit("patchio: %s" % fault)
    except OSError as error:
        sys.exit("patchio: %s: %s." % (error.filename or "standard output", error.strerror))


if __name__ == "__main__":
    main()

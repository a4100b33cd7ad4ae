"""Measures 10^3 to 10^6 patches on one rank: time and memory to open, and time to merge patches into blocks."""
import os

from measuring import Spread, programs, run_json, say

COUNTS = (1000, 10000, 100000, 1000000)
STAGES = ("open", "merge", "merge_ragged")


def core(report, folder, rounds):
    found = {}
    for count in COUNTS:
        found[count] = [run_json([programs() + "/patchio_bench_scale", os.path.join(folder, "scale_%d" % count),
                                  "--patches", str(count)]) for _ in range(rounds)]
        say("  %d patches: %s" % (count, ", ".join(
            "%s %.4f s" % (stage, Spread(run[stage] for run in found[count]).median) for stage in STAGES)))
    largest = found[COUNTS[-1]]
    report.at_most("10^6 patches: seconds to open from the index file on one rank", 1, Spread(run["open"] for run in largest))
    growth = Spread(big["open"] / small["open"] / 10 for big, small in zip(largest, found[COUNTS[-2]]))
    report.at_most("10^6 patches: time to open / 10 x that of 10^5 (linear: 1)", 1.5, growth)
    for stage, what in (("merge", "a regular grid"), ("merge_ragged", "a ragged shell")):
        report.at_most("10^6 patches: seconds to make blocks of %s, for 4 ranks" % what, 2,
                       Spread(run[stage] for run in largest))
        report.figure("10^6 patches: time to make blocks of %s / 10 x that of 10^5 (linear: 1)" % what,
                      Spread(big[stage] / small[stage] / 10 for big, small in zip(largest, found[COUNTS[-2]])))
    report.at_most("memory of Catalog and index, bytes per (patch, variable), 10^6 patches x 8 variables", 64,
                   Spread(run["bytes_per_entry"] for run in largest))
    report.data["core"] = {str(count): runs for count, runs in found.items()}


def run(report, folder, rounds):
    """./dev bench scale"""
    core(report, folder, rounds)

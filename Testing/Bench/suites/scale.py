"""Measures 10^3 to 10^6 patches: time and memory to open, partition, locate, plan and merge patches into blocks on
one rank; and to make the VTK data set, for up to 10^5 patches."""
import json
import os
import subprocess

from measuring import Spread, here, make_dump, programs, run_json, say

COUNTS = (1000, 10000, 100000, 1000000)
STAGES = ("open", "partition", "locate", "plan", "merge", "merge_ragged")


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
    for stage in STAGES[1:4]:
        report.figure("10^6 patches, seconds: " + stage, Spread(run[stage] for run in largest))
    report.at_most("memory of Catalog and index, bytes per (patch, variable), 10^6 patches x 8 variables", 64,
                   Spread(run["bytes_per_entry"] for run in largest))
    report.data["core"] = {str(count): runs for count, runs in found.items()}

    def draw(axes):
        for stage in STAGES:
            axes.plot(COUNTS, [Spread(run[stage] for run in found[count]).median for count in COUNTS], "o-", label=stage)
        axes.set(xscale="log", yscale="log", xlabel="patches", ylabel="seconds", title="One rank, 8 variables, from the index file")
        axes.legend()
    report.plot("scale", draw)


def assemble(report, folder):
    """Measures in pvbatch, with 4^3 cells per patch, so that making data sets takes most of the time."""
    for count in COUNTS[:3]:
        summary = make_dump(folder, "assemble_%d" % count, patches=count, size=4)
        run = subprocess.run([os.path.join(here, "..", "ParaView", "pvbatch.sh"), "1", os.path.join(here, "open_and_read.py"),
                              summary, "2"], env=dict(os.environ, PATCHIO_PVBATCH_MODE="root", PATCHIO_TIMEOUT="300"),
                             stdout=subprocess.PIPE, text=True, check=True)
        last = json.loads([line for line in run.stdout.splitlines() if line.startswith("JSON ")][-1][5:])
        report.figure("%d patches in pvbatch, seconds: open" % count, Spread([last["open"]]))
        report.figure("%d patches in pvbatch, seconds: assemble" % count, Spread([last["assemble"]]))
        report.figure("%d patches in pvbatch, KB of memory per patch" % count, Spread([last["kilobytes"] / count]))
        report.data["assemble %d" % count] = last


def run(report, folder, rounds):
    """./dev bench scale"""
    core(report, folder, rounds)
    assemble(report, folder)

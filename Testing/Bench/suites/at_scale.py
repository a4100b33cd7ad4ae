"""Runs PatchIO's plans, thread rules and collective calls for 8 to 10240 ranks, with simulated storages. Compares with the published
figures of two-level reading, dual-channel I/O and k-Wave's output, and measures the costs of plans and collective calls by ranks.
Only seconds and memory of plans are measured; all rates are computed, and are the same on each machine."""
import itertools
import math

from emulator import options_of
from measuring import Spread, make_dump, programs, run_json, say

# ---- the papers ----------------------------------------------------------------------------------------------

# Two-level reading, from S. Liu et al., "Two Level Parallel Data Read Acceleration Method for Visualization in Scientific
# Computing" (2017): gains in %, best and mean.
SUGON = {"ranks": 8, "best": 269.5, "mean": 232.2}       # of 2 to 8 threads
TIANHE = {"ranks": 1024, "best": 33.5, "mean": 26.6}     # of 128 to 1024 ranks, each with its best threads
# Table 3 of this paper: share of reading in % -> gain of the whole run in %, minimum and maximum of best, then of mean.
WHOLE_RUN = {65: (19.5, 90.2, 15.8, 83.3), 75: (23.2, 120.8, 18.7, 110.2), 85: (27.1, 163.2, 21.7, 146.4),
             95: (31.3, 225.7, 25.0, 197.6)}
# Dual-channel I/O, from L. Cao et al.: KiB per block -> DCPL / HDF5, for reading 5000 blocks.
BLOCKS = {16: 7.11, 1024: 2.72, 4096: 1.76}
RESTART = {"ranks": (3072, 6144, 12288, 24576), "mean": 1.89, "best": 2.16}
# The study of k-Wave's output: MB/s before and after, and the number of gathered steps; the fourth case is not gathered.
SENSORS = (("three plates on all ranks", 1227, 5254, 15), ("plates on three ranks", 1118, 3359, 9),
           ("one plate on each axis", 708, 2816, 9), ("a cube on half of the ranks", 4348, 4295, 1),
           ("three cuboids", 457, 3036, 15))

# ---- the storages, each fitted to the figures in its comment --------------------------------------------------

REQUEST = {"latency": 2e-3, "stream": 50e6, "contention": 0}  # only ratios count
SUGON_STORAGE = dict(REQUEST, concurrency=29)                 # N*: the best gain at 8 ranks
TIANHE_STORAGE = dict(REQUEST, concurrency_of_rank=1.235)     # N* grows with the nodes: the mean gain of 128 to 1024 ranks
ONE_STORAGE = dict(REQUEST, concurrency=4096, contention=0.5)  # from no paper: the same N* for all ranks
LUSTRE = {"latency": 1.78e-3, "stream": 450e6, "contention": 0, "concurrency": 133}  # rates from the paper; latency: 1 MiB
CALLS_OF_BLOCK = 5            # "80 % of all calls are for metadata"
ARRAYS_OF_RANK = 15           # of the restart; not in the paper, fitted to the mean gain
SALOMON = {"latency": 2e-3, "stream": 1.31e9, "total": 5.3e9, "concurrency": 200, "contention": 0}  # rates before
COPY = 3.2e9                  # bytes per second; from the second case, for which the study has the rates with and without copies

RANKS = (128, 256, 512, 1024, 2048, 4096)
THREADS = (1, 2, 4, 8, 16, 32, 64)


def at_scale(command, *arguments, **options):
    for name, value in options.items():
        if isinstance(value, (list, tuple, range)):
            options[name] = ",".join(map(str, value))
    return run_json([programs() + "/patchio_bench_at_scale", command, *arguments, *options_of(options)], timeout=1800)


def same_order(ours, papers):
    """Returns the share of pairs that have the same order in both lists."""
    pairs = [(a, b) for a, b in itertools.combinations(range(len(ours)), 2) if papers[a] != papers[b]]
    return sum((ours[a] - ours[b]) * (papers[a] - papers[b]) > 0 for a, b in pairs) / len(pairs)


def same_signs(ours, papers):
    return sum((a > 0) == (b > 0) for a, b in zip(ours, papers)) / len(ours)


def compare(report, what, ours, papers):
    """Adds rows for --check: the same sign and order at every point."""
    report.goal(what + ": points with the sign of the paper", 1, Spread([same_signs(ours, papers)]))
    report.goal(what + ": pairs of points in the order of the paper", 1, Spread([same_order(ours, papers)]))


def beside(report, what, ours, paper):
    report.figure("%s (paper: %s)" % (what, paper), Spread([ours]))
    report.data.setdefault("beside", []).append({"what": what, "simulated": ours, "paper": paper})


# ---- two-level reading ---------------------------------------------------------------------------------------

def gains(found, how="arrays"):
    """Returns threads -> gain over one-level in %."""
    return {threads: 100 * (found[how][str(threads)] / found["one_level"] - 1) for threads in sorted(map(int, found[how]))}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def two_level(report):
    small = at_scale("read", ranks=(1, 2, 4, 8), threads=range(1, 9), patches=1274, array_bytes=6151000, **SUGON_STORAGE)
    large = at_scale("read", ranks=RANKS, threads=THREADS, patches=14450, array_bytes=7344000, **TIANHE_STORAGE)
    report.data["sugon"], report.data["tianhe"] = small, large
    of_eight = [gain for threads, gain in gains(small["8"]).items() if threads > 1]
    best = {ranks: max(gains(large[str(ranks)]).values()) for ranks in RANKS}
    ours = [max(of_eight), mean(of_eight), best[1024], mean(best[ranks] for ranks in RANKS[:4])]
    papers = [SUGON["best"], SUGON["mean"], TIANHE["best"], TIANHE["mean"]]
    for text, value, paper in zip(("8 ranks, best of 2 to 8 threads", "8 ranks, mean of 2 to 8 threads",
                                   "1024 ranks, best of 1 to 64 threads", "128 to 1024 ranks, mean of the best"), ours, papers):
        beside(report, "two-level reading, gain in %, " + text, value, paper)
    compare(report, "two-level reading, gains", ours, papers)
    for ranks in RANKS:
        report.goal("two-level reading, %d ranks: gain in %%, best number of threads" % ranks, 0.1, Spread([best[ranks]]))
    report.goal("two-level reading, 1024 ranks / best of 128 to 512 (paper: its peak is at 1024)", 1,
                Spread([best[1024] / max(best[ranks] for ranks in RANKS[:3])]))
    whole = {share: [100 * (1 / (1 - share / 100 + share / 100 / (1 + gain / 100)) - 1)
                     for gain in (ours[2], ours[0], ours[3], ours[1])] for share in WHOLE_RUN}
    report.data["whole run"] = whole
    # A row is a share of reading, a column one of the figures above. Cells in different rows and columns differ in two
    # parameters; for them, the order has no goal.
    rows, paper_rows = list(whole.values()), list(WHOLE_RUN.values())
    report.goal("whole runs (table 3): cells with the sign of the paper", 1,
                Spread([same_signs(sum(rows, []), sum(map(list, paper_rows), []))]))
    report.goal("whole runs (table 3): rows and columns in the order of the paper, minimum share of pairs", 1,
                Spread([min(map(same_order, rows + list(zip(*rows)), paper_rows + list(zip(*paper_rows))))]))
    report.figure("whole runs (table 3): all pairs of cells in the order of the paper",
                  Spread([same_order(sum(rows, []), sum(map(list, paper_rows), []))]))
    for ranks in (8, 128, 1024):
        found = (small if ranks == 8 else large)[str(ranks)]
        report.figure("%d ranks: gain in %% with PatchIO's requests, best number of threads" % ranks,
                      Spread([max(gains(found, "planned").values())]))
        report.figure("%d ranks: gain in %% with NT = (N* - NC) / NP" % ranks,
                      Spread([100 * (found["rule"]["arrays"] / found["one_level"] - 1)]))
    return small, large, best


def one_storage(report):
    """Measures a storage with the same N* for all ranks, as in figure 2 of the paper, and the mode Automatic on it."""
    found = at_scale("read", ranks=RANKS, threads=THREADS, patches=100000, array_bytes=1 << 20, adapted=60, **ONE_STORAGE)
    report.data["one storage"] = found
    best = [max(gains(found[str(ranks)]).values()) for ranks in RANKS]
    report.goal("one storage, N* = 4096: gain falls from each number of ranks to the next, share of steps", 1,
                Spread([mean(a > b for a, b in zip(best, best[1:]))]))
    for ranks, gain in zip(RANKS, best):
        report.figure("one storage, N* = 4096, %d ranks: gain in %%, best number of threads" % ranks, Spread([gain]))
    for ranks in RANKS:
        report.goal("one storage, %d ranks: rate of the mode Automatic / best number of threads" % ranks, 0.9,
                    Spread([found[str(ranks)]["adapted"]["of_best"]]))
    return best


# ---- dual-channel I/O: separate metadata ---------------------------------------------------------------------

def queue(ranks, requests, storage):
    return at_scale("queue", ranks=ranks, requests=["%d:%d" % each for each in requests], **storage)["seconds"]


def dual_channel(report):
    blocks, metadata = 5000, 1800000
    ours = []
    for size, paper in BLOCKS.items():
        mixed = queue(1, [(blocks * (CALLS_OF_BLOCK - 1), metadata // (blocks * (CALLS_OF_BLOCK - 1))), (blocks, size << 10)], LUSTRE)
        apart = queue(1, [(blocks, size << 10)], LUSTRE) + 0.07  # the metadata file, as measured in the paper
        ours.append(mixed / apart)
        beside(report, "dual channel, 5000 blocks of %d KiB: HDF5 / separate metadata" % size, ours[-1], paper)
    compare(report, "dual channel, one node", [each - 1 for each in ours], [each - 1 for each in BLOCKS.values()])
    many = {}
    for ranks in RESTART["ranks"]:
        data = (ARRAYS_OF_RANK, int(386e9 / ranks / ARRAYS_OF_RANK))
        mixed = queue(ranks, [(ARRAYS_OF_RANK * (CALLS_OF_BLOCK - 1), 400), data], LUSTRE)
        many[ranks] = mixed / queue(ranks, [(2, 400), data], LUSTRE)  # the table and this rank's part of the file of the group
        report.goal("dual channel, %d ranks: HDF5 / separate metadata" % ranks, 1, Spread([many[ranks]]))
    beside(report, "dual channel, 3072 to 24576 ranks, mean", mean(many.values()), RESTART["mean"])
    beside(report, "dual channel, 12288 ranks", many[12288], RESTART["best"])
    report.data["restart"] = many
    report.skipped("dual channel: frames of TeraVAP on 32 to 512 ranks", "the paper does not give the number of arrays")


# ---- k-Wave's output: writing ranks --------------------------------------------------------------------------

def sensors(report):
    # As in the study, the fourth case is not gathered.
    cases = at_scale("write", ranks=256, steps=[case[3] for case in SENSORS], copy_rate=COPY, **SALOMON)
    report.data["sensors"] = cases
    for (name, before, after, steps), case in zip(SENSORS, cases):
        beside(report, "k-Wave, %s: MB/s without gathering" % name, case["plain"] * 1e-6, before)
        beside(report, "k-Wave, %s: MB/s gathered, %d steps, %d writers" % (name, steps, case["writers"]),
               case["gathered"] * 1e-6, after)
    compare(report, "k-Wave, gains of gathering", [case["gathered"] / case["plain"] - 1 for case in cases],
            [after / before - 1 for _, before, after, _ in SENSORS])
    growth = {ranks: at_scale("write", ranks=ranks, **SALOMON) for ranks in RANKS + (10240,)}
    report.data["who writes, by ranks"] = growth
    report.figure("writing ranks, 4096 ranks: KB of the plan of a rank", Spread([growth[4096][0]["plan_bytes"] / 1e3]))
    report.figure("writing ranks, 10240 ranks: ms of the plan", Spread([growth[10240][0]["plan_seconds"] * 1e3]))


# ---- costs of a rank -----------------------------------------------------------------------------------------

def agreements(report, folder):
    """Measures messages and memory of rank 0 for one read of a real dump."""
    summary = make_dump(folder, "at_scale_8192", patches=8192, size=4)
    ranks = RANKS + (10240,)
    found = {int(size): cost for size, cost in at_scale("agree", summary, ranks=ranks).items()}
    report.data["agreements"] = found
    logarithm = math.log2(4096) / math.log2(128)
    for stage in ("open", "again", "automatic"):
        for what in ("calls", "messages", "received"):
            label = "bytes received" if what == "received" else what
            report.at_most("%s, %s of a rank: 4096 / 128 ranks (log: %.2f)" % (stage, label, logarithm), logarithm + 0.02,
                           Spread([found[4096][stage][what] / found[128][stage][what]]))
        report.figure("%s, 4096 ranks: KB received by a rank" % stage, Spread([found[4096][stage]["received"] / 1e3]))
    report.figure("again, 10240 ranks: KB received by a rank", Spread([found[10240]["again"]["received"] / 1e3]))
    return found


def plans(report):
    ranks = RANKS + (10240,)
    found = {}
    for patches in (10 ** 5, 10 ** 6, 10 ** 7):
        some = ranks if patches < 10 ** 7 else (128, 4096, 10240)
        found[patches] = at_scale("plan", patches=patches, ranks=some)
        for size in some:
            cost = found[patches]["ranks"][str(size)]
            say("  %d patches, %d ranks: %.2f s, at most %.0f MB, %d blocks" %
                (patches, size, cost["seconds"], cost["most_bytes"] * 1e-6, cost["blocks"]))
    report.data["plans"] = found
    logarithm = math.log2(4096) / math.log2(128)
    of_million = found[10 ** 6]["ranks"]
    report.at_most("10^6 patches: memory of the plan of a rank, 4096 / 128 ranks (log: %.2f)" % logarithm, logarithm,
                   Spread([of_million["4096"]["most_bytes"] / of_million["128"]["most_bytes"]]))
    largest = found[10 ** 7]
    report.figure("10^7 patches: MB to broadcast", Spread([largest["broadcast_bytes"] * 1e-6]))
    report.figure("10^7 patches, 10240 ranks: seconds of the plan of a rank", Spread([largest["ranks"]["10240"]["seconds"]]))
    report.figure("10^7 patches, 10240 ranks: maximum MB of the plan of a rank", Spread([largest["ranks"]["10240"]["most_bytes"] * 1e-6]))
    return found


# ---- images --------------------------------------------------------------------------------------------------

def draw_gains(report, small, large, best, fixed):
    def draw(axes):
        axes.plot([int(ranks) for ranks in small], [max(gains(cost).values()) for cost in small.values()], "o-",
                  label="simulated, N* = 29 (Sugon)")
        axes.plot(RANKS, [best[ranks] for ranks in RANKS], "o-", label="simulated, N* = 1.235 NP (Tianhe-2)")
        axes.plot(RANKS, fixed, ".:", label="simulated, N* = 4096 for all (from no paper)")
        axes.plot([8, 1024], [SUGON["best"], TIANHE["best"]], "kx", markersize=10, label="the paper")
        axes.set_yscale("symlog", linthresh=10)
        axes.set(xscale="log", ylim=(0, 5000), xlabel="NP, ranks", ylabel="gain of two-level reading, %",
                 title="Best number of threads over one thread per rank")
        axes.set_xticks([1, 8, 128, 1024, 4096], ["1", "8", "128", "1024", "4096"])
        axes.legend(fontsize=8)
    report.plot("at-scale-gains", draw)

    def draw_threads(axes):
        for ranks in (128, 512, 1024):
            cost = gains(large[str(ranks)])
            axes.plot(list(cost), list(cost.values()), "o-", label="%d ranks" % ranks)
        cost = gains(small["8"])
        axes.plot(list(cost), [gain / 10 for gain in cost.values()], "s--", label="8 ranks, gain / 10")
        axes.plot([7], [SUGON["best"] / 10], "kx", markersize=10, label="the paper: 7 threads; 1024 ranks")
        axes.axhline(TIANHE["best"], color="k", linewidth=0.5)
        axes.set(xscale="log", xlabel="NT, threads of each rank", ylabel="gain over NT = 1, %")
        axes.set_xticks(THREADS, [str(each) for each in THREADS])
        axes.legend(fontsize=8)
    report.plot("at-scale-threads", draw_threads)


def draw_costs(report, agreed, planned):
    def draw(axes):
        sizes = sorted(agreed)
        first = agreed[sizes[0]]["again"]
        for what, label in (("messages", "messages of a read"), ("received", "bytes received in a read")):
            axes.plot(sizes, [agreed[size]["again"][what] / first[what] for size in sizes], "o-", label=label)
        million = planned[10 ** 6]["ranks"]
        axes.plot(sizes, [million[str(size)]["most_bytes"] / million["128"]["most_bytes"] for size in sizes], "s-",
                  label="memory of a plan, 10^6 patches")
        axes.plot(sizes, [math.log2(size) / 7 for size in sizes], "k:", label="log NP")
        axes.plot(sizes, [size / 128 for size in sizes], "k--", label="NP", linewidth=0.7)
        axes.set(xscale="log", yscale="log", xlabel="NP, ranks", ylabel="cost of a rank / cost with 128 ranks", ylim=(0.8, 30))
        axes.set_xticks(sizes, [str(size) for size in sizes], fontsize=7)
        axes.legend(fontsize=8)
    report.plot("at-scale-costs", draw)


def run(report, folder, rounds):
    """./dev bench at-scale; ignores rounds."""
    del rounds
    small, large, best = two_level(report)
    fixed = one_storage(report)
    draw_gains(report, small, large, best, fixed)
    dual_channel(report)
    sensors(report)
    draw_costs(report, agreements(report, folder), plans(report))

"""Measures the time from cancelling a read until the script continues, on 1, 2 and 4 ranks: on an emulated storage whose requests
hang, and on a slow one, there also while the reader locates the values. The read is cancelled at a random moment."""
import os
import random
import tempfile

import emulator
from measuring import Spread, interleave, pvbatch
from suites.end_to_end import make_series

PROCESSES = (1, 2, 4)
THREADS = 4  # of each rank
GOAL = 0.5
SLOW = dict(latency=20, stream=0.5, concurrency=64)
# Series, stage and storage. The hanging storage answers requests long after the read was cancelled. With 0.5 MB/s per request, a
# step takes 4 s or more, and locating 1000 patches takes 11 s on one rank.
CASES = {"requests that hang": ("large", "Reading", dict(latency=2, stream=100, concurrency=64,
                                                         fault="processor_cluster.* stall --seconds 10")),
         "slow storage": ("large", "Reading", SLOW),
         "slow storage, locating": ("small", "Locating", SLOW)}


def stop_read(folder, case, ranks):
    series, stage, storage = CASES[case]
    with emulator.slow_storage(os.path.join(folder, series), **storage) as mounted, \
            tempfile.TemporaryDirectory() as no_index:
        # The index files are in the folder of the data.
        place = no_index if stage == "Locating" else ""
        found = pvbatch("cancelled_read.py", mounted.path("dumps.visit"), stage, random.uniform(1, 2), THREADS, ranks=ranks,
                        environment={"PATCHIO_METADATA_DIR": place})
    if not found["cancelled"] or found["cells"]:
        raise RuntimeError("%s, %d ranks: the read was not cancelled: %s" % (case, ranks, found))
    return found["seconds"]


def run(report, folder, rounds):
    """./dev bench cancel"""
    if emulator.is_missing(report, "cancel to prompt"):
        return
    folder = make_series(folder)
    found = interleave({(case, ranks): lambda case=case, ranks=ranks: stop_read(folder, case, ranks)
                        for case in CASES for ranks in PROCESSES}, rounds)
    for (case, ranks), seconds in found.items():
        label = "%s, NP = %d" % (case, ranks)
        report.at_most("cancel to prompt, %s: seconds, the slowest run counts" % label, GOAL, Spread(seconds), every=True)
        report.data[label] = seconds

"""From the wish to stop a read until the script goes on, on 1, 2 and 4 ranks: on an emulated storage whose requests hang, and on
one that is slow. The wish comes at moments that have nothing to do with what the reader does."""
import os
import random

import emulator
from measuring import Spread, interleave, pvbatch
from suites.end_to_end import make_series

PROCESSES = (1, 2, 4)
THREADS = 4  # of each rank
GOAL = 0.5
# Until long after the read was stopped no request is answered; at 0.5 MB/s of each request a step takes 4 s or more.
STORAGES = {"requests that hang": dict(latency=2, stream=100, concurrency=64, fault="processor_cluster.* stall --seconds 10"),
            "slow storage": dict(latency=20, stream=0.5, concurrency=64)}


def stop_read(series, storage, ranks):
    with emulator.slow_storage(series, **STORAGES[storage]) as mounted:
        # The sidecars beside the data: a read can be stopped once it is known what lies where.
        found = pvbatch("cancelled_read.py", mounted.path("dumps.visit"), random.uniform(1, 2), THREADS, ranks=ranks,
                        environment={"PATCHIO_METADATA_DIR": ""})
    if not found["cancelled"] or found["cells"]:
        raise RuntimeError("%s, %d ranks: the read was not stopped: %s" % (storage, ranks, found))
    return found["seconds"]


def run(report, folder, rounds):
    """./dev bench cancel"""
    lacks = emulator.missing()
    if lacks:
        report.skipped("cancel to prompt", "this machine lacks " + lacks)
        return
    series = os.path.join(make_series(folder), "large")
    found = interleave({(storage, ranks): lambda storage=storage, ranks=ranks: stop_read(series, storage, ranks)
                        for storage in STORAGES for ranks in PROCESSES}, rounds)
    for (storage, ranks), seconds in found.items():
        label = "%s, NP = %d" % (storage, ranks)
        report.at_most("cancel to prompt, %s: seconds, the slowest counts" % label, GOAL, Spread(seconds), every=True)
        report.data[label] = seconds

"""Plays a series from an emulated storage on which reading a step takes as long as making its image. With Prefetch, the time
should be that of the slower of both, not their sum."""
import os
import shutil
import tempfile

import emulator
from measuring import Spread, folder_of, interleave, make_dump, pvbatch, say

STEPS = 20  # to play after the first one
PATCHES, SIZE = 27, 32
MEGABYTES = PATCHES * SIZE ** 3 * 4e-6
GOAL = 1.15


def make_series(folder):
    """Makes a series whose steps are links to one dump, because values do not matter here."""
    dump = folder_of(make_dump(folder, "play_%d" % PATCHES, patches=PATCHES, size=SIZE))
    series = os.path.join(folder, "play_series")
    if not os.path.exists(os.path.join(series, "dumps.visit")):
        shutil.rmtree(series, ignore_errors=True)
        for step in range(STEPS + 1):
            shutil.copytree(os.path.join(dump, "visit_dump.00000"), os.path.join(series, "visit_dump.%05d" % step),
                            copy_function=os.link)
        with open(os.path.join(series, "dumps.visit"), "w") as names:
            names.writelines("visit_dump.%05d/summary.samrai\n" % step for step in range(STEPS + 1))
    return series


def play(mount, ahead):
    return pvbatch("play_steps.py", os.path.join(mount, "dumps.visit"), "v0", ahead)


def on_storage(series, mount, rate, work):
    """Runs `work` with a storage of 2 ms per request and a total of `rate` MB/s."""
    storage = emulator.start(series, mount, latency=2, stream=400, concurrency=16, total=rate)
    try:
        return work()
    finally:
        storage.stop()


def tune(series, mount):
    """Returns the rate of a storage from which reading a step takes as long as making its image."""
    warm = on_storage(series, mount, 0, lambda: play(mount, 0))  # makes the index files, too
    picture = sum(warm["renders"]) / STEPS
    rate = MEGABYTES / picture
    found = on_storage(series, mount, rate, lambda: play(mount, 0))
    besides = sum(found["reads"]) / STEPS - picture  # time of a read that does not depend on its bytes
    rate = MEGABYTES / max(picture - besides, picture / 4)
    say("%.0f MB per step, %.3f s per image: the storage has %.0f MB/s" % (MEGABYTES, picture, rate))
    return rate


def run(report, folder, rounds):
    """./dev bench play"""
    if emulator.is_missing(report, "playing %d steps" % STEPS):
        return
    series = make_series(folder)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        os.environ["PATCHIO_METADATA_DIR"] = os.path.join(scratch, "indices")
        mount = os.path.join(scratch, "mount")
        os.mkdir(mount)
        try:
            rate = tune(series, mount)
            found = on_storage(series, mount, rate, lambda: interleave(
                {ahead: lambda ahead=ahead: play(mount, ahead) for ahead in (0, 1)}, min(rounds, 3)))
        finally:
            del os.environ["PATCHIO_METADATA_DIR"]
    if not all(each["ahead"] for each in found[1]):
        raise RuntimeError("no step was read ahead")
    bounds = [max(sum(each["reads"]), sum(each["renders"])) for each in found[0]]
    report.figure("one step, without Prefetch: seconds to read / seconds to make its image",
                  Spread(sum(each["reads"]) / sum(each["renders"]) for each in found[0]))
    report.figure("playing %d steps, without Prefetch: time / max(sum of reads, sum of renders)" % STEPS,
                  Spread(each["seconds"] / bound for each, bound in zip(found[0], bounds)))
    report.at_most("playing %d steps, with Prefetch: time / max(sum of reads, sum of renders)" % STEPS, GOAL,
                   Spread(each["seconds"] / bound for each, bound in zip(found[1], bounds)))
    report.data["play"] = {str(ahead): each for ahead, each in found.items()}

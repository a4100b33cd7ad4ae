"""Tests that no values are read twice. Changes arrays, levels, blanking, blocks and steps like a user, compares the bytes in the
report with the bytes of the new arrays, and compares all values with the reference values.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/interactive.py TRUTHDIR SERIES...

TRUTHDIR comes from `<FORMAT>/reference.py --series`. The data must be older than 2 s.
"""
import os
import re
import sys

import numpy as np
from paraview import simple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import conformance  # noqa: E402
from conformance import expect, ranks, report_of  # noqa: E402
from expected import Truth  # noqa: E402
from merged import Shown, check_output, set_properties  # noqa: E402

UNITS = {"byte": 1, "bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def number_in(report, line):
    """Returns the number in a line like 'Bytes read: 1.23 MB in ...', which has three digits; 0 without the line."""
    found = re.search("^%s: ([0-9.]+) (\\w+)" % line, report, re.MULTILINE)
    return float(found.group(1)) * UNITS[found.group(2)] if found else 0


class Session:
    """A reader with a series."""

    def __init__(self, entry, folder, **properties):
        self.index, self.times = entry["index"], entry["times"]
        self.truths = [Truth(os.path.join(folder, step["npz"])) for step in entry["steps"]]
        # No bytes of gaps are read, and patch ids identify the patch to compare a cell with.
        self.reader = simple.PatchReader(FileName=[self.index], AddPatchIds=1, PartialArrays=1, ComposeVectors=0, ThreadMode="Fixed", StorageLatency=0, **properties)
        self.reader.UpdatePipelineInformation()
        self.step = len(self.times) - 1
        self.names = [v["name"] for v in self.truths[self.step].variables if self.is_plain(v)]
        self.reader.UpdatePipeline(self.times[self.step])    # adds arrays that the first step does not have to the lists
        self.levels = list(range(len(self.truths[self.step].meta["level_sizes"])))

    def is_plain(self, variable):
        """Returns whether the stored bytes of the variable are those of its values."""
        return variable["cell"] and not any(variable["ghosts"]) and all(
            "p%d/%s" % (p, variable["name"]) in t.arrays for t in self.truths for p in range(len(t.patches)))

    def bytes_of(self, *names, step=None):
        truth = self.truths[self.step if step is None else step]
        return sum(truth.arrays["p%d/%s" % (p, name)].nbytes for p in range(len(truth.patches)) for name in names)

    def show(self, setting, names=None, step=None, shown=None, **properties):
        """Collective: shows a state and checks it. Returns the bytes that were read, and the bytes that came from the cache."""
        step = self.step if step is None else step
        names = self.names if names is None else names
        set_properties(self.reader, properties)
        conformance.select(self.reader, names, [])
        self.reader.UpdatePipeline(self.times[step])
        truth = self.truths[step]
        check_output(self.reader, Shown(truth, selected=names, **(shown or {})), "%s step %d, %s" % (self.index, step, setting))
        report = report_of(self.reader)
        return number_in(report, "Bytes read"), number_in(report, "From the cache")

    def expect_bytes(self, setting, most, *arguments, least=None, **keywords):
        """Checks the bytes that were read, rounded to three digits."""
        found, there = self.show(setting, *arguments, **keywords)
        least = most if least is None else least
        expect(least * 0.994 <= found <= most * 1.006, "%s, %s: %g bytes read instead of %g to %g, %g there", self.index,
               setting, found, least, most, there)
        return found


def check_arrays(session):
    """Checks that one more array is read once. In mode "As patches", each byte of an array counts."""
    whole = dict(Blocks="As patches", LevelRange=[0, 99])
    simple.ReloadFiles(session.reader)
    for n, name in enumerate(session.names):
        session.expect_bytes("one array more", session.bytes_of(name), session.names[:n + 1], **whole)
    for name in session.names:
        others = [n for n in session.names if n != name]
        session.expect_bytes("one array off", 0, others)
        session.expect_bytes("and on again", 0)


def patches_near(truth, lower, upper):
    """Returns the patches that, enlarged by one of their cells, meet the box."""
    near = []
    for p, patch in enumerate(truth.patches):
        grid = truth.grid(p)
        low, size = np.array(patch["lower"])[:truth.dim], np.array(truth.cells(p))[:truth.dim]
        origin, cell = np.array(grid["origin"]), np.array(grid["spacing"])
        if (origin + (low - 1) * cell <= upper).all() and (origin + (low + size + 1) * cell >= lower).all():
            near.append(p)
    return near


def box_within(truth):
    """Returns a box of about a third of the space, with corners off the borders of cells, and its patches; None if there are too
    few patches."""
    corners = []
    for p, patch in enumerate(truth.patches):
        grid = truth.grid(p)
        for at in (patch["lower"], np.array(patch["lower"]) + truth.cells(p)):
            corners.append(np.array(grid["origin"]) + np.array(at)[:truth.dim] * grid["spacing"])
    least, most = np.min(corners, 0), np.max(corners, 0)
    lower, upper = least + 0.1234 * (most - least), least + 0.7654 * (most - least)
    pad = [0.0] * (3 - truth.dim)
    bounds = [x for pair in zip(list(lower) + pad, list(upper) + pad) for x in pair]
    return bounds, patches_near(truth, lower, upper)


def check_changes(session):
    """Checks that changes read nothing after all patches were shown, because ranks keep their patches. Neighbours for a ghost layer
    may be on other ranks, and if there are few patches, some may move to ranks without patches. These are read once, and not
    again."""
    last = session.levels[-1]
    everything = session.bytes_of(*session.names)
    truth = session.truths[session.step]
    bounds, near = box_within(truth)

    def few(levels):
        count = sum(p["level"] in levels for p in truth.patches)
        return everything if ranks > 1 and count < 4 * ranks else 0

    several = ranks * everything if ranks > 1 else 0
    box = dict(patches=near, blanking=False)
    changes = [("level 0 only", few([0]), dict(LevelRange=[0, 0]), dict(levels=[0])),
               ("finest level only", few([last]), dict(LevelRange=[last, last]), dict(levels=[last])),
               ("all levels", 0, dict(LevelRange=[0, 99]), {}),
               ("all but the finest", few(range(last)), dict(LevelRange=[0, max(last - 1, 0)]), dict(levels=list(range(max(last, 1))))),
               ("all levels again", 0, dict(LevelRange=[0, 99]), {}),
               ("no blanking", 0, dict(BlankRefinedCells=0), dict(blanking=False)),
               ("box", several, dict(Region="Box", RegionBounds=bounds), box),
               ("no box", 0, dict(Region="Everything"), dict(blanking=False)),
               ("blanking", 0, dict(BlankRefinedCells=1), {}),
               ("merged", 0, dict(Blocks="Merged"), {}),
               ("merged, level 0 only", few([0]), dict(LevelRange=[0, 0]), dict(levels=[0])),
               ("merged, all levels", 0, dict(LevelRange=[0, 99]), {}),
               ("merged, no blanking", 0, dict(BlankRefinedCells=0), dict(blanking=False)),
               ("merged, box", several, dict(Region="Box", RegionBounds=bounds), box),
               ("merged, no box", 0, dict(Region="Everything"), dict(blanking=False)),
               ("merged, blanking", 0, dict(BlankRefinedCells=1), {}),
               ("ghost layer", several, dict(AddGhostLayer=1), dict(layer=True)),
               ("ghost layer, patches", several, dict(Blocks="As patches"), dict(layer=True)),
               ("patches", 0, dict(AddGhostLayer=0), {})]
    for setting, most, properties, shown in changes:
        session.expect_bytes(setting, most, least=0, shown=shown, **properties)
    for setting, most, properties, shown in changes:
        session.expect_bytes(setting + ", once more", 0, shown=shown, **properties)


def check_bytes_once(session):
    """Checks merged blocks, which leave out hidden cells. When these are shown later, each byte must be read only once."""
    last = session.levels[-1]
    truth = session.truths[session.step]
    if ranks > 1 and sum(p["level"] < last for p in truth.patches) < 6 * ranks:
        return    # a block may have several patches, and a block may move to another rank
    simple.ReloadFiles(session.reader)
    changes = [(dict(Blocks="Merged"), {}),
               (dict(LevelRange=[0, max(last - 1, 0)]), dict(levels=list(range(max(last, 1))))),
               (dict(LevelRange=[0, 99]), {}),
               (dict(BlankRefinedCells=0), dict(blanking=False)),
               (dict(Blocks="As patches"), dict(blanking=False)),
               (dict(BlankRefinedCells=1), {})]
    found = [session.show("bytes once: %s" % properties, shown=shown, **properties)[0] for properties, shown in changes]
    want = session.bytes_of(*session.names)
    expect(abs(sum(found) - want) <= 0.006 * want, "%s: %s bytes read instead of %g in all", session.index, found, want)


def check_steps(session):
    """Checks that an earlier step is not read again, and that another step is read completely."""
    for step in range(len(session.times)):
        if step != session.step:
            session.expect_bytes("another step", session.bytes_of(*session.names, step=step), step=step)
    for step in reversed(range(len(session.times))):
        session.expect_bytes("back", 0, step=step)


def check_limit(session):
    """Checks that without memory for the cache, each change reads and shows the same values. A limit that is too small for all
    steps must drop the step that was shown first."""
    everything = session.bytes_of(*session.names)
    session.expect_bytes("no cache", everything, CacheMemory=0, Blocks="As patches")
    session.expect_bytes("no cache, again", everything, ThreadsPerRank=3)
    session.expect_bytes("a cache", everything, CacheMemory=-1)
    session.expect_bytes("a cache, again", 0, ThreadsPerRank=4)
    before = report_of(session.reader)
    simple.ReloadFiles(session.reader)
    session.expect_bytes("after Reload", everything)
    expect("From the cache" in before, "the report does not say what came from the cache: %s", before)


def check_series(entry, folder):
    session = Session(entry, folder)
    expect(len(session.names) > 0, "%s: no plain arrays", session.index)
    check_arrays(session)
    check_changes(session)
    check_bytes_once(session)
    check_steps(session)
    check_limit(session)
    simple.Delete(session.reader)


def main():
    folder, *wanted = sys.argv[1:]
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    table = conformance.series_in(folder, wanted)
    for entry in table:
        check_series(entry, folder)
    conformance.finish("interactive: %d series" % len(table))


if __name__ == "__main__":
    main()

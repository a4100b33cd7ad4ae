"""Opens the damaged series of make_faults.py in ParaView. There must be an error that names the problem, and an empty output
instead of half an image. The session must still work.

usage: Testing/ParaView/pvbatch.sh NP Testing/Faults/faults.py FAULTSDIR

Runs on every rank. After each fault, the valid series is opened and compared with its reference. The name of each fault is printed
first, so that the last line of a crash or hang names its cause.
"""
import json
import os
import re
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats"))
import conformance  # noqa: E402
import merged  # noqa: E402
from conformance import check_arrays, check_grid, check_output, check_tree, expect, output_of, rank, sum_over_ranks  # noqa: E402
from expected import Truth  # noqa: E402
from paraview import simple  # noqa: E402
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402
from vtkmodules.vtkCommonCore import vtkLogger, vtkOutputWindow, vtkStringOutputWindow  # noqa: E402

LONGEST = 200.0    # seconds after which a fault counts as a hang, on a busy machine
MOST_MEMORY = 3 << 30    # greatest memory of a process in bytes, because hostile numbers must not become allocations

# One fault that appears when the series is opened, one in the metadata and one in the data.
REUSED = ("summary_missing", "summary_truncated", "cluster_missing")


class Messages:
    """Catches what ParaView reports as errors and warnings on this rank."""

    def __enter__(self):
        self.before, self.window = vtkOutputWindow.GetInstance(), vtkStringOutputWindow()
        vtkOutputWindow.SetInstance(self.window)
        self.text = ""
        return self

    def __exit__(self, kind, value, _):
        self.text = self.window.GetOutput()
        vtkOutputWindow.SetInstance(self.before)
        if kind is RuntimeError:     # the server manager turns some errors into exceptions
            self.text += "\n" + str(value)
            return True
        return False


def open_series(index):
    """Collective: returns the updated reader and the messages. ParaView reports some messages when it makes the reader."""
    with Messages() as messages:
        reader = conformance.open_reader(index)
    return reader, messages.text + update(reader)


def switch(reader, index):
    """Collective: gives the reader another series. Returns the messages."""
    with Messages() as messages:
        reader.FileName = [index]
    return messages.text + update(reader)


def update(reader):
    """Collective: selects all arrays and updates to the first time step. Returns the messages."""
    with Messages() as messages:
        reader.UpdatePipelineInformation()
        conformance.select(reader, list(reader.CellArrayStatus.Available), list(reader.PointArrayStatus.Available))
        times = reader.TimestepValues
        times = list(times) if hasattr(times, "__len__") else [times]
        reader.UpdatePipeline(times[0]) if times else reader.UpdatePipeline()
    return messages.text


def points_of(reader):
    """Collective: returns the number of points on all ranks."""
    tree = output_of(reader)
    return sum_over_ranks([tree.GetNumberOfPoints() if tree is not None else 0])[0]


def check_empty(reader, where):
    """Collective."""
    points = points_of(reader)
    if rank == 0:
        expect(points == 0, "%s: %d points are shown", where, points)


def check_good(truth, folder, where):
    reader, text = open_series(os.path.join(folder, "good", "dumps.visit"))
    expect(not text, "%s: messages for the sound series: %s", where, text)
    check_output(reader, truth, range(len(truth.meta["level_sizes"])), (0, 0, 0), True, None, where)
    simple.Delete(reader)


def check_messages(text, patterns, where):
    """Expects each pattern in a message of some rank."""
    said = sum_over_ranks([1] + [int(re.search(p, text) is not None) for p in patterns])[1:]
    for pattern, count in zip(patterns, said):
        if rank == 0:
            expect(count, "%s: no message matches '%s'; rank 0 said: %s", where, pattern, text.strip()[-600:] or "nothing")


def check_fault(fault, truth, folder):
    where = fault["name"]
    reader, text = open_series(fault["index"])
    failed = sum_over_ranks([int("ERROR" in text)])[0] > 0
    outcome = fault["outcome"]
    if outcome == "error_or_right":
        outcome = "error" if failed else "ok"
    if outcome == "error":
        check_messages(text, fault["messages"], where)
        if rank == 0:
            expect(failed, "%s: no error; said: %s", where, text or "nothing")
        check_empty(reader, where)
    elif outcome == "ok":
        expect(not failed, "%s: error where there is nothing wrong: %s", where, text)
        check_output(reader, truth, range(len(truth.meta["level_sizes"])), (0, 0, 0), True, None, where)
    if outcome == "error":
        check_skipping(reader, fault, truth, where + ", SkipBrokenPatches")
        if fault["good"] is not None:
            check_merged(reader, fault, truth, where + ", merged")
    simple.Delete(reader)


def check_reuse(fault, truth, folder):
    """Switches a reader from the valid series to a damaged one and back. No old picture may stay."""
    where = fault["name"] + ", the same reader"
    good = os.path.join(folder, "good", "dumps.visit")
    reader, _ = open_series(good)
    text = switch(reader, fault["index"])
    check_messages(text, fault["messages"], where)
    check_empty(reader, where)
    text = switch(reader, good)
    expect(not text, "%s: messages for the sound series: %s", where, text)
    check_output(reader, truth, range(len(truth.meta["level_sizes"])), (0, 0, 0), True, None, where)
    simple.Delete(reader)


def check_skipping(reader, fault, truth, where):
    """Expects that SkipBrokenPatches shows the valid patches with right values, and nothing else."""
    reader.SkipBrokenPatches = 1
    text = update(reader)
    if fault["good"] is None:
        return check_empty(reader, where)
    check_messages(text, fault["messages"], where)

    def check(grid, patch, name):
        if patch in fault["good"] + fault["maybe"]:
            check_grid(grid, truth.grid(patch), name)
            check_arrays(grid.GetCellData(), truth.data(patch, True), grid.GetNumberOfCells(), name)
            check_arrays(grid.GetPointData(), truth.data(patch, False), grid.GetNumberOfPoints(), name)
    levels = range(len(truth.meta["level_sizes"]))
    held = sum_over_ranks(check_tree(output_of(reader), truth, levels, check, where, names=False))
    if rank == 0:
        for patch, count in enumerate(held):
            allowed = [1] if patch in fault["good"] else [0, 1] if patch in fault["maybe"] else [0]
            expect(count in allowed, "%s: patch %d is shown on %d ranks instead of %s", where, patch, count, allowed)


def check_merged(reader, fault, truth, where):
    """Expects merged blocks of the valid patches. In place of a damaged patch, coarser cells or no cells are visible. Without
    SkipBrokenPatches, nothing is displayed."""
    reader.Blocks, reader.AddPatchIds, reader.SkipBrokenPatches = "Merged", 1, 0
    text = update(reader)
    check_messages(text, fault["messages"], where)
    check_empty(reader, where)
    reader.SkipBrokenPatches = 1
    for layer in (0, 1):
        reader.AddGhostLayer = layer
        text = update(reader)
        check_messages(text, fault["messages"], where + ", SkipBrokenPatches")
        patches = fault["good"] + seen_of(reader, fault["maybe"])
        merged.check_output(reader, merged.Shown(truth, patches=patches, layer=bool(layer)),
                            "%s, SkipBrokenPatches, ghost layer %d" % (where, layer))


def seen_of(reader, patches):
    """Collective: returns the patches that are in a block of any rank."""
    found = set()
    for level in range(output_of(reader).GetNumberOfBlocks()):
        pieces = output_of(reader).GetBlock(level)
        for i in range(pieces.GetNumberOfPieces()):
            grid = pieces.GetPieceAsDataObject(i)
            found |= set(vtk_to_numpy(grid.GetCellData().GetArray("patch id"))) if grid else set()
    counts = sum_over_ranks([int(p in found) for p in patches])
    return [p for p, count in zip(patches, counts) if count]


def main(folder):
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)    # hides the expected errors on the terminal
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    with open(os.path.join(folder, "faults.json")) as f:
        table = json.load(f)
    truth = Truth(os.path.join(folder, "good.npz"))
    check_good(truth, folder, "before any fault")
    for fault in table:
        if rank == 0:
            print("fault %s" % fault["name"], flush=True)
        start = time.time()
        check_fault(fault, truth, folder)
        expect(time.time() - start < LONGEST, "%s: took %.0f s", fault["name"], time.time() - start)
        check_good(truth, folder, "after " + fault["name"])
    for fault in table:
        if fault["name"] in REUSED:
            check_reuse(fault, truth, folder)
    check_good(truth, folder, "after all faults")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    expect(peak < MOST_MEMORY, "%d MiB of memory used", peak >> 20)
    failed, = sum_over_ranks([len(conformance.failed)])
    if rank == 0:
        print("faults: %d broken series, %d tests failed, %d MiB at most" % (len(table), failed, peak >> 20), flush=True)
    return 1 if failed or not table else 0


if __name__ == "__main__":
    status = main(sys.argv[1])
    if status:
        sys.exit(status)

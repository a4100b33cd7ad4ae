"""Shows series in ParaView and compares each block with the reference values of reference.py.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/conformance.py TRUTHDIR [SERIES...]

TRUTHDIR comes from `<FORMAT>/reference.py --series`; SERIES, the name of a folder, restricts the run to the series in it. Runs on
each rank (pvbatch --symmetric): each rank compares its own blocks, and all ranks together must have each patch exactly once. Tests
several settings per series: all arrays, with ghost cells, one level, one array, other numbers of threads.
"""
import json
import os
import re
import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "SAMRAI"), os.path.join(HERE, "..", "ParaView")]
from expected import Truth  # noqa: E402
from on_ranks import controller, expect, failed, leaves, output_of, rank, ranks, report_of, sum_over_ranks  # noqa: E402, F401
import expectations  # noqa: E402

compared = [0]    # number of values compared, to detect a test that compares nothing


# ---- one block ------------------------------------------------------------------------------------------

def check_vectors(tree, vector, components, where):
    """Checks that a vector has the values of its components' arrays in all blocks of the tree."""
    for grid in leaves(tree):
        data = grid.GetCellData() if grid.GetCellData().HasArray(components[0]) else grid.GetPointData()
        want = [vtk_to_numpy(data.GetArray(name)) for name in components]
        want = np.stack(want + [np.zeros_like(want[0])] * (3 - len(want)), -1)
        if expect(data.HasArray(vector), "%s: no vector '%s'", where, vector):
            check_array(vtk_to_numpy(data.GetArray(vector)), want, len(want), "%s '%s'" % (where, vector))
            ghosts = data.GetAbstractArray("vtkGhostType")
            visible = vtk_to_numpy(ghosts) == 0 if ghosts else np.ones(len(want), bool)
            for c, numbers in enumerate(want.T):
                numbers = numbers[~np.isnan(numbers) & visible]
                found = data.GetArray(vector).GetFiniteRange(c)
                expect(not numbers.size or found == (numbers.min(), numbers.max()), "%s '%s': range of %d is %s", where, vector, c, found)


def with_blanks(truth, patch, levels, layers, cell, tuples):
    """Returns the arrays of a block if all blocks have the same arrays: NaN, or 0, for arrays that its patch lacks and another
    patch has."""
    data = truth.data(patch, cell, layers)
    for other, info in enumerate(truth.patches):
        if info["level"] in levels:
            for name, values in truth.data(other, cell, layers).items():
                blank = np.nan if values.dtype.kind == "f" else 0
                data.setdefault(name, np.full((tuples,) + values.shape[1:], blank, values.dtype))
    return data


def check_block(grid, truth, patch, layers, blanking, selected, where, blanks_of=()):
    """Compares a block with its patch. blanks_of: levels whose arrays all blocks have."""
    want = truth.grid(patch, layers)
    check_grid(grid, want, where)
    cells, points = (with_blanks(truth, patch, blanks_of, layers, cell, tuples)
                     for cell, tuples in ((True, grid.GetNumberOfCells()), (False, grid.GetNumberOfPoints())))
    if selected is not None:
        cells, points = ({n: a for n, a in d.items() if n in selected} for d in (cells, points))
    check_arrays(grid.GetCellData(), cells, grid.GetNumberOfCells(), where + " cells")
    check_arrays(grid.GetPointData(), points, grid.GetNumberOfPoints(), where + " points")
    check_ghosts(grid, *truth.ghost_types(patch, layers, blanking), where)


def check_grid(grid, want, where):
    extent = list(grid.GetExtent())
    if not expect(extent == want["extent"], "%s: extent %s instead of %s", where, extent, want["extent"]):
        return
    if "points" in want:
        if expect(grid.IsA("vtkStructuredGrid"), "%s: a %s", where, grid.GetClassName()):
            points = vtk_to_numpy(grid.GetPoints().GetData())
            expect(np.array_equal(points.astype(float), want["points"].astype(float)), "%s: points differ", where)
    elif expect(grid.IsA("vtkUniformGrid"), "%s: a %s", where, grid.GetClassName()):
        check_position(grid, want, extent, where)


def check_position(grid, want, extent, where):
    for d in range(3):
        origin, spacing = grid.GetOrigin()[d], grid.GetSpacing()[d]
        if d >= want["dim"]:
            expect(origin == 0, "%s: z is %g in 2-D", where, origin)
            continue
        expect(abs(spacing - want["spacing"][d]) <= 1e-12 * spacing, "%s: spacing %r on axis %d instead of %r",
               where, spacing, d, want["spacing"][d])
        for index in extent[2 * d:2 * d + 2]:
            found, true = origin + index * spacing, want["origin"][d] + index * want["spacing"][d]
            scale = abs(want["origin"][d]) + abs(index * spacing) + spacing
            expect(abs(found - true) <= 1e-12 * scale, "%s: index %d of axis %d is at %r instead of %r",
                   where, index, d, found, true)


def check_arrays(data, want, tuples, where):
    found = [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]
    found = sorted(n for n in found if n != "vtkGhostType")
    expect(found == sorted(want), "%s: arrays %s instead of %s", where, found, sorted(want))
    for name in found:
        if name in want:
            check_array(vtk_to_numpy(data.GetAbstractArray(name)), want[name], tuples, "%s '%s'" % (where, name))


def check_array(found, want, tuples, where):
    found = found.reshape(len(found), -1)
    if not expect(found.dtype == want.dtype, "%s: %s instead of %s", where, found.dtype, want.dtype):
        return
    if not expect(found.shape == want.shape and len(found) == tuples, "%s: shape %s instead of %s, grid has %d",
                  where, found.shape, want.shape, tuples):
        return
    # Compares raw bits, so that NaN and -0 are distinguished.
    bits = "u%d" % want.dtype.itemsize
    differ = np.argwhere(np.ascontiguousarray(found).view(bits) != np.ascontiguousarray(want).view(bits))
    compared[0] += found.size
    expect(not len(differ), "%s: %d of %d values differ, first %s: %r instead of %r", where, len(differ), found.size,
           *((tuple(differ[0]), found[tuple(differ[0])], want[tuple(differ[0])]) if len(differ) else (0, 0, 0)))


def check_ghosts(grid, want, mask, where):
    array = grid.GetCellData().GetAbstractArray("vtkGhostType")
    found = vtk_to_numpy(array) if array else np.zeros(grid.GetNumberOfCells(), np.uint8)
    if expect(found.shape == want.shape, "%s: %d ghost types for %d cells", where, len(found), len(want)):
        differ = np.flatnonzero((found & mask) != want)
        expect(not len(differ), "%s: ghost type of %d of %d cells differs, first %d: %s instead of %s", where,
               len(differ), len(want), *((differ[0], found[differ[0]], want[differ[0]]) if len(differ) else (0, 0, 0)))


# ---- the tree -------------------------------------------------------------------------------------------

def field(data, name):
    array = data.GetFieldData().GetArray(name)
    return array.GetTuple1(0) if array and array.GetNumberOfTuples() == 1 else None


def name_of(composite, i):
    data = composite.GetMetaData(i) if composite.HasMetaData(i) else None
    return data.Get(vtkCompositeDataSet.NAME()) if data else None


def check_tree(tree, truth, levels, check, where, names=True):
    """Calls check(grid, patch, where) for the blocks of this rank. Returns how often this rank has each patch. names=False: a
    damaged summary may give pieces other names."""
    held = [0] * len(truth.patches)
    sizes = truth.meta["level_sizes"]
    expect(tree.IsA("vtkMultiBlockDataSet"), "%s: output is a %s", where, tree.GetClassName())
    if not expect(tree.GetNumberOfBlocks() == len(sizes), "%s: %d blocks for %d levels", where, tree.GetNumberOfBlocks(), len(sizes)):
        return held
    expect(field(tree, "time") == truth.meta["time"], "%s: field 'time' is %s", where, field(tree, "time"))
    expect(field(tree, "step") == truth.meta["step"], "%s: field 'step' is %s", where, field(tree, "step"))
    first = 0
    for level, size in enumerate(sizes):
        expect(name_of(tree, level) == "level %d" % level, "%s: block %d is called %s", where, level, name_of(tree, level))
        pieces = tree.GetBlock(level)
        if level in levels:
            check_level(pieces, level, first, size, held, check, where, names)
        elif pieces is not None:
            expect(not any(pieces.GetPieceAsDataObject(i) for i in range(pieces.GetNumberOfPieces())),
                   "%s: level %d is not empty", where, level)
        first += size
    return held


def check_level(pieces, level, first, size, held, check, where, names):
    where = "%s level %d" % (where, level)
    if not expect(pieces is not None and pieces.IsA("vtkMultiPieceDataSet"), "%s: no vtkMultiPieceDataSet", where):
        return
    if not expect(pieces.GetNumberOfPieces() == size, "%s: %d pieces for %d patches", where, pieces.GetNumberOfPieces(), size):
        return
    for number in range(size):
        expect(not names or name_of(pieces, number) == "patch %d" % number, "%s: piece %d is called %s", where, number, name_of(pieces, number))
        grid = pieces.GetPieceAsDataObject(number)
        if grid is None:
            continue
        patch = first + number
        held[patch] += 1
        expect(field(grid, "patch") == number, "%s: field 'patch' of patch %d is %s", where, number, field(grid, "patch"))
        expect(field(grid, "level") == level, "%s: field 'level' of patch %d is %s", where, patch, field(grid, "level"))
        expect(field(grid, "rank") is not None, "%s: patch %d has no field 'rank'", where, patch)
        check(grid, patch, "%s patch %d" % (where, number))


def check_output(reader, truth, levels, layers, blanking, selected, where):
    """Collective: checks that all ranks together have each patch of `levels` once."""
    def check(grid, patch, name):
        check_block(grid, truth, patch, layers, blanking, selected, name, () if reader.PartialArrays else levels)
    held = check_tree(output_of(reader), truth, levels, check, where)
    want = [int(p["level"] in levels) for p in truth.patches]
    total = sum_over_ranks(held)
    wrong = [(i, n) for i, (n, w) in enumerate(zip(total, want)) if n != w]
    if rank == 0:
        expect(not wrong, "%s: patches held other than once, (patch, ranks): %s", where, wrong[:10])


# ---- a series -------------------------------------------------------------------------------------------

def open_reader(*paths, **properties):
    """Returns a reader that makes one piece per patch, with the patch's own arrays only, unless the properties differ. merged.py
    tests merged blocks."""
    return simple.PatchReader(FileName=list(paths), **{"Blocks": "As patches", "PartialArrays": 1, "ComposeVectors": 0, **properties})


def check_thread_line(reader, least, most, where):
    text = report_of(reader)
    want = str(least) if least == most else "%d to %d" % (least, most)
    found = re.findall(r"^Threads per rank \(NT\): (.*)$", text, re.MULTILINE)
    expect(found == [want], "%s: NT %s instead of %s, report: %s", where, found, want, text)


def by_the_rule(storage, others):
    """Returns the least and the greatest NT of a rank by the rule of the user guide: N* - NC threads are distributed evenly, with
    at least one per rank."""
    hands = [len(range(r, max(0, storage - others), ranks)) for r in range(ranks)]
    return max(1, min(hands)), max(1, max(hands))


def select(reader, cells, points):
    reader.CellArrayStatus = cells
    reader.PointArrayStatus = points


def check_names(reader, truth, where):
    for cell, status in ((True, reader.CellArrayStatus), (False, reader.PointArrayStatus)):
        found = sorted(status.Available)
        missing = set(truth.names(cell)) - set(found)
        expect(not missing, "%s: %s not offered, only %s", where, sorted(missing), found)


def check_times(reader, want, where):
    reader.UpdatePipelineInformation()
    times = list(np.atleast_1d(np.asarray(reader.TimestepValues, float)))
    expect(times == want, "%s: time values %s instead of %s", where, times, want)


def check_series(entry, folder):
    index = entry["index"]
    reader = open_reader(index)
    check_times(reader, entry["times"], index)
    truths = [Truth(os.path.join(folder, s["npz"])) for s in entry["steps"]]
    for truth, time in zip(truths, entry["times"]):
        where = "%s step %d" % (index, truth.meta["step"])
        reader.UpdatePipelineInformation()
        select(reader, *(sorted(set(sum((t.names(c) for t in truths), []))) for c in (True, False)))
        reader.UpdatePipeline(time)
        check_output(reader, truth, range(len(truth.meta["level_sizes"])), (0, 0, 0), True, None, where)
    if truths:
        check_names(reader, truths[0], index)
        check_setups(reader, truths[-1], entry["times"][-1], index)
    reader.ListedDumpsOnly = 1
    check_times(reader, entry["listed_times"], index + " listed only")
    simple.Delete(reader)
    if len(truths) > 1:
        check_files(entry, truths[-1])


def check_files(entry, last):
    """Checks that the summaries, opened as separate files, give the same series."""
    where = "%s as %d files" % (entry["index"], len(entry["steps"]))
    reader = open_reader(*[s["summary"] for s in entry["steps"]])
    check_times(reader, entry["times"], where)
    select(reader, last.names(True), last.names(False))
    reader.UpdatePipeline(entry["times"][-1])
    check_output(reader, last, range(len(last.meta["level_sizes"])), (0, 0, 0), True, None, where)
    simple.Delete(reader)


def check_setups(reader, truth, time, index):
    """Checks other settings on one time step, each changed from the plain settings and back."""
    levels = range(len(truth.meta["level_sizes"]))
    plain = dict(levels=levels, layers=(0, 0, 0), blanking=True, selected=None)

    def run(setting, **changes):
        reader.UpdatePipeline(time)
        check_output(reader, truth, where="%s step %d, %s" % (index, truth.meta["step"], setting), **{**plain, **changes})

    reader.ReadGhostCells = 1
    run("ghost cells shown", layers=truth.layers())
    reader.ReadGhostCells = 0
    reader.BlankRefinedCells = 0
    run("no blanking", blanking=False)
    reader.BlankRefinedCells = 1
    reader.PartialArrays = 0
    run("the same arrays everywhere")
    reader.PartialArrays = 1
    velocities = ["%s_velocity" % axis for axis in "xyz"[:truth.dim]]
    if set(velocities) <= set(truth.names(True)):
        reader.ComposeVectors = 1
        reader.UpdatePipeline(time)
        check_vectors(output_of(reader), "velocity", velocities, index)
        reader.ComposeVectors = 0
    reader.LevelRange = [0, 0]
    run("level 0 only", levels=[0], blanking=False)
    reader.LevelRange = [levels[-1], levels[-1]]
    run("finest level only", levels=[levels[-1]])
    reader.LevelRange = [0, 99]
    reader.ThreadMode = "Fixed"
    reader.ThreadsPerRank = 3
    last = [v["name"] for v in truth.variables][-1:]
    select(reader, *([n for n in last if n in truth.names(c)] for c in (True, False)))
    run("3 threads, only %s" % last, selected=last)
    check_thread_line(reader, 3, 3, "%s, asked for 3 threads" % index)
    reader.ThreadMode = "From N* and NC"
    reader.StorageConcurrency, reader.OtherLoad = 8, 2
    run("threads from the storage", selected=last)
    check_thread_line(reader, *by_the_rule(8, 2), "%s, N* 8 and NC 2" % index)


def series_in(folder, wanted=()):
    """Returns the series in the list of reference values: all, or those in folders with the wanted names."""
    with open(os.path.join(folder, "series.json")) as file:
        return [entry for entry in json.load(file) if not wanted or set(entry["index"].split("/")) & set(wanted)]


def finish(text):
    """Collective: ends the script. Rank 0 prints the text with the numbers of values and faults."""
    faults, values = sum_over_ranks([len(failed), compared[0]])
    if rank == 0:
        print("%s, %d values, %d faults" % (text, values, faults), flush=True)
    sys.exit(1 if faults or not values else 0)


def main():
    expectations.place = "rank %d: " % rank
    folder, *wanted = sys.argv[1:]
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    table = series_in(folder, wanted)
    for entry in table:
        check_series(entry, folder)
    finish("conformance: %d series, %d time steps" % (len(table), sum(len(entry["steps"]) for entry in table)))


if __name__ == "__main__":
    main()

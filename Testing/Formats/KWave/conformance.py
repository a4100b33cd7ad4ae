"""Opens k-Wave files in ParaView and compares the output with the reference values of reference.py.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/KWave/conformance.py TRUTHDIR [NAME...]

Runs on each rank. Each rank compares its own part, and all ranks together must have each value once. Each file is shown as merged
blocks and as patches, with points as points and as an image, with and without index files. The order of the steps goes back and
forth.
"""
import glob
import os
import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../ParaView"))
from on_ranks import expect, failed, rank, sum_over_ranks  # noqa: E402
import expectations  # noqa: E402

HIDDEN = 32             # vtkDataSetAttributes::HIDDENCELL
SERIES = ["p", "ux", "uy", "uz", "ux_non_staggered", "uy_non_staggered", "uz_non_staggered"]


def at_step(name, values, step):
    return values[step] if name in SERIES else values


def arrays_of(truth, part, step):
    return {key.split("/")[1]: at_step(key.split("/")[1], truth[key], step) for key in truth
            if key.startswith(part + "/") and key.split("/")[1] not in ("places", "lower", "upper")}


def same_bits(found, want):
    return found.dtype == want.dtype and found.shape == want.shape and \
        np.array_equal(found.view(np.uint32), np.ascontiguousarray(want).view(np.uint32))


def check_names(data, wanted, where):
    found = {data.GetArrayName(i) for i in range(data.GetNumberOfArrays())} - {"vtkGhostType"}
    return expect(found == set(wanted), "%s: arrays %s instead of %s", where, sorted(found), sorted(wanted))


def check_box(grid, truth, part, lower, step, where):
    """Checks the cells of a box. Returns the number of right values."""
    wanted = arrays_of(truth, part, step)
    flat = truth["size"][2] == 1
    e = np.array(grid.GetExtent()).reshape(3, 2)
    first, last = e[:, 0].copy(), e[:, 1] - 1
    if flat:
        last[2] = 0
    axes = range(2 if flat else 3)
    for axis in axes:
        centre = grid.GetOrigin()[axis] + (first[axis] + 0.5) * grid.GetSpacing()[axis]
        want = truth["origin"][axis] + first[axis] * truth["spacing"][axis]
        expect(abs(centre - want) < 1e-9 * truth["spacing"][axis] + 1e-12 * abs(want), "%s: axis %d at %r instead of %r",
               where, axis, centre, want)
        expect(grid.GetSpacing()[axis] == truth["spacing"][axis], "%s: spacing", where)
    if not check_names(grid.GetCellData(), wanted, where):
        return 0
    right = 0
    for name, values in wanted.items():
        values = values.reshape(values.shape[-3:])
        part_of = tuple(slice(first[a] - lower[a], last[a] - lower[a] + 1) for a in (2, 1, 0))
        want = np.ascontiguousarray(values[part_of]).ravel()
        found = vtk_to_numpy(grid.GetCellData().GetArray(name))
        if expect(same_bits(found, want), "%s %s: values differ", where, name):
            right += len(want)
    return right


def right_values(data, wanted, numbers, places, where):
    """Checks that the arrays have the values of the points `numbers` at these places, and otherwise NaN. Returns the number of right
    values."""
    right = len(numbers) if not wanted else 0
    for name, values in wanted.items():
        found = vtk_to_numpy(data.GetArray(name))
        if expect(same_bits(found[places], values[numbers]) and np.isnan(np.delete(found, places)).all(), "%s %s: values differ", where, name):
            right += len(numbers)
    return right


def check_points(grid, truth, level, numbers, step, where):
    places = truth[level + "/places"][numbers]
    wanted = arrays_of(truth, level, step)
    want = truth["origin"] + places * truth["spacing"]
    if truth["size"][2] == 1:
        want[:, 2] = 0
    found = vtk_to_numpy(grid.GetPoints().GetData())
    expect(found.shape == want.shape and np.allclose(found, want, rtol=1e-12, atol=1e-9 * truth["spacing"].min()),
           "%s: places differ", where)
    expect(grid.GetNumberOfVerts() == len(numbers), "%s: %d vertices of %d", where, grid.GetNumberOfVerts(), len(numbers))
    if not check_names(grid.GetPointData(), wanted, where):
        return 0
    return right_values(grid.GetPointData(), wanted, numbers, np.arange(len(numbers)), where)


def check_image(grid, truth, level, numbers, step, where):
    """Checks an image of these points: each is in its cell, and all other cells are hidden and NaN."""
    places = truth[level + "/places"][numbers]
    wanted = arrays_of(truth, level, step)
    e = np.array(grid.GetExtent()).reshape(3, 2)
    width = np.maximum(e[:, 1] - e[:, 0], 1)
    cells = ((places[:, 2] - e[2, 0]) * width[1] + (places[:, 1] - e[1, 0])) * width[0] + places[:, 0] - e[0, 0]
    known = np.zeros(grid.GetNumberOfCells(), bool)
    known[cells] = True
    ghosts = grid.GetCellData().GetArray("vtkGhostType")
    hidden = vtk_to_numpy(ghosts) & HIDDEN != 0 if ghosts else np.zeros(len(known), bool)
    expect(np.array_equal(hidden, ~known), "%s: other cells are hidden", where)
    if not check_names(grid.GetCellData(), wanted, where):
        return 0
    return right_values(grid.GetCellData(), wanted, numbers, cells, where)


def wanted_values(truth, step):
    total = 0
    for key in truth:
        part, _, name = key.partition("/")
        if name == "places":
            level = [k for k in truth if k.startswith(part + "/") and k != key]
            total += len(truth[key]) * max(len(level), 1)
        elif name and name not in ("lower", "upper") and part != "points":
            total += at_step(name, truth[key], step).size
    return total


def check_tree(tree, truth, step, image, where):
    right, seen = 0, set()
    for l in range(tree.GetNumberOfBlocks()):
        level = tree.GetMetaData(l).Get(tree.NAME())
        pieces = tree.GetBlock(l)
        for i in range(pieces.GetNumberOfPieces()):
            name = pieces.GetMetaData(i).Get(tree.NAME())
            seen.add((level, name))
            grid = pieces.GetPieceAsDataObject(i)
            if grid is None:
                continue
            here = "%s, %s, %s" % (where, level, name)
            if level == "domain":
                right += check_box(grid, truth, "domain", (0, 0, 0), step, here)
            elif name.startswith("cuboid"):
                part = name.replace(" ", "")
                number = grid.GetFieldData().GetArray("patch").GetValue(0)
                expect(name == "cuboid %d" % number, "%s: the field data say number %d", here, number)
                right += check_box(grid, truth, part, truth[part + "/lower"], step, here)
            else:
                first, last = (int(n) for n in name.replace("points ", "").split(" to "))
                check = check_image if image else check_points
                right += check(grid, truth, "points" if level == "sensor" else level, np.arange(first - 1, last), step, here)
    cuboids = {n for level, n in seen if n.startswith("cuboid")}
    expected = {"cuboid " + k.split("/")[0][6:] for k in truth if k.startswith("cuboid")}
    expect(cuboids == expected, "%s: %s instead of %s", where, cuboids, expected)
    total = sum_over_ranks(right)
    expect(total == wanted_values(truth, step), "%s: %d right values of %d", where, total, wanted_values(truth, step))
    return right


def check_file(path):
    truth = {k: v for k, v in np.load(path).items() if k != "none"}
    name = os.path.basename(path)[:-4]
    compared = 0
    for blocks in ("Merged", "As patches"):
        for image in (False, True):
            for channel in ("Off", "On"):
                reader = simple.PatchReader(FileName=[str(truth["path"])], Blocks=blocks, MetadataChannel=channel,
                                            PointLists="Image" if image else "Points", Grids="All", PartialArrays=1, ComposeVectors=0)
                reader.UpdatePipelineInformation()
                times = reader.TimestepValues
                times = list(times) if hasattr(times, "__len__") else [times]
                expect(len(times) == len(truth["times"]) and np.allclose(times, truth["times"]), "%s: times %s instead of %s",
                       name, times, truth["times"])
                order = list(range(len(times)))
                order = order[:2] + order[:1] + order[::-1][:3] if len(order) > 1 else order
                for step in order:
                    reader.UpdatePipeline(times[step])
                    tree = reader.GetClientSideObject().GetOutputDataObject(0)
                    where = "%s %s %s %s step %d" % (name, blocks, "image" if image else "points", channel, step)
                    expect(tree.GetFieldData().GetArray("step").GetValue(0) == truth["steps"][step], "%s: step", where)
                    compared += check_tree(tree, truth, step, image, where)
                simple.Delete(reader)
    return compared


def main():
    expectations.place = "rank %d: " % rank
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    names = sys.argv[2:]
    paths = [p for p in sorted(glob.glob(sys.argv[1] + "/*.npz")) if not names or os.path.basename(p).split(".")[0] in names]
    total = sum_over_ranks(sum(check_file(path) for path in paths))
    expect(total > 0, "nothing was compared")
    faults = sum_over_ranks(len(failed))
    if rank == 0:
        print("k-Wave: %d files, %d values compared, %d faults" % (len(paths), total, faults), flush=True)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

"""Tests reading of a region of interest: the selected patches, and that slices and contours are the same as of the whole data.

usage: Testing/ParaView/pvbatch.sh NP interest.py OUTPUT DATA

Runs on every rank. OUTPUT gets a plotfile of two levels with an analytic field; DATA is the project's own folder, of SAMRAI.
"""
import os
import re
import sys

import numpy as np
from paraview.simple import *

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "AMReX"))
from leaves import seen_in  # noqa: E402
from made_grids import Polygons  # noqa: E402
from on_ranks import controller, expect, finish, from_all_ranks, leaves, output_of, rank, ranks, report_of  # noqa: E402
from plotfile_writer import fab_values, tiles, write_plotfile  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
LEVELS = [tiles((0, 0, 0), (31, 31, 31), (8, 8, 8)), tiles((16, 16, 16), (47, 47, 47), (8, 8, 8))]
CORNER, SPACING = (0.25, 0.25, 0.25), (0.5, 0.25, 0.125)


def patches_of(reader):
    return int(re.search(r"^Patches: (\d+)$", report_of(reader), re.M).group(1))


def triangles_of(proxy, time):
    """Returns the corners of each polygon of this rank, in an order that does not depend on blocks."""
    proxy.UpdatePipeline(time)
    found = []
    for leaf in leaves(output_of(proxy)):
        if leaf and leaf.GetNumberOfCells():
            cells = Polygons(leaf)
            corners = np.split(np.round(cells.corners, 5), cells.begins[1:])
            found += [tuple(sorted(map(tuple, corners[number].tolist()))) for number in np.flatnonzero(seen_in(leaf))]
    return found


def all_triangles(proxy, time=0.5):
    """Collective: returns the sorted triangles of all ranks."""
    return sorted(sum(from_all_ranks(triangles_of(proxy, time)), []))


def bounds_of(level, box):
    """Returns the bounds in space, with one more cell on each side."""
    cell = np.array(SPACING) / 2 ** level
    return (np.array(CORNER) + (np.array(box[0]) - 1) * cell, np.array(CORNER) + (np.array(box[1]) + 2) * cell)


def on_plane(origin, normal):
    count = 0
    for level, boxes in enumerate(LEVELS):
        for box in boxes:
            low, high = bounds_of(level, box)
            corners = [[(low, high)[(n >> a) & 1][a] for a in range(3)] for n in range(8)]
            sides = [np.dot(np.array(c) - origin, normal) for c in corners]
            count += min(sides) <= 0 <= max(sides)
    return count


def beside(box, level):
    """Returns the boxes of a level within two cells of the enlarged box, in units of the fine level, with their numbers."""
    unit = 2 - level
    for number, (low, high) in enumerate(LEVELS[level]):
        if all(low[a] * unit <= box[1][a] and (high[a] + 1) * unit - 1 >= box[0][a] for a in range(3)):
            yield number


def with_value(value):
    """Returns the patches that have the value together with their neighbours. Coarse patches count as neighbours of fine ones only
    at the border of the fine level."""
    ranges = [[(v.min(), v.max()) for v in (fab_values(level, 1, lo, up, [0] * 3, False, "f8", 0) for lo, up in boxes)]
              for level, boxes in enumerate(LEVELS)]
    count = 0
    for level, boxes in enumerate(LEVELS):
        unit = 2 - level
        for low, high in boxes:
            grown = [(low[a] - 2) * unit for a in range(3)], [(high[a] + 3) * unit - 1 for a in range(3)]
            inside = level == 1 and all(grown[0][a] >= 16 and grown[1][a] <= 47 for a in range(3))
            around = [ranges[other][n] for other in (0, 1) if not (inside and other == 0) for n in beside(grown, other)]
            count += min(r[0] for r in around) <= value <= max(r[1] for r in around)
    return count


def slice_of(reader, origin, normal):
    cut = Slice(Input=reader)
    cut.SliceType.Origin, cut.SliceType.Normal = origin, normal
    return cut


def contour_of(reader, array, value):
    points = CellDatatoPointData(Input=reader, ProcessAllArrays=1)
    return Contour(Input=points, ContourBy=["POINTS", array], Isosurfaces=[value], ComputeNormals=0)


def contour_of_cells(reader, array, value):
    return Contour(Input=reader, ContourBy=["CELLS", array], Isosurfaces=[value], ComputeNormals=0)


def compare(name, made_of, path, time=0.5, **chosen):
    """Compares the results for the whole data and for the selection, as patches, which are independent of each other."""
    everything = PatchReader(FileName=[path], Blocks="As patches")
    some = PatchReader(FileName=[path], Blocks="As patches", **chosen)
    expected, found = all_triangles(made_of(everything), time), all_triangles(made_of(some), time)
    expect(expected == found and expected, "%s: %d polygons, not %d", name, len(found), len(expected))
    expect(patches_of(some) < patches_of(everything), "%s: everything was read", name)
    return patches_of(some)


path = os.path.join(sys.argv[1], "plt00000")
if rank == 0:
    os.makedirs(sys.argv[1], exist_ok=True)
    write_plotfile(path, ((0, 0, 0), (31, 31, 31)), LEVELS, ratios=[(2, 2, 2)], names=["f"], corner=list(CORNER))
controller.Barrier()

# A plane: the patches that it meets, found by their corners, and the same slice.
for origin, normal in (([7.3, 5.1, 2.4], [1, 0, 0]), ([7.3, 5.1, 2.4], [1, -2, 0.5])):
    read = compare("slice " + str(normal), lambda r: slice_of(r, origin, normal), path, Region="Plane", RegionOrigin=origin,
                   RegionNormal=normal)
    expect(read == on_plane(np.array(origin), np.array(normal)), "plane %s: %d patches read", normal, read)

# A box: the patches that it meets. Other patches hide no cells outside the box, and stay hidden themselves.
low, high = np.array([1.0, 1.0, 1.0]), np.array([5.0, 3.0, 1.5])
box = PatchReader(FileName=[path], Blocks="As patches", Region="Box",
                  RegionBounds=[low[0], high[0], low[1], high[1], low[2], high[2]])
box.UpdatePipeline()
expected = sum(all(bounds_of(l, b)[0] <= high) and all(bounds_of(l, b)[1] >= low) for l, bs in enumerate(LEVELS) for b in bs)
expect(patches_of(box) == expected, "box: %d patches, not %d", patches_of(box), expected)
expect("Region or Skip By Value skips" in report_of(box), "the report does not say what is left out")
away = PatchReader(FileName=[path], Region="Box", RegionBounds=[90, 91, 90, 91, 90, 91])
away.UpdatePipeline()
expect(patches_of(away) == 0 and "Bytes read: 0 " in report_of(away), "a box far away reads something")

# By value: the same surface, from the patches that numpy finds. The array itself may be deselected.
value = 1006.0
read = compare("contour", lambda r: contour_of(r, "f", value), path, SkipByValue=1, ValueArray="f", ValueRange=[value, value])
expect(read == with_value(value), "values: %d patches, not %d", read, with_value(value))
compare("contour of cells", lambda r: contour_of_cells(r, "f", value), path, SkipByValue=1, ValueArray="f", ValueRange=[value, value])
none = PatchReader(FileName=[path], SkipByValue=1, ValueArray="f", ValueRange=[-5, -4])
none.UpdatePipeline()
expect(patches_of(none) == 0, "patches without the value are read")

# SAMRAI files also have ranges.
samrai = os.path.join(sys.argv[2], "linadv_3d", "dumps.visit")
last = PatchReader(FileName=[samrai]).TimestepValues[-1]
compare("contour of SAMRAI", lambda r: contour_of(r, "uval", 79.9), samrai, last, SkipByValue=1, ValueArray="uval",
        ValueRange=[79.9, 79.9])
compare("contour of SAMRAI's cells", lambda r: contour_of_cells(r, "uval", 79.9), samrai, last, SkipByValue=1, ValueArray="uval",
        ValueRange=[79.9, 79.9])
wrong = PatchReader(FileName=[samrai], SkipByValue=1, ValueArray="nothing", ValueRange=[79, 79])
try:
    wrong.UpdatePipeline()
except RuntimeError:
    pass
expect(all(leaf.GetNumberOfCells() == 0 for leaf in leaves(output_of(wrong))), "a name that is no variable's shows something")

# Merged blocks: the same surface again; without a ghost layer also on several ranks, because blocks end in the same places. With a
# layer, several ranks make other blocks, and layers are drawn twice.
for layer, value in ((0, value), (0, value + 4), (1, value)) if ranks == 1 else ((0, value), (0, value + 4)):
    chosen = {"SkipByValue": 1, "ValueArray": "f", "ValueRange": [value, value]}
    readers = [PatchReader(FileName=[path], AddGhostLayer=layer, **more) for more in ({}, chosen)]
    for made_of in (contour_of, contour_of_cells):
        surfaces = [all_triangles(made_of(reader, "f", value)) for reader in readers]
        expect(surfaces[0] == surfaces[1] and surfaces[0], "merged, layer %d, %s of %g: %d polygons, not %d", layer,
               made_of.__name__, value, len(surfaces[1]), len(surfaces[0]))
    expect(patches_of(readers[1]) < patches_of(readers[0]), "merged, contour of %g: everything was read", value)

finish("interest")

"""Compares the slice of Slice While Reading with values and areas that numpy computes, and with the filter Slice on the whole data.

usage: Testing/ParaView/pvbatch.sh NP slice_while_reading.py OUTPUT DATA REAL

Runs on every rank. OUTPUT gets plotfiles with an analytic field; DATA is the project's own folder, REAL the folder of data from
real codes.
"""
import glob
import os
import re
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "..", "Formats", "AMReX")]
from made_grids import Polygons, areas_in_boxes  # noqa: E402
from on_ranks import controller, expect, finish, from_all_ranks, leaves, output_of, rank, ranks, report_of, sum_over_ranks  # noqa: E402
from plotfile_writer import tiles, value, write_plotfile  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
OUTPUT, DATA, REAL = sys.argv[1:4]
SIZE = 32    # coarse cells along each axis; a fine box in the middle has as many
PLACE = 8.655    # place of planes in coarse cells, not on a face
CORNER, SPACING = np.array([0.25, 0.5, -0.25]), np.array([0.5, 0.25, 0.125])
NORMALS = ((1, 0, 0), (0, -1, 0), (0, 0, 1), (1, 0.7, 0.4), (0, 1, -2))


# ---- slices as rows ------------------------------------------------------------------------------------------

def names_in(data):
    names = [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]
    return sorted(name for name in names if name not in ("vtkGhostType", "rank"))


def columns(data, count):
    return np.concatenate([np.zeros((count, 0))] + [vtk_to_numpy(data.GetArray(n)).reshape(count, -1).astype(float) for n in names_in(data)], 1)


def rows_of(data):
    """Returns, for each polygon of this rank, the middle of its bounds, its area, its values, and the means of the values at its
    corners."""
    rows = []
    for leaf in leaves(data):
        expect(leaf.IsA("vtkPolyData"), "a %s in the output", leaf.GetClassName())
        if leaf.GetNumberOfCells():
            cells = Polygons(leaf)
            means = cells.means(columns(leaf.GetPointData(), leaf.GetNumberOfPoints()))
            rows.append(np.column_stack([(cells.low + cells.high) / 2, cells.sizes, columns(leaf.GetCellData(), len(cells.sizes)), means]))
    return np.concatenate(rows) if rows else np.zeros((0, 4))


def all_rows(proxy, time):
    """Collective: returns the rows of all ranks, sorted by place."""
    proxy.UpdatePipeline(time)
    rows = [part for part in from_all_ranks(rows_of(output_of(proxy))) if len(part)]
    rows = np.concatenate(rows) if rows else np.zeros((0, 4))
    return rows[np.lexsort(np.round(rows[:, :4], 6).T)] if len(rows) else rows


def compare_rows(found, other, where):
    """Compares the rows of the reader's slice and of the filter's."""
    same = found.shape == other.shape and (np.isnan(found) == np.isnan(other)).all()
    expect(same and (len(found) == 0 or np.nanmax(np.abs(found - other)) <= 1e-6 * np.nanmax(np.abs(other))),
           "%s: %s polygons, the filter: %s, or others", where, found.shape, other.shape)


def reader_of(path, normal, origin, **settings):
    reader = PatchReader(FileName=[path], Region="Plane", SliceWhileReading=1, Prefetch=0, **settings)
    reader.RegionOrigin, reader.RegionNormal = list(origin), list(normal)
    return reader


def slice_of(reader, normal, origin):
    cut = Slice(Input=reader, Triangulatetheslice=0)
    cut.SliceType.Origin, cut.SliceType.Normal = list(origin), list(normal)
    return cut


# ---- analytic data of two levels -------------------------------------------------------------------------------

def make_plotfile(name, **how):
    path, quarter = os.path.join(OUTPUT, name), SIZE // 2
    if rank == 0:
        levels = [tiles((0,) * 3, (SIZE - 1,) * 3, (16,) * 3), tiles((quarter,) * 3, (quarter + SIZE - 1,) * 3, (16,) * 3)]
        write_plotfile(path, ((0,) * 3, (SIZE - 1,) * 3), levels, ratios=[(2, 2, 2)], names=["f"], corner=list(CORNER), **how)
    controller.Barrier()
    return path


def area_in_box(low, high, normal, origin):
    return areas_in_boxes(low[None], high[None], normal, np.dot(normal, origin) / np.linalg.norm(normal))[0]


def expected_cell(place):
    """Returns the level and the cell of a place that is not on a face of cells. Fine cells hide coarse ones."""
    fine = np.floor((place - CORNER) / SPACING * 2).astype(int)
    level = int(((fine >= SIZE // 2) & (fine < SIZE // 2 + SIZE)).all())
    return level, fine if level else np.floor((place - CORNER) / SPACING).astype(int)


def check_values(rows, normal, origin, nodal, where):
    """Compares each polygon with the field, on rank 0."""
    low, high = CORNER, CORNER + SIZE * SPACING
    want = area_in_box(low, high, normal, origin)
    expect(abs(rows[:, 3].sum() - want) <= 1e-12 * want, "%s: area %.16g, not %.16g", where, rows[:, 3].sum(), want)
    worst = 0
    for row in rows[::7]:
        level, cell = expected_cell(row[:3])
        if not nodal:
            worst = max(worst, abs(row[4] - value(level, 0, cell)))
        elif np.count_nonzero(normal) == 1:    # the mean of the corners is the mean of the four edges
            axis = int(np.argmax(np.abs(normal)))
            t = (row[axis] - CORNER[axis]) / SPACING[axis] * (1 + level) - cell[axis]
            ends = []
            for end in (0, 1):
                corners = [cell + np.insert(np.array(c), axis, end) for c in np.ndindex(2, 2)]
                ends.append(np.mean([value(level, 0, c) for c in corners]))
            worst = max(worst, abs(row[4] - ((1 - t) * ends[0] + t * ends[1])))
    expect(worst <= 1e-9, "%s: values are off by %g", where, worst)


def check_plotfile(path, nodal):
    for blocks in ("Merged", "As patches"):
        everything = PatchReader(FileName=[path], Blocks=blocks)
        for normal in NORMALS:
            # A plane off the faces of both levels, on a face within a patch, and on a face at which a level begins.
            for cells in (PLACE, 12, 8) if np.count_nonzero(normal) == 1 else (PLACE,):
                origin = CORNER + cells * SPACING
                where = "%s, %s, normal %s, %g" % ("nodes" if nodal else "cells", blocks, normal, cells)
                reader = reader_of(path, normal, origin, Blocks=blocks)
                cut = slice_of(everything, normal, origin)
                found, other = all_rows(reader, 0.5), all_rows(cut, 0.5)
                compare_rows(found, other, where)
                if rank == 0 and cells == PLACE:
                    check_values(found, normal, origin, nodal, where)
                Delete(cut)
                Delete(reader)
        Delete(everything)


def check_bytes(path):
    """Checks that only the layer on the plane is read, once, if the order of the bytes allows this."""
    reader = reader_of(path, (0, 0, 1), CORNER + PLACE * SPACING)
    reader.UpdatePipeline(0.5)
    layer = 16 * 16 * 8    # bytes, of 4 coarse patches and 4 fine ones
    read = re.search(r"Bytes read: (.*) kB in (\d+) requests", report_of(reader))
    expect(read and float(read.group(1)) == round(8 * layer / 1000, 1) and int(read.group(2)) == 8, "not 8 layers were read: %s", report_of(reader))
    Delete(reader)


def check_memory():
    """Checks a slice of data of 8 times the memory limit. Without Slice While Reading, one rank cannot read the patches that the
    plane meets."""
    path, size, limit = os.path.join(OUTPUT, "large"), 128, 2    # MB; the data have 16.8 MB
    if rank == 0:
        write_plotfile(path, ((0,) * 3, (size - 1,) * 3), [tiles((0,) * 3, (size - 1,) * 3, (64,) * 3)], ratios=[], names=["f"], corner=list(CORNER))
    controller.Barrier()
    origin = CORNER + 60.31 * SPACING
    for normal in NORMALS:
        reader = reader_of(path, normal, origin, MemoryLimit=limit, CacheMemory=0)
        reader.UpdatePipeline(0.5)
        area = sum_over_ranks(rows_of(output_of(reader))[:, 3].sum())
        want = area_in_box(CORNER, CORNER + size * SPACING, normal, origin)
        expect(abs(area - want) <= 1e-9 * want, "with a memory limit, normal %s: area %g, not %g", normal, area, want)
        Delete(reader)


# ---- all formats ------------------------------------------------------------------------------------------------

def check_data_set(path, **settings):
    everything = PatchReader(FileName=[path], **settings)
    everything.UpdatePipelineInformation()
    times = everything.TimestepValues
    times = list(times) if hasattr(times, "__len__") and len(times) else [0.0]
    everything.UpdatePipeline(times[-1])
    bounds = sum(from_all_ranks([leaf.GetBounds() for leaf in leaves(output_of(everything)) if leaf.GetNumberOfCells()]), [])
    low, high = np.min(bounds, axis=0)[0::2], np.max(bounds, axis=0)[1::2]
    for normal in NORMALS:
        for part in (0.503, 0.0):
            origin = low + part * (high - low)
            reader, cut = reader_of(path, normal, origin, **settings), slice_of(everything, normal, origin)
            # At the first steps, patches of nodesum have different values at shared nodes.
            for time in times[-2:] if normal == NORMALS[-1] and "nodesum" not in path else times[-1:]:
                compare_rows(all_rows(reader, time), all_rows(cut, time), "%s %s, normal %s, %g" % (path[-40:], settings, normal, part))
            Delete(cut)
            Delete(reader)
    Delete(everything)


def check_formats():
    for name in ("linadv_2d", "linadv_3d"):
        for settings in (dict(), dict(AddGhostLayer=1, AddPatchIds=1, Blocks="As patches"), dict(ReadGhostCells=1)):
            check_data_set(os.path.join(DATA, name, "dumps.visit"), **settings)
    for pattern in ("samrai/ext_dense_3d/dumps.visit", "samrai/mblklinadv_wedge_3d/dumps.visit", "samrai/nodesum_3d/dumps.visit",
                    "amrex/amrex_adv3d/plt00010", "grads/grads_cola_model/model.ctl", "grads/grads_be_seq/*.ctl", "kwave/kwave13_corners/out.h5",
                    "kwave/kwave13_index/out.h5"):
        for path in glob.glob(os.path.join(REAL, pattern)):
            check_data_set(path)


def check_no_effect():
    """Checks that data that cannot be sliced are shown as blocks, with a note about the reason."""
    for path in glob.glob(os.path.join(REAL, "kwave", "kwave13_index", "out.h5")):
        reader = reader_of(path, (0, 0, 1), (0, 0, 0), PointLists="Points")
        reader.UpdatePipeline()
        expect("Slice While Reading has no effect" in report_of(reader), "points: no note says that they are not sliced")
        expect(not any(leaf.GetNumberOfPolys() for leaf in leaves(output_of(reader))), "points are sliced")


# ---- what comes after ---------------------------------------------------------------------------------------------

def check_pipeline(path):
    """Checks filters on a moving slice."""
    origin = CORNER + PLACE * SPACING
    reader = reader_of(path, (0, 0, 1), origin)
    reader.UpdatePipeline(0.5)
    data = output_of(reader)
    expect(data.IsA("vtkMultiBlockDataSet") and data.GetFieldData().GetArray("time").GetValue(0) == 0.5, "no multi-block data set with a time")
    twice = Calculator(Input=reader, AttributeType="Cell Data", Function="2*f", ResultArrayName="twice")
    total = IntegrateVariables(Input=twice, DivideCellDataByVolume=1)
    line = PlotOverLine(Input=twice, Point1=list(CORNER + [0.1, 0.1, PLACE * SPACING[2]]), Point2=list(CORNER + 15 * SPACING + [0, 0, (PLACE - 15) * SPACING[2]]))
    lines = Contour(Input=CellDatatoPointData(Input=reader), ContourBy=["POINTS", "f"], Isosurfaces=[1010.0])
    for step, normal in ((0, (0, 0, 1)), (1, (1, 0, 0)), (2, (1, 0.7, 0.4))):
        reader.RegionNormal = list(normal)
        for proxy in (total, line, lines):
            proxy.UpdatePipeline(0.5)
        rows = all_rows(reader, 0.5)
        sums = output_of(total)
        if rank == 0:
            want = area_in_box(CORNER, CORNER + SIZE * SPACING, normal, origin)
            area = sums.GetCellData().GetArray("Area").GetValue(0)
            mean = sums.GetCellData().GetArray("twice").GetValue(0)
            expect(abs(area - want) <= 1e-9 * want, "moved to %s: area %g, not %g", normal, area, want)
            expect(abs(mean - 2 * np.average(rows[:, 4], weights=rows[:, 3])) <= 1e-9 * abs(mean), "moved to %s: mean %g", normal, mean)
        cells = sum_over_ranks(float(sum(leaf.GetNumberOfCells() for leaf in leaves(output_of(lines)))))
        expect(cells > 0, "moved to %s: no contour lines", normal)
    saved = os.path.join(OUTPUT, "slice_%d.vtm" % ranks)
    SaveData(saved, proxy=reader)
    controller.Barrier()
    back = XMLMultiBlockDataReader(FileName=[saved])
    back.UpdatePipeline()
    area = sum_over_ranks(rows_of(output_of(back))[:, 3].sum())
    expect(abs(area - area_in_box(CORNER, CORNER + SIZE * SPACING, (1, 0.7, 0.4), origin)) < 1e-9 * area, "saved: area %g", area)
    reader.SliceWhileReading = 0
    reader.UpdatePipeline(0.5)
    expect(all(leaf.IsA("vtkUniformGrid") for leaf in leaves(output_of(reader))), "turned off: no blocks")


os.makedirs(OUTPUT, exist_ok=True)
cells = make_plotfile("cells")
check_plotfile(cells, False)
check_plotfile(make_plotfile("nodes", nodal=True), True)
check_bytes(cells)
check_memory()
check_formats()
check_no_effect()
check_pipeline(cells)
finish("slice_while_reading")

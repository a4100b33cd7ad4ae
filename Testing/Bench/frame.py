"""Draws one frame in one process of pvbatch: opens a file with one reader, and draws the requested images. Prints, as JSON, the
seconds of each stage and the numbers of blocks and of visible cells. suites/blocks.py runs it.

usage: pvbatch frame.py READER PATH ARRAY --pictures FOLDER [slice] [surface] [contour]    saves each image as NAME.png
       pvbatch frame.py READER PATH ARRAY --values FILE.npz    no images; saves the values of all visible cells
"""
import os
import sys
import time

import numpy
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

kind, path, array, task, target = sys.argv[1:6]
set_fast_extraction(kind == "own filters")    # the other readers are measured with ParaView's own filters and surfaces
wanted = sys.argv[6:]

# The readers that the suite compares, by their names in its table.
READERS = {
    "patches": lambda: patch_reader(path, "As patches"),
    "amrex": lambda: amrex_reader([os.path.dirname(path) if path.endswith("/Header") else path]),
    "merged": lambda: patch_reader(path),
    "own filters": lambda: patch_reader(path),
}

seconds = {}


def stage(name, work):
    begin = time.perf_counter()
    result = work()
    seconds[name] = time.perf_counter() - begin
    print("%-20s %8.3f s" % (name, seconds[name]), flush=True)
    return result


# ---- values --------------------------------------------------------------------------------------------------

def survey(reader):
    """Returns the numbers of blocks and of visible cells, their bounds, and the range of their values."""
    grids = grids_of(reader)
    values = numpy.concatenate([vtk_to_numpy(grid.GetCellData().GetArray(array))[seen_in(grid)] for grid in grids])
    bounds = numpy.array([grid.GetBounds() for grid in grids])
    return {"blocks": len(grids), "cells": len(values), "range": (float(values.min()), float(values.max())),
            "low": list(bounds[:, 0::2].min(axis=0)), "high": list(bounds[:, 1::2].max(axis=0))}


def write_values(reader, file):
    """Saves place, patch and value of all visible cells, sorted by place. The place is the number of the cell in
    the index space of its level, in which PatchIO's grids have their extents; "frames" has the origins and spacings of the levels.
    """
    places, patches, values, frames = [], [], [], set()
    for grid in grids_of(reader):
        level = grid.GetFieldData().GetArray("level").GetValue(0)
        extent = grid.GetExtent()
        i, j, k = (numpy.arange(extent[2 * axis], max(extent[2 * axis + 1], extent[2 * axis] + 1), dtype=numpy.int64)
                   + (1 << 19) for axis in range(3))
        place = (level << 60) + (k[:, None, None] << 40) + (j[None, :, None] << 20) + i[None, None, :]
        seen = seen_in(grid)
        places.append(place.ravel()[seen])
        patches.append(vtk_to_numpy(grid.GetCellData().GetArray("patch id"))[seen])
        values.append(vtk_to_numpy(grid.GetCellData().GetArray(array))[seen])
        frames.add((level,) + grid.GetOrigin() + grid.GetSpacing())
    places = numpy.concatenate(places)
    order = numpy.argsort(places, kind="stable")
    numpy.savez(file, places=places[order], patches=numpy.concatenate(patches)[order],
                values=numpy.concatenate(values)[order], frames=numpy.array(sorted(frames)))


# ---- drawing -------------------------------------------------------------------------------------------------

def draw(source, view, where, colours):
    display = show(source, view, where, array)
    # Without light, a face between two patches that is visible through a seam has the colour of its cell.
    display.Ambient, display.Diffuse = 1, 0
    GetColorTransferFunction(array).RescaleTransferFunction(*colours)
    Render(view)


def draw_slice(reader, view, facts):
    low, high = numpy.array(facts["low"]), numpy.array(facts["high"])

    def cut():
        source = plane_slice(reader, low + 0.511 * (high - low), [1, 0, 0])  # off the faces of cells and patches
        source.UpdatePipeline(facts["time"])
        return source

    source = stage("slice", cut)
    stage("image of the slice", lambda: draw(source, view, "CELLS", facts["range"]))
    return source


def draw_contour(reader, view, facts):
    def contour():
        nodes = CellDatatoPointData(Input=reader)
        source = Contour(Input=nodes, ContourBy=["POINTS", array], Isosurfaces=[sum(facts["range"]) / 2])
        source.UpdatePipeline(facts["time"])
        return source

    source = stage("contour", contour)
    stage("image of the contour", lambda: draw(source, view, "POINTS", facts["range"]))
    return source


def draw_surface(reader, view, facts):
    stage("surface and image", lambda: draw(reader, view, "CELLS", facts["range"]))
    return reader


def draw_stages(reader, facts):
    view = make_view()
    look_at(view, numpy.array([facts["low"], facts["high"]]).T.ravel())
    # The view shows the time that was read; otherwise, each image would execute all filters again.
    view.ViewTime = facts["time"]
    stage("empty image", lambda: Render(view))  # the first image pays for OpenGL
    for name, work in (("slice", draw_slice), ("surface", draw_surface), ("contour", draw_contour)):
        if name in wanted:
            shown = work(reader, view, facts)
            SaveScreenshot(os.path.join(target, name + ".png"), view)
            Hide(shown, view)


def open_and_read():
    """Returns the reader and the time that it shows."""
    reader = READERS[kind]()
    last = times_of(reader)[-1]
    reader.UpdatePipeline(last)
    return reader, last


if task == "--values":
    reader = READERS[kind]()
    reader.AddPatchIds = 1
    reader.UpdatePipeline()
    write_values(reader, target)
    print_json({})
else:
    reader, shown_time = stage("open and read", open_and_read)
    # ParaView gathers names, bounds and ranges before it uses the data.
    stage("information", lambda: reader.GetDataInformation().GetNumberOfCells())
    facts = dict(survey(reader), time=shown_time)
    draw_stages(reader, facts)
    print_json(dict(facts, seconds=seconds))

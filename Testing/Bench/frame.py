"""Draws one frame in one process of pvbatch: opens a file with one reader, and draws the requested images. Prints, as JSON, the
seconds of each stage and the numbers of blocks and of visible cells. suites/blocks.py runs it.

usage: pvbatch frame.py READER PATH ARRAY --pictures FOLDER [slice] [surface] [contour]    saves each image as NAME.png
       pvbatch frame.py READER PATH ARRAY --values FILE.npz    no images; saves the values of all visible cells
"""
import json
import os
import sys
import time

import numpy
import paraview.simple
from paraview import servermanager
from paraview.simple import *
from paraview.vtk import vtkDataSetAttributes
from vtkmodules.util.numpy_support import vtk_to_numpy

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
# The suite measures ParaView's own filters and surfaces.
servermanager.vtkSMParaViewPipelineController().UpdateSettingsProxies(servermanager.ActiveConnection.Session)
GetSettingsProxy("PatchIOSettings").FastExtraction = 0
kind, path, array, task, target = sys.argv[1:6]
wanted = sys.argv[6:]
HIDDEN = vtkDataSetAttributes.HIDDENCELL | vtkDataSetAttributes.REFINEDCELL | vtkDataSetAttributes.DUPLICATECELL


def all_of_amrex():
    """Returns ParaView's AMReX reader with all levels; its default is the coarsest level."""
    reader = AMReXBoxLibGridReader(FileNames=[os.path.dirname(path) if path.endswith("/Header") else path])
    reader.Level = 30
    reader.UpdatePipelineInformation()
    reader.CellArrayStatus = reader.CellArrayStatus.Available
    return reader


# The readers that the suite compares, by their names in its table.
READERS = {
    "patches": lambda: PatchReader(FileName=[path], ThreadMode="Fixed", ThreadsPerRank=os.cpu_count(), Blocks="As patches"),
    "amrex": lambda: all_of_amrex(),
    "merged": lambda: PatchReader(FileName=[path], ThreadMode="Fixed", ThreadsPerRank=os.cpu_count(), Blocks="Merged"),
}

seconds = {}


def stage(name, work):
    begin = time.perf_counter()
    result = work()
    seconds[name] = time.perf_counter() - begin
    print("%-20s %8.3f s" % (name, seconds[name]), flush=True)
    return result


# ---- values --------------------------------------------------------------------------------------------------

def grids_of(reader):
    iterator = reader.GetClientSideObject().GetOutputDataObject(0).NewIterator()
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        yield iterator.GetCurrentDataObject()
        iterator.GoToNextItem()


def visible(grid):
    """Returns one flag per cell, or None if all cells are visible."""
    ghosts = grid.GetCellData().GetArray(vtkDataSetAttributes.GhostArrayName())
    return None if ghosts is None else (vtk_to_numpy(ghosts) & HIDDEN) == 0


def survey(reader):
    """Returns the numbers of blocks and of visible cells, their bounds, and the range of their values."""
    blocks = cells = 0
    least, most = numpy.inf, -numpy.inf
    low, high = numpy.full(3, numpy.inf), numpy.full(3, -numpy.inf)
    for grid in grids_of(reader):
        values = vtk_to_numpy(grid.GetCellData().GetArray(array))
        seen = visible(grid)
        values = values if seen is None else values[seen]
        blocks += 1
        cells += len(values)
        if len(values):
            least, most = min(least, float(values.min())), max(most, float(values.max()))
        low, high = numpy.minimum(low, grid.GetBounds()[0::2]), numpy.maximum(high, grid.GetBounds()[1::2])
    return {"blocks": blocks, "cells": cells, "range": (least, most), "low": list(low), "high": list(high)}


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
        seen = visible(grid)
        seen = slice(None) if seen is None else seen
        places.append(place.ravel()[seen])
        patches.append(vtk_to_numpy(grid.GetCellData().GetArray("patch id"))[seen])
        values.append(vtk_to_numpy(grid.GetCellData().GetArray(array))[seen])
        frames.add((level,) + grid.GetOrigin() + grid.GetSpacing())
    places = numpy.concatenate(places)
    order = numpy.argsort(places, kind="stable")
    numpy.savez(file, places=places[order], patches=numpy.concatenate(patches)[order],
                values=numpy.concatenate(values)[order], frames=numpy.array(sorted(frames)))


# ---- drawing -------------------------------------------------------------------------------------------------

def make_view(low, high):
    """Returns a view of the whole data, from the side of the slice."""
    paraview.simple._DisableFirstRenderCameraReset()
    view = CreateRenderView(ViewSize=[800, 600])
    view.OrientationAxesVisibility = 0
    centre, size = (low + high) / 2, numpy.linalg.norm(high - low)
    view.CameraFocalPoint = list(centre)
    view.CameraPosition = list(centre + size * numpy.array([1.35, 0.7, 0.45]))
    view.CameraViewUp = [0, 0, 1]
    return view


def draw(source, view, where, colours):
    # By default, ParaView draws large data as outlines.
    display = Show(source, view)
    display.SetRepresentationType("Surface")
    ColorBy(display, (where, array))
    display.SetScalarBarVisibility(view, False)
    # Without light, a face between two patches that is visible through a seam has the colour of its cell.
    display.Ambient, display.Diffuse = 1, 0
    GetColorTransferFunction(array).RescaleTransferFunction(*colours)
    Render(view)


def draw_slice(reader, view, facts):
    low, high = numpy.array(facts["low"]), numpy.array(facts["high"])

    def cut():
        source = Slice(Input=reader, SliceType="Plane")
        source.SliceType.Origin = list(low + 0.511 * (high - low))  # off the faces of cells and patches
        source.SliceType.Normal = [1, 0, 0]
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
    view = make_view(numpy.array(facts["low"]), numpy.array(facts["high"]))
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
    reader.UpdatePipelineInformation()
    times = reader.TimestepValues
    times = times if hasattr(times, "__len__") else [times]
    last = times[-1] if len(times) else 0.0  # ParaView's AMReX reader has no times
    reader.UpdatePipeline(last)
    return reader, last


if task == "--values":
    reader = READERS[kind]()
    reader.AddPatchIds = 1
    reader.UpdatePipeline()
    write_values(reader, target)
    print("JSON {}")
else:
    reader, shown_time = stage("open and read", open_and_read)
    # ParaView gathers names, bounds and ranges before it uses the data.
    stage("information", lambda: reader.GetDataInformation().GetNumberOfCells())
    facts = dict(survey(reader), time=shown_time)
    draw_stages(reader, facts)
    print("JSON " + json.dumps(dict(facts, seconds=seconds)))

"""Tests that views draw the outer faces of blocks once, with the numbers of their cells, and the same picture as ParaView's own
filter.

usage: PATCHIO_PVBATCH_MODE=root Testing/ParaView/pvbatch.sh NP drawn_surfaces.py OUTDIR DATA...

Volumes and areas are compared with those that numpy computes for the visible cells. Missing files of DATA are left out.
"""
import os
import sys

import numpy as np
from paraview import servermanager
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from leaves import items_of, leaves, pixels_of, seen_in  # noqa: E402
from on_ranks import expect, failed, output_of  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
out, paths = sys.argv[1], [path for path in sys.argv[2:] if os.path.exists(path)]
alone = servermanager.vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions() == 1
os.makedirs(out, exist_ok=True)
# The GUI does this after loading a plugin.
servermanager.vtkSMParaViewPipelineController().UpdateSettingsProxies(servermanager.ActiveConnection.Session)
settings = GetSettingsProxy("PatchIOSettings")


def show(reader, fast):
    """Makes a view of the reader's surface, from two sides."""
    settings.FastExtraction = 1 if fast else 0
    view = CreateRenderView(ViewSize=[300, 300], OrientationAxesVisibility=0)
    display = Show(reader, view)
    display.SetRepresentationType("Surface With Edges")
    ColorBy(display, ("CELLS", reader.CellData[0].Name))
    return view, display


def picture_of(view, name, towards):
    view.CameraPosition = [focus + step for focus, step in zip(view.CameraFocalPoint, towards)]
    ResetCamera(view)
    path = os.path.join(out, name + ".png")
    SaveScreenshot(path, view)
    return pixels_of(path).reshape(-1, 3)


class Surface:
    """The drawn surface of one block."""

    def __init__(self, polygons, number):
        def data(attributes, name):
            return vtk_to_numpy(attributes.GetArray(name))[data_of == number]

        array = polygons.GetCellData().GetArray(0).GetName()
        positions = vtk_to_numpy(polygons.GetPoints().GetData()).astype(float)
        corners = vtk_to_numpy(polygons.GetPolys().GetConnectivityArray()).reshape(-1, 4)
        data_of = vtk_to_numpy(polygons.GetCellData().GetArray("vtkCompositeIndex"))
        self.array, self.quads = array, positions[corners[data_of == number]]
        self.values, self.cells = data(polygons.GetCellData(), array), data(polygons.GetCellData(), "vtkOriginalCellIds")
        data_of = vtk_to_numpy(polygons.GetPointData().GetArray("vtkCompositeIndex"))
        self.positions, self.points = positions[data_of == number], data(polygons.GetPointData(), "vtkOriginalPointIds")


def drawn(display):
    """Returns the drawn surfaces by the blocks' numbers in the tree. The pieces of a level are drawn as one."""
    tree = display.SMProxy.GetClientSideObject().GetActiveRepresentation().GetRenderedDataObject(0)
    found = {}
    for polygons in leaves(tree):
        if polygons.GetNumberOfCells():
            for number in np.unique(vtk_to_numpy(polygons.GetCellData().GetArray("vtkCompositeIndex"))):
                found[int(number)] = Surface(polygons, number)
    return found


def vector_areas(quads):
    return np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1]) / 2


def volume_within(quads):
    return float(np.sum(vector_areas(quads) * quads.mean(axis=1)) / 3)


def visible_volume(block):
    return float(np.prod(block.GetSpacing()) * seen_in(block).sum())


def check_numbers(name, blocks, surfaces):
    for number, surface in surfaces.items():
        block = blocks[number]
        expect(seen_in(block)[surface.cells].all(), "%s: a face of a hidden cell", name)
        values = vtk_to_numpy(block.GetCellData().GetArray(surface.array))
        expect(np.array_equal(surface.values, values[surface.cells], equal_nan=True), "%s: values of other cells", name)
        centres = surface.quads.mean(axis=1)
        for face in range(0, len(centres), max(len(centres) // 200, 1)):
            bounds = np.array(block.GetCell(int(surface.cells[face])).GetBounds()).reshape(3, 2)
            off = np.abs((centres[face] - bounds.mean(axis=1)) / (bounds[:, 1] - bounds[:, 0]))
            expect(np.allclose(sorted(off), [0, 0, 0.5], atol=1e-6), "%s: a face beside its cell", name)
        for point in range(0, len(surface.points), max(len(surface.points) // 200, 1)):
            there = block.GetPoint(int(surface.points[point]))
            expect(np.allclose(surface.positions[point], there, rtol=1e-6), "%s: another point", name)


def check_shape(name, blocks, surfaces, by_filter):
    """Checks that the surface is closed, and that there are no faces inside."""
    quads = np.concatenate([surface.quads for surface in surfaces.values()])
    areas = vector_areas(quads)
    extent = np.ptp(quads.reshape(-1, 3), axis=0)
    volume = sum(visible_volume(block) for block in blocks.values())
    expect(np.allclose(areas.sum(axis=0), 0, atol=1e-9 * np.prod(extent) ** (2 / 3)), "%s: the surface is open", name)
    expect(abs(volume_within(quads) - volume) < 1e-6 * volume, "%s: volume %.9g instead of %.9g", name, volume_within(quads), volume)
    if abs(np.prod(extent) - volume) < 1e-9 * volume:
        box = 2 * (extent[0] * extent[1] + extent[1] * extent[2] + extent[2] * extent[0])
        area = float(np.abs(areas).sum())
        expect(abs(area - box) < 1e-6 * box, "%s: area %.9g instead of %.9g", name, area, box)
        expect(abs(by_filter - box) < 1e-9 * box, "%s: Extract Surface has an area of %.12g instead of %.12g", name, by_filter, box)


def check_filter(name, reader, areas):
    """Checks that Extract Surface gives the same area for patches and for merged blocks, on any number of ranks."""
    surface = ExtractSurface(Input=reader)
    total = IntegrateVariables(Input=surface)
    total.UpdatePipeline()
    area = servermanager.Fetch(total)
    while area.IsA("vtkMultiBlockDataSet"):
        area = area.GetBlock(0)
    area = area.GetCellData().GetArray("Area").GetValue(0)
    areas.append(area)
    expect(abs(area - areas[0]) < 1e-9 * area, "%s: Extract Surface has an area of %.12g, of merged blocks %.12g", name, area, areas[0])
    Delete(total)
    Delete(surface)


def check_whole(name, display, view, blocks, surfaces):
    """Checks that each block is drawn completely if a block is hidden, and as wireframe."""
    for what, choice, usual in (("BlockSelectors", ["/Root/Block1"], ["/"]), ("Representation", "Wireframe", "Surface")):
        setattr(display, what, choice)
        Render(view)
        whole = drawn(display)
        expect(len(blocks) == 1 or sum(len(s.quads) for s in whole.values()) > sum(len(s.quads) for s in surfaces.values()), "%s: no more faces with another %s", name, what)
        for number, surface in whole.items():
            volume, found = visible_volume(blocks[number]), volume_within(surface.quads)
            expect(abs(found - volume) < 1e-6 * volume, "%s: volume %g of a block instead of %g", name, found, volume)
        setattr(display, what, usual)
    display.BlockSelectors = ["/Root"]    # like the Multi-block Inspector when all blocks are shown again
    Render(view)
    expect(sum(len(s.quads) for s in drawn(display).values()) == sum(len(s.quads) for s in surfaces.values()), "%s: faces that nobody sees", name)
    display.BlockSelectors = ["/"]


def compare_pictures(name, views, towards, slack=8):
    pictures = []
    for fast, (view, _) in enumerate(views):
        settings.FastExtraction = fast
        pictures.append(picture_of(view, "%s_%d" % (name, fast), towards))
    different = int((np.abs(pictures[0] - pictures[1]).max(axis=1) > slack).sum())
    expect(different <= len(pictures[0]) // 200, "%s: %d pixels are others than ParaView's", name, different)


def check_inside(name, views):
    """Checks that the faces between blocks are drawn only while they may be visible."""
    first = "/Root/" + reader.GetDataInformation().GetHierarchy().GetNodeName(1)
    for what, choice, usual in (("Opacity", 0.4, 1), ("BlockOpacities", [first, "0.2"], []), ("BlockOpacities", [first, "0"], [])):
        for _, display in views:
            setattr(display, what, choice)
        # Walls of neighbours lie in one plane, and their blending order changes colours a little.
        compare_pictures("%s_%s" % (name, what), views, (1, 0.7, 0.5), 16)
        for _, display in views:
            setattr(display, what, usual)
        Render(views[1][0])


for path in paths:
    areas = []
    for mode in ("Merged", "As patches"):
        name = os.path.basename(os.path.dirname(path)) + "_" + mode.split()[-1]
        reader = PatchReader(FileName=[path], Blocks=mode)
        reader.UpdatePipeline()
        views = [show(reader, fast) for fast in (False, True)]
        for side, towards in enumerate(((1, 0.7, 0.5), (-0.4, -1, -0.6))):
            compare_pictures("%s_%d" % (name, side), views, towards)
        if mode == "As patches":    # for merged blocks, ParaView leaves out faces beside hidden cells
            check_inside(name, views)
        check_filter(name, reader, areas)
        if alone:
            view, display = views[1]
            blocks, surfaces = dict(items_of(output_of(reader))), drawn(display)
            check_numbers(name, blocks, surfaces)
            check_shape(name, blocks, surfaces, areas[-1])
            check_whole(name, display, view, blocks, surfaces)
        for view, display in views:
            Delete(display)
            Delete(view)
        Delete(reader)
if failed:
    sys.exit("FAILED: see %s" % out)
print("passed: surfaces as views draw them of %d data sets" % len(paths))

"""Compares the results of filters on blocks with known geometry, in all modes, with and without a ghost layer.

usage: Testing/ParaView/pvbatch.sh NP filters_of_blocks.py DATA

Volumes and areas of slices and clips must be those of the domain, a box, and surfaces of clips must be closed: hidden, refined and
ghost cells must not count, and must not hide visible cells (clips.py has more checks). Thresholds on "patch id" must give the
patch, whole. Temporal Statistics of blocks that change must end in a message. Runs on every rank.
"""
import os
import sys

import numpy as np
from paraview.modules.vtkPVVTKExtensionsFiltersRendering import vtkPVGeometryFilter
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from leaves import flags_of  # noqa: E402
from on_ranks import DUPLICATECELL, expect, finish, leaves, output_of, patches_of_tree, rank, sum_over_ranks  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
SIZE = (1.0, 0.5, 0.5)    # size of the domain, which begins at 0
MIDDLE = [0.501, 0.243, 0.29]
path = os.path.join(sys.argv[1], "linadv_3d", "dumps.visit")


def drawn_area(proxy):
    """Returns the area of the faces that a view draws."""
    surface = vtkPVGeometryFilter()
    surface.SetUseOutline(0)
    surface.SetInputDataObject(output_of(proxy))
    surface.Update()
    area = 0.0
    for leaf in leaves(surface.GetOutputDataObject(0)):
        if leaf.GetNumberOfCells():
            sizes = vtkCellSizeFilter()
            sizes.SetInputData(leaf)
            sizes.Update()
            areas = vtk_to_numpy(sizes.GetOutput().GetCellData().GetArray("Area"))
            area += areas[flags_of(leaf.GetCellData(), len(areas)) & DUPLICATECELL == 0].sum()
    return sum_over_ranks(area)


def integral(source, name):
    """Returns the result of Integrate Variables."""
    sums = IntegrateVariables(Input=source)
    sums.UpdatePipeline(time)
    found = 0.0
    for leaf in leaves(output_of(sums)):
        array = leaf.GetCellData().GetArray(name)
        found += array.GetValue(0) if array and array.GetNumberOfTuples() else 0.0
    Delete(sums)
    return sum_over_ranks(found)


def near(found, want):
    return abs(found - want) < 1e-4 * max(1.0, abs(want))


# Settings; its volume; its surface.
A, B, C = SIZE
CLIPS = {
    "clip across": (dict(ClipType="Plane", Origin=MIDDLE, Normal=[1, 0, 0]), MIDDLE[0] * B * C,
                    2 * (MIDDLE[0] * (B + C) + B * C)),
    "clip along": (dict(ClipType="Plane", Origin=MIDDLE, Normal=[0, 0, 1]), A * B * MIDDLE[2],
                   2 * (MIDDLE[2] * (A + B) + A * B)),
    # The box has no edges in the domain, near which Clip cuts off too much.
    "clip by a box": (dict(ClipType="Box", Position=[0.3, -1, -1], Length=[0.4, 3, 3]), 0.4 * B * C,
                      2 * (0.4 * (B + C) + B * C)),
    "clip by values": (dict(ClipType="Scalar", Scalars=["CELLS", "uval"], Value=1e9), A * B * C,
                       2 * (A * B + B * C + A * C)),
}


def make_clip(source, ClipType, **settings):
    ours = {name: settings.pop(name) for name in list(settings) if name in ("Scalars", "Value")}
    clip = Clip(Input=source, ClipType=ClipType, Invert=1, **ours)
    for name, value in settings.items():
        setattr(clip.ClipType, name, value)
    clip.UpdatePipeline(time)
    return clip


def check_clips(reader, layer, where):
    for name, (settings, volume, surface) in CLIPS.items():
        clip = make_clip(reader, **settings)
        found = integral(clip, "Volume")
        expect(near(found, volume), "%s, %s: volume %g instead of %g", where, name, found, volume)
        area = drawn_area(clip)
        # PatchIO's clips have a surface for each level and each rank. ParaView's clips without a layer have one for each block.
        right = near(area, surface) if layer and settings["ClipType"] == "Scalar" else area > surface - 1e-4
        expect(right, "%s, %s: surface %g instead of %g", where, name, area, surface)
        Delete(clip)


def check_slice(reader, where):
    cut = Slice(Input=reader)
    cut.SliceType.Origin, cut.SliceType.Normal = MIDDLE, [0, 1, 0]
    cut.UpdatePipeline(time)
    found = integral(cut, "Area"), drawn_area(cut)
    expect(near(found[0], A * C) and near(found[1], A * C), "%s: area of a slice %g, drawn %g, instead of %g", where, *found, A * C)
    Delete(cut)


def check_whole(reader, layer, where):
    bounds = [leaf.GetBounds() for leaf in leaves(output_of(reader))]
    expect((np.min(bounds, 0)[0::2] > -1e-9).all() and (np.max(bounds, 0)[1::2] < np.array(SIZE) + 1e-9).all(), "%s: blocks reach out of the domain", where)
    volume, area = integral(reader, "Volume"), drawn_area(reader)
    expect(near(volume, A * B * C), "%s: volume %g", where, volume)
    surface = 2 * (A * B + B * C + A * C)
    expect(near(area, surface) if layer else area > surface - 1e-4, "%s: surface %g instead of %g", where, area, surface)


# ---- patches --------------------------------------------------------------------------------------------

def patches_seen():
    """Returns {patch: (visible cells, area of their surface)} for this rank's patches, counted face by face."""
    reader = PatchReader(FileName=[path], Blocks="As patches", AddPatchIds=1)
    reader.UpdatePipeline(time)
    found = {}
    for patch, leaf in patches_of_tree(output_of(reader)).items():
        shape = tuple(n - 1 for n in leaf.GetDimensions()[::-1])
        seen = (flags_of(leaf.GetCellData(), leaf.GetNumberOfCells()) == 0).reshape(shape)
        padded = np.pad(seen, 1)
        faces = sum((padded != np.roll(padded, 1, axis)).sum() for axis in range(3))
        found[patch] = int(seen.sum()), float(faces) * leaf.GetSpacing()[0] ** 2
    Delete(reader)
    return found


def check_threshold(reader, patch, want, where):
    cells = Threshold(Input=reader, Scalars=["CELLS", "patch id"], LowerThreshold=patch - 0.5, UpperThreshold=patch + 0.5)
    cells.UpdatePipeline(time)
    number = sum_over_ranks(float(output_of(cells).GetNumberOfCells()))
    expect(number == want[0], "%s, patch %d: %d cells instead of %d", where, patch, number, want[0])
    area = drawn_area(cells)
    # A patch in several blocks has walls between the blocks.
    expect(near(area, want[1]) or (area > want[1] and "up to" in where), "%s, patch %d: surface %g instead of %g", where, patch, area, want[1])
    Delete(cells)


# ---- time -----------------------------------------------------------------------------------------------

MOVING = """
from vtkmodules.vtkCommonDataModel import vtkUniformGrid
time = self.GetOutputInformation(0).Get(vtk.vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP())
grid = vtkUniformGrid()
grid.SetOrigin(time, 0, 0)
grid.SetDimensions(3, 3, 3)
self.GetOutput().SetBlock(0, grid)
"""
MOVING_TIMES = """
keys, info = vtk.vtkStreamingDemandDrivenPipeline, self.GetOutputInformation(0)
info.Set(keys.TIME_STEPS(), [0.0, 1.0], 2)
info.Set(keys.TIME_RANGE(), [0.0, 1.0], 2)
"""


def statistics_of(source):
    """Returns the filter, and its messages on this rank."""
    filter, said = TemporalStatistics(Input=source), []
    filter.GetClientSideObject().AddObserver("ErrorEvent", lambda *about: said.append(1))
    filter.UpdatePipeline(time)
    return filter, len(said)


def values_of(proxy, name):
    return [vtk_to_numpy(leaf.GetPointData().GetArray(name) or leaf.GetCellData().GetArray(name)).copy() for leaf in leaves(output_of(proxy))]


def check_message(source, where):
    filter, said = statistics_of(source)
    expect(said == (rank == 0) and not leaves(output_of(filter)), "statistics, %s: %d messages, %d blocks", where, said, len(leaves(output_of(filter))))
    Delete(filter)


def check_average(source, where):
    steps = []
    for step in reader.TimestepValues:
        source.UpdatePipeline(step)
        steps.append(values_of(source, "uval"))
    filter, said = statistics_of(source)
    found = values_of(filter, "uval_average")
    same = len(found) == len(steps[0]) and all(np.allclose(a, np.mean(b, 0), equal_nan=True) for a, b in zip(found, zip(*steps)))
    expect(same and not said, "statistics, %s: %d blocks, not those of numpy", where, len(found))
    expect(sum_over_ranks(float(sum(map(len, found)))) > 100, "statistics, %s: empty", where)
    Delete(filter)


def check_statistics():
    for blocks in ("Merged", "As patches"):
        reader.Blocks, reader.LevelRange = blocks, [0, 99]
        check_message(reader, blocks.lower())
        reader.LevelRange = [0, 0]
        check_average(reader, blocks.lower())
    reader.LevelRange = [0, 99]
    check_average(ResampleToImage(Input=reader, SamplingDimensions=[12, 7, 8]), "resampled")
    moving = ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet", Script=MOVING, ScriptRequestInformation=MOVING_TIMES)
    check_message(moving, "blocks that move")


# ---- all of it ------------------------------------------------------------------------------------------

MODES = [dict(Blocks="As patches"), dict(Blocks="Merged"),
         dict(Blocks="Merged up to Maximum Block Cells", MaximumBlockCells=700)]
reader = PatchReader(FileName=[path], AddPatchIds=1)
time = reader.TimestepValues[2]
mine = patches_seen()
chosen = {}
for patch in range(0, 48, 7):    # some patches of each level; the same on all ranks
    chosen[patch] = tuple(sum_over_ranks(float(x)) for x in mine.get(patch, (0, 0)))
for mode in MODES:
    for layer in (0, 1):
        for name, value in mode.items():
            setattr(reader, name, value)
        reader.AddGhostLayer = layer
        reader.UpdatePipeline(time)
        where = "%s%s" % (mode["Blocks"].lower(), ", ghost layer" if layer else "")
        check_whole(reader, layer, where)
        check_slice(reader, where)
        check_clips(reader, layer, where)
        for patch, want in chosen.items():
            check_threshold(reader, patch, want, where)
reader.AddGhostLayer = 0
check_statistics()
finish("filters")

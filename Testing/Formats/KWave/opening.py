"""Tests the grids and arrays that the reader offers for k-Wave files, and that no array is read twice.

usage: Testing/ParaView/pvbatch.sh 1 opening.py CASESDIR
"""
import os
import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../ParaView"))
from on_ranks import expect, finish, report_of  # noqa: E402


def shown_arrays(tree):
    """Returns level -> names of (cell arrays, point arrays) of its first piece. Arrays with only NaN have a leading "-"."""
    def names(data):
        return sorted(("-" if np.isnan(vtk_to_numpy(data.GetArray(i))).all() else "") + data.GetArrayName(i)
                      for i in range(data.GetNumberOfArrays()) if data.GetArrayName(i) != "vtkGhostType")
    shown = {}
    for b in range(tree.GetNumberOfBlocks()):
        if tree.GetBlock(b).GetNumberOfPieces():
            piece = tree.GetBlock(b).GetPieceAsDataObject(0)
            shown[tree.GetMetaData(b).Get(tree.NAME())] = names(piece.GetCellData()), names(piece.GetPointData())
    return shown


def check_grids(kwave):
    """Checks that one grid is shown by default. If all grids are shown, they have the same arrays."""
    series, whole = ["p", "p_max"], ["p_final"]
    reader = simple.PatchReader(FileName=[kwave])
    reader.UpdatePipelineInformation()
    reader.UpdatePropertyInformation()
    choices = list(reader.GetPropertyValue("GridNames"))
    expect(choices == ["Automatic", "sensor", "domain", "All"], "Grids may be %s", choices)
    pairs = list(reader.GetPropertyValue("ArraysOfGrids"))
    of_grids = {(pairs[i], pairs[i + 1]) for i in range(0, len(pairs), 2)}
    # k-Wave writes p_final, p_max_all and similar arrays for the whole domain, and all others for the sensor.
    names = reader.GetProperty("CellArrayInfo")[::2]
    want = {("domain" if name.endswith(("_final", "_all")) else "sensor", name) for name in names}
    expect(of_grids == want, "arrays of the grids: %s instead of %s", of_grids, want)
    blanks = lambda names: ["-" + n for n in names]
    image, points = dict(PointLists="Automatic"), dict(PointLists="Points")
    for settings, arrays, want in (
            (image, series + whole, {"sensor": (series, [])}),
            (points, series + whole, {"sensor": ([], series)}),
            (dict(image, Grids="domain"), series + whole, {"domain": (whole, [])}),
            (dict(image, Grids="Automatic"), whole, {"domain": (whole, [])}),
            (dict(points, Grids="All"), series + whole,
             {"sensor": (blanks(whole), series), "domain": (whole, blanks(series))}),
            (dict(image, Grids="All"), series + whole,
             {"sensor": (sorted(blanks(whole) + series), []), "domain": (sorted(blanks(series) + whole), [])}),
            (dict(image, Grids="All", PartialArrays=1), series + whole,
             {"sensor": (series, []), "domain": (whole, [])})):
        for name, value in dict(dict(PartialArrays=0, Grids="Automatic"), **settings).items():
            setattr(reader, name, value)
        reader.CellArrayStatus = arrays
        for step in (1, 2, 1):  # grids are kept from step to step
            reader.UpdatePipeline(reader.TimestepValues[step])
            found = shown_arrays(reader.GetClientSideObject().GetOutputDataObject(0))
            expect(found == want, "%s, arrays %s: %s instead of %s", settings, arrays, found, want)
    simple.Delete(reader)


def check_far_points(kwave):
    """Checks that far points do not become an image, which would be much larger than the points; nor at later steps, whose grids
    are reused."""
    reader = simple.PatchReader(FileName=[kwave], PointLists="Automatic")
    reader.UpdatePipelineInformation()
    reader.CellArrayStatus = ["p"]
    for step in (0, 1, 2, 1):
        reader.UpdatePipeline(reader.TimestepValues[step])
        found = shown_arrays(reader.GetClientSideObject().GetOutputDataObject(0))
        expect(found == {"sensor": ([], ["p"])}, "points that are far apart, step %d: %s", step, found)
    simple.Delete(reader)


def check_cache(kwave):
    """Checks that steps and arrays that were shown before are not read again."""
    reader = simple.PatchReader(FileName=[kwave], PointLists="Points", Grids="All", PartialArrays=1)
    reader.UpdatePipelineInformation()
    every = sorted(set(reader.GetProperty("CellArrayStatus").Available))
    for number, (arrays, step) in enumerate(((every, 0), (every, 1), (every, 2), (every, 0), (every[1:], 1), (every, 1), (every[:-1], 2), (every, 2))):
        reader.CellArrayStatus = arrays
        reader.UpdatePipeline(reader.TimestepValues[step])
        report = report_of(reader)
        expect(("Read tasks: 0" in report) == (number > 2), "%s, %d arrays at step %d: %s", kwave, len(arrays), step, report)
    simple.Delete(reader)


def main(cases):
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    kwave = os.path.join(cases, "index", "out.h5")
    check_grids(kwave)
    for name in ("index", "corners"):
        check_cache(os.path.join(cases, name, "out.h5"))
    check_far_points(os.path.join(cases, "far.h5"))
    reader = simple.PatchReader(FileName=[kwave], Grids="All", PointLists="Points", PartialArrays=1)
    reader.UpdatePipelineInformation()
    offered = list(reader.GetProperty("CellArrayStatus").Available)
    expect(sorted(offered) == sorted(["Ix_avg", "p", "p_final", "p_max", "p_max_all", "p_rms", "ux", "uy_non_staggered"]),
           "offered: %s", offered)
    reader.CellArrayStatus = ["p", "p_final"]
    for step in (0, 3, 1):
        reader.UpdatePipeline(reader.TimestepValues[step])
        tree = reader.GetClientSideObject().GetOutputDataObject(0)
        domain, sensor = tree.GetBlock(0).GetPieceAsDataObject(0), tree.GetBlock(1).GetPieceAsDataObject(0)
        names = [[d.GetArrayName(i) for i in range(d.GetNumberOfArrays()) if d.GetArrayName(i) != "vtkGhostType"] for d in (domain.GetCellData(), sensor.GetPointData())]
        expect(names == [["p_final"], ["p"]], "arrays %s", names)
    reader.CellArrayStatus = ["p_max"]    # other arrays at the same step: the cache does not have them
    reader.UpdatePipeline(reader.TimestepValues[1])
    tree = reader.GetClientSideObject().GetOutputDataObject(0)
    expect(tree.GetBlock(1).GetPieceAsDataObject(0).GetPointData().HasArray("p_max"), "p_max is missing")
    expect(tree.GetBlock(0).GetNumberOfPieces() == 0, "the domain is shown, though none of its arrays is chosen")
    reader.UpdatePipeline(reader.TimestepValues[2])    # now the cache has all arrays
    expect(tree.GetBlock(1).GetPieceAsDataObject(0).GetPointData().HasArray("p_max"), "p_max is missing at the next step")
    expect("Read tasks: 0" in report_of(reader), "steady arrays are read again: %s", report_of(reader))

    def shown(arrays, levels=(0, 99)):
        """Returns which of domain and sensor are shown."""
        reader.CellArrayStatus, reader.LevelRange = arrays, list(levels)
        reader.UpdatePipeline(reader.TimestepValues[2])
        return [tree.GetBlock(b).GetNumberOfPieces() > 0 for b in range(2)]
    for arrays, levels, wanted in ((["p_final"], (0, 99), [True, False]), ([], (0, 99), [True, True]),
                                   (["p_final", "p"], (1, 1), [False, True]), (["p"], (0, 0), [True, False])):
        found = shown(arrays, levels)
        expect(found == wanted, "arrays %s, levels %s: %s is shown instead of %s", arrays, levels, found, wanted)


main(sys.argv[1])
finish("k-Wave: opening")

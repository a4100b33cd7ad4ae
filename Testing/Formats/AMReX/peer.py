"""Compares the output of Patch Reader for plotfiles with that of ParaView's own reader, and checks which reader ParaView chooses.

usage: Testing/ParaView/pvbatch.sh 1 Testing/Formats/AMReX/peer.py FOLDER
"""
import glob
import os
import sys

import numpy as np
from paraview import servermanager, simple
from vtkmodules.util.numpy_support import vtk_to_numpy

# ParaView 5.11's reader supports only headers of version 1, without ghosts, gaps and nodes (it crashes, or gives wrong data), names
# without blanks, and one refinement ratio for all axes. It uses the domain's corner as the position of index 0.
BEYOND_IT = ("headers_", "no_headers", "hv2", "hv3", "hv4", "ghosts_", "odd_headers", "nodes_", "aniso_", "blank_names",
             "offset_3d")


def its_blocks(path):
    reader = simple.AMReXBoxLibGridReader(FileNames=[path])
    reader.Level = 30
    reader.UpdatePipelineInformation()
    times = list(np.atleast_1d(np.asarray(reader.TimestepValues, float)))
    reader.CellArrayStatus = reader.CellArrayStatus.Available
    reader.UpdatePipeline()
    output = reader.GetClientSideObject().GetOutputDataObject(0)
    blocks = [[output.GetDataSet(level, i) for i in range(output.GetNumberOfDataSets(level))] for level in range(output.GetNumberOfLevels())]
    return blocks, times


def our_blocks(path):
    reader = simple.PatchReader(FileName=[path], Blocks="As patches", ListedDumpsOnly=1, ComposeVectors=0)
    reader.UpdatePipeline()
    output = reader.GetClientSideObject().GetOutputDataObject(0)
    levels = [output.GetBlock(level) for level in range(output.GetNumberOfBlocks())]
    blocks = [[level.GetPieceAsDataObject(i) for i in range(level.GetNumberOfPieces())] for level in levels]
    return blocks, list(np.atleast_1d(np.asarray(reader.TimestepValues, float)))


def arrays_of(grid):
    data = grid.GetCellData()
    names = [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]
    return {n: vtk_to_numpy(data.GetAbstractArray(n)) for n in names if n != "vtkGhostType"}


def compare(path):
    """Returns the number of values compared; exits on a difference."""
    (its, its_times), (ours, our_times) = its_blocks(path), our_blocks(path)
    assert its_times in ([], our_times), "%s: times %s, its %s" % (path, our_times, its_times)
    assert [len(level) for level in its] == [len(level) for level in ours], path
    compared = 0
    for level, (its_level, our_level) in enumerate(zip(its, ours)):
        for number, (its_grid, our_grid) in enumerate(zip(its_level, our_level)):
            where = "%s level %d patch %d" % (path, level, number)
            want, found = arrays_of(its_grid), arrays_of(our_grid)
            assert sorted(want) == sorted(found), "%s: %s, its %s" % (where, sorted(found), sorted(want))
            bounds = np.array(its_grid.GetBounds()), np.array(our_grid.GetBounds())
            assert np.allclose(*bounds, rtol=1e-12, atol=1e-12), "%s: bounds %s, its %s" % (where, bounds[1], bounds[0])
            for name in want:
                assert np.array_equal(want[name].astype(float), found[name].astype(float)), "%s '%s' differs" % (where, name)
                compared += found[name].size
    return compared


def check_factory(folder):
    """Checks the choice of readers. For a plotfile's folder, ParaView offers both readers, its own first; for its Header, only
    Patch Reader."""
    factory = servermanager.vtkSMProxyManager.GetProxyManager().GetReaderFactory()
    session = servermanager.ActiveConnection.Session

    def readers(path):
        found = factory.GetReaders(path, session)
        strings = [found.GetString(i) for i in range(found.GetNumberOfStrings())]
        return [strings[i + 1] for i in range(0, len(strings), 3)]
    offered = readers(folder)
    assert "PatchReader" in offered and "AMReXGridReader" in offered, "%s: %s" % (folder, offered)
    assert offered.index("AMReXGridReader") < offered.index("PatchReader"), "%s: %s" % (folder, offered)
    assert factory.CanReadFile(folder, session) and factory.GetReaderName() == "AMReXGridReader", factory.GetReaderName()
    assert factory.CanReadFile(folder + "/Header", session) and factory.GetReaderName() == "PatchReader", factory.GetReaderName()
    foreign = os.path.join(os.environ.get("TMPDIR", "/tmp"), "patchio_peer_%d" % os.getpid(), "Header")
    os.makedirs(os.path.dirname(foreign))
    with open(foreign, "w") as file:
        file.write("something else\n")
    assert "PatchReader" not in readers(foreign), "a foreign Header is taken"
    os.remove(foreign)
    os.rmdir(os.path.dirname(foreign))


def main():
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    headers = sorted(glob.glob(sys.argv[1] + "/**/Header", recursive=True))
    folders = [os.path.dirname(h) for h in headers if os.path.exists(os.path.join(os.path.dirname(h), "Level_0", "Cell_H"))]
    mine = [f for f in folders if not any(part in f for part in BEYOND_IT)]
    values = sum(compare(folder) for folder in mine)
    check_factory(next(f for f in mine if os.path.basename(f).startswith("plt")))
    print("peer: %d plotfiles, %d values equal" % (len(mine), values))
    assert values > 0


main()

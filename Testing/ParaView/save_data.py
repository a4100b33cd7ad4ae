"""Saves the output of the reader in containers, which must return the same levels, blocks, arrays and values.

usage: Testing/ParaView/pvbatch.sh NP save_data.py OUTPUT FILE...

Runs on every rank.
"""
import os
import sys
import zlib

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "Container"))
import stranger  # noqa: E402
from on_ranks import expect, finish, from_all_ranks, new_container, output_of, ranks  # noqa: E402

KINDS = {"None": {"none"}, "Deflate": {"deflate"}, "Zstandard": {"zstd"}, "Automatic": {"deflate"}}

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
scratch = sys.argv[1]
os.makedirs(scratch, exist_ok=True)


def of_array(array):
    values = vtk_to_numpy(array)
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), values.dtype.type(np.nan), values)    # all NaN count as equal
    return [str(values.dtype), array.GetNumberOfComponents(), zlib.crc32(values.tobytes())]


def of_grid(grid):
    """Returns all properties of a grid that a user can see."""
    found = {"class": grid.GetClassName(), "extent": grid.GetExtent(), "bounds": grid.GetBounds(),
             "field data": [[grid.GetFieldData().GetArrayName(i), vtk_to_numpy(grid.GetFieldData().GetArray(i)).tolist()]
                            for i in range(grid.GetFieldData().GetNumberOfArrays()) if grid.GetFieldData().GetArrayName(i) != "rank"]}
    for kind, attributes in (("cells", grid.GetCellData()), ("points", grid.GetPointData())):
        arrays = [attributes.GetArray(i) for i in range(attributes.GetNumberOfArrays())]
        found[kind] = {array.GetName(): of_array(array) for array in arrays}
    return found


def everything(proxy):
    """Returns {name of level/number of piece/name of piece: contents} of all ranks, on each rank."""
    tree, mine = output_of(proxy), {}
    for level in range(tree.GetNumberOfBlocks()):
        pieces = tree.GetBlock(level)
        for piece in range(pieces.GetNumberOfPieces()):
            if pieces.GetPieceAsDataObject(piece):
                names = [block.GetMetaData(i).Get(block.NAME()) for block, i in ((tree, level), (pieces, piece))]
                mine["%s/%d/%s" % (names[0], piece, names[1])] = of_grid(pieces.GetPieceAsDataObject(piece))
    return {name: contents for part in from_all_ranks(mine) for name, contents in part.items()}


def difference(a, b):
    """Returns a text about the first difference, or None."""
    for key in sorted(set(a) | set(b)):
        if key not in a or key not in b:
            return "%s is %s" % (key, "missing" if key in a else "too much")
        if a[key] != b[key]:
            return "%s: %s" % (key, difference(a[key], b[key])) if isinstance(a[key], dict) else "%s: %s, not %s" % (key, b[key], a[key])
    return None


def check_file(path, properties, compression="None"):
    """Checks all time steps of a file."""
    name = "_".join(path.split("/")[-3:])
    reader = PatchReader(FileName=[path], **properties)
    reader.UpdatePipeline()
    copy = new_container(scratch, name)
    SaveData(copy, proxy=reader, WriteTimeSteps=1, Compression=compression)
    kinds = {place.get("compression", "none") for step in stranger.read(copy) for place in step.json["data sets"]}
    expect(kinds == KINDS[compression], "%s: %s is %s", name, compression, kinds)
    back = PatchReader(FileName=[copy], **properties)
    expect(back.TimestepValues[:] == reader.TimestepValues[:], "%s: times %s, not %s", name, back.TimestepValues[:], reader.TimestepValues[:])
    for time in reader.TimestepValues[:]:
        reader.UpdatePipeline(time)
        back.UpdatePipeline(time)
        saved, found = everything(reader), everything(back)
        expect(len(saved) > 0, "%s: nothing at time %g", name, time)
        wrong = difference(saved, found)
        expect(wrong is None, "%s at time %g on %d ranks: %s", name, time, ranks, wrong)
    Delete(back)
    Delete(reader)


for file in sys.argv[2:]:
    check_file(file, {"Blocks": "As patches", "Grids": "All"})
for kind in list(KINDS)[1:]:
    check_file(sys.argv[2], {"Blocks": "As patches", "Grids": "All"}, kind)
finish("save_data")

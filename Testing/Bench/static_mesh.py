"""Draws all steps of a mesh that stays the same, and of one that is made anew at each step, and prints the seconds of the images after
the first one as JSON.

usage: pvbatch static_mesh.py FILE.VTKHDF CELLS

FILE.VTKHDF is made if it is missing: CELLS^3 hexahedra, 8 steps.
"""
import json
import os
import sys
import time

import numpy as np
from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
STEPS = 8
# A new list of points is a new mesh for VTK.
NEW_MESH = """
data = self.GetOutputDataObject(0)
data.ShallowCopy(self.GetInputDataObject(0, 0))
iterator = data.NewIterator()
while not iterator.IsDoneWithTraversal():
    grid = iterator.GetCurrentDataObject()
    points, copy = grid.GetPoints().NewInstance(), grid.NewInstance()
    points.ShallowCopy(grid.GetPoints())
    copy.ShallowCopy(grid)
    copy.SetPoints(points)
    data.SetDataSet(iterator, copy)
    iterator.GoToNextItem()
"""


def write(path, cells):
    import h5py
    z, y, x = np.meshgrid(*[np.arange(cells + 1)] * 3, indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), z.ravel()]).astype("f4")
    k, j, i = np.meshgrid(*[np.arange(cells)] * 3, indexing="ij")
    first = (i + (cells + 1) * (j + (cells + 1) * k)).ravel()
    below = np.array([0, 1, cells + 2, cells + 1])
    corners = (first[:, None] + np.concatenate([below, below + (cells + 1) ** 2])).ravel()
    with h5py.File(path, "w") as file:
        group = file.create_group("VTKHDF")
        group.attrs["Version"] = np.array([2, 0])
        group.attrs.create("Type", b"UnstructuredGrid", dtype=h5py.string_dtype("ascii", 16))
        for name, count in (("NumberOfPoints", len(points)), ("NumberOfCells", len(first)), ("NumberOfConnectivityIds", len(corners))):
            group[name] = np.array([count])
        group["Points"], group["Connectivity"] = points, corners
        group["Offsets"], group["Types"] = np.arange(0, len(corners) + 1, 8), np.full(len(first), 12, "u1")
        group["PointData/v"] = np.concatenate([np.sin(points @ [0.1, 0.07, 0.05] + step) for step in range(STEPS)]).astype("f4")
        steps = group.create_group("Steps")
        steps.attrs["NSteps"] = STEPS
        steps["Values"], steps["NumberOfParts"] = np.arange(STEPS, dtype="f8"), np.ones(STEPS, "i8")
        for name, shape in (("PartOffsets", STEPS), ("PointOffsets", STEPS), ("CellOffsets", (STEPS, 1)), ("ConnectivityIdOffsets", (STEPS, 1))):
            steps[name] = np.zeros(shape, "i8")
        steps["PointDataOffsets/v"] = np.arange(STEPS) * len(points)


def seconds_of_images(path, cells, is_kept, is_slice):
    reader = PatchReader(FileName=[path])
    source = reader if is_kept else ProgrammableFilter(Input=reader, Script=NEW_MESH)
    shown = source
    if is_slice:
        shown = Slice(Input=source)
        shown.SliceType.Origin, shown.SliceType.Normal = [cells / 2] * 3, [1, 0.7, 0.4]
    view = CreateView("RenderView")
    ColorBy(Show(shown, view), ("POINTS", "v"))
    found = []
    for moment in reader.TimestepValues:
        view.ViewTime = moment
        source.UpdatePipeline(moment)
        begin = time.perf_counter()
        Render(view)
        found.append(time.perf_counter() - begin)
    Delete(view)
    return sum(found[1:])


path, cells = sys.argv[1], int(sys.argv[2])
if not os.path.exists(path):
    write(path, cells)
print("JSON " + json.dumps({"%s, %s" % (what, mesh): seconds_of_images(path, cells, mesh == "kept", what == "slice")
                            for what in ("surface", "slice") for mesh in ("kept", "new")}))

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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "VTKHDF"))
import meshes  # noqa: E402

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
    writer = meshes.Writer(path, "UnstructuredGrid", several=True)
    parts = [meshes.box((0, 0, 0), (cells,) * 3)]
    for step in range(STEPS):
        writer.step(float(step), parts, {"v": ("PointData", lambda mesh, moment: np.sin(mesh.points @ [0.1, 0.07, 0.05] + moment).astype("f4"))})
    writer.close()


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

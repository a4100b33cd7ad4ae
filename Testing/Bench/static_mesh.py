"""Draws all steps of a mesh that stays the same, and of one that is made anew at each step, and prints the seconds of the images after
the first one as JSON.

usage: pvbatch static_mesh.py FILE.VTKHDF CELLS

FILE.VTKHDF is made if it is missing: CELLS^3 hexahedra, 8 steps.
"""
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Formats", "VTKHDF")]
import meshes  # noqa: E402
from in_paraview import *  # noqa: E402

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
    shown = plane_slice(source, [cells / 2] * 3, [1, 0.7, 0.4]) if is_slice else source
    view = CreateView("RenderView")
    ColorBy(Show(shown, view), ("POINTS", "v"))
    found = []
    for moment in reader.TimestepValues:
        view.ViewTime = moment
        source.UpdatePipeline(moment)
        found.append(timed(Render, view))
    Delete(view)
    return sum(found[1:])


path, cells = sys.argv[1], int(sys.argv[2])
if not os.path.exists(path):
    write(path, cells)
print_json({"%s, %s" % (what, mesh): seconds_of_images(path, cells, mesh == "kept", what == "slice")
            for what in ("surface", "slice") for mesh in ("kept", "new")})

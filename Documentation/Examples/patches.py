"""Draws the patches of 3-D data as boxes, cut open around the surface where a variable has the middle of its range.

    mpirun -np 2 pvbatch patches.py DATA PICTURE.PNG [VARIABLE]

VARIABLE is a scalar on cells, by default the first. The image in README.md shows 16,919 patches of a SAMRAI run.
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
import paraview.simple
from paraview.simple import *

COLOURS = [(0.27, 0.38, 0.55), (0.16, 0.62, 0.68), (0.98, 0.75, 0.30), (0.66, 0.83, 0.45)]  # of the levels, in turn
SURFACE = [0.95, 0.36, 0.27]

# This filter runs on every rank and makes eight corners and six faces for each visible patch. It omits finer levels in the quarter
# that faces the camera, and level 0 everywhere except on the floor and at the back. Large patches would hide the surface, so the
# filter cuts them there. It draws level 0 as thin slabs.
BOXES = '''
import numpy as np
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
blocks = self.GetInputDataObject(0, 0)
pieces = [(number, blocks.GetBlock(number).GetPieceAsDataObject(i)) for number in range(blocks.GetNumberOfBlocks())
          for i in range(blocks.GetBlock(number).GetNumberOfPieces())]
pieces = [(number, piece.GetBounds()) for number, piece in pieces if piece]
level = np.array([number for number, bounds in pieces])
bounds = np.array([bounds for number, bounds in pieces]).reshape(-1, 3, 2)
centre, size = bounds.mean(2), bounds[:, :, 1] - bounds[:, :, 0]
steps = (blocks.GetNumberOfBlocks() - 1 - level) * step
atback = (level == 0) & (bounds[:, 1, 1] >= back - 0.1 * size[:, 1])
onfloor = (level == 0) & (bounds[:, 2, 0] <= floor + 0.1 * size[:, 2])
large = size.max(1) > 0.5 * width
right = (level > 0) & (np.where(large, bounds[:, 0, 1], centre[:, 0]) > middle[0] + steps)
behind = (level > 0) & (np.where(large, bounds[:, 1, 1], centre[:, 1]) > middle[1] + steps)
parts = []
for seen, axis, side, limit in ((atback, 1, 0, back - thin), (onfloor, 2, 1, floor + thin),
                                (right, 0, 0, middle[0] + steps), (behind & ~(right & ~large), 1, 0, middle[1] + steps)):
    part, limit = bounds[seen].copy(), np.broadcast_to(limit, len(level))[seen]
    cut = large[seen] | (level[seen] == 0)
    part[cut, axis, side] = (np.minimum if side else np.maximum)(part[cut, axis, side], limit[cut])
    if axis == 1 and len(part):    # without the parts that are already drawn at the right
        both = large[seen] & right[seen]
        part[both, 0, 1] = np.minimum(part[both, 0, 1], middle[0] + steps[seen][both])
    parts.append((level[seen], part))
level, bounds = np.concatenate([one for one, part in parts]), np.concatenate([part for one, part in parts])
kept = (bounds[:, :, 1] > bounds[:, :, 0]).all(1)
level, bounds = level[kept], bounds[kept]
centre, size = bounds.mean(2), 0.48 * (bounds[:, :, 1] - bounds[:, :, 0])
corners = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])
faces = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
points = vtkPoints()
points.SetData(numpy_to_vtk((centre[:, None] + corners * size[:, None]).reshape(-1, 3), deep=1))
quads = np.insert((faces + 8 * np.arange(len(level))[:, None, None]).reshape(-1, 4), 0, 4, axis=1)
cells = vtkCellArray()
cells.ImportLegacyFormat(numpy_to_vtkIdTypeArray(quads.astype(np.int64).ravel(), deep=1))
output.VTKObject.SetPoints(points)
output.VTKObject.SetPolys(cells)
output.CellData.append(np.repeat(level, 6), "level")
'''


def write(text, colour, height, view):
    label = Show(Text(Text=text), view)
    label.WindowLocation, label.Position = "Any Location", [0.02, height]
    label.FontSize, label.Color = 20, colour


data, picture, variable = checks.arguments(__doc__, 2, 3)
checks.output(picture)
patches = checks.open_reader(data, Blocks="As patches", BlankRefinedCells=0)
array = checks.choose(patches, variable)
time = checks.times(patches)[-1]
checks.update(patches, time)
GetAnimationScene().AnimationTime = time
lowest, highest = checks.values_of(patches, array, data)
value = (lowest + highest) / 2
least, most = checks.extent(patches)
if array[0] != "CELLS" or least[2] == most[2]:
    checks.fail("'%s' is a node variable, or the data are 2-D. This image needs a cell variable of 3-D data" % array[1])

# The surface needs only the patches with values on both sides of it.
near = checks.open_reader(data, AddGhostLayer=1, SkipByValue=1, ValueArray=array[1], ValueRange=[value, value])
checks.choose(near, array[1])
surface = Contour(Input=CellDatatoPointData(Input=near), ContourBy=["POINTS", array[1]], Isosurfaces=[value])
checks.update(surface, time)
low, high = checks.extent(surface)
middle = [(a + b) / 2 for a, b in zip(low, high)]
width = max([b - a for a, b in zip(low, high)] + [0.65 * min(b - a for a, b in zip(least, most))])

paraview.simple._DisableFirstRenderCameraReset()
view = CreateRenderView(ViewSize=[1200, 720], OrientationAxesVisibility=0, UseColorPaletteForBackground=0)
view.BackgroundColorMode, view.Background, view.Background2 = "Gradient", [0.05, 0.07, 0.12], [0.16, 0.20, 0.29]
front = Show(surface, view)
ColorBy(front, None)
front.DiffuseColor, front.Ambient, front.Specular = SURFACE, 0.15, 0.2

cells = patches.GetDataInformation().GetNumberOfCells()
patches.UpdatePropertyInformation()
number = json.loads(patches.GetPropertyValue("IOReportData"))["patches"]
write("{:,} patches, {:,} cells".format(number, cells), [0.86, 0.90, 0.96], 0.06, view)
write("{} = {:.3g}".format(array[1], value), SURFACE, 0.02, view)

camera = view.GetActiveCamera()
camera.SetViewUp(0, 0, 1)
camera.SetViewAngle(33)
camera.SetFocalPoint(middle[0] + 0.06 * width, middle[1], middle[2] - 0.02 * width)
camera.SetPosition(middle[0] - 1.40 * width, middle[1] - 2.62 * width, middle[2] + 1.05 * width)

# Run this filter last: its script replaces names of this script (max, array ...).
boxes = ProgrammableFilter(Input=patches, OutputDataSetType="vtkPolyData")
boxes.Script = "back, floor, middle, width, step, thin = %r, %r, %r, %r, %r, %r" % (
    most[1], least[2], middle, width, 0.16 * width, 0.08 * width) + BOXES
shown = Show(boxes, view)
ColorBy(shown, ("CELLS", "level"))
shown.Ambient = 0.2
count = int(boxes.CellData["level"].GetRange()[1]) + 1
table = GetColorTransferFunction("level")
table.InterpretValuesAsCategories = 1
table.Annotations = [text for level in range(count) for text in (str(level), "level %d" % level)]
table.IndexedColors = [part for level in range(count) for part in COLOURS[level % len(COLOURS)]]
bar = GetScalarBar(table, view)
bar.Title, bar.ComponentTitle, bar.LabelFontSize, bar.ScalarBarThickness = "", "", 20, 22
bar.WindowLocation, bar.Position, bar.ScalarBarLength = "Any Location", [0.88, 0.70], 0.08 * count
shown.SetScalarBarVisibility(view, True)
checks.save(picture, view)

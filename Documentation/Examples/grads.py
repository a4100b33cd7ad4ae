"""Draws a variable of a GrADS data set (GRAPES, CMA-MESO ...) at one level, with the date in the image.

    pvbatch grads.py FILE.ctl VARIABLE PRESSURE PICTURE.png

PRESSURE is in the unit of the file, such as 500. The script shows the nearest level.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
from paraview import servermanager
from paraview.simple import *

path, variable, pressure, picture = checks.arguments(__doc__, 4, 4)
pressure = checks.number(pressure, "PRESSURE")
checks.output(picture)
reader, chosen, times = checks.open_variable(path, variable)  # the reader does not read other variables
checks.update(reader, times[0])

# This filter runs on every rank. The field data of each block contain its levels, and its grid contains their z. The filter sends
# only these to this script, as points (level, z, 0).
LEVELS = '''
from vtkmodules.vtkCommonCore import vtkPoints
blocks, points = self.GetInputDataObject(0, 0).NewIterator(), vtkPoints()
points.SetDataTypeToDouble()
while not blocks.IsDoneWithTraversal():
    grid = blocks.GetCurrentDataObject()
    levels = grid.GetFieldData().GetArray("levels")
    if levels and grid.GetPointData().HasArray(%r):
        for k in range(levels.GetNumberOfTuples()):
            points.InsertNextPoint(levels.GetTuple1(k), grid.GetZCoordinates().GetTuple1(k), 0)
    blocks.GoToNextItem()
output.VTKObject.SetPoints(points)
'''
local = reader.GetClientSideObject().GetOutputDataObject(0)
if not local.GetFieldData().GetAbstractArray("date"):
    checks.fail("%s is not a GrADS data set" % path)
found = ProgrammableFilter(Input=reader, OutputDataSetType="vtkPolyData", Script=LEVELS % variable)
checks.update(found)
points = servermanager.Fetch(found)
heights = dict(points.GetPoint(p)[:2] for p in range(points.GetNumberOfPoints()))
if not heights:
    checks.fail("'%s' is a surface variable without levels. Choose another variable" % variable)
known = sorted(heights)     # instead of min() and max(), which the script of the filter has replaced
if not known[0] <= pressure <= known[-1]:
    checks.fail("unknown level %g. The levels are: %s" % (pressure, ", ".join("%g" % level for level in heights)))
level = sorted(known, key=lambda one: abs(one - pressure))[0]
z = heights[level]
date = local.GetFieldData().GetAbstractArray("date").GetValue(0)
if level != pressure:
    sys.stderr.write("Level %g does not exist; showing the nearest level, %g.\n" % (pressure, level))
print("%s at level %g (z = %.2f), %s" % (variable, level, z, date))

cut = Slice(Input=reader)
cut.SliceType.Origin = [0, 0, z]
cut.SliceType.Normal = [0, 0, 1]
checks.update(cut)
checks.values_of(cut, chosen, "level %g" % level)
view = CreateView("RenderView", ViewSize=[1000, 700])
checks.show(cut, chosen, view)
label = Text(Text="%s, level %g, %s" % (variable, level, date))
Show(label, view)
ResetCamera(view)
checks.save(picture, view)

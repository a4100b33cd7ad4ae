"""A variable of a GrADS data set (GRAPES, CMA-MESO ...) at one of its levels, with the date in the picture.

    pvbatch grads.py FILE.ctl VARIABLE PRESSURE PICTURE.png

PRESSURE is in the unit of the file, such as 500; the nearest level is shown.
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
reader, array, times = checks.open_variable(path, variable)  # other variables are not read
checks.update(reader, times[0])

# The field data of the blocks say which levels there are, and the grid has their z.
data, heights = servermanager.Fetch(reader), {}
if not data.GetFieldData().GetAbstractArray("date"):
    checks.fail("%s is no GrADS data set" % path)
blocks = data.NewIterator()
while not blocks.IsDoneWithTraversal():
    grid = blocks.GetCurrentDataObject()
    levels = grid.GetFieldData().GetArray("levels")
    if levels and grid.GetPointData().HasArray(variable):
        heights.update((levels.GetTuple1(k), grid.GetZCoordinates().GetTuple1(k)) for k in range(levels.GetNumberOfTuples()))
    blocks.GoToNextItem()
if not heights:
    checks.fail("'%s' is on the surface, not on levels; choose another variable" % variable)
if not min(heights) <= pressure <= max(heights):
    checks.fail("there is no level %g; there are: %s" % (pressure, ", ".join("%g" % level for level in heights)))
level = min(heights, key=lambda known: abs(known - pressure))
z = heights[level]
date = data.GetFieldData().GetAbstractArray("date").GetValue(0)
print("%s at level %g (z = %.2f), %s" % (variable, level, z, date))

cut = Slice(Input=reader)
cut.SliceType.Origin = [0, 0, z]
cut.SliceType.Normal = [0, 0, 1]
checks.update(cut)
checks.values_of(cut, array, "level %g" % level)
view = CreateView("RenderView", ViewSize=[1000, 700])
checks.show(cut, array, view)
label = Text(Text="%s, level %g, %s" % (variable, level, date))
Show(label, view)
ResetCamera(view)
checks.save(picture, view)

"""Temperature at a pressure and winds of a GrADS data set (GRAPES, CMA-MESO ...), with the date in the picture.

usage: pvbatch grads.py FILE.ctl ARRAY PRESSURE PICTURE.png     (PRESSURE in the unit of the file, such as 500)
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())
path, array, pressure, picture = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]

reader = PatchReader(FileName=[path])
reader.PointArrayStatus = [array]       # only this one is read
reader.UpdatePipeline(reader.TimestepValues[0] if len(reader.TimestepValues) else 0)

# Field data of the blocks say which levels there are; z of a level is in the grid.
block = None
for b in range(reader.GetClientSideObject().GetOutput().GetNumberOfBlocks()):
    pieces = reader.GetClientSideObject().GetOutput().GetBlock(b)
    for p in range(pieces.GetNumberOfPieces()):
        grid = pieces.GetPieceAsDataObject(p)
        if grid and grid.GetFieldData().GetArray("levels"):
            block = grid
levels = block.GetFieldData().GetArray("levels")
nearest = min(range(levels.GetNumberOfTuples()), key=lambda k: abs(levels.GetTuple1(k) - pressure))
z = block.GetZCoordinates().GetTuple1(nearest)
date = reader.GetClientSideObject().GetOutput().GetFieldData().GetAbstractArray("date").GetValue(0)
print("%s at level %g (z = %.2f), %s" % (array, levels.GetTuple1(nearest), z, date))

cut = Slice(Input=reader)
cut.SliceType.Origin = [0, 0, z]
cut.SliceType.Normal = [0, 0, 1]
view = CreateView("RenderView", ViewSize=[1000, 700])
display = Show(cut, view)
ColorBy(display, ("POINTS", array))
display.RescaleTransferFunctionToDataRange()
display.SetScalarBarVisibility(view, True)
label = Text(Text="%s, level %g, %s" % (array, levels.GetTuple1(nearest), date))
Show(label, view)
ResetCamera(view)
SaveScreenshot(picture, view)

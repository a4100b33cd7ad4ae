"""A slice of one variable at all time steps: a picture and a table of its values each, OUT.0000.png and OUT.0000.csv.

    pvbatch slices.py DATA OUT [VARIABLE [AXIS [FRACTION]]]

It is across AXIS (x, y or z; by default z, and y where the data are flat) at FRACTION of the way through the data (0.501 by default). Also under
mpirun.
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
data, out = sys.argv[1:3]
variable, axis, fraction = (sys.argv[3:] + [None, None, "0.501"][len(sys.argv) - 3:])[:3]

reader = PatchReader(FileName=[data])
cells, points = list(reader.CellArrayStatus.Available), list(reader.PointArrayStatus.Available)
variable = variable or (cells + points)[0]
reader.CellArrayStatus = [variable] if variable in cells else []
reader.PointArrayStatus = [variable] if variable in points else []
reader.UpdatePipeline()
bounds = reader.GetDataInformation().GetBounds()
axis = axis or ("z" if bounds[5] > bounds[4] else "y")

cut = Slice(Input=reader)
cut.SliceType.Origin = [low + float(fraction) * (high - low) for low, high in zip(bounds[::2], bounds[1::2])]
cut.SliceType.Normal = [float(name == axis) for name in "xyz"]
cut.Triangulatetheslice = 0
# Blocks without the variable go, and so do places where it is undefined.
known = Threshold(Input=cut, Scalars=["CELLS" if variable in cells else "POINTS", variable], LowerThreshold=-1e300,
                  UpperThreshold=1e300)
if variable in cells:
    # One row a cell that is cut: its middle and its value. Coarse cells under finer ones are hidden, and not cut.
    known = CellCenters(Input=known, VertexCells=1)
table = MergeBlocks(Input=known, MergePoints=0)

view = CreateRenderView(ViewSize=[960, 720])
view.OrientationAxesVisibility = 0
display = Show(cut, view)
display.SetRepresentationType("Surface")
ColorBy(display, ("CELLS" if variable in cells else "POINTS", variable))
display.SetScalarBarVisibility(view, True)
view.CameraFocalPoint = cut.SliceType.Origin
view.CameraPosition = [at + normal for at, normal in zip(cut.SliceType.Origin, cut.SliceType.Normal)]
view.CameraViewUp = [0, 1, 0] if axis == "z" else [0, 0, 1]
ResetCamera(view)

times = reader.TimestepValues
for number, time in enumerate(times if hasattr(times, "__len__") else [times]):
    view.ViewTime = time
    table.UpdatePipeline(time)
    display.RescaleTransferFunctionToDataRange()
    SaveScreenshot("%s.%04d.png" % (out, number), view)
    SaveData("%s.%04d.csv" % (out, number), proxy=table, FieldAssociation="Point Data",
             ChooseArraysToWrite=1, PointDataArrays=[variable], Precision=17)
    print("time %g: %d values" % (time, table.GetDataInformation().GetNumberOfPoints()))

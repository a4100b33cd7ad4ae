"""Writes a slice of one variable for each time step: an image OUT.0000.png and a table of its values OUT.0000.csv.

    pvbatch slices.py DATA OUT [VARIABLE [AXIS [FRACTION]]]

The slice is perpendicular to AXIS (x, y or z; by default z, or y for flat data), at FRACTION of the way through the data (by
default 0.501). The script also runs under mpirun.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
from paraview.simple import *

data, out, variable, axis, fraction = checks.arguments(__doc__, 2, 5)
fraction = checks.number(fraction or "0.501", "FRACTION")
if (axis or "z") not in ("x", "y", "z") or not 0 <= fraction <= 1:
    checks.wrong_arguments("AXIS is x, y or z and FRACTION from 0 to 1, not %s and %g" % (axis, fraction))
checks.output(out)

reader, array, times = checks.open_variable(data, variable, PointLists="Image")  # the slice of a point list would be empty
checks.update(reader, times[0])
low, high = checks.extent(reader)
axis = axis or ("z" if high[2] > low[2] else "y")
if not low["xyz".index(axis)] < high["xyz".index(axis)]:
    checks.fail("%s is flat along %s. Choose another AXIS" % (data, axis))

cut = Slice(Input=reader)
cut.SliceType.Origin = checks.place(low, high, fraction)
cut.SliceType.Normal = [float(name == axis) for name in "xyz"]
cut.Triangulatetheslice = 0
# This filter omits blocks without the variable, and places where it is undefined.
known = Threshold(Input=cut, Scalars=array, LowerThreshold=-1e300, UpperThreshold=1e300)
if array[0] == "CELLS":
    # The table has one row for each cell of the slice: its centre and its value. Coarse cells under finer ones are hidden and omitted.
    known = CellCenters(Input=known, VertexCells=1)
table = MergeBlocks(Input=known, MergePoints=0)


def cut_at(time):
    """Updates `cut`, which the image shows, and `table`, which the table contains."""
    checks.update(table, time)
    checks.update(cut, time)
    checks.values_of(table, ("POINTS", array[1]), "the slice at time %g" % time)


cut_at(times[0])
view = CreateRenderView(ViewSize=[960, 720])
view.OrientationAxesVisibility = 0
display = checks.show(cut, array, view)
view.CameraFocalPoint = cut.SliceType.Origin
view.CameraPosition = [at + normal for at, normal in zip(cut.SliceType.Origin, cut.SliceType.Normal)]
view.CameraViewUp = [0, 1, 0] if axis == "z" else [0, 0, 1]
ResetCamera(view)

for number, time in enumerate(times):
    view.ViewTime = time
    cut_at(time)
    display.RescaleTransferFunctionToDataRange()
    checks.save("%s.%04d.png" % (out, number), view)
    SaveData("%s.%04d.csv" % (out, number), proxy=table, FieldAssociation="Point Data",
             ChooseArraysToWrite=1, PointDataArrays=[array[1]], Precision=17)
    print("time %g: %d values" % (time, table.GetDataInformation().GetNumberOfPoints()))

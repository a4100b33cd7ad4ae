"""Opens the series of an AMReX plotfile, draws a slice of the last step, and prints what the reading cost.

    mpirun -np 2 pvbatch plotfile.py PLT00010 ARRAY PICTURE.PNG
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
from paraview.simple import *

plotfile, name, picture = checks.arguments(__doc__, 3, 3)
checks.output(picture)
reader = checks.open_reader(plotfile)
array = checks.choose(reader, name)  # the others are not read
last = checks.times(reader)[-1]
checks.update(reader, last)

view = CreateRenderView(ViewSize=[900, 600])
view.OrientationAxesVisibility = 0
view.ViewTime = last
cut = reader  # all of it where it is flat
low, high = checks.extent(reader)
if high[2] > low[2]:
    cut = Slice(Input=reader)
    cut.SliceType.Origin = [a + 0.511 * (b - a) for a, b in zip(low, high)]
    cut.SliceType.Normal = [0, 0, 1]
    cut.Triangulatetheslice = 0
checks.update(cut, last)
checks.values_of(cut, array, "the slice")
shown = Show(cut, view)
shown.SetRepresentationType("Surface With Edges")
ColorBy(shown, array)
shown.RescaleTransferFunctionToDataRange()
shown.SetScalarBarVisibility(view, True)
ResetCamera(view)
checks.save(picture, view)
reader.UpdatePropertyInformation()
print(reader.GetPropertyValue("IOReport"))

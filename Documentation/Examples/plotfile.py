"""Opens the series of an AMReX plotfile, draws a slice of the last step, and prints the I/O report.

    mpirun -np 2 pvbatch plotfile.py PLT00010 ARRAY PICTURE.PNG
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
from paraview.simple import *

plotfile, name, picture = checks.arguments(__doc__, 3, 3)
checks.output(picture)
reader, array, times = checks.open_variable(plotfile, name)  # the reader does not read other variables
last = times[-1]
checks.update(reader, last)

view = CreateRenderView(ViewSize=[900, 600])
view.OrientationAxesVisibility = 0
view.ViewTime = last
cut = reader  # flat data need no slice
low, high = checks.extent(reader)
if high[2] > low[2]:
    cut = Slice(Input=reader)
    cut.SliceType.Origin = checks.place(low, high, 0.511)
    cut.SliceType.Normal = [0, 0, 1]
    cut.Triangulatetheslice = 0
checks.update(cut, last)
checks.values_of(cut, array, "the slice")
checks.show(cut, array, view, "Surface With Edges")
ResetCamera(view)
checks.save(picture, view)
reader.UpdatePropertyInformation()
print(reader.GetPropertyValue("IOReport"))

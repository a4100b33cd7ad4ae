"""Opens the series of an AMReX plotfile, draws a slice of the last step, and prints what the reading cost.

    mpirun -np 2 pvbatch plotfile.py PLT00010 ARRAY PICTURE.PNG
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
plotfile, array, picture = sys.argv[1:4]

reader = PatchReader(FileName=[plotfile])
reader.UpdatePipelineInformation()
reader.CellArrayStatus = [array]  # the others are not read
times = reader.TimestepValues
last = times[-1] if hasattr(times, "__len__") else times
reader.UpdatePipeline(last)

view = CreateRenderView(ViewSize=[900, 600])
view.OrientationAxesVisibility = 0
view.ViewTime = last
cut = Slice(Input=reader)
low, high = ([reader.GetDataInformation().GetBounds()[2 * axis + end] for axis in range(3)] for end in (0, 1))
cut.SliceType.Origin = [a + 0.511 * (b - a) for a, b in zip(low, high)]
cut.SliceType.Normal = [0, 0, 1]
cut.Triangulatetheslice = 0
shown = Show(cut, view)
shown.SetRepresentationType("Surface With Edges")
ColorBy(shown, ("CELLS", array))
shown.RescaleTransferFunctionToDataRange()
shown.SetScalarBarVisibility(view, True)
ResetCamera(view)
SaveScreenshot(picture, view)
reader.UpdatePropertyInformation()
print(reader.GetPropertyValue("IOReport"))

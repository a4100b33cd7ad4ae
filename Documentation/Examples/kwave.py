"""Opens an output of k-Wave's, draws the pressure that its sensor saw at the middle step, and writes a picture.

    pvbatch kwave.py OUT.H5 PICTURE.PNG
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
output, picture = sys.argv[1:3]

# Cuboids are blocks; points of an index mask become an image around them, all others hidden.
reader = PatchReader(FileName=[output], PointLists="Image")
times = list(reader.TimestepValues)
time = times[len(times) // 2]
reader.UpdatePipeline(time)
GetAnimationScene().AnimationTime = time

view = CreateRenderView(ViewSize=[900, 700])
view.ViewTime = time
domain = Show(Outline(Input=reader), view)
sensor = Threshold(Input=reader, Scalars=["CELLS", "p"], LowerThreshold=-1e30, UpperThreshold=1e30)
sensor.UpdatePipeline(time)
shown = Show(sensor, view)
shown.SetRepresentationType("Surface")
ColorBy(shown, ("CELLS", "p"))
shown.RescaleTransferFunctionToDataRange()
shown.SetScalarBarVisibility(view, True)
view.ResetCamera()
view.CameraPosition = [c + d for c, d in zip(view.CameraFocalPoint, [0.012, -0.015, 0.009])]
view.CameraViewUp = [0, 0, 1]
view.ResetCamera()
SaveScreenshot(picture, view)
low, high = sensor.CellData["p"].GetRange(0)
print("step %d of %d, %g s: p from %g to %g" % (len(times) // 2 + 1, len(times), time, low, high))

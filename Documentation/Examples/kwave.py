"""Opens an output file of k-Wave, draws the values of its sensor at the middle step, and writes an image.

    pvbatch kwave.py OUT.H5 PICTURE.PNG [VARIABLE]

The default VARIABLE is p, the pressure.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
from paraview.simple import *

output, picture, variable = checks.arguments(__doc__, 2, 3)
checks.output(picture)
# Cuboids are blocks. Points of an index mask become an image with all other cells hidden.
reader, array, times = checks.open_variable(output, variable or "p", PointLists="Image")  # the reader does not read other variables
time = times[len(times) // 2]
checks.update(reader, time)
GetAnimationScene().AnimationTime = time

view = CreateRenderView(ViewSize=[900, 700])
view.ViewTime = time
domain = Show(Outline(Input=reader), view)
sensor = Threshold(Input=reader, Scalars=array, LowerThreshold=-1e30, UpperThreshold=1e30)
checks.update(sensor, time)
low, high = checks.values_of(sensor, array, output)
checks.show(sensor, array, view)
view.ResetCamera()
view.CameraPosition = [c + d for c, d in zip(view.CameraFocalPoint, [0.012, -0.015, 0.009])]
view.CameraViewUp = [0, 0, 1]
view.ResetCamera()
checks.save(picture, view)
print("step %d of %d, %g s: %s from %g to %g" % (len(times) // 2 + 1, len(times), time, array[1], low, high))

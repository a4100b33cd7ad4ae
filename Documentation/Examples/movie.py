"""A movie of one variable over all time steps: numbered pictures, and OUT.mp4 where there is ffmpeg.

    mpirun -np 4 pvbatch movie.py DATA OUT [VARIABLE]
"""
import os
import shutil
import subprocess
import sys

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
data, out = sys.argv[1:3]

# One variable is read, the others are not. Without a third argument it is the first.
reader = PatchReader(FileName=[data])
cells, points = list(reader.CellArrayStatus.Available), list(reader.PointArrayStatus.Available)
variable = sys.argv[3] if len(sys.argv) > 3 else (cells + points)[0]
reader.CellArrayStatus = [variable] if variable in cells else []
reader.PointArrayStatus = [variable] if variable in points else []
reader.UpdatePipeline()

# A cut through the middle, or all of it where it is flat.
bounds = reader.GetDataInformation().GetBounds()
shown = reader
if bounds[5] > bounds[4]:
    shown = Slice(Input=reader)
    shown.SliceType.Origin = [low + 0.501 * (high - low) for low, high in zip(bounds[::2], bounds[1::2])]
    shown.SliceType.Normal = [0, 0, 1]

view = CreateRenderView(ViewSize=[960, 720])
view.OrientationAxesVisibility = 0
display = Show(shown, view)
display.SetRepresentationType("Surface")
ColorBy(display, ("CELLS" if variable in cells else "POINTS", variable))
display.RescaleTransferFunctionToDataRangeOverTime()  # the same colours in all pictures; reads all steps once
display.SetScalarBarVisibility(view, True)
Show(AnnotateTimeFilter(Input=reader), view)
ResetCamera(view)

# OUT.0000.png, OUT.0001.png, ...: one for each time step.
scene = GetAnimationScene()
scene.UpdateAnimationUsingDataTimeSteps()
steps = len(scene.TimeKeeper.TimestepValues) if hasattr(scene.TimeKeeper.TimestepValues, "__len__") else 1
SaveAnimation(out + ".png", view, FrameWindow=[0, steps - 1])
print("%d pictures of '%s'" % (steps, variable))
if shutil.which("ffmpeg"):
    subprocess.run(["ffmpeg", "-y", "-loglevel", "error", "-framerate", "10", "-i", out + ".%04d.png",
                    "-pix_fmt", "yuv420p", out + ".mp4"], check=True)

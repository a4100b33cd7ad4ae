"""Makes a movie of one variable over all time steps: numbered images, and OUT.mp4 if ffmpeg is installed.

    mpirun -np 4 pvbatch movie.py DATA OUT [VARIABLE]
"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
from paraview.simple import *

data, out, variable = checks.arguments(__doc__, 2, 3)
checks.output(out)
reader, array, times = checks.open_variable(data, variable, PointLists="Image")  # the slice of a point list would be empty
checks.update(reader, times[0])

# Show a slice through the middle, or flat data as a whole.
low, high = checks.extent(reader)
shown = reader
if high[2] > low[2]:
    shown = Slice(Input=reader)
    shown.SliceType.Origin = checks.place(low, high, 0.501)
    shown.SliceType.Normal = [0, 0, 1]
    checks.update(shown, times[0])
checks.values_of(shown, array, "the cut through the middle (slices.py can cut elsewhere)" if shown is not reader else data)

view = CreateRenderView(ViewSize=[960, 720])
view.OrientationAxesVisibility = 0
display = checks.show(shown, array, view)
display.RescaleTransferFunctionToDataRangeOverTime()  # the same colours in all images; reads all steps once
Show(AnnotateTimeFilter(Input=reader, Format="Time: {time:g}"), view)
ResetCamera(view)

# OUT.0000.png, OUT.0001.png, ...: one image for each time step.
scene = GetAnimationScene()
scene.UpdateAnimationUsingDataTimeSteps()
for number, time in enumerate(times):
    scene.AnimationTime = time
    checks.update(shown, time)
    checks.save("%s.%04d.png" % (out, number), view)
print("%d image%s of '%s'" % (len(times), "" if len(times) == 1 else "s", array[1]))
if shutil.which("ffmpeg"):
    # Limit the number of frames: images of an earlier, longer movie may also exist.
    made = subprocess.run(["ffmpeg", "-y", "-loglevel", "error", "-framerate", "10", "-i", out + ".%04d.png", "-frames:v",
                           str(len(times)), "-pix_fmt", "yuv420p", out + ".mp4"], check=False)
    if made.returncode != 0:
        checks.fail("ffmpeg failed to make %s.mp4" % out)

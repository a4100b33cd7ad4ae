"""Opens a series on all ranks, draws the last step, writes a picture and prints what the reading cost.

    mpirun -np 2 pvbatch demo.py DUMPS.VISIT PICTURE.PNG
"""
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
dumps, picture = sys.argv[1:3]

reader = PatchReader(FileName=[dumps], Blocks="As patches")  # so that outlines show the patches
last = reader.TimestepValues[-1]
reader.UpdatePipeline(last)
GetAnimationScene().AnimationTime = last
low, high = reader.CellData["uval"].GetRange(0)

view = CreateRenderView(ViewSize=[1200, 750])
view.OrientationAxesVisibility = 0

# The cells inside the front that is carried through the domain ...
inside = Threshold(Input=reader, Scalars=["CELLS", "uval"], LowerThreshold=0.5 * (low + high), UpperThreshold=high)
inside.UpdatePipeline(last)
front = Show(inside, view)
front.SetRepresentationType("Surface With Edges")
ColorBy(front, ("CELLS", "uval"))
bounds = inside.GetDataInformation().DataInformation.GetBounds()

# ... a cut below it, showing in each place the finest cells that cover it ...
cut = Slice(Input=reader)
cut.SliceType.Origin = [bounds[0], bounds[2] + 0.45 * (bounds[3] - bounds[2]), bounds[4]]
cut.SliceType.Normal = [0, 1, 0]
cut.Triangulatetheslice = 0
cells = Show(cut, view)
cells.SetRepresentationType("Surface With Edges")
cells.EdgeColor = [0.3, 0.35, 0.45]
ColorBy(cells, ("CELLS", "uval"))
cells.RescaleTransferFunctionToDataRange()
GetColorTransferFunction("uval").ApplyPreset("Cool to Warm", True)

# ... and the patches, coloured by their level.
patches = Show(reader, view)
patches.SetRepresentationType("Outline")
ColorBy(patches, ("FIELD", "level"))
GetColorTransferFunction("level").ApplyPreset("Rainbow Uniform", True)

view.ResetCamera()
camera = view.GetActiveCamera()
camera.Azimuth(-25)
camera.Elevation(35)
view.ResetCamera()
camera.Zoom(1.35)
Render(view)
SaveScreenshot(picture, view)

reader.UpdatePropertyInformation()
print(reader.GetPropertyValue("IOReport"))

"""Opens a series on all ranks, draws the last step, writes an image and prints the I/O report.

    mpirun -np 2 pvbatch demo.py DUMPS.VISIT PICTURE.PNG [VARIABLE]

VARIABLE is a cell variable, by default the first.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
from paraview.simple import *

dumps, picture, variable = checks.arguments(__doc__, 2, 3)
checks.output(picture)
reader, array, times = checks.open_variable(dumps, variable, Blocks="As patches")  # so that outlines show the patches
if array[0] != "CELLS":
    in_cells = ", ".join(reader.CellArrayStatus.Available)
    checks.fail("'%s' is a node variable; %s" % (array[1], "choose a cell variable: " + in_cells if in_cells else
                                          "%s has no cell variable, which this image needs" % dumps))
last = times[-1]
checks.update(reader, last)
GetAnimationScene().AnimationTime = last
low, high = checks.values_of(reader, array, dumps)

view = CreateRenderView(ViewSize=[1200, 750], OrientationAxesVisibility=0, UseColorPaletteForBackground=0)
view.BackgroundColorMode, view.Background, view.Background2 = "Gradient", [0.05, 0.07, 0.12], [0.16, 0.20, 0.29]

# The cells inside the moving front ...
inside = Threshold(Input=reader, Scalars=array, LowerThreshold=0.5 * (low + high), UpperThreshold=high)
checks.update(inside, last)
front = Show(inside, view)
front.SetRepresentationType("Surface With Edges")
ColorBy(front, array)
bounds = inside.GetDataInformation().DataInformation.GetBounds()

# ... a slice below it, which shows the finest cells at each place ...
cut = Slice(Input=reader)
cut.SliceType.Origin = [bounds[0], bounds[2] + 0.45 * (bounds[3] - bounds[2]), bounds[4]]
cut.SliceType.Normal = [0, 1, 0]
cut.Triangulatetheslice = 0
cells = Show(cut, view)
cells.SetRepresentationType("Surface With Edges")
cells.EdgeColor = [0.3, 0.35, 0.45]
ColorBy(cells, array)
cells.RescaleTransferFunctionToDataRange()
colours = GetColorTransferFunction(array[1])
colours.ApplyPreset("Cool to Warm", True)
cells.SetScalarBarVisibility(view, True)
bar = GetScalarBar(colours, view)
bar.WindowLocation, bar.ScalarBarLength = "Lower Right Corner", 0.3

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
checks.save(picture, view)

reader.UpdatePropertyInformation()
print(reader.GetPropertyValue("IOReport"))

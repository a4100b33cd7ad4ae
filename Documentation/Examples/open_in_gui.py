"""Loads the plugin and opens one data set. `./dev gui` runs this script inside ParaView."""
import os

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())
path = os.environ["PATCHIO_DATASET"]
if not os.path.exists(path):
    raise FileNotFoundError("the file %s does not exist" % path)
reader = PatchReader(registrationName=os.path.basename(path), FileName=[path])
display = Show(reader)
if display.ColorArrayName[1]:
    display.SetScalarBarVisibility(GetActiveView(), True)
GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
ResetCamera()
Render()

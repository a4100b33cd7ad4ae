"""What ./dev gui runs inside ParaView: loads the plugin and opens one data set."""
import os

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())
path = os.environ["PATCHIO_DATASET"]
if not os.path.exists(path):
    raise FileNotFoundError("there is no file %s" % path)
reader = PatchReader(registrationName=os.path.basename(path), FileName=[path])
display = Show(reader)
if display.ColorArrayName[1]:
    display.SetScalarBarVisibility(GetActiveView(), True)
GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
ResetCamera()
Render()

"""What ./dev gui runs inside ParaView: loads the plugin and opens one data set."""
import os

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())
path = os.environ["PATCHIO_DATASET"]
reader = PatchReader(registrationName=os.path.basename(path), FileName=[path])
Show(reader)
GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
ResetCamera()
Render()

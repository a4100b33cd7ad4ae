"""Tests that a plugin for another ParaView, and one that lacks a library, report this, and that the right plugin can be loaded
afterwards.

usage: PATCHIO_PLUGIN=PatchIO.so pvbatch another_version.py PLUGIN_OF_5.99 VERSION CORE SCRATCH
  CORE  name of the library vtkCommonCore, which has the version of ParaView, or of the VTK that it uses
"""
import os
import shutil
import sys

from paraview.simple import LoadPlugin
from vtkmodules.vtkCommonCore import vtkOutputWindow, vtkStringOutputWindow

another, version, core, scratch = sys.argv[1:5]
right = os.environ["PATCHIO_PLUGIN"]
os.makedirs(scratch, exist_ok=True)
alone = shutil.copy(right, scratch)


def said_by(plugin):
    window, before = vtkStringOutputWindow(), vtkOutputWindow.GetInstance()
    vtkOutputWindow.SetInstance(window)
    try:
        LoadPlugin(plugin, ns=globals())
        return "loaded"
    except RuntimeError:
        return window.GetOutput()
    finally:
        vtkOutputWindow.SetInstance(before)


for plugin, words in (
        (another, [another + " was built for ParaView 5.99", "uses another version (%s)" % core, "Install"]),
        (alone, [alone + " was built for ParaView %s, and loading it failed: " % version, "libPatchIOPlugin.so: cannot open"]),
        (right, ["loaded"])):
    text = said_by(plugin)
    if not all(word in text for word in words):
        sys.exit("FAILED: %s says: %s" % (plugin, text))
print("passed:", PatchReader.__name__)  # noqa: F821 (LoadPlugin makes it)

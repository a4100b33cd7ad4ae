"""Tests that a plugin for another ParaView, and one that lacks a library, report this, and that the right plugin can be loaded
afterwards.

usage: PATCHIO_PLUGIN=PatchIO.so pvbatch another_version.py PLUGIN_OF_5.99 VERSION CORE SCRATCH
  CORE  name of the library vtkCommonCore, which has the version of ParaView, or of the VTK that it uses
"""
import os
import shutil
import sys

from paraview.simple import LoadPlugin

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from on_ranks import said_by  # noqa: E402

another, version, core, scratch = sys.argv[1:5]
right = os.environ["PATCHIO_PLUGIN"]
os.makedirs(scratch, exist_ok=True)
alone = shutil.copy(right, scratch)


def load(plugin):
    try:
        LoadPlugin(plugin, ns=globals())
    except RuntimeError:
        pass


for plugin, words in (
        (another, [another + " was built for ParaView 5.99", "uses another version (%s)" % core, "Install"]),
        (alone, [alone + " was built for ParaView %s, and loading it failed: " % version, "libPatchIOPlugin.so: cannot open"]),
        (right, [])):
    text = said_by(lambda: load(plugin))  # noqa: B023
    if not all(word in text for word in words) or bool(text) != bool(words):
        sys.exit("FAILED: %s says: %s" % (plugin, text))
print("passed:", PatchReader.__name__)  # noqa: F821 (LoadPlugin makes it)

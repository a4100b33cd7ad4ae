"""A client of a pvserver: reads a step there, and prints whether it receives the right values.

usage: pvpython client.py PORT FOLDER STEP [STEP...]

If a STEP is a path, the client waits until the file exists.
"""
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import series  # noqa: E402
from paraview import servermanager, simple  # noqa: E402
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402


def say(text):
    """Prints a text at once, past sys.stdout, which ParaView 5.13 buffers until the end."""
    os.write(1, (text + "\n").encode())


port, folder, steps = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
simple.Connect("127.0.0.1", port)
try:
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=vars(simple))
except RuntimeError:
    pass    # another client of this server has loaded it
simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
reader = simple.PatchReader(FileName=[folder + "/dumps.visit"], CacheMemory=0, Prefetch=0, BlankRefinedCells=0)
centres = simple.CellCenters(Input=simple.MergeBlocks(Input=reader, MergePoints=0))
for word in steps:
    while not word.isdigit() and not os.path.exists(word):
        time.sleep(0.1)
    if not word.isdigit():
        continue
    step = int(word)
    say("reading")
    centres.UpdatePipeline(float(step))
    here_now = servermanager.Fetch(centres)
    points = vtk_to_numpy(here_now.GetPoints().GetData()).T.astype("f8")
    found = vtk_to_numpy(here_now.GetPointData().GetArray("u"))
    right = len(found) == series.CELLS and np.array_equal(found, series.formula(points, step, 0).astype("f4"))
    say("right" if right else "wrong: %d cells" % len(found))
simple.Disconnect()

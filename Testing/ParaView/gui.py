"""What gui.sh runs inside the ParaView GUI: opens a series, shows it, also as a volume, and looks back after the windows have settled.

Environment: PATCHIO_PLUGIN; PATCHIO_DATASET; PATCHIO_RESULT, the file to write.
"""
import os
import subprocess
import time
import traceback

from paraview.simple import *

SETTLE = 4      # seconds


def finish(text):
    """Leaves ParaView at once: closing its window would ask questions."""
    with open(os.environ["PATCHIO_RESULT"], "w") as file:
        file.write(text)
    os._exit(0)


def look_back(*_):
    if time.time() < start + SETTLE:
        return      # there are timers of others
    try:
        # Nobody but our widget has asked the server for this text: it lives and shows what was read.
        report = reader.SMProxy.GetProperty("IOReport").GetElement(0) or ""
        picture = os.path.splitext(os.environ["PATCHIO_RESULT"])[0] + ".png"
        try:
            subprocess.run(["import", "-window", "root", picture], timeout=20, check=False)
        except FileNotFoundError:
            print("no picture of the window: no program 'import' (ImageMagick)")
        cells = reader.GetDataInformation().GetNumberOfCells()
        passed = "Patches: " in report and cells > 0 and kinds == ["Surface", "Volume", "Surface", "uval"]
        finish("%s: %d cells, volumes as %s, the widget's report:\n%s\n" % ("passed" if passed else "FAILED", cells,
                                                                          kinds, report))
    except BaseException:
        finish("FAILED: " + traceback.format_exc())


def kinds_of_volumes():
    """What Volume becomes with three levels, with one, and when there are three again; and its colour."""
    display = Show(reader, view)
    found = []
    for levels, choose in (([0, 2], True), ([2, 2], True), ([0, 2], False)):
        reader.LevelRange = levels
        Render(view)
        if choose:
            display.SetRepresentationType("Surface")
            display.SetRepresentationType("Volume")
        Render(view)
        found.append(display.Representation.GetData())
    return found + [display.ColorArrayName[1]]


try:
    LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())
    reader = OpenDataFile(os.environ["PATCHIO_DATASET"])
    view = GetActiveViewOrCreate("RenderView")
    Show(reader, view)
    ResetCamera(view)
    Render(view)
    kinds = kinds_of_volumes()
    # A timer of Qt, by way of the view's interactor: the GUI works through its events meanwhile.
    interactor = view.GetInteractor()
    interactor.AddObserver("TimerEvent", look_back)
    start = time.time()
    interactor.CreateRepeatingTimer(500)
except BaseException:
    finish("FAILED: " + traceback.format_exc())

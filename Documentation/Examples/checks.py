"""Functions shared by these examples. Each error ends a script with one message. The exit code is 2 for wrong arguments (1 on several
ranks), and 1 for missing files, unknown variables, unreadable data and empty images.

    path, picture, variable = checks.arguments(__doc__, 2, 3)
    reader, array, times = checks.open_variable(path, variable)     # array: ("CELLS", "density"); the reader reads only this array
    checks.update(reader, times[-1])
"""
import os
import sys


class Fault(Exception):
    """Ends the script with its message and exit code 1. (sys.exit() would leave the other ranks of pvbatch running.)"""


def fail(message):
    raise Fault("%s: %s" % (os.path.basename(sys.argv[0]), message))


def _without_traceback(kind, fault, trace, usual=sys.excepthook):
    if not issubclass(kind, Fault):
        return usual(kind, fault, trace)
    sys.stdout.flush()
    sys.stderr.write("%s\n" % fault)


sys.excepthook = _without_traceback


def wrong_arguments(message):
    if "paraview" in sys.modules:
        from paraview import servermanager
        if servermanager.vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions() > 1:
            raise Fault(message)
    sys.stderr.write(message + "\n")
    sys.exit(2)


def arguments(usage, least, most):
    """Returns the arguments, followed by None for missing ones. `usage`: the script's docstring, with the command line."""
    given = sys.argv[1:]
    if not least <= len(given) <= most:
        line = next(line for line in usage.splitlines() if os.path.basename(sys.argv[0]) in line)
        wrong_arguments("usage: " + line.strip())
    return given + [None] * (most - len(given))


def number(text, name):
    try:
        return float(text)
    except ValueError:
        return wrong_arguments("%s must be a number, not '%s'" % (name, text))


def data_file(path):
    """Returns the path if it exists."""
    return path if os.path.exists(path) else fail("the file %s does not exist" % path)


def output(path):
    """Returns the path if its folder exists."""
    folder = os.path.dirname(path) or "."
    return path if os.path.isdir(folder) else fail("the folder %s of %s does not exist" % (folder, path))


# ---- with ParaView ---------------------------------------------------------------------------------------

_said = []      # error messages of readers


def _hear(caller, event, message=None):
    """Stores errors, which ParaView only logs, so that they end the script."""
    _said.append(message)


_hear.CallDataType = "string0"


def _check():
    # ParaView's "Algorithm ... returned failure" follows the reader's own message.
    if _said:
        fail(next((text for text in _said if "returned failure" not in text), _said[0]).split("): ", 1)[-1].strip())


def open_reader(path, **properties):
    """Returns a PatchReader. Ends the script if the data set does not exist or cannot be opened."""
    from paraview import simple
    from vtkmodules.vtkCommonCore import vtkLogger
    data_file(path)
    plugin = os.environ.get("PATCHIO_PLUGIN", "")
    if not os.path.isfile(plugin):
        fail("set PATCHIO_PLUGIN to the path of PatchIO.so, instead of '%s'" % plugin)
    if not hasattr(simple, "PatchReader"):
        simple.LoadPlugin(plugin, remote=True, ns=vars(simple))
    usual = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)   # ParaView updates a new reader immediately and logs that its file name is empty
    reader = simple.PatchReader(**properties)
    vtkLogger.SetStderrVerbosity(usual)
    source = reader.GetClientSideObject()
    for speaker in (source, source.GetExecutive()):
        speaker.AddObserver("ErrorEvent", _hear)
    reader.FileName = [path]    # only now, so that _hear() receives errors about the file
    reader.UpdatePipelineInformation()
    _check()
    return reader


def times(reader):
    """Returns the list of time steps, or [0] if the data have no time steps."""
    found = reader.TimestepValues
    return (list(found) if hasattr(found, "__len__") else [found]) or [0.0]


def choose(reader, variable=None):
    """Selects one variable of the reader, by default the first. Returns ("CELLS" or "POINTS", its name)."""
    cells, points = list(reader.CellArrayStatus.Available), list(reader.PointArrayStatus.Available)
    if not cells + points:
        fail("%s has no variables" % reader.FileName[0])
    variable = variable or (cells + points)[0]
    if variable not in cells + points:
        fail("unknown variable '%s'. The variables are: %s" % (variable, ", ".join(cells + points)))
    reader.CellArrayStatus = [variable] if variable in cells else []
    reader.PointArrayStatus = [variable] if variable in points else []
    return "CELLS" if variable in cells else "POINTS", variable


def open_variable(path, variable=None, **properties):
    """Returns a PatchReader that reads one variable, and the results of choose() and times()."""
    reader = open_reader(path, **properties)
    return reader, choose(reader, variable), times(reader)


def update(proxy, time=None):
    """Updates a reader or filter to a time. Ends the script if reading fails."""
    proxy.UpdatePipeline(*[] if time is None else [time])
    _check()


def extent(reader):
    """Returns the lowest and the highest x, y, z of the shown data."""
    bounds = reader.GetDataInformation().GetBounds()
    if bounds[0] > bounds[1]:
        fail("%s has no data to show" % reader.FileName[0])
    return list(bounds[::2]), list(bounds[1::2])


def place(low, high, fraction):
    """Returns the point at a fraction of the way between two corners."""
    return [a + fraction * (b - a) for a, b in zip(low, high)]


def show(proxy, array, view, representation="Surface"):
    """Shows a proxy coloured by an array, with a legend. Returns its representation."""
    from paraview import simple
    display = simple.Show(proxy, view)
    display.SetRepresentationType(representation)
    simple.ColorBy(display, array)
    display.RescaleTransferFunctionToDataRange()
    display.SetScalarBarVisibility(view, True)
    return display


def values_of(proxy, array, what):
    """Returns the lowest and the highest value of ("CELLS", name). Ends the script if the proxy has no values to draw."""
    kind, name = array
    found = (proxy.CellData if kind == "CELLS" else proxy.PointData)[name]
    low, high = found.GetRange(0) if found else (1, 0)
    if not low <= high:
        fail("%s has no value of '%s'" % (what, name))
    return low, high


def save(path, view):
    """Writes an image of the view. Ends the script if reading the data or writing the image fails."""
    from paraview import simple
    if os.path.exists(path):
        os.remove(path)
    simple.Render(view)
    _check()
    simple.SaveScreenshot(path, view)
    if not os.path.isfile(path):
        fail("writing %s failed" % path)

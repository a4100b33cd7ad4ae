"""Functions shared by these examples. Each error ends a script with one message. The exit code is 2 for wrong arguments (1 on several
ranks), and 1 for missing files, unknown variables, unreadable data and empty images.

    path, picture, variable = checks.arguments(__doc__, 2, 3)
    reader, array, times = checks.open_variable(path, variable)     # array: ("CELLS", "density"), the only one that is read
    checks.update(reader, times[-1])
"""
import os
import sys


class Fault(Exception):
    """Ends the script with its message and exit code 1. (sys.exit() would leave the other ranks of pvbatch behind.)"""


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
    """What was given on the command line, filled up with None. `usage`: the script's docstring, which has the command line."""
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
    """The path, if it is there."""
    return path if os.path.exists(path) else fail("the file %s does not exist" % path)


def output(path):
    """The path, if its folder is there."""
    folder = os.path.dirname(path) or "."
    return path if os.path.isdir(folder) else fail("the folder %s of %s does not exist" % (folder, path))


# ---- with ParaView ---------------------------------------------------------------------------------------

_said = []      # what readers report as errors


def _hear(caller, event, message=None):
    """Keeps errors that ParaView would only log, and which would not end a script."""
    _said.append(message)


_hear.CallDataType = "string0"


def _check():
    # ParaView's "Algorithm ... returned failure" follows the reader's own message.
    if _said:
        fail(next((text for text in _said if "returned failure" not in text), _said[0]).split("): ", 1)[-1].strip())


def open_reader(path, **properties):
    """A PatchReader of a data set that is there and can be opened."""
    from paraview import simple
    from vtkmodules.vtkCommonCore import vtkLogger
    data_file(path)
    plugin = os.environ.get("PATCHIO_PLUGIN", "")
    if not os.path.isfile(plugin):
        fail("set PATCHIO_PLUGIN to the path of PatchIO.so, instead of '%s'" % plugin)
    if not hasattr(simple, "PatchReader"):
        simple.LoadPlugin(plugin, remote=True, ns=vars(simple))
    usual = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)   # ParaView updates a new reader at once and logs that it has no file
    reader = simple.PatchReader(**properties)
    vtkLogger.SetStderrVerbosity(usual)
    source = reader.GetClientSideObject()
    for speaker in (source, source.GetExecutive()):
        speaker.AddObserver("ErrorEvent", _hear)
    reader.FileName = [path]    # only now, so that _hear() hears what is wrong with it
    reader.UpdatePipelineInformation()
    _check()
    return reader


def times(reader):
    """The time steps, as a list; [0] where there are none."""
    found = reader.TimestepValues
    return (list(found) if hasattr(found, "__len__") else [found]) or [0.0]


def choose(reader, variable=None):
    """Has the reader read just one variable, the first where none is named: ("CELLS" or "POINTS", its name)."""
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
    """A PatchReader of a data set, of which it reads just one variable; what choose() and times() give."""
    reader = open_reader(path, **properties)
    return reader, choose(reader, variable), times(reader)


def update(proxy, time=None):
    """Brings a reader or filter to a time; ends the script where the reader cannot."""
    proxy.UpdatePipeline(*[] if time is None else [time])
    _check()


def extent(reader):
    """Lowest and highest x, y, z of what is shown."""
    bounds = reader.GetDataInformation().GetBounds()
    if bounds[0] > bounds[1]:
        fail("%s has no data to show" % reader.FileName[0])
    return list(bounds[::2]), list(bounds[1::2])


def place(low, high, fraction):
    """The point at a fraction of the way between two corners."""
    return [a + fraction * (b - a) for a, b in zip(low, high)]


def show(proxy, array, view, representation="Surface"):
    """Shows a proxy in the colours of an array, with their legend, and gives its representation."""
    from paraview import simple
    display = simple.Show(proxy, view)
    display.SetRepresentationType(representation)
    simple.ColorBy(display, array)
    display.RescaleTransferFunctionToDataRange()
    display.SetScalarBarVisibility(view, True)
    return display


def values_of(proxy, array, what):
    """Lowest and highest value of ("CELLS", name); ends the script where there is none in what is to be drawn."""
    kind, name = array
    found = (proxy.CellData if kind == "CELLS" else proxy.PointData)[name]
    low, high = found.GetRange(0) if found else (1, 0)
    if not low <= high:
        fail("%s has no value of '%s'" % (what, name))
    return low, high


def save(path, view):
    """A picture. Ends the script when it cannot be written, or when what is drawn could not be read."""
    from paraview import simple
    if os.path.exists(path):
        os.remove(path)
    simple.Render(view)
    _check()
    simple.SaveScreenshot(path, view)
    if not os.path.isfile(path):
        fail("writing %s failed" % path)

"""Common functions of the scripts that the suites run in pvbatch: readers, views, times, memory and results. Loads the plugin."""
import json
import os
import random
import re
import sys
import time

import numpy
import paraview.simple
from paraview import servermanager
from paraview.simple import *

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "ParaView"))
from leaves import leaves, seen_in  # noqa: E402, F401

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())


def print_json(found):
    print("JSON " + json.dumps(found), flush=True)


def timed(work, *arguments):
    """Returns the seconds of work(*arguments)."""
    begin = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - begin


def shuffled(names, number):
    """Returns the names in another order for each number, so that a name does not always follow the same one."""
    names = list(names)
    random.Random(number).shuffle(names)
    return names


def memory(*lines):
    """Returns the sum of these lines of /proc/self/status, such as VmRSS, in bytes."""
    with open("/proc/self/status") as status:
        found = dict(re.findall(r"^(\w+):\s+(\d+) kB", status.read(), re.MULTILINE))
    return 1024 * sum(int(found[line]) for line in lines)


# ---- readers -------------------------------------------------------------------------------------------------

def patch_reader(path, blocks="Merged", **settings):
    """Returns PatchIO's reader with a thread for each core."""
    return PatchReader(FileName=[path], Blocks=blocks, ThreadMode="Fixed", **{"ThreadsPerRank": os.cpu_count(), **settings})


def amrex_reader(paths, arrays=None):
    """Returns ParaView's AMReX reader with all levels; its default is the coarsest level. arrays: all, if None."""
    reader = AMReXBoxLibGridReader(FileNames=paths)
    reader.Level = 30
    reader.UpdatePipelineInformation()
    reader.CellArrayStatus = arrays or reader.CellArrayStatus.Available
    return reader


def times_of(reader):
    """Returns the times of all steps. ParaView's AMReX reader has no times; its step is 0."""
    reader.UpdatePipelineInformation()
    times = reader.TimestepValues
    return list(times if hasattr(times, "__len__") else [times]) or [0.0]


def grids_of(reader):
    """Returns the data sets of a reader on this rank."""
    return leaves(reader.GetClientSideObject().GetOutputDataObject(0))


def report_of(reader):
    reader.UpdatePropertyInformation()
    return reader.GetPropertyValue("IOReport")


def report_data_of(reader):
    reader.UpdatePropertyInformation()
    return json.loads(reader.GetPropertyValue("IOReportData"))


# ---- filters and views ---------------------------------------------------------------------------------------

def set_fast_extraction(on):
    """Selects PatchIO's filters and surfaces, or ParaView's own."""
    servermanager.vtkSMParaViewPipelineController().UpdateSettingsProxies(servermanager.ActiveConnection.Session)
    GetSettingsProxy("PatchIOSettings").FastExtraction = int(on)


def plane_slice(source, origin, normal, **settings):
    proxy = Slice(Input=source, SliceType="Plane", **settings)
    proxy.SliceType.Origin, proxy.SliceType.Normal = list(origin), list(normal)
    return proxy


def make_view():
    paraview.simple._DisableFirstRenderCameraReset()
    view = CreateRenderView(ViewSize=[800, 600])
    view.OrientationAxesVisibility = 0
    return view


def look_at(view, bounds):
    """Shows the whole data from the side of the slices."""
    low, high = numpy.array(bounds[0::2]), numpy.array(bounds[1::2])
    centre, size = (low + high) / 2, numpy.linalg.norm(high - low)
    view.CameraFocalPoint = list(centre)
    view.CameraPosition = list(centre + size * numpy.array([1.35, 0.7, 0.45]))
    view.CameraViewUp = [0, 0, 1]


def show(source, view, where, array, representation="Surface"):
    """Shows a source, coloured by an array. By default, ParaView draws large data as outlines."""
    display = Show(source, view)
    display.SetRepresentationType(representation)
    ColorBy(display, (where, array))
    display.SetScalarBarVisibility(view, False)
    return display

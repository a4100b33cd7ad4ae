"""Opens data on a server with 4 ranks, causes an error there, and continues.

usage: with_server.sh 4 pvpython client_server.py DATA
"""
import json
import os
import shutil
import sys
import tempfile

from paraview.simple import *
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import require  # noqa: E402

data = sys.argv[1]
Connect("127.0.0.1", int(os.environ["PATCHIO_PORT"]))    # by number, because a minimal system may not resolve localhost
LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())


def report(reader):
    reader.UpdatePropertyInformation()
    lines = reader.GetPropertyValue("IOReport").splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


# The report of a prefetched step has no curves over time.
reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"], ThreadMode="Fixed", ThreadsPerRank=4, Prefetch=0)
require(len(reader.TimestepValues) == 4, "4 time steps, not %d" % len(reader.TimestepValues))
require(list(reader.CellArrayStatus) == ["uval"], "arrays %s" % list(reader.CellArrayStatus))
for time in reader.TimestepValues:
    reader.UpdatePipeline(time)
    low, high = reader.CellData["uval"].GetRange(0)
    require(4.9 < low < 5.1 and 40 < high < 80.1, "values %g to %g at %g" % (low, high, time))
    require(report(reader)["Ranks"] == "4", "report %s" % report(reader))

# Uses the plugin's Extract Surface on the server; ParaView's own filter would crash here.
surface = ExtractSurface(Input=reader)
surface.UpdatePipeline(reader.TimestepValues[-1])
found = surface.GetDataInformation().GetNumberOfCells()
require(found > 1000, "Extract Surface has %d faces" % found)
Delete(surface)

# The data of the report's plots come completely from the server.
numbers = json.loads(reader.GetPropertyValue("IOReportData"))
require(numbers["ranks"] == 4 and len(numbers["past"]) == len(reader.TimestepValues), "numbers %s" % numbers)
require(numbers["moments"]["bytes"][-1] == numbers["bytes"] > 0, "moments %s" % numbers["moments"])

view = CreateRenderView(ViewSize=[300, 200])
Show(reader, view)
view.ResetCamera()
Render(view)

# A wrong path is an error on the server, and the session continues.
broken = PatchReader(FileName=[data + "/nothing/dumps.visit"])
try:
    broken.UpdatePipeline()
except RuntimeError:
    pass
require(broken.GetDataInformation().GetNumberOfCells() == 0, "cells in a set that does not exist")
Delete(broken)

# Opens data by the name of the file only, like users.
other = OpenDataFile(data + "/linadv_2d/dumps.visit")
require(other is not None and other.GetXMLName() == "PatchReader", "OpenDataFile did not choose PatchReader")
other.UpdatePipeline()
require(other.GetDataInformation().GetNumberOfCells() > 0, "an empty second set")
color = Show(other, view).ColorArrayName[:]
require(color == ["CELLS", "flux"], "the first picture of a server's data is coloured by %s" % color)
Render(view)

# A growing series: all ranks of the server get the new steps.
with tempfile.TemporaryDirectory() as folder:
    shutil.copytree(data + "/linadv_3d", folder, dirs_exist_ok=True)
    os.rename(folder + "/visit_dump.00048", folder + "/later")
    with open(folder + "/dumps.visit", "w") as index:
        index.write("visit_dump.00000/summary.samrai\n")
    growing = PatchReader(FileName=[folder + "/dumps.visit"], Follow=1)
    growing.UpdatePipeline()
    os.rename(folder + "/later", folder + "/visit_dump.00048")
    growing.UpdatePipelineInformation()
    require(len(growing.TimestepValues) == 4, "%d steps of a series that has grown to 4" % len(growing.TimestepValues))
    growing.UpdatePipeline(growing.TimestepValues[-1])
    reader.UpdatePipeline(growing.TimestepValues[-1])
    ranges = [source.CellData["uval"].GetRange(0) for source in (growing, reader)]
    require(ranges[0] == ranges[1], "values %s, not %s" % tuple(ranges))
print("passed: client and server")
Disconnect()

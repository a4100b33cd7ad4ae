"""Reads data with the plugin in PV_PLUGIN_PATH, without loading it explicitly.

usage: PV_PLUGIN_PATH=FOLDER pvbatch installed_plugin.py FOLDER DUMPS.VISIT
"""
import sys

from paraview.simple import *

folder, dumps = sys.argv[1:3]
reader = OpenDataFile(dumps)
if reader is None or reader.GetXMLName() != "PatchReader":
    sys.exit("FAILED: the plugin in %s was not loaded" % folder)
# Checks that this process uses the installed libraries.
with open("/proc/self/maps") as maps:
    used = {line.split()[-1] for line in maps if "PatchIO" in line}
if not used or any(not path.startswith(folder) for path in used):
    sys.exit("FAILED: libraries from elsewhere: %s" % used)
reader.UpdatePipeline()
if reader.GetDataInformation().GetNumberOfCells() == 0:
    sys.exit("FAILED: nothing was read")
print("passed: %d cells" % reader.GetDataInformation().GetNumberOfCells())

"""Opens and shows one dump in pvbatch, and prints the time of each stage as JSON. suites/stages.py runs it.

usage: pvbatch many_patches.py SUMMARY THREADS
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

seconds = {}


def stage(name, work):
    seconds[name] = timed(work)
    print("%-16s %8.3f s" % (name, seconds[name]), flush=True)


reader = patch_reader(sys.argv[1], "As patches", ThreadsPerRank=int(sys.argv[2]))
stage("information", reader.UpdatePipelineInformation)
stage("update", reader.UpdatePipeline)
line, = re.findall("^Seconds: (.*)$", report_of(reader), re.MULTILINE)
for item in line.split(", "):
    name, value = item.split()
    seconds["report " + name] = float(value)

view = make_view()


def show_surface():
    show(reader, view, "CELLS", reader.CellArrayStatus[0])
    view.ResetCamera()


stage("show", show_surface)
stage("first render", lambda: Render(view))
stage("second render", lambda: Render(view))
print_json(seconds)

"""A client of a pvserver: reads a step there, and says whether what comes to it is right.

usage: pvpython client.py PORT FOLDER STEP [STEP...]
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import at_work_in_paraview as here  # noqa: E402
import series  # noqa: E402
from paraview import servermanager, simple  # noqa: E402

port, folder, steps = int(sys.argv[1]), sys.argv[2], [int(word) for word in sys.argv[3:]]
simple.Connect("127.0.0.1", port)
simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=vars(simple))
simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
reader = simple.PatchReader(FileName=[folder + "/dumps.visit"], CacheMemory=0, Prefetch=0)
for step in steps:
    print("reading", flush=True)
    reader.UpdatePipeline(float(step))
    cells = wrong = 0
    for grid in here.leaves(servermanager.Fetch(reader)):
        cells += grid.GetNumberOfCells()
        found = here.vtk_to_numpy(grid.GetCellData().GetArray("u"))
        wrong += not here.np.array_equal(found, series.formula(here.centres_of(grid), step, 0).astype("f4"))
    print("right" if cells == series.CELLS and not wrong else "wrong: %d cells, %d wrong blocks" % (cells, wrong), flush=True)
simple.Disconnect()

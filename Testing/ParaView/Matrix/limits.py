#!/usr/bin/python3
"""Shows the limits of ParaView 5.11 without PatchIO, with ParaView's own data, as evidence for Documentation/Guide/Limits.md.

usage: limits.py (each limit in a session of pvbatch; prints which limits still exist)
       pvbatch limits.py NAME (one limit; prints "works" if it no longer exists)
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# A source with one more block at the second time step.
GROWING = """
from vtkmodules.vtkCommonCore import vtkDoubleArray
from vtkmodules.vtkCommonDataModel import vtkImageData
time = self.GetOutputInformation(0).Get(vtk.vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP())
for block in range(1 + int(time)):
    grid, values = vtkImageData(), vtkDoubleArray()
    grid.SetOrigin(4 * block, 0, 0)
    grid.SetDimensions(5, 5, 5)
    values.SetName("f")
    values.SetNumberOfTuples(64)
    values.Fill(time)
    grid.GetCellData().AddArray(values)
    self.GetOutput().SetBlock(block, grid)
"""
TIMES = """
keys, info = vtk.vtkStreamingDemandDrivenPipeline, self.GetOutputInformation(0)
info.Set(keys.TIME_STEPS(), [0.0, 1.0], 2)
info.Set(keys.TIME_RANGE(), [0.0, 1.0], 2)
"""


def growing():
    from paraview import simple
    return simple.ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet", Script=GROWING, ScriptRequestInformation=TIMES)


def shown(data):
    from paraview import simple
    producer = simple.TrivialProducer()
    producer.GetClientSideObject().SetOutput(data)
    producer.UpdatePipeline()
    return producer


def boxes(rectilinear):
    """Returns a tree of one grid with values at points, all defined."""
    import numpy as np
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonDataModel import vtkMultiBlockDataSet, vtkRectilinearGrid, vtkUniformGrid
    grid = vtkRectilinearGrid() if rectilinear else vtkUniformGrid()
    grid.SetDimensions(12, 9, 5)
    if rectilinear:
        for put, count in ((grid.SetXCoordinates, 12), (grid.SetYCoordinates, 9), (grid.SetZCoordinates, 5)):
            put(numpy_to_vtk(np.arange(float(count)), deep=True))
    values = numpy_to_vtk(np.random.default_rng(1).random(12 * 9 * 5), deep=True)
    values.SetName("f")
    grid.GetPointData().AddArray(values)
    tree = vtkMultiBlockDataSet()
    tree.SetBlock(0, grid)
    return tree


def statistics():
    from paraview import simple
    simple.TemporalStatistics(Input=growing()).UpdatePipeline()
    return True


def volume():
    from paraview import simple
    sys.path[:0] = [HERE, os.path.dirname(HERE)]
    from checks import coloured
    source, view = shown(boxes(True)), simple.CreateRenderView(ViewSize=[200, 150])
    view.OrientationAxesVisibility = 0
    display = simple.Show(source, view)
    display.SetRepresentationType("Volume")
    simple.ColorBy(display, ("POINTS", "f"))
    display.RescaleTransferFunctionToDataRange(True, False)
    display.SetScalarBarVisibility(view, False)
    simple.ResetCamera(view)
    simple.Render(view)
    path = os.path.join(os.environ["TMPDIR"], "volume.png")
    simple.SaveScreenshot(path, view)
    simple.Delete(view)
    return coloured(path) > 0.02


def append():
    from paraview import simple
    source = shown(boxes(False))
    made = simple.AppendDatasets(Input=[source, shown(boxes(False))])
    made.UpdatePipeline()
    return made.GetDataInformation().GetNumberOfCells() > 0


def pvd():
    from paraview import simple
    path = os.path.join(os.environ["TMPDIR"], "saved.pvd")
    simple.SaveData(path, proxy=shown(boxes(False)))
    return os.path.exists(path)


def face():
    """Returns whether a slice on the last faces of a block shows these faces if another cell of the block is hidden."""
    from paraview import simple
    from vtkmodules.util.numpy_support import numpy_to_vtk
    import numpy as np
    tree = boxes(False)
    grid = tree.GetBlock(0)
    grid.SetSpacing(0.1, 1, 1)    # the sum of 11 times 0.1 is less than 1.1
    flags = numpy_to_vtk((np.arange(11 * 8 * 4) == 0) * np.uint8(32), deep=True)
    flags.SetName("vtkGhostType")
    grid.GetCellData().AddArray(flags)
    cut = simple.Slice(Input=shown(tree))
    cut.SliceType.Origin, cut.SliceType.Normal = [grid.GetBounds()[1], 4, 2], [1, 0, 0]
    cut.UpdatePipeline()
    return cut.GetDataInformation().GetNumberOfCells() > 0


def flat_image():
    """Returns whether an image of 2-D data has visible cells."""
    from paraview import simple
    from vtkmodules.vtkParallelCore import vtkMultiProcessController
    image = simple.ResampleToImage(Input=simple.Wavelet(WholeExtent=[0, 20, 0, 20, 0, 0]), SamplingDimensions=[10, 10, 10])
    image.UpdatePipeline()
    made = image.GetClientSideObject().GetOutput()
    flags = made.GetCellGhostArray()
    shows = not flags or any(not flags.GetValue(c) for c in range(made.GetNumberOfCells()))
    return shows and vtkMultiProcessController.GetGlobalController().GetLocalProcessId() == 0


def plot_data_over_time():
    """Tests a block with an array that exists only at the first time step."""
    from paraview import simple
    script = GROWING + """
for name in ["g", "h"][:2 - 2 * int(time)]:
    more = vtkDoubleArray()
    more.SetName(name)
    more.SetNumberOfTuples(64)
    self.GetOutput().GetBlock(0).GetCellData().AddArray(more)
"""
    source = simple.ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet", Script=script, ScriptRequestInformation=TIMES)
    simple.PlotDataOverTime(Input=source, FieldAssociation="Cells").UpdatePipeline()
    return True


def no_numbers():
    """Returns whether a file with a vector of only NaN can be read back without an error."""
    from paraview import simple
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader
    import numpy as np
    grid = boxes(False).GetBlock(0)
    vector = numpy_to_vtk(np.full((12 * 9 * 5, 3), np.nan), deep=True)
    vector.SetName("v")
    grid.GetPointData().AddArray(vector)
    path, said = os.path.join(os.environ["TMPDIR"], "saved.vti"), []
    simple.SaveData(path, proxy=shown(grid))
    reader = vtkXMLImageDataReader()
    reader.SetFileName(path)
    reader.AddObserver("ErrorEvent", lambda *about: said.append(1))
    reader.Update()
    return not said


LIMITS = {
    "Temporal Statistics of blocks that change": statistics,
    "Volume of rectilinear grids in blocks": volume,
    "Append Datasets of blocks": append,
    "Save Data of blocks as pvd": pvd,
    "Slice on the last faces of blocks with hidden cells": face,
    "Resample To Image of 2-D data on 2 ranks": flat_image,
    "Plot Data Over Time where arrays change": plot_data_over_time,
    "Reading vectors without numbers back": no_numbers,
}
def run(name):
    ranks = "2" if "2 ranks" in name else "1"
    command = [os.path.join(HERE, "..", "pvbatch.sh"), ranks, os.path.abspath(__file__), name]
    environment = {**os.environ, "PATCHIO_PLUGIN": "none", "PATCHIO_TIMEOUT": "60"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment)
    return "works" in done.stdout.splitlines()


def main():
    if len(sys.argv) > 1:
        return 0 if LIMITS[sys.argv[1]]() and not print("works", flush=True) else 1
    wrong = 0
    for name in LIMITS:
        works = run(name)
        print("%s: %s" % (name, "works" if works else "does not work"), flush=True)
        wrong += works
    print("limits: %d are not as Documentation/Guide/Limits.md says" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

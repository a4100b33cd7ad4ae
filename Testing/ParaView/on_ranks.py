"""Common functions of scripts that run on each rank of pvbatch."""
import os
import shutil
import sys

from leaves import leaves  # noqa: F401
from vtkmodules.vtkCommonCore import vtkDoubleArray, vtkOutputWindow, vtkStringOutputWindow
from vtkmodules.vtkParallelCore import vtkCommunicator, vtkMultiProcessController
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402, F401

DUPLICATECELL = 1  # vtkDataSetAttributes
controller = vtkMultiProcessController.GetGlobalController()
rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()


def said_by(work):
    """Returns the errors and warnings of VTK during work()."""
    window, before = vtkStringOutputWindow(), vtkOutputWindow.GetInstance()
    vtkOutputWindow.SetInstance(window)
    try:
        work()
    finally:
        vtkOutputWindow.SetInstance(before)
    return window.GetOutput()


def new_container(folder, name):
    """Collective: returns the path of a container that does not exist."""
    path = os.path.join(folder, name + ".pio")
    if rank == 0:
        shutil.rmtree(path, ignore_errors=True)
    controller.Barrier()
    return path


def output_of(proxy):
    """Returns this rank's part of the output."""
    return proxy.SMProxy.GetClientSideObject().GetOutputDataObject(0)


def patches_of_tree(tree):
    """Returns {number of the patch, over all levels: its grid} of this rank, for a tree with a block for each patch."""
    found, first = {}, 0
    for level in range(tree.GetNumberOfBlocks()):
        pieces = tree.GetBlock(level)
        for piece in range(pieces.GetNumberOfPieces()):
            grid = pieces.GetPieceAsDataObject(piece)
            if grid:
                found[first + int(grid.GetFieldData().GetArray("patch").GetValue(0))] = grid
        first += pieces.GetNumberOfPieces()
    return found


def sum_over_ranks(value):
    """Collective."""
    mine, total = vtkDoubleArray(), vtkDoubleArray()
    mine.InsertNextValue(value)
    total.SetNumberOfValues(1)
    controller.AllReduce(mine, total, vtkCommunicator.SUM_OP)
    return total.GetValue(0)


def report_of(reader):
    reader.UpdatePropertyInformation()
    return reader.GetPropertyValue("IOReport")


def finish(name):
    """Ends the script. Rank 0 prints that the script has passed."""
    if not failed and rank == 0:
        print("passed: " + name, flush=True)
    sys.exit(1 if failed else 0)

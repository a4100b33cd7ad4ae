"""Common functions of scripts that run on each rank of pvbatch."""
import io
import os
import pickle
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from leaves import leaves  # noqa: F401
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkOutputWindow, vtkStringOutputWindow, vtkUnsignedCharArray
from vtkmodules.vtkParallelCore import vtkMultiProcessController
TESTING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, TESTING)
from expectations import expect, failed, require  # noqa: E402, F401

DUPLICATECELL = 1  # vtkDataSetAttributes
READ_DUMP = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from reference import read_truth
_, arrays = read_truth(sys.argv[2], blanking=False)
np.savez(sys.argv[4], **{key: arrays[key] for key in arrays if key.endswith("/" + sys.argv[3])})
"""
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


def by_h5py(script, *arguments):
    """Runs a script in another process, because ParaView and h5py have different HDF5 libraries."""
    subprocess.run(["/usr/bin/python3", "-B", "-c", script, *map(str, arguments)], check=True, env={"PATH": os.environ["PATH"]})


def truth_of_dump(folder, name):
    """Returns {number of a patch: its values} of a variable in a dump of SAMRAI, as h5py reads them."""
    with tempfile.NamedTemporaryFile(suffix=".npz") as target:
        by_h5py(READ_DUMP, os.path.join(TESTING, "Formats", "SAMRAI"), os.path.join(folder, "summary.samrai"), name, target.name)
        with np.load(target.name) as arrays:
            return {int(key.split("/")[0][1:]): arrays[key] for key in arrays}


def sorted_dump(folder, name):
    """Returns the sorted values of all patches of a dump, as h5py reads them."""
    return np.sort(np.concatenate([values.ravel() for values in truth_of_dump(folder, name).values()]))


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


def from_all_ranks(value):
    """Collective: returns the values of all ranks, which may be any objects that can be pickled."""
    if ranks == 1:
        return [value]
    mine, found = numpy_to_vtk(np.frombuffer(pickle.dumps(value), np.uint8), deep=True), vtkUnsignedCharArray()
    controller.AllGatherV(mine, found)
    stream = io.BytesIO(vtk_to_numpy(found).tobytes())
    return [pickle.load(stream) for _ in range(ranks)]


def sum_over_ranks(value):
    """Collective."""
    return np.sum(from_all_ranks(value), axis=0)


def report_of(reader):
    reader.UpdatePropertyInformation()
    return reader.GetPropertyValue("IOReport")


def finish(name):
    """Ends the script. Rank 0 prints that the script has passed."""
    if not failed and rank == 0:
        print("passed: " + name, flush=True)
    sys.exit(1 if failed else 0)

"""Tests the threads that VTK's filters get from the reader, and that their results do not depend on threads.

usage: Testing/ParaView/pvbatch.sh NP filter_threads.py OUTPUT

Runs on every rank. The data are an analytic field on a grid, once in one large block and once in many small ones.
"""
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkSMPTools

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "AMReX"))
from on_ranks import controller, expect, finish, leaves, output_of, rank, ranks  # noqa: E402
from plotfile_writer import tiles, write_plotfile  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
DOMAIN = ((0, 0, 0), (127, 127, 63))    # several ranks get blocks of an eighth of the domain
OWN, ALL = vtkSMPTools.GetBackend(), vtkSMPTools.GetEstimatedNumberOfThreads()   # before PatchIO changes anything


def backend():
    return vtkSMPTools.GetBackend()


def chosen(threads, small=False):
    """Returns the backend for a number of threads. TBB cannot raise its number of threads again, and costs nothing on small blocks."""
    if OWN == "TBB" and threads >= ALL:
        return "TBB"
    return "STDThread" if threads > 1 and not small else "Sequential"


# VTK starts at most as many threads as cores. TBB counts the cores that mpirun has bound the rank to.
THREE = ALL if chosen(3) == "TBB" else min(3, os.cpu_count())


def gradients(reader):
    """Returns the gradients in the cells of this rank, sorted by place."""
    gradient = Gradient(Input=reader, ScalarArray=["CELLS", "f"])
    gradient.UpdatePipeline()
    found = {}
    for leaf in leaves(output_of(gradient)):
        found[leaf.GetExtent()] = vtk_to_numpy(leaf.GetCellData().GetArray("Gradient")).copy()
    return found


path = os.path.join(sys.argv[1], "plt00000")
if rank == 0:
    os.makedirs(sys.argv[1], exist_ok=True)
    write_plotfile(path, DOMAIN, [tiles(*DOMAIN, (16, 16, 16))], names=["f"])
controller.Barrier()
expect(OWN in ("Sequential", "TBB"), "another backend than expected at first: %s", OWN)

# Large blocks get the requested number of threads, also after a single thread. Small blocks get threads only in the mode "always"
# or with TBB.
large = PatchReader(FileName=[path])
for threads in (3, 1, 3):
    large.FilterThreadsPerRank = threads
    large.UpdatePipeline()
    expect(backend() == chosen(threads), "%d threads for large blocks: %s", threads, backend())
    found = vtkSMPTools.GetEstimatedNumberOfThreads()
    expect(found == min(threads, THREE), "%d threads for large blocks: %d", threads, found)
with_threads = gradients(large)
small = PatchReader(FileName=[path], Blocks="As patches", FilterThreadsPerRank=3)
small.UpdatePipeline()
expect(backend() == chosen(3, small=True), "small blocks got %s", backend())
small.FilterThreading = "Always"
small.UpdatePipeline()
expect(backend() == chosen(3), "'Always' did not count: %s", backend())
small.UpdatePropertyInformation()
expect("Filter threads per rank: %d\n" % THREE in small.GetPropertyValue("IOReport"), "the report has another number")

# The default number: the cores of this machine divided among its ranks.
small.FilterThreadsPerRank = 0
small.UpdatePipeline()
cores = max(1, len(os.sched_getaffinity(0)) // ranks)
found = vtkSMPTools.GetEstimatedNumberOfThreads() if backend() != "Sequential" else 1
expect(found == cores or ranks > 1 and 1 <= found <= os.cpu_count(), "%d threads, not %d", found, cores)

# The values are equal with and without threads.
small.FilterThreading, large.FilterThreading = "For large blocks", "For large blocks"
small.UpdatePipeline()
expect(backend() == chosen(cores, small=True), "threads were not taken back: %s", backend())
small.FilterThreadsPerRank = 1
small.UpdatePipeline()
expect(backend() == chosen(1), "one thread is %s", backend())
without = gradients(PatchReader(FileName=[path], FilterThreading="As ParaView is set"))
expect(backend() == chosen(1), "'As ParaView is set' chose %s", backend())
expect(set(with_threads) == set(without) and without, "other blocks with threads")
for extent, values in without.items():
    expect(np.array_equal(values, with_threads.get(extent)), "threads change the gradient of %s", extent)

# A backend that was chosen elsewhere stays.
vtkSMPTools.SetBackend("STDThread")
vtkSMPTools.Initialize(1)
small.FilterThreading, small.FilterThreadsPerRank = "Always", 3
small.UpdatePipeline()
expect(vtkSMPTools.GetEstimatedNumberOfThreads() == 1, "a choice of the user's was overruled")

finish("threads of filters")

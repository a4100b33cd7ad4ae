"""One-level reading inside ParaView: each rank reads its patches of a SAMRAI dump one after another with the HDF5
library (h5py's low-level calls), like classical readers. The scripts of a ProgrammableSource call it on each rank;
see whole_frame.py.

It does only the work of reading patches: it counts the steps in dumps.visit, opens only files of displayed steps, keeps the files
of a step open, and passes values to VTK without a copy. It supports only uniform patches without ghost cells.
"""
import os
import time

import h5py
import numpy
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkDoubleArray
from vtkmodules.vtkCommonDataModel import vtkMultiPieceDataSet, vtkUniformGrid
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline

SECONDS = "seconds of reading"  # field data: seconds of this rank from the name of the file to blocks


def summaries_of(series):
    """Returns the summaries of the steps that dumps.visit lists."""
    with open(series) as listed:
        return [os.path.join(os.path.dirname(series), line.strip()) for line in listed if line.strip()]


def tell_times(source, series):
    """Does RequestInformation: the time of a step is its number."""
    information = source.GetOutputInformation(0)
    steps = len(summaries_of(series))
    information.Set(Pipeline.TIME_STEPS(), list(map(float, range(steps))), steps)
    information.Set(Pipeline.TIME_RANGE(), [0.0, steps - 1.0], 2)


def share_of(rank, ranks, count):
    """Returns the patches of a rank: consecutive in the file, with an equal share for each rank."""
    return range(rank * count // ranks, (rank + 1) * count // ranks)


class Clusters:
    """Data files of a step, each opened once."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}

    def values_of(self, place, variable):
        number = place["file_cluster_number"]
        if number not in self.files:
            name = os.path.join(self.folder, "processor_cluster.%05d.samrai" % number)
            self.files[number] = h5py.h5f.open(name.encode(), h5py.h5f.ACC_RDONLY)
        name = "/processor.%05d/level.%05d/patch.%05d/%s" % (place["processor_number"], place["level_number"],
                                                             place["patch_number"], variable)
        dataset = h5py.h5d.open(self.files[number], name.encode())
        values = numpy.empty(dataset.shape, "f4")
        dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, values)
        return values


def read_patches(summary, variable, rank, ranks):
    """Yields (origin, spacing, extent, values) of each patch of this rank."""
    with h5py.File(summary, "r") as file:
        origin, spacing = file["BASIC_INFO/XLO"][:], file["BASIC_INFO/dx"][0]
        extents, places = file["extents/patch_extents"][:], file["extents/patch_map"][:]
    clusters = Clusters(os.path.dirname(summary))
    for patch in share_of(rank, ranks, len(places)):
        lower, upper = extents[patch]["lower"], extents[patch]["upper"]
        extent = [int(bound) for axis in range(3) for bound in (lower[axis], upper[axis] + 1)]
        yield origin, spacing, extent, clusters.values_of(places[patch], variable)


def grid_of(origin, spacing, extent, values, variable):
    grid = vtkUniformGrid()
    grid.SetOrigin(origin)
    grid.SetSpacing(spacing)
    grid.SetExtent(extent)
    array = numpy_to_vtk(values)
    array.SetName(variable)
    grid.GetCellData().AddArray(array)
    return grid


def read(source, series, variable):
    """Does RequestData: one block for the level, with one piece for each patch of this rank."""
    begin = time.perf_counter()
    information = source.GetOutputInformation(0)
    summaries = summaries_of(series)
    step = int(information.Get(Pipeline.UPDATE_TIME_STEP())) if information.Has(Pipeline.UPDATE_TIME_STEP()) else 0
    rank = information.Get(Pipeline.UPDATE_PIECE_NUMBER())
    ranks = information.Get(Pipeline.UPDATE_NUMBER_OF_PIECES())
    level = vtkMultiPieceDataSet()
    for patch in read_patches(summaries[step], variable, rank, ranks):
        level.SetPiece(level.GetNumberOfPieces(), grid_of(*patch, variable))
    output = source.GetOutputDataObject(0)
    output.SetBlock(0, level)
    seconds = vtkDoubleArray()
    seconds.SetName(SECONDS)
    seconds.InsertNextValue(time.perf_counter() - begin)
    output.GetFieldData().AddArray(seconds)

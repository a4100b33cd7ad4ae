"""PatchIO's reader, filters and writer as classes of VTK, for programs that use VTK without ParaView.

    from patchio.vtk import vtkPatchReader, vtkPatchContour

    reader = vtkPatchReader()
    reader.AddFileName("dumps.visit")
    contour = vtkPatchContour()
    contour.SetInputConnection(reader.GetOutputPort())
    contour.SetInputArrayToProcess(0, 0, 0, 1, "density")
    contour.SetValue(0, 0.5)
    contour.Update()

The reader's output is a vtkMultiBlockDataSet with a vtkMultiPieceDataSet for each level. The package works only with the version of VTK for
which the package was built.
"""
from vtkmodules.vtkCommonCore import vtkVersion
from vtkmodules.vtkCommonDataModel import vtkImageData, vtkMultiBlockDataSet, vtkMultiPieceDataSet, vtkUniformGrid

_BUILT_FOR = "@VTK_VERSION@"
if vtkVersion.GetVTKVersion() != _BUILT_FOR:
    raise ImportError("patchio.vtk was built for VTK %s, found VTK %s. Build patchio.vtk for this VTK with "
                      "-DPATCHIO_BUILD_VTK=ON, or use the other functions of patchio, which need no VTK." % (_BUILT_FOR, vtkVersion.GetVTKVersion()))

from .vtkPatchIOFilters import (vtkPatchClip, vtkPatchContour, vtkPatchSettings, vtkPatchSlice, vtkPatchSurface,  # noqa: E402
                                vtkPatchTemporalStatistics, vtkPatchThreshold, vtkPatchVolume)
from .vtkPatchIOReaders import vtkPatchReader  # noqa: E402
from .vtkPatchIOWriters import vtkPatchWriter  # noqa: E402

__all__ = ["vtkPatchClip", "vtkPatchContour", "vtkPatchReader", "vtkPatchSettings", "vtkPatchSlice", "vtkPatchSurface",
           "vtkPatchTemporalStatistics", "vtkPatchThreshold", "vtkPatchVolume", "vtkPatchWriter", "multiblock"]


def multiblock(data):
    """Returns a vtkMultiBlockDataSet with the blocks of `data`, the output of a reader or filter. The blocks share the memory of `data`.

    The result has a vtkMultiBlockDataSet in place of each vtkMultiPieceDataSet, and a vtkImageData in place of each vtkUniformGrid, because
    PyVista does not support the classes vtkMultiPieceDataSet and vtkUniformGrid.
    """
    found = vtkMultiBlockDataSet()
    pieces = isinstance(data, vtkMultiPieceDataSet)
    for number in range(data.GetNumberOfPieces() if pieces else data.GetNumberOfBlocks()):
        child = data.GetPieceAsDataObject(number) if pieces else data.GetBlock(number)
        if isinstance(child, (vtkMultiPieceDataSet, vtkMultiBlockDataSet)):
            child = multiblock(child)
        elif isinstance(child, vtkUniformGrid):
            grid, child = child, vtkImageData()
            child.ShallowCopy(grid)
        found.SetBlock(number, child)
        if data.HasMetaData(number):
            found.GetMetaData(number).Copy(data.GetMetaData(number))
    return found

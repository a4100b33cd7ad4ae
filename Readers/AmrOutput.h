// Converts the blocks of an output to vtkOverlappingAMR.
#ifndef AmrOutput_h
#define AmrOutput_h

#include "Read/StepRead.h"

#include <string>

class vtkInformation;
class vtkMultiBlockDataSet;
class vtkOverlappingAMR;

namespace patchio {

/// Returns the reason why vtkOverlappingAMR cannot represent the data. Empty: vtkOverlappingAMR can represent
/// the data.
std::string AmrUnsupportedReason(const Catalog& catalog);

/// Returns a message for the user with AmrUnsupportedReason(). Empty: vtkOverlappingAMR can represent the
/// data.
std::string AmrUnsupportedMessage(const Catalog& catalog);

/// Sets the data object of `output` to an empty vtkOverlappingAMR if `isAmr`, otherwise to an empty
/// vtkMultiBlockDataSet. Keeps a data object of this class that `output` already has.
void SetOutputType(bool isAmr, vtkInformation* output);

/// Adds to `output` a description of the patches on the levels and in the region of `options`, without their
/// grids, if the data object of `output` is a vtkOverlappingAMR. Otherwise removes the description. VTK's
/// filters need this description before they request data.
void DescribeAmr(const Catalog& catalog, const StepOptions& options, vtkInformation* output);

/// Fills `amr` with the boxes of the patches of all ranks, and with this rank's grids from `tree` (see
/// AssembleOutput()). Level 0 of `amr` is the first level that has a patch. The extents of the grids begin at
/// index 0, as VTK's filters expect.
void FillAmr(const LoadedStep& loaded, vtkMultiBlockDataSet* tree, vtkOverlappingAMR* amr);

}  // namespace patchio

#endif

// The blocks of an output as vtkOverlappingAMR.
#ifndef AmrOutput_h
#define AmrOutput_h

#include "Read/StepRead.h"

#include <string>

class vtkInformation;
class vtkMultiBlockDataSet;
class vtkOverlappingAMR;

namespace patchio {

/// Returns why data cannot be shown as vtkOverlappingAMR; empty if they can.
std::string WhyNotAmr(const Catalog& catalog);

/// Returns a message for the user if data cannot be shown as vtkOverlappingAMR; empty if they can.
std::string NotAmrText(const Catalog& catalog);

/// Makes the output of an algorithm overlapping AMR or, if not `isAmr`, a multiblock data set.
void SetOutputType(bool isAmr, vtkInformation* output);

/// If the output is overlapping AMR, describes the patches that will be read, without their grids. VTK's
/// filters need this description before they request data.
void DescribeAmr(const Catalog& catalog, const StepOptions& options, vtkInformation* output);

/// Describes the patches of all ranks in `amr`, and adds this rank's grids from `tree` (see
/// AssembleOutput()). Level 0 of `amr` is the first level that has a patch. The extents of grids begin at
/// index 0, as VTK's filters expect.
void FillAmr(const LoadedStep& loaded, vtkMultiBlockDataSet* tree, vtkOverlappingAMR* amr);

}  // namespace patchio

#endif

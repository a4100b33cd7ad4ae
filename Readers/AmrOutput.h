// The blocks of an output as vtkOverlappingAMR.
#ifndef AmrOutput_h
#define AmrOutput_h

#include "Session/StepRead.h"

#include <string>

class vtkMultiBlockDataSet;
class vtkOverlappingAMR;

namespace patchio {

/// Why data cannot be shown as vtkOverlappingAMR; empty if they can.
std::string WhyNotAmr(const Catalog& catalog);

/// Describes the patches that are to be read, without their grids: VTK's filters ask for that before they ask
/// for data.
void DescribeAmr(const Catalog& catalog, const StepOptions& options, vtkOverlappingAMR* amr);

/// Describes the patches of all ranks and adds the grids of this one, which a tree has (see
/// AssembleOutput()). Levels count from the first one that has a patch. The grids begin at index 0, as VTK's
/// filters expect.
void FillAmr(const LoadedStep& loaded, vtkMultiBlockDataSet* tree, vtkOverlappingAMR* amr);

}  // namespace patchio

#endif

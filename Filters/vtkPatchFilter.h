/**
 * @class vtkPatchFilter
 * @brief Base class of filters that process all blocks of their input together
 *
 * The input is a uniform, rectilinear or curvilinear grid, or a composite data set of such grids; cells may
 * be hidden. The output has a child for each tree below the input's root (mostly a level of refinement) and
 * one child for all grids directly below the root. If the input is a data set, the output is a data set. For
 * other input, the filter runs VTK's filter for the same task, block by block.
 *
 * Collective: every rank of the global controller executes the filter.
 */
#ifndef vtkPatchFilter_h
#define vtkPatchFilter_h

#include "vtkDataObjectAlgorithm.h"
#include "vtkPatchIOFiltersModule.h"  // for the export macro
#include "vtkSmartPointer.h"          // for a result

namespace patchio {
class Communicator;
namespace filters {
struct Blocks;
}
}  // namespace patchio

class VTKPATCHIOFILTERS_EXPORT vtkPatchFilter : public vtkDataObjectAlgorithm
{
public:
  vtkTypeMacro(vtkPatchFilter, vtkDataObjectAlgorithm);

  /// Fills `output` from `input` without a pipeline. Returns true if this class supports the input and the
  /// properties. Otherwise returns false on all ranks and leaves `output` unchanged. May throw
  /// std::exception. Collective: every rank of the global controller calls it.
  bool Run(vtkDataObject* input, vtkDataObject* output);

protected:
  vtkPatchFilter() = default;
  ~vtkPatchFilter() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

  /// Returns the name of the class of the data sets in the output.
  virtual const char* OutputClass() const = 0;
  /// Returns whether this class supports the values of the properties; the same on all ranks.
  virtual bool SupportsProperties() = 0;
  /// Fills `output` from blocks of supported types. Returns false on all ranks, and leaves `output`
  /// unchanged, if the filter does not support the blocks or their arrays. Collective: every rank of the
  /// communicator calls it.
  virtual bool FillOutput(
      const patchio::filters::Blocks& blocks, patchio::Communicator& ranks, vtkDataObject* output) = 0;
  /// Returns VTK's filter for input that this class does not support, with the same properties. May replace
  /// `input` by converted data. Throws Error if the properties do not fit `input`.
  virtual vtkSmartPointer<vtkAlgorithm> MakeVtkFilter(vtkSmartPointer<vtkDataObject>& input) = 0;

  /// Reports the progress, from 0 to 1. Returns false if the user has stopped the filter (AbortExecute).
  bool ReportProgress(double fraction);

private:
  vtkPatchFilter(const vtkPatchFilter&) = delete;
  void operator=(const vtkPatchFilter&) = delete;
};

#endif

/**
 * @class vtkPatchFilter
 * @brief Base class of filters that process all blocks of their input together
 *
 * The input is a data set, or a composite data set whose blocks are uniform, rectilinear or curvilinear
 * grids; cells may be hidden. The output has a data set for each child of the input's root (mostly a level of
 * refinement), or is one data set if the input is one. VTK's filter for the same task processes data of other
 * kinds, block by block.
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

  /// Fills the output without a pipeline. Collective: every rank calls it. Returns false on all ranks, and
  /// leaves the output unchanged, if this class does not support the input or a property. May throw
  /// std::exception.
  bool Run(vtkDataObject* input, vtkDataObject* output);

protected:
  vtkPatchFilter() = default;
  ~vtkPatchFilter() override = default;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;
  int RequestData(vtkInformation*, vtkInformationVector**, vtkInformationVector*) override;

  /// The class of the data sets in the output.
  virtual const char* OutputClass() const = 0;
  /// Returns whether the properties are supported; the same on all ranks.
  virtual bool Supports() = 0;
  /// Collective: fills the output from blocks that are all supported. Returns false on all ranks if a block
  /// lacks something that the filter requires.
  virtual bool Make(
      const patchio::filters::Blocks& blocks, patchio::Communicator& ranks, vtkDataObject* output) = 0;
  /// Returns VTK's filter for other input, with the same properties. May replace `input` by converted data.
  virtual vtkSmartPointer<vtkAlgorithm> FilterOfVtk(vtkSmartPointer<vtkDataObject>& input) = 0;

  /// Reports the progress, 0 to 1. Returns false if the user has asked to stop.
  bool ReportProgress(double done);

private:
  vtkPatchFilter(const vtkPatchFilter&) = delete;
  void operator=(const vtkPatchFilter&) = delete;
};

#endif

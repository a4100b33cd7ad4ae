/**
 * @class vtkPatchThreshold
 * @brief Selects the cells whose values lie in a range, of many blocks together and of blocks with hidden
 * cells
 *
 * SetInputArrayToProcess() selects the cell or point array; the filter tests the first component. The output
 * consists of unstructured grids whose cells share their points.
 */
#ifndef vtkPatchThreshold_h
#define vtkPatchThreshold_h

#include "vtkPatchFilter.h"

#include <limits>  // for the range

class VTKPATCHIOFILTERS_EXPORT vtkPatchThreshold : public vtkPatchFilter
{
public:
  static vtkPatchThreshold* New();
  vtkTypeMacro(vtkPatchThreshold, vtkPatchFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// The ends of the range, which are included. Default: all values.
  vtkSetMacro(LowerThreshold, double);
  vtkGetMacro(LowerThreshold, double);
  vtkSetMacro(UpperThreshold, double);
  vtkGetMacro(UpperThreshold, double);
  ///@}

  ///@{
  /// The test for point arrays. On: all points of a cell must lie in the range. Off: one point suffices. On
  /// by default.
  vtkSetMacro(AllScalars, bool);
  vtkGetMacro(AllScalars, bool);
  ///@}

  ///@{
  /// On: selects the cells outside the range instead. Off by default.
  vtkSetMacro(Invert, bool);
  vtkGetMacro(Invert, bool);
  ///@}

protected:
  vtkPatchThreshold();
  ~vtkPatchThreshold() override = default;

  const char* OutputClass() const override { return "vtkUnstructuredGrid"; }
  bool SupportsProperties() override;
  bool FillOutput(const patchio::filters::Blocks&, patchio::Communicator&, vtkDataObject*) override;
  vtkSmartPointer<vtkAlgorithm> MakeVtkFilter(vtkSmartPointer<vtkDataObject>& input) override;

private:
  vtkPatchThreshold(const vtkPatchThreshold&) = delete;
  void operator=(const vtkPatchThreshold&) = delete;

  double LowerThreshold = -std::numeric_limits<double>::infinity();
  double UpperThreshold = std::numeric_limits<double>::infinity();
  bool AllScalars = true;
  bool Invert = false;
};

#endif

/**
 * @class vtkPatchThreshold
 * @brief Cells whose values lie in a range, of many blocks and of blocks of which cells are hidden
 *
 * SetInputArrayToProcess() names the array, of cells or of points; its first component counts. The output is
 * unstructured grids whose cells share their points.
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
  /// Both ends belong to the range. Default: all values.
  vtkSetMacro(LowerThreshold, double);
  vtkGetMacro(LowerThreshold, double);
  vtkSetMacro(UpperThreshold, double);
  vtkGetMacro(UpperThreshold, double);
  ///@}

  ///@{
  /// Whether all points of a cell must lie in the range (default), or any; for arrays of points.
  vtkSetMacro(AllScalars, bool);
  vtkGetMacro(AllScalars, bool);
  ///@}

  ///@{
  /// Whether the other cells are kept. Default: false.
  vtkSetMacro(Invert, bool);
  vtkGetMacro(Invert, bool);
  ///@}

protected:
  vtkPatchThreshold();
  ~vtkPatchThreshold() override = default;

  const char* OutputClass() const override { return "vtkUnstructuredGrid"; }
  bool Supports() override;
  bool Make(const patchio::filters::Blocks&, patchio::Communicator&, vtkDataObject*) override;
  vtkSmartPointer<vtkAlgorithm> FilterOfVtk(vtkSmartPointer<vtkDataObject>& input) override;

private:
  vtkPatchThreshold(const vtkPatchThreshold&) = delete;
  void operator=(const vtkPatchThreshold&) = delete;

  double LowerThreshold = -std::numeric_limits<double>::infinity();
  double UpperThreshold = std::numeric_limits<double>::infinity();
  bool AllScalars = true;
  bool Invert = false;
};

#endif

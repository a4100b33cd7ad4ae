/**
 * @class vtkPatchContour
 * @brief Contour of all blocks at once, for cell arrays without cracks between blocks, levels and ranks
 *
 * SetInputArrayToProcess() selects the cell or point array, which must have one component. For cell arrays of
 * uniform or rectilinear blocks, the filter makes the contour without a conversion to point data, on all
 * threads and all ranks together (see patchio::filters::DualCells); the output is one poly data per rank. For
 * point arrays of such blocks, the output has a poly data for each child (see vtkPatchFilter). For other
 * input, the filter runs vtkContourFilter; a cell array is first converted to a point array.
 */
#ifndef vtkPatchContour_h
#define vtkPatchContour_h

#include "vtkContourValues.h"  // for the values
#include "vtkNew.h"
#include "vtkPatchFilter.h"

#include <functional>  // for the progress

class vtkPolyData;

class VTKPATCHIOFILTERS_EXPORT vtkPatchContour : public vtkPatchFilter
{
public:
  static vtkPatchContour* New();
  vtkTypeMacro(vtkPatchContour, vtkPatchFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// The contour values. Default: a single value, 0.
  void SetValue(int i, double value) { this->Values->SetValue(i, value); }
  double GetValue(int i) { return this->Values->GetValue(i); }
  void SetNumberOfContours(int number) { this->Values->SetNumberOfContours(number); }
  int GetNumberOfContours() { return this->Values->GetNumberOfContours(); }
  ///@}

  ///@{
  /// The arrays of the output's points: the contoured values and normals, which are on by default, and
  /// gradients.
  vtkSetMacro(ComputeScalars, bool);
  vtkGetMacro(ComputeScalars, bool);
  vtkSetMacro(ComputeNormals, bool);
  vtkGetMacro(ComputeNormals, bool);
  vtkSetMacro(ComputeGradients, bool);
  vtkGetMacro(ComputeGradients, bool);
  ///@}

  ///@{
  /// On: stores the output's points in double precision. Off by default.
  vtkSetMacro(DoublePoints, bool);
  vtkGetMacro(DoublePoints, bool);
  ///@}

  /// Returns the number of components of the array `name` in the first block that has the array; 0 if no
  /// block of this rank has the array. `association`: such as vtkDataObject::FIELD_ASSOCIATION_CELLS.
  static int ComponentsOf(vtkDataObject* input, int association, const char* name);

  vtkMTimeType GetMTime() override;

protected:
  vtkPatchContour();
  ~vtkPatchContour() override = default;

  const char* OutputClass() const override { return "vtkPolyData"; }
  bool SupportsProperties() override;
  bool FillOutput(const patchio::filters::Blocks&, patchio::Communicator&, vtkDataObject*) override;
  vtkSmartPointer<vtkAlgorithm> MakeVtkFilter(vtkSmartPointer<vtkDataObject>& input) override;

private:
  vtkPatchContour(const vtkPatchContour&) = delete;
  void operator=(const vtkPatchContour&) = delete;

  vtkSmartPointer<vtkPolyData> ContourBlocks(const patchio::filters::Blocks& blocks,
      const std::function<bool(double)>& progress, patchio::Communicator& ranks);

  vtkNew<vtkContourValues> Values;
  bool ComputeScalars = true;
  bool ComputeNormals = true;
  bool ComputeGradients = false;
  bool DoublePoints = false;
};

#endif

/**
 * @class vtkPatchContour
 * @brief Contour of all blocks at once, without cracks between blocks, levels and ranks
 *
 * SetInputArrayToProcess() names the cell or point array, which must have one component. Cell arrays of
 * uniform or rectilinear blocks are contoured without conversion, on all threads and all ranks together (see
 * patchio::filters::DualCells); the output is one piece per rank. Point arrays of such blocks give one piece
 * for each child of the input's root. vtkContourFilter processes other input, after cell arrays have been
 * converted to point arrays.
 */
#ifndef vtkPatchContour_h
#define vtkPatchContour_h

#include "vtkContourValues.h"  // for the values
#include "vtkNew.h"
#include "vtkPatchFilter.h"

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
  /// Arrays of the output's points: the contoured values, normals (both by default), and gradients.
  vtkSetMacro(ComputeScalars, bool);
  vtkGetMacro(ComputeScalars, bool);
  vtkSetMacro(ComputeNormals, bool);
  vtkGetMacro(ComputeNormals, bool);
  vtkSetMacro(ComputeGradients, bool);
  vtkGetMacro(ComputeGradients, bool);
  ///@}

  ///@{
  /// Stores the output's points in double precision. Off by default.
  vtkSetMacro(DoublePoints, bool);
  vtkGetMacro(DoublePoints, bool);
  ///@}

  /// Returns the number of components of the array in the first block that has it; 0 if no block of this rank
  /// has it.
  static int ComponentsOf(vtkDataObject* input, int association, const char* name);

  vtkMTimeType GetMTime() override;

protected:
  vtkPatchContour();
  ~vtkPatchContour() override = default;

  const char* OutputClass() const override { return "vtkPolyData"; }
  bool Supports() override;
  bool Make(const patchio::filters::Blocks&, patchio::Communicator&, vtkDataObject*) override;
  vtkSmartPointer<vtkAlgorithm> FilterOfVtk(vtkSmartPointer<vtkDataObject>& input) override;

private:
  vtkPatchContour(const vtkPatchContour&) = delete;
  void operator=(const vtkPatchContour&) = delete;

  vtkSmartPointer<vtkPolyData> ContourOf(
      const patchio::filters::Blocks& blocks, patchio::Communicator& ranks);

  vtkNew<vtkContourValues> Values;
  bool ComputeScalars = true;
  bool ComputeNormals = true;
  bool ComputeGradients = false;
  bool DoublePoints = false;
};

#endif

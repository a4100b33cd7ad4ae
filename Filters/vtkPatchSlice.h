/**
 * @class vtkPatchSlice
 * @brief Slices many blocks together, and blocks with hidden cells
 *
 * Cuts by planes, spheres, boxes and cylinders. For other functions, the filter runs vtkCutter. If a plane
 * lies on faces between cells, the slice covers each point of the plane once. The output consists of poly
 * data.
 */
#ifndef vtkPatchSlice_h
#define vtkPatchSlice_h

#include "vtkContourValues.h"  // for the values
#include "vtkImplicitFunction.h"
#include "vtkNew.h"
#include "vtkPatchFilter.h"

class VTKPATCHIOFILTERS_EXPORT vtkPatchSlice : public vtkPatchFilter
{
public:
  static vtkPatchSlice* New();
  vtkTypeMacro(vtkPatchSlice, vtkPatchFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// The implicit function that cuts. The slice consists of the points where the function has one of the
  /// values of SetValue().
  vtkSetSmartPointerMacro(CutFunction, vtkImplicitFunction);
  vtkGetSmartPointerMacro(CutFunction, vtkImplicitFunction);
  ///@}

  ///@{
  /// The values of the function on the slice. For a plane, the values are distances. Default: a single value,
  /// 0.
  void SetValue(int i, double value) { this->Values->SetValue(i, value); }
  double GetValue(int i) { return this->Values->GetValue(i); }
  void SetNumberOfContours(int number) { this->Values->SetNumberOfContours(number); }
  int GetNumberOfContours() { return this->Values->GetNumberOfContours(); }
  ///@}

  ///@{
  /// On: divides the polygons of the output into triangles. On by default.
  vtkSetMacro(GenerateTriangles, bool);
  vtkGetMacro(GenerateTriangles, bool);
  ///@}

  vtkMTimeType GetMTime() override;

protected:
  vtkPatchSlice();
  ~vtkPatchSlice() override = default;

  const char* OutputClass() const override { return "vtkPolyData"; }
  bool SupportsProperties() override;
  bool FillOutput(const patchio::filters::Blocks&, patchio::Communicator&, vtkDataObject*) override;
  vtkSmartPointer<vtkAlgorithm> MakeVtkFilter(vtkSmartPointer<vtkDataObject>& input) override;

private:
  vtkPatchSlice(const vtkPatchSlice&) = delete;
  void operator=(const vtkPatchSlice&) = delete;

  vtkSmartPointer<vtkImplicitFunction> CutFunction;
  vtkNew<vtkContourValues> Values;
  bool GenerateTriangles = true;
};

#endif

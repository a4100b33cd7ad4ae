/**
 * @class vtkPatchClip
 * @brief Clips many blocks together, and blocks with hidden cells
 *
 * Clips by planes, spheres, boxes and cylinders. For other functions, the filter runs vtkClipDataSet or, with
 * WholeCells, vtkExtractGeometry. The output consists of unstructured grids without hidden cells.
 * Neighbouring cells share whole faces.
 */
#ifndef vtkPatchClip_h
#define vtkPatchClip_h

#include "vtkImplicitFunction.h"
#include "vtkPatchFilter.h"

class VTKPATCHIOFILTERS_EXPORT vtkPatchClip : public vtkPatchFilter
{
public:
  static vtkPatchClip* New();
  vtkTypeMacro(vtkPatchClip, vtkPatchFilter);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /// The implicit function that clips, and the value of the function on the surface. Default of Value: 0. For
  /// a plane, Value is a distance.
  vtkSetSmartPointerMacro(ClipFunction, vtkImplicitFunction);
  vtkGetSmartPointerMacro(ClipFunction, vtkImplicitFunction);
  vtkSetMacro(Value, double);
  vtkGetMacro(Value, double);
  ///@}

  ///@{
  /// On: keeps the side where the function is less than Value, as in vtkClipDataSet. Off: keeps the other
  /// side. Off by default.
  vtkSetMacro(InsideOut, bool);
  vtkGetMacro(InsideOut, bool);
  ///@}

  ///@{
  /// On: keeps cells whole if the surface cuts them. Off by default.
  vtkSetMacro(WholeCells, bool);
  vtkGetMacro(WholeCells, bool);
  ///@}

  vtkMTimeType GetMTime() override;

protected:
  vtkPatchClip() = default;
  ~vtkPatchClip() override = default;

  const char* OutputClass() const override { return "vtkUnstructuredGrid"; }
  bool SupportsProperties() override;
  bool FillOutput(const patchio::filters::Blocks&, patchio::Communicator&, vtkDataObject*) override;
  vtkSmartPointer<vtkAlgorithm> MakeVtkFilter(vtkSmartPointer<vtkDataObject>& input) override;

private:
  vtkPatchClip(const vtkPatchClip&) = delete;
  void operator=(const vtkPatchClip&) = delete;

  vtkSmartPointer<vtkImplicitFunction> ClipFunction;
  double Value = 0;
  bool InsideOut = false;
  bool WholeCells = false;
};

#endif

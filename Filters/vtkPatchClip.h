/**
 * @class vtkPatchClip
 * @brief Clips many blocks together, and blocks with hidden cells
 *
 * Clips by planes, spheres, boxes and cylinders; other functions are left to vtkClipDataSet. The output is
 * unstructured grids without hidden cells; neighbouring cells share whole faces.
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
  /// The function and its value on the surface. Default of Value: 0. For a plane, Value is a distance.
  vtkSetSmartPointerMacro(ClipFunction, vtkImplicitFunction);
  vtkGetSmartPointerMacro(ClipFunction, vtkImplicitFunction);
  vtkSetMacro(Value, double);
  vtkGetMacro(Value, double);
  ///@}

  ///@{
  /// Whether to keep the side where the function is less than Value, as in vtkClipDataSet. Default: false.
  vtkSetMacro(InsideOut, bool);
  vtkGetMacro(InsideOut, bool);
  ///@}

  ///@{
  /// Whether cells that the surface cuts are kept whole. Default: false.
  vtkSetMacro(WholeCells, bool);
  vtkGetMacro(WholeCells, bool);
  ///@}

  vtkMTimeType GetMTime() override;

protected:
  vtkPatchClip() = default;
  ~vtkPatchClip() override = default;

  const char* OutputClass() const override { return "vtkUnstructuredGrid"; }
  bool Supports() override;
  bool Make(const patchio::filters::Blocks&, patchio::Communicator&, vtkDataObject*) override;
  vtkSmartPointer<vtkAlgorithm> FilterOfVtk(vtkSmartPointer<vtkDataObject>& input) override;

private:
  vtkPatchClip(const vtkPatchClip&) = delete;
  void operator=(const vtkPatchClip&) = delete;

  vtkSmartPointer<vtkImplicitFunction> ClipFunction;
  double Value = 0;
  bool InsideOut = false;
  bool WholeCells = false;
};

#endif

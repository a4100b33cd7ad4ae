/**
 * @class vtkPatchClip
 * @brief Clips many blocks together, and blocks with hidden cells
 *
 * Clips by planes, spheres, boxes and cylinders; vtkClipDataSet clips by other functions. The output consists
 * of unstructured grids without hidden cells; neighbouring cells share whole faces.
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
  /// Keeps the side where the function is less than Value, as in vtkClipDataSet. Off by default.
  vtkSetMacro(InsideOut, bool);
  vtkGetMacro(InsideOut, bool);
  ///@}

  ///@{
  /// Keeps cells whole if the surface cuts them. Off by default.
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

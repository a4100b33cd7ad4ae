/**
 * @class vtkPatchGeometryRepresentation
 * @brief Draws data with vtkPatchViewGeometryFilter, and is ParaView's own representation in all else
 */
#ifndef vtkPatchGeometryRepresentation_h
#define vtkPatchGeometryRepresentation_h

#include "vtkGeometryRepresentationWithFaces.h"
#include "vtkPatchIOServerModule.h"  // for the export macro

class VTKPATCHIOSERVER_EXPORT vtkPatchGeometryRepresentation : public vtkGeometryRepresentationWithFaces
{
public:
  static vtkPatchGeometryRepresentation* New();
  vtkTypeMacro(vtkPatchGeometryRepresentation, vtkGeometryRepresentationWithFaces);

protected:
  vtkPatchGeometryRepresentation();
  ~vtkPatchGeometryRepresentation() override = default;

private:
  vtkPatchGeometryRepresentation(const vtkPatchGeometryRepresentation&) = delete;
  void operator=(const vtkPatchGeometryRepresentation&) = delete;
};

#endif

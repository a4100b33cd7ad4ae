/**
 * @class vtkPatchGeometryRepresentation
 * @brief Draws data with vtkPatchViewGeometryFilter, and is ParaView's own representation in all else
 *
 * While the plugin is loaded, ParaView's surfaces, wireframes and points are drawn by this class
 * (SurfaceRepresentation.xml).
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

  /// Which blocks are visible. If these are not all of them, blocks are drawn with the faces between them.
  void AddBlockSelector(const char* selector);

protected:
  vtkPatchGeometryRepresentation();
  ~vtkPatchGeometryRepresentation() override = default;

private:
  vtkPatchGeometryRepresentation(const vtkPatchGeometryRepresentation&) = delete;
  void operator=(const vtkPatchGeometryRepresentation&) = delete;
};

#endif

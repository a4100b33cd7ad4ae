/**
 * @class vtkPatchGeometryRepresentation
 * @brief ParaView's geometry representation, but with the surfaces of vtkPatchViewGeometryFilter
 *
 * While the plugin is loaded, ParaView uses this class for surfaces, wireframes and points
 * (ReplacedFilters.xml).
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

  /// Selects before each update whether the filter omits the faces between blocks.
  int ProcessViewRequest(vtkInformationRequestKey* request, vtkInformation* in, vtkInformation* out) override;

protected:
  vtkPatchGeometryRepresentation();
  ~vtkPatchGeometryRepresentation() override = default;

private:
  vtkPatchGeometryRepresentation(const vtkPatchGeometryRepresentation&) = delete;
  void operator=(const vtkPatchGeometryRepresentation&) = delete;

  /// Returns whether faces between blocks may be visible: if blocks are hidden, translucent, or drawn as
  /// wireframe or as points.
  bool ShowsInnerFaces();
};

#endif

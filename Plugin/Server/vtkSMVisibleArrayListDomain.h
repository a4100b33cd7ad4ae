/**
 * @class vtkSMVisibleArrayListDomain
 * @brief The arrays of an input, without the flags of hidden cells and points
 *
 * ParaView's own list of arrays also contains vtkGhostType, which filters copy without a selection.
 */
#ifndef vtkSMVisibleArrayListDomain_h
#define vtkSMVisibleArrayListDomain_h

#include "vtkPatchIOServerModule.h"  // for the export macro
#include "vtkSMArrayListDomain.h"

class VTKPATCHIOSERVER_EXPORT vtkSMVisibleArrayListDomain : public vtkSMArrayListDomain
{
public:
  static vtkSMVisibleArrayListDomain* New();
  vtkTypeMacro(vtkSMVisibleArrayListDomain, vtkSMArrayListDomain);

protected:
  vtkSMVisibleArrayListDomain() = default;
  ~vtkSMVisibleArrayListDomain() override = default;

  bool IsFilteredArray(vtkPVDataInformation* info, int association, const char* arrayName) override;

private:
  vtkSMVisibleArrayListDomain(const vtkSMVisibleArrayListDomain&) = delete;
  void operator=(const vtkSMVisibleArrayListDomain&) = delete;
};

#endif

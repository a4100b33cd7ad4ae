/**
 * @class pqHideEmptyList
 * @brief Hides the list of a property while the list has no entries
 */
#ifndef pqHideEmptyList_h
#define pqHideEmptyList_h

#include "pqPropertyWidgetDecorator.h"

class vtkSMStringListDomain;

class pqHideEmptyList : public pqPropertyWidgetDecorator
{
  Q_OBJECT
  typedef pqPropertyWidgetDecorator Superclass;

public:
  pqHideEmptyList(vtkPVXMLElement* xml, pqPropertyWidget* parent);
  ~pqHideEmptyList() override;

  bool canShowWidget(bool showAdvanced) const override;

private:
  Q_DISABLE_COPY(pqHideEmptyList)

  const vtkSmartPointer<vtkSMStringListDomain> List;
};

#endif

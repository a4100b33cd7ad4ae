#include "pqHideEmptyList.h"

#include "pqCoreUtilities.h"

#include "vtkCommand.h"
#include "vtkSMProperty.h"
#include "vtkSMStringListDomain.h"

pqHideEmptyList::pqHideEmptyList(vtkPVXMLElement* xml, pqPropertyWidget* parentWidget)
    : Superclass(xml, parentWidget), List(parentWidget->property()->FindDomain<vtkSMStringListDomain>())
{
  if (this->List) {
    pqCoreUtilities::connect(this->List, vtkCommand::DomainModifiedEvent, this, SIGNAL(visibilityChanged()));
  }
}

pqHideEmptyList::~pqHideEmptyList() = default;

bool pqHideEmptyList::canShowWidget(bool showAdvanced) const
{
  return (!this->List || this->List->GetNumberOfStrings() > 0) &&
         this->Superclass::canShowWidget(showAdvanced);
}

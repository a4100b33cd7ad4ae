#include "TidyPanel.h"

#include "pqPropertyWidget.h"

#include "vtkPVXMLElement.h"
#include "vtkSMProperty.h"

#include <QBoxLayout>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>

namespace {

/// In pixels.
constexpr int NarrowList = 80;

/// Marks widgets that have their unit.
constexpr const char* UnitName = "PatchIOUnit";

void AddUnit(pqPropertyWidget* widget)
{
  vtkPVXMLElement* hints = widget->property() ? widget->property()->GetHints() : nullptr;
  vtkPVXMLElement* unit = hints ? hints->FindNestedElementByName("Unit") : nullptr;
  if (!unit || !widget->layout() || widget->findChild<QLabel*>(UnitName)) {
    return;
  }
  auto* label = new QLabel(unit->GetAttributeOrEmpty("text"), widget);
  label->setObjectName(UnitName);
  if (auto* grid = qobject_cast<QGridLayout*>(widget->layout())) {
    grid->addWidget(label, 0, grid->columnCount());
  } else {
    widget->layout()->addWidget(label);
  }
}

}  // namespace

void TidyPanel(QWidget* widget)
{
  while (widget && !widget->inherits("pqProxyWidget")) {
    widget = widget->parentWidget();
  }
  if (!widget) {
    return;
  }
  for (QComboBox* list : widget->findChildren<QComboBox*>()) {
    list->setMinimumWidth(NarrowList);
  }
  for (pqPropertyWidget* property : widget->findChildren<pqPropertyWidget*>()) {
    AddUnit(property);
  }
}

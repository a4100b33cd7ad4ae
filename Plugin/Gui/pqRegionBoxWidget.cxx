#include "pqRegionBoxWidget.h"

#include "pqCoreUtilities.h"
#include "pqDoubleLineEdit.h"

#include "vtkCommand.h"
#include "vtkSMPropertyGroup.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMUncheckedPropertyHelper.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

pqRegionBoxWidget::pqRegionBoxWidget(vtkSMProxy* smproxy, vtkSMPropertyGroup* group, QWidget* parentWidget)
    : Superclass("representations", "BoxWidgetRepresentation", smproxy, group, parentWidget),
      Bounds(group->GetProperty("Bounds"))
{
  for (const char* off : {"UseReferenceBounds", "RotationEnabled"}) {
    vtkSMPropertyHelper(this->widgetProxy(), off).Set(0);
  }
  this->addBoundsEdits();
  pqCoreUtilities::connect(
      this->Bounds, vtkCommand::UncheckedPropertyModifiedEvent, this, SLOT(onBoundsChanged()));
  for (const auto event : {vtkCommand::InteractionEvent, vtkCommand::EndInteractionEvent}) {
    pqCoreUtilities::connect(this->widgetProxy(), event, this, SLOT(onBoxMoved()));
  }
  this->onBoundsChanged();
  this->setWidgetVisible(true);
}

pqRegionBoxWidget::~pqRegionBoxWidget() = default;

void pqRegionBoxWidget::addBoundsEdits()
{
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  for (int i = 0; i < 6; ++i) {
    auto* number = new pqDoubleLineEdit(this);
    number->setMinimumWidth(40);
    number->setToolTip(i % 2 == 0 ? tr("Minimum") : tr("Maximum"));
    this->addPropertyLink(number, "text2", SIGNAL(textChangedAndEditingFinished()), this->Bounds, i);
    grid->addWidget(number, i / 2, 1 + i % 2);
  }
  for (int axis = 0; axis < 3; ++axis) {
    grid->addWidget(new QLabel(QString(QChar('X' + axis)), this), axis, 0);
  }
  auto* show = new QCheckBox(tr("Show Box"), this);
  show->setChecked(true);
  this->connect(show, SIGNAL(toggled(bool)), SLOT(setWidgetVisible(bool)));
  show->connect(this, SIGNAL(widgetVisibilityToggled(bool)), SLOT(setChecked(bool)));
  grid->addWidget(show, 3, 0, 1, 3);
  auto* reset = new QPushButton(tr("Whole Domain"), this);
  this->connect(reset, SIGNAL(clicked()), SLOT(resetToDomain()));
  grid->addWidget(reset, 4, 0, 1, 3);
}

/// Places the unit box, which the properties Position and Scale then transform.
void pqRegionBoxWidget::placeWidget()
{
  const double unit[6] = {0, 1, 0, 1, 0, 1};
  vtkSMPropertyHelper(this->widgetProxy(), "PlaceWidget").Set(unit, 6);
  this->widgetProxy()->UpdateVTKObjects();
}

void pqRegionBoxWidget::onBoundsChanged()
{
  const vtkSMUncheckedPropertyHelper bounds(this->Bounds);
  for (unsigned int axis = 0; axis < 3; ++axis) {
    const double lower = bounds.GetAsDouble(2 * axis), upper = bounds.GetAsDouble(2 * axis + 1);
    vtkSMPropertyHelper(this->widgetProxy(), "Position").Set(axis, std::min(lower, upper));
    vtkSMPropertyHelper(this->widgetProxy(), "Scale").Set(axis, std::abs(upper - lower));
  }
  this->widgetProxy()->UpdateVTKObjects();
  this->render();
}

void pqRegionBoxWidget::onBoxMoved()
{
  double bounds[6];
  for (unsigned int axis = 0; axis < 3; ++axis) {
    bounds[2 * axis] = vtkSMPropertyHelper(this->widgetProxy(), "Position").GetAsDouble(axis);
    bounds[2 * axis + 1] =
        bounds[2 * axis] + vtkSMPropertyHelper(this->widgetProxy(), "Scale").GetAsDouble(axis);
  }
  this->setBounds(bounds);
}

void pqRegionBoxWidget::resetToDomain()
{
  double bounds[6];
  vtkSMPropertyHelper(this->proxy(), "DomainBounds").Get(bounds, 6);
  this->setBounds(bounds);
}

void pqRegionBoxWidget::setBounds(const double bounds[6])
{
  vtkSMUncheckedPropertyHelper(this->Bounds).Set(bounds, 6);
  Q_EMIT this->changeAvailable();
  Q_EMIT this->changeFinished();
}

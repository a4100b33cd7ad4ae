#include "pqRangeWidget.h"

#include "pqCoreUtilities.h"
#include "pqLineEdit.h"

#include "vtkCommand.h"
#include "vtkDataObject.h"
#include "vtkPVArrayInformation.h"
#include "vtkPVDataInformation.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"
#include "vtkSMUncheckedPropertyHelper.h"

#include <QDoubleValidator>
#include <QGridLayout>
#include <QLabel>

#include <algorithm>

pqRangeWidget::pqRangeWidget(vtkSMProxy* smproxy, vtkSMProperty* range, QWidget* parentWidget)
    : Superclass(smproxy, parentWidget),
      Range(range),
      Array(range == smproxy->GetProperty("ValueRange") ? smproxy->GetProperty("ValueArray") : nullptr),
      RangeLabel(new QLabel(this))
{
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  for (int i = 0; i < 2; ++i) {
    auto* number = new pqLineEdit(this);
    number->setMinimumWidth(40);
    number->setValidator(
        this->Array ? static_cast<QValidator*>(new QDoubleValidator(number)) : new QIntValidator(number));
    this->addPropertyLink(number, "text2", SIGNAL(textChangedAndEditingFinished()), range, i);
    grid->addWidget(number, 0, i);
  }
  this->RangeLabel->setWordWrap(true);
  grid->addWidget(this->RangeLabel, 1, 0, 1, 2);
  if (this->Array) {
    pqCoreUtilities::connect(
        this->Array, vtkCommand::UncheckedPropertyModifiedEvent, this, SLOT(updateRangeLabel()));
    pqCoreUtilities::connect(
        this->Array, vtkCommand::UncheckedPropertyModifiedEvent, this, SLOT(initializeRange()));
    pqCoreUtilities::connect(smproxy->GetProperty("SkipByValue"), vtkCommand::UncheckedPropertyModifiedEvent,
        this, SLOT(initializeRange()));
  }
  pqCoreUtilities::connect(smproxy, vtkCommand::UpdateDataEvent, this, SLOT(updateRangeLabel()));
  this->updateRangeLabel();
}

pqRangeWidget::~pqRangeWidget() = default;

void pqRangeWidget::updateRangeLabel()
{
  const char* array = this->Array ? vtkSMUncheckedPropertyHelper(this->Array).GetAsString() : nullptr;
  const QString text = this->Array ? this->valuesText(array ? array : "") : this->levelsText();
  if (!text.isEmpty()) {
    this->RangeLabel->setText(text);
  }
}

/// Sets the property to the range of the array's values, if this range is known, the user has switched
/// "SkipByValue" on, and the property is still 0 to 0.
void pqRangeWidget::initializeRange()
{
  const vtkSMUncheckedPropertyHelper range(this->Range);
  const bool isSet = range.GetAsDouble(0) != 0 || range.GetAsDouble(1) != 0;
  const bool isKnown = this->LastArray == vtkSMUncheckedPropertyHelper(this->Array).GetAsString() &&
                       this->LastRange[0] <= this->LastRange[1];
  if (!isSet && isKnown && vtkSMUncheckedPropertyHelper(this->proxy(), "SkipByValue").GetAsInt() != 0) {
    vtkSMUncheckedPropertyHelper(this->Range).Set(this->LastRange, 2);
  }
}

QString pqRangeWidget::levelsText() const
{
  vtkSMProperty* levels = this->proxy()->GetProperty("Levels");
  this->proxy()->UpdatePropertyInformation(levels);
  const int first = vtkSMPropertyHelper(levels).GetAsInt(0), last = vtkSMPropertyHelper(levels).GetAsInt(1);
  switch (last - first) {
    case 0:
      return tr("1 level");
    case 1:
      return tr("2 levels: %1 and %2").arg(first).arg(last);
    default:
      return tr("%1 levels: %2 to %3").arg(last - first + 1).arg(first).arg(last);
  }
}

/// Returns the range of the values last read of the array `array` as text, and sets LastArray and LastRange.
/// If the data do not have the array, for example because the last read has skipped all patches, returns an
/// empty text if LastRange is the array's range from an earlier read, otherwise "no values read yet".
QString pqRangeWidget::valuesText(const char* array)
{
  auto* reader = vtkSMSourceProxy::SafeDownCast(this->proxy());
  for (const int association : {vtkDataObject::CELL, vtkDataObject::POINT}) {
    if (vtkPVArrayInformation* information =
            reader->GetDataInformation(0)->GetArrayInformation(array, association)) {
      const double* range = information->GetComponentFiniteRange(0);
      this->LastArray = array;
      std::copy_n(range, 2, this->LastRange);
      return range[0] < range[1]    ? tr("values read: %1 to %2").arg(range[0]).arg(range[1])
             : range[0] == range[1] ? tr("value read: %1").arg(range[0])
                                    : tr("no finite values read");
    }
  }
  return this->LastArray == array ? QString() : tr("no values read yet");
}

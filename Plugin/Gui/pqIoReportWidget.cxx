#include "pqIoReportWidget.h"

#include "pqCoreUtilities.h"
#include "pqPropertyWidget.h"
#include "vtkCommand.h"
#include "vtkPVXMLElement.h"
#include "vtkSMProperty.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMProxy.h"

#include <QAbstractTextDocumentLayout>
#include <QBoxLayout>
#include <QComboBox>
#include <QEvent>
#include <QFontDatabase>
#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QTextEdit>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace {

/// The minimum width of a list, in pixels.
constexpr int NarrowList = 80;

/// The object name of labels with units, by which AddUnitLabel() recognizes widgets that have such a label.
constexpr const char* UnitLabelName = "PatchIOUnit";

/// Adds a label with the unit from the hints of the widget's property, such as <Unit text="MB" />. Does
/// nothing if the hints have no unit or the widget already has the label.
void AddUnitLabel(pqPropertyWidget* widget)
{
  vtkPVXMLElement* hints = widget->property() ? widget->property()->GetHints() : nullptr;
  vtkPVXMLElement* unit = hints ? hints->FindNestedElementByName("Unit") : nullptr;
  if (!unit || !widget->layout() || widget->findChild<QLabel*>(UnitLabelName)) {
    return;
  }
  auto* label = new QLabel(unit->GetAttributeOrEmpty("text"), widget);
  label->setObjectName(UnitLabelName);
  if (auto* grid = qobject_cast<QGridLayout*>(widget->layout())) {
    grid->addWidget(label, 0, grid->columnCount());
  } else {
    widget->layout()->addWidget(label);
  }
}

/// Tidies the panel around `widget`: lists with long entries become narrow enough for ParaView's dock, and
/// numbers get their units, see AddUnitLabel().
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
    AddUnitLabel(property);
  }
}

/**
 * Returns a new read-only page of fixed-width text. Lines may break anywhere, so that a long path does not
 * widen the panel.
 */
QTextEdit* NewReportText(QWidget* parent)
{
  auto* text = new QTextEdit(parent);
  text->setReadOnly(true);
  text->setAcceptRichText(false);
  text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  text->setWordWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  text->setLineWrapMode(QTextEdit::FixedPixelWidth);
  text->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  text->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  text->viewport()->setAutoFillBackground(false);
  return text;
}

/**
 * Returns the scroll area around a widget. Null: the widget is not in a scroll area.
 */
QScrollArea* PanelAround(QWidget* widget)
{
  QScrollArea* panel = nullptr;
  while (widget && !panel) {
    widget = widget->parentWidget();
    panel = qobject_cast<QScrollArea*>(widget);
  }
  return panel;
}
}  // namespace

pqIoReportWidget::pqIoReportWidget(vtkSMProxy* smproxy, vtkSMProperty*, QWidget* parentWidget)
    : Superclass(smproxy, parentWidget),
      ReportProperty(smproxy->GetProperty("IOReport")),
      Text(NewReportText(this))
{
  auto* title = new QLabel(tr("I/O Report of the Last Read"), this);
  // Otherwise the title and the text would show the tooltip of the property to which this widget belongs.
  const QString tip = this->ReportProperty ? pqPropertyWidget::getTooltip(this->ReportProperty) : QString();
  title->setToolTip(tip);
  this->Text->setToolTip(tip);

  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->addWidget(title);
  rows->addWidget(this->Text);
  this->setShowLabel(false);
  this->connect(this->Text->document()->documentLayout(), SIGNAL(documentSizeChanged(const QSizeF&)),
      SLOT(fitHeight()));

  // The report is fetched after an update, because a request to the server during an update would wait for
  // the end of the update.
  this->RefreshTimer.setSingleShot(true);
  this->RefreshTimer.setInterval(0);
  this->connect(&this->RefreshTimer, SIGNAL(timeout()), SLOT(refresh()));
  pqCoreUtilities::connect(smproxy, vtkCommand::UpdateDataEvent, &this->RefreshTimer, SLOT(start()));
  pqCoreUtilities::connect(smproxy, vtkCommand::UpdateInformationEvent, &this->RefreshTimer, SLOT(start()));
}

pqIoReportWidget::~pqIoReportWidget() = default;

void pqIoReportWidget::showEvent(QShowEvent* event)
{
  this->Superclass::showEvent(event);
  this->Text->installEventFilter(this);
  TidyPanel(this);
  if (QScrollArea* panel = PanelAround(this)) {
    panel->viewport()->installEventFilter(this);
  }
  this->wrapToPanel();
  this->RefreshTimer.start();
}

bool pqIoReportWidget::eventFilter(QObject* watched, QEvent* event)
{
  if (event->type() == QEvent::Resize) {
    this->wrapToPanel();
  }
  return this->Superclass::eventFilter(watched, event);
}

void pqIoReportWidget::wrapToPanel()
{
  int width = this->Text->width();
  if (QScrollArea* panel = PanelAround(this)) {
    const int left = this->Text->mapTo(panel->widget(), QPoint(0, 0)).x();
    width = std::min(width, panel->viewport()->width() - left);
  }
  this->Text->setLineWrapColumnOrWidth(std::max(width - 2 * this->Text->frameWidth(), 1));
}

void pqIoReportWidget::refresh()
{
  if (!this->isVisible() || !this->ReportProperty) {
    return;
  }
  this->proxy()->UpdatePropertyInformation(this->ReportProperty);
  const QString report = QString::fromUtf8(vtkSMPropertyHelper(this->ReportProperty).GetAsString()).trimmed();
  const QString text = report.isEmpty() ? tr("No data have been read yet.") : report;
  // Setting the same text again would lose the user's selection.
  if (text != this->Text->toPlainText()) {
    this->Text->setPlainText(text);
  }
}

void pqIoReportWidget::fitHeight()
{
  const double height = this->Text->document()->size().height();
  this->Text->setFixedHeight(static_cast<int>(std::ceil(height)) + 2 * this->Text->frameWidth());
}

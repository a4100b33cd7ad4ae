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

/// The least width of a list, in pixels.
constexpr int NarrowList = 80;

/// The object name of labels with units, by which AddUnit() recognizes widgets that have such a label.
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

/// Tidies the panel around this widget: lists become narrow enough for ParaView's dock, even if their entries
/// are long, and numbers get the unit from the hints of their property, such as <Unit text="MB" />.
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

/**
 * Makes a page of fixed-width text. Lines may break anywhere, so that a long path does not widen the panel.
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
 * Returns the panel around a widget; null if there is none.
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
    : Superclass(smproxy, parentWidget), Report(smproxy->GetProperty("IOReport")), Text(NewReportText(this))
{
  auto* title = new QLabel(tr("I/O Report of the Last Read"), this);
  // Otherwise the title and the text would show the tooltip of the property to which this widget belongs.
  const QString tip = this->Report ? pqPropertyWidget::getTooltip(this->Report) : QString();
  title->setToolTip(tip);
  this->Text->setToolTip(tip);

  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->addWidget(title);
  rows->addWidget(this->Text);
  this->setShowLabel(false);
  this->connect(this->Text->document()->documentLayout(), SIGNAL(documentSizeChanged(const QSizeF&)),
      SLOT(fitHeight()));

  // The report is fetched after the update: a request to the server during an update would wait for its end.
  this->Delay.setSingleShot(true);
  this->Delay.setInterval(0);
  this->connect(&this->Delay, SIGNAL(timeout()), SLOT(refresh()));
  pqCoreUtilities::connect(smproxy, vtkCommand::UpdateDataEvent, &this->Delay, SLOT(start()));
  pqCoreUtilities::connect(smproxy, vtkCommand::UpdateInformationEvent, &this->Delay, SLOT(start()));
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
  this->Delay.start();
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
  if (!this->isVisible() || !this->Report) {
    return;
  }
  this->proxy()->UpdatePropertyInformation(this->Report);
  const QString report = QString::fromUtf8(vtkSMPropertyHelper(this->Report).GetAsString()).trimmed();
  const QString text = report.isEmpty() ? tr("No data have been read yet.") : report;
  // Setting the same text again would lose what the user has selected.
  if (text != this->Text->toPlainText()) {
    this->Text->setPlainText(text);
  }
}

void pqIoReportWidget::fitHeight()
{
  const double height = this->Text->document()->size().height();
  this->Text->setFixedHeight(static_cast<int>(std::ceil(height)) + 2 * this->Text->frameWidth());
}

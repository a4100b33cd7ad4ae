#include "pqIoReportDock.h"

#include "ReportView.h"

#include "pqActiveObjects.h"
#include "pqOutputPort.h"
#include "pqPipelineFilter.h"
#include "pqPipelineSource.h"
#include "pqView.h"

#include "vtkCommand.h"
#include "vtkEventQtSlotConnect.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSourceProxy.h"

#include <QJsonDocument>
#include <QScrollArea>

#include <algorithm>

namespace {

constexpr const char* PropertyName = "IOReportData";

/// Returns `source` if this source has the property PropertyName, otherwise the first source with this
/// property among the inputs of `source` and their inputs. Null: no source has the property.
pqPipelineSource* ReportingSource(pqPipelineSource* source)
{
  if (!source || source->getProxy()->GetProperty(PropertyName)) {
    return source;
  }
  if (auto* filter = qobject_cast<pqPipelineFilter*>(source)) {
    for (pqOutputPort* input : filter->getAllInputs()) {
      if (pqPipelineSource* found = ReportingSource(input->getSource())) {
        return found;
      }
    }
  }
  return nullptr;
}

/// An area that scrolls only vertically, and is at first as wide as two plots side by side.
class ReportScrollArea : public QScrollArea
{
public:
  ReportScrollArea(QWidget* content, QWidget* parent) : QScrollArea(parent)
  {
    this->setWidgetResizable(true);
    this->setFrameShape(QFrame::NoFrame);
    this->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    this->setMinimumWidth(260);
    this->setWidget(content);
  }
  QSize sizeHint() const override { return {480, 640}; }
};

}  // namespace

pqIoReportDock::pqIoReportDock(QWidget* parentWidget)
    : Superclass(tr("I/O Report"), parentWidget), ReportWidget(new ReportView(nullptr))
{
  this->setWidget(new ReportScrollArea(this->ReportWidget, this));

  // The report is fetched after an update, because a request to the server during an update would wait for
  // the end of the update.
  this->RefreshTimer.setSingleShot(true);
  this->RefreshTimer.setInterval(0);
  this->connect(&this->RefreshTimer, SIGNAL(timeout()), SLOT(refresh()));

  pqActiveObjects& active = pqActiveObjects::instance();
  this->connect(&active, SIGNAL(sourceChanged(pqPipelineSource*)), SLOT(setSource(pqPipelineSource*)));
  this->connect(&active, SIGNAL(viewChanged(pqView*)), SLOT(setView(pqView*)));
  this->setSource(active.activeSource());
  this->setView(active.activeView());
  // The dock is closed at first. ParaView remembers that the user has opened it.
  this->hide();
}

pqIoReportDock::~pqIoReportDock() = default;

void pqIoReportDock::showEvent(QShowEvent* event)
{
  this->Superclass::showEvent(event);
  this->RefreshTimer.start();
}

void pqIoReportDock::setSource(pqPipelineSource* active)
{
  pqPipelineSource* source = ReportingSource(active);
  if (source && source != this->Source) {
    this->Events->Disconnect();
    this->Source = source;
    this->RenderSeconds = -1;
    vtkSMProxy* proxy = source->getProxy();
    this->Events->Connect(proxy, vtkCommand::UpdateDataEvent, this, SLOT(onDataUpdated()));
    this->Events->Connect(proxy, vtkCommand::UpdateInformationEvent, &this->RefreshTimer, SLOT(start()));
  }
  this->RefreshTimer.start();
}

void pqIoReportDock::setView(pqView* view)
{
  if (this->View) {
    this->disconnect(this->View, nullptr, this, nullptr);
  }
  this->View = view;
  if (view) {
    this->connect(view, SIGNAL(beginRender()), SLOT(onBeginRender()));
    this->connect(view, SIGNAL(endRender()), SLOT(onEndRender()));
  }
}

void pqIoReportDock::onDataUpdated()
{
  this->RenderPending = true;
  this->ReadWithinRender = this->RenderTimer.isValid();
  this->RefreshTimer.start();
}

void pqIoReportDock::onBeginRender()
{
  this->RenderTimer.start();
}

void pqIoReportDock::onEndRender()
{
  if (this->RenderPending && this->RenderTimer.isValid()) {
    this->RenderSeconds = this->RenderTimer.nsecsElapsed() * 1e-9;
    this->RenderPending = false;
    this->RefreshTimer.start();
  }
  this->RenderTimer.invalidate();
}

void pqIoReportDock::refresh()
{
  if (!this->isVisible()) {
    return;
  }
  if (!this->Source) {
    this->ReportWidget->SetMessage(tr("Select a PatchIO reader or a filter applied to one."));
    return;
  }
  vtkSMProxy* proxy = this->Source->getProxy();
  vtkSMProperty* property = proxy->GetProperty(PropertyName);
  proxy->UpdatePropertyInformation(property);
  const QByteArray text(vtkSMPropertyHelper(property).GetAsString());
  const QJsonObject report = QJsonDocument::fromJson(text).object();
  if (report.isEmpty()) {
    this->ReportWidget->SetMessage(tr("No data have been read yet."));
    return;
  }
  double render = this->RenderSeconds;
  if (render >= 0 && this->ReadWithinRender) {
    for (const QJsonValue& seconds : report["seconds"].toObject()) {
      render -= seconds.toDouble();
    }
  }
  this->ReportWidget->SetReport(report, this->RenderSeconds < 0 ? -1 : std::max(render, 0.0));
}

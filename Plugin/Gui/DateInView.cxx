#include "DateInView.h"

#include "pqDataRepresentation.h"
#include "pqPipelineSource.h"
#include "pqRenderView.h"

#include "vtkDataObject.h"
#include "vtkNew.h"
#include "vtkPVDataInformation.h"
#include "vtkSMParaViewPipelineController.h"
#include "vtkSMPropertyHelper.h"
#include "vtkSMSessionProxyManager.h"
#include "vtkSMSourceProxy.h"

#include <algorithm>

namespace {

bool HasDate(pqPipelineSource* source)
{
  vtkSMSourceProxy* reader = source->getSourceProxy();
  return vtkSMPropertyHelper(reader, "ShowDate").GetAsInt() != 0 &&
         reader->GetDataInformation(0)->GetArrayInformation("date", vtkDataObject::FIELD);
}

/// Returns whether the view shows the source, or a filter of it.
bool Shows(pqView* view, pqPipelineSource* source)
{
  const QList<pqDataRepresentation*> all = source->getRepresentations(view);
  const QList<pqPipelineSource*> made = source->getAllConsumers();
  return std::any_of(all.begin(), all.end(), [](pqDataRepresentation* one) { return one->isVisible(); }) ||
         std::any_of(made.begin(), made.end(), [&](pqPipelineSource* one) { return Shows(view, one); });
}

}  // namespace

void DateInView::Refresh(pqPipelineSource* source)
{
  const bool wanted = HasDate(source);
  for (pqView* view : source->getViews()) {
    if (wanted && Shows(view, source) && qobject_cast<pqRenderView*>(view) &&
        !this->Labels.count({source, view})) {
      this->Labels[{source, view}] = this->Make(source, view);
    }
  }
  for (auto& [where, label] : this->Labels) {
    if (where.first == source && label.View && label.Text) {
      const int visible = wanted && Shows(label.View, source);
      if (vtkSMPropertyHelper(label.Text, "Visibility").GetAsInt() != visible) {
        vtkSMPropertyHelper(label.Text, "Visibility").Set(visible);
        label.Text->UpdateVTKObjects();
        label.View->render();
      }
    }
  }
}

/// Makes a text by ParaView's Annotate Global Data, which follows the time of the view.
DateInView::Label DateInView::Make(pqPipelineSource* source, pqView* view) const
{
  vtkSMSessionProxyManager* manager = source->getProxy()->GetSessionProxyManager();
  auto filter = vtkSmartPointer<vtkSMProxy>::Take(manager->NewProxy("filters", "AnnotateGlobalData"));
  auto text =
      vtkSmartPointer<vtkSMProxy>::Take(manager->NewProxy("representations", "TextSourceRepresentation"));
  if (!filter || !text) {
    return {};
  }
  vtkNew<vtkSMParaViewPipelineController> controller;
  controller->PreInitializeProxy(filter);
  vtkSMPropertyHelper(filter, "Input").Set(source->getProxy());
  vtkSMPropertyHelper(filter, "SelectArrays").Set("date");
  vtkSMPropertyHelper(filter, "Prefix").Set("");
  vtkSMPropertyHelper(filter, "Format").Set("%s");
  controller->PostInitializeProxy(filter);
  filter->UpdateVTKObjects();
  controller->PreInitializeProxy(text);
  vtkSMPropertyHelper(text, "Input").Set(filter);
  vtkSMPropertyHelper(text, "Visibility").Set(0);
  controller->PostInitializeProxy(text);
  text->UpdateVTKObjects();
  for (const auto& proxy : {filter, text}) {
    proxy->PrototypeOn();  // keeps it out of the undo stack
  }
  // ParaView's widgets are shown in the same way.
  vtkSMPropertyHelper(view->getProxy(), "HiddenRepresentations").Add(text);
  view->getProxy()->UpdateVTKObjects();
  return {view, text};
}

void DateInView::Remove(pqPipelineSource* source)
{
  for (auto entry = this->Labels.begin(); entry != this->Labels.end();) {
    if (entry->first.first != source) {
      ++entry;
      continue;
    }
    if (pqView* view = entry->second.View) {
      vtkSMPropertyHelper(view->getProxy(), "HiddenRepresentations").Remove(entry->second.Text);
      view->getProxy()->UpdateVTKObjects();
    }
    entry = this->Labels.erase(entry);
  }
}

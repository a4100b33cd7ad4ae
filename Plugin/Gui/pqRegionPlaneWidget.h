/**
 * @class pqRegionPlaneWidget
 * @brief ParaView's interactive plane, for a reader
 *
 * ParaView's own widget uses the bounds of a filter's input. A reader has no input, so this widget uses the
 * bounds of the reader's domain if the output lies in the domain, as a slice does. Otherwise the widget uses
 * the bounds of the output, for example with deformed patches. In the property group, the properties have the
 * functions "Origin" and "Normal".
 */
#ifndef pqRegionPlaneWidget_h
#define pqRegionPlaneWidget_h

#include "pqDisplaySizedImplicitPlanePropertyWidget.h"

#include "vtkBoundingBox.h"
#include "vtkSMNewWidgetRepresentationProxy.h"
#include "vtkSMPropertyHelper.h"

class pqRegionPlaneWidget : public pqDisplaySizedImplicitPlanePropertyWidget
{
  Q_OBJECT
  typedef pqDisplaySizedImplicitPlanePropertyWidget Superclass;

public:
  pqRegionPlaneWidget(vtkSMProxy* proxy, vtkSMPropertyGroup* group, QWidget* parent = nullptr)
      : Superclass(proxy, group, parent)
  {
    this->setDataSource(proxy);
  }

protected:
  void placeWidget() override
  {
    double bounds[6];
    vtkSMPropertyHelper(this->proxy(), "DomainBounds").Get(bounds, 6);
    const vtkBoundingBox output = this->dataBounds();
    vtkBoundingBox domain(bounds), almost = domain;
    almost.Inflate(1e-6 * domain.GetDiagonalLength());
    if (!output.IsValid() || !almost.Contains(output)) {
      this->Superclass::placeWidget();
      return;
    }
    vtkSMProxy* const widget = this->widgetProxy();
    domain.ScaleAboutCenter(vtkSMPropertyHelper(widget, "PlaceFactor").GetAsDouble());
    domain.GetBounds(bounds);
    vtkSMPropertyHelper(widget, "WidgetBounds").Set(bounds, 6);
    widget->UpdateVTKObjects();
  }

private:
  Q_DISABLE_COPY(pqRegionPlaneWidget)
};

#endif

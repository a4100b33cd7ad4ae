/**
 * @class pqRegionPlaneWidget
 * @brief ParaView's interactive plane, for a reader
 *
 * ParaView's own widget takes its bounds from the input of a filter. A reader has no input, so the bounds are
 * those of its domain, if the output lies in the domain, as a slice does. Otherwise the bounds are those of
 * the output, as with deformed patches. In the property group, the properties have the functions "Origin" and
 * "Normal".
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

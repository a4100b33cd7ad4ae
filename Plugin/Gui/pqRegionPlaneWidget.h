/**
 * @class pqRegionPlaneWidget
 * @brief ParaView's interactive plane, for a reader
 *
 * ParaView's own widget takes its bounds from the input of a filter. A reader has no input, so the bounds are
 * those of its output. In the property group, the properties have the functions "Origin" and "Normal".
 */
#ifndef pqRegionPlaneWidget_h
#define pqRegionPlaneWidget_h

#include "pqDisplaySizedImplicitPlanePropertyWidget.h"

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

private:
  Q_DISABLE_COPY(pqRegionPlaneWidget)
};

#endif

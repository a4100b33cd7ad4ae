/**
 * @class pqRegionPlaneWidget
 * @brief ParaView's interactive plane, for a reader
 *
 * ParaView's own takes bounds from the input of the filter that it belongs to. A reader has none: the bounds
 * are those of its output. The properties have the functions "Origin" and "Normal" in their group.
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

/**
 * @class pqRegionBoxWidget
 * @brief Six bounds of a reader, as numbers in the panel and as a box in the view
 *
 * ParaView's own box widget edits a position, a length and angles instead of bounds. In the property group,
 * the property with the six bounds has the function "Bounds".
 */
#ifndef pqRegionBoxWidget_h
#define pqRegionBoxWidget_h

#include "pqInteractivePropertyWidget.h"

class pqRegionBoxWidget : public pqInteractivePropertyWidget
{
  Q_OBJECT
  typedef pqInteractivePropertyWidget Superclass;

public:
  pqRegionBoxWidget(vtkSMProxy* proxy, vtkSMPropertyGroup* group, QWidget* parent = nullptr);
  ~pqRegionBoxWidget() override;

protected Q_SLOTS:
  void placeWidget() override;

private Q_SLOTS:
  void onBoundsChanged();
  void onBoxMoved();
  void resetToDomain();

private:
  Q_DISABLE_COPY(pqRegionBoxWidget)

  void addBoundsEdits();
  void setBounds(const double bounds[6]);

  vtkSMProperty* const Bounds;
};

#endif

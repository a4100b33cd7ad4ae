/**
 * @class pqRegionBoxWidget
 * @brief six bounds of a reader, as numbers and as a box in the view
 *
 * ParaView's own box widget needs a position, a length and angles. In the property group, the property with
 * the six numbers has the function "Bounds".
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
  void onNumbersChanged();
  void onBoxMoved();
  void resetToDomain();

private:
  Q_DISABLE_COPY(pqRegionBoxWidget)

  void addNumbers();
  void setBounds(const double bounds[6]);

  vtkSMProperty* const Bounds;
};

#endif

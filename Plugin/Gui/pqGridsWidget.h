/**
 * @class pqGridsWidget
 * @brief the list of grids, and below it the arrays of each grid
 *
 * A selected array of a grid that is not shown has no effect on the image. The text below the list says where
 * each array lies, and which grids were shown last.
 */
#ifndef pqGridsWidget_h
#define pqGridsWidget_h

#include "pqStringVectorPropertyWidget.h"

class QLabel;

class pqGridsWidget : public pqStringVectorPropertyWidget
{
  Q_OBJECT
  typedef pqStringVectorPropertyWidget Superclass;

public:
  pqGridsWidget(vtkSMProxy* proxy, vtkSMProperty* grids, QWidget* parent = nullptr);
  ~pqGridsWidget() override;

private Q_SLOTS:
  void showArrays();

private:
  Q_DISABLE_COPY(pqGridsWidget)

  QLabel* const Arrays;
};

#endif

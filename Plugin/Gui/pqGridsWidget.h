/**
 * @class pqGridsWidget
 * @brief The list of a reader's grids, and a text below the list with the arrays of each grid
 *
 * A selected array of a grid that is not shown has no effect on the image. So the text below the list says
 * which arrays have values on each grid, and marks grids with arrays of the last read as shown.
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

  QLabel* const Label;
};

#endif

/**
 * @class pqRangeWidget
 * @brief two numbers, and below them the range in the data
 *
 * For LevelRange, the range is that of the levels; for ValueRange, that of the values last read of the array
 * that the property "ValueArray" names.
 */
#ifndef pqRangeWidget_h
#define pqRangeWidget_h

#include "pqPropertyWidget.h"

class QLabel;

class pqRangeWidget : public pqPropertyWidget
{
  Q_OBJECT
  typedef pqPropertyWidget Superclass;

public:
  pqRangeWidget(vtkSMProxy* proxy, vtkSMProperty* range, QWidget* parent = nullptr);
  ~pqRangeWidget() override;

private Q_SLOTS:
  void showKnown();
  void beginWithKnown();

private:
  Q_DISABLE_COPY(pqRangeWidget)

  QString levels() const;
  QString valuesOf(const char* array);

  vtkSMProperty* const Range;
  vtkSMProperty* const Array;  ///< null if the range is of levels
  QLabel* const Known;
  QString KnownArray;  ///< the array of KnownRange
  double KnownRange[2] = {0, 0};
};

#endif

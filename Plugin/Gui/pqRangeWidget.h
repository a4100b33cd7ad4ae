/**
 * @class pqRangeWidget
 * @brief two numbers, and below them what there is in the data
 *
 * Of LevelRange, the levels; of ValueRange, the values of the array that the property "ValueArray" names, as
 * read last.
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
  void sayKnown();
  void beginWithKnown();

private:
  Q_DISABLE_COPY(pqRangeWidget)

  QString levels() const;
  QString valuesOf(const char* array);

  vtkSMProperty* const Range;
  vtkSMProperty* const Array;  ///< null where the range is of levels
  QLabel* const Known;
  QString KnownArray;  ///< of whose values something was known
  double KnownRange[2] = {0, 0};
};

#endif

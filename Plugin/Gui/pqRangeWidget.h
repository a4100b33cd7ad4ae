/**
 * @class pqRangeWidget
 * @brief Two edit fields for a range, and a text below the fields with the range of the data
 *
 * For the property LevelRange, the text shows the number and the range of the levels. For the property
 * ValueRange, the text shows the range of the values last read of the array that the property "ValueArray"
 * names.
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
  void updateRangeLabel();
  void initializeRange();

private:
  Q_DISABLE_COPY(pqRangeWidget)

  QString levelsText() const;
  QString valuesText(const char* array);

  vtkSMProperty* const Range;
  vtkSMProperty* const Array;  ///< the property "ValueArray"; null for LevelRange
  QLabel* const RangeLabel;
  QString LastArray;  ///< name of the array of LastRange
  /// The range of the finite values last read of LastArray. LastRange[0] > LastRange[1]: no value is finite.
  double LastRange[2] = {0, 0};
};

#endif

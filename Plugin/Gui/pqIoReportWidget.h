/**
 * @class pqIoReportWidget
 * @brief Shows a reader's I/O report in the Properties panel, read-only
 *
 * The text is the value of the information-only property "IOReport" of the panel's proxy. While the widget is
 * visible, the widget fetches the text after each update of the pipeline: Apply, a new time step, a reload.
 * Users can select and copy the text.
 *
 * The panel makes no widgets for information-only properties. So this widget belongs to another property of
 * the same proxy, which has panel_widget="patchio_io_report" in the XML. The widget neither shows nor changes
 * this other property.
 */
#ifndef pqIoReportWidget_h
#define pqIoReportWidget_h

#include "pqPropertyWidget.h"

#include <QTimer>  // so that many updates cost one request

class QTextEdit;

class pqIoReportWidget : public pqPropertyWidget
{
  Q_OBJECT
  typedef pqPropertyWidget Superclass;

public:
  pqIoReportWidget(vtkSMProxy* proxy, vtkSMProperty* anchor, QWidget* parent = nullptr);
  ~pqIoReportWidget() override;

protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

private Q_SLOTS:
  /**
   * Fetches the report from the server and shows the report, if the widget is visible.
   */
  void refresh();

  /**
   * Makes the widget as high as its text, because only the panel scrolls.
   */
  void fitHeight();

private:
  Q_DISABLE_COPY(pqIoReportWidget)

  /**
   * Breaks lines at the visible edge of the panel, because this widget may be wider than the panel.
   */
  void wrapToPanel();

  vtkSMProperty* const ReportProperty;
  QTextEdit* const Text;
  QTimer RefreshTimer;
};

#endif

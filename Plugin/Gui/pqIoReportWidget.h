/**
 * @class pqIoReportWidget
 * @brief shows a reader's I/O report in the Properties panel, read-only
 *
 * The text comes from the information-only property "IOReport" of the panel's proxy and is fetched anew after
 * each update of the pipeline: Apply, a new time step, a reload. It can be selected and copied.
 *
 * The panel makes no widgets for information-only properties. So this one stands on another property of the
 * same proxy, named by panel_widget="patchio_io_report" in the XML; that property itself is neither shown nor
 * changed.
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
   * Ask the server for the report, if someone can see it.
   */
  void refresh();

  /**
   * As high as the text: the panel scrolls, the text in it does not.
   */
  void fitHeight();

private:
  Q_DISABLE_COPY(pqIoReportWidget)

  /**
   * Lines end where the panel does: what stands in it, this widget too, may be wider than what is seen of it.
   */
  void wrapToPanel();

  vtkSMProperty* const Report;
  QTextEdit* const Text;
  QTimer Delay;
};

#endif

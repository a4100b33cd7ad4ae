/**
 * @class pqIoReportDock
 * @brief The window View > I/O Report: the cost of the active reader's last read, as a table and plots
 *
 * The reader is the active source if this source has the information-only property "IOReportData", otherwise
 * the first source with this property before the active source in the pipeline. If there is no such source,
 * the window keeps its previous reader. While the window is open, the window fetches the property from the
 * server after each update and render.
 */
#ifndef pqIoReportDock_h
#define pqIoReportDock_h

#include <QDockWidget>
#include <QElapsedTimer>  // for the time of a render
#include <QPointer>       // for objects that ParaView deletes
#include <QTimer>         // so that many updates cost one request

#include "vtkNew.h"  // for observers

class pqPipelineSource;
class pqView;
class ReportView;
class vtkEventQtSlotConnect;

class pqIoReportDock : public QDockWidget
{
  Q_OBJECT
  typedef QDockWidget Superclass;

public:
  explicit pqIoReportDock(QWidget* parent = nullptr);
  ~pqIoReportDock() override;

protected:
  void showEvent(QShowEvent* event) override;

private Q_SLOTS:
  void setSource(pqPipelineSource* source);
  void setView(pqView* view);
  void onDataUpdated();
  void onBeginRender();
  void onEndRender();

  /**
   * Fetches the report from the server and shows the report, if the window is visible.
   */
  void refresh();

private:
  Q_DISABLE_COPY(pqIoReportDock)

  ReportView* const ReportWidget;
  QPointer<pqPipelineSource> Source;
  QPointer<pqView> View;
  vtkNew<vtkEventQtSlotConnect> Events;
  QTimer RefreshTimer;

  QElapsedTimer RenderTimer;      ///< runs during a render
  bool RenderPending = false;     ///< true: no render has ended since the last read
  bool ReadWithinRender = false;  ///< true: RenderSeconds includes the last read
  double RenderSeconds = -1;      ///< time of the first render after the last read; less than 0: unknown
};

#endif

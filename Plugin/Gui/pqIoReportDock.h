/**
 * @class pqIoReportDock
 * @brief the window View > I/O Report: the cost of the active reader's last read, as a table and plots
 *
 * The reader is the active source, or the first source before it in the pipeline that has the
 * information-only property "IOReportData". While the window is open, that property is fetched from the
 * server after each update.
 */
#ifndef pqIoReportDock_h
#define pqIoReportDock_h

#include <QDockWidget>
#include <QElapsedTimer>  // for how long a picture takes
#include <QPointer>       // for things that others delete
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
   * Fetches the report from the server, if the window is visible.
   */
  void refresh();

private:
  Q_DISABLE_COPY(pqIoReportDock)

  ReportView* const Report;
  QPointer<pqPipelineSource> Source;
  QPointer<pqView> View;
  vtkNew<vtkEventQtSlotConnect> Events;
  QTimer Delay;

  // The time of the image after a read, and whether this time includes the read.
  QElapsedTimer Picture;
  bool AwaitsPicture = false, ReadWithinPicture = false;
  double PictureSeconds = -1;  ///< less than 0: not known
};

#endif

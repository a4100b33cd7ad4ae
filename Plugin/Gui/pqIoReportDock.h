/**
 * @class pqIoReportDock
 * @brief the window View > I/O Report: what the last read of the active reader cost, as a table and plots
 *
 * Of the active source, or else of the first source before it in the pipeline that has the information-only
 * property "IOReportData". It is fetched from the server after each update, while the window is open.
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
   * Ask the server for the report, if someone can see it.
   */
  void refresh();

private:
  Q_DISABLE_COPY(pqIoReportDock)

  ReportView* const Report;
  QPointer<pqPipelineSource> Source;
  QPointer<pqView> View;
  vtkNew<vtkEventQtSlotConnect> Events;
  QTimer Delay;

  // The picture that follows a read: how long it takes, and whether the read is part of that.
  QElapsedTimer Picture;
  bool AwaitsPicture = false, ReadWithinPicture = false;
  double PictureSeconds = -1;  ///< less than 0: not known
};

#endif

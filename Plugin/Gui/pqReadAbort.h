/**
 * @class pqReadAbort
 * @brief lets Esc and the abort button of the status bar stop a read
 *
 * ParaView 5.11 has the button but nothing behind it. While a reader reads, the button is enabled. Of a
 * builtin server, Esc or a click sets the reader's AbortExecute, which it looks at every 10 ms. With a
 * pvserver, the program waits for its answer meanwhile, but gets progress from it 20 times a second: then is
 * the moment to send an abort message, for which the server's vtkPVPatchReader looks.
 *
 * What was aborted can be read again: Apply is offered then.
 */
#ifndef pqReadAbort_h
#define pqReadAbort_h

#include "AbortKeys.h"

#include <QList>
#include <QObject>
#include <QPointer>  // for things that others delete
#include <QSet>      // of readers

#include <memory>

class pqPipelineSource;
class pqProgressWidget;
class pqServer;
class pqServerManagerModelItem;
class vtkObject;

class pqReadAbort : public QObject
{
  Q_OBJECT
  typedef QObject Superclass;

public:
  explicit pqReadAbort(QObject* parent = nullptr);
  ~pqReadAbort() override;

  ///@{
  /**
   * Called by ParaView when the plugin is loaded, and at the end.
   */
  void startup();
  void shutdown();
  ///@}

private Q_SLOTS:
  void addServer(pqServer* server);
  void addSource(pqPipelineSource* source);
  // Of a reader of a builtin server.
  void onStart();
  void onProgress(vtkObject* reader);
  void onEnd(vtkObject* reader);
  // While the program waits for a pvserver.
  void onWaitStart(vtkObject* handler);
  void onWaitProgress(vtkObject* handler);
  void onWaitEnd(vtkObject* handler);
  void onModifiedStateChanged(pqServerManagerModelItem* item);

private:
  Q_DISABLE_COPY(pqReadAbort)

  void watchKeys();
  bool endWatch();
  void enableButton(bool enable);
  void offerApply(const QList<QPointer<pqPipelineSource>>& sources);

  std::unique_ptr<AbortKeys> Keys;
  QPointer<pqProgressWidget> StatusBar;
  QSet<pqPipelineSource*> Aborted;  ///< offered to be read again; only compared
  bool Aborting = false;
  bool ButtonIsEnabled = false;
};

#endif

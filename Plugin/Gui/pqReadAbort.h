/**
 * @class pqReadAbort
 * @brief lets Esc and the abort button of the status bar stop a read
 *
 * ParaView 5.11 has the button, but it does nothing. This class enables it while a reader reads. With a
 * builtin server, Esc or a click sets the reader's AbortExecute, which the reader checks every 10 ms. With a
 * pvserver, the client waits for an answer, but receives progress 20 times a second. The client then sends an
 * abort message, which the server's vtkPVPatchReader looks for.
 *
 * After an abort, Apply is enabled, so that the user can read again.
 */
#ifndef pqReadAbort_h
#define pqReadAbort_h

#include <QList>
#include <QObject>
#include <QPointer>  // for things that others delete
#include <QSet>      // of readers

#include <memory>

class AbortKeys;
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
   * ParaView calls these methods when it loads the plugin, and at its end.
   */
  void startup();
  void shutdown();
  ///@}

private Q_SLOTS:
  void addServer(pqServer* server);
  void addSource(pqPipelineSource* source);
  // For a reader of a builtin server:
  void onStart();
  void onProgress(vtkObject* reader);
  void onEnd(vtkObject* reader);
  // While the program waits for a pvserver:
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
  QSet<pqPipelineSource*> Aborted;  ///< Apply reads them again; pointers are only compared
  bool Aborting = false;
  bool ButtonIsEnabled = false;
};

#endif

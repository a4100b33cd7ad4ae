/**
 * @class pqReadAbort
 * @brief Makes Esc and the abort button of the status bar stop a read
 *
 * ParaView 5.11 has the button, but the button does nothing. This class enables the button while a reader
 * reads. With a builtin server, Esc or a click sets the reader's AbortExecute, which the reader checks every
 * 10 ms. With a pvserver, the client waits for an answer, but receives progress 20 times a second. At the
 * next progress, the client sends an abort message to the server's vtkPVPatchReader.
 *
 * After an abort, this class stops a playing animation, and enables Apply, so that the user can read again.
 */
#ifndef pqReadAbort_h
#define pqReadAbort_h

#include <QList>
#include <QObject>
#include <QPointer>  // for objects that ParaView deletes
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
   * ParaView calls startup() after the plugin is loaded, and shutdown() when the program ends.
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

  void beginWatch();
  bool endWatch();
  void enableButton(bool enable);
  void enableApply(const QList<QPointer<pqPipelineSource>>& sources);

  std::unique_ptr<AbortKeys> Keys;
  QPointer<pqProgressWidget> StatusBar;
  /// The sources that Apply reads again. The pointers are never dereferenced.
  QSet<pqPipelineSource*> AbortedSources;
  bool Aborting = false;  ///< true: the user has stopped the current read
  bool ButtonEnabled = false;
};

#endif

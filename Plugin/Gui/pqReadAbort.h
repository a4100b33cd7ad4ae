/**
 * @class pqReadAbort
 * @brief lets Esc and the abort button of the status bar stop a read
 *
 * ParaView 5.11 has the button but nothing behind it. While a reader of a builtin server reads, the button is
 * enabled, and Esc or a click sets the reader's AbortExecute, which it looks at every 10 ms. What was aborted
 * can be read again: Apply is offered then.
 */
#ifndef pqReadAbort_h
#define pqReadAbort_h

#include "AbortKeys.h"

#include <QObject>
#include <QPointer>  // for things that others delete
#include <QSet>      // of readers

#include <memory>

class pqPipelineSource;
class pqProgressWidget;
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
  void addSource(pqPipelineSource* source);
  void onStart();
  void onProgress(vtkObject* reader);
  void onEnd(vtkObject* reader);
  void onModifiedStateChanged(pqServerManagerModelItem* item);

private:
  Q_DISABLE_COPY(pqReadAbort)

  void enableButton(bool enable);
  void offerApply(vtkObject* reader);

  std::unique_ptr<AbortKeys> Keys;
  QPointer<pqProgressWidget> StatusBar;
  QSet<pqPipelineSource*> Aborted;  ///< offered to be read again; only compared
  bool Aborting = false;
};

#endif

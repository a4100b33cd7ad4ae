/**
 * @class pqReaderBehaviors
 * @brief details of PatchIO's readers in the GUI that ParaView's XML cannot express
 *
 * - In the pipeline browser, dumps and plotfiles, whose files all have the same name (plt00006/Header), are
 * named by their folder.
 * - File > Reload Files (F5) looks for new dumps at once. ParaView would ask first, and its default answer
 * would look for files with names like that of the opened one. It still asks if several files were opened.
 * - Arrays that the data have since a reload, or since another step, are added to the panel's list.
 * - The view shows the date of data that have dates (GrADS).
 * - Every 3 seconds, unless something is read or played, it looks for new time steps of readers that follow
 * their series (SeriesFollower).
 * - If ParaView asks which reader to use, the entry of PatchIO's reader names the formats that it reads. The
 * label of the reader does not, because the label is also the reader's name in Python.
 */
#ifndef pqReaderBehaviors_h
#define pqReaderBehaviors_h

#include "DateInView.h"
#include "SeriesFollower.h"

#include <QObject>
#include <QTimer>

class pqPipelineSource;

class pqReaderBehaviors : public QObject
{
  Q_OBJECT
  typedef QObject Superclass;

public:
  explicit pqReaderBehaviors(QObject* parent = nullptr);
  ~pqReaderBehaviors() override;

  ///@{
  /**
   * Called by ParaView when the plugin is loaded, and at the end.
   */
  void startup();
  void shutdown();
  ///@}

  bool eventFilter(QObject* watched, QEvent* event) override;

private Q_SLOTS:
  void onSourceAdded(pqPipelineSource* source);
  void onShownChanged();
  void onSourceRemoved(pqPipelineSource* source);
  void onTimer();

private:
  Q_DISABLE_COPY(pqReaderBehaviors)

  DateInView Dates;
  SeriesFollower Follower;
  QTimer Timer;
  bool IsPlaying = false;
};

#endif

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

#include <QHash>
#include <QObject>
#include <QPointer>
#include <QTimer>

#include "vtkSmartPointer.h"

#include <map>
#include <utility>

class pqPipelineSource;
class pqView;
class vtkSMProxy;

/// The dates of readers' time steps in the views that show the readers.
///
/// A text in a corner for data that have dates (GrADS). It is not part of the pipeline, so that the reader
/// can be deleted and state files do not contain it. The reader's property ShowDate turns it off.
class DateInView
{
public:
  /// Updates the texts of a reader. To be called after the reader, or a filter of the reader, is shown or
  /// hidden.
  void Refresh(pqPipelineSource* source);
  /// Removes the texts of a reader. To be called before the reader is deleted.
  void Remove(pqPipelineSource* source);

private:
  struct Label
  {
    QPointer<pqView> View;
    vtkSmartPointer<vtkSMProxy> Text;  ///< a representation
  };

  Label Make(pqPipelineSource* source, pqView* view) const;

  std::map<std::pair<pqPipelineSource*, pqView*>, Label> Labels;
};

/// Looks for new steps of readers whose property Follow is on: their server looks for the steps, and
/// ParaView's time controls get them. If the animation is at or after the last step of a reader, it moves on
/// to the new last step. The animation never moves back, and stays at an earlier step.
class SeriesFollower
{
public:
  /// Looks for new steps of a reader. To be called from time to time, while nothing is read or played.
  void Look(pqPipelineSource* source);
  /// Forgets a reader. To be called before the reader is deleted.
  void Remove(pqPipelineSource* source) { this->LastTimes.remove(source); }

private:
  QHash<pqPipelineSource*, double> LastTimes;  ///< last time of each reader that follows, at the last look
};

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
  void onShownTimer();
  void onSourceRemoved(pqPipelineSource* source);
  void onTimer();

private:
  Q_DISABLE_COPY(pqReaderBehaviors)

  DateInView Dates;
  SeriesFollower Follower;
  QTimer Timer;
  QTimer ShownTimer;  ///< runs after a reader or a filter of it was shown, hidden or updated
  bool IsPlaying = false;
};

#endif

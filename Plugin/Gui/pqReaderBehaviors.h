/**
 * @class pqReaderBehaviors
 * @brief Behaviors of PatchIO's readers in the GUI that ParaView's XML cannot express
 *
 * - The pipeline browser names single dumps, plotfiles and containers by their folder, because their files
 * all have the same name (plt00006/Header).
 * - File > Reload Files (F5) checks for new dumps at once, if a single file was opened. ParaView would ask
 * the user first, and the default answer would search for files with names similar to the name of the opened
 * file.
 * - The panel's lists of arrays get the arrays that appear after a reload or a change of the step.
 * - The view shows the date of data that have dates (GrADS), see DateInView.
 * - Readers that follow their series find new time steps automatically, see SeriesFollower. A poll happens
 * every 3 seconds while ParaView is idle.
 * - If ParaView asks which reader to use, the entry of PatchIO's reader names the supported formats. The
 * label of the reader cannot name the formats, because the label is also the reader's name in Python.
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

/// Shows the dates of readers' time steps as texts in a corner of the views, for data that have dates
/// (GrADS).
///
/// The texts are not part of the pipeline, so that a reader can be deleted and state files do not contain the
/// texts. The reader's property ShowDate turns the texts off.
class DateInView
{
public:
  /// Adds, shows and hides the texts of a reader. Call this method after the reader was updated, and after
  /// the reader, or a filter that is applied to the reader, was shown or hidden.
  void Refresh(pqPipelineSource* source);
  /// Removes the texts of a reader. Call this method before the reader is deleted.
  void Remove(pqPipelineSource* source);

private:
  /// A text, and the view with the text.
  struct Label
  {
    QPointer<pqView> View;
    vtkSmartPointer<vtkSMProxy> Text;  ///< the representation of the text
  };

  Label MakeLabel(pqPipelineSource* source, pqView* view) const;

  std::map<std::pair<pqPipelineSource*, pqView*>, Label> Labels;
};

/// Adds new steps of readers whose property Follow is on to ParaView's time controls. If the animation is at
/// or after the last step of a reader, the animation moves on to the new last step; otherwise the animation
/// stays at its step.
class SeriesFollower
{
public:
  /// Adds the new steps of a reader. Call this method regularly, while no reader reads and no animation
  /// plays.
  void Poll(pqPipelineSource* source);
  /// Forgets a reader. Call this method before the reader is deleted.
  void Remove(pqPipelineSource* source) { this->LastTimes.remove(source); }

private:
  /// The last time of each reader that follows its series, at the previous poll.
  QHash<pqPipelineSource*, double> LastTimes;
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
   * ParaView calls startup() after the plugin is loaded, and shutdown() when the program ends. In between,
   * the behaviors watch the readers of the session.
   */
  void startup();
  void shutdown();
  ///@}

  bool eventFilter(QObject* watched, QEvent* event) override;

private Q_SLOTS:
  void onSourceAdded(pqPipelineSource* source);
  void onRefreshTimer();
  void onSourceRemoved(pqPipelineSource* source);
  void onPollTimer();

private:
  Q_DISABLE_COPY(pqReaderBehaviors)

  DateInView Dates;
  SeriesFollower Follower;
  QTimer PollTimer;
  QTimer RefreshTimer;     ///< started after a reader was updated, and after a source was shown or hidden
  bool IsPlaying = false;  ///< true: an animation plays
};

#endif

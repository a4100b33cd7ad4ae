// Shows the time steps that a running simulation writes.
#ifndef SeriesFollower_h
#define SeriesFollower_h

#include <QHash>

class pqPipelineSource;

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

#endif

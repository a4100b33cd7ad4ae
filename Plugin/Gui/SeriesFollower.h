// Shows the time steps that a running simulation writes.
#ifndef SeriesFollower_h
#define SeriesFollower_h

#include <QHash>

class pqPipelineSource;

/// For readers whose property Follow is on: their server looks for new steps, and ParaView's time controls
/// get them. If the animation stands at the last step of a reader, or behind it, it goes on to the new last
/// one; it never goes back, and who looks at an earlier step stays there.
class SeriesFollower
{
public:
  /// To be called from time to time, while nothing is read or played.
  void Look(pqPipelineSource* source);
  /// To be called before the reader is deleted.
  void Remove(pqPipelineSource* source) { this->LastTimes.remove(source); }

private:
  QHash<pqPipelineSource*, double> LastTimes;  ///< of readers that follow: the last time at the last look
};

#endif

// The requests in flight and the bytes read so far, over the time of a read.
#pragma once

#include "Base/Communicator.h"

#include <vector>

namespace patchio {

/// A moment of a read.
struct TimelinePoint
{
  double Seconds = 0;   ///< seconds since the read began
  double Bytes = 0;     ///< bytes read from the storage so far
  double InFlight = 0;  ///< requests in flight
};

/// Records a few hundred moments, ascending in time, with intervals that grow with the length of the read.
class Timeline
{
public:
  static constexpr std::size_t MostPoints = 256;

  /// Adds a moment. May be called at any rate; a moment too soon after the previous one is ignored.
  void Add(const TimelinePoint& point);
  /// Adds the last moment, which is always kept.
  void End(const TimelinePoint& point);
  const std::vector<TimelinePoint>& Points() const { return this->Kept; }

private:
  std::vector<TimelinePoint> Kept{TimelinePoint()};
  double Interval = 0.005;  ///< seconds
};

/// Interpolates a timeline at a moment. After the end of the timeline, InFlight is 0.
TimelinePoint At(const std::vector<TimelinePoint>& points, double seconds);

/// Returns the sum of the timelines of all ranks, which begin at the same time, on all ranks. Returns `mine`
/// unchanged if there is only one rank. Collective: every rank of the communicator calls it.
std::vector<TimelinePoint> SumOverRanks(const std::vector<TimelinePoint>& mine, Communicator& comm);

}  // namespace patchio

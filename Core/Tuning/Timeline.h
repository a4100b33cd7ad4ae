// The requests in flight and the bytes read so far, over the time of a read.
#pragma once

#include "Base/Communicator.h"

#include <vector>

namespace patchio {

/// A point of a timeline: the progress of a read at one time.
struct TimelinePoint
{
  double Seconds = 0;   ///< seconds since the read began
  double Bytes = 0;     ///< bytes read from the storage so far
  double InFlight = 0;  ///< requests in flight
};

/// Records at most MostPoints points, ascending in time, at intervals that grow with the length of the read.
class Timeline
{
public:
  static constexpr std::size_t MostPoints = 256;

  /// Adds a point. Ignores a point too soon after the previous point, so the rate of calls does not matter.
  void Add(const TimelinePoint& point);
  /// Adds the last point, at any distance from the previous point. A time before the previous point counts as
  /// that of the previous point.
  void End(const TimelinePoint& point);
  const std::vector<TimelinePoint>& Points() const { return this->Recorded; }

private:
  std::vector<TimelinePoint> Recorded{TimelinePoint()};
  double Interval = 0.005;  ///< seconds
};

/// Interpolates a timeline linearly at the time `seconds`. After the last point, InFlight is 0 and Bytes
/// stays; before the first point, both are 0.
TimelinePoint InterpolateTimeline(const std::vector<TimelinePoint>& points, double seconds);

/// Returns, on all ranks, the sum of the timelines of all ranks at 101 times; the timelines must begin at the
/// same time. Returns `timeline` unchanged if the communicator has only one rank, and nothing if no timeline
/// lasts longer than 0 s. Collective: every rank of the communicator calls it.
std::vector<TimelinePoint> SumOverRanks(const std::vector<TimelinePoint>& timeline, Communicator& ranks);

}  // namespace patchio

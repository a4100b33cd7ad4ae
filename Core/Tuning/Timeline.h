// What a read had in flight and had brought, from moment to moment.
#pragma once

#include "Base/Communicator.h"

#include <vector>

namespace patchio {

/// A moment of a read.
struct TimelinePoint
{
  double Seconds = 0;   ///< since the read began
  double Bytes = 0;     ///< read from the storage so far
  double InFlight = 0;  ///< requests
};

/// Some hundred moments, however long the read is: the longer, the further apart. Ascending in time.
class Timeline
{
public:
  static constexpr std::size_t MostPoints = 256;

  /// May be called as often as one likes; what comes too soon after the moment before is passed over.
  void Add(const TimelinePoint& point);
  /// The last moment, which is kept whatever came before.
  void End(const TimelinePoint& point);
  const std::vector<TimelinePoint>& Points() const { return this->Kept; }

private:
  std::vector<TimelinePoint> Kept{TimelinePoint()};
  double Interval = 0.005;  ///< seconds
};

/// A timeline at a moment between its points; after its end nothing is in flight.
TimelinePoint At(const std::vector<TimelinePoint>& points, double seconds);

/// Collective. The sum over the ranks, which all began at once; the same on all. Rank 0's as it is where it
/// is alone.
std::vector<TimelinePoint> SumOverRanks(const std::vector<TimelinePoint>& mine, Communicator& comm);

}  // namespace patchio

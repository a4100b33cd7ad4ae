// Ids for the points of parts: a point that several parts have gets one id.
#pragma once

#include "Filters/Part.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace patchio::filters {

/// A key that is equal in all parts that have a point: the numbers of the ends of the point's edge or, for a
/// point of a block, its number and NoPoint. One end is not enough, because edges of several levels may begin
/// at one point.
using PointKey = std::pair<std::uint64_t, std::uint64_t>;
constexpr std::uint64_t NoPoint = std::numeric_limits<std::uint64_t>::max();

/// A point that other parts may have, too.
struct SharedPoint
{
  PointKey Key;
  int Part, Point;  ///< number of the part, and of the point in the part

  bool operator<(const SharedPoint& other) const
  {
    return std::tie(this->Key, this->Part, this->Point) < std::tie(other.Key, other.Part, other.Point);
  }
};

/// The ids of the points of a part.
struct PointsOfPart
{
  /// Ids by the points' numbers in the part. Before Stitch(): Own, or Unused for a point that no cell has.
  std::vector<long long> Ids;
  /// The part's own ids, from First up to End. Points with other ids belong to parts before this one.
  long long First = 0, End = 0;

  static constexpr long long Unused = -1, Own = -2;
};

/// Gives the points of all parts ids from `first` on, and returns the end of the ids. A point that several
/// parts have, or that one part has several times, gets one id, in the part where it occurs first. shared:
/// the points of each part that other parts may have.
long long Stitch(
    const std::vector<std::vector<SharedPoint>>& shared, long long first, std::vector<PointsOfPart>& parts);

/// Returns the global number of a point, which is given by its number in the block of a part. Points with
/// equal global numbers are the same point, also in different blocks. Thread-safe.
using NumberOfPoint = std::function<std::uint64_t(const Part&, long long)>;

/// Gives ids to the points of all parts, from 0 on, and returns the end of the ids. Points on edges are the
/// same point if the ends of their edges are the same.
long long Stitch(
    const std::vector<const Part*>& parts, const NumberOfPoint& number, std::vector<PointsOfPart>& points);

/// Returns a function that numbers points by their positions: a position has the same number in all blocks.
/// Points of curvilinear blocks lie at one position if their coordinates are equal to the last bit. The
/// function knows the points at the rims of the parts' boxes and at the ends of edges with shared points.
NumberOfPoint NumbersByPosition(const std::vector<const Part*>& parts);

}  // namespace patchio::filters

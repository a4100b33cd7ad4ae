// Ids for the points of parts. A point that several parts have gets one id.
#pragma once

#include "Filters/BlockPart.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace patchio::filters {

/// A key of a point, equal in all parts that have the point: the numbers of both ends of the point's edge or,
/// for a point of a block, the number of the point and NoPoint. Both ends are needed, because edges of
/// several levels may begin at one point.
using PointKey = std::pair<std::uint64_t, std::uint64_t>;
constexpr std::uint64_t NoPoint = std::numeric_limits<std::uint64_t>::max();

/// A point that several parts may have.
struct SharedPoint
{
  PointKey Key;
  int PartIndex, Point;  ///< index of the part, and number of the point in the part

  bool operator<(const SharedPoint& other) const
  {
    return std::tie(this->Key, this->PartIndex, this->Point) <
           std::tie(other.Key, other.PartIndex, other.Point);
  }
};

/// The ids of the points of a part.
struct PointsOfPart
{
  /// The ids by the number of the point in the part. Before Stitch(): Unassigned, or Unused for a point that
  /// no cell has.
  std::vector<long long> Ids;
  /// The ids First .. End - 1 belong to this part. Points with lower ids belong to the parts before this
  /// part.
  long long First = 0, End = 0;

  static constexpr long long Unused = -1, Unassigned = -2;
};

/// Assigns ids from `first` on to the points of all parts, and returns the id after the last id. A point
/// that several parts have, or that a part has several times, gets one id, which belongs to the first part
/// with the point. `shared`: by part, the points that several parts may have.
long long Stitch(
    const std::vector<std::vector<SharedPoint>>& shared, long long first, std::vector<PointsOfPart>& parts);

/// A function that returns the global number of a point of the block of a part. The second parameter is the
/// number of the point in the block. Points with equal global numbers are the same point, also in different
/// blocks. Thread-safe.
using PointNumbering = std::function<std::uint64_t(const BlockPart&, long long)>;

/// Sets `points`, by part, to ids from 0 on, and returns the number of ids. Points on edges are the same
/// point if the ends of their edges have the same global numbers, see `numberOf`.
long long Stitch(const std::vector<const BlockPart*>& parts, const PointNumbering& numberOf,
    std::vector<PointsOfPart>& points);

/// Returns a function that numbers points by their positions. Points of uniform and rectilinear blocks have
/// the same number if their positions are equal except for rounding errors; but if a lattice of all positions
/// would have 10^18 points or more, points of different blocks have different numbers. Points of curvilinear
/// blocks have the same number if their coordinates are equal to the last bit. The function may be called
/// only for the points at the rims of the parts' boxes and next to hidden cells, and for the ends of edges
/// with shared points. The blocks of `parts` must outlive the function.
PointNumbering NumberingByPosition(const std::vector<const BlockPart*>& parts);

}  // namespace patchio::filters

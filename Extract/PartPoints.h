// The points of kept cells, numbered through all parts.
#ifndef Extract_PartPoints_h
#define Extract_PartPoints_h

#include "Extract/SolidPart.h"

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace patchio::extract {

/// Numbers of the two ends of the edge that has a point, or the number of a point and PointKeys::NoPoint:
/// equal in all parts that have the point. One end would not do, since edges of several levels may begin at
/// one place.
using PointKey = std::pair<std::uint64_t, std::uint64_t>;

class PartPoints
{
public:
  /// A point that several parts have, or a part several times (where a deformed grid touches itself), gets
  /// one number: the one of its first occurrence. The parts must outlive this.
  explicit PartPoints(const std::vector<const SolidPart*>& parts);

  struct Ids
  {
    std::vector<long long> Of;  ///< of the points of the part's box, then of those made; -1: not used
    long long First = 0;        ///< the part's own ids begin here; each is one more than the one before it
  };
  const Ids& operator[](std::size_t part) const { return this->Parts[part]; }
  long long Count() const { return this->Points; }

private:
  /// A point that other parts may have, too.
  struct Shared
  {
    PointKey Key;
    int Part, Point;

    bool operator<(const Shared& other) const
    {
      return std::tie(this->Key, this->Part, this->Point) < std::tie(other.Key, other.Part, other.Point);
    }
  };

  std::vector<Shared> FindShared(const std::vector<const SolidPart*>& parts);
  void Number(const std::vector<Shared>& shared);

  std::vector<Ids> Parts;
  long long Points = 0;
};

}  // namespace patchio::extract

#endif

// The points of kept cells, numbered through all parts.
#ifndef Extract_PartPoints_h
#define Extract_PartPoints_h

#include "Extract/SolidPart.h"

#include <cstdint>
#include <tuple>
#include <vector>

namespace patchio::extract {

class PartPoints
{
public:
  /// Points that several parts have get the number that they have in the first one. The parts must outlive
  /// this.
  explicit PartPoints(const std::vector<const SolidPart*>& parts);

  struct Ids
  {
    std::vector<long long> Of;  ///< of the points of the part's box, then of those made; -1: not used
    long long First = 0;        ///< ids from here on are the part's own, in this order
  };
  const Ids& operator[](std::size_t part) const { return this->Parts[part]; }
  long long Count() const { return this->Points; }

private:
  /// A point that other parts may have, too.
  struct Shared
  {
    std::uint64_t Key;
    int Length;  ///< of the edge that has it; edges of several levels may begin at one place
    int Part, Point;

    bool IsSame(const Shared& other) const { return this->Key == other.Key && this->Length == other.Length; }
    bool operator<(const Shared& other) const
    {
      return std::tie(this->Key, this->Length, this->Part) < std::tie(other.Key, other.Length, other.Part);
    }
  };

  std::vector<Shared> FindShared(const std::vector<const SolidPart*>& parts);
  void Number(const std::vector<Shared>& shared);

  std::vector<Ids> Parts;
  long long Points = 0;
};

}  // namespace patchio::extract

#endif

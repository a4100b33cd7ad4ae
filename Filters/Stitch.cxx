#include "Filters/Stitch.h"

#include "Filters/CellLattice.h"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <unordered_map>

namespace patchio::filters {

long long Stitch(
    const std::vector<std::vector<SharedPoint>>& shared, long long first, std::vector<PointsOfPart>& parts)
{
  constexpr long long elsewhere = -3;
  std::size_t count = 0;
  for (const std::vector<SharedPoint>& some : shared) {
    count += some.size();
  }
  std::vector<SharedPoint> sorted;
  sorted.reserve(count);
  for (const std::vector<SharedPoint>& some : shared) {
    sorted.insert(sorted.end(), some.begin(), some.end());
  }
  tbb::parallel_sort(sorted.begin(), sorted.end());
  const auto isFirst = [&](std::size_t s) { return s == 0 || sorted[s].Key != sorted[s - 1].Key; };
  tbb::parallel_for(std::size_t(0), sorted.size(), [&](std::size_t s) {
    if (!isFirst(s)) {
      parts[sorted[s].Part].Ids[sorted[s].Point] = elsewhere;
    }
  });
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    parts[p].End = std::count(parts[p].Ids.begin(), parts[p].Ids.end(), PointsOfPart::Own);
  });
  for (PointsOfPart& part : parts) {
    part.First = first;
    first = part.End += first;
  }
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    long long next = parts[p].First;
    for (long long& id : parts[p].Ids) {
      id = id == PointsOfPart::Own ? next++ : id;
    }
  });
  tbb::parallel_for(std::size_t(0), sorted.size(), [&](std::size_t s) {
    if (isFirst(s)) {
      const long long id = parts[sorted[s].Part].Ids[sorted[s].Point];
      for (std::size_t same = s + 1; same < sorted.size() && !isFirst(same); ++same) {
        parts[sorted[same].Part].Ids[sorted[same].Point] = id;
      }
    }
  });
  return first;
}

namespace {

/// Calls work(number in the part, number in the block) for the used points of a part's box that other parts
/// may have: at the ends of the box, and next to hidden cells.
template <typename Work>
void ForEachAtRim(const Part& part, Work work)
{
  if (part.Used.empty()) {
    return;
  }
  std::vector<char> beside;
  if (part.From->Flags) {
    beside.resize(part.BoxPointCount);
    part.ForEachCell(false, [&](const Int3& cell) {
      const int first = part.PointNumber(cell);
      for (int c = 0; c < part.Shape.Count(); ++c) {
        beside[first + part.StepTo(c)] = 1;
      }
    });
  }
  const auto atEnd = [&part](int axis, int i) {
    return part.Points[axis] > 1 && (i == 0 || i + 1 == part.Points[axis]);
  };
  int number = 0;
  for (int k = 0; k < part.Points[2]; ++k) {
    for (int j = 0; j < part.Points[1]; ++j) {
      const bool all = atEnd(2, k) || atEnd(1, j);
      const long long row = part.PointOfBlock(number);
      for (int i = 0; i < part.Points[0]; ++i, ++number) {
        if (part.Used[number] && (all || atEnd(0, i) || (!beside.empty() && beside[number]))) {
          work(number, row + i);
        }
      }
    }
  }
}

std::vector<SharedPoint> SharedOf(const Part& part, int number, const NumberOfPoint& numberOf)
{
  std::vector<SharedPoint> shared;
  shared.reserve(part.Shared.size());
  ForEachAtRim(part, [&](int point, long long at) {
    shared.push_back({{numberOf(part, at), NoPoint}, number, point});
  });
  for (const int point : part.Shared) {
    const EdgePoint& made = part.Made[point - part.BoxPointCount];
    const std::uint64_t a = numberOf(part, made.A), b = made.A == made.B ? NoPoint : numberOf(part, made.B);
    shared.push_back({std::minmax(a, b), number, point});
  }
  return shared;
}

}  // namespace

long long Stitch(
    const std::vector<const Part*>& parts, const NumberOfPoint& numberOf, std::vector<PointsOfPart>& points)
{
  points.resize(parts.size());
  std::vector<std::vector<SharedPoint>> shared(parts.size());
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    const Part& part = *parts[p];
    std::vector<long long>& ids = points[p].Ids;
    ids.assign(part.BoxPointCount, PointsOfPart::Unused);
    std::transform(part.Used.begin(), part.Used.end(), ids.begin(),
        [](char used) { return used ? PointsOfPart::Own : PointsOfPart::Unused; });
    ids.resize(part.PointCount(), PointsOfPart::Own);
    shared[p] = SharedOf(part, static_cast<int>(p), numberOf);
  });
  return Stitch(shared, 0, points);
}

namespace {

/// Numbers the positions of points of curvilinear blocks. Points at the same position have the same number.
class DeformedPositions
{
public:
  explicit DeformedPositions(const std::vector<const Part*>& parts)
  {
    std::vector<std::vector<Place>> found(parts.size());
    tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
      if (parts[p]->From->Form == BlockForm::Curvilinear) {
        Find(*parts[p], found[p]);
      }
    });
    for (const std::vector<Place>& some : found) {
      this->Places.insert(this->Places.end(), some.begin(), some.end());
    }
    tbb::parallel_sort(this->Places.begin(), this->Places.end());
    this->Places.erase(std::unique(this->Places.begin(), this->Places.end()), this->Places.end());
  }

  /// Returns the number of the position of a point that Find() finds.
  std::uint64_t NumberOf(const Block& block, long long point) const
  {
    return std::lower_bound(this->Places.begin(), this->Places.end(), PlaceOf(block, point)) -
           this->Places.begin();
  }

private:
  /// The bits of the coordinates, which can be sorted even if some coordinates are NaN.
  using Place = std::array<std::uint64_t, 3>;

  static Place PlaceOf(const Block& block, long long point)
  {
    Place place;
    const std::array<double, 3> at = block.PositionOf(point);
    for (int axis = 0; axis < 3; ++axis) {
      const double positive = at[axis] + 0.0;  // -0 and 0 are one place
      std::memcpy(&place[axis], &positive, sizeof(positive));
    }
    return place;
  }

  static void Find(const Part& part, std::vector<Place>& found)
  {
    ForEachAtRim(part, [&](int, long long at) { found.push_back(PlaceOf(*part.From, at)); });
    for (const int point : part.Shared) {
      const EdgePoint& made = part.Made[point - part.BoxPointCount];
      found.push_back(PlaceOf(*part.From, made.A));
      found.push_back(PlaceOf(*part.From, made.B));
    }
  }

  std::vector<Place> Places;
};

class PositionNumbers
{
public:
  explicit PositionNumbers(const std::vector<const Part*>& parts)
      : Lattice(this->BlocksOf(parts)), Deformed(parts)
  {
    double all = 1;
    for (int axis = 0; axis < 3; ++axis) {
      this->Counts[axis] = this->Lattice.PlaceCount(axis);
      all *= static_cast<double>(this->Counts[axis]);
    }
    this->Together = all < 1e18;
    this->FirstAlone = this->Together ? static_cast<std::uint64_t>(all) : 0;
  }

  /// Returns the number of a point of a block. Points on the lattice come first; if the lattice is too large
  /// for numbers, points of uniform and rectilinear blocks are numbered block by block instead. Points of
  /// deformed blocks come last.
  std::uint64_t Of(const Block& block, long long point) const
  {
    const Numbers& numbers = this->BlockNumbers.at(&block);
    if (numbers.InLattice < 0) {
      return this->FirstAlone + this->StraightPoints + this->Deformed.NumberOf(block, point);
    }
    if (!this->Together) {
      return this->FirstAlone + numbers.FirstPoint + point;
    }
    std::uint64_t number = 0;
    const Int3 at = block.IndexOf(point);
    for (int a = 2; a >= 0; --a) {
      number = number * this->Counts[a] + this->Lattice.AxisOf(numbers.InLattice, a).Places[at[a]];
    }
    return number;
  }

private:
  struct Numbers
  {
    int InLattice = -1;
    std::uint64_t FirstPoint = 0;
  };

  std::vector<CellBlock> BlocksOf(const std::vector<const Part*>& parts)
  {
    std::vector<CellBlock> straight;
    for (const Part* part : parts) {
      const Block& block = *part->From;
      const auto [found, isNew] = this->BlockNumbers.try_emplace(&block);
      if (!isNew || block.Form == BlockForm::Curvilinear) {
        continue;
      }
      found->second.FirstPoint = this->StraightPoints;
      this->StraightPoints += static_cast<std::uint64_t>(block.PointCount());
      found->second.InLattice = static_cast<int>(straight.size());
      CellBlock& cells = straight.emplace_back();
      cells.OfPoints = true;
      cells.Cells = block.Points;
      for (int axis = 0; axis < 3; ++axis) {
        cells.Nodes[axis] = block.PositionsOf(axis);
      }
    }
    return straight;
  }

  std::unordered_map<const Block*, Numbers> BlockNumbers;
  std::uint64_t StraightPoints = 0;
  const CellLattice Lattice;
  const DeformedPositions Deformed;
  std::array<std::uint64_t, 3> Counts{};
  bool Together = true;
  std::uint64_t FirstAlone = 0;
};

}  // namespace

NumberOfPoint NumbersByPosition(const std::vector<const Part*>& parts)
{
  const auto numbers = std::make_shared<const PositionNumbers>(parts);
  return [numbers](const Part& part, long long point) { return numbers->Of(*part.From, point); };
}

}  // namespace patchio::filters

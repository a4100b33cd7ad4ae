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
  constexpr long long assignedLater = -3;
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
      parts[sorted[s].PartIndex].Ids[sorted[s].Point] = assignedLater;
    }
  });
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    parts[p].End = std::count(parts[p].Ids.begin(), parts[p].Ids.end(), PointsOfPart::Unassigned);
  });
  for (PointsOfPart& part : parts) {
    part.First = first;
    first = part.End += first;
  }
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    long long next = parts[p].First;
    for (long long& id : parts[p].Ids) {
      id = id == PointsOfPart::Unassigned ? next++ : id;
    }
  });
  tbb::parallel_for(std::size_t(0), sorted.size(), [&](std::size_t s) {
    if (isFirst(s)) {
      const long long id = parts[sorted[s].PartIndex].Ids[sorted[s].Point];
      for (std::size_t same = s + 1; same < sorted.size() && !isFirst(same); ++same) {
        parts[sorted[same].PartIndex].Ids[sorted[same].Point] = id;
      }
    }
  });
  return first;
}

namespace {

/// Calls work(point, number) for the used points of a part's box that other parts may have: at the ends of
/// the box, and next to hidden cells. `point`: number in the part. `number`: number in the block.
template <typename Work>
void ForEachRimPoint(const BlockPart& part, Work work)
{
  if (part.Used.empty()) {
    return;
  }
  std::vector<char> besideHidden;
  if (part.SourceBlock->Flags) {
    besideHidden.resize(part.BoxPointCount);
    part.ForEachCell(false, [&](const Int3& cell) {
      const int first = part.PointNumber(cell);
      for (int c = 0; c < part.Shape.CornerCount(); ++c) {
        besideHidden[first + part.StepTo(c)] = 1;
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
        if (part.Used[number] && (all || atEnd(0, i) || (!besideHidden.empty() && besideHidden[number]))) {
          work(number, row + i);
        }
      }
    }
  }
}

/// Returns the points of a part that other parts may have. `number`: index of the part.
std::vector<SharedPoint> SharedPointsOf(const BlockPart& part, int number, const PointNumbering& numberOf)
{
  std::vector<SharedPoint> shared;
  shared.reserve(part.Shared.size());
  ForEachRimPoint(part, [&](int point, long long at) {
    shared.push_back({{numberOf(part, at), NoPoint}, number, point});
  });
  for (const int point : part.Shared) {
    const EdgePoint& made = part.NewPoints[point - part.BoxPointCount];
    const std::uint64_t a = numberOf(part, made.A), b = made.A == made.B ? NoPoint : numberOf(part, made.B);
    shared.push_back({std::minmax(a, b), number, point});
  }
  return shared;
}

}  // namespace

long long Stitch(const std::vector<const BlockPart*>& parts, const PointNumbering& numberOf,
    std::vector<PointsOfPart>& points)
{
  points.resize(parts.size());
  std::vector<std::vector<SharedPoint>> shared(parts.size());
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    const BlockPart& part = *parts[p];
    std::vector<long long>& ids = points[p].Ids;
    ids.assign(part.BoxPointCount, PointsOfPart::Unused);
    std::transform(part.Used.begin(), part.Used.end(), ids.begin(),
        [](char used) { return used ? PointsOfPart::Unassigned : PointsOfPart::Unused; });
    ids.resize(part.PointCount(), PointsOfPart::Unassigned);
    shared[p] = SharedPointsOf(part, static_cast<int>(p), numberOf);
  });
  return Stitch(shared, 0, points);
}

namespace {

/// Numbers the points of curvilinear blocks by their positions. Points at the same position have the same
/// number.
class CurvilinearPositions
{
public:
  explicit CurvilinearPositions(const std::vector<const BlockPart*>& parts)
  {
    std::vector<std::vector<PositionKey>> found(parts.size());
    tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
      if (parts[p]->SourceBlock->Form == BlockForm::Curvilinear) {
        AddKeys(*parts[p], found[p]);
      }
    });
    for (const std::vector<PositionKey>& some : found) {
      this->Keys.insert(this->Keys.end(), some.begin(), some.end());
    }
    tbb::parallel_sort(this->Keys.begin(), this->Keys.end());
    this->Keys.erase(std::unique(this->Keys.begin(), this->Keys.end()), this->Keys.end());
  }

  /// Returns the number of the position of a point that AddKeys() has added.
  std::uint64_t NumberOf(const Block& block, long long point) const
  {
    return std::lower_bound(this->Keys.begin(), this->Keys.end(), KeyOf(block, point)) - this->Keys.begin();
  }

private:
  /// The bits of the coordinates. Bits can be sorted even if some coordinates are NaN.
  using PositionKey = std::array<std::uint64_t, 3>;

  static PositionKey KeyOf(const Block& block, long long point)
  {
    PositionKey key;
    const std::array<double, 3> at = block.PositionOf(point);
    for (int axis = 0; axis < 3; ++axis) {
      const double positive = at[axis] + 0.0;  // -0 and 0 are the same position
      std::memcpy(&key[axis], &positive, sizeof(positive));
    }
    return key;
  }

  /// Adds the keys of the points of a part that other parts may have, and of the ends of their edges.
  static void AddKeys(const BlockPart& part, std::vector<PositionKey>& found)
  {
    ForEachRimPoint(part, [&](int, long long at) { found.push_back(KeyOf(*part.SourceBlock, at)); });
    for (const int point : part.Shared) {
      const EdgePoint& made = part.NewPoints[point - part.BoxPointCount];
      found.push_back(KeyOf(*part.SourceBlock, made.A));
      found.push_back(KeyOf(*part.SourceBlock, made.B));
    }
  }

  std::vector<PositionKey> Keys;
};

/// Numbers the points of all blocks by their positions, see NumberingByPosition().
class PositionNumbers
{
public:
  explicit PositionNumbers(const std::vector<const BlockPart*>& parts)
      : Lattice(this->AddBlocks(parts)), Curvilinear(parts)
  {
    double all = 1;
    for (int axis = 0; axis < 3; ++axis) {
      this->Counts[axis] = this->Lattice.NodeCount(axis);
      all *= static_cast<double>(this->Counts[axis]);
    }
    this->UsesLattice = all < 1e18;
    this->LatticePoints = this->UsesLattice ? static_cast<std::uint64_t>(all) : 0;
  }

  /// Returns the number of a point of a block. Points of uniform and rectilinear blocks come first: they have
  /// their number on the lattice or, if the lattice has too many points, are numbered block by block. Points
  /// of curvilinear blocks come last.
  std::uint64_t NumberOf(const Block& block, long long point) const
  {
    const Numbers& numbers = this->BlockNumbers.at(&block);
    if (numbers.InLattice < 0) {
      return this->LatticePoints + this->StraightPoints + this->Curvilinear.NumberOf(block, point);
    }
    if (!this->UsesLattice) {
      return this->LatticePoints + numbers.FirstPoint + point;
    }
    std::uint64_t number = 0;
    const Int3 at = IndexOf(point, block.Points);
    for (int a = 2; a >= 0; --a) {
      number = number * this->Counts[a] + this->Lattice.AxisOf(numbers.InLattice, a).NodeIndices[at[a]];
    }
    return number;
  }

private:
  struct Numbers
  {
    int InLattice = -1;  ///< index of the block in Lattice; -1: the block is curvilinear
    /// Number of points of the uniform and rectilinear blocks before this block.
    std::uint64_t FirstPoint = 0;
  };

  /// Sets BlockNumbers and StraightPoints. Returns the uniform and rectilinear blocks for Lattice.
  std::vector<CellBlock> AddBlocks(const std::vector<const BlockPart*>& parts)
  {
    std::vector<CellBlock> straight;
    for (const BlockPart* part : parts) {
      const Block& block = *part->SourceBlock;
      const auto [found, isNew] = this->BlockNumbers.try_emplace(&block);
      if (!isNew || block.Form == BlockForm::Curvilinear) {
        continue;
      }
      found->second.FirstPoint = this->StraightPoints;
      this->StraightPoints += static_cast<std::uint64_t>(block.PointCount());
      found->second.InLattice = static_cast<int>(straight.size());
      CellBlock& cells = straight.emplace_back();
      cells.IsPointData = true;
      cells.Cells = block.Points;
      for (int axis = 0; axis < 3; ++axis) {
        cells.Nodes[axis] = block.PositionsOf(axis);
      }
    }
    return straight;
  }

  std::unordered_map<const Block*, Numbers> BlockNumbers;
  std::uint64_t StraightPoints = 0;  ///< number of points of uniform and rectilinear blocks
  const CellLattice Lattice;
  const CurvilinearPositions Curvilinear;
  std::array<std::uint64_t, 3> Counts{};
  bool UsesLattice = true;          ///< false: the lattice has too many points for numbers
  std::uint64_t LatticePoints = 0;  ///< number of points of the lattice; 0 unless UsesLattice
};

}  // namespace

PointNumbering NumberingByPosition(const std::vector<const BlockPart*>& parts)
{
  const auto numbers = std::make_shared<const PositionNumbers>(parts);
  return [numbers](
             const BlockPart& part, long long point) { return numbers->NumberOf(*part.SourceBlock, point); };
}

}  // namespace patchio::filters

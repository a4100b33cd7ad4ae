#include "Extract/PartPoints.h"

#include "Extract/CellLattice.h"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <unordered_map>

namespace patchio::extract {
namespace {

constexpr long long Unused = -1, Own = 0, Elsewhere = -2;

/// Numbers of points by where they are: equal in all straight blocks that have a point, different else.
class PointKeys
{
public:
  explicit PointKeys(const std::vector<const SolidPart*>& parts) : Lattice(this->BlocksOf(parts))
  {
    double all = 4;
    for (int axis = 0; axis < 3; ++axis) {
      this->Counts[axis] = this->Lattice.PlaceCount(axis);
      all *= static_cast<double>(this->Counts[axis]);
    }
    this->Together = all < 1e18;
    this->Behind = this->Together ? static_cast<std::uint64_t>(all) : 0;
  }

  /// axis: of an edge from this point of the part's box on; 3: the point itself.
  std::uint64_t Of(const SolidPart& part, const Int3& point, int axis) const
  {
    const Numbers& numbers = this->BlockNumbers.at(part.From);
    if (numbers.InLattice < 0 || !this->Together) {
      return 4 * (this->Behind + numbers.FirstPoint + part.PointOfBlock(part.PointNumber(point))) + axis;
    }
    std::uint64_t key = 0;
    for (int a = 2; a >= 0; --a) {
      key =
          key * this->Counts[a] + this->Lattice.AxisOf(numbers.InLattice, a).Places[part.Begin[a] + point[a]];
    }
    return 4 * key + axis;
  }

  int LengthOf(const SolidPart& part, const Int3& point, int axis) const
  {
    const int block = this->BlockNumbers.at(part.From).InLattice;
    if (block < 0) {
      return 0;
    }
    const int* const place = this->Lattice.AxisOf(block, axis).Places.data() + part.Begin[axis] + point[axis];
    return place[1] - place[0];
  }

private:
  struct Numbers
  {
    int InLattice = -1;
    std::uint64_t FirstPoint = 0;
  };

  std::vector<CellBlock> BlocksOf(const std::vector<const SolidPart*>& parts)
  {
    std::vector<CellBlock> straight;
    std::uint64_t points = 0;
    for (const SolidPart* part : parts) {
      const Block& block = *part->From;
      const auto [found, isNew] = this->BlockNumbers.try_emplace(&block);
      if (!isNew) {
        continue;
      }
      found->second.FirstPoint = points;
      points += static_cast<std::uint64_t>(block.Points[0]) * block.Points[1] * block.Points[2];
      if (block.Form != BlockForm::Curvilinear) {
        found->second.InLattice = static_cast<int>(straight.size());
        CellBlock& cells = straight.emplace_back();
        cells.OfPoints = true;
        cells.Cells = block.Points;
        for (int axis = 0; axis < 3; ++axis) {
          cells.Nodes[axis] = block.PositionsOf(axis);
        }
      }
    }
    return straight;
  }

  std::unordered_map<const Block*, Numbers> BlockNumbers;
  const CellLattice Lattice;
  std::array<std::uint64_t, 3> Counts{};
  bool Together = true;
  std::uint64_t Behind = 0;  ///< numbers of points from here on are not of the lattice
};

/// The used points of a part's box that other parts may have: at its ends, and beside hidden cells.
template <typename Work>
void ForEachAtRim(const SolidPart& part, Work work)
{
  std::vector<char> beside;
  if (part.From->Flags) {
    beside.resize(part.PointCount());
    Int3 cell;
    for (cell[2] = 0; cell[2] < part.Cells[2]; ++cell[2]) {
      for (cell[1] = 0; cell[1] < part.Cells[1]; ++cell[1]) {
        for (cell[0] = 0; cell[0] < part.Cells[0]; ++cell[0]) {
          if (!part.IsVisible(cell)) {
            const int first = part.PointNumber(cell);
            for (int c = 0; c < part.Shape.Count(); ++c) {
              beside[first + part.StepTo(c)] = 1;
            }
          }
        }
      }
    }
  }
  const auto atEnd = [&part](int axis, int i) {
    return part.Points[axis] > 1 && (i == 0 || i + 1 == part.Points[axis]);
  };
  int number = 0;
  Int3 point;
  for (point[2] = 0; point[2] < part.Points[2]; ++point[2]) {
    for (point[1] = 0; point[1] < part.Points[1]; ++point[1]) {
      const bool all = atEnd(2, point[2]) || atEnd(1, point[1]);
      for (point[0] = 0; point[0] < part.Points[0]; ++point[0], ++number) {
        if (part.Used[number] && (all || atEnd(0, point[0]) || (!beside.empty() && beside[number]))) {
          work(number, static_cast<const Int3&>(point));
        }
      }
    }
  }
}

}  // namespace

PartPoints::PartPoints(const std::vector<const SolidPart*>& parts) : Parts(parts.size())
{
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    std::vector<long long>& ids = this->Parts[p].Of;
    const SolidPart& part = *parts[p];
    ids.assign(part.PointCount() + part.Made.size(), Own);
    std::transform(
        part.Used.begin(), part.Used.end(), ids.begin(), [](char used) { return used ? Own : Unused; });
  });
  std::vector<Shared> shared = this->FindShared(parts);
  tbb::parallel_sort(shared.begin(), shared.end());
  this->Number(shared);
}

std::vector<PartPoints::Shared> PartPoints::FindShared(const std::vector<const SolidPart*>& parts)
{
  const PointKeys keys(parts);
  std::vector<std::vector<Shared>> found(parts.size());
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    const SolidPart& part = *parts[p];
    const int number = static_cast<int>(p);
    ForEachAtRim(part, [&](int point, const Int3& at) {
      found[p].push_back({keys.Of(part, at, 3), 0, number, point});
    });
    for (std::size_t m = 0; m < part.Made.size(); ++m) {
      const SolidPart::MadePoint& made = part.Made[m];
      if (made.Axis >= 0) {
        const int point = part.PointCount() + static_cast<int>(m);
        const Int3 at = part.PointAt(made.Lower);
        found[p].push_back({keys.Of(part, at, made.Axis), keys.LengthOf(part, at, made.Axis), number, point});
      }
    }
  });
  std::vector<Shared> all;
  for (std::vector<Shared>& some : found) {
    all.insert(all.end(), some.begin(), some.end());
    some = {};
  }
  return all;
}

void PartPoints::Number(const std::vector<Shared>& shared)
{
  const auto isFirst = [&](std::size_t s) { return s == 0 || !shared[s].IsSame(shared[s - 1]); };
  tbb::parallel_for(std::size_t(0), shared.size(), [&](std::size_t s) {
    if (!isFirst(s)) {
      this->Parts[shared[s].Part].Of[shared[s].Point] = Elsewhere;
    }
  });
  for (Ids& part : this->Parts) {
    part.First = this->Points;
    for (long long& id : part.Of) {
      id = id == Own ? this->Points++ : id;
    }
  }
  tbb::parallel_for(std::size_t(0), shared.size(), [&](std::size_t s) {
    if (!isFirst(s)) {
      std::size_t first = s;
      while (!isFirst(first)) {
        --first;
      }
      this->Parts[shared[s].Part].Of[shared[s].Point] =
          this->Parts[shared[first].Part].Of[shared[first].Point];
    }
  });
}

}  // namespace patchio::extract

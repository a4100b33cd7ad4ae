#include "Filters/Contour.h"

#include "Filters/Blocks.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <tuple>

namespace patchio::filters {
namespace {

/// Enough for a task to be worth its start.
constexpr std::int64_t CellsOfTask = 1 << 16;

constexpr int BothSides = 3;

/// On which sides of a level the visible values of a block lie: bit 0 above, bit 1 below.
template <typename T>
int SidesOf(const CellBlock& block, const T* values, double level)
{
  const int width = block.Cells[0];
  int sides = 0;
  for (std::int64_t row = 0; row < block.Size() && sides != BothSides; row += width) {
    int above = 0, below = 0;
    if (block.Flags && !block.OfPoints) {
      const unsigned char* const flags = block.Flags + row;
      for (int i = 0; i < width; ++i) {
        const int visible = (flags[i] & Block::HidingFlags) == 0;
        above |= visible & static_cast<int>(values[row + i] >= level);
        below |= visible & static_cast<int>(values[row + i] < level);
      }
    } else {
      for (int i = 0; i < width; ++i) {
        above |= static_cast<int>(values[row + i] >= level);
        below |= static_cast<int>(values[row + i] < level);
      }
    }
    sides |= above | below << 1;
  }
  return sides;
}

/// The slabs in which a contour may pass: of own blocks that have values on both sides, or touch one that has
/// them on the other.
std::vector<Slab> FindSlabs(const CellLattice& lattice, double level)
{
  const int blocks = static_cast<int>(lattice.Blocks().size());
  std::vector<int> sides(blocks);
  tbb::parallel_for(0, blocks, [&](int b) {
    const CellBlock& block = lattice[b];
    sides[b] = block.Floats ? SidesOf(block, block.Floats, level) : SidesOf(block, block.Doubles, level);
  });
  std::vector<Slab> slabs;
  for (int b = 0; b < blocks; ++b) {
    int around = sides[b];
    if (!lattice[b].Own || around == 0) {
      continue;
    }
    if (around != BothSides && !lattice.OfPoints()) {
      for (const int other : lattice.Meeting(Grown(lattice.CubesOf(b), {1, 1, 1}))) {
        around |= sides[other];
      }
    }
    const int layers = lattice[b].Cells[2] + 1;
    const int step = static_cast<int>(std::max<std::int64_t>(4, CellsOfTask / lattice[b].Stride(2)));
    for (int k = 0; around == BothSides && k < layers; k += step) {
      // No slab of one layer or two at the end.
      const int end = k + step + 4 > layers ? layers : k + step;
      slabs.push_back({b, k, end});
      k = end - step;
    }
  }
  return slabs;
}

/// A point that several parts have.
struct SharedPoint
{
  std::uint64_t First, Second;
  int Part, Number;

  bool IsSame(const SharedPoint& other) const
  {
    return this->First == other.First && this->Second == other.Second;
  }
  bool operator<(const SharedPoint& other) const
  {
    return std::tie(this->First, this->Second, this->Part, this->Number) <
           std::tie(other.First, other.Second, other.Part, other.Number);
  }
};

std::vector<SharedPoint> SortShared(const std::vector<ContourPart>& parts)
{
  std::vector<SharedPoint> shared;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const int number : parts[p].Shared) {
      const CrossingPoint& point = parts[p].Points[number];
      shared.push_back({point.First.Number(), point.Second.Number(), static_cast<int>(p), number});
    }
  }
  tbb::parallel_sort(shared.begin(), shared.end());
  return shared;
}

/// For each point of each part: its number in the whole. Points that several parts have stay in the first
/// one. `begins`: the number from which on points of each part are its own.
std::vector<std::vector<std::int64_t>> NumberPoints(
    const std::vector<ContourPart>& parts, Contour& whole, std::vector<std::int64_t>& begins)
{
  constexpr std::int64_t elsewhere = -1;
  std::vector<std::vector<std::int64_t>> numbers(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    numbers[p].resize(parts[p].Points.size());
  }
  const std::vector<SharedPoint> shared = SortShared(parts);
  for (std::size_t s = 1; s < shared.size(); ++s) {
    if (shared[s].IsSame(shared[s - 1])) {
      numbers[shared[s].Part][shared[s].Number] = elsewhere;
    }
  }
  std::int64_t next = static_cast<std::int64_t>(whole.Points.size());
  for (std::vector<std::int64_t>& part : numbers) {
    begins.push_back(next);
    for (std::int64_t& number : part) {
      number = number == elsewhere ? elsewhere : next++;
    }
  }
  whole.Points.resize(next);
  for (std::size_t s = 1; s < shared.size(); ++s) {
    std::int64_t& number = numbers[shared[s].Part][shared[s].Number];
    number = number == elsewhere ? numbers[shared[s - 1].Part][shared[s - 1].Number] : number;
  }
  return numbers;
}

void Append(const std::vector<ContourPart>& parts, const std::vector<Slab>& slabs, Contour& whole)
{
  std::vector<std::int64_t> own;
  const std::vector<std::vector<std::int64_t>> numbers = NumberPoints(parts, whole, own);
  std::vector<std::size_t> begins{whole.Triangles.size()};
  for (const ContourPart& part : parts) {
    begins.push_back(begins.back() + part.Triangles.size());
  }
  whole.Triangles.resize(begins.back());
  const bool ofPoints =
      std::any_of(parts.begin(), parts.end(), [](const ContourPart& part) { return !part.Cells.empty(); });
  whole.Cells.resize(ofPoints ? begins.back() : whole.Cells.size());
  tbb::parallel_for(std::size_t(0), parts.size(), [&](std::size_t p) {
    for (std::size_t n = 0; n < numbers[p].size(); ++n) {
      if (numbers[p][n] >= own[p]) {
        whole.Points[numbers[p][n]] = parts[p].Points[n];
      }
    }
    auto* to = whole.Triangles.data() + begins[p];
    for (const std::array<int, 3>& triangle : parts[p].Triangles) {
      *to++ = {numbers[p][triangle[0]], numbers[p][triangle[1]], numbers[p][triangle[2]]};
    }
    for (std::size_t t = 0; t < parts[p].Cells.size(); ++t) {
      whole.Cells[begins[p] + t] = {slabs[p].Block, parts[p].Cells[t]};
    }
  });
}

}  // namespace

Contour MakeContour(const CellLattice& lattice, const std::vector<double>& levels, const GoesOn& progress)
{
  Contour contour;
  bool goesOn = true;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    contour.PointsBefore.push_back(static_cast<std::int64_t>(contour.Points.size()));
    const auto report = [&](double part) {
      return !progress || progress((static_cast<double>(l) + part) / static_cast<double>(levels.size()));
    };
    goesOn = goesOn && report(0);
    const std::vector<Slab> slabs = goesOn ? FindSlabs(lattice, levels[l]) : std::vector<Slab>();
    std::vector<ContourPart> parts(slabs.size());
    goesOn = goesOn &&
             RunTasks(
                 slabs.size(),
                 [&](std::size_t s) { parts[s] = ContourSlab(lattice, slabs[s], levels[l]).Make(); }, report);
    if (goesOn) {
      Append(parts, slabs, contour);
    }
  }
  contour.PointsBefore.push_back(static_cast<std::int64_t>(contour.Points.size()));
  return contour;
}

}  // namespace patchio::filters

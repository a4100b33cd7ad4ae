// Boxes of cells, and bins that find boxes by their position.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace patchio {

using Int3 = std::array<int, 3>;
using Double3 = std::array<double, 3>;

/// A box of cells: inclusive lower and upper indices in the index space of one level. In two
/// dimensions, the third index is 0 in Lower and in Upper. Indices may be negative, but stay within +-2^30,
/// so that arithmetic on indices does not overflow.
struct Box
{
  Int3 Lower{0, 0, 0};
  Int3 Upper{-1, -1, -1};

  bool Empty() const
  {
    return this->Upper[0] < this->Lower[0] || this->Upper[1] < this->Lower[1] ||
           this->Upper[2] < this->Lower[2];
  }
  /// Returns the number of cells along one axis.
  std::int64_t Width(int axis) const { return std::int64_t(this->Upper[axis]) - this->Lower[axis] + 1; }
  /// Returns the number of cells, or the largest std::int64_t if the box has more cells.
  std::int64_t CellCount() const
  {
    std::int64_t cells = this->Empty() ? 0 : this->Width(0);
    for (int axis = 1; axis < 3; ++axis) {
      if (__builtin_mul_overflow(cells, this->Width(axis), &cells)) {
        return std::numeric_limits<std::int64_t>::max();
      }
    }
    return cells;
  }
  bool operator==(const Box& other) const { return this->Lower == other.Lower && this->Upper == other.Upper; }
};

inline Box Intersect(const Box& a, const Box& b)
{
  Box result;
  for (int axis = 0; axis < 3; ++axis) {
    result.Lower[axis] = std::max(a.Lower[axis], b.Lower[axis]);
    result.Upper[axis] = std::min(a.Upper[axis], b.Upper[axis]);
  }
  return result;
}

inline Box Shift(const Box& box, const Int3& offset)
{
  Box shifted = box;
  for (int axis = 0; axis < 3; ++axis) {
    shifted.Lower[axis] += offset[axis];
    shifted.Upper[axis] += offset[axis];
  }
  return shifted;
}

/// Returns the box with `layers` more cells on both sides of each axis.
inline Box Grow(const Box& box, const Int3& layers)
{
  Box grown = box;
  for (int axis = 0; axis < 3; ++axis) {
    grown.Lower[axis] -= layers[axis];
    grown.Upper[axis] += layers[axis];
  }
  return grown;
}

/// Appends the cells of `box` outside `removed` to `rest`, as up to six disjoint boxes. `removed` lies within
/// `box` and may be empty.
inline void Subtract(const Box& box, const Box& removed, std::vector<Box>& rest)
{
  if (removed.Empty()) {
    rest.push_back(box);
    return;
  }
  Box left = box;
  for (int axis = 2; axis >= 0; --axis) {
    if (removed.Lower[axis] > left.Lower[axis]) {
      rest.push_back(left);
      rest.back().Upper[axis] = removed.Lower[axis] - 1;
    }
    if (removed.Upper[axis] < left.Upper[axis]) {
      rest.push_back(left);
      rest.back().Lower[axis] = removed.Upper[axis] + 1;
    }
    left.Lower[axis] = removed.Lower[axis];
    left.Upper[axis] = removed.Upper[axis];
  }
}

/// Returns the index of a cell of `box` in an array with one entry per cell, axis 0 fastest.
inline std::size_t IndexIn(const Box& box, const Int3& cell)
{
  const std::int64_t row =
      (cell[2] - std::int64_t(box.Lower[2])) * box.Width(1) + (cell[1] - std::int64_t(box.Lower[1]));
  return static_cast<std::size_t>(row * box.Width(0) + (cell[0] - std::int64_t(box.Lower[0])));
}

/// Sets the flags of the cells of `part`, which lies within `box`, to `flag`. `flags` has one entry per cell
/// of `box`, axis 0 fastest.
inline void MarkBox(const Box& box, const Box& part, std::uint8_t flag, std::uint8_t* flags)
{
  for (int k = part.Lower[2]; k <= part.Upper[2]; ++k) {
    for (int j = part.Lower[1]; j <= part.Upper[1]; ++j) {
      std::fill_n(flags + IndexIn(box, {part.Lower[0], j, k}), part.Width(0), flag);
    }
  }
}

/// Divides and rounds towards minus infinity, as the coarsening of indices requires; `divisor` >= 1.
inline int FloorDivide(int value, int divisor)
{
  // 64 bits, because both arguments may exceed 2^30.
  const std::int64_t v = value;
  return static_cast<int>(v >= 0 ? v / divisor : -((-v + divisor - 1) / divisor));
}

/// Returns the smallest box of coarse cells that covers `fine`.
inline Box Coarsen(const Box& fine, const Int3& ratio)
{
  Box result;
  for (int axis = 0; axis < 3; ++axis) {
    result.Lower[axis] = FloorDivide(fine.Lower[axis], ratio[axis]);
    result.Upper[axis] = FloorDivide(fine.Upper[axis], ratio[axis]);
  }
  return result;
}

/// Returns the box of the fine cells in `coarse`, clamped to the valid range of indices.
inline Box Refine(const Box& coarse, const Int3& ratio)
{
  constexpr std::int64_t limit = std::int64_t(1) << 30;
  const auto clamp = [limit](
                         std::int64_t index) { return static_cast<int>(std::clamp(index, -limit, limit)); };
  Box result;
  for (int axis = 0; axis < 3; ++axis) {
    result.Lower[axis] = clamp(std::int64_t(coarse.Lower[axis]) * ratio[axis]);
    result.Upper[axis] = clamp((std::int64_t(coarse.Upper[axis]) + 1) * ratio[axis] - 1);
  }
  return result;
}

/// A spatial hash of boxes of one index space, with bins of equal size. Construction takes time and memory
/// proportional to the number of boxes.
class BoxBins
{
public:
  /// Sorts the boxes into bins. Each box must have cells.
  explicit BoxBins(std::vector<Box> boxes);

  /// Calls visit(index) for each box that shares a cell with `cells`, in no particular order and possibly
  /// several times per box, until `visit` returns false.
  template <typename Visit>
  void ForEachIntersecting(const Box& cells, Visit visit) const
  {
    this->ForEachBin(cells, [&](std::size_t bin) {
      for (std::size_t m = this->Begin[bin]; m < this->Begin[bin + 1]; ++m) {
        const int index = this->Members[m];
        if (!Intersect(cells, this->Boxes[index]).Empty() && !visit(index)) {
          return false;
        }
      }
      return true;
    });
  }

  /// Returns the indices of the boxes that share a cell with `cells`, in ascending order.
  std::vector<int> Intersecting(const Box& cells) const;

  /// Returns an entry for each box that shares cells with boxes of lower index. The key is the index of the
  /// box; the value is the part of the box outside all boxes of lower index, as disjoint boxes. Returns
  /// nothing if the computation would take too long or yield too many boxes, which does not happen with the
  /// boxes of simulations.
  std::optional<std::map<int, std::vector<Box>>> UniqueParts() const;

  const Box& operator[](int index) const { return this->Boxes[index]; }

private:
  void ChooseSize();
  void SetSize(const std::array<std::int64_t, 3>& size);
  std::size_t CountMembers() const;
  void Fill();
  Box BinRange(const Box& cells) const;
  std::size_t BinIndex(int i, int j, int k) const
  {
    return (std::size_t(k) * this->BinsPerAxis[1] + j) * this->BinsPerAxis[0] + i;
  }
  std::size_t BinCount() const
  {
    return std::size_t(this->BinsPerAxis[0]) * this->BinsPerAxis[1] * this->BinsPerAxis[2];
  }
  /// Calls visit(bin) for each bin that `cells` touches, until `visit` returns false.
  template <typename Visit>
  void ForEachBin(const Box& cells, Visit visit) const
  {
    const Box range = this->BinRange(cells);
    for (int k = range.Lower[2]; k <= range.Upper[2]; ++k) {
      for (int j = range.Lower[1]; j <= range.Upper[1]; ++j) {
        for (int i = range.Lower[0]; i <= range.Upper[0]; ++i) {
          if (!visit(this->BinIndex(i, j, k))) {
            return;
          }
        }
      }
    }
  }

  std::vector<Box> Boxes;
  Box Enclosing;                                 ///< the smallest box that contains all boxes
  std::array<std::int64_t, 3> BinSize{1, 1, 1};  ///< cells per bin along each axis
  Int3 BinsPerAxis{1, 1, 1};                     ///< bins per axis
  std::vector<std::size_t> Begin;                ///< first entry of each bin in Members
  std::vector<int> Members;
};

/// Returns the slowest axis along which the box has more than one cell, or 0. Axis 0 is the fastest axis of
/// an array.
int SlowestAxis(const Box& cells);

/// Cuts the box across an axis into at most 4096 slices. A slice has about two million cells, which is a good
/// size of a request to the storage; more if this limit, a single plane or `grain` requires more. Cuts lie at
/// multiples of `grain` cells from the lower end, so that no chunk of `grain` planes is read twice.
std::vector<Box> CutAcross(const Box& cells, int axis, std::int64_t grain = 1);

}  // namespace patchio

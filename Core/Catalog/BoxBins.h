// Finds the boxes that meet a box, among many.
#pragma once

#include "Catalog/Box.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace patchio {

/// Boxes of one index space hashed into bins of equal size, in time and memory proportional to their number.
class BoxBins
{
public:
  /// None of the boxes may be empty.
  explicit BoxBins(std::vector<Box> boxes);

  /// Calls visit(index) for each box that shares a cell with `cells`, perhaps several times and in no
  /// particular order, until it returns false.
  template <typename Visit>
  void ForEachMeeting(const Box& cells, Visit visit) const
  {
    const Box range = this->Range(cells);
    for (int k = range.Lower[2]; k <= range.Upper[2]; ++k) {
      for (int j = range.Lower[1]; j <= range.Upper[1]; ++j) {
        for (int i = range.Lower[0]; i <= range.Upper[0]; ++i) {
          const std::size_t bin = this->Number(i, j, k);
          for (std::size_t m = this->Begin[bin]; m < this->Begin[bin + 1]; ++m) {
            const int index = this->Members[m];
            if (!Intersect(cells, this->Boxes[index]).Empty() && !visit(index)) {
              return;
            }
          }
        }
      }
    }
  }

  /// The boxes that share a cell with `cells`, in ascending order.
  std::vector<int> Meeting(const Box& cells) const;

  /// For each box that shares cells with boxes before it: its number, and its cells that lie in none of
  /// those, as disjoint boxes. Nothing where finding out would take too long or cut the boxes into too many
  /// pieces, which does not happen to the boxes of simulations.
  std::optional<std::map<int, std::vector<Box>>> WithoutThoseBefore() const;

  const Box& operator[](int index) const { return this->Boxes[index]; }

private:
  void ChooseSize();
  void SetSize(const std::array<std::int64_t, 3>& size);
  std::size_t CountMembers() const;
  void Fill();
  Box Range(const Box& cells) const;
  std::size_t Number(int i, int j, int k) const
  {
    return (std::size_t(k) * this->Count[1] + j) * this->Count[0] + i;
  }
  std::size_t BinCount() const { return std::size_t(this->Count[0]) * this->Count[1] * this->Count[2]; }
  template <typename Visit>
  void ForEachBin(const Box& cells, Visit visit) const;

  std::vector<Box> Boxes;
  Box All;                                    ///< the smallest box around all
  std::array<std::int64_t, 3> Size{1, 1, 1};  ///< cells in a bin
  Int3 Count{1, 1, 1};                        ///< bins per axis
  std::vector<std::size_t> Begin;             ///< first entry of each bin in Members
  std::vector<int> Members;
};

}  // namespace patchio

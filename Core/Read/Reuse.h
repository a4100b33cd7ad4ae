// Finds the values of a read that arrays of earlier reads have already.
#pragma once

#include "Plan/BlockLayout.h"
#include "Read/ValueCache.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace patchio {

/// Values of an array that is there that also belong to an array to be made.
struct ValueCopy
{
  std::uint32_t Block = 0;  ///< whose array it is to be
  const LoadedArray* From = nullptr;
  Box FromValues;       ///< indices of the values of From
  Box Region;           ///< indices of the values wanted, in the level of Block
  Int3 Ratio{1, 1, 1};  ///< of that level to From's
};

/// What is reused of one variable.
struct Reuse
{
  std::vector<const LoadedArray*> Same;  ///< per block: the very array; null: there is none
  std::vector<ValueCopy> Copies;         ///< for the other blocks, in their order
  std::vector<std::size_t> First;        ///< of each source of the layout in Rest, and the end
  std::vector<Placement> Rest;           ///< what must be read
};

/// Finds equal blocks; remembers what it has found.
class BlockMatcher
{
public:
  explicit BlockMatcher(const BlockLayout& layout) : Layout(layout) {}
  /// For each block of the layout its number in the other one, or -1.
  const std::vector<int>& NumbersIn(const BlockLayout& other);

private:
  const BlockLayout& Layout;
  std::map<const BlockLayout*, std::vector<int>> Known;
};

/// sameOnly: parts of arrays do not help, as these have layers of their own.
Reuse FindReuse(const BlockLayout& layout, Centering centering, bool sameOnly,
    const std::vector<SharedValues>& kept, BlockMatcher& matcher);

/// Brings the values to `array`, the one of copy.Block, whose values have the indices `values`.
void CopyValues(const ValueCopy& copy, const Box& values, const LoadedArray& array);

/// Per array of `old`: whether `now` has all its values that are from files.
std::vector<bool> ArraysIn(const KeptValues& now, const KeptValues& old, Centering centering);

}  // namespace patchio

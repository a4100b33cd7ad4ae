// Conversion of stored bytes to values: byte order, interleaving, ghost layers, gaps, sparse materials. Read
// tasks call these functions, which only access memory.
#pragma once

#include "Catalog/Box.h"
#include "Catalog/Location.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio {

using Dims = std::array<std::int64_t, 3>;

/// Reverses the bytes of `count` elements of `elementBytes` (1, 2, 4 or 8) bytes, in place.
void SwapByteOrder(void* data, std::size_t count, std::size_t elementBytes);

/// Replaces floating-point values in `from` .. `to` by NaN, in place. Returns whether any value is NaN
/// afterwards. Leaves integers unchanged and returns false for them.
bool ReplaceUndefined(void* values, std::int64_t count, ElementType type, double from, double to);

/// The shape of an array that holds one patch, with its numbers of stored and delivered ghost layers.
struct ArrayShape
{
  Dims Interior{1, 1, 1};  ///< values per axis of one component, without ghosts
  Int3 StoredGhosts{0, 0, 0};
  Int3 OutputGhosts{0, 0, 0};  ///< layers to deliver, fewer or more than stored
  int OutputComponents = 1;

  Dims StoredDims() const;
  Dims OutputDims() const;
};

/// The mapping of one stored array to one output array, which may belong to a larger block. The stored value
/// with index i (Begin .. End - 1) fills the output indices i x Ratio + Shift .. i x Ratio + Shift + Ratio -
/// 1, as far as these are in First .. Last.
struct ArrayMapping
{
  Dims Stored{1, 1, 1};               ///< values per axis of the stored array
  Dims Output{1, 1, 1};               ///< tuples per axis of the output array
  Dims Begin{0, 0, 0}, End{1, 1, 1};  ///< stored indices whose values go to the output
  Dims Shift{0, 0, 0};
  Dims First{0, 0, 0}, Last{0, 0, 0};  ///< output indices that get values
  Int3 Ratio{1, 1, 1};                 ///< > 1: a stored value fills several output values
  int OutputComponents = 1;
  int TupleWidth = 1;        ///< values per stored tuple along axis 0; see SetTupleWidth()
  int OutputTupleWidth = 1;  ///< values per tuple in the output
  bool Extends = false;      ///< the rest of the output repeats the nearest value; see ExtendEdges()
  bool IsUsedSoon = false;   ///< the values are used soon after the read, so the cache should keep them

  ArrayMapping() = default;
  ArrayMapping(const ArrayShape& shape);  // NOLINT: implicit, because most arrays hold one patch

  /// Maps an array with the index box `stored` to an output array with the index box `output`, in a level
  /// that is finer by `ratio`. Only the output indices in `region` get values.
  ArrayMapping(
      const Box& stored, const Box& output, const Box& region, const Int3& ratio, int outputComponents);

  /// Adapts the mapping to interleaved stored arrays, with tuples of `components` adjacent values: all
  /// indices along axis 0 then count single values. If the output has more components, 2-D vectors and
  /// tensors (2 and 4 components) become 3-D vectors and tensors (3 and 9 components).
  void SetTupleWidth(int components);
  /// Returns the component of an output tuple that gets component `component` of the stored tuple.
  int OutputComponent(int component) const
  {
    return this->OutputTupleWidth == this->TupleWidth ? component : component / 2 * 3 + component % 2;
  }

  std::int64_t StoredTuples() const { return this->Stored[0] * this->Stored[1] * this->Stored[2]; }
  /// Returns whether all stored values are contiguous in the output, in the stored order. If so, sets `first`
  /// to the output tuple of the first value.
  bool IsContiguous(std::int64_t& first) const;
};

/// Copies runs of one component's stored values to their positions in the interleaved output, each run in one
/// pass. A run is a contiguous range of values.
class RunPlacer
{
public:
  /// Prepares copies to `output`. `elementBytes`: size of a value: 1, 2, 4 or 8. `swap`: whether to reverse
  /// the bytes of each value. `slot`: component number in the output.
  RunPlacer(const ArrayMapping& mapping, std::size_t elementBytes, bool swap, int slot, void* output);

  /// Places the values first .. first + count - 1 of the flattened stored array, axis 0 fastest. The run may
  /// begin and end anywhere. Values that do not go to the output take no time; output values without a stored
  /// value are unchanged.
  ///
  /// `values`: address of the run's first value, at any alignment. If the output has the layout of the stored
  /// array and one component, `values` may be the address of the run in the output; the values then stay
  /// there, with swapped bytes if `swap` is true. Otherwise `values` and the output must not overlap.
  void Place(const void* values, std::int64_t first, std::int64_t count) const;

private:
  template <typename Word, bool Swap>
  void PlaceRows(const std::byte* values, std::int64_t first, std::int64_t count) const;
  template <typename Word, bool Swap>
  void PlaceInRow(
      const std::byte* values, std::int64_t first, std::int64_t end, std::int64_t j, std::int64_t k) const;
  template <typename Word>
  void PlaceWiderTuples(
      const std::byte* from, std::int64_t first, std::int64_t count, std::int64_t row) const;
  template <typename Word>
  void Replicate(const std::byte* from, std::int64_t count, const Dims& stored) const;
  bool RowsAreContiguous() const;
  void MergeFirstAxes();

  ArrayMapping Mapping;
  std::size_t ElementBytes;
  bool Swap;
  bool Replicates = false;  ///< one stored value fills several output values
  bool Streams = false;     ///< writes bypass the caches
  std::byte* Target;        ///< address of this component's first value in the output
};

/// Places one run; see RunPlacer for the parameters.
void PlaceRun(const ArrayMapping& mapping, const void* values, std::int64_t first, std::int64_t count,
    std::size_t elementBytes, bool swap, int slot, void* output);

/// Computes the volume fraction of one material in each cell from Silo's sparse form.
///
/// `materials`: one number per cell, or a single number for a patch of one material. A number >= 0 is the
/// material that fills the cell. A negative number is -(index+1) into the mix arrays, which have `mixCount`
/// entries each: the material, its fraction, and the 1-based index of the cell's next entry (0 ends the
/// chain). Returns false if an index is outside the arrays, or if a chain does not end or is far too long.
bool DecodeSparseFractions(const std::int32_t* materials, std::int64_t materialCount,
    const std::int32_t* mixMaterial, const std::int32_t* mixNext, const float* mixFraction,
    std::int64_t mixCount, int material, std::int64_t cells, float* output);

/// Fills the output outside First .. Last with the nearest tuple inside if `mapping.Extends` is set.
void ExtendEdges(const ArrayMapping& mapping, std::size_t elementBytes, void* output);

/// Fills gaps with values from their neighbourhood, so that the range of the array does not change: a tuple
/// without value becomes the tuple before it along axis 0, or the tuple after it at the beginning of a row. A
/// row without values becomes a copy of the nearest row of its plane that has values, and a plane without
/// values a copy of the nearest plane.
///
/// `filled`: one flag per tuple, axis 0 fastest, 0 for gaps; at least one flag must be 1.
void FillGaps(
    const std::vector<std::uint8_t>& filled, const Dims& dims, std::size_t tupleBytes, void* output);

}  // namespace patchio

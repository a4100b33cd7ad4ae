// From stored bytes to values: byte order, interleaving, ghost layers, gaps, sparse materials. Pure functions
// on memory, called by the read tasks.
#pragma once

#include "Catalog/Box.h"
#include "Catalog/Extent.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio {

using Dims = std::array<std::int64_t, 3>;

/// Turns `count` elements of `elementBytes` (1, 2, 4 or 8) from the other byte order into this machine's, in
/// place.
void SwapByteOrder(void* data, std::size_t count, std::size_t elementBytes);

/// Floating-point values from `from` to `to` become NaN, in place; true when there are any, or NaN already.
/// Integers stay as they are: false.
bool BlankUndefined(void* values, std::int64_t count, ElementType type, double from, double to);

/// A patch's own array: stored with some layers of ghosts, wanted with others.
struct ArrayShape
{
  Dims Interior{1, 1, 1};  ///< values per axis of one component, without ghosts
  Int3 StoredGhosts{0, 0, 0};
  Int3 OutputGhosts{0, 0, 0};  ///< layers to deliver; may be fewer or more than stored
  int OutputComponents = 1;

  Dims StoredDims() const;
  Dims OutputDims() const;
  std::int64_t StoredTuples() const;
  std::int64_t OutputTuples() const;
};

/// How the values of one stored array come into one output array, which may be that of a larger block: those
/// with indices Begin .. End - 1 go to index x Ratio + Shift .. + Ratio - 1, as far as that lies within
/// First .. Last.
struct Window
{
  Dims Stored{1, 1, 1};               ///< values per axis of the stored array
  Dims Output{1, 1, 1};               ///< tuples per axis of the output array
  Dims Begin{0, 0, 0}, End{1, 1, 1};  ///< stored indices that have a place in the output
  Dims Shift{0, 0, 0};
  Dims First{0, 0, 0}, Last{0, 0, 0};  ///< output indices that get values
  Int3 Ratio{1, 1, 1};                 ///< above 1: one stored value fills several places
  int OutputComponents = 1;
  int Tuple = 1;            ///< values that move together along axis 0; see SpreadTuples()
  int OutputTuple = 1;      ///< values that each of these has in the output
  bool Extends = false;     ///< all the rest of the output repeats the nearest value; see ExtendEdges()
  bool IsReadSoon = false;  ///< the values are read as soon as all of them are in place

  Window() = default;
  Window(const ArrayShape& shape);  // NOLINT: the common case, a patch's own array

  /// The stored values whose indices lie in `stored`, all in the owner's index space with `ratio` between the
  /// owner and the output; of them what lies within `region` goes to an array of the values of `output`.
  Window(const Box& stored, const Box& output, const Box& region, const Int3& ratio, int outputComponents);

  /// For stored arrays whose values are tuples of all `components`, side by side: from now on all indices
  /// along axis 0 count single values. The output has as many components, or more: where vectors and tensors
  /// of two dimensions (2 and 4 components) become those of three (3 and 9).
  void SpreadTuples(int components);
  /// Where a component of a tuple goes in the output.
  int PlaceInTuple(int component) const
  {
    return this->OutputTuple == this->Tuple ? component : component / 2 * 3 + component % 2;
  }

  std::int64_t StoredTuples() const { return this->Stored[0] * this->Stored[1] * this->Stored[2]; }
  /// True where all stored values lie in the output one after another, as they are stored; `first` is then
  /// the tuple of the first.
  bool Contiguous(std::int64_t& first) const;
};

/// Brings runs of one component's stored values to their places in the interleaved output, each in one pass.
class RunPlacer
{
public:
  /// elementBytes: 1, 2, 4 or 8. swap: turn each value's bytes around on the way.
  /// slot: component number in the output.
  RunPlacer(const Window& window, std::size_t elementBytes, bool swap, int slot, void* output);

  /// Places the values `first` .. `first + count - 1` of the flattened stored array, axis 0 fastest. The run
  /// may begin and end anywhere. Values that have no place in the output cost nothing; places that no stored
  /// value goes to are left as they are.
  ///
  /// values: the run's first value, on any address. It may be the very place in the output where that value
  /// belongs if the output is laid out like the stored array and has one component; then nothing is copied.
  /// Otherwise the two must not overlap.
  void Place(const void* values, std::int64_t first, std::int64_t count) const;

private:
  template <typename Word, bool Swap>
  void PlaceRows(const std::byte* values, std::int64_t first, std::int64_t count) const;
  template <typename Word, bool Swap>
  void PlaceInRow(
      const std::byte* values, std::int64_t first, std::int64_t end, std::int64_t j, std::int64_t k) const;
  template <typename Word>
  void PlaceWider(const std::byte* from, std::int64_t first, std::int64_t count, std::int64_t row) const;
  template <typename Word>
  void Spread(const std::byte* from, std::int64_t count, const Dims& stored) const;
  bool RowsFollow() const;
  void MergeFirstAxes();

  Window Places;
  std::size_t ElementBytes;
  bool Swap;
  bool Spreads = false;  ///< one stored value fills several places
  bool Streams = false;  ///< writes past the caches
  std::byte* Target;     ///< of the output's first value of this component
};

/// Places one run, see there.
void PlaceRun(const Window& window, const void* values, std::int64_t first, std::int64_t count,
    std::size_t elementBytes, bool swap, int slot, void* output);

/// Volume fraction of one material from Silo's sparse form.
///
/// materials: one number per cell, or a single one for a patch of one material. A number >= 0 is the
/// material that fills the cell; a negative one is -(index+1) into the mix arrays, which all have
/// `mixCount` entries: the material, its fraction, and the 1-based index of the cell's next entry (0 ends the
/// chain). Returns false when an index lies outside, or a chain does not end.
bool DecodeSparseFractions(const std::int32_t* materials, std::int64_t materialCount,
    const std::int32_t* mixMaterial, const std::int32_t* mixNext, const float* mixFraction,
    std::int64_t mixCount, int material, std::int64_t cells, float* output);

/// Where a window `Extends`: fills what lies outside First .. Last with the nearest tuple within.
void ExtendEdges(const Window& window, std::size_t elementBytes, void* output);

/// Gives each tuple that nothing was stored for a value of its neighbourhood, so that ranges stay true: the
/// one before it along axis 0, or after it; a row without any becomes that of the nearest row of its plane
/// that has some, a plane without any the nearest plane.
///
/// filled: one flag per tuple, axis 0 fastest, 0 where nothing was stored; not all may be 0.
void FillGaps(
    const std::vector<std::uint8_t>& filled, const Dims& dims, std::size_t tupleBytes, void* output);

}  // namespace patchio

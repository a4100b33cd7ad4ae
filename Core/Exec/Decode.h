// From stored bytes to values: byte order, interleaving, ghost layers, sparse materials. Pure functions on
// memory, called by the lanes.
#pragma once

#include "Catalog/Box.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace patchio {

using Dims = std::array<std::int64_t, 3>;

/// Turns `count` elements of `elementBytes` (1, 4 or 8) from the other byte order into this machine's, in
/// place.
void SwapByteOrder(void* data, std::size_t count, std::size_t elementBytes);

/// How one array's stored values map to the wanted ones.
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

/// Brings runs of one component's stored values to their places in the interleaved output, each in one pass.
class RunPlacer
{
public:
  /// elementBytes: 1, 4 or 8. swap: turn each value's bytes around on the way.
  /// slot: component number in the output, which has OutputTuples() * OutputComponents values.
  RunPlacer(const ArrayShape& shape, std::size_t elementBytes, bool swap, int slot, void* output);

  /// Places the values `first` .. `first + count - 1` of the flattened array of StoredDims(), axis 0 fastest.
  /// The run may begin and end anywhere. Values that the output has no room for (ghosts that are stripped)
  /// are left out and cost nothing; output layers that are not stored are left as they are, see ExtendEdges.
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
  void MergeFirstAxes();

  Dims Stored, Output;  ///< values per axis
  Dims Begin, End,
      Shift;  ///< stored indices that have a place in the output; output index minus stored index
  std::size_t ElementBytes;
  std::int64_t Components;
  bool Swap;
  std::byte* Target;  ///< of the output's first value of this component
};

/// Places one run, see there.
void PlaceRun(const ArrayShape& shape, const void* values, std::int64_t first, std::int64_t count,
    std::size_t elementBytes, bool swap, int slot, void* output);

/// Fills output layers beyond the stored ones with the value of the nearest stored cell or node.
void ExtendEdges(const ArrayShape& shape, std::size_t elementBytes, void* output);

/// Volume fraction of one material from Silo's sparse form.
///
/// materials: one number per cell, or a single one for a patch of one material. A number >= 0 is the
/// material that fills the cell; a negative one is -(index+1) into the mix arrays, which all have
/// `mixCount` entries: the material, its fraction, and the 1-based index of the cell's next entry (0 ends the
/// chain). Returns false when an index lies outside, or a chain does not end.
bool DecodeSparseFractions(const std::int32_t* materials, std::int64_t materialCount,
    const std::int32_t* mixMaterial, const std::int32_t* mixNext, const float* mixFraction,
    std::int64_t mixCount, int material, std::int64_t cells, float* output);

}  // namespace patchio

// The least and the greatest values of arrays. Read tasks find them while the values are still in the
// processor's cache.
#pragma once

#include "Catalog/Location.h"
#include "Io/Decode.h"

#include <array>
#include <cstddef>

namespace patchio {

/// The ranges of each component of an array and of the lengths of its tuples. All values lie in their range,
/// including 64-bit integers that no double equals. ParaView asks for ranges before each picture, and VTK
/// needs more time to find them than most storages need to deliver the values.
class ArrayRange
{
public:
  /// Arrays with more components have no range.
  static constexpr int MostComponents = 3;

  /// Adds values. values: `tuples` x `components` elements, component fastest. `components` must be the same
  /// in all calls.
  void Add(ElementType type, int components, const void* values, std::size_t tuples);
  /// Adds the tuples with indices first .. last (inclusive) of an array with `tuples` tuples per axis, axis 0
  /// fastest.
  void AddPart(ElementType type, int components, const void* values, const Dims& tuples, const Dims& first,
      const Dims& last);
  void Add(const ArrayRange& other);

  /// Returns whether values with this number of components were added and no value is infinite. NaN is
  /// ignored, as in VTK.
  bool IsKnown(int components) const;
  /// Returns the range of a component if IsKnown(), or None() if the component has only NaN. 0 <= component <
  /// components.
  const ValueRange& OfComponent(int component) const { return this->Components[component]; }
  /// Returns the range of the Euclidean lengths of the tuples if IsKnown() and there are at least 2
  /// components, or None() if all lengths are NaN.
  const ValueRange& OfLength() const { return this->Length; }

private:
  struct Rows;
  template <typename Value>
  void AddRows(int components, const Value* values, const Rows& rows);

  std::array<ValueRange, MostComponents> Components{
      ValueRange::None(), ValueRange::None(), ValueRange::None()};
  ValueRange Length = ValueRange::None();
  bool HasValues = false;
};

}  // namespace patchio

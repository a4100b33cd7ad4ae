// The least and the greatest values of arrays. Read tasks determine these values while the arrays are still
// in the processor's cache.
#pragma once

#include "Catalog/Location.h"
#include "Io/Decode.h"

#include <array>
#include <cstddef>

namespace patchio {

/// The range of each component of an array, and the range of the lengths of its tuples. All values lie in the
/// range of their component, including 64-bit integers that a double cannot represent. ParaView needs the
/// ranges for each rendering, and VTK takes more time to compute ranges than most storages take to deliver
/// the values.
class ArrayRange
{
public:
  /// The greatest number of components of an array that has ranges.
  static constexpr int MostComponents = 3;

  /// Adds the values of an array to the ranges. `values`: `tuples` x `components` elements, component
  /// fastest. `components` must be the same in all calls; above MostComponents, the call does nothing.
  void Add(ElementType type, int components, const void* values, std::size_t tuples);
  /// Adds the tuples with indices `first` .. `last` (inclusive). `values`: address of the whole array.
  /// `tuples`: number of tuples of the whole array per axis, axis 0 fastest.
  void AddRegion(ElementType type, int components, const void* values, const Dims& tuples, const Dims& first,
      const Dims& last);
  void Add(const ArrayRange& other);

  /// Returns whether the ranges are valid: values were added, `components`, the number of their components,
  /// is at most MostComponents, and no value and no length is infinite. Like VTK, ignores NaN.
  bool IsKnown(int components) const;
  /// Returns the range of component number `component`, or ValueRange::EmptyRange() if the component has only
  /// NaN. Requires IsKnown().
  const ValueRange& RangeOfComponent(int component) const { return this->Components[component]; }
  /// Returns the range of the Euclidean lengths of the tuples, or ValueRange::EmptyRange() if all lengths are
  /// NaN. Requires IsKnown() and at least 2 components.
  const ValueRange& RangeOfLength() const { return this->Length; }

private:
  struct Rows;
  template <typename Value>
  void AddRows(int components, const Value* values, const Rows& rows);

  std::array<ValueRange, MostComponents> Components{
      ValueRange::EmptyRange(), ValueRange::EmptyRange(), ValueRange::EmptyRange()};
  ValueRange Length = ValueRange::EmptyRange();
  bool HasValues = false;
};

}  // namespace patchio

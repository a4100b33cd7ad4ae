// Least and greatest values of arrays, found by the read tasks while the values are still in the processor's
// cache.
#pragma once

#include "Catalog/Extent.h"
#include "Io/Decode.h"

#include <array>
#include <cstddef>

namespace patchio {

/// The ranges of each component, and of the lengths of the tuples. All values lie in their range, also
/// integers that no double is equal to. ParaView asks for them before each
/// picture, and VTK takes longer to find them than most storages to deliver the values.
class ArrayRange
{
public:
  /// Arrays with more have no range.
  static constexpr int MostComponents = 3;

  /// values: `tuples` x `components` values of this type, component fastest. The components are the same
  /// each time.
  void Add(ElementType type, int components, const void* values, std::size_t tuples);
  /// The tuples with indices first .. last of an array with so many tuples per axis, axis 0 fastest.
  void AddPart(ElementType type, int components, const void* values, const Dims& tuples, const Dims& first,
      const Dims& last);
  void Add(const ArrayRange& other);

  /// Values of so many components were added, and none is infinite. Values that are no numbers do not count,
  /// as with VTK.
  bool IsKnown(int components) const;
  /// Where known: of a component, 0 <= component < components; None() where it has no number.
  const ValueRange& OfComponent(int component) const { return this->Components[component]; }
  /// Where known, and with 2 components or more: of the Euclidean lengths of the tuples; None() where none
  /// of these is a number.
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

// The definition of placing, value by value, as a reference for the fast functions.
#pragma once

#include "Io/Decode.h"
#include "Io/ReadTask.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace patchio::testing {

inline std::int64_t TuplesOf(const Dims& dims)
{
  return dims[0] * dims[1] * dims[2];
}

/// Copies the value with the number `index` of a component's stored array, whose bytes start at `value`, to
/// its place in the output, if there is one.
inline void PlaceNaively(const ArrayShape& shape, const std::byte* value, std::int64_t index,
    std::size_t elementBytes, bool swap, int slot, std::byte* output)
{
  const Dims stored = shape.StoredDims();
  const Dims out = shape.OutputDims();
  Dims at{index % stored[0], index / stored[0] % stored[1], index / stored[0] / stored[1]};
  for (int axis = 0; axis < 3; ++axis) {
    at[axis] += shape.OutputGhosts[axis] - shape.StoredGhosts[axis];
    if (at[axis] < 0 || at[axis] >= out[axis]) {
      return;
    }
  }
  const std::int64_t tuple = at[0] + out[0] * (at[1] + out[1] * at[2]);
  std::byte* place = output + (tuple * shape.OutputComponents + slot) * elementBytes;
  std::copy_n(value, elementBytes, place);
  if (swap) {
    std::reverse(place, place + elementBytes);
  }
}

/// Returns the target for the values of a patch's own array.
inline ReadTarget TargetIn(void* output, const ArrayMapping& mapping, const std::vector<int>& slots,
    ElementType type = ElementType::Float32)
{
  ReadTarget target;
  target.Main = {output, mapping, type};
  target.Slots = &slots;
  return target;
}

/// Random numbers and shapes, equal in each run.
class Dice
{
public:
  explicit Dice(unsigned seed) : Engine(seed) {}

  std::int64_t Between(std::int64_t low, std::int64_t high)
  {
    return std::uniform_int_distribution<std::int64_t>(low, high)(this->Engine);
  }

  std::vector<std::byte> Bytes(std::size_t count)
  {
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(this->Between(0, 255));
    }
    return bytes;
  }

  /// Returns a 2-D or 3-D shape, with fewer, as many or more ghosts than are stored on each axis.
  ArrayShape Shape(int longest)
  {
    ArrayShape shape;
    const int axes = this->Between(0, 2) == 0 ? 2 : 3;
    const bool sameGhosts = this->Between(0, 2) == 0;
    for (int axis = 0; axis < axes; ++axis) {
      shape.Interior[axis] = this->Between(1, longest);
      shape.StoredGhosts[axis] = static_cast<int>(this->Between(0, 3));
      const bool same = sameGhosts || this->Between(0, 1) == 0;
      shape.OutputGhosts[axis] = same ? shape.StoredGhosts[axis] : static_cast<int>(this->Between(0, 3));
    }
    shape.OutputComponents = this->Between(0, 1) == 0 ? 1 : static_cast<int>(this->Between(2, 9));
    return shape;
  }

private:
  std::mt19937 Engine;
};

}  // namespace patchio::testing

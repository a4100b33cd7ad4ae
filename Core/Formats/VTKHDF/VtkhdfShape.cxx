#include "Formats/VTKHDF/VtkhdfShape.h"

#include <algorithm>
#include <cstddef>

namespace patchio::vtkhdf {
namespace {

std::optional<int> ComponentsBehind(const std::vector<std::uint64_t>& dims, std::size_t axes)
{
  constexpr std::uint64_t most = 1024;
  if (dims.size() == axes) {
    return 1;
  }
  const bool several = dims.size() == axes + 1 && dims.back() > 0 && dims.back() <= most;
  return several ? std::optional(static_cast<int>(dims.back())) : std::nullopt;
}

}  // namespace

std::optional<int> ComponentsOfList(const std::vector<std::uint64_t>& dims)
{
  return ComponentsBehind(dims, 1);
}

std::optional<int> ComponentsOfImage(
    const std::vector<std::uint64_t>& dims, const Int3& tuples, const std::array<bool, 3>& flat)
{
  std::vector<std::uint64_t> all, wide;
  for (int axis = 2; axis >= 0; --axis) {
    all.push_back(static_cast<std::uint64_t>(tuples[axis]));
    if (!flat[axis]) {
      wide.push_back(all.back());
    }
  }
  std::vector<std::vector<std::uint64_t>> shapes{all, wide};
  if (wide.empty()) {
    shapes[1].push_back(1);
    shapes.push_back(wide);
  }
  for (const std::vector<std::uint64_t>& shape : shapes) {
    if (dims.size() >= shape.size() && std::equal(shape.begin(), shape.end(), dims.begin())) {
      if (const std::optional<int> components = ComponentsBehind(dims, shape.size())) {
        return components;
      }
    }
  }
  // With other axes than the image says: whoever asks compares the number of values.
  return ComponentsBehind(dims, 3);
}

}  // namespace patchio::vtkhdf

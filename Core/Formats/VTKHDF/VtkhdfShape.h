// From the values per axis of a data set, slowest first, to the components of an array.
#pragma once

#include "Catalog/Box.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace patchio::vtkhdf {

/// Of AMR and meshes: values one after another, with one component or several. None for other shapes.
std::optional<int> ComponentsOfList(const std::vector<std::uint64_t>& dims);

/// Of an image at one step, which has `tuples` along x, y and z. VTK leaves out flat axes, and of a single
/// point all axes, or all but one in a file without steps; other writers keep all three. None for other
/// shapes.
std::optional<int> ComponentsOfImage(
    const std::vector<std::uint64_t>& dims, const Int3& tuples, const std::array<bool, 3>& flat);

}  // namespace patchio::vtkhdf

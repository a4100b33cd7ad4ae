// From the values per axis of a data set, slowest first, to the components of an array.
#pragma once

#include "Catalog/Box.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace patchio::vtkhdf {

/// The components of an array of AMR or of a mesh, whose values follow each other. None for other shapes.
std::optional<int> ComponentsOfList(const std::vector<std::uint64_t>& dims);

/// The components of an array of an image at one step, which has `tuples` along x, y and z. VTK omits flat
/// axes; for a single point it omits all axes, or all but one in a file without steps. Other writers keep all
/// three axes. None for other shapes.
std::optional<int> ComponentsOfImage(
    const std::vector<std::uint64_t>& dims, const Int3& tuples, const std::array<bool, 3>& flat);

}  // namespace patchio::vtkhdf

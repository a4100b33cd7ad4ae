// Files of floats that a run makes anew: what the targets grads and kwave have in common.
#pragma once

#include "Catalog/Extent.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace patchio::output {

/// Values from the number `first` on, as floats.
void CopyFloats(ElementType type, const void* from, std::size_t first, std::int64_t count, float* to);

/// Makes the folder of a file that is to be made, and removes one of that name where that is wanted. Throws
/// Error where there is one otherwise.
void ClearPlace(const std::string& path, bool overwrite);

}  // namespace patchio::output

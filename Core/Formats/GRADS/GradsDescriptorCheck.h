// Whether the parts of a descriptor fit each other.
#pragma once

#include "Formats/GRADS/GradsDescriptor.h"

#include <cstdint>

namespace patchio::grads {

constexpr std::int64_t MostVariables = 100'000;  ///< of all members of the ensemble

/// Throws Error when axes do not increase, times are no dates, the layout is one that PatchIO does not read,
/// or sizes are larger than files can be.
void CheckDescriptor(const Descriptor& descriptor);

}  // namespace patchio::grads

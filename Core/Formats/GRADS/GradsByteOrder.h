// Whether values make sense in the byte order that the descriptor says, or in none.
#pragma once

#include "Formats/GRADS/GradsDescriptor.h"

#include <cstdint>
#include <string>

namespace patchio::grads {

/// Looks at some values of a step: at 4-byte floats that are no records of Fortran, as these say their byte
/// order themselves. What the user should know where hardly any make sense, but would in the other byte
/// order; empty where they do, where there are too few to tell, and where the file cannot be read.
std::string DoubtsAboutByteOrder(const Descriptor& descriptor, std::int64_t step);

}  // namespace patchio::grads

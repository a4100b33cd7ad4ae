// Whether values make sense in the byte order that the descriptor says.
#pragma once

#include "Formats/GRADS/GradsDescriptor.h"

#include <cstdint>
#include <string>

namespace patchio::grads {

/// Looks at some values of a step: 4-byte floats that are not records of Fortran, which show their byte order
/// themselves. Gives a message for the user when hardly any value makes sense, but most would in the other
/// byte order; empty otherwise, when there are too few values, and when the file cannot be read.
std::string DoubtsAboutByteOrder(const Descriptor& descriptor, std::int64_t step);

}  // namespace patchio::grads

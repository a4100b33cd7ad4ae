// A set of variables as a short list of integers, which compute ranks tell I/O ranks. Paper 5, section on
// configurable output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::output {

/// The variables are sorted by name, and each has a digit, 1 where it is wanted. Groups of 31 digits are
/// binary numbers, of which the first digit is the highest; the last group has zeros on its left.
using VariableCode = std::vector<std::int32_t>;

/// names, wanted: of each variable, by number.
VariableCode CodeOf(const std::vector<std::string>& names, const std::vector<bool>& wanted);
/// Which variables are wanted, by number. Throws Error for what is no code of so many variables.
std::vector<bool> Decode(const VariableCode& code, const std::vector<std::string>& names);

/// Says that no step follows: no set has this code.
VariableCode EndMark();

}  // namespace patchio::output

// Numbers of bytes, and of other things, as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace patchio {

/// In the unit that fits, with three digits: "128 bytes", "1.50 kB", "45.0 MB", "2.25 GB"; 1 kB is 1000
/// bytes.
std::string ByteText(double bytes);

/// A number with its noun: "1 step", "2 steps". several: the plural, where another `s` does not make it.
std::string CountText(std::uint64_t count, const std::string& one, const std::string& several = {});

}  // namespace patchio

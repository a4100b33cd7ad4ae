// Numbers of bytes as people read them.
#pragma once

#include <string>

namespace patchio {

/// In the unit that fits, with three digits: "128 bytes", "1.50 kB", "45.0 MB", "2.25 GB"; 1 kB is 1000
/// bytes.
std::string ByteText(double bytes);

}  // namespace patchio

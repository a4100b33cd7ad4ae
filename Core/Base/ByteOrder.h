// The byte order of this machine.
#pragma once

#include <cstdint>
#include <cstring>

namespace patchio {

/// True on little-endian machines, where big-endian data needs swapping.
inline bool HostIsLittleEndian()
{
  const std::uint16_t one = 1;
  std::uint8_t first = 0;
  std::memcpy(&first, &one, 1);
  return first == 1;
}

}  // namespace patchio

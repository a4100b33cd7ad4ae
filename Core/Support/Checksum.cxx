#include "Support/Checksum.h"

// Compiled in, so that nothing is needed where PatchIO runs.
#define XXH_INLINE_ALL
#include <libdeflate.h>
#include <xxhash.h>

namespace patchio {

std::uint64_t Checksum(const void* data, std::size_t bytes)
{
  return XXH3_64bits(data, bytes);
}

std::uint32_t Crc32(std::uint32_t before, const void* data, std::size_t bytes)
{
  return libdeflate_crc32(before, data, bytes);
}

}  // namespace patchio

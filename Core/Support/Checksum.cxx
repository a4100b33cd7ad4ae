#include "Support/Checksum.h"

// Compiled in, so that nothing is needed where PatchIO runs.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace patchio {

std::uint64_t Checksum(const void* data, std::size_t bytes)
{
  return XXH3_64bits(data, bytes);
}

}  // namespace patchio

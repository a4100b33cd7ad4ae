#include "Support/Memory.h"

#include <fstream>
#include <limits>
#include <string>

namespace patchio {

std::uint64_t AvailableMemory()
{
  std::ifstream meminfo("/proc/meminfo");
  std::string key, unit;
  std::uint64_t kibibytes = 0;
  while (meminfo >> key >> kibibytes) {
    if (key == "MemAvailable:") {
      return kibibytes * 1024;
    }
    std::getline(meminfo, unit);
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace patchio

#include "Base/ByteText.h"

#include <fmt/format.h>

namespace patchio {

std::string ByteText(double bytes)
{
  if (bytes < 999.5) {
    return fmt::format("{:.0f} byte{}", bytes, bytes >= 0.5 && bytes < 1.5 ? "" : "s");
  }
  double value = bytes * 1e-3;
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  // What would be rounded to 1000 is 1.00 of the next unit.
  for (; value >= 999.5 && unit < 4; ++unit) {
    value *= 1e-3;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string CountText(std::uint64_t count, const std::string& one, const std::string& several)
{
  return fmt::format("{} {}", count, count == 1 ? one : several.empty() ? one + "s" : several);
}

}  // namespace patchio

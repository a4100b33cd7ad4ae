#include "Tuning/ProgressText.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace patchio {
namespace {

struct Unit
{
  const char* Name;
  double Bytes;
};

Unit UnitFor(double bytes)
{
  constexpr std::array<Unit, 4> units{{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}};
  const auto fitting =
      std::find_if(units.begin(), units.end(), [bytes](const Unit& unit) { return bytes >= unit.Bytes; });
  return fitting == units.end() ? Unit{"bytes", 1} : *fitting;
}

/// "3 s", "2 min", "1.5 h".
std::string TimeText(double seconds)
{
  return seconds < 100    ? fmt::format("{:.0f} s", std::ceil(seconds))
         : seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60)
                          : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string ReadingText(double bytes, double bytesToRead, double rate)
{
  if (bytesToRead <= 0) {
    return "Reading";
  }
  const Unit unit = UnitFor(bytesToRead);
  const int digits = unit.Bytes > 1 && bytesToRead < 100 * unit.Bytes ? 1 : 0;
  const double digit = unit.Bytes / std::pow(10, digits);
  // Rounded down, so that it is the whole only when nothing is missing. The small term is for 1.2, which
  // floating-point numbers have not.
  const double read = bytes < bytesToRead ? std::floor(bytes / digit + 1e-9) * digit : bytesToRead;
  std::string text = fmt::format("Reading {:.{}f} of {:.{}f} {}", read / unit.Bytes, digits,
      bytesToRead / unit.Bytes, digits, unit.Name);
  if (bytes >= bytesToRead) {
    text += ", decoding";
  } else if (rate > 0 && bytes > 0) {
    const Unit ofRate = UnitFor(rate);
    text += fmt::format(", {:.{}f} {}/s, {} left", rate / ofRate.Bytes, rate < 10 * ofRate.Bytes ? 1 : 0,
        ofRate.Name, TimeText((bytesToRead - bytes) / rate));
  }
  return text;
}

double ReadingShare(double bytes, double bytesToRead, double ofTasks)
{
  return bytesToRead > 0 ? std::min(bytes / bytesToRead, 1.0) : ofTasks;
}

}  // namespace patchio

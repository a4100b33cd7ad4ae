#include "Probe/Progress.h"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <iterator>

namespace patchio::probe {
namespace {

constexpr double SecondsOnTerminal = 0.2;
constexpr double SecondsElsewhere = 5;

}  // namespace

Progress::~Progress()
{
  if (this->LineOpen) {
    std::fputs("\n", stderr);
  }
}

void Progress::SetRange(double from, double to, double after)
{
  this->From = from;
  this->To = to;
  this->After = after;
}

void Progress::Show(double fraction, double secondsLeft, const std::string& activity)
{
  if (!this->Prints) {
    return;
  }
  this->GreatestFraction =
      std::clamp(this->From + fraction * (this->To - this->From), this->GreatestFraction, 1.0);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const double now = this->Watch.Seconds();
  if (now - this->LastPrinted < (terminal ? SecondsOnTerminal : SecondsElsewhere)) {
    return;
  }
  this->LastPrinted = now;
  const std::string line = fmt::format("{:3.0f} %, about {} left: {}", 100 * this->GreatestFraction,
      DurationText(secondsLeft + this->After), activity);
  std::fputs(terminal ? ("\r\033[K" + line).c_str() : (line + "\n").c_str(), stderr);
  std::fflush(stderr);
  this->LineOpen = terminal;
}

std::string DurationText(double seconds)
{
  if (seconds < 90) {
    return fmt::format("{:.0f} s", std::max(0.0, seconds));
  }
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string SizeText(std::uint64_t bytes)
{
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) {
    value /= 1024;
  }
  return fmt::format("{:.4g} {}", value, units[unit]);
}

}  // namespace patchio::probe

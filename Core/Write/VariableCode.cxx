#include "Write/VariableCode.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace patchio::output {
namespace {

constexpr std::size_t Digits = 31;  // of an integer that is not negative

std::vector<std::size_t> SortedByName(const std::vector<std::string>& names)
{
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  return order;
}

/// What the digit at a place counts in its group.
std::int32_t WorthOf(std::size_t place, std::size_t count)
{
  const std::size_t end = std::min(count, (place / Digits + 1) * Digits);
  return std::int32_t(1) << (end - 1 - place);
}

}  // namespace

VariableCode CodeOf(const std::vector<std::string>& names, const std::vector<bool>& wanted)
{
  const std::vector<std::size_t> order = SortedByName(names);
  VariableCode code((names.size() + Digits - 1) / Digits);
  for (std::size_t place = 0; place < order.size(); ++place) {
    code[place / Digits] += wanted[order[place]] ? WorthOf(place, order.size()) : 0;
  }
  return code;
}

std::vector<bool> Decode(const VariableCode& code, const std::vector<std::string>& names)
{
  const std::vector<std::size_t> order = SortedByName(names);
  std::vector<bool> wanted(names.size());
  if (code.size() == (names.size() + Digits - 1) / Digits) {
    for (std::size_t place = 0; place < order.size(); ++place) {
      wanted[order[place]] = (code[place / Digits] & WorthOf(place, order.size())) != 0;
    }
  }
  if (CodeOf(names, wanted) != code) {
    throw Error(
        fmt::format("An I/O rank received an invalid set of the {} variables, so the ranks run "
                    "different versions of PatchIO. Start all ranks with the same version.",
            names.size()));
  }
  return wanted;
}

VariableCode EndMark()
{
  return {-1};
}

}  // namespace patchio::output

#include "Base/NameList.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace patchio {
namespace {

constexpr std::size_t MostLetters = 256;  ///< that are compared

char Small(char letter)
{
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

/// Row by row of Levenshtein's table.
std::size_t Difference(const std::string& a, const std::string& b)
{
  const std::size_t rows = std::min(a.size(), MostLetters), columns = std::min(b.size(), MostLetters);
  std::vector<std::size_t> row(columns + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t replaced = diagonal + (Small(a[i]) == Small(b[j]) ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row[columns];
}

}  // namespace

std::string NameList(const std::vector<std::string>& names, std::size_t most)
{
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", PlainText(names[i]));
  }
  text += names.size() > most ? fmt::format(" and {} more", names.size() - most) : "";
  return names.empty() ? "none" : text;
}

std::vector<std::string> ByLikeness(std::vector<std::string> names, const std::string& wanted)
{
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t i = 0; i < names.size(); ++i) {
    order.emplace_back(Difference(names[i], wanted), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> sorted;
  for (const auto& [difference, i] : order) {
    sorted.push_back(std::move(names[i]));
  }
  return sorted;
}

}  // namespace patchio

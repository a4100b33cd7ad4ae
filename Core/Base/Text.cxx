#include "Base/Text.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace patchio {

std::string ByteText(double bytes)
{
  if (bytes < 999.5) {
    return fmt::format("{:.0f} byte{}", bytes, bytes >= 0.5 && bytes < 1.5 ? "" : "s");
  }
  double value = bytes * 1e-3;
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  // A value that would be rounded to 1000 is shown as 1.00 of the next unit.
  for (; value >= 999.5 && unit < 4; ++unit) {
    value *= 1e-3;
  }
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

std::string CountText(std::uint64_t count, const std::string& singular, const std::string& plural)
{
  return fmt::format("{} {}", count, count == 1 ? singular : plural.empty() ? singular + "s" : plural);
}

namespace {

constexpr std::size_t MostCharacters = 256;  ///< greatest length of texts that EditDistance() compares

/// Returns the Levenshtein distance of the first MostCharacters characters of two names, ignoring case. Keeps
/// one row of the table at a time.
std::size_t EditDistance(const std::string& a, const std::string& b)
{
  const std::string lowerA = LowerCase(a), lowerB = LowerCase(b);
  const std::size_t rows = std::min(a.size(), MostCharacters), columns = std::min(b.size(), MostCharacters);
  std::vector<std::size_t> row(columns + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t replaced = diagonal + (lowerA[i] == lowerB[j] ? 0 : 1);
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

std::string UniqueNames::Add(const std::string& name)
{
  std::string unique = name;
  while (!this->Taken.insert(unique).second) {
    unique = fmt::format("{}_{}", name, ++this->Numbers.try_emplace(name, 1).first->second);
  }
  return unique;
}

std::vector<std::string> SortedBySimilarity(std::vector<std::string> names, const std::string& target)
{
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t i = 0; i < names.size(); ++i) {
    order.emplace_back(EditDistance(names[i], target), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> sorted;
  for (const auto& [difference, i] : order) {
    sorted.push_back(std::move(names[i]));
  }
  return sorted;
}

namespace {

constexpr std::string_view Blanks = " \t\r\f\v";

}  // namespace

std::string LowerCase(std::string text)
{
  for (char& letter : text) {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
  }
  return text;
}

std::string FromEnvironment(const char* name)
{
  const char* const value = std::getenv(name);
  return value ? value : "";
}

std::string_view Trimmed(std::string_view text)
{
  const std::size_t first = text.find_first_not_of(Blanks);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(Blanks) - first + 1);
}

void TextScanner::SkipBlanks()
{
  this->Rest.remove_prefix(std::min(this->Rest.find_first_not_of(Blanks), this->Rest.size()));
}

bool TextScanner::Consume(std::string_view sign)
{
  this->SkipBlanks();
  if (!BeginsWith(this->Rest, sign)) {
    return false;
  }
  this->Rest.remove_prefix(sign.size());
  return true;
}

bool TextScanner::ConsumeDigits(std::size_t most, int& number)
{
  this->SkipBlanks();
  std::size_t digits = 0;
  while (digits < std::min(most, this->Rest.size()) && IsDigit(this->Rest[digits])) {
    ++digits;
  }
  const auto read = std::from_chars(this->Rest.data(), this->Rest.data() + digits, number);
  this->Rest.remove_prefix(digits);
  return read.ec == std::errc();
}

bool TextScanner::ConsumeWord(std::string_view& word)
{
  this->SkipBlanks();
  word = this->Rest.substr(0, this->Rest.find_first_of(Blanks));
  this->Rest.remove_prefix(word.size());
  return !word.empty();
}

bool TextScanner::AtEnd()
{
  this->SkipBlanks();
  return this->Rest.empty();
}

}  // namespace patchio

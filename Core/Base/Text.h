// Texts: sizes and counts for messages, lists of names, names of enumeration values, parsing.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace patchio {

/// Formats a number of bytes, from 1 kB (1000 bytes) on with three digits and the unit that fits: "5 bytes",
/// "1.50 kB", "45.0 MB", "225 GB".
std::string ByteText(double bytes);

/// Formats a number with its noun: "1 step", "2 steps". `plural`: the plural of the noun; empty: `singular`
/// with an "s".
std::string CountText(std::uint64_t count, const std::string& singular, const std::string& plural = {});

/// Formats at most `most` names in quotes: "'a', 'b' and 3 more". Returns "none" for an empty list.
std::string NameList(const std::vector<std::string>& names, std::size_t most = 8);

/// Makes names unique.
class UniqueNames
{
public:
  /// Returns the first of `name`, "`name`_2", "`name`_3" and so on that this object has not returned before.
  std::string Add(const std::string& name);

private:
  std::set<std::string> Taken;
  std::map<std::string, int> Numbers;  ///< last number tried for each name; avoids quadratic time
};

/// Returns the names, sorted by similarity to `target`, most similar first. The measure is the number of
/// characters to insert, delete or replace in the first 256 characters (V. Levenshtein, "Binary codes capable
/// of correcting deletions, insertions, and reversals", 1966), ignoring case. Equally similar names keep
/// their order.
std::vector<std::string> SortedBySimilarity(std::vector<std::string> names, const std::string& target);

/// Returns the value from 0 to `last` whose NameOf() is `name`, or nothing if no value has that name.
template <typename Enum>
std::optional<Enum> ValueNamed(const std::string& name, Enum last)
{
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name == NameOf(static_cast<Enum>(i))) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

/// Returns whether `character` is an ASCII digit. This function and the next two handle ASCII only, in every
/// locale.
inline bool IsDigit(char character)
{
  return character >= '0' && character <= '9';
}
inline bool IsLetterOrDigit(char character)
{
  const char lower = static_cast<char>(character | 0x20);
  return IsDigit(character) || (lower >= 'a' && lower <= 'z');
}
std::string LowerCase(std::string text);

inline bool EndsWith(std::string_view text, std::string_view end)
{
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}
inline bool BeginsWith(std::string_view text, std::string_view begin)
{
  return text.substr(0, begin.size()) == begin;
}

/// Returns the value of an environment variable; empty if it is not set.
std::string FromEnvironment(const char* name);

/// Returns the text without blanks at both ends. Blanks are all ASCII white space but line feeds.
std::string_view Trimmed(std::string_view text);

/// Parses numbers, given texts and words from the beginning of a text, one by one. Each call skips blanks,
/// see Trimmed(). If the expected item follows, the call consumes it and returns true.
class TextScanner
{
public:
  explicit TextScanner(std::string_view text) : Rest(text) {}

  /// Consumes the text `sign`, such as "(" or "FAB".
  bool Consume(std::string_view sign);
  /// Consumes a number, which may begin with a plus sign. Returns false for numbers out of the range of their
  /// type, for infinities and for NaN.
  template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
  bool Consume(Number& number);
  /// Consumes a number of at most `most` digits, and leaves further digits in the text.
  bool ConsumeDigits(std::size_t most, int& number);
  /// Consumes all characters up to the next blank.
  bool ConsumeWord(std::string_view& word);
  /// Returns whether only blanks are left.
  bool AtEnd();
  std::string_view Remaining() const { return this->Rest; }

private:
  void SkipBlanks();

  std::string_view Rest;
};

/// Parses a text that consists of one number in the syntax of TextScanner. Returns nothing for other texts,
/// also if blanks precede or follow the number.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text)
{
  Number number{};
  TextScanner scanner(text);
  const bool whole =
      Trimmed(text).data() == text.data() && scanner.Consume(number) && scanner.Remaining().empty();
  return whole ? std::optional<Number>(number) : std::nullopt;
}

template <typename Number, typename>
bool TextScanner::Consume(Number& number)
{
  this->SkipBlanks();
  const char* const end = this->Rest.data() + this->Rest.size();
  const bool plus = this->Rest.size() > 1 && this->Rest[0] == '+' && this->Rest[1] != '-';
  const auto [stop, fault] = std::from_chars(this->Rest.data() + (plus ? 1 : 0), end, number);
  if (fault != std::errc()) {
    return false;
  }
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) {
      return false;
    }
  }
  this->Rest.remove_prefix(static_cast<std::size_t>(stop - this->Rest.data()));
  return true;
}

}  // namespace patchio

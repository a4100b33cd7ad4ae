// Text: of bytes, lists of names, names of values of an enumeration, numbers read from text with their place.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace patchio {

/// In the unit that fits, with three digits: "128 bytes", "1.50 kB", "45.0 MB", "2.25 GB"; 1 kB is 1000
/// bytes.
std::string ByteText(double bytes);

/// A number with its noun: "1 step", "2 steps". several: the plural, where another `s` does not make it.
std::string CountText(std::uint64_t count, const std::string& one, const std::string& several = {});

/// "'a', 'b' and 3 more": the names in quotes, at most `most` of them; "none" where there is none.
std::string NameList(const std::vector<std::string>& names, std::size_t most = 8);

/// The names with those most like `wanted` first: by the number of letters to add, remove or replace (V.
/// Levenshtein, "Binary codes capable of correcting deletions, insertions, and reversals", 1966), whether
/// large or small. Names that are equally like it stay in their order.
std::vector<std::string> ByLikeness(std::vector<std::string> names, const std::string& wanted);

/// The value with this name, of those from 0 on up to `last`; none where no value is called so.
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

/// ASCII digits and letters only, whatever the locale.
inline bool IsDigit(char letter)
{
  return letter >= '0' && letter <= '9';
}
inline bool IsLetterOrDigit(char letter)
{
  const char lower = static_cast<char>(letter | 0x20);
  return IsDigit(letter) || (lower >= 'a' && lower <= 'z');
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

/// Without blanks at both ends.
std::string_view Trimmed(std::string_view text);

/// Takes numbers, signs and words off the front of a text, one by one. Each call is true when it found what
/// it wanted, and then passes over it; blanks (not ends of lines) before it are passed over in any case.
class TextScanner
{
public:
  explicit TextScanner(std::string_view text) : Rest(text) {}

  /// These letters, such as "(" or "FAB".
  bool Take(std::string_view sign);
  /// A number, which may begin with a plus sign. Integers must fit into their type; floating-point numbers
  /// must be finite.
  template <typename Number, typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
  bool Take(Number& number);
  /// A number of at most so many digits; more may follow.
  bool TakeDigits(std::size_t most, int& number);
  /// Up to the next blank.
  bool TakeWord(std::string_view& word);
  /// True when nothing but blanks is left.
  bool Done();
  std::string_view Left() const { return this->Rest; }

private:
  void SkipBlanks();

  std::string_view Rest;
};

/// The number that is all of the text, as TextScanner takes it, without blanks; nothing when it is none.
template <typename Number>
std::optional<Number> NumberIn(std::string_view text)
{
  Number number{};
  TextScanner scanner(text);
  const bool whole = Trimmed(text).data() == text.data() && scanner.Take(number) && scanner.Left().empty();
  return whole ? std::optional<Number>(number) : std::nullopt;
}

template <typename Number, typename>
bool TextScanner::Take(Number& number)
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

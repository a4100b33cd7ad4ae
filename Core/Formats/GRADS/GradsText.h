// The lines of a descriptor, as words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::grads {

inline bool IsDigit(char letter)
{
  return letter >= '0' && letter <= '9';
}

/// ASCII letters only, whatever the locale.
std::string LowerCase(std::string text);

/// The whole text as a number. Nothing when it is none, or not finite.
std::optional<double> NumberOf(const std::string& text);
std::optional<std::int64_t> IntegerOf(const std::string& text);

struct Line
{
  std::size_t Number = 0;          ///< 1 the first
  std::vector<std::string> Words;  ///< at least one
  std::string Rest;                ///< what follows the first word, without blanks at its ends
  bool Comment = false;            ///< the first letter is neither a letter nor a digit
};

/// A whole file. Throws Error when it cannot be read, is larger than any descriptor, or no text.
std::string ReadText(const std::string& path);

/// The lines that are not empty.
std::vector<Line> LinesOf(const std::string& text);

/// True when a file's first bytes are lines of a descriptor. Never throws.
bool LooksLikeDescriptor(const std::string& path);

}  // namespace patchio::grads

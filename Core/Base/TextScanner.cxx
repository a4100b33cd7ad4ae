#include "Base/TextScanner.h"

#include <algorithm>

namespace patchio {
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

bool TextScanner::Take(std::string_view sign)
{
  this->SkipBlanks();
  if (!BeginsWith(this->Rest, sign)) {
    return false;
  }
  this->Rest.remove_prefix(sign.size());
  return true;
}

bool TextScanner::TakeDigits(std::size_t most, int& number)
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

bool TextScanner::TakeWord(std::string_view& word)
{
  this->SkipBlanks();
  word = this->Rest.substr(0, this->Rest.find_first_of(Blanks));
  this->Rest.remove_prefix(word.size());
  return !word.empty();
}

bool TextScanner::Done()
{
  this->SkipBlanks();
  return this->Rest.empty();
}

}  // namespace patchio

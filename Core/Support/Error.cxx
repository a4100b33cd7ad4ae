#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace patchio {

Error FileError(
    const std::string& file, const std::string& expected, const std::string& found, const std::string& advice)
{
  std::string text = fmt::format("{}: expected {}, found {}.", file, expected, found);
  if (!advice.empty()) {
    text += fmt::format(" {}.", advice);
  }
  return Error(text);
}

void Requirement::Fail(const std::string& what) const
{
  throw Error(fmt::format("{} has {}.", this->Subject, what));
}

std::string PlainText(std::string text)
{
  std::replace_if(
      text.begin(), text.end(), [](char letter) { return letter < ' ' || letter > '~'; }, '?');
  return text;
}

std::string JoinLines(const std::vector<std::string>& texts)
{
  return fmt::format("{}", fmt::join(texts, "\n"));
}

std::string SystemMessage(int errorNumber)
{
  return std::generic_category().message(errorNumber);
}

}  // namespace patchio

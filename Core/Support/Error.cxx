#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
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

std::string SystemAdvice(int errorNumber)
{
  switch (errorNumber) {
    case ENOENT:
    case ENOTDIR:
      return "Check the name, and whether the file was moved or is still being written";
    case EACCES:
    case EPERM:
      return "Check its permissions";
    case EIO:
      return "The storage has failed: try again, and tell those who run it if that does not help";
    case ESTALE:
      return "The network file system has lost the file, which may have been replaced: try again";
    case EMFILE:
    case ENFILE:
      return "Too many files are open: raise the limit (ulimit -n)";
    case ENOSPC:
    case EDQUOT:
      return "Make room there, or choose another place";
    case EROFS:
      return "Choose a place that can be written";
    default:
      return {};
  }
}

}  // namespace patchio

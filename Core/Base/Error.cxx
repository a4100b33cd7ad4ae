#include "Base/Error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

void Requirement::Fail(const std::string& fault) const
{
  throw Error(fmt::format("{} has {}.", this->Subject, fault));
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

void AppendText(std::string& joined, const std::string& text, const char* separator)
{
  joined += (joined.empty() || text.empty() ? "" : separator) + text;
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
      return "Check the permissions of the file and of its folders";
    case ELOOP:
      return "Name the file itself, not a symbolic link to it";
    case EIO:
      return "The storage failed. Try again, and tell the administrators if the error persists";
    case ESTALE:
      return "The network file system lost the file, which may have been replaced. Try again";
    case EMFILE:
    case ENFILE:
      return "Raise the limit of open files (ulimit -n)";
    case ENOSPC:
    case EDQUOT:
      return "Free some space, or choose another folder";
    case EROFS:
      return "Choose a writable folder";
    default:
      return {};
  }
}

Error SystemError(
    const std::string& file, const std::string& expected, int errorNumber, const std::string& advice)
{
  std::string text = fmt::format("{}: {}; expected {}.", file, SystemMessage(errorNumber), expected);
  const std::string& toDo = advice.empty() ? SystemAdvice(errorNumber) : advice;
  if (!toDo.empty()) {
    text += fmt::format(" {}.", toDo);
  }
  return Error(text);
}

}  // namespace patchio

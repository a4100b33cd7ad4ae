#include "Support/SystemError.h"

#include <fmt/format.h>

namespace patchio {

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

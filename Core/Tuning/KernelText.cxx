#include "Tuning/KernelText.h"

#include "Base/Error.h"
#include "Base/RegularFile.h"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>

namespace patchio {

std::optional<std::string> ReadKernelText(const std::string& path, std::size_t most)
{
  int descriptor = -1;
  try {
    descriptor = OpenRegularFile(path);
  } catch (const Error&) {
    return {};  // not a file
  }
  if (descriptor < 0) {
    return {};
  }
  // Such files say that they are empty, so they are read until they end.
  std::string text;
  ssize_t got = 0;
  do {
    char piece[1 << 14];
    got = ::read(descriptor, piece, std::min(sizeof(piece), most - text.size()));
    if (got > 0) {
      text.append(piece, got);
    }
  } while ((got > 0 && text.size() < most) || (got < 0 && errno == EINTR));
  ::close(descriptor);
  return got < 0 ? std::nullopt : std::optional(std::move(text));
}

std::string_view TakeLine(std::string_view& text)
{
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::vector<std::string_view> WordsOf(std::string_view line, std::size_t most)
{
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> words;
  while (words.size() < most) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) {
      break;
    }
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

std::optional<std::uint64_t> WholeNumber(std::string_view word)
{
  std::uint64_t number = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, fault] = std::from_chars(word.data(), end, number);
  return fault == std::errc() && stop == end && !word.empty() ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> Passed(std::uint64_t before, std::uint64_t after)
{
  constexpr std::uint64_t width = std::uint64_t(1) << 32;
  if (after >= before) {
    return after - before;
  }
  // A step of more than half its width is not believed.
  if (before < width && before - after > width / 2) {
    return after + width - before;
  }
  const std::uint64_t wrapped = after - before;  // 64 bits wide
  return wrapped < (std::uint64_t(1) << 62) ? std::optional(wrapped) : std::nullopt;
}

std::string RootFolder(const std::string& root)
{
  return root + (root.empty() || root.back() != '/' ? "/" : "");
}

}  // namespace patchio

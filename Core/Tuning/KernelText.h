// The small text files in which the kernel says what it counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchio {

/// All of a file, but no more than `most` bytes. None when it cannot be read or is something else than a
/// file: what is missing is no error here, as systems differ and much is for the administrator alone.
std::optional<std::string> ReadKernelText(const std::string& path, std::size_t most);

/// Takes the first line off `text`, without its end.
std::string_view TakeLine(std::string_view& text);

/// The words between blanks, at most `most` of them.
std::vector<std::string_view> WordsOf(std::string_view line, std::size_t most);

/// A word that is a whole number, and nothing else.
std::optional<std::uint64_t> WholeNumber(std::string_view word);

/// How far a counter went from `before` to `after`. Some are 32 bits wide, and pass through 0. None when it
/// was set back instead: to a number that no counter can have reached.
std::optional<std::uint64_t> Passed(std::uint64_t before, std::uint64_t after);

/// `root` with a slash at its end: what is "/proc/x" is root + "proc/x".
std::string RootFolder(const std::string& root);

}  // namespace patchio

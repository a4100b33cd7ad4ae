#include "Formats/GRADS/GradsText.h"

#include "Support/Error.h"
#include "Support/RegularFile.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>

namespace patchio::grads {
namespace {

constexpr std::size_t LargestFile = std::size_t(4) << 20;  ///< levels take some; the rest is a few kilobytes
constexpr const char* Blanks = " \t\r\f\v";

/// As many bytes as there are, but no more than `most`.
std::string ReadBytes(const std::string& path, std::size_t most)
{
  CheckRegularFile(path);
  std::ifstream file(path, std::ios::binary);
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (file.bad()) {
    throw FileError(path, "a text file", "one that cannot be read");
  }
  return text;
}

std::vector<std::string> WordsOf(const std::string& text)
{
  std::vector<std::string> words;
  std::size_t end = 0;
  for (std::size_t at = text.find_first_not_of(Blanks); at != std::string::npos;
       at = text.find_first_not_of(Blanks, end)) {
    end = std::min(text.find_first_of(Blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
  }
  return words;
}

std::string Trimmed(const std::string& text)
{
  const std::size_t first = text.find_first_not_of(Blanks);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(Blanks) - first + 1);
}

bool IsLetterOrDigit(char letter)
{
  const char lower = static_cast<char>(letter | 0x20);
  return IsDigit(letter) || (lower >= 'a' && lower <= 'z');
}

template <typename Number>
std::optional<Number> Parse(const std::string& text)
{
  const char* begin = text.data() + (text.size() > 1 && text[0] == '+' ? 1 : 0);
  Number number{};
  const auto [end, fault] = std::from_chars(begin, text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional<Number>(number)
                                                                  : std::nullopt;
}

}  // namespace

std::string LowerCase(std::string text)
{
  for (char& letter : text) {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
  }
  return text;
}

std::optional<double> NumberOf(const std::string& text)
{
  const auto number = Parse<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::int64_t> IntegerOf(const std::string& text)
{
  return Parse<std::int64_t>(text);
}

std::string ReadText(const std::string& path)
{
  const std::string text = ReadBytes(path, LargestFile + 1);
  if (text.size() > LargestFile) {
    throw FileError(path, fmt::format("a GrADS descriptor, a text of at most {} MiB", LargestFile >> 20),
        "a larger file", "Name the descriptor, not the file with the data");
  }
  if (text.find('\0') != std::string::npos) {
    throw FileError(
        path, "a GrADS descriptor, a text", "binary data", "Name the descriptor, not the file with the data");
  }
  return text;
}

std::vector<Line> LinesOf(const std::string& text)
{
  std::vector<Line> lines;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    Line line;
    line.Number = ++number;
    line.Words = WordsOf(text.substr(begin, end - begin));
    if (!line.Words.empty()) {
      line.Comment = !IsLetterOrDigit(line.Words[0][0]);
      line.Rest = Trimmed(Trimmed(text.substr(begin, end - begin)).substr(line.Words[0].size()));
      lines.push_back(std::move(line));
    }
    begin = end + 1;
  }
  return lines;
}

bool LooksLikeDescriptor(const std::string& path)
{
  constexpr std::size_t head = 16 << 10;
  constexpr std::array<const char*, 8> keywords{
      "dset", "undef", "xdef", "ydef", "zdef", "tdef", "vars", "dtype"};
  std::vector<Line> lines;
  const std::string fault = CatchError([&] {
    const std::string text = ReadBytes(path, head);
    lines = text.find('\0') == std::string::npos ? LinesOf(text) : std::vector<Line>();
  });
  return fault.empty() && std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
    return line.Words.size() > 1 &&
           std::find(keywords.begin(), keywords.end(), LowerCase(line.Words[0])) != keywords.end();
  });
}

}  // namespace patchio::grads

#include "Formats/GRADS/GradsText.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace patchio::grads {
namespace {

constexpr std::size_t LargestFile = std::size_t(4) << 20;  ///< long lists of levels fit in

}  // namespace

std::string ReadText(const std::string& path)
{
  const std::string text = FirstBytes(path, LargestFile + 1);
  if (text.size() > LargestFile) {
    throw FileError(path, fmt::format("a GrADS descriptor, a text file of at most {} MiB", LargestFile >> 20),
        "a larger file", "Open the descriptor, not the data file");
  }
  if (text.find('\0') != std::string::npos) {
    throw FileError(
        path, "a GrADS descriptor, a text file", "binary data", "Open the descriptor, not the data file");
  }
  return text;
}

std::vector<Line> LinesOf(const std::string& text)
{
  std::vector<Line> lines;
  std::size_t number = 0;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    Line line;
    line.Number = ++number;
    TextScanner scanner(std::string_view(text).substr(begin, end - begin));
    for (std::string_view word; scanner.ConsumeWord(word);) {
      line.Rest = line.Words.empty() ? Trimmed(scanner.Remaining()) : line.Rest;
      line.Words.emplace_back(word);
    }
    if (!line.Words.empty()) {
      line.Comment = !IsLetterOrDigit(line.Words[0][0]);
      lines.push_back(std::move(line));
    }
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
    const std::string text = FirstBytes(path, head);
    lines = text.find('\0') == std::string::npos ? LinesOf(text) : std::vector<Line>();
  });
  return fault.empty() && std::any_of(lines.begin(), lines.end(), [&](const Line& line) {
    return line.Words.size() > 1 &&
           std::find(keywords.begin(), keywords.end(), LowerCase(line.Words[0])) != keywords.end();
  });
}

std::string Quoted(const std::string& word)
{
  constexpr std::size_t longest = 60;
  return "'" + PlainText(word.size() > longest ? word.substr(0, longest) + "..." : word) + "'";
}

void LineReader::Fail(const std::string& expected, const std::string& found, const std::string& advice) const
{
  const std::size_t number = this->LineIndex < this->Lines.size() ? this->Current().Number : 0;
  throw FileError(this->Path + (number > 0 ? fmt::format(", line {}", number) : ""), expected, found, advice);
}

/// Returns word `index` of the line for messages, in quotes, or "the end of the line".
std::string LineReader::QuotedWord(std::size_t index) const
{
  return index < this->Words().size() ? Quoted(this->Words()[index]) : "the end of the line";
}

std::int64_t LineReader::Integer(
    std::size_t index, const char* noun, std::int64_t least, std::int64_t most) const
{
  const auto number =
      index < this->Words().size() ? ParseNumber<std::int64_t>(this->Words()[index]) : std::nullopt;
  if (!number || *number < least || *number > most) {
    this->Fail(fmt::format("the number of {}, {} to {}, as word {}", noun, least, most, index + 1),
        this->QuotedWord(index));
  }
  return *number;
}

double LineReader::Number(std::size_t index, const char* noun) const
{
  const auto number = index < this->Words().size() ? ParseNumber<double>(this->Words()[index]) : std::nullopt;
  if (!number) {
    this->Fail(fmt::format("a number, {}, as word {}", noun, index + 1), this->QuotedWord(index));
  }
  return *number;
}

/// Goes to the next line that is not a comment. Returns false at the end of the text.
bool LineReader::NextLine()
{
  do {
    ++this->LineIndex;
  } while (this->LineIndex < this->Lines.size() && this->Current().Comment);
  return this->LineIndex < this->Lines.size();
}

}  // namespace patchio::grads

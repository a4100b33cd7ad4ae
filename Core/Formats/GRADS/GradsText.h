// The lines of a descriptor, split into words.
#pragma once

#include "Base/Text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchio::grads {

/// A line of a descriptor.
struct Line
{
  std::size_t Number = 0;          ///< counted from 1
  std::vector<std::string> Words;  ///< at least one
  std::string Rest;                ///< text after the first word, without blanks at its ends
  bool Comment = false;            ///< the first character is neither a letter nor a digit
};

/// Reads a whole descriptor. Throws Error when the file cannot be read, is larger than 4 MiB, or is not a
/// text.
std::string ReadText(const std::string& path);

/// Returns the lines that are not empty.
std::vector<Line> LinesOf(const std::string& text);

/// Steps through lines, and throws errors with the number of the line.
class LineReader
{
protected:
  LineReader(const std::string& path, std::vector<Line> lines) : Path(path), Lines(std::move(lines)) {}

  const Line& Current() const { return this->Lines[this->LineIndex]; }
  const std::vector<std::string>& Words() const { return this->Current().Words; }
  /// Returns word `index` of the line, in lower case; empty if the line has fewer words.
  std::string Word(std::size_t index) const
  {
    return this->LineIndex < this->Lines.size() && index < this->Words().size()
               ? LowerCase(this->Words()[index])
               : std::string();
  }
  /// Throws Error with the number of the current line.
  [[noreturn]] void Fail(
      const std::string& expected, const std::string& found, const std::string& advice = {}) const;
  std::string QuotedWord(std::size_t index) const;
  /// Returns word `index` of the line as a number. `noun`: words after "the number of" in messages. Throws
  /// Error unless the word is a number from `least` to `most`.
  std::int64_t Integer(std::size_t index, const char* noun, std::int64_t least, std::int64_t most) const;
  double Number(std::size_t index, const char* noun) const;
  bool NextLine();

  std::string Path;
  std::vector<Line> Lines;
  std::size_t LineIndex = 0;  ///< the current line
};

/// Returns a word from a file for messages: in quotes, printable, and shortened if it is long.
std::string Quoted(const std::string& word);

/// Returns whether the first 16 KiB of a file are text that contains a line of a descriptor. Does not throw.
bool LooksLikeDescriptor(const std::string& path);

}  // namespace patchio::grads

// The lines of a descriptor, as words.
#pragma once

#include "Base/Text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchio::grads {

struct Line
{
  std::size_t Number = 0;          ///< 1 the first
  std::vector<std::string> Words;  ///< at least one
  std::string Rest;                ///< what follows the first word, without blanks at its ends
  bool Comment = false;            ///< the first letter is neither a letter nor a digit
};

/// A whole file. Throws Error when it cannot be read, is larger than any descriptor, or no text.
std::string ReadText(const std::string& path);

/// The lines that are not empty.
std::vector<Line> LinesOf(const std::string& text);

/// Goes through lines one by one, and says where something is wrong.
class LineReader
{
protected:
  LineReader(const std::string& path, std::vector<Line> lines) : Path(path), Lines(std::move(lines)) {}

  const Line& Current() const { return this->Lines[this->At]; }
  const std::vector<std::string>& Words() const { return this->Current().Words; }
  /// Word `index` of the line, in lower case; empty where there is none.
  std::string Word(std::size_t index) const
  {
    return this->At < this->Lines.size() && index < this->Words().size() ? LowerCase(this->Words()[index])
                                                                         : std::string();
  }
  [[noreturn]] void Fail(
      const std::string& expected, const std::string& found, const std::string& advice = {}) const;
  std::string Found(std::size_t index) const;
  std::int64_t Integer(std::size_t index, const char* what, std::int64_t least, std::int64_t most) const;
  double Number(std::size_t index, const char* what) const;
  bool NextLine();

  std::string Path;
  std::vector<Line> Lines;
  std::size_t At = 0;  ///< the line at hand
};

/// A word that a user wrote, as a message may show it.
std::string Quoted(const std::string& word);

/// True when a file's first bytes are lines of a descriptor. Never throws.
bool LooksLikeDescriptor(const std::string& path);

}  // namespace patchio::grads

// Text files of a plotfile, line by line: strict, and bounded by the size of the file.
#pragma once

#include "Catalog/Box.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::amrex {

/// A box as AMReX writes it, "((0,0,0) (7,7,7) (0,0,0))", with as many numbers as dimensions.
struct TypedBox
{
  Box Indices;                ///< inclusive; of cells or nodes; 0 on axes that are not there
  Int3 NodeCentred{0, 0, 0};  ///< 1 on axes on which the indices are those of nodes
};

/// Takes numbers and signs off the front of a text, one by one. Each call is true when it found what it
/// wanted; blanks before it are passed over.
class Words
{
public:
  explicit Words(std::string_view text) : Rest(text) {}

  bool Take(std::string_view sign);
  bool Take(std::int64_t& number);
  bool Take(int& number);
  /// Finite numbers only.
  bool Take(double& number);
  /// "(1,2,3)", with `dimension` numbers; the others become 0.
  bool Take(Int3& tuple, int dimension);
  bool Take(TypedBox& box, int dimension);
  /// Up to the next blank.
  bool TakeWord(std::string_view& word);
  /// True when there is nothing but blanks left.
  bool Done();
  std::string_view Left() const { return this->Rest; }

private:
  void SkipBlanks();

  std::string_view Rest;
};

/// Reads a file block by block.
class TextLines
{
public:
  /// Throws Error when there is no such file.
  explicit TextLines(const std::string& path);
  ~TextLines();
  TextLines(const TextLines&) = delete;
  TextLines& operator=(const TextLines&) = delete;

  /// The next line, without its end; stays valid until the next call. Throws Error when there is none:
  /// `expected` says what should stand there. Lines longer than 1 MiB are an error.
  std::string_view Next(const char* expected);
  /// The same, a single number.
  std::int64_t NextNumber(const char* expected, std::int64_t least, std::int64_t most);
  /// Passes over lines.
  void Skip(std::int64_t lines, const char* expected);
  /// The last line that is not blank, at most 4096 letters of it. Does not move.
  std::string LastLine() const;

  /// Throws Error: the line that Next() gave last is not what it should be.
  [[noreturn]] void Fail(const std::string& expected) const;

  const std::string& Path() const { return this->Name; }
  /// Size of the file.
  std::uint64_t Bytes() const { return this->Size; }

private:
  bool Fill();
  std::size_t ReadAt(std::uint64_t offset, char* into, std::size_t bytes) const;

  std::string Name;
  int Descriptor = -1;
  std::uint64_t Size = 0;
  std::uint64_t Offset = 0;  ///< in the file, of what follows the buffer
  std::vector<char> Buffer;
  std::size_t Begin = 0, End = 0;  ///< what of the buffer is still to be given
  std::string_view Line;
  std::int64_t Number = 0;
};

}  // namespace patchio::amrex

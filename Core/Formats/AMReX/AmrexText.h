// Text files of a plotfile, line by line: strict, and bounded by the size of the file.
#pragma once

#include "Base/File.h"
#include "Base/Text.h"
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

/// Takes "(1,2,3)", with `dimension` numbers; the others become 0.
bool TakeTuple(TextScanner& scanner, Int3& tuple, int dimension);
/// False also for a box without cells, and for indices beyond +-2^30.
bool TakeBox(TextScanner& scanner, TypedBox& box, int dimension);

/// Reads a file block by block.
class TextLines
{
public:
  /// Throws Error when there is no such file.
  explicit TextLines(const std::string& path) : File(path), Size(this->File.Size()) {}

  /// The next line, without its end; stays valid until the next call. Throws Error when there is none:
  /// `expected` says what should stand there. Lines longer than 1 MiB are an error.
  std::string_view Next(const char* expected);
  /// The same, a single number.
  std::int64_t NextNumber(const char* expected, std::int64_t least, std::int64_t most);
  /// The last line that is not blank, at most 4096 letters of it. Does not move.
  std::string LastLine() const;

  /// Throws Error: the line that Next() gave last is not what it should be.
  [[noreturn]] void Fail(const std::string& expected) const;

  const std::string& Path() const { return this->File.Path(); }
  /// Size of the file.
  std::uint64_t Bytes() const { return this->Size; }

private:
  bool Fill();

  PlainFile File;
  std::uint64_t Size;
  std::uint64_t Offset = 0;  ///< in the file, of what follows the buffer
  std::vector<char> Buffer;
  std::size_t Begin = 0, End = 0;  ///< what of the buffer is still to be given
  std::string_view Line;
  std::int64_t Number = 0;
};

}  // namespace patchio::amrex

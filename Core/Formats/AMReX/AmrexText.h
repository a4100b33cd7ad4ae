// Reading of a plotfile's text files, line by line. It is strict, and its memory is bounded by the size of
// the file.
#pragma once

#include "Base/File.h"
#include "Base/Text.h"
#include "Catalog/Box.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::amrex {

/// A box in AMReX's notation, "((0,0,0) (7,7,7) (0,0,0))", with one number per dimension.
struct TypedBox
{
  Box Indices;                ///< inclusive; of cells or nodes; 0 on axes that the box lacks
  Int3 NodeCentred{0, 0, 0};  ///< 1 on axes whose indices are those of nodes
};

/// Takes a tuple of `dimension` numbers, such as "(1,2,3)"; the other numbers become 0.
bool TakeTuple(TextScanner& scanner, Int3& tuple, int dimension);
/// Takes a box. Returns false also for a box without cells, and for indices beyond +-2^30.
bool TakeBox(TextScanner& scanner, TypedBox& box, int dimension);

/// Reads a file block by block.
class TextLines
{
public:
  /// Opens the file. Throws Error when it does not exist.
  explicit TextLines(const std::string& path) : File(path), Size(this->File.Size()) {}

  /// Returns the next line, without its end; valid until the next call. Throws Error at the end of the file,
  /// for which `expected` names the expected contents, and for lines longer than 1 MiB.
  std::string_view Next(const char* expected);
  /// Returns the next line as a number. Throws Error unless it is a number from `least` to `most`.
  std::int64_t NextNumber(const char* expected, std::int64_t least, std::int64_t most);
  /// Returns the last line that is not blank, or the last 4096 bytes of it. Does not change the position.
  std::string LastLine() const;

  /// Throws Error for the line that Next() returned last, because its contents are not as expected.
  [[noreturn]] void Fail(const std::string& expected) const;

  const std::string& Path() const { return this->File.Path(); }
  /// Size of the file.
  std::uint64_t Bytes() const { return this->Size; }

private:
  bool Fill();

  PlainFile File;
  std::uint64_t Size;
  std::uint64_t Offset = 0;  ///< file offset of the bytes behind the buffer
  std::vector<char> Buffer;
  std::size_t Begin = 0, End = 0;  ///< range of the buffer that was not returned yet
  std::string_view Line;
  std::int64_t Number = 0;
};

}  // namespace patchio::amrex

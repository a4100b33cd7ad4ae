// Reading of a plotfile's text files, line by line: boxes, and the file Header, which describes everything
// except boxes and values. Invalid numbers, names and boxes are errors. The memory that a read takes is
// bounded by the size of the file.
#pragma once

#include "Base/File.h"
#include "Base/Text.h"
#include "Catalog/Box.h"
#include "Formats/Format.h"

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

/// Parses a tuple of `dimension` numbers, such as "(1,2,3)". The other numbers of `tuple` become 0. Returns
/// false if the text does not begin with such a tuple.
bool ParseTuple(TextScanner& scanner, Int3& tuple, int dimension);
/// Parses a box. Returns false for other text, for an empty box, and for indices beyond +-2^30.
bool ParseBox(TextScanner& scanner, TypedBox& box, int dimension);

/// Reads a text file line by line, with at most 2 MiB of the file in memory.
class TextLines
{
public:
  /// Opens the file. Throws Error when the file cannot be opened.
  explicit TextLines(const std::string& path) : File(path), Size(this->File.Size()) {}

  /// Returns the next line, without its end; the result is valid until the next call. `expected`: phrase for
  /// the expected contents, for messages. Throws Error at the end of the file, and may throw Error for a line
  /// longer than 1 MiB.
  std::string_view Next(const char* expected);
  /// Returns the next line as a number. Throws Error unless the line is a number from `least` to `most`.
  std::int64_t NextNumber(const char* expected, std::int64_t least, std::int64_t most);
  /// Returns the last line that is not blank, or the part of it in the last 4096 bytes of the file. Does not
  /// change the position.
  std::string LastLine() const;

  /// Throws Error: "FILE: expected EXPECTED in line N, found" and the line that Next() returned last.
  [[noreturn]] void Fail(const std::string& expected) const;

  const std::string& Path() const { return this->File.Path(); }
  /// Returns the size of the file in bytes.
  std::uint64_t Bytes() const { return this->Size; }

private:
  bool FillBuffer();

  PlainFile File;
  std::uint64_t Size;
  std::uint64_t Offset = 0;  ///< file offset of the bytes behind the buffer
  std::vector<char> Buffer;
  std::size_t Begin = 0, End = 0;  ///< range of the buffer that Next() has not returned yet
  std::string_view Line;           ///< the line that Next() returned last
  std::int64_t LineNumber = 0;
};

/// The part of a Header that describes one level.
struct LevelHeader
{
  Box Domain;
  Double3 Spacing{1, 1, 1};
  std::int64_t Boxes = 0;
  std::string Prefix;  ///< prefix of the level's files, relative to the plotfile's folder: "Level_0/Cell"
};

/// The contents of the file Header of a plotfile.
struct PlotHeader
{
  std::vector<std::string> Names;  ///< names of the components, unchanged
  int Dimension = 3;
  double Time = 0;
  std::int64_t Step = 0;
  Double3 Corner{0, 0, 0};          ///< lower corner of the domain
  Double3 FirstBoxCorner{0, 0, 0};  ///< lower corner of the first box of level 0
  std::vector<int> Ratios;          ///< refinement ratios as written, one number for all axes; may be empty
  int Coordinates = 0;              ///< 0: Cartesian, 1: cylindrical, 2: spherical
  std::vector<LevelHeader> Levels;
};

/// Returns whether the line is the first line of a plotfile's Header: the name of a code's plotfiles and
/// their version, such as "HyperCLaw-V1.1".
bool IsPlotVersion(std::string_view line);
/// Returns whether the line is the first line of a checkpoint's Header.
bool IsCheckpointVersion(std::string_view line);

/// Reads a Header. Throws Error when the file does not belong to a plotfile or its contents are invalid.
PlotHeader ReadPlotHeader(const std::string& path);

/// Reads the first lines of a Header: everything except the boxes and files of levels. Throws Error like
/// ReadPlotHeader().
PlotHeader ReadPlotTop(const std::string& path);

/// Reads the time and step from the first lines of a Header. Throws Error like ReadPlotHeader().
TimeStep ReadPlotHead(const std::string& path);

}  // namespace patchio::amrex

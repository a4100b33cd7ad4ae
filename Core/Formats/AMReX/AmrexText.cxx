#include "Formats/AMReX/AmrexText.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <limits>

namespace fs = std::filesystem;

namespace patchio::amrex {
namespace {

constexpr std::size_t BlockBytes = 1 << 20;  ///< also the longest line
constexpr std::size_t TailBytes = 4096;
constexpr const char* TextAdvice = "The file is damaged, still being written, or not part of a plotfile";

}  // namespace

bool ParseTuple(TextScanner& scanner, Int3& tuple, int dimension)
{
  tuple = {0, 0, 0};
  bool good = scanner.Consume("(");
  for (int axis = 0; good && axis < dimension; ++axis) {
    good = (axis == 0 || scanner.Consume(",")) && scanner.Consume(tuple[axis]);
  }
  return good && scanner.Consume(")");
}

bool ParseBox(TextScanner& scanner, TypedBox& box, int dimension)
{
  constexpr int largest = 1 << 30;
  const auto fits = [](int index) { return index >= -largest && index <= largest; };
  const Int3& lower = box.Indices.Lower;
  const Int3& upper = box.Indices.Upper;
  return scanner.Consume("(") && ParseTuple(scanner, box.Indices.Lower, dimension) &&
         ParseTuple(scanner, box.Indices.Upper, dimension) &&
         ParseTuple(scanner, box.NodeCentred, dimension) && scanner.Consume(")") && !box.Indices.Empty() &&
         std::all_of(lower.begin(), lower.end(), fits) && std::all_of(upper.begin(), upper.end(), fits);
}

/// Appends a block of the file to the buffer. Returns false at the end of the file. Throws Error if the
/// buffer has a longer line than supported.
bool TextLines::FillBuffer()
{
  const std::size_t left = this->End - this->Begin;
  if (left > BlockBytes) {
    throw FileError(this->Path(), fmt::format("lines of at most {} bytes", BlockBytes),
        fmt::format("more bytes in line {}", this->LineNumber + 1), TextAdvice);
  }
  this->Buffer.erase(this->Buffer.begin(), this->Buffer.begin() + static_cast<std::ptrdiff_t>(this->Begin));
  this->Begin = 0;
  const std::uint64_t unread = this->Size > this->Offset ? this->Size - this->Offset : 0;
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(unread, BlockBytes));
  this->Buffer.resize(std::max(this->Buffer.size(), left + wanted));
  const std::size_t got = this->File.ReadUpTo(this->Offset, this->Buffer.data() + left, wanted);
  this->Offset += got;
  this->End = left + got;
  return got > 0;
}

std::string_view TextLines::Next(const char* expected)
{
  std::size_t searched = 0;
  for (;;) {
    const std::size_t left = this->End - this->Begin;
    const char* const begin = this->Buffer.data() + this->Begin;
    const void* const found =
        left > searched ? std::memchr(begin + searched, '\n', left - searched) : nullptr;
    searched = left;
    if (!found && this->FillBuffer()) {
      continue;
    }
    if (!found && left == 0) {
      throw FileError(this->Path(), fmt::format("{} in line {}", expected, this->LineNumber + 1),
          "the end of the file", TextAdvice);
    }
    const char* const start = this->Buffer.data() + this->Begin;  // FillBuffer() may have moved the line
    const std::size_t length =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - start) : left;
    this->Begin += length + (found ? 1 : 0);
    ++this->LineNumber;
    this->Line = std::string_view(start, length);
    return this->Line;
  }
}

std::int64_t TextLines::NextNumber(const char* expected, std::int64_t least, std::int64_t most)
{
  TextScanner words(this->Next(expected));
  std::int64_t number = 0;
  if (!words.Consume(number) || !words.AtEnd() || number < least || number > most) {
    this->Fail(most == std::numeric_limits<std::int64_t>::max()
                   ? fmt::format("{}, at least {}", expected, least)
                   : fmt::format("{}, {} to {}", expected, least, most));
  }
  return number;
}

std::string TextLines::LastLine() const
{
  const std::uint64_t bytes = std::min<std::uint64_t>(this->Size, TailBytes);
  std::string tail(static_cast<std::size_t>(bytes), '\0');
  tail.resize(this->File.ReadUpTo(this->Size - bytes, tail.data(), tail.size()));
  const std::size_t last = tail.find_last_not_of(" \t\r\n");
  tail.resize(last == std::string::npos ? 0 : last + 1);
  const std::size_t begin = tail.find_last_of('\n');
  return begin == std::string::npos ? tail : tail.substr(begin + 1);
}

void TextLines::Fail(const std::string& expected) const
{
  throw FileError(this->Path(), fmt::format("{} in line {}", expected, this->LineNumber),
      fmt::format("'{}'", PlainText(std::string(this->Line.substr(0, 80)))), TextAdvice);
}

namespace {

constexpr std::int64_t MostNames = 100'000;
constexpr std::int64_t MostLevels = 31;  ///< more refinement would overflow the indices

/// Reads the parts of a Header. The methods must be called in this order.
class HeaderReader
{
public:
  explicit HeaderReader(const std::string& path) : Lines(path) {}

  void ReadTop();
  void ReadGeometry();
  void ReadLevels();
  PlotHeader Release() { return std::move(this->Header); }

private:
  void ReadDomains();
  void ReadSteps();
  void ReadSpacings();
  void ReadLevel(std::size_t number);
  double ReadNumber(TextScanner& words, const char* expected) const;

  TextLines Lines;
  PlotHeader Header;
};

/// Reads the version, the names, the dimension, the time and the number of levels.
void HeaderReader::ReadTop()
{
  const std::string_view version = this->Lines.Next("the version of a plotfile");
  if (IsCheckpointVersion(version)) {
    throw FileError(this->Lines.Path(), "the Header of a plotfile", "the Header of a checkpoint",
        "Open a plotfile (plt...) instead; checkpoints (chk...) only serve for restarts");
  }
  if (!IsPlotVersion(version)) {
    this->Lines.Fail("the version of a plotfile, such as 'HyperCLaw-V1.1',");
  }
  const std::int64_t names = this->Lines.NextNumber("the number of components", 1, MostNames);
  for (std::int64_t i = 0; i < names; ++i) {
    this->Header.Names.emplace_back(this->Lines.Next("the name of a component"));
  }
  const std::int64_t dimension = this->Lines.NextNumber("the number of dimensions", 1, 3);
  if (dimension == 1) {
    throw FileError(this->Lines.Path(), "2 or 3 dimensions", "1", "PatchIO does not support 1-D data");
  }
  this->Header.Dimension = static_cast<int>(dimension);
  TextScanner words(this->Lines.Next("the time"));
  this->Header.Time = this->ReadNumber(words, "the time");
  this->Header.Levels.resize(
      static_cast<std::size_t>(this->Lines.NextNumber("the finest level", 0, MostLevels - 1)) + 1);
}

/// Returns the next number of a line. Throws Error that states `expected` if no number follows.
double HeaderReader::ReadNumber(TextScanner& words, const char* expected) const
{
  double number = 0;
  if (!words.Consume(number)) {
    this->Lines.Fail(expected);
  }
  return number;
}

void HeaderReader::ReadGeometry()
{
  const char* const corner = "the lower corner of the domain";
  TextScanner lower(this->Lines.Next(corner));
  for (int axis = 0; axis < this->Header.Dimension; ++axis) {
    this->Header.Corner[axis] = this->ReadNumber(lower, corner);
  }
  this->Lines.Next("the upper corner of the domain");
  TextScanner ratios(this->Lines.Next("the refinement ratios"));
  for (int ratio = 0; ratios.Consume(ratio);) {
    this->Header.Ratios.push_back(ratio);
  }
  this->ReadDomains();
  this->ReadSteps();
  this->ReadSpacings();
  TextScanner coordinates(this->Lines.Next("the kind of coordinates"));
  coordinates.Consume(this->Header.Coordinates);  // Cartesian if the text is not a number
  this->Lines.Next("the width of the boundary");
}

void HeaderReader::ReadDomains()
{
  TextScanner words(this->Lines.Next("the domain of each level"));
  for (LevelHeader& level : this->Header.Levels) {
    TypedBox box;
    if (!ParseBox(words, box, this->Header.Dimension)) {
      this->Lines.Fail("a box of cells for each level, with lower <= upper and indices up to 2^30,");
    }
    level.Domain = box.Indices;
  }
}

void HeaderReader::ReadSteps()
{
  TextScanner words(this->Lines.Next("the step of each level"));
  if (!words.Consume(this->Header.Step)) {
    this->Lines.Fail("the step of each level");
  }
}

void HeaderReader::ReadSpacings()
{
  for (LevelHeader& level : this->Header.Levels) {
    const char* const spacing = "positive cell sizes";
    TextScanner words(this->Lines.Next(spacing));
    for (int axis = 0; axis < this->Header.Dimension; ++axis) {
      level.Spacing[axis] = this->ReadNumber(words, spacing);
      if (!(level.Spacing[axis] > 0)) {
        this->Lines.Fail(spacing);
      }
    }
  }
}

void HeaderReader::ReadLevels()
{
  for (std::size_t level = 0; level < this->Header.Levels.size(); ++level) {
    this->ReadLevel(level);
  }
}

void HeaderReader::ReadLevel(std::size_t number)
{
  LevelHeader& level = this->Header.Levels[number];
  TextScanner words(this->Lines.Next("a level and its number of boxes"));
  std::int64_t which = 0;
  if (!words.Consume(which) || which != static_cast<std::int64_t>(number) || !words.Consume(level.Boxes) ||
      level.Boxes < 0) {
    this->Lines.Fail(fmt::format("level {} and its number of boxes", number));
  }
  this->Lines.Next("the step of a level");
  // The positions of boxes follow from their indices and the position of the first box. The loop ends at the
  // end of the file, even if the stated number of boxes is larger.
  for (std::int64_t box = 0; box < level.Boxes; ++box) {
    const char* const corners = "the corners of a box";
    if (number == 0 && box == 0) {
      for (int axis = 0; axis < this->Header.Dimension; ++axis) {
        TextScanner ends(this->Lines.Next(corners));
        this->Header.FirstBoxCorner[axis] = this->ReadNumber(ends, corners);
      }
    } else {
      for (int axis = 0; axis < this->Header.Dimension; ++axis) {
        this->Lines.Next(corners);
      }
    }
  }
  TextScanner path(this->Lines.Next("the location of the files of a level"));
  std::string_view prefix;
  path.ConsumeWord(prefix);
  level.Prefix = prefix;
  const fs::path relative(level.Prefix);
  const bool leaves = std::find(relative.begin(), relative.end(), "..") != relative.end();
  if (level.Prefix.empty() || relative.is_absolute() || leaves) {
    this->Lines.Fail("the location of the files of a level, in the folder of the plotfile,");
  }
}

}  // namespace

bool IsPlotVersion(std::string_view line)
{
  // <name>-V<digit>...
  const std::size_t dash = line.find("-V");
  const auto isName = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
  };
  return dash != std::string_view::npos && dash > 0 && dash < 64 && dash + 2 < line.size() &&
         std::isdigit(static_cast<unsigned char>(line[dash + 2])) &&
         std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(dash), isName);
}

bool IsCheckpointVersion(std::string_view line)
{
  return line.substr(0, 10) == "CheckPoint" || line.substr(0, 10) == "Checkpoint";
}

PlotHeader ReadPlotHeader(const std::string& path)
{
  HeaderReader reader(path);
  reader.ReadTop();
  reader.ReadGeometry();
  reader.ReadLevels();
  return reader.Release();
}

PlotHeader ReadPlotTop(const std::string& path)
{
  HeaderReader reader(path);
  reader.ReadTop();
  reader.ReadGeometry();
  return reader.Release();
}

TimeStep ReadPlotHead(const std::string& path)
{
  const PlotHeader header = ReadPlotTop(path);
  return {path, header.Time, header.Step};
}

}  // namespace patchio::amrex

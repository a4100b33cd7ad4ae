// Locates the values of patches in the data files of GrADS.
#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Formats/GRADS/GradsCatalog.h"
#include "Formats/GRADS/GradsFiles.h"
#include "Formats/GRADS/GradsFormat.h"
#include "Formats/LocateTask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <filesystem>
#include <limits>

namespace patchio::grads {
namespace {

/// Returns the length marker in front of a Fortran record, or nothing at the end of the file.
std::optional<std::uint32_t> MarkerAt(const PlainFile& file, std::int64_t offset, bool bigEndian)
{
  std::uint32_t word = 0;
  if (file.ReadUpTo(static_cast<std::uint64_t>(offset), &word, sizeof(word)) < sizeof(word)) {
    return std::nullopt;
  }
  return bigEndian == HostIsLittleEndian() ? __builtin_bswap32(word) : word;
}

class Locator
{
public:
  Locator(const Catalog& catalog, const Descriptor& descriptor, const LocateOptions& options)
      : Data(catalog),
        Description(descriptor),
        Task(options),
        Layout(descriptor),
        Index(catalog.StepInFile),
        PositionInFile(StepPositionOf(descriptor, catalog.StepInFile))
  {
  }

  LocationTable Run(const std::vector<PatchVariable>& requests)
  {
    this->Task.LocateEach(this->Data, requests, this->Table,
        [this](const PatchVariable& request) { return this->Locate(request); });
    return std::move(this->Table);
  }

private:
  /// The data file of a member; see ExamineFile().
  struct ExaminedFile
  {
    int Number = -1;  ///< number in the table
    std::int64_t Bytes = 0;
    bool Absent = false;  ///< members of an ensemble may lack files
    std::string Fault;
  };
  /// The levels, rows and columns of a variable on a patch.
  struct Hyperslab
  {
    MemberVariable Origin;
    std::int64_t Levels = 0;                               ///< number of stored levels
    std::int64_t FirstLevel = 0, LevelCount = 1;           ///< levels of the patch
    std::int64_t FirstRow = 0, RowCount = 0, Columns = 0;  ///< rows and columns of the patch
  };

  Location Locate(const PatchVariable& request);
  const ExaminedFile& FileOf(std::int64_t member);
  void ExamineFile(const std::string& path, std::int64_t member, ExaminedFile& known);
  void CheckMarker(const PlainFile& file, const std::string& path, std::int64_t member) const;
  Hyperslab HyperslabOf(const PatchVariable& request) const;
  std::int64_t RowOffset(const Hyperslab& slab, std::int64_t level, std::int64_t row) const;
  bool IsContiguous(const Hyperslab& slab) const;
  void CheckInside(const Hyperslab& slab, const ExaminedFile& file) const;
  Location LocateContiguous(const Hyperslab& slab, int file);
  Location LocateRows(const Hyperslab& slab, int file);

  const Catalog& Data;
  const Descriptor& Description;
  LocateTask Task;
  const FileLayout Layout;
  const std::int64_t Index;
  const StepPosition PositionInFile;
  std::vector<ExaminedFile> Files;  ///< one per member; filled when needed
  LocationTable Table;
};

Location Locator::Locate(const PatchVariable& request)
{
  const Hyperslab slab = this->HyperslabOf(request);
  const ExaminedFile& file = this->FileOf(slab.Origin.Member);
  ThrowFault(file.Fault);
  if (file.Absent) {
    return {};
  }
  this->CheckInside(slab, file);
  return this->IsContiguous(slab) ? this->LocateContiguous(slab, file.Number)
                                  : this->LocateRows(slab, file.Number);
}

const Locator::ExaminedFile& Locator::FileOf(std::int64_t member)
{
  this->Files.resize(static_cast<std::size_t>(this->Description.MemberCount()));
  ExaminedFile& known = this->Files[member];
  if (known.Number < 0) {
    const std::string path = FileName(this->Description, this->Index, member);
    const auto same = std::find(this->Table.Files.begin(), this->Table.Files.end(), path);
    known.Number = static_cast<int>(same - this->Table.Files.begin());
    if (same == this->Table.Files.end()) {
      this->Table.Files.push_back(path);
    }
    known.Fault = CatchError([&] { this->ExamineFile(path, member, known); });
  }
  return known;
}

void Locator::ExamineFile(const std::string& path, std::int64_t member, ExaminedFile& known)
{
  std::error_code ignored;
  known.Absent = HasFilePerMember(this->Description) && !std::filesystem::exists(path, ignored);
  if (known.Absent) {
    this->Table.Notes.push_back(
        fmt::format("{}: the file is missing, so PatchIO skips the variables of this ensemble member", path));
    return;
  }
  const PlainFile file(path);
  known.Bytes = static_cast<std::int64_t>(file.Size());
  if (this->Description.Sequential) {
    this->CheckMarker(file, path, member);
  }
}

/// Throws Error for records of another size or byte order, whose values would be displayed as noise.
void Locator::CheckMarker(const PlainFile& file, const std::string& path, std::int64_t member) const
{
  const std::int64_t offset = this->Layout.Offset(this->PositionInFile, member, 0, 0) - 4;
  const auto marker = MarkerAt(file, offset, this->Description.BigEndian);
  const auto expected = static_cast<std::uint32_t>(this->Description.FieldBytes());
  const bool known = this->Description.FieldBytes() <= std::numeric_limits<std::int32_t>::max();
  if (!known || !marker || *marker == expected) {
    return;
  }
  const std::string order = this->Description.BigEndian ? "big" : "little";
  const std::string other = this->Description.BigEndian ? "little" : "big";
  const bool swapped = MarkerAt(file, offset, !this->Description.BigEndian) == expected;
  throw FileError(path,
      fmt::format("a {}-endian record of {} bytes ({} x {} points) at offset {}", order, expected,
          this->Description.X.size(), this->Description.Y.size(), offset),
      swapped ? fmt::format("a {}-endian record", other) : fmt::format("the number {}", *marker),
      swapped ? fmt::format("Write OPTIONS {}_endian into {}", other, this->Description.Path)
              : fmt::format(
                    "Check XDEF, YDEF, VARS, headers and OPTIONS sequential in {}", this->Description.Path));
}

Locator::Hyperslab Locator::HyperslabOf(const PatchVariable& request) const
{
  const Patch& patch = this->Data.Patches[request.Patch];
  const Box nodes = this->Data.NodesOf(patch.Level, patch.Cells);
  Hyperslab slab;
  slab.Origin = MemberVariableOf(this->Description, request.Variable);
  slab.Levels = this->Description.Variables[slab.Origin.Variable].Fields();
  if (!IsFlat(this->Description, this->Description.Variables[slab.Origin.Variable])) {
    slab.FirstLevel = nodes.Lower[2];
    slab.LevelCount = nodes.Width(2);
  }
  slab.FirstRow = nodes.Lower[1];
  slab.RowCount = nodes.Width(1);
  slab.Columns = nodes.Width(0);
  return slab;
}

/// Returns the offset of a row in the file; `level` and `row` are numbers in the order of display.
std::int64_t Locator::RowOffset(const Hyperslab& slab, std::int64_t level, std::int64_t row) const
{
  const std::int64_t rows = static_cast<std::int64_t>(this->Description.Y.size());
  const std::int64_t storedLevel = this->Description.LevelsReversed ? slab.Levels - 1 - level : level;
  const std::int64_t storedRow = this->Description.RowsReversed ? rows - 1 - row : row;
  return this->Layout.Offset(this->PositionInFile, slab.Origin.Member, slab.Origin.Variable, storedLevel) +
         storedRow * slab.Columns * static_cast<std::int64_t>(SizeOf(this->Description.Type));
}

/// Returns whether all values of the slab are contiguous in the file, in the order of the array.
bool Locator::IsContiguous(const Hyperslab& slab) const
{
  const bool rows = !this->Description.RowsReversed || slab.RowCount == 1;
  const bool all = slab.RowCount == static_cast<std::int64_t>(this->Description.Y.size());
  const bool levels = all && !this->Description.LevelsReversed &&
                      slab.FirstLevel + slab.LevelCount <= slab.Levels &&
                      this->Layout.FieldStride() == this->Description.FieldBytes();
  return rows && (slab.LevelCount == 1 ? slab.FirstLevel < slab.Levels : levels);
}

void Locator::CheckInside(const Hyperslab& slab, const ExaminedFile& file) const
{
  const std::int64_t stored = std::min(slab.FirstLevel + slab.LevelCount, slab.Levels);
  for (std::int64_t level = slab.FirstLevel; level < stored; ++level) {
    const std::int64_t storedLevel = this->Description.LevelsReversed ? slab.Levels - 1 - level : level;
    const std::int64_t end =
        this->Layout.Offset(this->PositionInFile, slab.Origin.Member, slab.Origin.Variable, storedLevel) +
        this->Description.FieldBytes();
    if (end > file.Bytes) {
      throw FileError(this->Table.Files[file.Number],
          fmt::format("at least {} bytes, for level {} of '{}' at {}", end, level + 1,
              this->Description.Variables[slab.Origin.Variable].Name, this->Data.Date),
          fmt::format("{}", file.Bytes),
          "The file is truncated or still being written, or does not match " + this->Description.Path);
    }
  }
}

Location Locator::LocateContiguous(const Hyperslab& slab, int file)
{
  ByteRange byteRange;
  byteRange.Offset = static_cast<std::uint64_t>(this->RowOffset(slab, slab.FirstLevel, slab.FirstRow));
  byteRange.Type = this->Description.Type;
  byteRange.Bytes =
      static_cast<std::uint64_t>(slab.LevelCount * slab.RowCount * slab.Columns) * SizeOf(byteRange.Type);
  byteRange.BigEndian = this->Description.BigEndian;
  byteRange.File = file;
  this->Table.ByteRanges.push_back(byteRange);
  return MakeLocation(Encoding::Raw, this->Table.ByteRanges.size() - 1, 1);
}

/// Appends a chunked array, with a chunk for the contiguous rows of each level (one row if rows are reversed;
/// no bytes for a level that is not stored). The last row of a patch, which is also the first row of the next
/// patch, is a separate chunk, so that a rank with both patches reads that row once.
Location Locator::LocateRows(const Hyperslab& slab, int file)
{
  const bool shared = slab.RowCount > 1 &&
                      slab.FirstRow + slab.RowCount < static_cast<std::int64_t>(this->Description.Y.size());
  const std::int64_t rows = this->Description.RowsReversed ? 1 : slab.RowCount - (shared ? 1 : 0);
  const std::int64_t rowBytes = slab.Columns * static_cast<std::int64_t>(SizeOf(this->Description.Type));
  ChunkedArray array;
  array.File = file;
  array.Type = this->Description.Type;
  array.BigEndian = this->Description.BigEndian;
  array.Rank = 3;
  array.Dims = {static_cast<std::uint64_t>(slab.LevelCount), static_cast<std::uint64_t>(slab.RowCount),
      static_cast<std::uint64_t>(slab.Columns), 0};
  array.ChunkDims = {1, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(slab.Columns), 0};
  array.Count = array.Dims[0] * array.Dims[1] * array.Dims[2];
  if (array.Type == ElementType::Float32) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(&array.Fill, &none, sizeof(none));
  }
  array.FirstChunk = this->Table.Chunks.size();
  std::uint64_t number = 0;
  for (std::int64_t level = slab.FirstLevel; level < slab.FirstLevel + slab.LevelCount; ++level) {
    for (std::int64_t row = 0; row < slab.RowCount; row += rows) {
      Chunk chunk;
      chunk.Number = number++;
      if (level < slab.Levels) {
        chunk.Offset = static_cast<std::uint64_t>(this->RowOffset(slab, level, slab.FirstRow + row));
        chunk.Bytes = static_cast<std::uint32_t>(std::min(rows, slab.RowCount - row) * rowBytes);
      }
      this->Table.Chunks.push_back(chunk);
    }
  }
  array.ChunkCount = this->Table.Chunks.size() - array.FirstChunk;
  this->Table.ChunkedArrays.push_back(array);
  return MakeLocation(Encoding::Chunked, this->Table.ChunkedArrays.size() - 1, 1);
}

}  // namespace

LocationTable GradsFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  const auto* text = reinterpret_cast<const char*>(catalog.FormatData.data());
  const Descriptor descriptor = ParseDescriptor(catalog.Path, {text, catalog.FormatData.size()});
  return Locator(catalog, descriptor, options).Run(requests);
}

}  // namespace patchio::grads

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
        Source(descriptor),
        Task(options),
        Layout(descriptor),
        Index(catalog.StepInFile),
        Place(InFile(descriptor, catalog.StepInFile))
  {
  }

  LocationTable Run(const std::vector<PatchVariable>& requests)
  {
    this->Task.LocateEach(this->Data, requests, this->Table,
        [this](const PatchVariable& request) { return this->Locate(request); });
    return std::move(this->Table);
  }

private:
  /// A file that was examined.
  struct KnownFile
  {
    int Number = -1;  ///< number in the table
    std::int64_t Bytes = 0;
    bool Absent = false;  ///< members of an ensemble may lack files
    std::string Fault;
  };
  /// The part of a variable on a patch.
  struct Part
  {
    MemberVariable Where;
    std::int64_t Levels = 0;                               ///< number of stored levels
    std::int64_t FirstLevel = 0, LevelCount = 1;           ///< levels of the patch
    std::int64_t FirstRow = 0, RowCount = 0, Columns = 0;  ///< rows and columns of the patch
  };

  Location Locate(const PatchVariable& request);
  const KnownFile& FileOf(std::int64_t member);
  void LookInto(const std::string& path, std::int64_t member, KnownFile& known);
  void CheckMarker(const PlainFile& file, const std::string& path, std::int64_t member) const;
  Part PartOf(const PatchVariable& request) const;
  std::int64_t RowOffset(const Part& part, std::int64_t level, std::int64_t row) const;
  bool IsOnePiece(const Part& part) const;
  void CheckInside(const Part& part, const KnownFile& file) const;
  Location OnePiece(const Part& part, int file);
  Location Rows(const Part& part, int file);

  const Catalog& Data;
  const Descriptor& Source;
  LocateTask Task;
  const FileLayout Layout;
  const std::int64_t Index;
  const StepInFile Place;
  std::vector<KnownFile> Files;  ///< one per member; filled when needed
  LocationTable Table;
};

Location Locator::Locate(const PatchVariable& request)
{
  const Part part = this->PartOf(request);
  const KnownFile& file = this->FileOf(part.Where.Member);
  if (!file.Fault.empty()) {
    throw Error(file.Fault);
  }
  if (file.Absent) {
    return {};
  }
  this->CheckInside(part, file);
  return this->IsOnePiece(part) ? this->OnePiece(part, file.Number) : this->Rows(part, file.Number);
}

const Locator::KnownFile& Locator::FileOf(std::int64_t member)
{
  this->Files.resize(static_cast<std::size_t>(this->Source.MemberCount()));
  KnownFile& known = this->Files[member];
  if (known.Number < 0) {
    const std::string path = FileName(this->Source, this->Index, member);
    const auto same = std::find(this->Table.Files.begin(), this->Table.Files.end(), path);
    known.Number = static_cast<int>(same - this->Table.Files.begin());
    if (same == this->Table.Files.end()) {
      this->Table.Files.push_back(path);
    }
    known.Fault = CatchError([&] { this->LookInto(path, member, known); });
  }
  return known;
}

void Locator::LookInto(const std::string& path, std::int64_t member, KnownFile& known)
{
  std::error_code ignored;
  known.Absent = HasFilePerMember(this->Source) && !std::filesystem::exists(path, ignored);
  if (known.Absent) {
    this->Table.Notes.push_back(
        fmt::format("{}: the file is missing, so PatchIO skips the variables of this ensemble member", path));
    return;
  }
  const PlainFile file(path);
  known.Bytes = static_cast<std::int64_t>(file.Size());
  if (this->Source.Sequential) {
    this->CheckMarker(file, path, member);
  }
}

/// Throws Error for records of another size or byte order, whose values would be displayed as noise.
void Locator::CheckMarker(const PlainFile& file, const std::string& path, std::int64_t member) const
{
  const std::int64_t offset = this->Layout.Offset(this->Place, member, 0, 0) - 4;
  const auto marker = MarkerAt(file, offset, this->Source.BigEndian);
  const auto expected = static_cast<std::uint32_t>(this->Source.FieldBytes());
  const bool known = this->Source.FieldBytes() <= std::numeric_limits<std::int32_t>::max();
  if (!known || !marker || *marker == expected) {
    return;
  }
  const std::string order = this->Source.BigEndian ? "big" : "little";
  const std::string other = this->Source.BigEndian ? "little" : "big";
  const bool swapped = MarkerAt(file, offset, !this->Source.BigEndian) == expected;
  throw FileError(path,
      fmt::format("a {}-endian record of {} bytes ({} x {} points) at offset {}", order, expected,
          this->Source.X.size(), this->Source.Y.size(), offset),
      swapped ? fmt::format("a {}-endian record", other) : fmt::format("the number {}", *marker),
      swapped
          ? fmt::format("Write OPTIONS {}_endian into {}", other, this->Source.Path)
          : fmt::format("Check XDEF, YDEF, VARS, headers and OPTIONS sequential in {}", this->Source.Path));
}

Locator::Part Locator::PartOf(const PatchVariable& request) const
{
  const Patch& patch = this->Data.Patches[request.Patch];
  const Box nodes = this->Data.NodesOf(patch.Level, patch.Cells);
  Part part;
  part.Where = MemberVariableOf(this->Source, request.Variable);
  part.Levels = this->Source.Variables[part.Where.Variable].Fields();
  if (!IsFlat(this->Source, this->Source.Variables[part.Where.Variable])) {
    part.FirstLevel = nodes.Lower[2];
    part.LevelCount = nodes.Width(2);
  }
  part.FirstRow = nodes.Lower[1];
  part.RowCount = nodes.Width(1);
  part.Columns = nodes.Width(0);
  return part;
}

/// Returns the offset of a row in the file; `level` and `row` are numbers in the order of display.
std::int64_t Locator::RowOffset(const Part& part, std::int64_t level, std::int64_t row) const
{
  const std::int64_t rows = static_cast<std::int64_t>(this->Source.Y.size());
  const std::int64_t storedLevel = this->Source.LevelsReversed ? part.Levels - 1 - level : level;
  const std::int64_t storedRow = this->Source.RowsReversed ? rows - 1 - row : row;
  return this->Layout.Offset(this->Place, part.Where.Member, part.Where.Variable, storedLevel) +
         storedRow * part.Columns * static_cast<std::int64_t>(SizeOf(this->Source.Type));
}

/// Returns whether all values of the part are contiguous, in the order of the array.
bool Locator::IsOnePiece(const Part& part) const
{
  const bool rows = !this->Source.RowsReversed || part.RowCount == 1;
  const bool all = part.RowCount == static_cast<std::int64_t>(this->Source.Y.size());
  const bool levels = all && !this->Source.LevelsReversed &&
                      part.FirstLevel + part.LevelCount <= part.Levels &&
                      this->Layout.FieldStride() == this->Source.FieldBytes();
  return rows && (part.LevelCount == 1 ? part.FirstLevel < part.Levels : levels);
}

void Locator::CheckInside(const Part& part, const KnownFile& file) const
{
  const std::int64_t stored = std::min(part.FirstLevel + part.LevelCount, part.Levels);
  for (std::int64_t level = part.FirstLevel; level < stored; ++level) {
    const std::int64_t storedLevel = this->Source.LevelsReversed ? part.Levels - 1 - level : level;
    const std::int64_t end =
        this->Layout.Offset(this->Place, part.Where.Member, part.Where.Variable, storedLevel) +
        this->Source.FieldBytes();
    if (end > file.Bytes) {
      throw FileError(this->Table.Files[file.Number],
          fmt::format("at least {} bytes, for level {} of '{}' at {}", end, level + 1,
              this->Source.Variables[part.Where.Variable].Name, this->Data.Date),
          fmt::format("{}", file.Bytes),
          "The file is truncated or still being written, or does not match " + this->Source.Path);
    }
  }
}

Location Locator::OnePiece(const Part& part, int file)
{
  ByteRange byteRange;
  byteRange.Offset = static_cast<std::uint64_t>(this->RowOffset(part, part.FirstLevel, part.FirstRow));
  byteRange.Type = this->Source.Type;
  byteRange.Bytes =
      static_cast<std::uint64_t>(part.LevelCount * part.RowCount * part.Columns) * SizeOf(byteRange.Type);
  byteRange.BigEndian = this->Source.BigEndian;
  byteRange.File = file;
  this->Table.ByteRanges.push_back(byteRange);
  return MakeLocation(Encoding::Raw, this->Table.ByteRanges.size() - 1, 1);
}

/// Adds a chunk for each contiguous piece: the rows of a level. The last row of a patch, which is also the
/// first row of the next patch, is a separate chunk, so that a rank with both patches reads that row once.
Location Locator::Rows(const Part& part, int file)
{
  const bool shared =
      part.RowCount > 1 && part.FirstRow + part.RowCount < static_cast<std::int64_t>(this->Source.Y.size());
  const std::int64_t rows = this->Source.RowsReversed ? 1 : part.RowCount - (shared ? 1 : 0);
  const std::int64_t rowBytes = part.Columns * static_cast<std::int64_t>(SizeOf(this->Source.Type));
  ChunkedArray array;
  array.File = file;
  array.Type = this->Source.Type;
  array.BigEndian = this->Source.BigEndian;
  array.Rank = 3;
  array.Dims = {static_cast<std::uint64_t>(part.LevelCount), static_cast<std::uint64_t>(part.RowCount),
      static_cast<std::uint64_t>(part.Columns), 0};
  array.ChunkDims = {1, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(part.Columns), 0};
  array.Count = array.Dims[0] * array.Dims[1] * array.Dims[2];
  if (array.Type == ElementType::Float32) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(&array.Fill, &none, sizeof(none));
  }
  array.FirstChunk = this->Table.Chunks.size();
  std::uint64_t number = 0;
  for (std::int64_t level = part.FirstLevel; level < part.FirstLevel + part.LevelCount; ++level) {
    for (std::int64_t row = 0; row < part.RowCount; row += rows) {
      Chunk chunk;
      chunk.Number = number++;
      if (level < part.Levels) {
        chunk.Offset = static_cast<std::uint64_t>(this->RowOffset(part, level, part.FirstRow + row));
        chunk.Bytes = static_cast<std::uint32_t>(std::min(rows, part.RowCount - row) * rowBytes);
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

#include "Store/IndexShard.h"

#include "Store/IrregularLocations.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace patchio {

/// A table of the files of rows. A run consists of consecutive rows whose values lie in the same file.
struct IndexShardBuilder::Runs
{
  std::vector<std::uint32_t> Begins;  ///< first row of each run
  std::vector<std::uint32_t> Files;

  /// Makes the table. `fileOfRow`: number of the file of each row.
  explicit Runs(const std::vector<std::uint32_t>& fileOfRow)
  {
    for (std::size_t row = 0; row < fileOfRow.size(); ++row) {
      if (this->Files.empty() || this->Files.back() != fileOfRow[row]) {
        this->Begins.push_back(static_cast<std::uint32_t>(row));
        this->Files.push_back(fileOfRow[row]);
      }
    }
  }
  bool operator==(const Runs& other) const
  {
    return this->Begins == other.Begins && this->Files == other.Files;
  }
};

RowOrder::RowOrder(const Catalog& catalog)
{
  const std::vector<Patch>& patches = catalog.Patches;
  const auto byFile = [](const Patch& a, const Patch& b) { return a.File < b.File; };
  if (std::is_sorted(patches.begin(), patches.end(), byFile)) {
    return;
  }
  std::vector<std::uint64_t> keys(patches.size());
  for (std::size_t p = 0; p < patches.size(); ++p) {
    keys[p] = std::uint64_t(static_cast<std::uint32_t>(patches[p].File)) << 32 | p;
  }
  std::sort(keys.begin(), keys.end());
  this->Rows.resize(patches.size());
  for (std::size_t row = 0; row < keys.size(); ++row) {
    this->Rows[keys[row] & 0xffffffffu] = static_cast<std::uint32_t>(row);
  }
}

std::vector<int> RowOrder::PatchesOf(std::uint64_t first, std::uint64_t count) const
{
  std::vector<int> patches(count);
  if (this->Rows.empty()) {
    std::iota(patches.begin(), patches.end(), static_cast<int>(first));
    return patches;
  }
  for (std::size_t p = 0; p < this->Rows.size(); ++p) {
    if (this->Rows[p] >= first && this->Rows[p] - first < count) {
      patches[this->Rows[p] - first] = static_cast<int>(p);
    }
  }
  return patches;
}

IndexShardBuilder::IndexShardBuilder(
    const Catalog& catalog, const RowOrder& order, std::uint64_t firstRow, std::uint64_t rows)
    : Data(catalog),
      FirstRow(firstRow),
      Patches(order.PatchesOf(firstRow, rows)),
      Columns(catalog.Variables.size())
{
}

std::vector<PatchVariable> IndexShardBuilder::Requests(std::uint64_t first, std::uint64_t count) const
{
  const int variables = static_cast<int>(this->Columns.size());
  std::vector<PatchVariable> requests;
  requests.reserve(count * variables);
  for (std::uint64_t row = first; row < first + count; ++row) {
    for (int v = 0; v < variables; ++v) {
      requests.push_back({this->Patches[row], v});
    }
  }
  return requests;
}

void IndexShardBuilder::Add(std::uint64_t first, const LocationTable& table)
{
  const std::size_t variables = this->Columns.size();
  this->TableFiles.clear();
  for (const std::string& name : table.Files) {
    this->TableFiles.push_back(this->FilePosition(name));
  }
  for (std::size_t i = 0; i < table.Locations.size(); ++i) {
    this->AddLocation(first + i / variables, static_cast<int>(i % variables), table, table.Locations[i]);
  }
}

/// Returns the position of `name` in FileNames, to which new names are appended.
std::uint32_t IndexShardBuilder::FilePosition(const std::string& name)
{
  const auto number = static_cast<std::uint32_t>(this->FileNames.size());
  const auto [known, isNew] = this->FilePositions.emplace(name, number);
  if (!isNew) {
    return known->second;
  }
  this->FileNames.push_back(name);
  return number;
}

/// Adds a location unless the catalog implies the location. Only counts a Missing location.
void IndexShardBuilder::AddLocation(
    std::uint64_t row, int variable, const LocationTable& table, const Location& location)
{
  const Presence presence = this->Data.PresenceOf(variable, this->Patches[row]);
  const Location byCatalog = ImpliedLocation(presence);
  const bool implied =
      presence != Presence::Stored && location.Kind == byCatalog.Kind && location.Value == byCatalog.Value;
  if (location.Kind == Encoding::Missing) {
    ++this->MissingValues;
  } else if (!implied && !this->AddRegular(row, variable, table, location)) {
    this->AddIrregular(row, variable, table, location);
  }
}

/// Adds a regular location (see ColumnHead) to the column of the variable. Returns false for any other
/// location.
bool IndexShardBuilder::AddRegular(
    std::uint64_t row, int variable, const LocationTable& table, const Location& location)
{
  const auto components = static_cast<std::uint32_t>(this->Data.Variables[variable].StoredArrays());
  if (location.Kind != Encoding::Raw || location.Count != components) {
    return false;
  }
  const ByteRange* byteRanges = table.ByteRanges.data() + location.First;
  Column& column = this->Columns[variable];
  if (!column.Present) {
    column.Type = byteRanges[0].Type;
    column.BigEndian = byteRanges[0].BigEndian;
  }
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(this->Data.StoredValues(variable, this->Patches[row])) * SizeOf(column.Type);
  const bool regular = std::all_of(byteRanges, byteRanges + components, [&](const ByteRange& byteRange) {
    return byteRange.Bytes == bytes && byteRange.Type == column.Type &&
           byteRange.BigEndian == column.BigEndian && byteRange.File == byteRanges[0].File &&
           byteRange.Offset != NoOffset;
  });
  if (!regular) {
    return false;
  }
  if (!column.Present) {
    column.Present = true;
    column.Offsets.assign(this->Patches.size() * components, NoOffset);
    column.Files.assign(this->Patches.size(), NoFile);
  }
  for (std::uint32_t c = 0; c < components; ++c) {
    column.Offsets[row * components + c] = byteRanges[c].Offset;
  }
  column.Files[row] = this->TableFiles[byteRanges[0].File];
  return true;
}

/// Adds a location that AddRegular() refuses. Its key is row x number of columns + variable.
void IndexShardBuilder::AddIrregular(
    std::uint64_t row, int variable, const LocationTable& table, const Location& location)
{
  this->IrregularKeys.push_back(row * this->Columns.size() + variable);
  if (this->RepeatsByteRanges(table, location)) {
    // The materials of a patch may share their byte ranges.
    Location copy = location;
    copy.First = this->Irregular.Locations.back().First;
    this->Irregular.Locations.push_back(copy);
  } else {
    this->Irregular.Locations.push_back(AppendLocation(table, location, this->Irregular, this->TableFiles));
  }
}

/// Returns whether a location of sparse volume fractions has the same byte ranges as the irregular location
/// that was added last. Returns false for other locations.
bool IndexShardBuilder::RepeatsByteRanges(const LocationTable& table, const Location& location) const
{
  if (location.Kind != Encoding::SparseMaterials || this->Irregular.Locations.empty()) {
    return false;
  }
  const Location& before = this->Irregular.Locations.back();
  if (before.Kind != location.Kind || before.Count != location.Count) {
    return false;
  }
  return std::equal(table.ByteRanges.begin() + location.First,
      table.ByteRanges.begin() + location.First + location.Count,
      this->Irregular.ByteRanges.begin() + before.First, [this](const ByteRange& a, const ByteRange& b) {
        return a.Offset == b.Offset && a.Bytes == b.Bytes &&
               this->TableFiles[a.File] == static_cast<std::uint32_t>(b.File) && a.Type == b.Type &&
               a.BigEndian == b.BigEndian;
      });
}

/// Returns the file of each row, as a position in FileNames: the file of the first regular location of the
/// row. A row without regular locations gets the file of the preceding row; the first rows get 0.
std::vector<std::uint32_t> IndexShardBuilder::FilesOfRows() const
{
  std::vector<std::uint32_t> files(this->Patches.size(), NoFile);
  for (const Column& column : this->Columns) {
    for (std::size_t row = 0; row < column.Files.size(); ++row) {
      files[row] = files[row] == NoFile ? column.Files[row] : files[row];
    }
  }
  std::uint32_t last = 0;
  for (std::uint32_t& file : files) {
    last = file = file == NoFile ? last : file;
  }
  return files;
}

/// Returns the heads of all columns. Appends the run tables of the columns to `tables`; equal tables are
/// appended once.
std::vector<ColumnHead> IndexShardBuilder::MakeColumnHeads(
    const std::vector<std::uint32_t>& numbers, std::vector<Runs>& tables) const
{
  const std::vector<std::uint32_t> filesOfRows = this->FilesOfRows();
  std::vector<ColumnHead> heads;
  for (std::size_t v = 0; v < this->Columns.size(); ++v) {
    const Column& column = this->Columns[v];
    ColumnHead& head = heads.emplace_back();
    head.Present = column.Present;
    head.Type = static_cast<std::uint32_t>(column.Type);
    head.BigEndian = column.BigEndian;
    head.Components = static_cast<std::uint32_t>(this->Data.Variables[v].StoredArrays());
    if (column.Present) {
      // A row without a value may name any file. With the file of the row, the tables of most columns are
      // equal.
      std::vector<std::uint32_t> files = filesOfRows;
      for (std::size_t row = 0; row < files.size(); ++row) {
        files[row] = numbers[column.Files[row] == NoFile ? files[row] : column.Files[row]];
      }
      Runs runs(files);
      const auto known = std::find(tables.begin(), tables.end(), runs);
      head.RunTable = static_cast<std::uint32_t>(known - tables.begin());
      if (known == tables.end()) {
        tables.push_back(std::move(runs));
      }
    }
  }
  return heads;
}

std::vector<std::byte> IndexShardBuilder::Finish(const std::vector<std::uint32_t>& numbers) const
{
  std::vector<Runs> tables;
  const std::vector<ColumnHead> heads = this->MakeColumnHeads(numbers, tables);
  std::size_t offsets = 0;
  for (const Column& column : this->Columns) {
    offsets += column.Offsets.size();
  }
  ShardWriter out;
  out.Reserve(offsets * sizeof(std::uint64_t) + heads.size() * sizeof(ColumnHead) + 4096);
  const ShardHead head{this->FirstRow, this->Patches.size(), this->Columns.size(), tables.size()};
  out.Append(&head, 1);
  out.Append(heads.data(), heads.size());
  for (const Runs& runs : tables) {
    const std::uint64_t count = runs.Begins.size();
    out.Append(&count, 1);
    out.Append(runs.Begins.data(), count);
    out.Append(runs.Files.data(), count);
  }
  for (const Column& column : this->Columns) {
    out.Append(column.Offsets.data(), column.Offsets.size());
  }
  AppendIrregularLocations(out, this->IrregularKeys, this->Irregular, numbers);
  return out.Finish();
}

}  // namespace patchio

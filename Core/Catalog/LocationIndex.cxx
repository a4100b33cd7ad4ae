#include "Catalog/LocationIndex.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <numeric>

namespace patchio {
namespace {

constexpr std::uint64_t NoOffset = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t NoFile = std::numeric_limits<std::uint32_t>::max();

/// What a shard begins with.
struct ShardHead
{
  std::uint64_t FirstRow = 0;
  std::uint64_t Rows = 0;
  std::uint64_t Variables = 0;
  std::uint64_t RunTables = 0;
};

/// Then one of these for each variable.
struct ColumnHead
{
  std::uint32_t Present = 0;
  std::uint32_t Type = 0;
  std::uint32_t BigEndian = 0;
  std::uint32_t Components = 0;
  std::uint32_t RunTable = 0;
  std::uint32_t Unused = 0;
};

/// Then the run tables: a count, first rows, files. Then the offsets of the columns that are present. Then
/// the irregular entries, see IrregularLocations.
using Runs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

constexpr Requirement Require = RequireOfIndex;

/// One run for each stretch of rows in the same file.
Runs RunsOf(const std::vector<std::uint32_t>& files)
{
  Runs runs;
  for (std::size_t row = 0; row < files.size(); ++row) {
    if (runs.empty() || runs.back().second != files[row]) {
      runs.emplace_back(static_cast<std::uint32_t>(row), files[row]);
    }
  }
  return runs;
}

}  // namespace

// ---- RowOrder ----

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

// ---- IndexShardBuilder ----

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
  this->Numbers.clear();
  for (const std::string& name : table.Files) {
    this->Numbers.push_back(this->FileNumber(name));
  }
  for (std::size_t i = 0; i < table.Locations.size(); ++i) {
    this->AddOne(first + i / variables, static_cast<int>(i % variables), table, table.Locations[i]);
  }
}

std::uint32_t IndexShardBuilder::FileNumber(const std::string& name)
{
  const auto number = static_cast<std::uint32_t>(this->FileNames.size());
  const auto [known, isNew] = this->Known.emplace(name, number);
  if (!isNew) {
    return known->second;
  }
  this->FileNames.push_back(name);
  return number;
}

void IndexShardBuilder::AddOne(
    std::uint64_t row, int variable, const LocationTable& table, const Location& location)
{
  const Presence presence = this->Data.PresenceOf(variable, this->Patches[row]);
  const bool implied =
      (location.Kind == Encoding::Absent && presence == Presence::Absent) ||
      (location.Kind == Encoding::Constant && presence == Presence::Zero && location.Value == 0) ||
      (location.Kind == Encoding::Constant && presence == Presence::One && location.Value == 1);
  if (location.Kind == Encoding::Missing) {
    ++this->MissingCount;
  } else if (!implied && !this->AddRegular(row, variable, table, location)) {
    this->AddIrregular(row, variable, table, location);
  }
}

bool IndexShardBuilder::AddRegular(
    std::uint64_t row, int variable, const LocationTable& table, const Location& location)
{
  const auto components = static_cast<std::uint32_t>(this->Data.Variables[variable].Components);
  if (location.Kind != Encoding::Raw || location.Count != components) {
    return false;
  }
  const Extent* extents = table.Extents.data() + location.First;
  Column& column = this->Columns[variable];
  if (!column.Present) {
    column.Type = extents[0].Type;
    column.BigEndian = extents[0].BigEndian;
  }
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(this->Data.StoredTuples(variable, this->Patches[row])) * SizeOf(column.Type);
  const bool regular = std::all_of(extents, extents + components, [&](const Extent& extent) {
    return extent.Bytes == bytes && extent.Type == column.Type && extent.BigEndian == column.BigEndian &&
           extent.File == extents[0].File && extent.Offset != NoOffset;
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
    column.Offsets[row * components + c] = extents[c].Offset;
  }
  column.Files[row] = this->Numbers[extents[0].File];
  return true;
}

void IndexShardBuilder::AddIrregular(
    std::uint64_t row, int variable, const LocationTable& table, const Location& location)
{
  this->IrregularKeys.push_back(row * this->Columns.size() + variable);
  if (this->SameExtentsAsBefore(table, location)) {
    // All materials of a patch have the same lists.
    Location copy = location;
    copy.First = this->Irregular.Locations.back().First;
    this->Irregular.Locations.push_back(copy);
  } else {
    this->Irregular.Locations.push_back(AppendLocation(table, location, this->Irregular, this->Numbers));
  }
}

bool IndexShardBuilder::SameExtentsAsBefore(const LocationTable& table, const Location& location) const
{
  if (location.Kind != Encoding::SparseMaterials || this->Irregular.Locations.empty()) {
    return false;
  }
  const Location& before = this->Irregular.Locations.back();
  if (before.Kind != location.Kind || before.Count != location.Count) {
    return false;
  }
  return std::equal(table.Extents.begin() + location.First,
      table.Extents.begin() + location.First + location.Count, this->Irregular.Extents.begin() + before.First,
      [this](const Extent& a, const Extent& b) {
        return a.Offset == b.Offset && a.Bytes == b.Bytes &&
               this->Numbers[a.File] == static_cast<std::uint32_t>(b.File) && a.Type == b.Type &&
               a.BigEndian == b.BigEndian;
      });
}

/// Per row, the file of its first ordinary entry; rows without one are counted to their neighbours' file.
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

std::vector<std::byte> IndexShardBuilder::Finish(const std::vector<std::uint32_t>& numbers) const
{
  const std::vector<std::uint32_t> ofRows = this->FilesOfRows();
  std::vector<Runs> tables;
  std::vector<ColumnHead> heads;
  std::size_t offsets = 0;
  for (std::size_t v = 0; v < this->Columns.size(); ++v) {
    const Column& column = this->Columns[v];
    ColumnHead& head = heads.emplace_back();
    head.Present = column.Present;
    head.Type = static_cast<std::uint32_t>(column.Type);
    head.BigEndian = column.BigEndian;
    head.Components = static_cast<std::uint32_t>(this->Data.Variables[v].Components);
    if (column.Present) {
      // Where a column has nothing, any file will do: that of the row keeps the tables of all columns equal.
      std::vector<std::uint32_t> files = ofRows;
      for (std::size_t row = 0; row < files.size(); ++row) {
        files[row] = numbers[column.Files[row] == NoFile ? files[row] : column.Files[row]];
      }
      const Runs runs = RunsOf(files);
      const auto known = std::find(tables.begin(), tables.end(), runs);
      head.RunTable = static_cast<std::uint32_t>(known - tables.begin());
      if (known == tables.end()) {
        tables.push_back(runs);
      }
      offsets += column.Offsets.size();
    }
  }
  ShardWriter out;
  out.Reserve(offsets * sizeof(std::uint64_t) + heads.size() * sizeof(ColumnHead) + 4096);
  const ShardHead head{this->FirstRow, this->Patches.size(), this->Columns.size(), tables.size()};
  out.Put(&head, 1);
  out.Put(heads.data(), heads.size());
  for (const Runs& runs : tables) {
    std::vector<std::uint32_t> begins, files;
    for (const auto& [begin, file] : runs) {
      begins.push_back(begin);
      files.push_back(file);
    }
    const std::uint64_t count = runs.size();
    out.Put(&count, 1);
    out.Put(begins.data(), begins.size());
    out.Put(files.data(), files.size());
  }
  for (const Column& column : this->Columns) {
    out.Put(column.Offsets.data(), column.Offsets.size());
  }
  PutIrregularLocations(out, this->IrregularKeys, this->Irregular, numbers);
  return out.Take();
}

// ---- LocationIndex ----

LocationIndex::LocationIndex(const Catalog& catalog, std::vector<std::string> files,
    const std::vector<ShardView>& shards, std::shared_ptr<const void> memory)
    : FileNames(std::move(files)), Memory(std::move(memory)), Order(std::make_shared<RowOrder>(catalog))
{
  std::uint64_t row = 0;
  for (const ShardView& view : shards) {
    this->Shards.push_back(this->Parse(catalog, view));
    Require(this->Shards.back().FirstRow == row, "shards that do not follow each other");
    row += this->Shards.back().Rows;
    if (this->Shards.back().Rows == 0) {
      this->Shards.pop_back();  // of a rank that had nothing to do
    }
  }
  Require(row == catalog.Patches.size(), "another number of patches than its catalog");
}

LocationIndex::Shard LocationIndex::Parse(const Catalog& catalog, const ShardView& view) const
{
  ShardReader in(view);
  const ShardHead head = *in.Take<ShardHead>(1);
  Require(head.Variables == catalog.Variables.size(), "another number of variables than its catalog");
  Require(head.Rows <= catalog.Patches.size(), "another number of patches than its catalog");
  Require(head.RunTables <= head.Variables, "more tables of files than variables");
  const auto* columns = in.Take<ColumnHead>(head.Variables);
  std::vector<RunTable> tables;
  for (std::uint64_t i = 0; i < head.RunTables; ++i) {
    tables.push_back(this->ParseRuns(in, head.Rows));
  }
  Shard shard;
  shard.FirstRow = head.FirstRow;
  shard.Rows = head.Rows;
  for (std::uint64_t v = 0; v < head.Variables; ++v) {
    Column& column = shard.Columns.emplace_back();
    column.Components = columns[v].Components;
    Require(column.Components == static_cast<std::uint32_t>(catalog.Variables[v].Components),
        "a column of another number of components than its variable");
    if (columns[v].Present) {
      Require(columns[v].Type <= static_cast<std::uint32_t>(LastElementType), "a column of unknown type");
      Require(columns[v].RunTable < tables.size(), "a column without files");
      column.Type = static_cast<ElementType>(columns[v].Type);
      column.BigEndian = columns[v].BigEndian != 0;
      column.Runs = tables[columns[v].RunTable];
      column.Offsets = in.Take<std::uint64_t>(head.Rows * column.Components);
    }
  }
  shard.Irregular = IrregularLocations(in, this->FileNames.size(), head.Rows * head.Variables);
  return shard;
}

LocationIndex::RunTable LocationIndex::ParseRuns(ShardReader& in, std::uint64_t rows) const
{
  RunTable runs;
  runs.Count = *in.Take<std::uint64_t>(1);
  Require(runs.Count >= 1 && runs.Count <= rows, "a table of files without files");
  runs.Begins = in.Take<std::uint32_t>(runs.Count);
  runs.Files = in.Take<std::uint32_t>(runs.Count);
  for (std::uint64_t i = 0; i < runs.Count; ++i) {
    Require(
        i == 0 ? runs.Begins[0] == 0 : runs.Begins[i - 1] < runs.Begins[i], "a table of files out of order");
    Require(
        runs.Begins[i] < rows && runs.Files[i] < this->FileNames.size(), "a file number beyond its files");
  }
  return runs;
}

const LocationIndex::Shard& LocationIndex::ShardOf(std::uint64_t row) const
{
  const auto after = std::upper_bound(this->Shards.begin(), this->Shards.end(), row,
      [](std::uint64_t wanted, const Shard& shard) { return wanted < shard.FirstRow; });
  return *(after - 1);
}

void LocationIndex::Check(const Catalog& catalog, const std::vector<std::uint64_t>& fileBytes) const
{
  assert(fileBytes.size() == this->FileNames.size());
  for (const Shard& shard : this->Shards) {
    this->CheckShard(catalog, shard, fileBytes);
  }
}

void LocationIndex::CheckShard(
    const Catalog& catalog, const Shard& shard, const std::vector<std::uint64_t>& fileBytes) const
{
  const std::vector<int> patches = this->Order->PatchesOf(shard.FirstRow, shard.Rows);
  const std::size_t variables = shard.Columns.size();
  for (std::size_t v = 0; v < variables; ++v) {
    const Column& column = shard.Columns[v];
    std::uint64_t run = 0;
    for (std::uint64_t row = 0; row < shard.Rows; ++row) {
      const int patch = patches[row];
      if (!column.Offsets || column.Offsets[row * column.Components] == NoOffset) {
        Require(catalog.PresenceOf(static_cast<int>(v), patch) != Presence::Stored ||
                    shard.Irregular.Find(row * variables + v) < shard.Irregular.Size(),
            "no entry for a stored array");
        continue;
      }
      while (run + 1 < column.Runs.Count && column.Runs.Begins[run + 1] <= row) {
        ++run;
      }
      const std::uint64_t size = fileBytes[column.Runs.Files[run]];
      const std::uint64_t bytes =
          static_cast<std::uint64_t>(catalog.StoredTuples(static_cast<int>(v), patch)) * SizeOf(column.Type);
      for (std::uint32_t c = 0; c < column.Components; ++c) {
        const std::uint64_t offset = column.Offsets[row * column.Components + c];
        Require(bytes <= size && offset <= size - bytes, "bytes beyond the end of their file");
      }
    }
  }
  for (std::uint64_t i = 0; i < shard.Irregular.Size(); ++i) {
    const std::uint64_t key = shard.Irregular.KeyOf(i);
    shard.Irregular.Check(
        i, catalog, {patches[key / variables], static_cast<int>(key % variables)}, fileBytes);
  }
}

/// Carries out one Find().
class LocationIndex::Finder
{
public:
  Finder(const LocationIndex& index, const Catalog& catalog, std::size_t requests)
      : Index(index), Data(catalog)
  {
    this->Local.assign(index.FileNames.size(), NoFile);
    this->Answer.Table.Locations.reserve(requests);
    this->Answer.Table.Extents.reserve(requests);
  }

  void Add(const PatchVariable& request)
  {
    // Mostly all variables of one patch after another.
    if (request.Patch != this->Patch) {
      this->TurnTo(request.Patch);
    }
    const Column& column = this->Current->Columns[request.Variable];
    if (column.Offsets && column.Offsets[this->Row * column.Components] != NoOffset) {
      this->AddRegular(column, request);
    } else {
      this->Answer.Table.Locations.push_back(this->AddOther(this->Row, request));
    }
  }

  IndexAnswer Take() { return std::move(this->Answer); }

private:
  void TurnTo(int patch)
  {
    const std::uint64_t row = this->Index.Order->RowOf(patch);
    if (!this->Current || row < this->Current->FirstRow ||
        row - this->Current->FirstRow >= this->Current->Rows) {
      this->Current = &this->Index.ShardOf(row);
    }
    this->Row = row - this->Current->FirstRow;
    this->Patch = patch;
    this->Like = nullptr;
  }

  /// Values of one component; variables of one form have the same number.
  std::uint64_t TuplesOf(const PatchVariable& request)
  {
    const Variable& variable = this->Data.Variables[request.Variable];
    if (!this->Like || variable.Center != this->Like->Center || variable.Ghosts != this->Like->Ghosts) {
      this->Like = &variable;
      this->Tuples = static_cast<std::uint64_t>(this->Data.StoredTuples(request.Variable, request.Patch));
    }
    return this->Tuples;
  }

  std::uint32_t LocalFile(std::uint32_t file)
  {
    std::uint32_t& local = this->Local[file];
    if (local == NoFile) {
      local = static_cast<std::uint32_t>(this->Answer.Files.size());
      this->Answer.Files.push_back(file);
      this->Answer.Table.Files.push_back(this->Index.FileNames[file]);
    }
    return local;
  }

  std::uint32_t FileOf(const RunTable& runs, std::uint64_t row)
  {
    // Requests mostly come in order, and all variables of a patch from the same file.
    const bool same = this->LastRuns == runs.Begins && runs.Begins[this->LastRun] <= row &&
                      (this->LastRun + 1 == runs.Count || row < runs.Begins[this->LastRun + 1]);
    if (!same) {
      this->LastRuns = runs.Begins;
      this->LastRun = static_cast<std::uint64_t>(
          std::upper_bound(runs.Begins, runs.Begins + runs.Count, row) - runs.Begins - 1);
    }
    return runs.Files[this->LastRun];
  }

  void AddRegular(const Column& column, const PatchVariable& request)
  {
    std::vector<Extent>& extents = this->Answer.Table.Extents;
    Location location;
    location.Kind = Encoding::Raw;
    location.First = static_cast<std::uint32_t>(extents.size());
    location.Count = column.Components;
    this->Answer.Table.Locations.push_back(location);
    Extent extent;
    extent.File = static_cast<int>(this->LocalFile(this->FileOf(column.Runs, this->Row)));
    extent.Bytes = this->TuplesOf(request) * SizeOf(column.Type);
    extent.Type = column.Type;
    extent.BigEndian = column.BigEndian;
    for (std::uint32_t c = 0; c < column.Components; ++c) {
      extent.Offset = column.Offsets[this->Row * column.Components + c];
      extents.push_back(extent);
    }
  }

  Location AddOther(std::uint64_t row, const PatchVariable& request)
  {
    const Shard& shard = *this->Current;
    const std::uint64_t key = row * shard.Columns.size() + request.Variable;
    const std::uint64_t irregular = shard.Irregular.Find(key);
    if (irregular < shard.Irregular.Size()) {
      return shard.Irregular.Append(
          irregular, this->Answer.Table, [this](std::uint32_t file) { return this->LocalFile(file); },
          this->Data.StepInFile);
    }
    Location location;
    const Presence presence = this->Data.PresenceOf(request.Variable, request.Patch);
    if (presence == Presence::Zero || presence == Presence::One) {
      location.Kind = Encoding::Constant;
      location.Value = presence == Presence::One ? 1.0f : 0.0f;
    } else if (presence == Presence::Stored) {
      location.Kind = Encoding::Missing;
      this->Answer.Complete = false;
    }
    return location;
  }

  const LocationIndex& Index;
  const Catalog& Data;
  const Shard* Current = nullptr;
  std::uint64_t Row = 0;  ///< in the shard at hand
  int Patch = -1;
  const Variable* Like = nullptr;  ///< whose Tuples are known for the patch at hand
  std::uint64_t Tuples = 0;
  std::vector<std::uint32_t> Local;  ///< per file of the index, its number in the answer
  const std::uint32_t* LastRuns = nullptr;
  std::uint64_t LastRun = 0;
  IndexAnswer Answer;
};

IndexAnswer LocationIndex::Find(const Catalog& catalog, const std::vector<PatchVariable>& requests) const
{
  Finder finder(*this, catalog, requests.size());
  for (const PatchVariable& request : requests) {
    finder.Add(request);
  }
  return finder.Take();
}

std::uint64_t LocationIndex::StoredBytes(const Catalog& catalog) const
{
  std::uint64_t bytes = 0;
  for (const Shard& shard : this->Shards) {
    const std::vector<int> patches = this->Order->PatchesOf(shard.FirstRow, shard.Rows);
    for (std::size_t v = 0; v < shard.Columns.size(); ++v) {
      const Column& column = shard.Columns[v];
      for (std::uint64_t row = 0; column.Offsets && row < shard.Rows; ++row) {
        if (column.Offsets[row * column.Components] != NoOffset) {
          bytes += column.Components * SizeOf(column.Type) *
                   static_cast<std::uint64_t>(catalog.StoredTuples(static_cast<int>(v), patches[row]));
        }
      }
    }
    bytes += shard.Irregular.StoredBytes();
  }
  return bytes;
}

}  // namespace patchio

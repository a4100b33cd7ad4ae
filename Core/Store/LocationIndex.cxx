#include "Store/LocationIndex.h"

#include "Base/Bytes.h"
#include "Base/Text.h"
#include "Io/Progress.h"
#include "Store/IndexFileHead.h"

#include <algorithm>
#include <cassert>
#include <unordered_map>

namespace patchio {

namespace {

/// Approximate number of requests of one call of Format::Locate(): enough to open most files only once, and
/// few enough to need little memory.
constexpr std::uint64_t BatchRequests = 1 << 17;

/// Locates all variables of this rank's share of the patches. Returns a shard builder with the locations.
/// Adds the notes and the first problem to `built`. Throws Error.
std::unique_ptr<IndexShardBuilder> LocateShard(Communicator& ranks, const Format& format,
    const Catalog& catalog, int threads, const ProgressCallback& progress, BuiltIndex& built)
{
  const RowOrder order(catalog);
  const auto [begin, end] = ShareOfRank(catalog.Patches.size(), ranks.Rank(), ranks.Size());
  auto builder = std::make_unique<IndexShardBuilder>(catalog, order, begin, end - begin);
  const std::uint64_t rows = BatchRequests / std::max<std::size_t>(catalog.Variables.size(), 1) + 1;
  for (std::uint64_t row = 0; row < builder->Rows(); row += rows) {
    const std::uint64_t count = std::min(rows, builder->Rows() - row);
    LocateOptions options{threads, true};
    if (progress) {
      options.Progress = [&, row](double fraction) {
        return progress((static_cast<double>(row) + fraction * static_cast<double>(count)) /
                        static_cast<double>(builder->Rows()));
      };
    }
    const LocationTable table = format.Locate(catalog, builder->Requests(row, count), options);
    builder->Add(row, table);
    for (const std::string& note : table.Notes) {
      if (std::find(built.Notes.begin(), built.Notes.end(), note) == built.Notes.end()) {
        built.Notes.push_back(note);
      }
    }
    if (built.FirstProblem.empty() && !table.Problems.empty()) {
      built.FirstProblem = table.Problems[0].Message;
    }
  }
  return builder;
}

/// Returns the position of each of `files` in `all`, which contains them.
std::vector<std::uint32_t> PositionsOf(
    const std::vector<std::string>& files, const std::vector<std::string>& all)
{
  std::unordered_map<std::string, std::uint32_t> known;
  for (const std::string& name : all) {
    known.emplace(name, static_cast<std::uint32_t>(known.size()));
  }
  std::vector<std::uint32_t> positions;
  for (const std::string& name : files) {
    positions.push_back(known.at(name));
  }
  return positions;
}

/// Sets the fingerprints and times of all files of `built`, and VanishedFile, on all ranks. Each rank queries
/// its share of the files with `threads` threads. Collective: every rank of the communicator calls it.
void GatherFingerprints(Communicator& ranks, BuiltIndex& built, int threads)
{
  const std::vector<std::string>& files = built.Index.Index.Files();
  const auto [begin, end] = ShareOfRank(files.size(), ranks.Rank(), ranks.Size());
  std::vector<std::optional<FileState>> share;
  RunOnAllRanks(ranks, [&, begin = begin, end = end] {
    share = StatesOf({files.begin() + begin, files.begin() + end}, threads);
  });
  const std::vector<std::optional<FileState>> all = GatherValues(ranks, share);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FileState state = all[i].value_or(FileState());
    built.Index.Prints.push_back(state.Print);
    built.ChangeTimes.push_back(state.ChangeTime);
    if (!all[i]) {
      built.VanishedFile = files[i];
    }
  }
}

}  // namespace

std::string BuiltIndex::MissingText() const
{
  return CountText(this->MissingArrays, "array") + " cannot be located. " + this->FirstProblem;
}

DescribingState StateOfDescribingFile(const std::string& path)
{
  DescribingState state;
  state.Now = NowInNanoseconds();
  state.Before = StateOf(path);
  return state;
}

std::optional<BuiltIndex> BuildIndex(Communicator& ranks, const Format& format, const Catalog& catalog,
    const IndexSettings& settings, const ProgressCallback& progress)
{
  BuiltIndex built;
  std::unique_ptr<IndexShardBuilder> builder;
  const bool done = RunUnlessStopped(ranks, progress, [&](const ProgressCallback& goesOn) {
    builder = LocateShard(ranks, format, catalog, settings.Threads, goesOn, built);
  });
  if (!done) {
    return std::nullopt;
  }
  const std::vector<std::string> files = GatherTexts(ranks, builder->Files());
  std::vector<std::byte> shard;
  RunOnAllRanks(ranks, [&] { shard = builder->Finish(PositionsOf(builder->Files(), files)); });
  for (const std::uint64_t missing : GatherValues<std::uint64_t>(ranks, {builder->MissingCount()})) {
    built.MissingArrays += missing;
  }
  built.FirstProblem = FirstNonEmpty(ranks, built.FirstProblem);
  builder.reset();

  // The shards have the same alignment in memory as in the file.
  built.Lengths = GatherValues<std::uint64_t>(ranks, {shard.size()});
  std::uint64_t bytes = 0;
  for (const std::uint64_t length : built.Lengths) {
    built.Offsets.push_back(bytes);
    bytes += RoundUp(length, IndexFileHead::Alignment);
  }
  built.Index.Memory = std::make_shared<StagedMemory>(ranks, bytes, settings.Stage);
  built.Index.Memory->Gather(ranks, built.Offsets, built.Lengths, shard.data());
  shard = {};
  RunOnAllRanks(ranks, [&] {
    std::vector<ShardView> views;
    for (std::size_t r = 0; r < built.Lengths.size(); ++r) {
      views.push_back({built.Index.Memory->Data() + built.Offsets[r], built.Lengths[r]});
    }
    built.Index.Index = LocationIndex(catalog, files, views, built.Index.Memory);
  });
  GatherFingerprints(ranks, built, settings.Threads);
  return built;
}

void InvalidateRecentFingerprints(BuiltIndex& built, const DescribingState& describing, double settleSeconds)
{
  for (std::size_t i = 0; i < built.ChangeTimes.size(); ++i) {
    Fingerprint& print = built.Index.Prints[i];
    print = TrustedFingerprint(FileState{print, built.ChangeTimes[i]}, describing.Now, settleSeconds);
  }
}

LocationIndex::LocationIndex(const Catalog& catalog, std::vector<std::string> files,
    const std::vector<ShardView>& shards, std::shared_ptr<const void> memory)
    : FileNames(std::move(files)), Memory(std::move(memory)), Order(std::make_shared<RowOrder>(catalog))
{
  std::uint64_t row = 0;
  for (const ShardView& view : shards) {
    this->Shards.push_back(this->Parse(catalog, view));
    RequireInIndex(this->Shards.back().FirstRow == row, "shards out of order");
    row += this->Shards.back().Rows;
    if (this->Shards.back().Rows == 0) {
      this->Shards.pop_back();  // the shard of a rank without patches
    }
  }
  RequireInIndex(row == catalog.Patches.size(), "a wrong number of patches");
}

LocationIndex::Shard LocationIndex::Parse(const Catalog& catalog, const ShardView& view) const
{
  ShardReader in(view);
  const ShardHead head = *in.Read<ShardHead>(1);
  RequireInIndex(head.Variables == catalog.Variables.size(), "a wrong number of variables");
  RequireInIndex(head.Rows <= catalog.Patches.size(), "a wrong number of patches");
  RequireInIndex(head.RunTables <= head.Variables, "more tables of files than variables");
  const auto* columns = in.Read<ColumnHead>(head.Variables);
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
    RequireInIndex(column.Components == static_cast<std::uint32_t>(catalog.Variables[v].StoredArrays()),
        "a wrong number of components for a variable");
    if (columns[v].Present) {
      RequireInIndex(
          columns[v].Type <= static_cast<std::uint32_t>(LastElementType), "a column with an unknown type");
      RequireInIndex(columns[v].RunTable < tables.size(), "a column without files");
      column.Type = static_cast<ElementType>(columns[v].Type);
      column.BigEndian = columns[v].BigEndian != 0;
      column.Runs = tables[columns[v].RunTable];
      column.Offsets = in.Read<std::uint64_t>(head.Rows * column.Components);
    }
  }
  shard.Irregular = IrregularLocations(in, this->FileNames.size(), head.Rows * head.Variables);
  return shard;
}

LocationIndex::RunTable LocationIndex::ParseRuns(ShardReader& in, std::uint64_t rows) const
{
  RunTable runs;
  runs.Count = *in.Read<std::uint64_t>(1);
  RequireInIndex(runs.Count >= 1 && runs.Count <= rows, "a table of files with a wrong length");
  runs.Begins = in.Read<std::uint32_t>(runs.Count);
  runs.Files = in.Read<std::uint32_t>(runs.Count);
  for (std::uint64_t i = 0; i < runs.Count; ++i) {
    RequireInIndex(
        i == 0 ? runs.Begins[0] == 0 : runs.Begins[i - 1] < runs.Begins[i], "a table of files out of order");
    RequireInIndex(runs.Begins[i] < rows && runs.Files[i] < this->FileNames.size(), "an invalid file number");
  }
  return runs;
}

const LocationIndex::Shard& LocationIndex::ShardOf(std::uint64_t row) const
{
  const auto after = std::upper_bound(this->Shards.begin(), this->Shards.end(), row,
      [](std::uint64_t value, const Shard& shard) { return value < shard.FirstRow; });
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
        RequireInIndex(catalog.PresenceOf(static_cast<int>(v), patch) != Presence::Stored ||
                           shard.Irregular.Find(row * variables + v) < shard.Irregular.Size(),
            "no entry for a stored array");
        continue;
      }
      while (run + 1 < column.Runs.Count && column.Runs.Begins[run + 1] <= row) {
        ++run;
      }
      const std::uint64_t size = fileBytes[column.Runs.Files[run]];
      const std::uint64_t bytes =
          static_cast<std::uint64_t>(catalog.StoredValues(static_cast<int>(v), patch)) * SizeOf(column.Type);
      for (std::uint32_t c = 0; c < column.Components; ++c) {
        const std::uint64_t offset = column.Offsets[row * column.Components + c];
        RequireInIndex(bytes <= size && offset <= size - bytes, "bytes after the end of their file");
      }
    }
  }
  for (std::uint64_t i = 0; i < shard.Irregular.Size(); ++i) {
    const std::uint64_t key = shard.Irregular.KeyOf(i);
    shard.Irregular.Check(
        i, catalog, {patches[key / variables], static_cast<int>(key % variables)}, fileBytes);
  }
}

/// A call of Find(): collects the locations of the requests.
class LocationIndex::Finder
{
public:
  Finder(const LocationIndex& index, const Catalog& catalog, std::size_t requests)
      : Index(index), Data(catalog)
  {
    this->AnswerNumbers.assign(index.FileNames.size(), NoFile);
    this->Answer.Table.Locations.reserve(requests);
    this->Answer.Table.ByteRanges.reserve(requests);
  }

  void Add(const PatchVariable& request)
  {
    // Requests of the same patch usually follow each other.
    if (request.Patch != this->Patch) {
      this->SetPatch(request.Patch);
    }
    const Column& column = this->Current->Columns[request.Variable];
    if (column.Offsets && column.Offsets[this->Row * column.Components] != NoOffset) {
      this->AddRegular(column, request);
    } else {
      this->Answer.Table.Locations.push_back(this->FindIrregular(request));
    }
  }

  IndexAnswer Finish() { return std::move(this->Answer); }

private:
  void SetPatch(int patch)
  {
    const std::uint64_t row = this->Index.Order->RowOf(patch);
    if (!this->Current || row < this->Current->FirstRow ||
        row - this->Current->FirstRow >= this->Current->Rows) {
      this->Current = &this->Index.ShardOf(row);
    }
    this->Row = row - this->Current->FirstRow;
    this->Patch = patch;
    this->SameShape = nullptr;
  }

  /// Returns the number of values of a stored array. Variables of the same shape have the same number of
  /// values on a patch, so this method reuses the last number for them.
  std::uint64_t ValueCount(const PatchVariable& request)
  {
    const Variable& variable = this->Data.Variables[request.Variable];
    if (!this->SameShape || variable.Center != this->SameShape->Center ||
        variable.Ghosts != this->SameShape->Ghosts || variable.Interleaved || this->SameShape->Interleaved ||
        this->Data.IsMesh()) {
      this->SameShape = &variable;
      this->Values = static_cast<std::uint64_t>(this->Data.StoredValues(request.Variable, request.Patch));
    }
    return this->Values;
  }

  /// Returns the number of a file of the index in the answer. Adds the file to the answer if necessary.
  std::uint32_t AddAnswerFile(std::uint32_t file)
  {
    std::uint32_t& local = this->AnswerNumbers[file];
    if (local == NoFile) {
      local = static_cast<std::uint32_t>(this->Answer.Files.size());
      this->Answer.Files.push_back(file);
      this->Answer.Table.Files.push_back(this->Index.FileNames[file]);
    }
    return local;
  }

  /// Returns the file of the current row.
  std::uint32_t FileOf(const RunTable& runs)
  {
    // Requests usually come in the order of rows, and all variables of a patch lie in the same file.
    const bool same = this->LastRuns == runs.Begins && runs.Begins[this->LastRun] <= this->Row &&
                      (this->LastRun + 1 == runs.Count || this->Row < runs.Begins[this->LastRun + 1]);
    if (!same) {
      this->LastRuns = runs.Begins;
      this->LastRun = static_cast<std::uint64_t>(
          std::upper_bound(runs.Begins, runs.Begins + runs.Count, this->Row) - runs.Begins - 1);
    }
    return runs.Files[this->LastRun];
  }

  void AddRegular(const Column& column, const PatchVariable& request)
  {
    std::vector<ByteRange>& byteRanges = this->Answer.Table.ByteRanges;
    this->Answer.Table.Locations.push_back(MakeLocation(Encoding::Raw, byteRanges.size(), column.Components));
    ByteRange byteRange;
    byteRange.File = static_cast<int>(this->AddAnswerFile(this->FileOf(column.Runs)));
    byteRange.Bytes = this->ValueCount(request) * SizeOf(column.Type);
    byteRange.Type = column.Type;
    byteRange.BigEndian = column.BigEndian;
    for (std::uint32_t c = 0; c < column.Components; ++c) {
      byteRange.Offset = column.Offsets[this->Row * column.Components + c];
      byteRanges.push_back(byteRange);
    }
  }

  /// Returns the location of a value without a regular location: an irregular location, or the location that
  /// the catalog implies. If the index lacks the value, returns a Missing location, and the answer is not
  /// Complete.
  Location FindIrregular(const PatchVariable& request)
  {
    const Shard& shard = *this->Current;
    const std::uint64_t key = this->Row * shard.Columns.size() + request.Variable;
    const std::uint64_t irregular = shard.Irregular.Find(key);
    if (irregular < shard.Irregular.Size()) {
      return shard.Irregular.Append(
          irregular, this->Answer.Table, [this](std::uint32_t file) { return this->AddAnswerFile(file); },
          this->Data.StepInFile);
    }
    const Presence presence = this->Data.PresenceOf(request.Variable, request.Patch);
    if (presence == Presence::Stored) {
      this->Answer.Complete = false;
      return MakeLocation(Encoding::Missing, 0, 0);
    }
    return ImpliedLocation(presence);
  }

  const LocationIndex& Index;
  const Catalog& Data;
  const Shard* Current = nullptr;
  std::uint64_t Row = 0;  ///< row in the current shard
  int Patch = -1;
  const Variable* SameShape = nullptr;  ///< a variable that has Values values on the current patch
  std::uint64_t Values = 0;
  std::vector<std::uint32_t> AnswerNumbers;  ///< number of each file of the index in the answer, or NoFile
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
  return finder.Finish();
}

}  // namespace patchio

#include "Store/StepIndexFile.h"

#include "Base/Bytes.h"
#include "Base/File.h"
#include "Catalog/CheckCatalog.h"
#include "Store/StepParts.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace patchio {

namespace {

/// Runs `work`, which must not communicate. If `work` fails on any rank, throws IndexFileError with the fault
/// of the first rank that failed, on all ranks. Of other exceptions, std::bad_alloc becomes
/// FileFault::Unreadable, and any other exception becomes FileFault::Corrupted.
/// Collective: every rank of the communicator calls it.
void RunAndShareFault(Communicator& ranks, const std::function<void()>& work)
{
  std::string text;
  const auto setFault = [&text](FileFault fault, const char* message) {
    text = std::string(1, static_cast<char>('0' + static_cast<int>(fault))) + message;
  };
  try {
    work();
  } catch (const IndexFileError& error) {
    setFault(error.Fault, error.what());
  } catch (const std::bad_alloc&) {
    setFault(FileFault::Unreadable, "The index file is too large for the free memory.");
  } catch (const std::exception& error) {
    setFault(FileFault::Corrupted, error.what());
  }
  if (!AllOf(ranks, text.empty())) {
    const std::string fault = FirstNonEmpty(ranks, text);
    throw IndexFileError(static_cast<FileFault>(fault[0] - '0'), fault.substr(1));
  }
}

/// Throws IndexFileError if `head` does not belong to the describing file `path`, or if the describing file
/// has changed.
void CheckHead(const StepIndexHead& head, const std::string& path, const IndexFilePath& indexFile)
{
  const auto state = StateOf(path);
  const bool belongs = indexFile.NextToData ? head.Path.empty() : head.Path == AbsolutePath(path);
  if (!belongs || !state || state->Print != head.DescribingPrint) {
    throw IndexFileError(FileFault::Stale,
        fmt::format("{}: the index file is outdated, because {} has changed or is another file.",
            indexFile.Path, path));
  }
}

/// An index file, open on rank 0, with the table and the parts that rank 0 reads.
struct Rank0Parts
{
  std::unique_ptr<PlainFile> File;
  IndexFileHead Table;
  std::vector<std::byte> Head, Description;
};

/// Reads and checks the table and the parts of rank 0. Throws Error if the index file cannot be used. Not
/// collective.
Rank0Parts ReadRank0Parts(const std::string& path, const IndexFilePath& indexFile)
{
  Rank0Parts parts;
  parts.File = OpenIndexFile(indexFile.Path);
  parts.Table = IndexFileHead::Read(*parts.File);
  parts.Head = parts.Table.ReadPart(*parts.File, 0);
  const StepIndexHead head = DecodeHead(parts.Head);
  CheckHead(head, path, indexFile);
  if (head.FormatName != FormatOf(path).Name()) {
    throw IndexFileError(
        FileFault::Stale, fmt::format("{}: the index file belongs to another format.", indexFile.Path));
  }
  parts.Description = parts.Table.ReadPart(*parts.File, 1);
  return parts;
}

/// Broadcasts the table and the description from rank 0. Throws Error, the same on all ranks. Collective:
/// every rank of the communicator calls it.
void BroadcastParts(Communicator& ranks, Rank0Parts& parts)
{
  if (ranks.Size() == 1) {
    return;
  }
  const std::vector<std::byte> message = ProduceOnRankZero(ranks, [&parts] {
    ByteWriter out;
    out.Append(parts.Table.Parts());
    out.Append(parts.Description);
    return out.Release();
  });
  RunOnAllRanks(ranks, [&] {
    ByteReader in(message);
    std::vector<PartEntry> entries;
    in.Get(entries);
    in.Get(parts.Description);
    parts.Table = IndexFileHead(entries);
  });
}

/// Compares the fingerprints of this rank's share of the files. Throws IndexFileError if a file has changed.
/// Not collective.
void CheckFiles(
    Communicator& ranks, const StepDescription& description, const IndexFilePath& indexFile, int threads)
{
  const auto [begin, end] = ShareOfRank(description.Files.size(), ranks.Rank(), ranks.Size());
  const std::vector<std::string> files(description.Files.begin() + begin, description.Files.begin() + end);
  const auto states = StatesOf(files, threads);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!states[i] || states[i]->Print != description.Prints[begin + i]) {
      throw IndexFileError(FileFault::Stale,
          fmt::format("{}: the index file is outdated, because {} has changed.", indexFile.Path, files[i]));
    }
  }
}

/// Compares the checksums of this rank's share of the shards. Throws IndexFileError if a shard is damaged.
/// Not collective.
void CheckShards(const IndexFileHead& table, const StagedMemory& memory, const IndexFilePath& indexFile)
{
  for (std::size_t s = memory.Sharer(); s < table.ShardCount(); s += memory.Sharers()) {
    const PartEntry& entry = table.ShardEntry(s);
    if (Checksum(memory.Data() + (entry.Offset - table.ShardBegin()), entry.Length) != entry.Checksum) {
      throw IndexFileError(FileFault::Corrupted,
          fmt::format("{}: part {} is damaged.", indexFile.Path, IndexFileHead::HeadParts + s));
    }
  }
}

/// Makes the index of the shards in `memory`, and checks the index. Throws Error if the index is damaged.
LocationIndex MakeIndex(const StepDescription& description, const IndexFileHead& table,
    const std::shared_ptr<StagedMemory>& memory)
{
  std::vector<ShardView> shards;
  for (std::size_t s = 0; s < table.ShardCount(); ++s) {
    const PartEntry& entry = table.ShardEntry(s);
    shards.push_back({memory->Data() + (entry.Offset - table.ShardBegin()), entry.Length});
  }
  LocationIndex index(description.Data, description.Files, shards, memory);
  std::vector<std::uint64_t> sizes;
  for (const Fingerprint& print : description.Prints) {
    sizes.push_back(print.Size);
  }
  index.Check(description.Data, sizes);
  return index;
}

/// Reads and checks an index file of the step that `path` describes. Throws Error, the same on all ranks, if
/// the index file cannot be used. Collective: every rank of the communicator calls it.
StepIndexFile LoadIndexFile(Communicator& ranks, const std::string& path, const IndexFilePath& indexFile,
    const IndexSettings& settings)
{
  Rank0Parts parts;
  RunAndShareFault(ranks, [&] {
    if (ranks.Rank() == 0) {
      parts = ReadRank0Parts(path, indexFile);
    }
  });
  BroadcastParts(ranks, parts);
  StepIndexFile result;
  StepDescription description;
  RunAndShareFault(ranks, [&] { description = DecodeDescription(parts.Description, path); });
  RunAndShareFault(ranks, [&] { CheckFiles(ranks, description, indexFile, settings.Threads); });
  parts.Description = {};

  const IndexFileHead& table = parts.Table;
  std::shared_ptr<StagedMemory> memory;
  try {
    memory = std::make_shared<StagedMemory>(ranks, table.ShardBytes(), settings.Stage);
    memory->Load(ranks, parts.File.get(), indexFile.Path, table.ShardBegin());
  } catch (const Error& error) {
    throw IndexFileError(FileFault::Unreadable, error.what());  // all ranks have the same error
  }
  RunAndShareFault(ranks, [&] { CheckShards(table, *memory, indexFile); });
  RunAndShareFault(ranks, [&] { result.Index.Index = MakeIndex(description, table, memory); });
  result.Data = std::move(description.Data);
  result.Index.Prints = std::move(description.Prints);
  result.Index.Memory = memory;
  result.Path = indexFile.Path;
  result.Bytes = table.FileBytes();
  return result;
}

/// Greatest number of attempts to read an index file. An index file can look damaged because another program
/// replaces the file during the read.
constexpr int MostAttempts = 10;

/// Returns whether an index file has changed since rank 0 found the state `before`. Collective: every rank
/// of the communicator calls it.
bool WasReplaced(Communicator& ranks, const IndexFilePath& indexFile, const std::optional<FileState>& before)
{
  const auto now = StateOf(indexFile.Path);
  const bool same = before.has_value() == now.has_value() && (!now || now->Print == before->Print);
  return !AllOf(ranks, same || ranks.Rank() != 0);
}

}  // namespace

std::string MessageFor(const IndexFilePath& indexFile, const std::exception& error)
{
  const std::string text = error.what();
  return text.find(indexFile.Path) == std::string::npos ? indexFile.Path + ": " + text : text;
}

std::string WarningAbout(const std::vector<RejectedIndexFile>& rejected, bool found)
{
  std::string text;
  for (const RejectedIndexFile& state : rejected) {
    // An index file that can neither be read nor replaced must not cause a warning at each open if PatchIO
    // uses another index file.
    const bool replaced = state.Fault == FileFault::Unreadable && found;
    if (NeedsWarning(state.Fault) && !replaced) {
      AppendText(text, fmt::format("{} PatchIO ignores this index file.", state.Message));
    }
  }
  return text;
}

IndexFileSearch FindStepIndexFile(Communicator& ranks, const std::string& path, const IndexSettings& settings)
{
  IndexFileSearch search;
  for (const IndexFilePath& indexFile : SharedIndexFilePathsFor(ranks, path)) {
    RejectedIndexFile state{indexFile, FileFault::Absent, ""};
    for (int attempt = 0; attempt < MostAttempts; ++attempt) {
      const auto before = StateOf(indexFile.Path);
      try {
        search.Found = LoadIndexFile(ranks, path, indexFile, settings);
        return search;
      } catch (const IndexFileError& error) {
        state.Fault = error.Fault;
        state.Message = MessageFor(indexFile, error);
      } catch (const Error& error) {
        state.Fault = FileFault::Unreadable;  // all ranks have the same error
        state.Message = MessageFor(indexFile, error);
      }
      if (state.Fault != FileFault::Corrupted || !WasReplaced(ranks, indexFile, before)) {
        break;
      }
    }
    search.Rejected.push_back(state);
  }
  return search;
}

std::optional<TimeStep> HeadFromIndexFile(const std::string& path)
{
  for (const IndexFilePath& indexFile : IndexFilePathsFor(path)) {
    try {
      const std::unique_ptr<PlainFile> file = OpenIndexFile(indexFile.Path);
      const StepIndexHead head = DecodeHead(IndexFileHead::Read(*file).ReadPart(*file, 0));
      CheckHead(head, path, indexFile);
      return TimeStep{path, head.Time, head.Step};
    } catch (const std::exception&) {
      // Opening the step reports the fault of the index file later. Now, the format reads the head of the
      // step.
    }
  }
  return std::nullopt;
}

namespace {

/// Returns the reason why the index must not be saved if a file of the step changed later than
/// `settleSeconds` before `describing.Now`, and nothing otherwise.
std::optional<SaveOutcome> FindRecentChange(
    const BuiltIndex& built, const DescribingState& describing, double settleSeconds)
{
  std::int64_t youngest = describing.Before->ChangeTime;
  for (const std::int64_t changed : built.ChangeTimes) {
    youngest = std::max(youngest, changed);
  }
  const auto settle = static_cast<std::int64_t>(settleSeconds * 1e9);
  if (youngest < describing.Now - settle) {
    return std::nullopt;
  }
  SaveOutcome obstacle{"", fmt::format("a file of the step changed less than {} s ago", settleSeconds)};
  const std::int64_t now = NowInNanoseconds();
  if (youngest <= now) {
    obstacle.SecondsToWait = static_cast<double>(youngest + settle - now) * 1e-9 + 0.05;
    obstacle.SecondsToWait = std::max(obstacle.SecondsToWait, 0.0);
  } else {
    obstacle.Reason = "the modification time of a file of the step is in the future";
  }
  return obstacle;
}

/// Returns the reason why the index must not be saved, or an empty reason. Call FindObstacle() on rank 0
/// only.
SaveOutcome FindObstacle(const Catalog& catalog, const BuiltIndex& built, const DescribingState& describing,
    const IndexSettings& settings)
{
  if (built.MissingArrays > 0) {
    return {"", built.MissingText()};
  }
  const auto now = StateOf(catalog.Path);
  if (!built.VanishedFile.empty() || !describing.Before || !now || now->Print != describing.Before->Print) {
    return {"", "files of the step changed while they were read"};
  }
  if (const auto recent = FindRecentChange(built, describing, settings.SettleSeconds)) {
    return *recent;
  }
  std::vector<std::uint64_t> sizes;
  for (const Fingerprint& print : built.Index.Prints) {
    sizes.push_back(print.Size);
  }
  // It is useless to write an index that FindStepIndexFile() would reject.
  return {"", CatchError([&] {
            CheckCatalog(catalog);
            built.Index.Index.Check(catalog, sizes);
          })};
}

/// The contents of an index file, except for the bytes of the shards. The path in Head depends on the path of
/// the index file.
struct Contents
{
  StepIndexHead Head;                  ///< first part of rank 0
  std::vector<std::byte> Description;  ///< second part of rank 0, as bytes
  std::vector<PartEntry> Shards;       ///< table entries of the shards, on all ranks
};

/// Sets the parts of rank 0. Call FillContents() on rank 0 only.
void FillContents(Contents& contents, const Format& format, const Catalog& catalog, const BuiltIndex& built,
    const DescribingState& describing)
{
  contents.Head.FormatName = format.Name();
  contents.Head.DescribingPrint = describing.Before->Print;
  contents.Head.Step = catalog.Step;
  contents.Head.Time = catalog.Time;
  contents.Description = Encode(MakeDescription(catalog, built.Index.Index.Files(), built.Index.Prints));
}

/// Writes an index file at the path `indexFile`. Throws Error, the same on all ranks, if writing fails.
/// Collective: every rank of the communicator calls it.
void SaveTo(Communicator& ranks, const IndexFilePath& indexFile, const Catalog& catalog, Contents& contents,
    const BuiltIndex& built)
{
  SaveIndexFile(ranks, indexFile, [&](const std::string& temporary) {
    std::vector<std::vector<std::byte>> parts;
    std::vector<PartEntry> entries;
    RunOnRankZero(ranks, [&] {
      contents.Head.Path = indexFile.NextToData ? "" : AbsolutePath(catalog.Path);
      parts = {Encode(contents.Head), contents.Description};
      for (const auto& part : parts) {
        entries.push_back({part.size(), 0, Checksum(part.data(), part.size())});
      }
    });
    entries = GatherValues(ranks, entries);
    entries.insert(entries.end(), contents.Shards.begin(), contents.Shards.end());
    WriteIndexFile(ranks, temporary, IndexFileHead(entries), parts,
        built.Index.Memory->Data() + built.Offsets[ranks.Rank()]);
  });
}

}  // namespace

SaveOutcome SaveStepIndexFile(Communicator& ranks, const Format& format, const Catalog& catalog,
    const BuiltIndex& built, const DescribingState& describing, const IndexSettings& settings)
{
  SaveOutcome outcome;
  Contents contents;
  if (ranks.Rank() == 0) {
    const std::string fault = CatchError([&] {
      outcome = FindObstacle(catalog, built, describing, settings);
      if (outcome.Reason.empty()) {
        FillContents(contents, format, catalog, built, describing);
      }
    });
    if (!fault.empty()) {
      outcome = {"", fault};
    }
  }
  outcome.Reason = ranks.AllGather(outcome.Reason)[0];
  outcome.SecondsToWait = ranks.AllGather(std::vector<double>{outcome.SecondsToWait})[0];
  if (!outcome.Reason.empty()) {
    return outcome;
  }
  const std::uint64_t length = built.Lengths[ranks.Rank()];
  const std::byte* shard = built.Index.Memory->Data() + built.Offsets[ranks.Rank()];
  contents.Shards = GatherValues<PartEntry>(ranks, {{length, 0, Checksum(shard, length)}});
  std::vector<IndexFilePath> paths;
  try {
    paths = SharedIndexFilePathsFor(ranks, catalog.Path);
  } catch (const Error& error) {
    outcome.Reason = error.what();  // all ranks have the same error
  }
  for (const IndexFilePath& indexFile : paths) {
    if (indexFile.HasOldName) {
      continue;
    }
    try {
      SaveTo(ranks, indexFile, catalog, contents, built);
      outcome.Reason.clear();
      outcome.Path = indexFile.Path;
      return outcome;
    } catch (const Error& error) {
      AppendText(outcome.Reason, error.what(), " ");
    }
  }
  return outcome;
}

}  // namespace patchio

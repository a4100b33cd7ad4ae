#include "Store/StepIndexFile.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Catalog/CheckCatalog.h"
#include "Store/GroupedFile.h"
#include "Store/IndexFilePath.h"
#include "Store/StepParts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>

namespace patchio {

namespace {

/// Runs `work`, which must not communicate. If `work` fails on any rank, all ranks throw the fault of the
/// first rank that failed. Errors other than IndexFileError count as `others`. Collective: every rank of
/// the communicator calls it.
void Agree(Communicator& comm, FileFault others, const std::function<void()>& work)
{
  std::string text;
  const auto note = [&text](FileFault fault, const char* what) {
    text = std::string(1, static_cast<char>('0' + static_cast<int>(fault))) + what;
  };
  try {
    work();
  } catch (const IndexFileError& error) {
    note(error.Kind, error.what());
  } catch (const std::bad_alloc&) {
    note(FileFault::Unreadable, "The index file is too large for the free memory.");
  } catch (const std::exception& error) {
    note(others, error.what());
  }
  if (AllOf(comm, text.empty())) {
    return;
  }
  for (const std::string& fault : comm.AllGather(text)) {
    if (!fault.empty()) {
      throw IndexFileError(static_cast<FileFault>(fault[0] - '0'), fault.substr(1));
    }
  }
}

void CheckFits(const StepIndexHead& head, const std::string& path, const IndexFilePath& where)
{
  const auto state = StateOf(path);
  const bool belongs = where.NextToData ? head.Path.empty() : head.Path == AbsolutePath(path);
  if (!belongs || !state || state->Print != head.Described) {
    throw IndexFileError(
        FileFault::Stale, fmt::format("{}: outdated, because {} has changed.", where.Path, path));
  }
}

/// The parts that rank 0 reads and sends to the other ranks.
struct MasterParts
{
  std::unique_ptr<PlainFile> File;
  IndexFileHead Table;
  std::vector<std::byte> Head, Description;
};

MasterParts ReadMasterParts(const std::string& path, const IndexFilePath& where)
{
  MasterParts parts;
  parts.File = OpenIndexFile(where.Path);
  parts.Table = IndexFileHead::Read(*parts.File);
  parts.Head = parts.Table.ReadPart(*parts.File, 0);
  const StepIndexHead head = DecodeHead(parts.Head);
  CheckFits(head, path, where);
  if (head.FormatName != FormatOf(path).Name()) {
    throw IndexFileError(FileFault::Stale, fmt::format("{}: belongs to another format.", where.Path));
  }
  parts.Description = parts.Table.ReadPart(*parts.File, 1);
  return parts;
}

/// Sends the table and the description from rank 0 to all ranks. Throws Error, the same on all ranks.
/// Collective: every rank of the communicator calls it.
void BroadcastParts(Communicator& comm, MasterParts& parts)
{
  if (comm.Size() == 1) {
    return;
  }
  const std::vector<std::byte> message = BytesOfRankZero(comm, [&parts] {
    ByteWriter out;
    out.Put(parts.Table.Parts());
    out.Put(parts.Description);
    return out.Take();
  });
  RunOnAllRanks(comm, [&] {
    ByteReader in(message);
    std::vector<PartEntry> entries;
    in.Get(entries);
    in.Get(parts.Description);
    parts.Table = IndexFileHead(entries);
  });
}

/// Compares the fingerprints of this rank's share of the files. Throws IndexFileError.
void CheckFiles(
    Communicator& comm, const StepDescription& description, const IndexFilePath& where, int threads)
{
  const auto [begin, end] = PartOfRank(description.Files.size(), comm.Rank(), comm.Size());
  const std::vector<std::string> files(description.Files.begin() + begin, description.Files.begin() + end);
  const auto states = StatesOf(files, threads);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!states[i] || states[i]->Print != description.Prints[begin + i]) {
      throw IndexFileError(
          FileFault::Stale, fmt::format("{}: outdated, because {} has changed.", where.Path, files[i]));
    }
  }
}

void CheckShards(const IndexFileHead& table, const StagedMemory& memory, const IndexFilePath& where)
{
  for (std::size_t s = memory.Sharer(); s < table.ShardCount(); s += memory.Sharers()) {
    const PartEntry& entry = table.ShardEntry(s);
    if (Checksum(memory.Data() + (entry.Offset - table.ShardBegin()), entry.Length) != entry.Checksum) {
      throw IndexFileError(FileFault::Corrupted,
          fmt::format("{}: part {} is damaged.", where.Path, IndexFileHead::HeadParts + s));
    }
  }
}

/// Returns the index over the shards in `memory`, after all checks.
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

/// Loads the index file at `where`. Throws IndexFileError, the same on all ranks. Collective: every rank of
/// the communicator calls it.
StepIndexFile LoadFrom(
    Communicator& comm, const std::string& path, const IndexFilePath& where, const IndexSettings& settings)
{
  MasterParts parts;
  Agree(comm, FileFault::Corrupted, [&] {
    if (comm.Rank() == 0) {
      parts = ReadMasterParts(path, where);
    }
  });
  BroadcastParts(comm, parts);
  StepIndexFile indexFile;
  StepDescription description;
  Agree(comm, FileFault::Corrupted, [&] { description = DecodeDescription(parts.Description, path); });
  Agree(comm, FileFault::Corrupted, [&] { CheckFiles(comm, description, where, settings.Threads); });
  parts.Description = {};

  const IndexFileHead& table = parts.Table;
  std::shared_ptr<StagedMemory> memory;
  try {
    memory = std::make_shared<StagedMemory>(comm, table.ShardBytes(), settings.Stage);
    memory->Load(comm, parts.File.get(), where.Path, table.ShardBegin());
  } catch (const Error& error) {
    throw IndexFileError(FileFault::Unreadable, error.what());  // all ranks have the same error
  }
  Agree(comm, FileFault::Corrupted, [&] { CheckShards(table, *memory, where); });
  Agree(comm, FileFault::Corrupted, [&] { indexFile.Index.Index = MakeIndex(description, table, memory); });
  indexFile.Data = std::move(description.Data);
  indexFile.Index.Prints = std::move(description.Prints);
  indexFile.Index.Memory = memory;
  indexFile.Path = where.Path;
  indexFile.Bytes = table.FileBytes();
  return indexFile;
}

/// Greatest number of attempts to read an index file that looks damaged, because another user may have
/// replaced the file during the read.
constexpr int MostAttempts = 10;

/// Returns whether the file on rank 0 has changed since `before`. Collective: every rank of the communicator
/// calls it.
bool Replaced(Communicator& comm, const IndexFilePath& where, const std::optional<FileState>& before)
{
  const auto now = StateOf(where.Path);
  const bool same = before.has_value() == now.has_value() && (!now || now->Print == before->Print);
  return !AllOf(comm, same || comm.Rank() != 0);
}

/// Returns the text of the error, with the name of the index file.
std::string MessageFor(const IndexFilePath& where, const Error& error)
{
  const std::string text = error.what();
  return text.find(where.Path) == std::string::npos ? where.Path + ": " + text : text;
}

}  // namespace

std::string IndexFileSearch::Warning() const
{
  std::string text;
  for (const IndexFileState& state : this->Passed) {
    // An index file that can neither be read nor replaced must not cause a warning each time if another index
    // file is used instead.
    const bool replaced = state.Fault == FileFault::Unreadable && this->Found;
    if (NeedsWarning(state.Fault) && !replaced) {
      text += (text.empty() ? "" : "\n") + fmt::format("Ignoring an index file. {}", state.Message);
    }
  }
  return text;
}

IndexFileSearch FindStepIndexFile(Communicator& comm, const std::string& path, const IndexSettings& settings)
{
  IndexFileSearch search;
  for (const IndexFilePath& where : SharedIndexFilePathsFor(comm, path)) {
    IndexFileState state{where, FileFault::Absent, ""};
    for (int attempt = 0; attempt < MostAttempts; ++attempt) {
      const auto before = StateOf(where.Path);
      try {
        search.Found = LoadFrom(comm, path, where, settings);
        return search;
      } catch (const IndexFileError& error) {
        state.Fault = error.Kind;
        state.Message = MessageFor(where, error);
      } catch (const Error& error) {
        state.Fault = FileFault::Unreadable;  // all ranks have the same error
        state.Message = MessageFor(where, error);
      }
      if (state.Fault != FileFault::Corrupted || !Replaced(comm, where, before)) {
        break;
      }
    }
    search.Passed.push_back(state);
  }
  return search;
}

std::optional<TimeStep> HeadFromIndexFile(const std::string& path)
{
  for (const IndexFilePath& where : IndexFilePathsFor(path)) {
    try {
      const std::unique_ptr<PlainFile> file = OpenIndexFile(where.Path);
      const StepIndexHead head = DecodeHead(IndexFileHead::Read(*file).ReadPart(*file, 0));
      CheckFits(head, path, where);
      return TimeStep{path, head.Time, head.Step};
    } catch (const std::exception&) {
      // Opening the step will report the fault of the index file; here, the format answers instead.
    }
  }
  return std::nullopt;
}

namespace {

/// A reason why an index may not be saved.
struct Obstacle
{
  std::string Text;
  double SecondsToWait = -1;
};

/// Returns an obstacle if a file changed less than `settleSeconds` before its state was determined.
std::optional<Obstacle> RecentChange(
    const BuiltIndex& built, const DescribingState& describing, double settleSeconds)
{
  std::int64_t youngest = describing.Before->Changed;
  for (const std::int64_t changed : built.Changed) {
    youngest = std::max(youngest, changed);
  }
  const auto settle = static_cast<std::int64_t>(settleSeconds * 1e9);
  if (youngest < describing.Now - settle) {
    return std::nullopt;
  }
  Obstacle obstacle{fmt::format("a file of the step changed less than {} s ago", settleSeconds), -1};
  const std::int64_t now = NowInNanoseconds();
  if (youngest <= now) {
    obstacle.SecondsToWait = static_cast<double>(youngest + settle - now) * 1e-9 + 0.05;
    obstacle.SecondsToWait = std::max(obstacle.SecondsToWait, 0.0);
  } else {
    obstacle.Text = "the modification time of a file of the step is in the future";
  }
  return obstacle;
}

/// Returns the reason why the index may not be saved, or an empty text if saving is allowed. Called on rank 0
/// only.
Obstacle FindObstacle(const Catalog& catalog, const BuiltIndex& built, const DescribingState& describing,
    const IndexSettings& settings)
{
  if (built.Missing > 0) {
    return {built.MissingText(), -1};
  }
  const auto now = StateOf(catalog.Path);
  if (!built.VanishedFile.empty() || !describing.Before || !now || now->Print != describing.Before->Print) {
    return {"files of the step changed while they were read", -1};
  }
  if (const auto recent = RecentChange(built, describing, settings.SettleSeconds)) {
    return *recent;
  }
  std::vector<std::uint64_t> sizes;
  for (const Fingerprint& print : built.Index.Prints) {
    sizes.push_back(print.Size);
  }
  // An index that FindStepIndexFile() would refuse need not be written.
  return {CatchError([&] {
            CheckCatalog(catalog);
            built.Index.Index.Check(catalog, sizes);
          }),
      -1};
}

/// The parts of rank 0. The path in the first part depends on the folder of the index file.
struct Contents
{
  StepIndexHead First;
  std::vector<std::byte> Second;
  std::vector<PartEntry> Shards;  ///< table entries of the shards, on all ranks
};

/// Fills all members except the shards. Called on rank 0 only.
void FillContents(Contents& contents, const Format& format, const Catalog& catalog, const BuiltIndex& built,
    const DescribingState& describing)
{
  contents.First.FormatName = format.Name();
  contents.First.Described = describing.Before->Print;
  contents.First.Step = catalog.Step;
  contents.First.Time = catalog.Time;
  contents.Second = Encode(Describe(catalog, built.Index.Index.Files(), built.Index.Prints));
}

/// Writes the index file at `where`. Throws Error, the same on all ranks. Collective: every rank of the
/// communicator calls it.
void SaveAt(Communicator& comm, const IndexFilePath& where, const Catalog& catalog, Contents& contents,
    const BuiltIndex& built)
{
  std::vector<std::vector<std::byte>> parts;
  std::vector<PartEntry> entries;
  std::string temporary;
  RunOnAllRanks(comm, [&] {
    if (comm.Rank() == 0) {
      contents.First.Path = where.NextToData ? "" : AbsolutePath(catalog.Path);
      parts = {Encode(contents.First), contents.Second};
      for (const auto& part : parts) {
        entries.push_back({part.size(), 0, Checksum(part.data(), part.size())});
      }
      temporary = PrepareToReplace(where);
    }
  });
  entries = GatherValues(comm, entries);
  entries.insert(entries.end(), contents.Shards.begin(), contents.Shards.end());
  temporary = comm.AllGather(temporary)[0];
  try {
    WriteIndexFile(comm, temporary, IndexFileHead(entries), parts,
        built.Index.Memory->Data() + built.Offsets[comm.Rank()]);
  } catch (const Error& error) {
    if (comm.Rank() == 0) {
      std::remove(temporary.c_str());
    }
    throw Error(NameIndexFile(error.what(), temporary, where));
  } catch (...) {
    if (comm.Rank() == 0) {
      std::remove(temporary.c_str());
    }
    throw;
  }
  RunOnAllRanks(comm, [&] {
    if (comm.Rank() == 0) {
      Replace(temporary, where);
    }
  });
}

}  // namespace

SaveOutcome SaveStepIndexFile(Communicator& comm, const Format& format, const Catalog& catalog,
    BuiltIndex& built, const DescribingState& describing, const IndexSettings& settings)
{
  SaveOutcome outcome;
  Contents contents;
  Obstacle obstacle;
  if (comm.Rank() == 0) {
    const std::string fault = CatchError([&] {
      obstacle = FindObstacle(catalog, built, describing, settings);
      if (obstacle.Text.empty()) {
        FillContents(contents, format, catalog, built, describing);
      }
    });
    if (!fault.empty()) {
      obstacle = {fault, -1};
    }
  }
  outcome.WhyNot = comm.AllGather(obstacle.Text)[0];
  outcome.SecondsToWait = comm.AllGather(std::vector<double>{obstacle.SecondsToWait})[0];
  if (!outcome.WhyNot.empty()) {
    return outcome;
  }
  const std::uint64_t length = built.Lengths[comm.Rank()];
  const std::byte* shard = built.Index.Memory->Data() + built.Offsets[comm.Rank()];
  contents.Shards = GatherValues<PartEntry>(comm, {{length, 0, Checksum(shard, length)}});
  std::vector<IndexFilePath> paths;
  try {
    paths = SharedIndexFilePathsFor(comm, catalog.Path);
  } catch (const Error& error) {
    outcome.WhyNot = error.what();  // all ranks have the same error
  }
  for (const IndexFilePath& where : paths) {
    if (where.OldName) {
      continue;
    }
    try {
      SaveAt(comm, where, catalog, contents, built);
      outcome.WhyNot.clear();
      outcome.Path = where.Path;
      return outcome;
    } catch (const Error& error) {
      outcome.WhyNot += (outcome.WhyNot.empty() ? "" : " ") + std::string(error.what());
    }
  }
  return outcome;
}

}  // namespace patchio

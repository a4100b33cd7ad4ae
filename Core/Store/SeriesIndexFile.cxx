#include "Store/SeriesIndexFile.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Store/GroupedFile.h"
#include "Store/IndexFilePath.h"
#include "Store/StepIndexFile.h"

#include <fmt/format.h>

#include <filesystem>
#include <tuple>

namespace fs = std::filesystem;

namespace patchio {
namespace {

constexpr std::uint32_t KindOfSeries = 2;

/// The members of an entry in the order of the file, behind the name of the step.
template <typename Entry>
auto MembersOf(Entry& entry)
{
  return std::tie(entry.Print, entry.Time, entry.Step, entry.HasNotes, entry.Notes);
}

}  // namespace

SeriesIndexFile::SeriesIndexFile(const std::string& path, ChannelMode mode)
    : Path(path), Mode(mode), Begin(NowInNanoseconds())
{
  if (!ReadsIndexFiles(mode)) {
    return;
  }
  FileFault passed = FileFault::Absent;
  for (const IndexFilePath& indexFile : IndexFilePathsFor(path)) {
    try {
      this->Load(indexFile);
      if (passed == FileFault::Unreadable) {
        this->WarningText.clear();  // this index file is used instead
      }
      return;
    } catch (const GroupedFileError& error) {
      passed = error.Kind;
      if (IsNews(error.Kind)) {
        this->WarningText = fmt::format("Ignoring an index file. {}", error.what());
      }
    } catch (const std::exception& error) {
      passed = FileFault::Corrupted;
      this->WarningText = fmt::format("Ignoring an index file. {}: {}", indexFile.Path, error.what());
    }
    this->Entries.clear();
  }
}

void SeriesIndexFile::Load(const IndexFilePath& indexFile)
{
  const std::unique_ptr<PlainFile> file = OpenGrouped(indexFile.Path);
  const std::vector<std::byte> first = GroupedHead::Read(*file).ReadPart(*file, 0);
  ByteReader in(first);
  if (in.Get<std::uint32_t>() != KindOfSeries) {
    throw GroupedFileError(FileFault::Foreign, "It does not describe a series.");
  }
  std::string path;
  in.Get(path);
  if (path != (indexFile.Beside ? "" : AbsolutePath(this->Path))) {
    throw GroupedFileError(FileFault::Stale, fmt::format("{}: belongs to another series.", indexFile.Path));
  }
  const fs::path folder = fs::path(AbsolutePath(this->Path)).parent_path();
  const auto count = in.Get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string name;
    in.Get(name);
    Entry entry;
    in.Get(MembersOf(entry));
    this->Entries[(folder / name).lexically_normal().string()] = entry;
  }
}

std::optional<TimeStep> SeriesIndexFile::Known(const std::string& stepPath)
{
  const auto state = StateOf(stepPath);
  this->LookedAt[stepPath] = state;
  const auto found = this->Entries.find(stepPath);
  if (found != this->Entries.end()) {
    if (state && state->Print == found->second.Print) {
      const Entry& entry = found->second;
      return TimeStep{stepPath, entry.Time, entry.Step, 0, {}, entry.HasNotes, entry.Notes};
    }
    this->Entries.erase(found);
  }
  return ReadsIndexFiles(this->Mode) ? HeadFromIndexFile(stepPath) : std::nullopt;
}

std::string SeriesIndexFile::Save(const Series& series, double settleSeconds)
{
  if (!WritesIndexFiles(this->Mode)) {
    return {};
  }
  bool changed = false;
  for (const TimeStep& step : series.Steps) {
    const auto looked = this->LookedAt.find(step.Path);
    if (step.Path == AbsolutePath(this->Path)) {
      return {};
    }
    const bool settled =
        looked != this->LookedAt.end() && looked->second &&
        looked->second->Changed < this->Begin - static_cast<std::int64_t>(settleSeconds * 1e9);
    const auto known = this->Entries.find(step.Path);
    if (settled && (known == this->Entries.end() || (step.HasNotes && !known->second.HasNotes))) {
      this->Entries[step.Path] = {looked->second->Print, step.Time, step.Step, step.HasNotes, step.Notes};
      changed = true;
    }
  }
  if (!changed) {
    return {};
  }
  // Steps that this series does not contain are kept as long as their files exist.
  for (auto entry = this->Entries.begin(); entry != this->Entries.end();) {
    entry = StateOf(entry->first) ? std::next(entry) : this->Entries.erase(entry);
  }
  std::string faults;
  for (const IndexFilePath& indexFile : WritableIndexFilePathsFor(this->Path)) {
    const std::string fault = CatchError([&] {
      SaveIndexFile(indexFile, [&](const std::string& temporary) {
        const std::vector<std::byte> part = this->Encode(indexFile.Beside);
        const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
        const GroupedHead head(
            {{part.size(), 0, Checksum(part.data(), part.size())}, {0, 0, Checksum(nullptr, 0)}});
        WriteGrouped(*alone, temporary, head, {part, {}}, nullptr);
      });
    });
    if (fault.empty()) {
      return {};
    }
    faults += (faults.empty() ? "" : " ") + fault;
  }
  return faults;
}

std::vector<std::byte> SeriesIndexFile::Encode(bool beside) const
{
  ByteWriter out;
  out.Put(KindOfSeries);
  out.Put(beside ? std::string() : AbsolutePath(this->Path));
  out.Put<std::uint64_t>(this->Entries.size());
  const fs::path folder = fs::path(AbsolutePath(this->Path)).parent_path();
  for (const auto& [path, entry] : this->Entries) {
    out.Put(fs::path(path).lexically_relative(folder).string());
    out.Put(MembersOf(entry));
  }
  return out.Take();
}

KeptSeries OpenWithIndexFile(
    const std::string& path, SeriesOptions options, ChannelMode mode, double settleSeconds)
{
  const Format& format = FormatOf(path);
  SeriesIndexFile indexFile(path, mode);
  options.Known = [&indexFile, known = options.Known](const std::string& step) {
    const std::optional<TimeStep> head = known ? known(step) : std::nullopt;
    return head ? head : indexFile.Known(step);
  };
  KeptSeries kept;
  kept.Opened = format.OpenSeries(path, options);
  kept.WhyNotSaved = indexFile.Save(kept.Opened, settleSeconds);
  // The index file of a single dump belongs to the step. Opening the step checks it, and warns.
  const bool single = kept.Opened.Steps.back().Path == AbsolutePath(path);
  kept.Warning = single ? "" : indexFile.Warning();
  return kept;
}

}  // namespace patchio

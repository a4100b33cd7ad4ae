#include "Store/SeriesIndexFile.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/File.h"
#include "Store/IndexFileHead.h"

#include <fmt/format.h>

#include <filesystem>
#include <tuple>

namespace fs = std::filesystem;

namespace patchio {
namespace {

/// The number at the beginning of the first part of an index file, by which the index files of series and of
/// steps differ.
constexpr std::uint32_t SeriesFileType = 2;

/// Returns references to the members of an entry, in the order in which the file has the members after the
/// name of the step.
template <typename Entry>
auto MembersOfEntry(Entry& entry)
{
  return std::tie(entry.Print, entry.Time, entry.Step, entry.HasNotes, entry.Notes);
}

}  // namespace

SeriesIndexFile::SeriesIndexFile(const std::string& path, IndexMode mode)
    : Path(path), Mode(mode), Begin(NowInNanoseconds())
{
  if (!ReadsIndexFiles(mode)) {
    return;
  }
  std::vector<RejectedIndexFile> rejected;
  bool found = false;
  for (const IndexFilePath& indexFile : IndexFilePathsFor(path)) {
    try {
      this->Load(indexFile);
      found = true;
      break;
    } catch (const IndexFileError& error) {
      rejected.push_back({indexFile, error.Fault, MessageFor(indexFile, error)});
    } catch (const std::exception& error) {
      rejected.push_back({indexFile, FileFault::Corrupted, MessageFor(indexFile, error)});
    }
    this->Entries.clear();
  }
  this->WarningText = WarningAbout(rejected, found);
}

/// Reads the entries from an index file. Throws IndexFileError, or another exception for damaged files.
void SeriesIndexFile::Load(const IndexFilePath& indexFile)
{
  const std::unique_ptr<PlainFile> file = OpenIndexFile(indexFile.Path);
  const std::vector<std::byte> first = IndexFileHead::Read(*file).ReadPart(*file, 0);
  ByteReader in(first);
  if (in.Get<std::uint32_t>() != SeriesFileType) {
    throw IndexFileError(FileFault::Foreign, "The index file does not describe a series.");
  }
  std::string path;
  in.Get(path);
  if (path != (indexFile.NextToData ? "" : AbsolutePath(this->Path))) {
    throw IndexFileError(
        FileFault::Stale, fmt::format("{}: the index file belongs to another series.", indexFile.Path));
  }
  const fs::path folder = fs::path(AbsolutePath(this->Path)).parent_path();
  const auto count = in.Get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string name;
    in.Get(name);
    Entry entry;
    in.Get(MembersOfEntry(entry));
    this->Entries[(folder / name).lexically_normal().string()] = entry;
  }
}

std::optional<TimeStep> SeriesIndexFile::HeadOf(const std::string& stepPath)
{
  const auto state = StateOf(stepPath);
  this->StatesBefore[stepPath] = state;
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
    const auto before = this->StatesBefore.find(step.Path);
    if (step.Path == AbsolutePath(this->Path)) {
      return {};
    }
    const bool settled =
        before != this->StatesBefore.end() && before->second &&
        before->second->ChangeTime < this->Begin - static_cast<std::int64_t>(settleSeconds * 1e9);
    const auto known = this->Entries.find(step.Path);
    if (settled && (known == this->Entries.end() || (step.HasNotes && !known->second.HasNotes))) {
      this->Entries[step.Path] = {before->second->Print, step.Time, step.Step, step.HasNotes, step.Notes};
      changed = true;
    }
  }
  if (!changed) {
    return {};
  }
  // The index file keeps steps that this series does not contain as long as the files of these steps exist.
  for (auto entry = this->Entries.begin(); entry != this->Entries.end();) {
    entry = StateOf(entry->first) ? std::next(entry) : this->Entries.erase(entry);
  }
  std::string faults;
  for (const IndexFilePath& indexFile : IndexFilePathsFor(this->Path)) {
    if (indexFile.HasOldName) {
      continue;
    }
    const std::string fault = CatchError([&] {
      const std::unique_ptr<Communicator> self = MakeSelfCommunicator();
      SaveIndexFile(*self, indexFile, [&](const std::string& temporary) {
        const std::vector<std::byte> part = this->Encode(indexFile.NextToData);
        const IndexFileHead head(
            {{part.size(), 0, Checksum(part.data(), part.size())}, {0, 0, Checksum(nullptr, 0)}});
        WriteIndexFile(*self, temporary, head, {part, {}}, nullptr);
      });
    });
    if (fault.empty()) {
      return {};
    }
    AppendText(faults, fault, " ");
  }
  return faults;
}

/// Returns the first part of the index file as bytes. `omitPath`: true for an index file next to the data.
std::vector<std::byte> SeriesIndexFile::Encode(bool omitPath) const
{
  ByteWriter out;
  out.Append(SeriesFileType);
  out.Append(omitPath ? std::string() : AbsolutePath(this->Path));
  out.Append<std::uint64_t>(this->Entries.size());
  const fs::path folder = fs::path(AbsolutePath(this->Path)).parent_path();
  for (const auto& [path, entry] : this->Entries) {
    out.Append(fs::path(path).lexically_relative(folder).string());
    out.Append(MembersOfEntry(entry));
  }
  return out.Release();
}

IndexedSeries OpenWithIndexFile(
    const std::string& path, SeriesOptions options, IndexMode mode, double settleSeconds)
{
  const Format& format = FormatOf(path);
  SeriesIndexFile indexFile(path, mode);
  options.KnownHead = [&indexFile, known = options.KnownHead](const std::string& step) {
    const std::optional<TimeStep> head = known ? known(step) : std::nullopt;
    return head ? head : indexFile.HeadOf(step);
  };
  IndexedSeries result;
  result.Contents = format.OpenSeries(path, options);
  result.SaveFault = indexFile.Save(result.Contents, settleSeconds);
  // The index file of a single dump is the index file of the step. Opening the step checks the index file,
  // and warns.
  const bool single = result.Contents.Steps.back().Path == AbsolutePath(path);
  result.Warning = single ? "" : indexFile.Warning();
  return result;
}

}  // namespace patchio

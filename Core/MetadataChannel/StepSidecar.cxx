#include "MetadataChannel/StepSidecar.h"

#include "Catalog/CheckCatalog.h"
#include "Support/Bytes.h"
#include "Support/Checksum.h"
#include "Support/Together.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <unordered_map>

namespace fs = std::filesystem;

namespace patchio {
namespace {

constexpr std::uint32_t KindOfStep = 1;

/// The first part.
struct Head
{
  std::string Path;  ///< absolute, of the describing file; empty in a sidecar beside it
  std::string FormatName;
  Fingerprint Described;
  std::int64_t Step = 0;
  double Time = 0;
};

std::vector<std::byte> Encode(const Head& head)
{
  ByteWriter out;
  out.Put(KindOfStep);
  out.Put(head.Path);
  out.Put(head.FormatName);
  out.Put(head.Described);
  out.Put(head.Step);
  out.Put(head.Time);
  return out.Take();
}

Head DecodeHead(const std::vector<std::byte>& bytes)
{
  ByteReader in(bytes);
  if (in.Get<std::uint32_t>() != KindOfStep) {
    throw Error("It describes no time step.");
  }
  Head head;
  in.Get(head.Path);
  in.Get(head.FormatName);
  in.Get(head.Described);
  in.Get(head.Step);
  in.Get(head.Time);
  return head;
}

/// The second part.
struct Description
{
  std::vector<std::string> Files;  ///< below the folder of the describing file
  std::vector<Fingerprint> Prints;
  Catalog Data;
};

std::vector<std::byte> Encode(const Description& description)
{
  ByteWriter out;
  out.Put(JoinTexts(description.Files));
  out.Put(description.Prints);
  out.Put(description.Data.Serialize());
  return out.Take();
}

/// A name that leads nowhere but below its folder.
bool StaysBelow(const std::string& name)
{
  const fs::path path(name);
  return !name.empty() && path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
}

std::string FolderOf(const std::string& path)
{
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() || folder.back() == '/' ? folder : folder + "/";
}

Description DecodeDescription(const std::vector<std::byte>& bytes, const std::string& path)
{
  ByteReader in(bytes);
  Description description;
  std::string names;
  in.Get(names);
  const std::string folder = FolderOf(path);
  for (const std::string& name : SplitTexts(names)) {
    if (!StaysBelow(name)) {
      throw Error("It names a file outside the folder of its data.");
    }
    description.Files.push_back(folder + name);
  }
  in.Get(description.Prints);
  const auto [catalog, size] = in.GetBytes();
  description.Data = Catalog::Deserialize(catalog, size);
  description.Data.Path = path;
  if (description.Prints.size() != description.Files.size()) {
    throw Error("Its files do not fit their fingerprints.");
  }
  CheckCatalog(description.Data);
  return description;
}

// ---- what went wrong, known to all ranks ----

/// Runs `work`, which must not communicate, and throws the fault of the first rank that had one on all of
/// them. Faults that are no GroupedFileError count as `others`.
void Agree(Communicator& comm, FileFault others, const std::function<void()>& work)
{
  std::string mine;
  const auto note = [&mine](FileFault fault, const char* what) {
    mine = std::string(1, static_cast<char>('0' + static_cast<int>(fault))) + what;
  };
  try {
    work();
  } catch (const GroupedFileError& error) {
    note(error.Kind, error.what());
  } catch (const std::bad_alloc&) {
    note(FileFault::Absent, "There is not enough memory for it.");
  } catch (const std::exception& error) {
    note(others, error.what());
  }
  for (const std::string& fault : comm.AllGather(mine)) {
    if (!fault.empty()) {
      throw GroupedFileError(static_cast<FileFault>(fault[0] - '0'), fault.substr(1));
    }
  }
}

/// Share of `count` things for one of several ranks.
std::pair<std::size_t, std::size_t> ShareOf(std::size_t count, int rank, int ranks)
{
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

void CheckFits(const Head& head, const std::string& path, const Place& place)
{
  const auto state = StateOf(path);
  const bool mine = place.Beside ? head.Path.empty() : head.Path == AbsolutePath(path);
  if (!mine || !state || state->Print != head.Described) {
    throw GroupedFileError(FileFault::Stale, fmt::format("{}: {} has changed since.", place.Path, path));
  }
}

/// What rank 0 reads by itself and tells the others.
struct MasterParts
{
  std::unique_ptr<PlainFile> File;
  GroupedHead Table;
  std::vector<std::byte> Head, Description;
};

MasterParts ReadMasterParts(const std::string& path, const Place& place)
{
  MasterParts parts;
  parts.File = OpenGrouped(place.Path);
  parts.Table = GroupedHead::Read(*parts.File);
  parts.Head = parts.Table.ReadPart(*parts.File, 0);
  const Head head = DecodeHead(parts.Head);
  CheckFits(head, path, place);
  if (head.FormatName != FormatOf(path).Name()) {
    throw GroupedFileError(FileFault::Stale, fmt::format("{}: made for another format.", place.Path));
  }
  parts.Description = parts.Table.ReadPart(*parts.File, 1);
  return parts;
}

void Tell(Communicator& comm, MasterParts& parts)
{
  if (comm.Size() == 1) {
    return;
  }
  std::vector<std::byte> message;
  if (comm.Rank() == 0) {
    ByteWriter out;
    out.Put(parts.Table.Parts());
    out.Put(parts.Description);
    message = out.Take();
  }
  comm.Broadcast(message);
  ByteReader in(message);
  std::vector<PartEntry> entries;
  in.Get(entries);
  in.Get(parts.Description);
  parts.Table = GroupedHead(entries);
}

/// Each rank looks at its part of the files.
void CheckFiles(Communicator& comm, const Description& description, const Place& place, int threads)
{
  const auto [begin, end] = ShareOf(description.Files.size(), comm.Rank(), comm.Size());
  const std::vector<std::string> mine(description.Files.begin() + begin, description.Files.begin() + end);
  const auto states = StatesOf(mine, threads);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (!states[i] || states[i]->Print != description.Prints[begin + i]) {
      throw GroupedFileError(FileFault::Stale, fmt::format("{}: {} has changed since.", place.Path, mine[i]));
    }
  }
}

void CheckShares(const GroupedHead& table, const StagedMemory& memory, const Place& place)
{
  for (std::size_t s = memory.Sharer(); s < table.ShareCount(); s += memory.Sharers()) {
    const PartEntry& entry = table.ShareEntry(s);
    if (Checksum(memory.Data() + (entry.Offset - table.ShareBegin()), entry.Length) != entry.Checksum) {
      throw GroupedFileError(FileFault::Corrupted,
          fmt::format("{}: part {} is damaged.", place.Path, GroupedHead::HeadParts + s));
    }
  }
}

/// The index over the shares in `memory`, all checked.
LocationIndex MakeIndex(
    const Description& description, const GroupedHead& table, const std::shared_ptr<StagedMemory>& memory)
{
  std::vector<ShareView> shares;
  for (std::size_t s = 0; s < table.ShareCount(); ++s) {
    const PartEntry& entry = table.ShareEntry(s);
    shares.push_back({memory->Data() + (entry.Offset - table.ShareBegin()), entry.Length});
  }
  LocationIndex index(description.Data, description.Files, shares, memory);
  std::vector<std::uint64_t> sizes;
  for (const Fingerprint& print : description.Prints) {
    sizes.push_back(print.Size);
  }
  index.Check(description.Data, sizes);
  return index;
}

/// Throws GroupedFileError, the same on all ranks.
StepSidecar LoadFrom(
    Communicator& comm, const std::string& path, const Place& place, const ChannelSettings& settings)
{
  MasterParts parts;
  Agree(comm, FileFault::Corrupted, [&] {
    if (comm.Rank() == 0) {
      parts = ReadMasterParts(path, place);
    }
  });
  Tell(comm, parts);
  StepSidecar sidecar;
  Description description;
  Agree(comm, FileFault::Corrupted, [&] { description = DecodeDescription(parts.Description, path); });
  Agree(comm, FileFault::Corrupted, [&] { CheckFiles(comm, description, place, settings.Threads); });
  parts.Description = {};

  const GroupedHead& table = parts.Table;
  std::shared_ptr<StagedMemory> memory;
  try {
    memory = std::make_shared<StagedMemory>(comm, table.ShareBytes(), settings.Stage);
    memory->Load(comm, parts.File.get(), place.Path, table.ShareBegin());
  } catch (const Error& error) {
    throw GroupedFileError(FileFault::Absent, error.what());  // all ranks have got it
  }
  Agree(comm, FileFault::Corrupted, [&] { CheckShares(table, *memory, place); });
  Agree(comm, FileFault::Corrupted, [&] { sidecar.Index.Index = MakeIndex(description, table, memory); });
  sidecar.Data = std::move(description.Data);
  sidecar.Index.Prints = std::move(description.Prints);
  sidecar.Index.Memory = memory;
  sidecar.Path = place.Path;
  sidecar.Bytes = table.FileBytes();
  return sidecar;
}

/// The places of rank 0, on all ranks.
std::vector<Place> SharedPlaces(Communicator& comm, const std::string& path)
{
  std::vector<std::byte> message;
  std::vector<Place> places;
  if (comm.Rank() == 0) {
    places = PlacesFor(path);
    ByteWriter out;
    for (const Place& place : places) {
      out.Put(place.Beside);
      out.Put(place.Path);
    }
    message = out.Take();
    if (comm.Size() == 1) {
      return places;
    }
  }
  std::vector<std::byte> count;
  ByteWriter head;
  head.Put<std::uint64_t>(places.size());
  count = head.Take();
  comm.Broadcast(count);
  comm.Broadcast(message);
  ByteReader in(message);
  const auto number = ByteReader(count).Get<std::uint64_t>();
  places.resize(number);
  for (Place& place : places) {
    in.Get(place.Beside);
    in.Get(place.Path);
  }
  return places;
}

/// One that is damaged may just have been replaced by another user, between two looks at it.
constexpr int MostAttempts = 10;

/// True when rank 0 sees another file than `before`.
bool Replaced(Communicator& comm, const Place& place, const std::optional<FileState>& before)
{
  const auto now = StateOf(place.Path);
  const bool same = before.has_value() == now.has_value() && (!now || now->Print == before->Print);
  return comm.AllGather(std::vector<int>{same ? 0 : 1})[0] == 1;
}

}  // namespace

std::string SidecarSearch::Warning() const
{
  std::string text;
  for (const SidecarState& state : this->Passed) {
    if (state.Fault == FileFault::Corrupted || state.Fault == FileFault::Unfinished) {
      text += (text.empty() ? "" : "\n") + fmt::format("A metadata sidecar is not used. {}", state.Message);
    }
  }
  return text;
}

SidecarSearch FindStepSidecar(Communicator& comm, const std::string& path, const ChannelSettings& settings)
{
  SidecarSearch search;
  for (const Place& place : SharedPlaces(comm, path)) {
    SidecarState state{place, FileFault::Absent, ""};
    for (int attempt = 0; attempt < MostAttempts; ++attempt) {
      const auto before = StateOf(place.Path);
      try {
        search.Found = LoadFrom(comm, path, place, settings);
        return search;
      } catch (const GroupedFileError& error) {
        state.Fault = error.Kind;
        state.Message = error.what();
      } catch (const Error& error) {
        state.Fault = FileFault::Absent;  // all ranks have got it
        state.Message = error.what();
      }
      if (state.Fault != FileFault::Corrupted || !Replaced(comm, place, before)) {
        break;
      }
    }
    search.Passed.push_back(state);
  }
  return search;
}

std::optional<TimeStep> HeadFromSidecar(const std::string& path)
{
  for (const Place& place : PlacesFor(path)) {
    try {
      const std::unique_ptr<PlainFile> file = OpenGrouped(place.Path);
      const Head head = DecodeHead(GroupedHead::Read(*file).ReadPart(*file, 0));
      CheckFits(head, path, place);
      return TimeStep{path, head.Time, head.Step};
    } catch (const std::exception&) {
      // Opening the step will say what is wrong with the sidecar; here the format answers instead.
    }
  }
  return std::nullopt;
}

DescribingState LookAtDescribingFile(const std::string& path)
{
  DescribingState state;
  state.Now = NowInNanoseconds();
  state.Before = StateOf(path);
  return state;
}

// ---- building ----

namespace {

/// Requests that are located at once: enough to read each file once, not so many that memory matters.
constexpr std::uint64_t BatchRequests = 1 << 17;

/// This rank's share.
std::unique_ptr<IndexShareBuilder> LocateShare(Communicator& comm, const Format& format,
    const Catalog& catalog, int threads, std::vector<std::string>& notes)
{
  const RowOrder order(catalog);
  const auto [begin, end] = ShareOf(catalog.Patches.size(), comm.Rank(), comm.Size());
  auto builder = std::make_unique<IndexShareBuilder>(catalog, order, begin, end - begin);
  const std::uint64_t rows = BatchRequests / std::max<std::size_t>(catalog.Variables.size(), 1) + 1;
  for (std::uint64_t row = 0; row < builder->Rows(); row += rows) {
    const std::uint64_t count = std::min(rows, builder->Rows() - row);
    const LocationTable table = format.Locate(catalog, builder->Requests(row, count), {threads, false});
    builder->Add(row, table);
    for (const std::string& note : table.Notes) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
        notes.push_back(note);
      }
    }
  }
  return builder;
}

/// Files of all ranks, each once, and the number that each of this rank's has among them.
std::vector<std::string> JoinFiles(
    Communicator& comm, const std::vector<std::string>& mine, std::vector<std::uint32_t>& numbers)
{
  std::vector<std::string> all;
  std::unordered_map<std::string, std::uint32_t> known;
  for (const std::string& ofRank : comm.AllGather(JoinTexts(mine))) {
    for (const std::string& name : SplitTexts(ofRank)) {
      if (known.emplace(name, static_cast<std::uint32_t>(all.size())).second) {
        all.push_back(name);
      }
    }
  }
  for (const std::string& name : mine) {
    numbers.push_back(known.at(name));
  }
  return all;
}

/// A plain value of each rank, in rank order.
template <typename T>
std::vector<T> GatherValues(Communicator& comm, const std::vector<T>& mine)
{
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all;
  for (const std::string& text :
      comm.AllGather(std::string(reinterpret_cast<const char*>(mine.data()), mine.size() * sizeof(T)))) {
    const std::size_t before = all.size();
    all.resize(before + text.size() / sizeof(T));
    if (!text.empty()) {
      std::memcpy(all.data() + before, text.data(), text.size());
    }
  }
  return all;
}

/// Looks at all files, each rank at a part of them.
void TakeFingerprints(Communicator& comm, BuiltIndex& built, int threads)
{
  struct Entry
  {
    std::uint64_t Size, Inode;
    std::int64_t Modified, Changed, There;
  };
  const std::vector<std::string>& files = built.Index.Index.Files();
  const auto [begin, end] = ShareOf(files.size(), comm.Rank(), comm.Size());
  std::vector<Entry> mine;
  for (const auto& state : StatesOf({files.begin() + begin, files.begin() + end}, threads)) {
    const FileState known = state.value_or(FileState{});
    mine.push_back(
        {known.Print.Size, known.Print.Inode, known.Print.Modified, known.Changed, state.has_value()});
  }
  const std::vector<Entry> all = GatherValues(comm, mine);
  for (std::size_t i = 0; i < all.size(); ++i) {
    built.Index.Prints.push_back({all[i].Size, all[i].Modified, all[i].Inode});
    built.Changed.push_back(all[i].Changed);
    if (!all[i].There) {
      built.VanishedFile = files[i];
    }
  }
}

}  // namespace

BuiltIndex BuildIndex(
    Communicator& comm, const Format& format, const Catalog& catalog, const ChannelSettings& settings)
{
  BuiltIndex built;
  std::unique_ptr<IndexShareBuilder> builder;
  Together(comm, [&] { builder = LocateShare(comm, format, catalog, settings.Threads, built.Notes); });
  std::vector<std::uint32_t> numbers;
  const std::vector<std::string> files = JoinFiles(comm, builder->Files(), numbers);
  std::vector<std::byte> share;
  Together(comm, [&] { share = builder->Finish(numbers); });
  for (const std::uint64_t missing : GatherValues<std::uint64_t>(comm, {builder->Missing()})) {
    built.Missing += missing;
  }
  builder.reset();

  // The memory has the layout of the file.
  built.Lengths = GatherValues<std::uint64_t>(comm, {share.size()});
  std::uint64_t bytes = 0;
  for (const std::uint64_t length : built.Lengths) {
    built.Offsets.push_back(bytes);
    bytes += (length + GroupedHead::Alignment - 1) / GroupedHead::Alignment * GroupedHead::Alignment;
  }
  built.Index.Memory = std::make_shared<StagedMemory>(comm, bytes, settings.Stage);
  built.Index.Memory->Gather(comm, built.Offsets, built.Lengths, share.data());
  share = {};
  Together(comm, [&] {
    std::vector<ShareView> views;
    for (std::size_t r = 0; r < built.Lengths.size(); ++r) {
      views.push_back({built.Index.Memory->Data() + built.Offsets[r], built.Lengths[r]});
    }
    built.Index.Index = LocationIndex(catalog, files, views, built.Index.Memory);
  });
  TakeFingerprints(comm, built, settings.Threads);
  return built;
}

void DistrustYoungFiles(BuiltIndex& built, const DescribingState& describing, double settleSeconds)
{
  for (std::size_t i = 0; i < built.Changed.size(); ++i) {
    if (built.Changed[i] >= describing.Now - static_cast<std::int64_t>(settleSeconds * 1e9)) {
      built.Index.Prints[i] = {~std::uint64_t(0), -1, ~std::uint64_t(0)};  // of no file
    }
  }
}

// ---- saving ----

namespace {

/// Why an index may not be saved.
struct Obstacle
{
  std::string Text;
  double SecondsToWait = -1;
};

/// Files that changed too shortly before they were looked at.
std::optional<Obstacle> TooYoung(
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
  Obstacle obstacle{fmt::format("a file of the step changed less than {} s before", settleSeconds), -1};
  const std::int64_t now = NowInNanoseconds();
  if (youngest <= now) {
    obstacle.SecondsToWait = static_cast<double>(youngest + settle - now) * 1e-9 + 0.05;
    obstacle.SecondsToWait = std::max(obstacle.SecondsToWait, 0.0);
  } else {
    obstacle.Text = "the time of a file of the step lies in the future";
  }
  return obstacle;
}

/// Rank 0 decides.
Obstacle FindObstacle(const Catalog& catalog, const BuiltIndex& built, const DescribingState& describing,
    const ChannelSettings& settings)
{
  if (built.Missing > 0) {
    return {fmt::format("{} arrays cannot be located", built.Missing), -1};
  }
  const auto now = StateOf(catalog.Path);
  if (!built.VanishedFile.empty() || !describing.Before || !now || now->Print != describing.Before->Print) {
    return {"files of the step changed meanwhile", -1};
  }
  if (const auto young = TooYoung(built, describing, settings.SettleSeconds)) {
    return *young;
  }
  std::vector<std::uint64_t> sizes;
  for (const Fingerprint& print : built.Index.Prints) {
    sizes.push_back(print.Size);
  }
  // What would not be believed later need not be written.
  return {FaultOf([&] {
            CheckCatalog(catalog);
            built.Index.Index.Check(catalog, sizes);
          }),
      -1};
}

Description Describe(const Catalog& catalog, const StepIndex& index)
{
  Description description;
  const std::string folder = FolderOf(catalog.Path);
  for (const std::string& file : index.Index.Files()) {
    const std::string name = file.compare(0, folder.size(), folder) == 0 ? file.substr(folder.size()) : file;
    if (!StaysBelow(name)) {
      throw Error("its file " + file + " lies outside the folder of the step");
    }
    description.Files.push_back(name);
  }
  description.Prints = index.Prints;
  description.Data = catalog;
  description.Data.Path.clear();
  return description;
}

/// Parts of the master, but for the first, which depends on the place.
struct Contents
{
  Head First;
  std::vector<std::byte> Second;
  std::vector<PartEntry> Shares;
};

/// Writes one file. Throws Error, the same on all ranks.
void SaveAt(Communicator& comm, const Place& place, const Catalog& catalog, Contents& contents,
    const BuiltIndex& built)
{
  std::vector<std::vector<std::byte>> parts;
  std::vector<PartEntry> entries;
  std::string temporary;
  Together(comm, [&] {
    if (comm.Rank() == 0) {
      contents.First.Path = place.Beside ? "" : AbsolutePath(catalog.Path);
      parts = {Encode(contents.First), contents.Second};
      for (const auto& part : parts) {
        entries.push_back({part.size(), 0, Checksum(part.data(), part.size())});
      }
      temporary = PrepareToReplace(place);
    }
  });
  entries = GatherValues(comm, entries);
  entries.insert(entries.end(), contents.Shares.begin(), contents.Shares.end());
  temporary = comm.AllGather(temporary)[0];
  try {
    WriteGrouped(comm, temporary, GroupedHead(entries), parts,
        built.Index.Memory->Data() + built.Offsets[comm.Rank()]);
  } catch (...) {
    if (comm.Rank() == 0) {
      std::remove(temporary.c_str());
    }
    throw;
  }
  Together(comm, [&] {
    if (comm.Rank() == 0) {
      Replace(temporary, place);
    }
  });
}

}  // namespace

SaveOutcome SaveStepSidecar(Communicator& comm, const Format& format, const Catalog& catalog,
    BuiltIndex& built, const DescribingState& describing, const ChannelSettings& settings)
{
  SaveOutcome outcome;
  Contents contents;
  Obstacle obstacle;
  if (comm.Rank() == 0) {
    obstacle = FindObstacle(catalog, built, describing, settings);
    if (obstacle.Text.empty()) {
      obstacle.Text = FaultOf([&] {
        contents.First.FormatName = format.Name();
        contents.First.Described = describing.Before->Print;
        contents.First.Step = catalog.Step;
        contents.First.Time = catalog.Time;
        contents.Second = Encode(Describe(catalog, built.Index));
      });
    }
  }
  outcome.WhyNot = comm.AllGather(obstacle.Text)[0];
  outcome.SecondsToWait = comm.AllGather(std::vector<double>{obstacle.SecondsToWait})[0];
  if (!outcome.WhyNot.empty()) {
    return outcome;
  }
  const std::uint64_t length = built.Lengths[comm.Rank()];
  const std::byte* share = built.Index.Memory->Data() + built.Offsets[comm.Rank()];
  contents.Shares = GatherValues<PartEntry>(comm, {{length, 0, Checksum(share, length)}});
  for (const Place& place : SharedPlaces(comm, catalog.Path)) {
    try {
      SaveAt(comm, place, catalog, contents, built);
      outcome.WhyNot.clear();
      outcome.Path = place.Path;
      return outcome;
    } catch (const Error& error) {
      outcome.WhyNot += (outcome.WhyNot.empty() ? "" : " ") + std::string(error.what());
    }
  }
  return outcome;
}

}  // namespace patchio

#include "Hdf5/File.h"

#include "Base/Communicator.h"
#include "Base/File.h"
#include "Hdf5/LibraryFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

namespace patchio::hdf5 {

std::string WithoutLeadingSlashes(const std::string& object)
{
  return object.substr(std::min(object.find_first_not_of('/'), object.size()));
}

File::File(const std::string& path) : PathName(path), Reader(std::make_unique<Structure>())
{
  const auto file = std::make_shared<PlainFile>(path);
  this->Bytes = file->Size();
  this->Open(
      [file](std::uint64_t offset, void* into, std::size_t bytes) { file->Read(offset, into, bytes); });
}

File::File(const std::string& path, ReadAt read, std::uint64_t bytes)
    : PathName(path), Bytes(bytes), Reader(std::make_unique<Structure>())
{
  this->Open(std::move(read));
}

File::~File() = default;

void File::Open(ReadAt read)
{
  OpenStructure(*this->Reader, this->PathName, std::move(read), this->Bytes);
  this->CallWithNames("/", [&] { this->Groups.emplace("", this->Reader->OpenGroup(this->Reader->Root())); });
}

/// Returns the address of the header of `object`, or nothing if there is no such object. Throws Corrupt and
/// Unsupported.
std::optional<std::uint64_t> File::Lookup(const std::string& object) const
{
  const std::string path = WithoutLeadingSlashes(object);
  if (path.empty()) {
    return this->Reader->Root();
  }
  // Each group on the path is opened only once.
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return this->Reader->Find(this->Groups.at(""), path);
  }
  const std::string parent = path.substr(0, slash);
  auto known = this->Groups.find(parent);
  if (known == this->Groups.end()) {
    const auto header = this->Lookup(parent);
    std::optional<Group> group = header ? this->Reader->TryGroup(*header) : std::nullopt;
    if (!group) {
      return std::nullopt;
    }
    known = this->Groups.emplace(parent, *std::move(group)).first;
  }
  const std::string name = path.substr(slash + 1);
  return name.empty() ? this->Lookup(parent) : this->Reader->Find(known->second, name);
}

bool File::Has(const std::string& object) const
{
  return this->CallWithNames(object, [&] {
    try {
      return this->Lookup(object).has_value();
    } catch (const Unsupported&) {
      return true;  // reading the object reports what is not supported
    }
  });
}

bool File::IsGroup(const std::string& object) const
{
  return this->CallWithNames(object, [&] {
    const auto header = this->Lookup(object);
    return header && this->Reader->TryGroup(*header).has_value();
  });
}

std::vector<std::string> File::Names(const std::string& group) const
{
  return this->CallWithNames(group, [&] {
    const auto header = this->Lookup(group);
    const std::optional<Group> opened = header ? this->Reader->TryGroup(*header) : std::nullopt;
    return opened ? this->Reader->Names(*opened) : std::vector<std::string>();
  });
}

/// Returns the address of the header of the object with the name `dataset`. Throws Error if there is no such
/// object.
std::uint64_t File::AddressOf(const std::string& dataset) const
{
  const auto header = this->Lookup(dataset);
  if (!header) {
    throw FileError(
        this->PathName, fmt::format("a data set '{}'", PlainText(dataset)), "none", DamagedOrForeign);
  }
  return *header;
}

Dataset File::Describe(const std::string& dataset) const
{
  return this->CallWithNames(dataset, [&] {
    Dataset info = this->Reader->Describe(this->AddressOf(dataset));
    if (info.Layout == StorageLayout::Virtual) {
      const VirtualSources& sources = this->SourcesOf(dataset, info);
      if (!sources.Unsupported.empty()) {
        info.Layout = StorageLayout::Unsupported;
        info.Reason = sources.Unsupported;
        return info;
      }
      info.Class = sources.Type.Class;
      info.IsPlain = sources.Type.IsPlain;
      info.Signed = sources.Type.Signed;
      info.ElementBytes = sources.Type.Bytes;
    }
    return info;
  });
}

/// Returns the file at `path`, which has values of the virtual data set `dataset`. Opens the file unless it
/// is still open from an earlier call. At most 256 files stay open; references to files that are closed
/// become invalid. Throws Error if the file cannot be opened.
const File& File::SourceFile(const std::string& path, const std::string& dataset) const
{
  if (path == this->PathName) {
    return *this;
  }
  constexpr std::size_t mostOpen = 256;
  if (this->SourceFiles.size() >= mostOpen && this->SourceFiles.count(path) == 0) {
    this->SourceFiles.clear();
  }
  std::unique_ptr<File>& file = this->SourceFiles[path];
  if (!file) {
    const std::string fault = CatchError([&] { file = std::make_unique<File>(path); });
    if (!fault.empty()) {
      throw Error(fmt::format("{}: '{}' has values in another file, which PatchIO cannot read. {}",
          this->PathName, PlainText(dataset), fault));
    }
  }
  return *file;
}

namespace {

/// Returns the path of the source file `name` of a virtual data set; "." stands for `path`, the file of the
/// virtual data set. If `name` is absolute and outside the folder of `path`, returns the path of the file
/// with the same file name in this folder, because the user may have moved the files together. Throws
/// Unsupported unless the source file is in this folder or below.
std::string SourcePath(const std::string& path, const std::string& name)
{
  namespace fs = std::filesystem;
  if (name == ".") {
    return path;
  }
  const fs::path folder = fs::path(path).parent_path();
  fs::path relative = name;
  if (relative.is_absolute()) {
    relative = relative.lexically_relative(fs::absolute(folder).lexically_normal());
    std::error_code ignored;
    if (relative.empty() || *relative.begin() == "..") {
      relative = fs::path(name).filename();
      relative = fs::is_regular_file(folder / relative, ignored) ? relative : fs::path("..");
    }
  }
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) {
    throw Unsupported("virtual data set of files in other folders");
  }
  return (folder / relative).string();
}

}  // namespace

/// Returns the run of a mapping of the virtual data set `dataset`. `info`: description of `dataset`;
/// `source`: receives the description of the data set that has the values. Throws Unsupported if the values
/// of the mapping are not contiguous or the source is virtual, too, and Error if the source cannot be read.
MappedRun File::ReadMapping(
    const std::string& dataset, const VirtualMapping& mapping, const Dataset& info, Dataset& source) const
{
  MappedRun run;
  run.Path = SourcePath(this->PathName, mapping.File);
  run.Dataset = WithoutLeadingSlashes(mapping.Dataset);
  const File& file = this->SourceFile(run.Path, dataset);
  source =
      file.CallWithNames(run.Dataset, [&] { return file.Reader->Describe(file.AddressOf(run.Dataset)); });
  if (source.Layout == StorageLayout::Virtual) {
    throw Unsupported("virtual data set of virtual data sets");
  }
  const std::optional<ValueRun> virtualRun = RunOf(mapping.Virtual, info);
  const std::optional<ValueRun> sourceRun = RunOf(mapping.Source, source);
  if (!virtualRun || !sourceRun || virtualRun->Count != sourceRun->Count) {
    throw Unsupported("virtual data set of parts that are not contiguous");
  }
  run.First = virtualRun->First;
  run.Count = virtualRun->Count;
  run.SourceFirst = sourceRun->First;
  return run;
}

namespace {

/// Returns `runs`, sorted, together with runs without a file for the values that no mapping has. `values`:
/// number of values of the virtual data set. Throws Unsupported if runs overlap.
std::vector<MappedRun> AddGapRuns(std::vector<MappedRun> runs, std::uint64_t values)
{
  std::sort(
      runs.begin(), runs.end(), [](const MappedRun& a, const MappedRun& b) { return a.First < b.First; });
  std::vector<MappedRun> all;
  std::uint64_t end = 0;
  const auto fillUpTo = [&](std::uint64_t first) {
    if (first > end) {
      all.push_back({{}, {}, end, first - end, 0});
    }
  };
  for (MappedRun& run : runs) {
    if (run.First < end) {
      throw Unsupported("virtual data set of parts that overlap");
    }
    fillUpTo(run.First);
    end = run.First + run.Count;
    all.push_back(std::move(run));
  }
  fillUpTo(values);
  return all;
}

}  // namespace

/// Returns the sources of a virtual data set. Throws Corrupt and Error.
const File::VirtualSources& File::SourcesOf(const std::string& dataset, const Dataset& info) const
{
  const auto known = this->Sources.find(dataset);
  if (known != this->Sources.end()) {
    return known->second;
  }
  VirtualSources sources{
      {}, {info.Class, info.IsPlain, info.BigEndian, info.Signed, false, info.ElementBytes, {}}, {}};
  try {
    this->FindSources(dataset, info, sources);
  } catch (const Unsupported& unsupported) {
    sources.Unsupported = unsupported.what();
  }
  return this->Sources.emplace(dataset, std::move(sources)).first->second;
}

/// Sets the runs of a virtual data set and the type of their values, which may differ from the type of
/// `info`: VTK's writer declares float64 for data sets of float32. Throws Corrupt, Unsupported and Error.
void File::FindSources(const std::string& dataset, const Dataset& info, VirtualSources& sources) const
{
  const std::optional<ElementType> own = ElementTypeOf(info);
  for (const VirtualMapping& mapping : this->Reader->Mappings(info)) {
    if (++this->MappingCount > MostMappings) {
      throw Unsupported("virtual data sets of too many parts");
    }
    const std::optional<ValueRun> run = RunOf(mapping.Virtual, info);
    if (run && run->Count == 0) {
      continue;  // the part of a rank without values, whose file may be missing
    }
    Dataset other;
    sources.Runs.push_back(this->ReadMapping(dataset, mapping, info, other));
    if (sources.Runs.size() > 1 && ElementTypeOf(other) != ElementTypeOf(sources.Type)) {
      throw Unsupported("virtual data set of parts of different types");
    }
    sources.Type = {other.Class, other.IsPlain, other.BigEndian, other.Signed, false, other.ElementBytes, {}};
  }
  if (info.Fill != 0 && ElementTypeOf(sources.Type) != own) {
    throw Unsupported("virtual data set whose fill value has another type than its parts");
  }
  sources.Runs = AddGapRuns(std::move(sources.Runs), info.Values);
}

FoundDataset File::Find(const std::string& dataset) const
{
  FoundDataset found{this->Describe(dataset), {}, {}};
  if (found.Info.Layout == StorageLayout::Virtual) {
    found.Runs = this->SourcesOf(dataset, found.Info).Runs;
  }
  if (found.Info.Layout == StorageLayout::Chunked && this->ListChunks(dataset, found)) {
    this->ListedChunks += found.Chunks.size();
  }
  return found;
}

/// Fills found.Chunks. Returns false, and sets the layout to Library (Unsupported if the library must not be
/// used), if these chunks and the chunks that Find() has listed are more than the file can contain.
bool File::ListChunks(const std::string& dataset, FoundDataset& found) const
{
  const std::uint64_t chunks = CountChunks(found.Info), most = MostChunks(this->Bytes);
  if (chunks > most || this->ListedChunks > most - chunks) {
    SetLibraryLayout(found.Info, MoreChunksThanFit);
    return false;
  }
  found.Chunks.resize(chunks);
  this->CallWithNames(dataset, [&] { this->Reader->ListChunks(found.Info, found.Chunks.data()); });
  return true;
}

bool HasSignature(const std::string& path)
{
  try {
    constexpr std::uint64_t longestUserBlock = 1 << 16;
    const PlainFile file(path);
    char bytes[Signature.size()] = {};
    for (std::uint64_t offset = 0; offset <= longestUserBlock; offset = NextSuperblockOffset(offset)) {
      if (file.ReadUpTo(offset, bytes, sizeof bytes) < sizeof bytes) {
        return false;
      }
      if (std::string_view(bytes, sizeof bytes) == Signature) {
        return true;
      }
    }
    return false;
  } catch (const Error&) {
    return false;  // a folder, a pipe, or an unreadable file
  }
}

bool CanOpen(const std::string& path)
{
  try {
    const File file(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

namespace {

/// Appends a range of values of a chunked data set to `table`, with the chunks that contain the values.
Location AppendChunked(
    const FoundDataset& found, ElementType type, const DatasetRange& range, int file, LocationTable& table)
{
  ChunkedArray array = MakeChunkedArray(found.Info, type, file);
  array.First = range.First;
  array.Count = range.Count;
  array.StepStride = range.StepStride;
  ChunkedArray all = array;
  all.Count += range.StepStride * static_cast<std::uint64_t>(range.Steps - 1);
  const ChunkRange chunks = ChunksHolding(all);
  array.FirstChunk = table.Chunks.size();
  array.ChunkCount = chunks.End - chunks.Begin;
  table.Chunks.insert(table.Chunks.end(), found.Chunks.begin() + static_cast<std::ptrdiff_t>(chunks.Begin),
      found.Chunks.begin() + static_cast<std::ptrdiff_t>(chunks.End));
  table.ChunkedArrays.push_back(array);
  return MakeLocation(Encoding::Chunked, table.ChunkedArrays.size() - 1, 1);
}

/// Appends the values of several time steps of a contiguous data set to `table`, as an array without filters
/// that has one chunk per step.
Location AppendSteps(
    const FoundDataset& found, ElementType type, const DatasetRange& range, int file, LocationTable& table)
{
  const std::uint64_t elementBytes = SizeOf(type);
  const auto bytes = static_cast<std::uint32_t>(range.Count * elementBytes);
  ChunkedArray array;
  array.File = file;
  array.Type = type;
  array.BigEndian = found.Info.BigEndian;
  array.Rank = 2;
  array.Dims = {static_cast<std::uint64_t>(range.Steps), range.Count};
  array.ChunkDims = {1, range.Count};
  array.Count = array.StepStride = range.Count;
  array.FirstChunk = table.Chunks.size();
  array.ChunkCount = array.Dims[0];
  for (std::uint64_t step = 0; step < array.Dims[0]; ++step) {
    const std::uint64_t first = range.First + step * range.StepStride;
    table.Chunks.push_back({found.Info.Offset + first * elementBytes, step, bytes, 0});
  }
  table.ChunkedArrays.push_back(array);
  return MakeLocation(Encoding::Chunked, table.ChunkedArrays.size() - 1, 1);
}

}  // namespace

Location AppendRange(const FoundDataset& found, ElementType type, const std::string& name,
    const DatasetRange& range, int file, LocationTable& table)
{
  const std::uint64_t bytes = range.Count * SizeOf(type);
  const bool fitsChunk = bytes <= std::numeric_limits<std::uint32_t>::max();
  if (found.Info.Layout == StorageLayout::Contiguous && range.Steps == 1) {
    const std::uint64_t offset = found.Info.Offset + range.First * SizeOf(type);
    table.ByteRanges.push_back({offset, bytes, file, type, found.Info.BigEndian});
    return MakeLocation(Encoding::Raw, table.ByteRanges.size() - 1, 1);
  }
  if (found.Info.Layout == StorageLayout::Contiguous && fitsChunk) {
    return AppendSteps(found, type, range, file, table);
  }
  if (found.Info.Layout == StorageLayout::Chunked) {
    return AppendChunked(found, type, range, file, table);
  }
  LibraryArray array;
  array.File = file;
  array.Type = type;
  array.Dataset = "/" + WithoutLeadingSlashes(name);
  array.First = range.First;
  array.Count = range.Count;
  array.Reason = found.Info.Layout == StorageLayout::Contiguous ? "contiguous steps of more than 4 GiB"
                                                                : found.Info.Reason;
  array.StepStride = range.StepStride;
  table.LibraryArrays.push_back(array);
  return MakeLocation(Encoding::Library, table.LibraryArrays.size() - 1, 1);
}

}  // namespace patchio::hdf5

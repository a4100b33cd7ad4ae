#include "Hdf5/File.h"

#include "Base/Communicator.h"
#include "Base/File.h"
#include "Hdf5/Library.h"
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
  OpenNamed(*this->Reader, this->PathName, std::move(read), this->Bytes);
  this->Guarded("/", [&] { this->Groups.emplace("", this->Reader->OpenGroup(this->Reader->Root())); });
}

/// Returns the address of an object's header, or nothing if there is no such object. Throws Corrupt and
/// Unsupported.
std::optional<std::uint64_t> File::Lookup(const std::string& object) const
{
  const std::string path = WithoutLeadingSlashes(object);
  if (path.empty()) {
    return this->Reader->Root();
  }
  // The groups on the path are opened only once.
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return this->Reader->Find(this->Groups.at(""), path);
  }
  const std::string above = path.substr(0, slash);
  auto known = this->Groups.find(above);
  if (known == this->Groups.end()) {
    const auto header = this->Lookup(above);
    std::optional<Group> group = header ? this->Reader->TryGroup(*header) : std::nullopt;
    if (!group) {
      return std::nullopt;
    }
    known = this->Groups.emplace(above, *std::move(group)).first;
  }
  const std::string name = path.substr(slash + 1);
  return name.empty() ? this->Lookup(above) : this->Reader->Find(known->second, name);
}

bool File::Has(const std::string& object) const
{
  return this->Guarded(object, [&] {
    try {
      return this->Lookup(object).has_value();
    } catch (const Unsupported&) {
      return true;  // reading the object reports what is not supported
    }
  });
}

bool File::IsGroup(const std::string& object) const
{
  return this->Guarded(object, [&] {
    const auto header = this->Lookup(object);
    return header && this->Reader->TryGroup(*header).has_value();
  });
}

std::vector<std::string> File::Names(const std::string& group) const
{
  return this->Guarded(group, [&] {
    const auto header = this->Lookup(group);
    const std::optional<Group> opened = header ? this->Reader->TryGroup(*header) : std::nullopt;
    return opened ? this->Reader->Names(*opened) : std::vector<std::string>();
  });
}

/// Returns the address of a data set, or of another object with that name. Throws Error if there is no such
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
  return this->Guarded(dataset, [&] {
    Dataset info = this->Reader->Describe(this->AddressOf(dataset));
    if (info.Layout == StorageLayout::Virtual) {
      try {
        const VirtualSources& sources = this->SourcesOf(dataset, info);
        info.Class = sources.Type.Class;
        info.IsPlain = sources.Type.IsPlain;
        info.Signed = sources.Type.Signed;
        info.ElementBytes = sources.Type.Bytes;
      } catch (const Unsupported& unsupported) {
        info.Layout = StorageLayout::Unsupported;
        info.Reason = unsupported.what();
      }
    }
    return info;
  });
}

/// Returns the open file at `path`, which has values of the virtual data set `dataset`.
const File& File::NearFile(const std::string& path, const std::string& dataset) const
{
  if (path == this->PathName) {
    return *this;
  }
  constexpr std::size_t mostOpen = 256;
  if (this->NearFiles.size() >= mostOpen && this->NearFiles.count(path) == 0) {
    this->NearFiles.clear();
  }
  std::unique_ptr<File>& file = this->NearFiles[path];
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

/// Returns the path of a file that a virtual data set names. The file must be in the folder of `path` or
/// below. For an absolute name outside this folder, returns the file with the same last part in the folder,
/// because the user may have moved the files together.
std::string NearPath(const std::string& path, const std::string& name)
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

/// Describes one part of a virtual data set. other: receives the data set that has the values. Throws
/// Unsupported and Error.
VirtualPart File::PartOf(
    const std::string& dataset, const VirtualMapping& mapping, const Dataset& info, Dataset& other) const
{
  VirtualPart part;
  part.Path = NearPath(this->PathName, mapping.File);
  part.Dataset = WithoutLeadingSlashes(mapping.Dataset);
  const File& file = this->NearFile(part.Path, dataset);
  other = file.Guarded(part.Dataset, [&] { return file.Reader->Describe(file.AddressOf(part.Dataset)); });
  if (other.Layout == StorageLayout::Virtual) {
    throw Unsupported("virtual data set of virtual data sets");
  }
  const std::optional<ValueRun> here = RunOf(mapping.Here, info), there = RunOf(mapping.There, other);
  if (!here || !there || here->Count != there->Count) {
    throw Unsupported("virtual data set of parts that are not contiguous");
  }
  part.First = here->First;
  part.Count = here->Count;
  part.FirstThere = there->First;
  return part;
}

namespace {

/// Sorts the parts and adds parts for the values that no mapping has. Returns all parts. Throws Unsupported
/// if parts overlap.
std::vector<VirtualPart> WithGaps(std::vector<VirtualPart> parts, std::uint64_t values)
{
  std::sort(parts.begin(), parts.end(),
      [](const VirtualPart& a, const VirtualPart& b) { return a.First < b.First; });
  std::vector<VirtualPart> all;
  std::uint64_t end = 0;
  const auto fillUpTo = [&](std::uint64_t first) {
    if (first > end) {
      all.push_back({{}, {}, end, first - end, 0});
    }
  };
  for (VirtualPart& part : parts) {
    if (part.First < end) {
      throw Unsupported("virtual data set of parts that overlap");
    }
    fillUpTo(part.First);
    end = part.First + part.Count;
    all.push_back(std::move(part));
  }
  fillUpTo(values);
  return all;
}

}  // namespace

/// Returns the parts of a virtual data set and the type of their values, which may differ from the stated
/// type: VTK's writer declares float64 for float32 parts.
const File::VirtualSources& File::SourcesOf(const std::string& dataset, const Dataset& info) const
{
  const auto known = this->Sources.find(dataset);
  if (known != this->Sources.end()) {
    return known->second;
  }
  VirtualSources sources{
      {}, {info.Class, info.IsPlain, info.BigEndian, info.Signed, false, info.ElementBytes, {}}};
  const std::optional<ElementType> own = TypeOfValues(info);
  for (const VirtualMapping& mapping : this->Reader->Mappings(info)) {
    if (++this->Mapped > MostMappings) {
      throw Unsupported("virtual data sets of too many parts");
    }
    Dataset other;
    sources.Parts.push_back(this->PartOf(dataset, mapping, info, other));
    if (sources.Parts.size() > 1 && TypeOfValues(other) != TypeOfNumber(sources.Type)) {
      throw Unsupported("virtual data set of parts of different types");
    }
    sources.Type = {other.Class, other.IsPlain, other.BigEndian, other.Signed, false, other.ElementBytes, {}};
  }
  if (info.Fill != 0 && TypeOfNumber(sources.Type) != own) {
    throw Unsupported("virtual data set of parts of different types");
  }
  sources.Parts = WithGaps(std::move(sources.Parts), info.Values);
  return this->Sources.emplace(dataset, std::move(sources)).first->second;
}

FoundDataset File::Find(const std::string& dataset) const
{
  FoundDataset found{this->Describe(dataset), {}, {}};
  if (found.Info.Layout == StorageLayout::Virtual) {
    found.Parts = this->SourcesOf(dataset, found.Info).Parts;
  }
  if (found.Info.Layout == StorageLayout::Chunked && this->ListChunks(dataset, found)) {
    this->Listed += found.Chunks.size();
  }
  return found;
}

/// Lists the chunks of a data set. Returns false, and leaves the data set to the library, if the lists of
/// Find() would have more chunks than the file can contain.
bool File::ListChunks(const std::string& dataset, FoundDataset& found) const
{
  const std::uint64_t chunks = ChunksOf(found.Info), most = MostChunks(this->Bytes);
  if (chunks > most || this->Listed > most - chunks) {
    found.Info.Layout = LibraryIsAllowed() ? StorageLayout::Library : StorageLayout::Unsupported;
    found.Info.Reason = MoreChunksThanFit;
    return false;
  }
  found.Chunks.resize(chunks);
  this->Guarded(dataset, [&] { this->Reader->ListChunks(found.Info, found.Chunks.data()); });
  return true;
}

bool HasSignature(const std::string& path)
{
  try {
    constexpr std::uint64_t longestUserBlock = 1 << 16;
    const PlainFile file(path);
    char bytes[Signature.size()] = {};
    for (std::uint64_t offset = 0; offset <= longestUserBlock; offset = NextSuperblockOffset(offset)) {
      if (file.ReadSome(offset, bytes, sizeof bytes) < sizeof bytes) {
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

Location AppendChunked(
    const FoundDataset& found, ElementType type, const DatasetPart& part, int file, LocationTable& table)
{
  ChunkedArray array = ArrayOf(found.Info, type, file);
  array.First = part.First;
  array.Count = part.Count;
  array.StepValues = part.StepValues;
  ChunkedArray all = array;
  all.Count += part.StepValues * static_cast<std::uint64_t>(part.Steps - 1);
  const ChunkRange range = ChunksHolding(all);
  array.FirstChunk = table.Chunks.size();
  array.ChunkCount = range.End - range.Begin;
  table.Chunks.insert(table.Chunks.end(), found.Chunks.begin() + static_cast<std::ptrdiff_t>(range.Begin),
      found.Chunks.begin() + static_cast<std::ptrdiff_t>(range.End));
  table.ChunkedArrays.push_back(array);
  return MakeLocation(Encoding::Chunked, table.ChunkedArrays.size() - 1, 1);
}

/// Appends the values of several time steps of a contiguous data set, as an array without filters that has
/// one chunk per step.
Location AppendSteps(
    const FoundDataset& found, ElementType type, const DatasetPart& part, int file, LocationTable& table)
{
  const std::uint64_t elementBytes = SizeOf(type);
  const auto bytes = static_cast<std::uint32_t>(part.Count * elementBytes);
  ChunkedArray array;
  array.File = file;
  array.Type = type;
  array.BigEndian = found.Info.BigEndian;
  array.Rank = 2;
  array.Dims = {static_cast<std::uint64_t>(part.Steps), part.Count};
  array.ChunkDims = {1, part.Count};
  array.Count = array.StepValues = part.Count;
  array.FirstChunk = table.Chunks.size();
  array.ChunkCount = array.Dims[0];
  for (std::uint64_t step = 0; step < array.Dims[0]; ++step) {
    const std::uint64_t first = part.First + step * part.StepValues;
    table.Chunks.push_back({found.Info.Offset + first * elementBytes, step, bytes, 0});
  }
  table.ChunkedArrays.push_back(array);
  return MakeLocation(Encoding::Chunked, table.ChunkedArrays.size() - 1, 1);
}

}  // namespace

Location AppendPart(const FoundDataset& found, ElementType type, const std::string& name,
    const DatasetPart& part, int file, LocationTable& table)
{
  const std::uint64_t bytes = part.Count * SizeOf(type);
  const bool fitsChunk = bytes <= std::numeric_limits<std::uint32_t>::max();
  if (found.Info.Layout == StorageLayout::Contiguous && part.Steps == 1) {
    const std::uint64_t offset = found.Info.Offset + part.First * SizeOf(type);
    table.ByteRanges.push_back({offset, bytes, file, type, found.Info.BigEndian});
    return MakeLocation(Encoding::Raw, table.ByteRanges.size() - 1, 1);
  }
  if (found.Info.Layout == StorageLayout::Contiguous && fitsChunk) {
    return AppendSteps(found, type, part, file, table);
  }
  if (found.Info.Layout == StorageLayout::Chunked) {
    return AppendChunked(found, type, part, file, table);
  }
  LibraryArray array;
  array.File = file;
  array.Type = type;
  array.Dataset = "/" + WithoutLeadingSlashes(name);
  array.First = part.First;
  array.Count = part.Count;
  array.Reason = found.Info.Layout == StorageLayout::Contiguous ? "steps of more than 4 GiB in one piece"
                                                                : found.Info.Reason;
  array.StepValues = part.StepValues;
  table.LibraryArrays.push_back(array);
  return MakeLocation(Encoding::Library, table.LibraryArrays.size() - 1, 1);
}

}  // namespace patchio::hdf5

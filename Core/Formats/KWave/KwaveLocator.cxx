// From the catalog to the bytes in k-Wave files. PatchIO's index reader looks into the files; where it meets
// something that it does not know, the HDF5 library is asked.
#include "Formats/KWave/KwaveFormat.h"
#include "Formats/LocateTask.h"
#include "Hdf5Index/IndexReader.h"
#include "Hdf5Index/LibraryDataset.h"
#include "Support/Error.h"
#include "Support/Hdf5.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

namespace fs = std::filesystem;

namespace patchio::kwave {
namespace {

using hdf5index::Dataset;
using hdf5index::NumberClass;
using hdf5index::StorageLayout;
using hdf5index::Unfamiliar;

/// A data set with its chunks, in the order of their numbers.
struct FoundDataset
{
  Dataset Info;
  ElementType Type = ElementType::Float32;
  std::vector<Chunk> Chunks;
  std::string Problem;  ///< why it cannot be used; empty: it can
};

/// One file, asked by both readers.
class FileInspector
{
public:
  FileInspector(const std::string& path, bool libraryOnly, LocateTask& task) : Path(path)
  {
    CheckThere();
    if (!libraryOnly) {
      this->OpenIndex(task);
    }
  }

  FoundDataset Find(const std::string& name)
  {
    if (this->Index) {
      try {
        return this->FindByIndex(name);
      } catch (const Unfamiliar& unfamiliar) {
        this->Reason = this->Reason.empty() ? unfamiliar.what() : this->Reason;
      }
    }
    return this->FindByLibrary(name);
  }

  const std::string& Name() const { return this->Path; }
  std::uint64_t FileBytes() const { return this->Bytes; }
  /// Why the library was asked; empty when it was not.
  const std::string& WhyLibrary() const { return this->Reason; }

private:
  void CheckThere()
  {
    std::error_code fault;
    this->Bytes = fs::file_size(this->Path, fault);
    if (fault) {
      throw FileError(this->Path, "a file that can be read", fault.message());
    }
  }

  void OpenIndex(LocateTask& task)
  {
    try {
      this->Storage = task.FilesOf({this->Path});
      this->Index = std::make_unique<hdf5index::IndexReader>();
      this->Index->Open(this->Storage->Open(0), this->Bytes);
      this->Root = this->Index->OpenGroup(this->Index->Root());
    } catch (const Unfamiliar& unfamiliar) {
      this->Index.reset();
      this->Reason = unfamiliar.what();
    }
  }

  FoundDataset FindByIndex(const std::string& name)
  {
    hdf5index::Group group = this->Root;
    std::string last = name;
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos) {
      const auto header = this->Index->Find(group, name.substr(0, slash));
      if (!header) {
        throw Unfamiliar("a group that is not there");
      }
      group = this->Index->OpenGroup(*header);
      last = name.substr(slash + 1);
    }
    const auto header = this->Index->Find(group, last);
    if (!header) {
      throw Unfamiliar("a data set that is not there");
    }
    FoundDataset found;
    found.Info = this->Index->Describe(*header);
    if (found.Info.Layout == StorageLayout::Chunked && this->MayList(found.Info)) {
      found.Chunks.resize(hdf5index::ChunksOf(found.Info));
      this->Index->ListChunks(found.Info, found.Chunks.data());
    }
    return found;
  }

  FoundDataset FindByLibrary(const std::string& name)
  {
    if (!this->Library) {
      this->Library = std::make_unique<hdf5::File>(this->Path);
    }
    const hdf5::Handle dataset = this->Library->OpenDataset(this->Library->Id(), name);
    if (!dataset.Valid()) {
      throw FileError(this->Path, fmt::format("a data set '{}'", name),
          "none that can be opened (" + hdf5::LastMessage() + ")", "The file is damaged or has changed");
    }
    FoundDataset found;
    found.Info = hdf5index::DescribeByLibrary(dataset);
    if (found.Info.Layout == StorageLayout::Chunked && this->MayList(found.Info)) {
      found.Chunks.resize(hdf5index::ChunksOf(found.Info));
      try {
        hdf5index::ListChunksByLibrary(dataset, found.Info, this->Bytes, found.Chunks.data());
      } catch (const Error& error) {
        throw FileError(this->Path, fmt::format("readable chunks in '{}'", name), error.what(),
            "The file is damaged, truncated or still being written");
      }
    }
    return found;
  }

  /// Lists that cannot be true would take more memory than the file; the library reads such arrays.
  bool MayList(Dataset& info)
  {
    const std::uint64_t chunks = hdf5index::ChunksOf(info);
    const std::uint64_t most = hdf5index::MostChunks(this->Bytes);
    if (chunks > most || this->Listed > most - chunks) {
      info.Layout = StorageLayout::Library;
      info.Reason = "more chunks than fit into the file";
      return false;
    }
    this->Listed += chunks;
    return true;
  }

  const std::string Path;
  std::uint64_t Bytes = 0;
  std::uint64_t Listed = 0;  ///< chunks so far
  std::string Reason;
  std::unique_ptr<Source> Storage;
  std::unique_ptr<hdf5index::IndexReader> Index;
  hdf5index::Group Root;
  std::unique_ptr<hdf5::File> Library;
};

/// Describes a contiguous data set as one in chunks without filters, one chunk a time step.
void BecomeChunks(FoundDataset& found, std::uint64_t stepValues)
{
  Dataset& info = found.Info;
  const std::uint64_t bytes = stepValues * SizeOf(found.Type);
  if (bytes > 0xffffffffu) {
    info.Layout = StorageLayout::Library;
    info.Reason = "steps of more than 4 GiB in one piece";
    return;
  }
  info.Layout = StorageLayout::Chunked;
  info.Rank = 2;
  info.Dims = {info.Values / stepValues, stepValues};
  info.ChunkDims = {1, stepValues};
  for (std::uint64_t step = 0; step < info.Dims[0]; ++step) {
    found.Chunks.push_back({info.Offset + step * bytes, step, static_cast<std::uint32_t>(bytes), 0});
  }
}

class Locator
{
public:
  Locator(const Catalog& catalog, const LocateOptions& options) : Data(catalog), Options(options)
  {
    this->MeasureParts();
  }

  LocationTable Run(const std::vector<PatchVariable>& requests)
  {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      this->Task.Tell(static_cast<double>(i) / static_cast<double>(requests.size()));
      this->Table.Locations.push_back(MakeLocation(Encoding::Missing, 0, 0));
      const std::string problem =
          CatchError([&] { this->Table.Locations.back() = this->LocateOne(requests[i]); });
      if (!problem.empty()) {
        this->Table.Problems.push_back({i, problem});
      }
    }
    this->Task.Tell(1);
    for (const auto& [name, file] : this->Files) {
      if (file && !file->WhyLibrary().empty()) {
        this->Table.Notes.push_back(
            fmt::format("{} is indexed by the HDF5 library: {}", file->Name(), file->WhyLibrary()));
      }
    }
    return std::move(this->Table);
  }

private:
  void MeasureParts();
  Location LocateOne(const PatchVariable& request);
  const FoundDataset& DatasetOf(const PatchVariable& request, int& file, std::string& name);
  FileInspector& InspectorOf(const std::string& path);
  void Check(FoundDataset& found, const FileInspector& inspector, const std::string& name, bool timeInvariant,
      std::uint64_t partValues) const;
  Location AddRaw(const FoundDataset& found, int file, const PatchVariable& request);
  template <typename Array>
  void SetValues(const PatchVariable& request, Array& array) const;
  Location AddChunked(const FoundDataset& found, int file, const PatchVariable& request);
  Location AddLibrary(
      const FoundDataset& found, int file, const std::string& name, const PatchVariable& request);
  std::uint64_t CountOf(const PatchVariable& request) const
  {
    return static_cast<std::uint64_t>(this->Data.StoredTuples(request.Variable, request.Patch));
  }

  const Catalog& Data;
  const LocateOptions Options;
  LocateTask Task{this->Options};
  LocationTable Table;
  std::map<std::string, std::unique_ptr<FileInspector>> Files;
  std::map<std::string, int> FileNumbers;
  std::map<std::string, FoundDataset> Found;
  std::vector<std::uint64_t> FirstInPart, PartValues;  ///< per patch
};

/// Patches that were cut of one part lie one after another in its data sets.
void Locator::MeasureParts()
{
  const std::size_t patches = this->Data.Patches.size();
  this->FirstInPart.assign(patches, 0);
  this->PartValues.assign(patches, 0);
  std::map<std::pair<int, int>, std::uint64_t> parts;
  const auto partOf = [&](std::size_t p) {
    const Patch& patch = this->Data.Patches[p];
    const bool separate = this->Data.RoleOf(patch.Level) == LevelRole::Separate;
    return std::make_pair(patch.Level, separate ? patch.Number : 0);
  };
  for (std::size_t p = 0; p < patches; ++p) {
    std::uint64_t& values = parts[partOf(p)];
    this->FirstInPart[p] = values;
    values += static_cast<std::uint64_t>(this->Data.Patches[p].Cells.Cells());
  }
  for (std::size_t p = 0; p < patches; ++p) {
    this->PartValues[p] = parts[partOf(p)];
  }
}

Location Locator::LocateOne(const PatchVariable& request)
{
  if (this->Data.PresenceOf(request.Variable, request.Patch) != Presence::Stored) {
    return {};
  }
  int file = 0;
  std::string name;
  const FoundDataset& found = this->DatasetOf(request, file, name);
  if (!found.Problem.empty()) {
    throw Error(found.Problem);
  }
  switch (found.Info.Layout) {
    case StorageLayout::Contiguous:
      return this->AddRaw(found, file, request);
    case StorageLayout::Chunked:
      return this->AddChunked(found, file, request);
    default:
      return this->AddLibrary(found, file, name, request);
  }
}

FileInspector& Locator::InspectorOf(const std::string& path)
{
  std::unique_ptr<FileInspector>& inspector = this->Files[path];
  if (!inspector) {
    inspector = std::make_unique<FileInspector>(path, this->Options.LibraryOnly, this->Task);
  }
  return *inspector;
}

const FoundDataset& Locator::DatasetOf(const PatchVariable& request, int& file, std::string& name)
{
  const Variable& variable = this->Data.Variables[request.Variable];
  const Patch& patch = this->Data.Patches[request.Patch];
  std::string path = this->Data.Path;
  name = variable.StoredName;
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos) {
    path = (fs::path(path).parent_path() / name.substr(0, slash)).string();
    name = name.substr(slash + 1);
  }
  if (this->Data.RoleOf(patch.Level) == LevelRole::Separate) {
    name += "/" + std::to_string(patch.Number);
  }
  const auto number = this->FileNumbers.emplace(path, static_cast<int>(this->Table.Files.size()));
  if (number.second) {
    this->Table.Files.push_back(path);
  }
  file = number.first->second;
  const auto [entry, isNew] = this->Found.emplace(path + '\n' + name, FoundDataset());
  FoundDataset& found = entry->second;
  if (isNew) {
    found.Problem = CatchError([&] {
      FileInspector& inspector = this->InspectorOf(path);
      found = inspector.Find(name);
      this->Check(found, inspector, name, variable.TimeInvariant, this->PartValues[request.Patch]);
      if (found.Info.Layout == StorageLayout::Contiguous && !variable.TimeInvariant &&
          this->Data.StepsInFile > 1) {
        BecomeChunks(found, this->PartValues[request.Patch]);
      }
    });
  }
  return found;
}

/// Finds out the type, and whether the data set is what the catalog says.
void Locator::Check(FoundDataset& found, const FileInspector& inspector, const std::string& name,
    bool timeInvariant, std::uint64_t partValues) const
{
  Dataset& info = found.Info;
  const bool wide = info.ElementBytes == 8;
  if (info.Class == NumberClass::Other || (info.ElementBytes != 4 && !wide)) {
    throw FileError(inspector.Name(), fmt::format("numbers of 4 or 8 bytes in '{}'", name), "another type",
        "The file was not written by k-Wave");
  }
  found.Type = info.Class == NumberClass::Float ? (wide ? ElementType::Float64 : ElementType::Float32)
                                                : (wide ? ElementType::Int64 : ElementType::Int32);
  const auto steps = static_cast<std::uint64_t>(timeInvariant ? 1 : this->Data.StepsInFile);
  const bool fits = timeInvariant ? info.Values == partValues
                                  : info.Values % partValues == 0 && info.Values / partValues >= steps;
  if (!fits) {
    throw FileError(inspector.Name(), fmt::format("{} x {} values in '{}'", steps, partValues, name),
        fmt::format("{}", info.Values), "The file has changed since it was opened, or is damaged");
  }
  if (info.Layout == StorageLayout::Nowhere) {
    throw FileError(
        inspector.Name(), fmt::format("values in '{}'", name), info.Reason, "The run may still be writing");
  }
  const std::uint64_t size = inspector.FileBytes();
  if (info.Layout == StorageLayout::Contiguous &&
      (info.Offset > size || info.Values > (size - info.Offset) / SizeOf(found.Type))) {
    throw FileError(inspector.Name(), fmt::format("'{}' inside the file of {} bytes", name, size),
        fmt::format("{} values at {}", info.Values, info.Offset),
        "The file is truncated or still being written");
  }
}

Location Locator::AddRaw(const FoundDataset& found, int file, const PatchVariable& request)
{
  const std::size_t bytes = SizeOf(found.Type);
  this->Table.Extents.push_back({found.Info.Offset + this->FirstInPart[request.Patch] * bytes,
      this->CountOf(request) * bytes, file, found.Type, found.Info.BigEndian});
  return MakeLocation(Encoding::Raw, this->Table.Extents.size() - 1, 1);
}

/// Which values of its data set a request wants: of the step of the catalog, or of all steps.
template <typename Array>
void Locator::SetValues(const PatchVariable& request, Array& array) const
{
  array.First = this->FirstInPart[request.Patch];
  array.Count = this->CountOf(request);
  const std::uint64_t partValues = this->PartValues[request.Patch];
  const bool series = !this->Data.Variables[request.Variable].TimeInvariant;
  if (series && this->Options.AllSteps && this->Data.StepsInFile > 1) {
    array.StepValues = partValues;
  } else if (series) {
    array.First += partValues * static_cast<std::uint64_t>(this->Data.StepInFile);
  }
}

Location Locator::AddChunked(const FoundDataset& found, int file, const PatchVariable& request)
{
  const Dataset& info = found.Info;
  ChunkedArray array;
  array.File = file;
  array.Type = found.Type;
  array.BigEndian = info.BigEndian;
  array.Rank = info.Rank;
  array.Filters = info.Filters;
  array.Dims = info.Dims;
  array.ChunkDims = info.ChunkDims;
  array.Fill = info.Fill;
  this->SetValues(request, array);
  ChunkedArray all = array;
  all.Count += array.StepValues * static_cast<std::uint64_t>(this->Data.StepsInFile - 1);
  const ChunkRange range = ChunksHolding(all);
  array.FirstChunk = this->Table.Chunks.size();
  array.ChunkCount = range.End - range.Begin;
  this->Table.Chunks.insert(this->Table.Chunks.end(),
      found.Chunks.begin() + static_cast<std::ptrdiff_t>(range.Begin),
      found.Chunks.begin() + static_cast<std::ptrdiff_t>(range.End));
  this->Table.ChunkedArrays.push_back(array);
  return MakeLocation(Encoding::Chunked, this->Table.ChunkedArrays.size() - 1, 1);
}

Location Locator::AddLibrary(
    const FoundDataset& found, int file, const std::string& name, const PatchVariable& request)
{
  LibraryArray array;
  array.File = file;
  array.Type = found.Type;
  array.Dataset = "/" + name;
  array.Reason = found.Info.Reason;
  this->SetValues(request, array);
  this->Table.LibraryArrays.push_back(array);
  return MakeLocation(Encoding::Library, this->Table.LibraryArrays.size() - 1, 1);
}

}  // namespace

LocationTable KwaveFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, options).Run(requests);
}

}  // namespace patchio::kwave

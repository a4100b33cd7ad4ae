#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Formats/LocateTask.h"
#include "Formats/SAMRAI/SamraiFormat.h"
#include "Formats/SAMRAI/SamraiNames.h"
#include "Formats/SAMRAI/SamraiRecords.h"
#include "Hdf5/File.h"
#include "Hdf5/Structure.h"

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Locates values in the processor_cluster files, which several threads examine. The result does not depend on
// the number of threads.

namespace fs = std::filesystem;

namespace patchio::samrai {

namespace {

/// The state of a file that several threads examine.
struct SharedFile
{
  std::string Path;
  std::atomic<std::uint64_t> Listed{0};  ///< number of chunks listed by all threads
  /// The file has more chunks than hdf5::MostChunks(): no more chunks are listed, and all earlier results are
  /// void.
  std::atomic<bool> TooMany{false};
};

/// Reads the structure of a file, for one thread; several threads may examine one file with an object each.
/// All methods throw Error, with the name of the file and the reason.
class ClusterFile
{
public:
  /// Opens a file of `bytes` bytes. `shared` must outlive the use of the file.
  void Open(SharedFile& shared, hdf5::ReadAt read, std::uint64_t bytes);
  const std::string& Path() const { return this->Shared->Path; }

  void OpenPatch(const Patch& patch);
  // Names below are relative to the patch that was opened last.
  /// Returns a name like "/processor.00000/level.00001/patch.00002/density"; for an empty name, that of the
  /// patch's group.
  std::string FullName(const std::string& name) const;
  bool Has(const std::string& name);
  hdf5::Dataset Describe(const std::string& name);
  /// Counts `chunks` more chunks. Returns whether they may be listed: lists that are longer than in any sound
  /// file must not fill the memory.
  bool MayList(std::uint64_t chunks);
  /// Lists the chunks of a data set. `chunks`: an array of ChunksOf(dataset) elements.
  void ListChunks(const std::string& name, const hdf5::Dataset& dataset, Chunk* chunks);

private:
  template <typename Work>
  auto Guarded(const std::string& name, const Work& work) const;
  hdf5::Group GroupIn(const hdf5::Group& group, const std::string& name);

  SharedFile* Shared = nullptr;
  hdf5::Structure Reader;
  Patch Current;                ///< the current patch
  int Writer = -1, Level = -1;  ///< of the current level
  hdf5::Group LevelGroup, PatchGroup;
};

constexpr const char* DamagedOrForeign = "The file is damaged or does not belong to this summary";

/// Returns a name like "/processor.00000/level.00001/patch.00002".
std::string PatchGroupName(const Patch& patch)
{
  return Numbered("/processor.", patch.Writer) + Numbered("/level.", patch.Level) +
         Numbered("/patch.", patch.Number);
}

template <typename Work>
auto ClusterFile::Guarded(const std::string& name, const Work& work) const
{
  return hdf5::NameErrors(
      this->Path(), [&] { return this->FullName(name); }, work);
}

void ClusterFile::Open(SharedFile& shared, hdf5::ReadAt read, std::uint64_t bytes)
{
  this->Shared = &shared;
  this->Writer = this->Level = -1;
  hdf5::OpenNamed(this->Reader, shared.Path, std::move(read), bytes);
}

hdf5::Group ClusterFile::GroupIn(const hdf5::Group& group, const std::string& name)
{
  const std::optional<std::uint64_t> header = this->Reader.Find(group, name);
  if (!header) {
    throw FileError(
        this->Path(), fmt::format("a group '{}'", PatchGroupName(this->Current)), "none", DamagedOrForeign);
  }
  return this->Reader.OpenGroup(*header);
}

void ClusterFile::OpenPatch(const Patch& patch)
{
  this->Current = patch;
  this->Guarded({}, [&] {
    if (patch.Writer != this->Writer || patch.Level != this->Level) {
      this->Writer = this->Level = -1;
      const hdf5::Group root = this->Reader.OpenGroup(this->Reader.Root());
      const hdf5::Group writer = this->GroupIn(root, Numbered("processor.", patch.Writer));
      this->LevelGroup = this->GroupIn(writer, Numbered("level.", patch.Level));
      this->Writer = patch.Writer;
      this->Level = patch.Level;
    }
    this->PatchGroup = this->GroupIn(this->LevelGroup, Numbered("patch.", patch.Number));
  });
}

std::string ClusterFile::FullName(const std::string& name) const
{
  return PatchGroupName(this->Current) + (name.empty() ? "" : "/") + name;
}

bool ClusterFile::Has(const std::string& name)
{
  return this->Guarded(name, [&] { return this->Reader.FindPath(this->PatchGroup, name).has_value(); });
}

hdf5::Dataset ClusterFile::Describe(const std::string& name)
{
  const bool isHere = name.find('/') == std::string::npos;
  return this->Guarded(name, [&] {
    const std::optional<std::uint64_t> header =
        isHere ? this->Reader.Find(this->PatchGroup, name) : this->Reader.FindPath(this->PatchGroup, name);
    if (!header) {
      throw FileError(this->Path(), fmt::format("a data set '{}', as the summary says", this->FullName(name)),
          "none", DamagedOrForeign);
    }
    return this->Reader.Describe(*header);
  });
}

bool ClusterFile::MayList(std::uint64_t chunks)
{
  const std::uint64_t most = hdf5::MostChunks(this->Reader.SizeOfFile());
  chunks = std::min(chunks, most + 1);  // keeps the sum from overflowing
  if (!this->Shared->TooMany && (this->Shared->Listed += chunks) > most) {
    this->Shared->TooMany = true;
  }
  return !this->Shared->TooMany;
}

void ClusterFile::ListChunks(const std::string& name, const hdf5::Dataset& dataset, Chunk* chunks)
{
  this->Guarded(name, [&] { this->Reader.ListChunks(dataset, chunks); });
}

/// Names of the data sets of all variables, one per component.
using ComponentNames = std::vector<std::vector<std::string>>;

/// Locates the variables of patches, for one thread. Keeps references to the constructor's arguments.
class SamraiPatchLocator
{
public:
  SamraiPatchLocator(
      const Catalog& catalog, const std::vector<PatchVariable>& requests, const ComponentNames& names)
      : Data(catalog), Requests(requests), Names(names)
  {
  }

  /// Appends the locations of requests *begin .. *(end - 1), which belong to one patch, to `found`. Extents
  /// get the file number `file`; problems get the index of their location in `found`.
  void Locate(
      ClusterFile& cluster, int file, const std::size_t* begin, const std::size_t* end, LocationTable& found);

private:
  using Dataset = hdf5::Dataset;

  /// The request that is being located.
  struct Task
  {
    ClusterFile& Cluster;
    int File;
    PatchVariable Request;
    LocationTable& Found;
  };

  Location LocateVariable(const Task& task);
  Location LocateSparse(const Task& task);
  Dataset Find(const Task& task, const std::string& name, ElementType type) const;
  Dataset FindContiguous(const Task& task, const std::string& name, ElementType type) const;
  Location AddExtents(const Task& task);
  Location AddChunked(const Task& task, const std::vector<std::string>& names);
  Location AddLibrary(const Task& task, const std::vector<std::string>& names, const std::string& reason);

  const Catalog& Data;
  const std::vector<PatchVariable>& Requests;
  const ComponentNames& Names;
  std::vector<Dataset> Datasets;  ///< of the current request, one per component
};

using hdf5::StorageLayout;
using hdf5::TypeClass;

/// Returns the layout of the data sets, or Library if they differ.
StorageLayout CommonLayout(const std::vector<hdf5::Dataset>& datasets)
{
  const StorageLayout first = datasets.front().Layout;
  const bool same = std::all_of(datasets.begin(), datasets.end(),
      [&](const hdf5::Dataset& dataset) { return dataset.Layout == first; });
  return same ? first : StorageLayout::Library;
}

/// Returns the reason why the library must read the data sets.
std::string LibraryReason(const std::vector<hdf5::Dataset>& datasets)
{
  for (const hdf5::Dataset& dataset : datasets) {
    if (dataset.Layout == StorageLayout::Library) {
      return dataset.Reason;
    }
  }
  return "components of different layouts";
}

Extent ExtentOf(const hdf5::Dataset& dataset, int file)
{
  const ElementType type = dataset.Class == TypeClass::Float ? ElementType::Float32 : ElementType::Int32;
  return {dataset.Offset, dataset.Values * SizeOf(type), file, type, dataset.BigEndian};
}

ComponentNames NamesOfComponents(const Catalog& catalog)
{
  ComponentNames names(catalog.Variables.size());
  for (std::size_t v = 0; v < names.size(); ++v) {
    const Variable& variable = catalog.Variables[v];
    for (int c = 0; c < variable.Components; ++c) {
      names[v].push_back(ComponentName(variable.StoredName, variable.Components, c));
    }
  }
  return names;
}

void SamraiPatchLocator::Locate(
    ClusterFile& cluster, int file, const std::size_t* begin, const std::size_t* end, LocationTable& found)
{
  std::string fault;
  try {
    cluster.OpenPatch(this->Data.Patches[this->Requests[*begin].Patch]);
  } catch (const Error& error) {
    fault = error.what();
  }
  for (; begin != end; ++begin) {
    found.Locations.emplace_back();
    std::string problem = fault;
    if (fault.empty()) {
      try {
        const Task task{cluster, file, this->Requests[*begin], found};
        const bool sparse = this->Data.Variables[task.Request.Variable].Material >= 0;
        found.Locations.back() = sparse ? this->LocateSparse(task) : this->LocateVariable(task);
      } catch (const Error& error) {
        problem = error.what();
      }
    }
    if (!problem.empty()) {
      found.Locations.back() = MakeLocation(Encoding::Missing, 0, 0);
      found.Problems.push_back({found.Locations.size() - 1, problem});
    }
  }
}

Location SamraiPatchLocator::LocateVariable(const Task& task)
{
  const auto [patch, variable] = task.Request;
  const std::vector<std::string>& names = this->Names[variable];
  const auto wanted = static_cast<std::uint64_t>(this->Data.StoredTuples(variable, patch));
  this->Datasets.clear();
  for (const std::string& name : names) {
    this->Datasets.push_back(this->Find(task, name, ElementType::Float32));
    const std::uint64_t values = this->Datasets.back().Values;
    if (values != wanted) {
      throw FileError(task.Cluster.Path(),
          fmt::format(
              "{} values in '{}', from the patch's box and ghosts", wanted, task.Cluster.FullName(name)),
          fmt::format("{}", values), "The file does not match its summary, and may come from another run");
    }
  }
  switch (CommonLayout(this->Datasets)) {
    case StorageLayout::Contiguous:
      return this->AddExtents(task);
    case StorageLayout::Chunked:
      return this->AddChunked(task, names);
    default:
      return this->AddLibrary(task, names, LibraryReason(this->Datasets));
  }
}

Location SamraiPatchLocator::LocateSparse(const Task& task)
{
  const auto [patch, variable] = task.Request;
  const auto cells = static_cast<std::uint64_t>(this->Data.StoredTuples(variable, patch));
  this->Datasets = {this->FindContiguous(task, "materials/mat_list", ElementType::Int32)};
  const std::uint64_t listed = this->Datasets.front().Values;
  if (listed != cells && listed != 1) {
    throw FileError(task.Cluster.Path(),
        fmt::format("1 or {} values in '{}'", cells, task.Cluster.FullName("materials/mat_list")),
        fmt::format("{}", listed), "The file does not match its summary");
  }
  if (task.Cluster.Has("materials/mix_mat")) {
    const Dataset material = this->FindContiguous(task, "materials/mix_mat", ElementType::Int32);
    const Dataset next = this->FindContiguous(task, "materials/next_mat", ElementType::Int32);
    const Dataset fraction = this->FindContiguous(task, "materials/vol_fracs", ElementType::Float32);
    if (next.Values != material.Values || fraction.Values != material.Values) {
      throw FileError(task.Cluster.Path(),
          fmt::format("mix arrays of equal length in '{}'", task.Cluster.FullName("materials")),
          fmt::format("{}, {} and {} values", material.Values, next.Values, fraction.Values),
          "The file is damaged");
    }
    this->Datasets.insert(this->Datasets.end(), {material, next, fraction});
  }
  Location location = this->AddExtents(task);
  location.Kind = Encoding::SparseMaterials;
  location.Material = this->Data.Variables[variable].Material;
  return location;
}

hdf5::Dataset SamraiPatchLocator::Find(const Task& task, const std::string& name, ElementType type) const
{
  Dataset dataset = task.Cluster.Describe(name);
  const TypeClass wanted = type == ElementType::Float32 ? TypeClass::Float : TypeClass::Integer;
  if (dataset.ElementBytes != SizeOf(type) || dataset.Class != wanted) {
    throw FileError(task.Cluster.Path(),
        fmt::format("4-byte {} in '{}'", type == ElementType::Float32 ? "floats" : "integers",
            task.Cluster.FullName(name)),
        "another type", "The file is damaged, or was not written by SAMRAI's VisIt writer");
  }
  if (!dataset.Reason.empty()) {
    hdf5::CheckReadable(dataset, task.Cluster.FullName(name), task.Cluster.Path());
  }
  return dataset;
}

hdf5::Dataset SamraiPatchLocator::FindContiguous(
    const Task& task, const std::string& name, ElementType type) const
{
  Dataset dataset = this->Find(task, name, type);
  if (dataset.Layout != StorageLayout::Contiguous) {
    throw FileError(task.Cluster.Path(),
        fmt::format("contiguous values in '{}'", task.Cluster.FullName(name)),
        dataset.Layout == StorageLayout::Chunked ? "values in chunks" : dataset.Reason,
        "Repack the file with 'h5repack -l CONTI', because PatchIO does not support chunked sparse "
        "materials");
  }
  return dataset;
}

Location SamraiPatchLocator::AddExtents(const Task& task)
{
  std::vector<Extent>& extents = task.Found.Extents;
  const std::size_t first = extents.size();
  for (const Dataset& dataset : this->Datasets) {
    extents.push_back(ExtentOf(dataset, task.File));
  }
  return MakeLocation(Encoding::Raw, first, this->Datasets.size());
}

Location SamraiPatchLocator::AddChunked(const Task& task, const std::vector<std::string>& names)
{
  std::uint64_t listed = 0;  // cannot overflow: each array has at most as many chunks as values
  for (const Dataset& dataset : this->Datasets) {
    listed += ChunksOf(dataset);
  }
  if (!task.Cluster.MayList(listed)) {
    return this->AddLibrary(task, names, hdf5::MoreChunksThanFit);
  }
  LocationTable& found = task.Found;
  const std::size_t firstArray = found.ChunkedArrays.size();
  const std::size_t firstChunk = found.Chunks.size();
  found.Chunks.resize(firstChunk + listed);
  std::size_t next = firstChunk;
  for (std::size_t c = 0; c < names.size(); ++c) {
    const Dataset& dataset = this->Datasets[c];
    task.Cluster.ListChunks(names[c], dataset, found.Chunks.data() + next);
    ChunkedArray array = ArrayOf(dataset, ElementType::Float32, task.File);
    array.FirstChunk = next;
    array.ChunkCount = ChunksOf(dataset);
    next += array.ChunkCount;
    found.ChunkedArrays.push_back(array);
  }
  return MakeLocation(Encoding::Chunked, firstArray, names.size());
}

Location SamraiPatchLocator::AddLibrary(
    const Task& task, const std::vector<std::string>& names, const std::string& reason)
{
  std::vector<LibraryArray>& arrays = task.Found.LibraryArrays;
  const std::size_t first = arrays.size();
  for (std::size_t c = 0; c < names.size(); ++c) {
    LibraryArray array;
    array.File = task.File;
    array.Dataset = task.Cluster.FullName(names[c]);
    array.Count = this->Datasets[c].Values;
    array.Reason = reason;
    arrays.push_back(std::move(array));
  }
  return MakeLocation(Encoding::Library, first, names.size());
}

/// Consecutive requests for one patch.
struct PatchRun
{
  const std::size_t* Begin;
  const std::size_t* End;
  int File;  ///< index into LocationTable::Files
};

/// Consecutive patches of one file, and the locations of their values.
struct Block
{
  std::size_t FirstRun = 0, EndRun = 0;
  LocationTable Found;
  std::string Fault;  ///< reason why nothing could be located; empty: see Found
};

class Locator
{
public:
  Locator(const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options)
      : Data(catalog), Requests(requests), Options(options), Names(NamesOfComponents(catalog))
  {
    this->Table.Locations.resize(requests.size());
  }

  LocationTable Run()
  {
    this->OrderRequests();
    this->FindRuns();
    this->MakeBlocks();
    this->LocateBlocks();
    this->Merge();
    return std::move(this->Table);
  }

private:
  /// The state that a thread keeps between blocks.
  struct BlockReader
  {
    explicit BlockReader(const Locator& of) : Locate(of.Data, of.Requests, of.Names) {}
    ClusterFile Cluster;
    SamraiPatchLocator Locate;
    int File = -1;
    std::string Fault;  ///< reason why the file cannot be opened; empty: it is open
  };

  void OrderRequests();
  void FindRuns();
  void MakeBlocks();
  void LocateBlocks();
  void LocateBlock(BlockReader& reader, Block& block);
  void SetStep(BlockReader& reader, int file);
  void Merge();
  void MergeBlock(const Block& block);

  const Catalog& Data;
  const std::vector<PatchVariable>& Requests;
  const LocateOptions Options;
  const ComponentNames Names;
  LocationTable Table;

  std::vector<std::size_t> Order;  ///< requests with stored values, sorted by file and patch
  std::vector<PatchRun> Runs;
  std::vector<Block> Blocks;
  std::deque<SharedFile> Shared;  ///< one per file
  LocateTask Task{this->Options};
  std::unique_ptr<Source> Storage;
};

/// Answers the requests that need only the catalog, and sorts the others by file and patch.
void Locator::OrderRequests()
{
  using Key = std::tuple<int, int, std::size_t>;  // file, patch, request
  std::vector<Key> keys;
  keys.reserve(this->Requests.size());
  for (std::size_t i = 0; i < this->Requests.size(); ++i) {
    const auto [patch, variable] = this->Requests[i];
    const Presence presence = this->Data.PresenceOf(variable, patch);
    if (presence == Presence::Stored) {
      keys.emplace_back(this->Data.Patches[patch].File, patch, i);
    } else if (presence != Presence::Absent) {
      this->Table.Locations[i].Kind = Encoding::Constant;
      this->Table.Locations[i].Value = presence == Presence::One ? 1.0f : 0.0f;
    }
  }
  if (!std::is_sorted(keys.begin(), keys.end())) {
    std::sort(keys.begin(), keys.end());
  }
  this->Order.reserve(keys.size());
  for (const Key& key : keys) {
    this->Order.push_back(std::get<2>(key));
  }
}

void Locator::FindRuns()
{
  const fs::path folder = fs::path(this->Data.Path).parent_path();
  const std::size_t* const end = this->Order.data() + this->Order.size();
  int last = -1;
  for (const std::size_t* begin = this->Order.data(); begin != end;) {
    const int patch = this->Requests[*begin].Patch;
    const int file = this->Data.Patches[patch].File;
    if (this->Table.Files.empty() || file != last) {
      this->Table.Files.push_back((folder / ClusterName(file)).string());
      this->Shared.emplace_back().Path = this->Table.Files.back();
      last = file;
    }
    const std::size_t* const next =
        std::find_if(begin, end, [&](std::size_t i) { return this->Requests[i].Patch != patch; });
    this->Runs.push_back({begin, next, static_cast<int>(this->Table.Files.size()) - 1});
    begin = next;
  }
}

void Locator::MakeBlocks()
{
  // Enough blocks that all threads end at about the same time, and few enough that the overhead of a block is
  // negligible.
  const std::size_t threads = static_cast<std::size_t>(std::max(this->Options.Threads, 1));
  const std::size_t most = std::clamp<std::size_t>(this->Runs.size() / (threads * 8), 4, 512);
  for (std::size_t begin = 0; begin < this->Runs.size();) {
    std::size_t end = begin + 1;
    while (end < this->Runs.size() && end - begin < most && this->Runs[end].File == this->Runs[begin].File) {
      ++end;
    }
    Block& block = this->Blocks.emplace_back();
    block.FirstRun = begin;
    block.EndRun = end;
    begin = end;
  }
}

void Locator::LocateBlocks()
{
  this->Storage = this->Task.FilesOf(this->Table.Files);
  tbb::enumerable_thread_specific<BlockReader> readers([this] { return BlockReader(*this); });
  this->Task.RunTasks(this->Blocks.size(), [&](std::size_t number) {
    Block& block = this->Blocks[number];
    try {
      this->LocateBlock(readers.local(), block);
    } catch (const std::exception& exception) {
      block.Fault = exception.what();  // for example, out of memory
    }
  });
}

void Locator::LocateBlock(BlockReader& reader, Block& block)
{
  const int file = this->Runs[block.FirstRun].File;
  this->SetStep(reader, file);
  block.Fault = reader.Fault;
  for (std::size_t r = block.FirstRun; r < block.EndRun && block.Fault.empty(); ++r) {
    reader.Locate.Locate(reader.Cluster, file, this->Runs[r].Begin, this->Runs[r].End, block.Found);
  }
}

void Locator::SetStep(BlockReader& reader, int file)
{
  if (reader.File == file) {
    return;
  }
  reader.File = file;
  SharedFile& shared = this->Shared[static_cast<std::size_t>(file)];
  reader.Fault = CatchError([&] {
    const std::shared_ptr<Source::File> opened = this->Storage->Open(file);
    const auto read = [opened](std::uint64_t offset, void* into, std::size_t bytes) {
      opened->Read(offset, into, bytes);
    };
    reader.Cluster.Open(shared, read, fs::file_size(shared.Path));
  });
}

/// Merges all results in the order of the patches.
void Locator::Merge()
{
  BlockReader again(*this);
  for (Block& block : this->Blocks) {
    const int file = this->Runs[block.FirstRun].File;
    if (this->Shared[static_cast<std::size_t>(file)].TooMany) {
      // The result must not depend on the order of threads, so this file is located again without lists of
      // chunks.
      block.Found = LocationTable();
      this->LocateBlock(again, block);
    }
    this->MergeBlock(block);
    block = Block();
  }
}

void Locator::MergeBlock(const Block& block)
{
  std::vector<std::size_t> requests;
  for (std::size_t r = block.FirstRun; r < block.EndRun; ++r) {
    requests.insert(requests.end(), this->Runs[r].Begin, this->Runs[r].End);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!block.Fault.empty()) {
      this->Table.Locations[requests[i]].Kind = Encoding::Missing;
      this->Table.Problems.push_back({requests[i], block.Fault});
    } else {
      this->Table.Locations[requests[i]] = AppendLocation(block.Found, block.Found.Locations[i], this->Table);
    }
  }
  for (const LocationProblem& problem : block.Found.Problems) {
    if (block.Fault.empty()) {
      this->Table.Problems.push_back({requests[problem.Request], problem.Message});
    }
  }
}

}  // namespace

LocationTable SamraiFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, requests, options).Run();
}

}  // namespace patchio::samrai

// The least and greatest values on patches, from the summary.

namespace patchio::samrai {

/// Returns the ranges of ordinary scalars only. They are widened, because SAMRAI computes them before it
/// rounds doubles to floats.
std::vector<ValueRange> SamraiFormat::RangesOf(const Catalog& catalog, int variable) const
{
  const Variable& wanted = catalog.Variables[variable];
  const hdf5::File file(catalog.Path);
  const std::string dataset = "/extents/" + wanted.StoredName + "-Extents";
  if (wanted.Components != 1 || wanted.Material >= 0 || !file.Has(dataset)) {
    return {};
  }
  std::vector<MinMax> records(catalog.Patches.size());
  file.Records(dataset, records.size(), MembersOfMinMax(Members::All), sizeof(MinMax), records.data());
  std::vector<ValueRange> ranges;
  for (const MinMax& record : records) {
    ranges.push_back(record.Defined ? RangeOfFloats(record.Min, record.Max) : ValueRange::None());
  }
  return ranges;
}

}  // namespace patchio::samrai

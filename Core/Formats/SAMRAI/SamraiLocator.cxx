#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Formats/LocateTask.h"
#include "Formats/SAMRAI/SamraiFormat.h"
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

// Locates values in the processor_cluster files. Several threads examine the files; the result does not
// depend on the number of threads.

namespace fs = std::filesystem;

namespace patchio::samrai {

namespace {

/// The state of a file that several threads examine.
struct SharedFile
{
  std::string Path;
  std::atomic<std::uint64_t> ListedChunks{0};  ///< number of chunks listed by all threads
  /// True if the file has more chunks than hdf5::MostChunks(). Then no more chunks are listed, and all
  /// earlier results for the file are void.
  std::atomic<bool> TooManyChunks{false};
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
  /// Adds `chunks` to the number of listed chunks. Returns whether these chunks may be listed. A limit, above
  /// the number of chunks in any sound file, keeps lists from filling the memory.
  bool ReserveChunks(std::uint64_t chunks);
  /// Lists the chunks of a data set. `chunks`: an array of CountChunks(dataset) elements.
  void ListChunks(const std::string& name, const hdf5::Dataset& dataset, Chunk* chunks);

private:
  template <typename Work>
  auto CallWithNames(const std::string& name, const Work& work) const;
  hdf5::Group OpenChildGroup(const hdf5::Group& group, const std::string& name);

  SharedFile* Shared = nullptr;
  hdf5::Structure Reader;
  Patch Current;                ///< the current patch
  int Writer = -1, Level = -1;  ///< processor and number of the current level
  hdf5::Group LevelGroup, PatchGroup;
};

constexpr const char* DamagedOrForeign = "The file is damaged or does not belong to this summary";

/// Returns a name like "/processor.00000/level.00001/patch.00002".
std::string PatchGroupName(const Patch& patch)
{
  return Numbered("/processor.", patch.Writer) + Numbered("/level.", patch.Level) +
         Numbered("/patch.", patch.Number);
}

/// Calls `work`, and adds the names of the file and of the object `name` to errors. Returns the result of
/// `work`.
template <typename Work>
auto ClusterFile::CallWithNames(const std::string& name, const Work& work) const
{
  return hdf5::WithErrorNames(
      this->Path(), [&] { return this->FullName(name); }, work);
}

void ClusterFile::Open(SharedFile& shared, hdf5::ReadAt read, std::uint64_t bytes)
{
  this->Shared = &shared;
  this->Writer = this->Level = -1;
  hdf5::OpenStructure(this->Reader, shared.Path, std::move(read), bytes);
}

hdf5::Group ClusterFile::OpenChildGroup(const hdf5::Group& group, const std::string& name)
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
  this->CallWithNames({}, [&] {
    if (patch.Writer != this->Writer || patch.Level != this->Level) {
      this->Writer = this->Level = -1;
      const hdf5::Group root = this->Reader.OpenGroup(this->Reader.Root());
      const hdf5::Group writer = this->OpenChildGroup(root, Numbered("processor.", patch.Writer));
      this->LevelGroup = this->OpenChildGroup(writer, Numbered("level.", patch.Level));
      this->Writer = patch.Writer;
      this->Level = patch.Level;
    }
    this->PatchGroup = this->OpenChildGroup(this->LevelGroup, Numbered("patch.", patch.Number));
  });
}

std::string ClusterFile::FullName(const std::string& name) const
{
  return PatchGroupName(this->Current) + (name.empty() ? "" : "/") + name;
}

bool ClusterFile::Has(const std::string& name)
{
  return this->CallWithNames(name, [&] { return this->Reader.FindPath(this->PatchGroup, name).has_value(); });
}

hdf5::Dataset ClusterFile::Describe(const std::string& name)
{
  const bool isHere = name.find('/') == std::string::npos;
  return this->CallWithNames(name, [&] {
    const std::optional<std::uint64_t> header =
        isHere ? this->Reader.Find(this->PatchGroup, name) : this->Reader.FindPath(this->PatchGroup, name);
    if (!header) {
      throw FileError(this->Path(),
          fmt::format("a data set '{}', as the summary states", this->FullName(name)), "none",
          DamagedOrForeign);
    }
    return this->Reader.Describe(*header);
  });
}

bool ClusterFile::ReserveChunks(std::uint64_t chunks)
{
  const std::uint64_t most = hdf5::MostChunks(this->Reader.SizeOfFile());
  chunks = std::min(chunks, most + 1);  // keeps the sum from overflowing
  if (!this->Shared->TooManyChunks && (this->Shared->ListedChunks += chunks) > most) {
    this->Shared->TooManyChunks = true;
  }
  return !this->Shared->TooManyChunks;
}

void ClusterFile::ListChunks(const std::string& name, const hdf5::Dataset& dataset, Chunk* chunks)
{
  this->CallWithNames(name, [&] { this->Reader.ListChunks(dataset, chunks); });
}

/// Names of the data sets of all variables, one per component.
using ComponentNames = std::vector<std::vector<std::string>>;

/// Locates the variables of patches, for one thread. Keeps references to the constructor's arguments.
class PatchLocator
{
public:
  PatchLocator(
      const Catalog& catalog, const std::vector<PatchVariable>& requests, const ComponentNames& names)
      : Data(catalog), Requests(requests), Names(names)
  {
  }

  /// Opens file number `file` of `storage`, unless it is the current file. Returns the reason why the file
  /// cannot be opened, or an empty text. `shared` must outlive the use of the file.
  const std::string& Open(Source& storage, int file, SharedFile& shared);
  /// Appends the locations of requests *begin .. *(end - 1), which belong to one patch of the current file,
  /// to `found`. Problems get the index of their location in `found`.
  void Locate(const std::size_t* begin, const std::size_t* end, LocationTable& found);

private:
  using Dataset = hdf5::Dataset;

  Location LocateVariable(const PatchVariable& request, LocationTable& found);
  Location LocateSparse(const PatchVariable& request, LocationTable& found);
  Dataset Find(const std::string& name, ElementType type);
  Dataset FindContiguous(const std::string& name, ElementType type);
  bool ListChunks(const std::vector<std::string>& names);
  void ChooseLayout(const std::vector<std::string>& names);
  Location AppendDatasets(const std::vector<std::string>& names, LocationTable& table) const;

  const Catalog& Data;
  const std::vector<PatchVariable>& Requests;
  const ComponentNames& Names;
  ClusterFile Cluster;                       ///< the current file
  int File = -1;                             ///< number of the current file
  std::string Fault;                         ///< reason why the current file cannot be opened
  std::vector<hdf5::FoundDataset> Datasets;  ///< data sets of the current request, one per component
};

using hdf5::StorageLayout;
using hdf5::TypeClass;

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

const std::string& PatchLocator::Open(Source& storage, int file, SharedFile& shared)
{
  if (this->File != file) {
    this->File = file;
    this->Fault = CatchError([&] {
      const std::shared_ptr<Source::File> opened = storage.Open(file);
      const auto read = [opened](std::uint64_t offset, void* into, std::size_t bytes) {
        opened->Read(offset, into, bytes);
      };
      this->Cluster.Open(shared, read, fs::file_size(shared.Path));
    });
  }
  return this->Fault;
}

void PatchLocator::Locate(const std::size_t* begin, const std::size_t* end, LocationTable& found)
{
  const std::string fault =
      CatchError([&] { this->Cluster.OpenPatch(this->Data.Patches[this->Requests[*begin].Patch]); });
  for (; begin != end; ++begin) {
    found.Locations.emplace_back();
    const auto locate = [&] {
      const PatchVariable& request = this->Requests[*begin];
      const bool sparse = this->Data.Variables[request.Variable].Material >= 0;
      found.Locations.back() =
          sparse ? this->LocateSparse(request, found) : this->LocateVariable(request, found);
    };
    const std::string problem = fault.empty() ? CatchError(locate) : fault;
    if (!problem.empty()) {
      found.Locations.back() = MakeLocation(Encoding::Missing, 0, 0);
      found.Problems.push_back({found.Locations.size() - 1, problem});
    }
  }
}

Location PatchLocator::LocateVariable(const PatchVariable& request, LocationTable& found)
{
  const auto [patch, variable] = request;
  const std::vector<std::string>& names = this->Names[variable];
  const auto wanted = static_cast<std::uint64_t>(this->Data.StoredTuples(variable, patch));
  this->Datasets.clear();
  for (const std::string& name : names) {
    this->Datasets.push_back({this->Find(name, ElementType::Float32), {}, {}});
    const std::uint64_t values = this->Datasets.back().Info.Values;
    if (values != wanted) {
      throw FileError(this->Cluster.Path(),
          fmt::format(
              "{} values in '{}', from the patch's box and ghosts", wanted, this->Cluster.FullName(name)),
          fmt::format("{}", values), "The file does not match its summary, and may come from another run");
    }
  }
  this->ChooseLayout(names);
  return this->AppendDatasets(names, found);
}

Location PatchLocator::LocateSparse(const PatchVariable& request, LocationTable& found)
{
  const auto [patch, variable] = request;
  const auto cells = static_cast<std::uint64_t>(this->Data.StoredTuples(variable, patch));
  this->Datasets = {{this->FindContiguous("materials/mat_list", ElementType::Int32), {}, {}}};
  const std::uint64_t listed = this->Datasets.front().Info.Values;
  if (listed != cells && listed != 1) {
    throw FileError(this->Cluster.Path(),
        fmt::format("1 or {} values in '{}'", cells, this->Cluster.FullName("materials/mat_list")),
        fmt::format("{}", listed), "The file does not match its summary");
  }
  if (this->Cluster.Has("materials/mix_mat")) {
    const Dataset material = this->FindContiguous("materials/mix_mat", ElementType::Int32);
    const Dataset next = this->FindContiguous("materials/next_mat", ElementType::Int32);
    const Dataset fraction = this->FindContiguous("materials/vol_fracs", ElementType::Float32);
    if (next.Values != material.Values || fraction.Values != material.Values) {
      throw FileError(this->Cluster.Path(),
          fmt::format("mix arrays of equal length in '{}'", this->Cluster.FullName("materials")),
          fmt::format("{}, {} and {} values", material.Values, next.Values, fraction.Values),
          "The file is damaged");
    }
    for (const Dataset& mixed : {material, next, fraction}) {
      this->Datasets.push_back({mixed, {}, {}});
    }
  }
  Location location = this->AppendDatasets({}, found);
  location.Kind = Encoding::SparseMaterials;
  location.Material = this->Data.Variables[variable].Material;
  return location;
}

hdf5::Dataset PatchLocator::Find(const std::string& name, ElementType type)
{
  Dataset dataset = this->Cluster.Describe(name);
  const TypeClass wanted = type == ElementType::Float32 ? TypeClass::Float : TypeClass::Integer;
  if (dataset.ElementBytes != SizeOf(type) || dataset.Class != wanted) {
    throw FileError(this->Cluster.Path(),
        fmt::format("4-byte {} in '{}'", type == ElementType::Float32 ? "floats" : "integers",
            this->Cluster.FullName(name)),
        "another type", "The file is damaged, or was not written by SAMRAI's VisIt writer");
  }
  if (!dataset.Reason.empty()) {
    hdf5::CheckReadable(dataset, this->Cluster.FullName(name), this->Cluster.Path());
  }
  return dataset;
}

hdf5::Dataset PatchLocator::FindContiguous(const std::string& name, ElementType type)
{
  Dataset dataset = this->Find(name, type);
  if (dataset.Layout != StorageLayout::Contiguous) {
    throw FileError(this->Cluster.Path(),
        fmt::format("contiguous values in '{}'", this->Cluster.FullName(name)),
        dataset.Layout == StorageLayout::Chunked ? "values in chunks" : dataset.Reason,
        "Repack the file with 'h5repack -l CONTI', because PatchIO does not support chunked sparse "
        "materials");
  }
  return dataset;
}

/// Lists the chunks of the current data sets. Returns false if the file would then have more listed chunks
/// than a sound file can have.
bool PatchLocator::ListChunks(const std::vector<std::string>& names)
{
  std::uint64_t chunks = 0;  // cannot overflow: each array has at most as many chunks as values
  for (const hdf5::FoundDataset& found : this->Datasets) {
    chunks += CountChunks(found.Info);
  }
  if (!this->Cluster.ReserveChunks(chunks)) {
    return false;
  }
  for (std::size_t c = 0; c < names.size(); ++c) {
    hdf5::FoundDataset& found = this->Datasets[c];
    found.Chunks.resize(CountChunks(found.Info));
    this->Cluster.ListChunks(names[c], found.Info, found.Chunks.data());
  }
  return true;
}

/// Chooses one layout for all current data sets, and lists the chunks of chunked data sets. The HDF5 library
/// reads all of the data sets if it must read one, if their layouts differ, or if ListChunks() refuses.
void PatchLocator::ChooseLayout(const std::vector<std::string>& names)
{
  const StorageLayout layout = this->Datasets.front().Info.Layout;
  std::string reason;
  for (const hdf5::FoundDataset& found : this->Datasets) {
    if (found.Info.Layout == StorageLayout::Library) {
      reason = found.Info.Reason;
      break;
    }
    reason = found.Info.Layout == layout ? reason : "components of different layouts";
  }
  if (reason.empty() && layout == StorageLayout::Chunked && !this->ListChunks(names)) {
    reason = hdf5::MoreChunksThanFit;
  }
  for (hdf5::FoundDataset& found : this->Datasets) {
    found.Info.Layout = reason.empty() ? layout : StorageLayout::Library;
    found.Info.Reason = reason;
  }
}

/// Appends the locations of the current data sets, called `names`, to `table`. Returns them as one location
/// with an entry for each data set.
Location PatchLocator::AppendDatasets(const std::vector<std::string>& names, LocationTable& table) const
{
  Location location;
  for (std::size_t c = 0; c < this->Datasets.size(); ++c) {
    const hdf5::FoundDataset& found = this->Datasets[c];
    const ElementType type = found.Info.Class == TypeClass::Float ? ElementType::Float32 : ElementType::Int32;
    const bool byLibrary = found.Info.Layout == StorageLayout::Library;
    const Location component =
        hdf5::AppendRange(found, type, byLibrary ? this->Cluster.FullName(names[c]) : std::string(),
            {0, found.Info.Values}, this->File, table);
    location = c == 0 ? component : location;
    location.Count = static_cast<std::uint32_t>(c + 1);
  }
  return location;
}

/// Consecutive requests for one patch.
struct PatchRun
{
  const std::size_t* Begin;
  const std::size_t* End;
  int File;  ///< index into LocationTable::Files
};

/// Consecutive patches of one file, and the locations of their values.
struct Batch
{
  std::size_t FirstRun = 0, EndRun = 0;
  LocationTable Found;
  std::string Fault;  ///< reason why nothing could be located; empty: see Found
};

/// Carries out one call of SamraiFormat::Locate().
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
    this->MakeRuns();
    this->MakeBatches();
    this->LocateBatches();
    this->MergeBatches();
    return std::move(this->Table);
  }

private:
  void OrderRequests();
  void MakeRuns();
  void MakeBatches();
  void LocateBatches();
  void LocateBatch(PatchLocator& locator, Batch& batch);
  PatchLocator MakeLocator() const { return {this->Data, this->Requests, this->Names}; }
  void MergeBatches();
  void MergeBatch(const Batch& batch);

  const Catalog& Data;
  const std::vector<PatchVariable>& Requests;
  const LocateOptions Options;
  const ComponentNames Names;
  LocationTable Table;

  std::vector<std::size_t> Order;  ///< requests with stored values, sorted by file and patch
  std::vector<PatchRun> Runs;
  std::vector<Batch> Batches;
  std::deque<SharedFile> SharedFiles;  ///< one per file
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
    } else {
      this->Table.Locations[i] = ImpliedLocation(presence);
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

void Locator::MakeRuns()
{
  const fs::path folder = fs::path(this->Data.Path).parent_path();
  const std::size_t* const end = this->Order.data() + this->Order.size();
  int last = -1;
  for (const std::size_t* begin = this->Order.data(); begin != end;) {
    const int patch = this->Requests[*begin].Patch;
    const int file = this->Data.Patches[patch].File;
    if (this->Table.Files.empty() || file != last) {
      this->Table.Files.push_back((folder / ClusterName(file)).string());
      this->SharedFiles.emplace_back().Path = this->Table.Files.back();
      last = file;
    }
    const std::size_t* const next =
        std::find_if(begin, end, [&](std::size_t i) { return this->Requests[i].Patch != patch; });
    this->Runs.push_back({begin, next, static_cast<int>(this->Table.Files.size()) - 1});
    begin = next;
  }
}

void Locator::MakeBatches()
{
  // Batches are small enough that all threads end at about the same time, but large enough that their
  // overhead is negligible.
  const std::size_t threads = static_cast<std::size_t>(std::max(this->Options.Threads, 1));
  const std::size_t most = std::clamp<std::size_t>(this->Runs.size() / (threads * 8), 4, 512);
  for (std::size_t begin = 0; begin < this->Runs.size();) {
    std::size_t end = begin + 1;
    while (end < this->Runs.size() && end - begin < most && this->Runs[end].File == this->Runs[begin].File) {
      ++end;
    }
    Batch& batch = this->Batches.emplace_back();
    batch.FirstRun = begin;
    batch.EndRun = end;
    begin = end;
  }
}

void Locator::LocateBatches()
{
  this->Storage = this->Task.MakeSource(this->Table.Files);
  tbb::enumerable_thread_specific<PatchLocator> locators([this] { return this->MakeLocator(); });
  this->Task.RunTasks(this->Batches.size(), [&](std::size_t number) {
    Batch& batch = this->Batches[number];
    try {
      this->LocateBatch(locators.local(), batch);
    } catch (const std::exception& exception) {
      batch.Fault = exception.what();  // for example, out of memory
    }
  });
}

void Locator::LocateBatch(PatchLocator& locator, Batch& batch)
{
  const int file = this->Runs[batch.FirstRun].File;
  batch.Fault = locator.Open(*this->Storage, file, this->SharedFiles[static_cast<std::size_t>(file)]);
  for (std::size_t r = batch.FirstRun; r < batch.EndRun && batch.Fault.empty(); ++r) {
    locator.Locate(this->Runs[r].Begin, this->Runs[r].End, batch.Found);
  }
}

/// Merges all results in the order of the patches.
void Locator::MergeBatches()
{
  PatchLocator again = this->MakeLocator();
  for (Batch& batch : this->Batches) {
    const int file = this->Runs[batch.FirstRun].File;
    if (this->SharedFiles[static_cast<std::size_t>(file)].TooManyChunks) {
      // The result must not depend on the order of threads, so this file is located again without lists of
      // chunks.
      batch.Found = LocationTable();
      this->LocateBatch(again, batch);
    }
    this->MergeBatch(batch);
    batch = Batch();
  }
}

void Locator::MergeBatch(const Batch& batch)
{
  std::vector<std::size_t> requests;
  for (std::size_t r = batch.FirstRun; r < batch.EndRun; ++r) {
    requests.insert(requests.end(), this->Runs[r].Begin, this->Runs[r].End);
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!batch.Fault.empty()) {
      this->Table.Locations[requests[i]].Kind = Encoding::Missing;
      this->Table.Problems.push_back({requests[i], batch.Fault});
    } else {
      this->Table.Locations[requests[i]] = AppendLocation(batch.Found, batch.Found.Locations[i], this->Table);
    }
  }
  for (const LocationProblem& problem : batch.Found.Problems) {
    if (batch.Fault.empty()) {
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

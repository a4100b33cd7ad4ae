#include "Formats/SAMRAI/SamraiPatchLocator.h"

#include "Formats/SAMRAI/SamraiNames.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>

namespace patchio::samrai {

using hdf5::StorageLayout;
using hdf5::TypeClass;

namespace {

/// The layout that all have; none when they differ.
StorageLayout CommonLayout(const std::vector<hdf5::Dataset>& datasets)
{
  const StorageLayout first = datasets.front().Layout;
  const bool same = std::all_of(datasets.begin(), datasets.end(),
      [&](const hdf5::Dataset& dataset) { return dataset.Layout == first; });
  return same ? first : StorageLayout::Library;
}

/// Why the library has to read them.
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

}  // namespace

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
              "{} values in '{}', from the patch's box and ghosts", wanted, this->FullName(task, name)),
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
        fmt::format("1 or {} values in '{}'", cells, this->FullName(task, "materials/mat_list")),
        fmt::format("{}", listed), "The file does not match its summary");
  }
  if (task.Cluster.Has("materials/mix_mat")) {
    const Dataset material = this->FindContiguous(task, "materials/mix_mat", ElementType::Int32);
    const Dataset next = this->FindContiguous(task, "materials/next_mat", ElementType::Int32);
    const Dataset fraction = this->FindContiguous(task, "materials/vol_fracs", ElementType::Float32);
    if (next.Values != material.Values || fraction.Values != material.Values) {
      throw FileError(task.Cluster.Path(),
          fmt::format("mix arrays of equal length in '{}'", this->FullName(task, "materials")),
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
            this->FullName(task, name)),
        "another type", "The file is damaged, or was not written by SAMRAI's VisIt writer");
  }
  if (!dataset.Reason.empty()) {
    hdf5::CheckReadable(dataset, this->FullName(task, name), task.Cluster.Path());
  }
  return dataset;
}

hdf5::Dataset SamraiPatchLocator::FindContiguous(
    const Task& task, const std::string& name, ElementType type) const
{
  Dataset dataset = this->Find(task, name, type);
  if (dataset.Layout != StorageLayout::Contiguous) {
    throw FileError(task.Cluster.Path(), fmt::format("contiguous values in '{}'", this->FullName(task, name)),
        dataset.Layout == StorageLayout::Chunked ? "values in chunks" : dataset.Reason,
        "Repack the file with 'h5repack -l CONTI', because PatchIO does not support chunked sparse "
        "materials");
  }
  return dataset;
}

std::string SamraiPatchLocator::FullName(const Task& task, const std::string& name) const
{
  return PatchGroupName(this->Data.Patches[task.Request.Patch]) + "/" + name;
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
    array.Dataset = this->FullName(task, names[c]);
    array.Count = this->Datasets[c].Values;
    array.Reason = reason;
    arrays.push_back(std::move(array));
  }
  return MakeLocation(Encoding::Library, first, names.size());
}

}  // namespace patchio::samrai

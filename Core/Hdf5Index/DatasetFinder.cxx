#include "Hdf5Index/DatasetFinder.h"

#include "Hdf5Index/LibraryDataset.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace fs = std::filesystem;

namespace patchio::hdf5index {

DatasetFinder::DatasetFinder(const std::string& path, std::unique_ptr<Source> storage)
    : PathName(path), Storage(std::move(storage))
{
  std::error_code fault;
  this->Bytes = fs::file_size(path, fault);
  if (fault) {
    throw SystemError(path, "a readable file", fault.value());
  }
  if (this->Storage) {
    this->OpenIndex();
  }
}

void DatasetFinder::OpenIndex()
{
  try {
    this->Index = std::make_unique<IndexReader>();
    this->Index->Open(this->Storage->Open(0), this->Bytes);
    this->Groups.emplace("", this->Index->OpenGroup(this->Index->Root()));
  } catch (const Unfamiliar& unfamiliar) {
    this->Index.reset();
    this->Reason = unfamiliar.what();
  }
}

FoundDataset DatasetFinder::Find(const std::string& name)
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

/// A group by its path without a slash in front; empty: the root.
const Group& DatasetFinder::GroupOf(const std::string& path)
{
  const auto known = this->Groups.find(path);
  if (known != this->Groups.end()) {
    return known->second;
  }
  const std::size_t slash = path.rfind('/');
  const Group& above = this->GroupOf(slash == std::string::npos ? "" : path.substr(0, slash));
  const auto header = this->Index->Find(above, path.substr(slash == std::string::npos ? 0 : slash + 1));
  if (!header) {
    throw Unfamiliar("a missing group");
  }
  return this->Groups.emplace(path, this->Index->OpenGroup(*header)).first->second;
}

FoundDataset DatasetFinder::FindByIndex(const std::string& name)
{
  const std::size_t slash = name.rfind('/');
  const Group& group = this->GroupOf(slash == std::string::npos ? "" : name.substr(0, slash));
  const auto header = this->Index->Find(group, name.substr(slash == std::string::npos ? 0 : slash + 1));
  if (!header) {
    throw Unfamiliar("a missing data set");
  }
  FoundDataset found;
  found.Info = this->Index->Describe(*header);
  if (found.Info.Layout == StorageLayout::Chunked && this->MayList(found.Info)) {
    found.Chunks.resize(ChunksOf(found.Info));
    this->Index->ListChunks(found.Info, found.Chunks.data());
  }
  return found;
}

FoundDataset DatasetFinder::FindByLibrary(const std::string& name)
{
  if (!this->Library) {
    this->Library = std::make_unique<hdf5::File>(this->PathName);
  }
  const hdf5::Handle dataset = this->Library->OpenDataset(this->Library->Id(), name);
  if (!dataset.Valid()) {
    throw FileError(this->PathName, fmt::format("a data set '{}'", name),
        "an unreadable data set (" + hdf5::LastMessage() + ")", "The file is damaged or has changed");
  }
  FoundDataset found;
  found.Info = DescribeByLibrary(dataset);
  if (found.Info.Layout == StorageLayout::Chunked && this->MayList(found.Info)) {
    found.Chunks.resize(ChunksOf(found.Info));
    try {
      this->Library->CheckChunks(dataset);
      ListChunksByLibrary(dataset, found.Info, this->Bytes, found.Chunks.data());
    } catch (const Error& error) {
      throw FileError(this->PathName, fmt::format("readable chunks in '{}'", name), error.what(),
          "The file is damaged, truncated or still being written");
    }
  }
  return found;
}

/// Lists that cannot be true would take more memory than the file; the library reads such arrays.
bool DatasetFinder::MayList(Dataset& info)
{
  const std::uint64_t chunks = ChunksOf(info);
  const std::uint64_t most = MostChunks(this->Bytes);
  if (chunks > most || this->Listed > most - chunks) {
    info.Layout = StorageLayout::Library;
    info.Reason = "more chunks than fit into the file";
    return false;
  }
  this->Listed += chunks;
  return true;
}

void CheckInFile(
    const FoundDataset& found, ElementType type, const std::string& name, const DatasetFinder& file)
{
  const Dataset& info = found.Info;
  if (info.Layout == StorageLayout::Unsupported) {
    throw UnsupportedError(file.Path(), info.Reason, name);
  }
  if (info.Layout == StorageLayout::Nowhere) {
    throw FileError(file.Path(), fmt::format("values in '{}'", name), info.Reason,
        "The run may still be writing this file");
  }
  const std::uint64_t size = file.FileBytes();
  if (info.Layout == StorageLayout::Contiguous &&
      (info.Offset > size || info.Values > (size - info.Offset) / SizeOf(type))) {
    throw FileError(file.Path(), fmt::format("'{}' inside the file of {} bytes", name, size),
        fmt::format("{} values at {}", info.Values, info.Offset),
        "The file is truncated or still being written");
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

}  // namespace

Location AppendPart(const FoundDataset& found, ElementType type, const std::string& name,
    const DatasetPart& part, int file, LocationTable& table)
{
  if (found.Info.Layout == StorageLayout::Contiguous) {
    const std::size_t bytes = SizeOf(type);
    table.Extents.push_back(
        {found.Info.Offset + part.First * bytes, part.Count * bytes, file, type, found.Info.BigEndian});
    return MakeLocation(Encoding::Raw, table.Extents.size() - 1, 1);
  }
  if (found.Info.Layout == StorageLayout::Chunked) {
    return AppendChunked(found, type, part, file, table);
  }
  LibraryArray array;
  array.File = file;
  array.Type = type;
  array.Dataset = "/" + name;
  array.First = part.First;
  array.Count = part.Count;
  array.Reason = found.Info.Reason;
  array.StepValues = part.StepValues;
  table.LibraryArrays.push_back(array);
  return MakeLocation(Encoding::Library, table.LibraryArrays.size() - 1, 1);
}

}  // namespace patchio::hdf5index

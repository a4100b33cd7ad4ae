#include "Formats/Hdf5Files.h"

#include "Base/Communicator.h"
#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace patchio {

const hdf5::File& Hdf5Files::Open(const std::string& path)
{
  const auto known = this->Files.find(path);
  if (known != this->Files.end()) {
    return known->second;
  }
  constexpr std::size_t mostOpen = 256;
  if (this->Files.size() >= mostOpen) {
    this->Files.clear();
  }
  const std::shared_ptr<Source> storage = this->Task.FilesOf({path});
  const std::shared_ptr<Source::File> file = storage->Open(0);
  const auto read = [storage, file](std::uint64_t offset, void* into, std::size_t bytes) {
    file->Read(offset, into, bytes);
  };
  std::error_code fault;
  const std::uint64_t bytes = std::filesystem::file_size(path, fault);
  if (fault) {
    throw SystemError(path, "a readable file", fault.value());
  }
  return this->Files.try_emplace(path, path, read, bytes).first->second;
}

int Hdf5Files::NumberOf(const std::string& path)
{
  const auto [entry, isNew] = this->Numbers.emplace(path, 0);
  if (isNew) {
    const auto known = std::find(this->Table.Files.begin(), this->Table.Files.end(), path);
    entry->second = static_cast<int>(known - this->Table.Files.begin());
    if (known == this->Table.Files.end()) {
      this->Table.Files.push_back(path);
    }
  }
  return entry->second;
}

const LocatedDataset& Hdf5Files::Find(const std::string& path, const std::string& name, const Check& check)
{
  const auto [entry, isNew] = this->Found.emplace(std::make_pair(path, name), LocatedDataset());
  LocatedDataset& found = entry->second;
  if (isNew) {
    found.File = this->NumberOf(path);
    found.Problem = CatchError([&, &found = found] {
      static_cast<hdf5::FoundDataset&>(found) = this->Open(path).Find(name);
      const std::optional<ElementType> type = hdf5::TypeOfValues(found.Info);
      if (!type) {
        throw FileError(path, fmt::format("numbers in '{}'", PlainText(name)), hdf5::TypeText(found.Info),
            "The file has changed since it was opened, or is damaged");
      }
      found.Type = *type;
      if (found.Info.Layout != hdf5::StorageLayout::Virtual) {
        hdf5::CheckReadable(found.Info, name, path);
      }
      check(found);
    });
  }
  if (!found.Problem.empty()) {
    throw Error(found.Problem);
  }
  return found;
}

/// Appends values that were never written, as a chunk without bytes.
Location Hdf5Files::AppendFill(const LocatedDataset& found, std::uint64_t count)
{
  hdf5::FoundDataset fill;
  fill.Info = found.Info;
  fill.Info.Layout = hdf5::StorageLayout::Chunked;
  fill.Info.Rank = 1;
  fill.Info.Values = fill.Info.Dims[0] = count;
  fill.Info.ChunkDims[0] = std::min<std::uint64_t>(count, 1 << 24);
  fill.Chunks.resize(hdf5::ChunksOf(fill.Info));
  hdf5::ClearChunks(fill.Info, fill.Chunks.data());
  return hdf5::AppendPart(fill, found.Type, {}, {0, count}, found.File, this->Table);
}

Location Hdf5Files::Append(
    const LocatedDataset& found, const std::string& name, const hdf5::DatasetPart& part)
{
  if (found.Info.Layout != hdf5::StorageLayout::Virtual) {
    return hdf5::AppendPart(found, found.Type, name, part, found.File, this->Table);
  }
  const std::uint64_t end =
      part.First + part.StepValues * static_cast<std::uint64_t>(part.Steps - 1) + part.Count;
  const auto other = std::find_if(found.Parts.begin(), found.Parts.end(),
      [&](const hdf5::VirtualPart& candidate) { return candidate.Has(part.First, end); });
  if (other == found.Parts.end()) {
    throw hdf5::UnsupportedError(this->Table.Files[static_cast<std::size_t>(found.File)], SeveralParts, name);
  }
  if (other->Path.empty()) {
    return this->AppendFill(found, part.Count);
  }
  hdf5::DatasetPart there = part;
  there.First = other->FirstThere + (part.First - other->First);
  const LocatedDataset& source = this->Find(other->Path, other->Dataset, [](LocatedDataset&) {});
  return hdf5::AppendPart(source, source.Type, other->Dataset, there, source.File, this->Table);
}

}  // namespace patchio

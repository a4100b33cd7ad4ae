#include "Formats/Hdf5Locator.h"

#include "Base/Communicator.h"
#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace patchio {
namespace {

constexpr const char* ChangedOrDamaged = "The file has changed since it was opened, or is damaged";

}  // namespace

/// Returns a file, and opens it through the task's source unless it is still open from an earlier call. At
/// most 256 files stay open; references to files that are closed become invalid. Throws Error.
const hdf5::File& Hdf5Locator::Open(const std::string& path)
{
  const auto known = this->OpenFiles.find(path);
  if (known != this->OpenFiles.end()) {
    return known->second;
  }
  constexpr std::size_t mostOpen = 256;
  if (this->OpenFiles.size() >= mostOpen) {
    this->OpenFiles.clear();
  }
  const std::shared_ptr<Source> storage = this->Task.MakeSource({path});
  const std::shared_ptr<Source::File> file = storage->Open(0);
  const auto read = [storage, file](std::uint64_t offset, void* into, std::size_t bytes) {
    file->Read(offset, into, bytes);
  };
  std::error_code fault;
  const std::uint64_t bytes = std::filesystem::file_size(path, fault);
  if (fault) {
    throw SystemError(path, "a readable file", fault.value());
  }
  return this->OpenFiles.try_emplace(path, path, read, bytes).first->second;
}

/// Returns the index of a file in LocationTable::Files. Adds a new file to the table.
int Hdf5Locator::AddFile(const std::string& path)
{
  const auto [entry, isNew] = this->FileNumbers.emplace(path, 0);
  if (isNew) {
    const auto known = std::find(this->Table.Files.begin(), this->Table.Files.end(), path);
    entry->second = static_cast<int>(known - this->Table.Files.begin());
    if (known == this->Table.Files.end()) {
      this->Table.Files.push_back(path);
    }
  }
  return entry->second;
}

/// Returns a data set. The first call for a data set finds it and adds its file to the table. Throws Error if
/// the data set has a problem.
LocatedDataset& Hdf5Locator::FindDataset(const std::string& path, const std::string& name)
{
  const auto [entry, isNew] = this->FoundDatasets[path].try_emplace(name);
  LocatedDataset& found = entry->second;
  if (isNew) {
    found.File = this->AddFile(path);
    found.Problem = CatchError([&] {
      static_cast<hdf5::FoundDataset&>(found) = this->Open(path).Find(name);
      const std::optional<ElementType> type = hdf5::ElementTypeOf(found.Info);
      if (!type) {
        throw FileError(path, fmt::format("numbers in '{}'", PlainText(name)), hdf5::TypeText(found.Info),
            ChangedOrDamaged);
      }
      found.Type = *type;
      if (found.Info.Layout != hdf5::StorageLayout::Virtual) {
        hdf5::CheckReadable(found.Info, name, path);
      }
    });
  }
  ThrowFault(found.Problem);
  return found;
}

Location Hdf5Locator::LocateAt(const DatasetLocation& location, const PatchVariable& request)
{
  LocatedDataset& found = this->FindDataset(location.Path, location.Dataset);
  if (!found.Checked) {
    found.Checked = true;
    found.Problem = CatchError([&] { this->Check(found, location, request); });
    ThrowFault(found.Problem);
  }
  const hdf5::DatasetRange& range = location.Range;
  const std::uint64_t count = range.Count + range.StepStride * static_cast<std::uint64_t>(range.Steps - 1);
  if (range.First > found.Info.Values || count > found.Info.Values - range.First) {
    throw FileError(location.Path,
        fmt::format("at least {} numbers in '{}'", range.First + count, PlainText(location.Dataset)),
        fmt::format("{}", found.Info.Values), ChangedOrDamaged);
  }
  return found.Info.Layout == hdf5::StorageLayout::Virtual
             ? this->AppendVirtual(found, location, range.First + count)
             : hdf5::AppendRange(found, found.Type, location.Dataset, range, found.File, this->Table);
}

LocationTable Hdf5Locator::Run(const std::vector<PatchVariable>& requests)
{
  this->Task.LocateEach(this->Data, requests, this->Table,
      [this](const PatchVariable& request) { return this->LocateOne(request); });
  return std::move(this->Table);
}

/// Appends `count` values that were never written, as chunks without bytes. Returns their location.
Location Hdf5Locator::AppendFill(const LocatedDataset& found, std::uint64_t count)
{
  hdf5::FoundDataset fill;
  fill.Info = found.Info;
  fill.Info.Layout = hdf5::StorageLayout::Chunked;
  fill.Info.Rank = 1;
  fill.Info.Values = fill.Info.Dims[0] = count;
  fill.Info.ChunkDims[0] = std::min<std::uint64_t>(count, 1 << 24);
  fill.Chunks.resize(hdf5::CountChunks(fill.Info));
  hdf5::ClearChunks(fill.Info, fill.Chunks.data());
  return hdf5::AppendRange(fill, found.Type, {}, {0, count}, found.File, this->Table);
}

/// Appends the values at `location` of a virtual data set, as a range of the data set that stores the values,
/// or as values that were never written. `end`: index after the last value. Throws Error if several data sets
/// store the values.
Location Hdf5Locator::AppendVirtual(
    const LocatedDataset& found, const DatasetLocation& location, std::uint64_t end)
{
  const auto other = std::find_if(found.Runs.begin(), found.Runs.end(),
      [&](const hdf5::MappedRun& candidate) { return candidate.Contains(location.Range.First, end); });
  if (other == found.Runs.end()) {
    throw hdf5::UnsupportedError(location.Path, SeveralSources, location.Dataset);
  }
  if (other->Path.empty()) {
    return this->AppendFill(found, location.Range.Count);
  }
  hdf5::DatasetRange sourceRange = location.Range;
  sourceRange.First = other->SourceFirst + (location.Range.First - other->First);
  const LocatedDataset& source = this->FindDataset(other->Path, other->Dataset);
  // The format's check may have chosen another type for the values of the virtual data set.
  const bool alike = hdf5::ElementTypeOf(source.Info) == hdf5::ElementTypeOf(found.Info);
  return hdf5::AppendRange(
      source, alike ? found.Type : source.Type, other->Dataset, sourceRange, source.File, this->Table);
}

}  // namespace patchio

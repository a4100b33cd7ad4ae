// From the catalog to the bytes in k-Wave files. PatchIO's index reader looks into the files; where it meets
// something that it does not know, the HDF5 library is asked.
#include "Formats/KWave/KwaveFormat.h"
#include "Formats/LocateTask.h"
#include "Hdf5Index/DatasetFinder.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

namespace fs = std::filesystem;

namespace patchio::kwave {
namespace {

using hdf5index::Dataset;
using hdf5index::DatasetFinder;
using hdf5index::NumberClass;
using hdf5index::StorageLayout;

/// A data set and what it is for.
struct KnownDataset : hdf5index::FoundDataset
{
  ElementType Type = ElementType::Float32;
  std::string Problem;  ///< why it cannot be used; empty: it can
};

/// Describes a contiguous data set as one in chunks without filters, one chunk a time step.
void BecomeChunks(KnownDataset& found, std::uint64_t stepValues)
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
    this->Task.LocateEach(
        requests, this->Table, [this](const PatchVariable& request) { return this->LocateOne(request); });
    for (const auto& [name, file] : this->Files) {
      if (file && !file->WhyLibrary().empty()) {
        this->Table.Notes.push_back(
            fmt::format("PatchIO reads {} through the HDF5 library: {}", file->Path(), file->WhyLibrary()));
      }
    }
    return std::move(this->Table);
  }

private:
  void MeasureParts();
  Location LocateOne(const PatchVariable& request);
  const KnownDataset& DatasetOf(const PatchVariable& request, int& file, std::string& name);
  DatasetFinder& FinderOf(const std::string& path);
  void Check(KnownDataset& found, const DatasetFinder& finder, const std::string& name, bool timeInvariant,
      std::uint64_t partValues) const;
  hdf5index::DatasetPart PartOf(const PatchVariable& request) const;
  std::uint64_t CountOf(const PatchVariable& request) const
  {
    return static_cast<std::uint64_t>(this->Data.StoredTuples(request.Variable, request.Patch));
  }

  const Catalog& Data;
  const LocateOptions Options;
  LocateTask Task{this->Options};
  LocationTable Table;
  std::map<std::string, std::unique_ptr<DatasetFinder>> Files;
  std::map<std::string, int> FileNumbers;
  std::map<std::string, KnownDataset> Found;
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
  const KnownDataset& found = this->DatasetOf(request, file, name);
  if (!found.Problem.empty()) {
    throw Error(found.Problem);
  }
  return AppendPart(found, found.Type, name, this->PartOf(request), file, this->Table);
}

DatasetFinder& Locator::FinderOf(const std::string& path)
{
  std::unique_ptr<DatasetFinder>& finder = this->Files[path];
  if (!finder) {
    finder = std::make_unique<DatasetFinder>(
        path, this->Options.LibraryOnly ? nullptr : this->Task.FilesOf({path}));
  }
  return *finder;
}

const KnownDataset& Locator::DatasetOf(const PatchVariable& request, int& file, std::string& name)
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
  const auto [entry, isNew] = this->Found.emplace(path + '\n' + name, KnownDataset());
  KnownDataset& found = entry->second;
  if (isNew) {
    found.Problem = CatchError([&] {
      DatasetFinder& finder = this->FinderOf(path);
      static_cast<hdf5index::FoundDataset&>(found) = finder.Find(name);
      this->Check(found, finder, name, variable.TimeInvariant, this->PartValues[request.Patch]);
      if (found.Info.Layout == StorageLayout::Contiguous && !variable.TimeInvariant &&
          this->Data.StepsInFile > 1) {
        BecomeChunks(found, this->PartValues[request.Patch]);
      }
    });
  }
  return found;
}

/// Finds out the type, and whether the data set is what the catalog says.
void Locator::Check(KnownDataset& found, const DatasetFinder& finder, const std::string& name,
    bool timeInvariant, std::uint64_t partValues) const
{
  Dataset& info = found.Info;
  const bool wide = info.ElementBytes == 8;
  if (info.Class == NumberClass::Other || (info.ElementBytes != 4 && !wide)) {
    throw FileError(finder.Path(), fmt::format("numbers of 4 or 8 bytes in '{}'", name), "another type",
        "The file is not a k-Wave file");
  }
  found.Type = info.Class == NumberClass::Float ? (wide ? ElementType::Float64 : ElementType::Float32)
                                                : (wide ? ElementType::Int64 : ElementType::Int32);
  const auto steps = static_cast<std::uint64_t>(timeInvariant ? 1 : this->Data.StepsInFile);
  const bool fits = timeInvariant ? info.Values == partValues
                                  : info.Values % partValues == 0 && info.Values / partValues >= steps;
  if (!fits) {
    throw FileError(finder.Path(), fmt::format("{} x {} values in '{}'", steps, partValues, name),
        fmt::format("{}", info.Values), "The file has changed since it was opened, or is damaged");
  }
  CheckInFile(found, found.Type, name, finder);
}

/// Which values of its data set a request wants: of the step of the catalog, or of all steps.
hdf5index::DatasetPart Locator::PartOf(const PatchVariable& request) const
{
  hdf5index::DatasetPart part{this->FirstInPart[request.Patch], this->CountOf(request)};
  const std::uint64_t partValues = this->PartValues[request.Patch];
  const bool series = !this->Data.Variables[request.Variable].TimeInvariant;
  if (series && this->Options.AllSteps && this->Data.StepsInFile > 1) {
    part.StepValues = partValues;
    part.Steps = this->Data.StepsInFile;
  } else if (series) {
    part.First += partValues * static_cast<std::uint64_t>(this->Data.StepInFile);
  }
  return part;
}

}  // namespace

LocationTable KwaveFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, options).Run(requests);
}

}  // namespace patchio::kwave

// Locates values in k-Wave files.
#include "Base/Error.h"
#include "Formats/Hdf5Files.h"
#include "Formats/KWave/KwaveFormat.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace fs = std::filesystem;

namespace patchio::kwave {
namespace {

using hdf5::Dataset;
using hdf5::StorageLayout;

/// Describes a contiguous data set as a chunked one without filters, with one chunk per time step.
void BecomeChunks(LocatedDataset& found, std::uint64_t stepValues)
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
    return std::move(this->Table);
  }

private:
  void MeasureParts();
  std::pair<std::string, std::string> NameOf(const PatchVariable& request) const;
  Location LocateOne(const PatchVariable& request);
  void Check(LocatedDataset& found, const std::string& path, const std::string& name, bool timeInvariant,
      std::uint64_t partValues) const;
  hdf5::DatasetPart PartOf(const PatchVariable& request) const;
  std::uint64_t CountOf(const PatchVariable& request) const
  {
    return static_cast<std::uint64_t>(this->Data.StoredTuples(request.Variable, request.Patch));
  }

  const Catalog& Data;
  const LocateOptions Options;
  LocateTask Task{this->Options};
  LocationTable Table;
  Hdf5Files Files{this->Task, this->Table};
  std::vector<std::uint64_t> FirstInPart, PartValues;  ///< per patch
};

/// Measures parts. Patches that were cut from one part follow each other in its data sets.
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

/// Returns the path of a data set's file, and its name there.
std::pair<std::string, std::string> Locator::NameOf(const PatchVariable& request) const
{
  const Patch& patch = this->Data.Patches[request.Patch];
  std::string path = this->Data.Path, name = this->Data.Variables[request.Variable].StoredName;
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos) {
    path = (fs::path(path).parent_path() / name.substr(0, slash)).string();
    name = name.substr(slash + 1);
  }
  if (this->Data.RoleOf(patch.Level) == LevelRole::Separate) {
    name += "/" + std::to_string(patch.Number);
  }
  return {path, name};
}

Location Locator::LocateOne(const PatchVariable& request)
{
  if (this->Data.PresenceOf(request.Variable, request.Patch) != Presence::Stored) {
    return {};
  }
  const auto [path, name] = this->NameOf(request);
  const bool timeInvariant = this->Data.Variables[request.Variable].TimeInvariant;
  const std::uint64_t partValues = this->PartValues[request.Patch];
  const auto check = [&, &path = path, &name = name](LocatedDataset& found) {
    this->Check(found, path, name, timeInvariant, partValues);
    if (found.Info.Layout == StorageLayout::Contiguous && !timeInvariant && this->Data.StepsInFile > 1) {
      BecomeChunks(found, partValues);
    }
  };
  const LocatedDataset& found = this->Files.Find(path, name, check);
  return this->Files.Append(found, name, this->PartOf(request));
}

/// Throws Error unless the data set is as the catalog describes it.
void Locator::Check(LocatedDataset& found, const std::string& path, const std::string& name,
    bool timeInvariant, std::uint64_t partValues) const
{
  const Dataset& info = found.Info;
  if (SizeOf(found.Type) != 4 && SizeOf(found.Type) != 8) {
    throw FileError(path, fmt::format("numbers of 4 or 8 bytes in '{}'", name), "another type",
        "The file is not a k-Wave file");
  }
  // Signed numbers are large enough for all of k-Wave's counts.
  found.Type = found.Type == ElementType::UInt32   ? ElementType::Int32
               : found.Type == ElementType::UInt64 ? ElementType::Int64
                                                   : found.Type;
  const bool series = !timeInvariant && this->Data.StepsInFile > 1;
  if (series && info.Layout == StorageLayout::Virtual && found.Parts.size() > 1) {
    throw hdf5::UnsupportedError(path, "virtual data set with steps from several others", name);
  }
  const auto steps = static_cast<std::uint64_t>(timeInvariant ? 1 : this->Data.StepsInFile);
  const bool fits = timeInvariant ? info.Values == partValues
                                  : info.Values % partValues == 0 && info.Values / partValues >= steps;
  if (!fits) {
    throw FileError(path, fmt::format("{} x {} values in '{}'", steps, partValues, name),
        fmt::format("{}", info.Values), "The file has changed since it was opened, or is damaged");
  }
}

/// Returns the values of the data set for a request: of the catalog's step, or of all steps.
hdf5::DatasetPart Locator::PartOf(const PatchVariable& request) const
{
  hdf5::DatasetPart part{this->FirstInPart[request.Patch], this->CountOf(request)};
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

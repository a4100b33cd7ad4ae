#include "Formats/Container/ContainerFormat.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Formats/Container/ContainerLog.h"
#include "Formats/Container/StepLayout.h"
#include "Formats/Hdf5Locator.h"
#include "Hdf5/Structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

namespace fs = std::filesystem;

namespace patchio::container {
namespace {

std::vector<std::byte> Pack(const StepLocations& locations)
{
  ByteWriter writer;
  writer.Append(Encode(locations.Record));
  writer.Append(locations.Rows);
  return writer.Release();
}

/// Locates values by the record of their step. Opens only files with compressed values, and for checksums the
/// first file of the step.
class Locator : public Hdf5Locator
{
public:
  Locator(const Catalog& catalog, const LocateOptions& options)
      : Hdf5Locator(catalog, options), Locations(StepLocationsOf(catalog))
  {
    const std::string folder = ContainerFolderOf(catalog.Path);
    for (const std::string& file : this->Locations.Record.Files) {
      this->Table.Files.push_back(folder + "/" + file);
      this->Sizes.push_back(SizeOfFile(this->Table.Files.back()));
    }
    for (const DataSet& set : this->Locations.Record.DataSets) {
      this->Sets[{set.Level, set.Variable, set.File}] = &set;
    }
  }

  LocationTable RunWithChecksums(const std::vector<PatchVariable>& requests)
  {
    LocationTable table = this->Run(requests);
    if (this->Options.Verify) {
      table.Checksums = ReadChecksums(
          ContainerFolderOf(this->Data.Path), this->Locations.Record, this->Locations.Rows, requests);
    }
    return table;
  }

private:
  const DataSet& DataSetOf(const PatchVariable& request, hdf5::DatasetRange& range);
  Location LocateOne(const PatchVariable& request) override;
  void Check(LocatedDataset& found, const DatasetLocation& location, const PatchVariable& request) override;
  void CheckInFile(const DataSet& set, const ByteRange& byteRange) const;
  const std::vector<std::uint64_t>& CachedValuesBefore(int variable);

  const StepLocations Locations;
  std::vector<std::optional<std::uint64_t>> Sizes;    ///< size of each file; nullopt: no such file
  std::map<std::array<int, 3>, const DataSet*> Sets;  ///< by level, variable and file
  std::map<int, std::vector<std::uint64_t>> ValuesBeforeOfVariable;  ///< see ValuesBefore()
};

const std::vector<std::uint64_t>& Locator::CachedValuesBefore(int variable)
{
  std::vector<std::uint64_t>& before = this->ValuesBeforeOfVariable[variable];
  if (before.empty()) {
    before = ValuesBefore(this->Data, this->Locations.Rows, variable);
  }
  return before;
}

/// Returns the data set with the values of a request. `range` receives the range of the values in the data
/// set. Throws Error if the record of the step lacks the values.
const DataSet& Locator::DataSetOf(const PatchVariable& request, hdf5::DatasetRange& range)
{
  const Patch& patch = this->Data.Patches[request.Patch];
  const auto found = this->Sets.find({patch.Level, request.Variable, patch.File});
  range.First = this->CachedValuesBefore(request.Variable)[request.Patch];
  range.Count = ValuesOf(this->Data, request.Variable, request.Patch);
  if (found == this->Sets.end() || range.First > found->second->Values ||
      range.Count > found->second->Values - range.First) {
    throw FileError(this->Data.Path,
        fmt::format("values of '{}' on patch {}", PlainText(this->Data.Variables[request.Variable].Name),
            request.Patch),
        "no such data set, or too few values, in the record of the step", "The log is damaged");
  }
  return *found->second;
}

Location Locator::LocateOne(const PatchVariable& request)
{
  hdf5::DatasetRange range;
  const DataSet& set = this->DataSetOf(request, range);
  if (set.Compression == FilterType::None) {
    ByteRange byteRange;
    byteRange.Type = this->Locations.Record.Types[request.Variable];
    byteRange.File = set.File;
    byteRange.Bytes = range.Count * SizeOf(byteRange.Type);
    byteRange.Offset = set.Offset + range.First * SizeOf(byteRange.Type);
    this->CheckInFile(set, byteRange);
    this->Table.ByteRanges.push_back(byteRange);
    return MakeLocation(Encoding::Raw, this->Table.ByteRanges.size() - 1, 1);
  }
  const Location location = this->LocateAt({this->Table.Files[set.File], set.Name, range}, request);
  if (location.Kind == Encoding::Chunked) {
    const ChunkedArray& array = this->Table.ChunkedArrays.back();
    const auto begin = this->Table.Chunks.begin() + static_cast<std::ptrdiff_t>(array.FirstChunk);
    if (std::any_of(begin, this->Table.Chunks.end(), [](const Chunk& chunk) { return chunk.Bytes == 0; })) {
      throw FileError(this->Table.Files[set.File], fmt::format("all chunks of '{}'", PlainText(set.Name)),
          "only some of them", "The file is damaged");
    }
  }
  return location;
}

void Locator::Check(LocatedDataset& found, const DatasetLocation& location, const PatchVariable& request)
{
  hdf5::DatasetRange ignored;
  const std::uint64_t values = this->DataSetOf(request, ignored).Values;
  const std::size_t bytes = SizeOf(this->Locations.Record.Types[request.Variable]);
  if (found.Info.Values != values || found.Info.ElementBytes != bytes) {
    throw FileError(location.Path,
        fmt::format("{} numbers of {} bytes in '{}'", values, bytes, PlainText(location.Dataset)),
        fmt::format("{} of {} bytes", found.Info.Values, found.Info.ElementBytes),
        "The container is damaged");
  }
}

void Locator::CheckInFile(const DataSet& set, const ByteRange& byteRange) const
{
  const std::optional<std::uint64_t>& size = this->Sizes[set.File];
  if (!size || byteRange.Offset < set.Offset || byteRange.Offset > *size ||
      byteRange.Bytes > *size - byteRange.Offset) {
    if (size) {
      hdf5::CheckComplete(this->Table.Files[set.File]);
    }
    throw FileError(this->Table.Files[set.File],
        fmt::format("{} bytes at offset {}", byteRange.Bytes, byteRange.Offset),
        size ? fmt::format("a file of {} bytes", *size) : "no file", "The container is incomplete");
  }
}

TimeStep StepOf(const std::string& folder, const LoggedStep& logged)
{
  TimeStep step;
  step.Path = folder + "/" + logged.Head.File;
  step.Step = logged.Head.Step;
  step.Time = logged.Head.Time;
  step.Date = logged.Head.Date;
  return step;
}

}  // namespace

StepLocations StepLocationsOf(const Catalog& catalog)
{
  ByteReader reader(catalog.FormatData);
  StepLocations locations;
  locations.Record = Decode(reader.Get<std::string>());
  reader.Get(locations.Rows);
  const auto inside = [&](int patch) {
    return patch >= 0 && patch < static_cast<int>(catalog.Patches.size());
  };
  if (locations.Rows.size() != catalog.Patches.size() ||
      !std::all_of(locations.Rows.begin(), locations.Rows.end(), inside) ||
      locations.Record.Data.Variables.size() != catalog.Variables.size()) {
    throw Error("The description of the time step does not belong to a PatchIO container.");
  }
  return locations;
}

/// Claims each folder with a container's log, whatever the name of the folder. Also claims the files of steps
/// next to a damaged log, or in a folder NAME.pio without a log: read as VTKHDF files, these steps would
/// silently lack the variables that VTKHDF cannot represent.
bool ContainerFormat::Claims(const std::string& path) const
{
  std::error_code ignored;
  const fs::path file(path);
  const std::string folder = ContainerFolderOf(path), name = file.filename().string();
  // A path whose status is unknown counts as existing, so that reading it reports the reason.
  const auto isThere = [&](const fs::path& one) {
    return fs::status(one, ignored).type() != fs::file_type::not_found;
  };
  if (fs::is_directory(file, ignored) || name == "index") {
    return IsContainer(folder);
  }
  return file.extension() == ".hdf" && isThere(file) &&
         (IsContainer(folder) || (name.rfind("step.", 0) == 0 &&
                                     (isThere(LogPathOf(folder)) || fs::path(folder).extension() == ".pio")));
}

bool ContainerFormat::SeemsBroken(const std::string& path) const
{
  std::error_code ignored;
  return fs::path(ContainerFolderOf(path)).extension() == ".pio" && fs::exists(path, ignored);
}

Series ContainerFormat::OpenSeries(const std::string& path, const SeriesOptions&) const
{
  const std::string folder = ContainerFolderOf(path);
  const auto read = ReadLog(folder);
  const ContainerLog& log = *read;
  if (log.Steps.empty()) {
    throw FileError(folder, "steps in the container", "no complete step",
        "Wait until a step is complete, or write the container again");
  }
  Series series;
  for (const LoggedStep& logged : log.Steps) {
    series.Steps.push_back(StepOf(folder, logged));
  }
  series.Watched.push_back(LogPathOf(folder));
  std::vector<DataSet> sets;
  CatchError([&] { sets = Decode(log.Steps.back().Bytes).DataSets; });  // reading the step reports the fault
  if (std::any_of(
          sets.begin(), sets.end(), [](const DataSet& set) { return set.Compression == FilterType::Zstd; })) {
    series.Notes.push_back(folder +
                           ": the values are compressed with Zstandard, for which other programs need "
                           "HDF5's plugin (filter 32015)");
  }
  if (log.DamagedBytes > 0) {
    series.Warnings.push_back(FileError(LogPathOf(folder), "complete records",
        fmt::format("{} of damaged bytes in the log", ByteText(log.DamagedBytes)), "Steps may be missing")
                                  .what());
  }
  return series;
}

Catalog ContainerFormat::ReadCatalog(const std::string& path) const
{
  RecordedStep step = container::ReadStep(ContainerFolderOf(path), FindStep(path));
  Catalog catalog = std::move(step.Data);
  catalog.FormatData = Pack({std::move(step.Record), std::move(step.Rows)});
  return catalog;
}

std::vector<ValueRange> ContainerFormat::RangesOf(const Catalog& catalog, int variable) const
{
  const StepLocations locations = StepLocationsOf(catalog);
  return ReadRanges(ContainerFolderOf(catalog.Path), locations.Record, locations.Rows, variable);
}

LocationTable ContainerFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, options).RunWithChecksums(requests);
}

}  // namespace patchio::container

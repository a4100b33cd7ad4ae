#include "Verify/ContainerCheck.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Catalog/CheckCatalog.h"
#include "Convert/PatchBatches.h"
#include "Formats/Container/ContainerFormat.h"
#include "Formats/Container/ContainerLog.h"
#include "Formats/Container/StepLayout.h"
#include "Formats/VTKHDF/VtkhdfFormat.h"
#include "Hdf5/File.h"
#include "Io/FileSource.h"
#include "Read/CollectiveCalls.h"
#include "Read/OpenedStep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

namespace fs = std::filesystem;

namespace patchio::tools {
namespace {

using container::DataSet;
using container::StepRecord;

constexpr std::uint64_t BatchBytes = std::uint64_t(64) << 20;

/// A range of bytes in a file of a step: a data set or a table of the step's record.
struct NamedRange
{
  int File;
  std::uint64_t Begin, End;
  std::string Name;
};

/// Returns the ranges of the data sets that are not compressed, and of the tables.
std::vector<NamedRange> RangesOf(const StepRecord& record)
{
  std::vector<NamedRange> ranges;
  for (const DataSet& set : record.DataSets) {
    if (set.Compression == FilterType::None) {
      ranges.push_back(
          {set.File, set.Offset, set.Offset + set.Values * SizeOf(record.Types[set.Variable]), set.Name});
    }
  }
  for (const auto& [name, table] : record.Tables) {
    ranges.push_back({0, table.Offset, table.Offset + table.Bytes, "the table " + name});
  }
  return ranges;
}

/// Returns a line for each pair of neighbouring data sets or tables that overlap in a file.
std::vector<std::string> FindOverlaps(const StepRecord& record)
{
  std::vector<NamedRange> ranges = RangesOf(record);
  std::sort(ranges.begin(), ranges.end(), [](const NamedRange& a, const NamedRange& b) {
    return std::tie(a.File, a.Begin) < std::tie(b.File, b.Begin);
  });
  std::vector<std::string> faults;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].File == ranges[i - 1].File && ranges[i].Begin < ranges[i - 1].End) {
      faults.push_back(fmt::format("{} and {} overlap in {}", PlainText(ranges[i - 1].Name),
          PlainText(ranges[i].Name), record.Files[ranges[i].File]));
    }
  }
  return faults;
}

/// Returns the first fault of a step's files that is found without reading the values, or an empty text.
std::string FaultOfFiles(const std::string& folder, const container::LoggedStep& step)
{
  return CatchError([&] {
    const StepRecord record = container::RecordOf(folder, step);
    std::vector<std::uint64_t> ends(record.Files.size(), 0);
    for (const NamedRange& range : RangesOf(record)) {
      ends[range.File] = std::max(ends[range.File], range.End);
    }
    for (std::size_t f = 0; f < record.Files.size(); ++f) {
      const std::string path = folder + "/" + record.Files[f];
      const hdf5::File file(path);  // throws if the signature or the end of the file is missing
      const std::uint64_t size = fs::file_size(path);
      if (size < ends[f]) {
        throw FileError(path, fmt::format("at least {} bytes", ends[f]), fmt::format("{}", size));
      }
    }
    container::ReadStep(folder, step);
    container::CheckTables(folder, record);
  });
}

/// Returns the first fault of FaultsOfValues(), or the error that ends this check; empty if the step has no
/// fault.
std::string FaultOfValues(const std::string& folder, const container::LoggedStep& logged, int threads)
{
  TimeStep step;
  step.Path = folder + "/" + logged.Head.File;
  std::vector<std::string> faults;
  const std::string broken = CatchError([&] { faults = FaultsOfValues(step, threads); });
  return broken.empty() && !faults.empty() ? faults[0] : broken;
}

/// Returns the parts of a catalog that VTKHDF files describe, as lines of text for comparison.
std::vector<std::string> DescriptionOf(const Catalog& data)
{
  std::vector<std::string> lines{
      fmt::format("the time {}", data.Time), fmt::format("the origin ({})", fmt::join(data.Origin, ", "))};
  for (std::size_t level = 0; level < data.Levels.size(); ++level) {
    lines.push_back(
        fmt::format("level {} with cells of ({})", level, fmt::join(data.Levels[level].Spacing, ", ")));
  }
  std::vector<std::string> boxes;
  for (const Patch& patch : data.Patches) {
    boxes.push_back(fmt::format("the box {} on level {}", TextOf(patch.Cells), patch.Level));
  }
  std::sort(boxes.begin(), boxes.end());
  lines.insert(lines.end(), boxes.begin(), boxes.end());
  return lines;
}

/// Returns the first difference between a step and the VTKHDF description that other programs read, or
/// an empty text. Compares only steps of the profile Amr, because other files do not describe times and
/// levels.
std::string FaultOfVtkhdf(const std::string& folder, const StepRecord& record, const Catalog& data)
{
  if (container::ProfileOf(data, static_cast<int>(record.Files.size())) != container::FileProfile::Amr) {
    return {};
  }
  const std::string path = folder + "/" + record.Files[0];
  return CatchError([&] {
    std::vector<std::string> expected = DescriptionOf(data);
    std::vector<std::string> found = DescriptionOf(vtkhdf::VtkhdfFormat().ReadCatalog(path));
    const std::size_t lines = std::max(expected.size(), found.size());
    expected.resize(lines, "nothing more");
    found.resize(lines, "nothing more");
    const auto [wanted, other] = std::mismatch(expected.begin(), expected.end(), found.begin());
    if (wanted != expected.end()) {
      throw FileError(path, *wanted, *other + " in the VTKHDF description",
          "PatchIO can read the values, but other programs cannot");
    }
  });
}

/// Returns the faults of a step's files that are found without reading the values: overlaps, damaged tables,
/// and differences between the record and the HDF5 files in the description of the step and the locations of
/// the values. The differences matter because other programs read the files without the record.
std::vector<std::string> FaultsOfDescription(
    const std::string& folder, const StepRecord& record, const Catalog& data)
{
  std::vector<std::string> faults = FindOverlaps(record);
  const auto add = [&](const std::string& fault) {
    if (!fault.empty()) {
      faults.push_back(fault);
    }
  };
  add(CatchError([&] { container::CheckTables(folder, record); }));
  add(FaultOfVtkhdf(folder, record, data));
  for (std::size_t file = 0; file < record.Files.size(); ++file) {
    const std::string path = folder + "/" + record.Files[file];
    add(CatchError([&] {
      const hdf5::File described(path);
      for (const DataSet& set : record.DataSets) {
        if (set.File != static_cast<int>(file) || set.Values == 0 || set.Compression != FilterType::None) {
          continue;
        }
        const hdf5::Dataset found = described.Describe(set.Name);
        if (found.Layout != hdf5::StorageLayout::Contiguous || found.Offset != set.Offset ||
            found.Values != set.Values) {
          throw FileError(path,
              fmt::format("{} values of '{}' at byte {}", set.Values, PlainText(set.Name), set.Offset),
              fmt::format("{} values at byte {} in the HDF5 file", found.Values, found.Offset),
              "PatchIO can read the values, but other programs cannot");
        }
      }
    }));
  }
  return faults;
}

}  // namespace

bool IsInContainer(const std::string& path)
{
  return container::IsContainer(container::ContainerFolderOf(path));
}

std::vector<std::string> FaultsOfValues(const TimeStep& step, int threads)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  const OpenedStep opened(*alone, step.Path, IndexMode::Off);
  const Catalog& data = opened.Data();
  const container::StepLocations locations = container::StepLocationsOf(data);
  const std::string folder = container::ContainerFolderOf(step.Path);
  std::vector<std::string> faults = FaultsOfDescription(folder, locations.Record, data);
  std::vector<PatchVariable> all;
  for (int v = 0; v < static_cast<int>(data.Variables.size()); ++v) {
    for (int patch = 0; patch < static_cast<int>(data.Patches.size()); ++patch) {
      all.push_back({patch, v});
    }
  }
  const std::vector<std::uint32_t> sums =
      container::ReadChecksums(folder, locations.Record, locations.Rows, all);
  std::vector<int> variables(data.Variables.size());
  std::iota(variables.begin(), variables.end(), 0);
  PatchBatches batches(opened, locations.Rows, variables, threads, BatchBytes);
  // Next() compares all values with their checksums, except those that the HDF5 library reads.
  const auto isCompared = [&](std::size_t row, int v) {
    const LocationTable& where = batches.Locations();
    return !where.Checksums.empty() && where.Locations[row * variables.size() + v].Kind != Encoding::Library;
  };
  LoadResult loaded;
  while (batches.Next(loaded)) {
    for (const LoadFault& fault : loaded.Faults) {
      faults.push_back(fault.Message);
    }
    for (std::size_t row = batches.First(); row < batches.End(); ++row) {
      const int patch = locations.Rows[row];
      for (const int v : variables) {
        const LoadedArray& array = loaded.At(row - batches.First(), v);
        const std::size_t bytes = array.Tuples * array.Components * SizeOf(array.Type);
        if (array.Status == ArrayStatus::Read && !isCompared(row, v) &&
            Crc32(0, array.Values.get(), bytes) != sums[v * data.Patches.size() + patch]) {
          faults.push_back(
              fmt::format("'{}' on patch {} of {}: the values differ from those that were written",
                  PlainText(data.Variables[v].Name), data.Patches[patch].Number,
                  data.NameOfLevel(data.Patches[patch].Level)));
        }
      }
    }
  }
  return faults;
}

std::vector<std::string> FaultsOfSteps(Communicator& ranks, const std::string& folder,
    const std::vector<std::int64_t>& steps, bool checkValues, int threads)
{
  std::shared_ptr<const container::ContainerLog> log;
  std::vector<std::string> faults;
  if (steps.empty()) {
    return faults;
  }
  RunOnAllRanks(ranks, [&] { log = container::ReadLog(folder); });
  for (std::size_t first = 0; first < steps.size(); first += ranks.Size()) {
    const std::size_t ownStep = first + ranks.Rank();
    std::string fault;
    for (const container::LoggedStep& logged : log->Steps) {
      if (ownStep < steps.size() && logged.Head.Step == steps[ownStep]) {
        fault = FaultOfFiles(folder, logged);
        fault = fault.empty() && checkValues ? FaultOfValues(folder, logged, threads) : fault;
      }
    }
    for (const std::string& one : ranks.AllGather(fault)) {
      faults.push_back(one);
    }
  }
  faults.resize(steps.size());
  return faults;
}

LogFindings CheckLog(const std::string& path)
{
  const std::string folder = container::ContainerFolderOf(path);
  const auto read = container::ReadLog(folder);
  const container::ContainerLog& log = *read;
  LogFindings findings;
  std::vector<std::string>& faults = findings.Faults;
  if (log.DamagedBytes > 0) {
    faults.push_back(fmt::format(
        "{}: {} of the records are damaged, so the log lacks some steps. The files of these steps may be "
        "intact. Copy the other steps with 'patchio convert', and write the missing steps again.",
        container::LogPathOf(folder), ByteText(static_cast<double>(log.DamagedBytes))));
  }
  if (log.TrailingBytes > 0) {
    faults.push_back(fmt::format(
        "{}: the last {} are an incomplete record: a program is still writing a step, or has stopped before "
        "the end of the step. Wait if a program is writing to the container; otherwise write the step again.",
        container::LogPathOf(folder), ByteText(static_cast<double>(log.TrailingBytes))));
  }
  const char* const unrecorded =
      log.DamagedBytes > 0
          ? "The record of the file may be among the damaged records: keep the file until you "
            "have written the step again"
          : "A program is still writing a step, or has stopped before the end of the step. "
            "Wait if a program is writing "
            "to the container; otherwise delete this file, and write the step again";
  std::set<std::string> known;
  for (const container::LoggedStep& step : log.Steps) {
    known.insert(step.Head.File);
    CatchError([&] {  // an invalid record is a fault of its step
      const std::vector<std::string> files = container::RecordOf(folder, step).Files;
      known.insert(files.begin(), files.end());
    });
  }
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (BeginsWith(name, "step.") && entry.path().extension() == ".part") {
      findings.Notes.push_back(
          fmt::format("{}: a program is still writing this step, or has stopped before the end of the step. "
                      "The other steps are not "
                      "affected. The next program that writes to the container removes this file. You can "
                      "also delete the file.",
              entry.path().string()));
    } else if (BeginsWith(name, "step.") && known.count(name) == 0) {
      faults.push_back(
          fmt::format("{}: the log has no record of this file. {}.", entry.path().string(), unrecorded));
    }
  }
  return findings;
}

}  // namespace patchio::tools

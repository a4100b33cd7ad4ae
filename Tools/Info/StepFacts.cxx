#include "Info/StepFacts.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Read/PointCells.h"
#include "Read/ReadPatchData.h"
#include "Store/LocationIndex.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_set>
#include <utility>

namespace patchio::tools {
namespace {

constexpr std::uint64_t RequestsAtOnce = 1 << 18;  ///< limits the memory for locations

/// Adds bytes, types, files and faults to StepFacts, from the locations of one part of the step after
/// another.
class Inventory
{
public:
  explicit Inventory(StepFacts& facts) : Facts(facts) { facts.Types.resize(facts.Data->Variables.size()); }

  void Add(const std::vector<PatchVariable>& requests, const LocationTable& table);
  /// Adds a fault that makes `arrays` arrays unreadable to the faults of the file with which the message
  /// begins.
  void AddFault(const std::string& message, std::uint64_t arrays);

private:
  void AddArray(const PatchVariable& request, const LocationTable& table, const Location& location);
  void AddBytes(const LocationTable& table, int file, int variable, ElementType type, std::uint64_t bytes);

  StepFacts& Facts;
  std::map<std::string, std::size_t> FaultOfFile;  ///< index into StepFacts::Faults
  /// Offsets of the chunks that were counted, by file. Arrays may share chunks.
  std::map<std::string, std::unordered_set<std::uint64_t>> SeenChunks;
};

void Inventory::Add(const std::vector<PatchVariable>& requests, const LocationTable& table)
{
  for (std::size_t i = 0; i < requests.size(); ++i) {
    this->AddArray(requests[i], table, table.Locations[i]);
  }
  for (const LocationProblem& problem : table.Problems) {
    this->AddFault(problem.Message, 1);
  }
}

void Inventory::AddFault(const std::string& message, std::uint64_t arrays)
{
  const auto [entry, isNew] =
      this->FaultOfFile.emplace(message.substr(0, message.find(": ")), this->Facts.Faults.size());
  if (isNew) {
    this->Facts.Faults.push_back({message, 0});
  }
  this->Facts.Faults[entry->second].Arrays += arrays;
}

void Inventory::AddArray(const PatchVariable& request, const LocationTable& table, const Location& location)
{
  for (std::uint32_t i = location.First; i < location.First + location.Count; ++i) {
    if (location.Kind == Encoding::Raw || location.Kind == Encoding::SparseMaterials) {
      const ByteRange& part = table.ByteRanges[i];
      this->AddBytes(table, part.File, request.Variable, part.Type, part.Bytes);
    } else if (location.Kind == Encoding::Chunked) {
      const ChunkedArray& part = table.ChunkedArrays[i];
      std::uint64_t bytes = 0;
      for (std::size_t c = part.FirstChunk; c < part.FirstChunk + part.ChunkCount; ++c) {
        const bool isNew = this->SeenChunks[table.Files[part.File]].insert(table.Chunks[c].Offset).second;
        bytes += isNew ? table.Chunks[c].Bytes : 0;
      }
      this->AddBytes(table, part.File, request.Variable, part.Type, bytes);
    } else if (location.Kind == Encoding::Library) {
      const LibraryArray& part = table.LibraryArrays[i];
      this->AddBytes(table, part.File, request.Variable, part.Type, part.Count * SizeOf(part.Type));
    }
  }
}

void Inventory::AddBytes(
    const LocationTable& table, int file, int variable, ElementType type, std::uint64_t bytes)
{
  this->Facts.Types[variable] = type;
  this->Facts.Files.insert(table.Files[file]);
  this->Facts.Bytes += bytes;
}

/// Returns the stored arrays of some patches.
std::vector<PatchVariable> ListStoredArrays(const Catalog& catalog, const std::vector<int>& patches)
{
  std::vector<PatchVariable> requests;
  for (const int p : patches) {
    for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
      if (catalog.PresenceOf(v, p) == Presence::Stored) {
        requests.push_back({p, v});
      }
    }
  }
  return requests;
}

void CheckArrays(const Format& format, bool trustIndexFile, int threads, StepFacts& facts)
{
  const Catalog& catalog = *facts.Data;
  const bool known = trustIndexFile && facts.IndexFile.Found;
  Inventory inventory(facts);
  const RowOrder order(catalog);
  const std::uint64_t patches = catalog.Patches.size();
  const std::uint64_t part =
      std::max<std::uint64_t>(RequestsAtOnce / std::max<std::size_t>(catalog.Variables.size(), 1), 1);
  for (std::uint64_t first = 0; first < patches; first += part) {
    const auto requests = ListStoredArrays(catalog, order.PatchesOf(first, std::min(part, patches - first)));
    facts.Arrays += requests.size();
    const std::string fault = CatchError([&] {
      inventory.Add(
          requests, known ? facts.IndexFile.Found->Index.Index.Find(catalog, requests).Table
                          : format.Locate(catalog, requests, {threads, false, nullptr, !trustIndexFile}));
    });
    if (!fault.empty()) {
      inventory.AddFault(fault, requests.size());
    }
  }
}

/// Checks whether the positions of points, which are part of the grid, lie in the domain.
void CheckPositions(int threads, StepFacts& facts)
{
  const Catalog& catalog = *facts.Data;
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    const Variable& variable = catalog.Variables[v];
    for (std::size_t p = 0; p < catalog.Patches.size() && variable.Positions; ++p) {
      const int patch = static_cast<int>(p);
      if (catalog.PresenceOf(static_cast<int>(v), patch) != Presence::Stored) {
        continue;
      }
      const char* const name = variable.Name.c_str();
      ReadPatchDataResult read = ReadPatchData(facts.Step.Path, &patch, 1, &name, 1, threads);
      if (read.Error != ReadError::None) {
        return;  // CheckArrays() reports the fault
      }
      VariableData& data = read.Patches[0].Variables[0];
      LoadedArray numbers;
      numbers.Type = data.Type;
      numbers.Tuples = data.Tuples;
      numbers.Values = std::move(data.Data);
      const std::string fault = CatchError([&] { PointCells(catalog, numbers, PlainText(variable.Name)); });
      if (!fault.empty()) {
        facts.Faults.push_back({fault, 1});
      }
    }
  }
}

}  // namespace

StepFacts InspectStep(const Format& format, const TimeStep& step, bool trustIndexFile, int threads)
{
  StepFacts facts;
  facts.Step = step;
  facts.IndexFile = FindStepIndexFile(*MakeSelfCommunicator(), step.Path, {});
  facts.OpenError = CatchError([&] {
    if (trustIndexFile && facts.IndexFile.Found) {
      facts.Data = facts.IndexFile.Found->Data;
      SetStep(*facts.Data, step);
    } else {
      facts.Data = format.ReadStep(step);
    }
    facts.NeedsIndexFile = format.NeedsIndex(*facts.Data);
  });
  if (facts.OpenError.empty()) {
    CheckArrays(format, trustIndexFile, threads, facts);
    if (!trustIndexFile) {
      CheckPositions(threads, facts);
    }
  } else {
    facts.Data.reset();
  }
  return facts;
}

std::vector<TimeStep> SelectSteps(
    const Series& series, const std::string& path, const std::vector<std::int64_t>& numbers)
{
  const std::set<std::int64_t> wanted(numbers.begin(), numbers.end());
  std::set<std::int64_t> missing = wanted;
  std::vector<TimeStep> steps;
  for (const TimeStep& step : series.Steps) {
    if (wanted.empty() || wanted.count(step.Step) > 0) {
      steps.push_back(step);
      missing.erase(step.Step);
    }
  }
  if (!missing.empty()) {
    constexpr std::size_t most = 3;
    std::string lost;
    for (std::size_t i = 0; i < series.Warnings.size() && i < most; ++i) {
      lost += " " + series.Warnings[i];
    }
    lost += series.Warnings.size() > most
                ? fmt::format(" Number of further warnings: {}.", series.Warnings.size() - most)
                : "";
    throw Error(fmt::format("{} has no step {}, but {}, numbered {} to {}.{}", path, *missing.begin(),
        CountText(series.Steps.size(), "step"), series.Steps.front().Step, series.Steps.back().Step, lost));
  }
  return steps;
}

const RejectedIndexFile* FaultyIndexFile(const IndexFileSearch& search)
{
  const auto faulty = std::find_if(search.Rejected.begin(), search.Rejected.end(),
      [](const RejectedIndexFile& state) { return state.Fault != FileFault::Absent; });
  return search.Found || faulty == search.Rejected.end() ? nullptr : &*faulty;
}

const char* NameOf(FileFault fault)
{
  switch (fault) {
    case FileFault::Absent:
      return "absent";
    case FileFault::Unreadable:
      return "unreadable";
    case FileFault::Foreign:
      return "of another version";
    case FileFault::Stale:
      return "stale";
    case FileFault::Unfinished:
      return "unfinished";
    case FileFault::Corrupted:
      break;
  }
  return "corrupted";
}

std::string ReasonOf(const RejectedIndexFile& state)
{
  const std::string name = state.File.Path + ": ";
  return BeginsWith(state.Message, name) ? state.Message.substr(name.size()) : state.Message;
}

}  // namespace patchio::tools

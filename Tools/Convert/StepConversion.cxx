#include "Convert/StepConversion.h"

#include "Io/ReadTask.h"
#include "Container/StepLayout.h"
#include "Plan/PreferredRanks.h"
#include "Session/RankRead.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>

namespace patchio::tools {
namespace {

using container::PatchValues;
using container::StepToWrite;
using container::StepWriter;

/// What is converted of a step: its catalog, and whose patches and variables these are.
struct Selection
{
  Catalog Data;
  std::vector<int> PatchOf, VariableOf;  ///< numbers in the step that is read
};

bool IsNeeded(const Catalog& catalog, int variable, const std::set<std::string>& wanted)
{
  const Variable& info = catalog.Variables[variable];
  return wanted.empty() || wanted.count(info.Name) > 0 || info.Positions || variable == catalog.CoordinatesVariable;
}

void CheckNames(const Catalog& catalog, const std::set<std::string>& wanted)
{
  for (const std::string& name : wanted) {
    if (catalog.FindVariable(name) < 0) {
      std::string names;
      for (const Variable& variable : catalog.Variables) {
        names += (names.empty() ? "'" : ", '") + variable.Name + "'";
      }
      throw Error(fmt::format("{}: there is no variable '{}'; there are {}.", catalog.Path, name, PlainText(names)));
    }
  }
}

void SelectPatches(const Catalog& all, const ConversionOptions& options, Selection& selection)
{
  const std::vector<bool> near = PatchesNear(all, options.Region);
  Catalog& data = selection.Data;
  data.Levels.clear();
  data.LevelNames.clear();
  data.Patches.clear();
  const int last = std::min(options.LastLevel, static_cast<int>(all.Levels.size()) - 1);
  for (int l = options.FirstLevel; l <= last; ++l) {
    Level level = all.Levels[l];
    level.FirstPatch = static_cast<int>(data.Patches.size());
    level.PatchCount = 0;
    for (int p = all.Levels[l].FirstPatch; p < all.Levels[l].FirstPatch + all.Levels[l].PatchCount; ++p) {
      if (near[p]) {
        Patch& patch = data.Patches.emplace_back(all.Patches[p]);
        patch.Level = static_cast<int>(data.Levels.size());
        patch.Number = level.PatchCount++;
        selection.PatchOf.push_back(p);
      }
    }
    level.Ratio = data.Levels.empty() ? Int3{1, 1, 1} : level.Ratio;
    data.Levels.push_back(level);
    if (!all.LevelNames.empty()) {
      data.LevelNames.push_back(all.LevelNames[l]);
    }
  }
  if (data.Patches.empty()) {
    throw Error(all.Path + ": no patch is in these levels and this region.");
  }
}

Selection Select(const Catalog& all, const ConversionOptions& options, int ranks)
{
  CheckNames(all, options.Variables);
  Selection selection;
  Catalog& data = selection.Data;
  data = all;
  data.FormatData.clear();
  data.ChildBegin.clear();
  data.Children.clear();
  data.StepInFile = 0;
  data.StepsInFile = 1;
  SelectPatches(all, options, selection);
  data.Variables.clear();
  data.CoordinatesVariable = -1;
  for (int v = 0; v < static_cast<int>(all.Variables.size()); ++v) {
    if (IsNeeded(all, v, options.Variables)) {
      data.CoordinatesVariable = v == all.CoordinatesVariable ? static_cast<int>(data.Variables.size()) : data.CoordinatesVariable;
      Variable& variable = data.Variables.emplace_back(all.Variables[v]);
      variable.Ghosts = {0, 0, 0};
      variable.Interleaved = variable.Components > 1;
      variable.Material = -1;
      variable.TimeInvariant = false;
      selection.VariableOf.push_back(v);
    }
  }
  data.ResetPresence();
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      const bool there = all.PresenceOf(selection.VariableOf[v], selection.PatchOf[p]) != Presence::Absent;
      data.SetPresence(static_cast<int>(v), static_cast<int>(p), there ? Presence::Stored : Presence::Absent);
    }
  }
  const std::vector<int> homes = PreferredRanks(data, ranks);
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    data.Patches[p].Writer = homes[p];
  }
  return selection;
}

/// This rank's part of a conversion.
class StepConversion
{
public:
  StepConversion(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options)
      : Ranks(ranks), From(from), Options(options)
  {
  }

  ConversionResult Run(container::ContainerWriter& into, const std::function<void(double)>& progress);

private:
  void Locate();
  std::vector<ElementType> AgreeOnTypes() const;
  LocationTable PlacesOf(const std::vector<PatchVariable>& requests) const;
  void Convert(StepWriter& step, const std::function<void(double)>& progress);
  void ConvertBatch(const std::vector<int>& patches, StepWriter& step);
  std::uint64_t BytesOf(int patch) const;

  Communicator& Ranks;
  const OpenedStep& From;
  const ConversionOptions& Options;
  Selection Wanted;
  std::vector<ElementType> Types;
  std::vector<int> Mine;            ///< patches, in the order in which they lie in the files that are written
  std::vector<std::size_t> RowOf;   ///< of Mine, by number in the step that is read
  LocationTable Places;             ///< of Mine x variables
};

ConversionResult StepConversion::Run(container::ContainerWriter& into, const std::function<void(double)>& progress)
{
  RunOnAllRanks(this->Ranks, [&] {
    this->Wanted = Select(this->From.Data(), this->Options, this->Ranks.Size());
    for (const int patch : container::RowsOf(this->Wanted.Data)) {
      if (this->Wanted.Data.Patches[patch].Writer == this->Ranks.Rank()) {
        this->Mine.push_back(patch);
      }
    }
    this->Locate();
  });
  this->Types = this->AgreeOnTypes();
  for (std::size_t v = 0; v < this->Types.size(); ++v) {
    const bool isFloat = this->Types[v] == ElementType::Float32 || this->Types[v] == ElementType::Float64;
    if (isFloat) {  // reading has made them NaN
      this->Wanted.Data.Variables[v].UndefinedFrom = this->Wanted.Data.Variables[v].UndefinedTo = NAN;
    }
  }
  const std::unique_ptr<StepWriter> step = into.Begin({this->Wanted.Data, this->Types});
  RunOnAllRanks(this->Ranks, [&] { this->Convert(*step, progress); });
  into.Commit(*step);
  ConversionResult result;
  result.Patches = this->Wanted.Data.Patches.size();
  for (std::size_t v = 0; v < this->Types.size(); ++v) {
    for (std::size_t p = 0; p < this->Wanted.Data.Patches.size(); ++p) {
      const std::uint64_t values = container::ValuesOf(this->Wanted.Data, static_cast<int>(v), static_cast<int>(p));
      result.Arrays += values > 0 ? 1 : 0;
      result.Bytes += values * SizeOf(this->Types[v]);
    }
  }
  return result;
}

/// Throws Error when something cannot be read, before anything is written.
void StepConversion::Locate()
{
  std::vector<PatchVariable> requests;
  this->RowOf.assign(this->From.Data().Patches.size(), 0);
  for (std::size_t row = 0; row < this->Mine.size(); ++row) {
    const int patch = this->Wanted.PatchOf[this->Mine[row]];
    this->RowOf[patch] = row;
    for (const int variable : this->Wanted.VariableOf) {
      requests.push_back({patch, variable});
    }
  }
  this->Places = this->From.Locate(requests, this->Options.Threads);
  if (!this->Places.Problems.empty()) {
    throw Error(this->Places.Problems[0].Message);
  }
}

/// Of each variable; constants are stored as what the others are.
std::vector<ElementType> StepConversion::AgreeOnTypes() const
{
  const std::size_t variables = this->Wanted.VariableOf.size();
  std::vector<int> found(variables, -1);
  for (std::size_t i = 0; i < this->Places.Locations.size(); ++i) {
    const Location& location = this->Places.Locations[i];
    if (location.Kind != Encoding::Absent && location.Kind != Encoding::Constant) {
      found[i % variables] = std::max(found[i % variables], static_cast<int>(TypeOf(this->Places, location)));
    }
  }
  const std::vector<int> all = this->Ranks.AllGather(found);
  std::vector<ElementType> types(variables, ElementType::Float32);
  for (std::size_t i = 0; i < all.size(); ++i) {
    types[i % variables] = all[i] >= 0 ? std::max(types[i % variables], static_cast<ElementType>(all[i])) : types[i % variables];
  }
  return types;
}

LocationTable StepConversion::PlacesOf(const std::vector<PatchVariable>& requests) const
{
  LocationTable part;
  part.Files = this->Places.Files;
  const std::vector<int>& variables = this->Wanted.VariableOf;
  for (const PatchVariable& request : requests) {
    const std::size_t v = std::find(variables.begin(), variables.end(), request.Variable) - variables.begin();
    part.Locations.push_back(AppendLocation(
        this->Places, this->Places.Locations[this->RowOf[request.Patch] * variables.size() + v], part));
  }
  return part;
}

std::uint64_t StepConversion::BytesOf(int patch) const
{
  std::uint64_t bytes = 0;
  for (std::size_t v = 0; v < this->Types.size(); ++v) {
    bytes += container::ValuesOf(this->Wanted.Data, static_cast<int>(v), patch) * SizeOf(this->Types[v]);
  }
  return bytes;
}

void StepConversion::Convert(StepWriter& step, const std::function<void(double)>& progress)
{
  std::vector<int> batch;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < this->Mine.size(); ++i) {
    batch.push_back(this->Mine[i]);
    bytes += this->BytesOf(this->Mine[i]);
    if (bytes >= this->Options.BatchBytes || i + 1 == this->Mine.size()) {
      this->ConvertBatch(batch, step);
      progress(static_cast<double>(i + 1) / static_cast<double>(this->Mine.size()));
      batch.clear();
      bytes = 0;
    }
  }
}

void StepConversion::ConvertBatch(const std::vector<int>& patches, StepWriter& step)
{
  LoadRequest request;
  request.StopAtFault = true;
  request.Threads = this->Options.Threads;
  const Catalog& from = this->From.Data();
  for (const int patch : patches) {
    request.Blocks.push_back(BlockOfPatch(from, this->Wanted.PatchOf[patch]));
  }
  for (const int variable : this->Wanted.VariableOf) {
    request.Variables.push_back(RequestAsStored(from, variable));
    request.Variables.back().Ghosts = {0, 0, 0};
  }
  const auto locate = [this](const std::vector<PatchVariable>& requests) { return this->PlacesOf(requests); };
  const LoadResult loaded = RankRead(locate, from, request).Read();
  if (!loaded.Faults.empty()) {
    throw Error(loaded.Faults[0].Message);
  }
  std::vector<PatchValues> values;
  for (std::size_t b = 0; b < patches.size(); ++b) {
    for (std::size_t v = 0; v < this->Types.size(); ++v) {
      const LoadedArray& array = loaded.At(b, v);
      if (array.Status == ArrayStatus::Read && array.Type != this->Types[v]) {
        throw Error(fmt::format("{}: '{}' is {} on patch {} and {} elsewhere; a container has one type of values a variable.",
            from.Path, PlainText(this->Wanted.Data.Variables[v].Name), NameOf(array.Type), this->Wanted.PatchOf[patches[b]], NameOf(this->Types[v])));
      }
      if (array.Status == ArrayStatus::Read) {
        values.push_back({patches[b], static_cast<int>(v), array.Values.get()});
      }
    }
  }
  step.Write(values, this->Options.Threads);
}

}  // namespace

ConversionResult ConvertStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    container::ContainerWriter& into, const std::function<void(double)>& progress)
{
  return StepConversion(ranks, from, options).Run(into, progress);
}

}  // namespace patchio::tools

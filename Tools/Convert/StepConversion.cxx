#include "Convert/StepConversion.h"

#include "Container/StepLayout.h"
#include "Convert/PatchBatches.h"
#include "Io/ReadTask.h"
#include "Plan/PreferredRanks.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

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
  return wanted.empty() || wanted.count(info.Name) > 0 || catalog.IsGeometry(variable) ||
         info.Role == MeshRole::Flags;
}

void CheckNames(const Catalog& catalog, const std::set<std::string>& wanted)
{
  for (const std::string& name : wanted) {
    if (catalog.FindVariable(name) < 0) {
      std::string names;
      for (const Variable& variable : catalog.Variables) {
        names += (names.empty() ? "'" : ", '") + variable.Name + "'";
      }
      throw Error(
          fmt::format("{}: there is no variable '{}'; there are {}.", catalog.Path, name, PlainText(names)));
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
  data.Meshes.clear();
  const int last = std::min(options.LastLevel, static_cast<int>(all.Levels.size()) - 1);
  for (int l = options.FirstLevel; l <= last; ++l) {
    Level level = all.Levels[l];
    level.FirstPatch = static_cast<int>(data.Patches.size());
    level.PatchCount = 0;
    for (int p = all.Levels[l].FirstPatch; p < all.Levels[l].FirstPatch + all.Levels[l].PatchCount; ++p) {
      if (near[p]) {
        Patch& patch = data.Patches.emplace_back(all.Patches[p]);
        patch.Level = static_cast<int>(data.Levels.size());
        ++level.PatchCount;
        selection.PatchOf.push_back(p);
        if (all.IsMesh()) {
          data.Meshes.push_back(all.Meshes[p]);
        }
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
  data.PatchesChange = false;
  SelectPatches(all, options, selection);
  data.Variables.clear();
  data.CoordinatesVariable = -1;
  for (int v = 0; v < static_cast<int>(all.Variables.size()); ++v) {
    if (IsNeeded(all, v, options.Variables)) {
      data.CoordinatesVariable =
          v == all.CoordinatesVariable ? static_cast<int>(data.Variables.size()) : data.CoordinatesVariable;
      Variable& variable = data.Variables.emplace_back(all.Variables[v]);
      variable.Ghosts = {0, 0, 0};
      variable.Interleaved = variable.Components > 1;
      variable.Material = -1;
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
  void AgreeOnAbsent();
  bool Next(LoadResult& loaded);
  void Convert(StepWriter& step, LoadResult first, const std::function<void(double)>& progress);
  std::vector<PatchValues> ValuesOf(const LoadResult& loaded) const;

  Communicator& Ranks;
  const OpenedStep& From;
  const ConversionOptions& Options;
  Selection Wanted;
  std::vector<ElementType> Types;
  std::vector<int> Mine;  ///< patches, in the order in which they lie in the files that are written
  std::unique_ptr<PatchBatches> Batches;  ///< of Mine
  bool More = false;                      ///< there is a batch
};

ConversionResult StepConversion::Run(
    container::ContainerWriter& into, const std::function<void(double)>& progress)
{
  RunOnAllRanks(this->Ranks, [&] {
    this->Wanted = Select(this->From.Data(), this->Options, this->Ranks.Size());
    this->Locate();
  });
  this->Types = this->AgreeOnTypes();
  this->AgreeOnAbsent();
  LoadResult first;
  std::vector<PatchValues> sample;
  RunOnAllRanks(this->Ranks, [&] {
    this->More = this->Next(first);
    sample = this->More ? this->ValuesOf(first) : sample;
  });
  StepToWrite toWrite{this->Wanted.Data, this->Types, {}};
  toWrite.Compression = container::ChooseCompression(this->Ranks, toWrite, this->Options.Compression, sample);
  const std::unique_ptr<StepWriter> step = into.Begin(std::move(toWrite));
  RunOnAllRanks(this->Ranks, [&] { this->Convert(*step, std::move(first), progress); });
  into.Commit(*step);
  ConversionResult result;
  result.Record = step->Description();
  result.Patches = this->Wanted.Data.Patches.size();
  for (std::size_t v = 0; v < this->Types.size(); ++v) {
    for (std::size_t p = 0; p < this->Wanted.Data.Patches.size(); ++p) {
      const std::uint64_t values =
          container::ValuesOf(this->Wanted.Data, static_cast<int>(v), static_cast<int>(p));
      result.Arrays += values > 0 ? 1 : 0;
      result.Bytes += values * SizeOf(this->Types[v]);
    }
  }
  return result;
}

/// Throws Error when something cannot be found, before anything is written.
void StepConversion::Locate()
{
  std::vector<int> patches;
  for (const int patch : container::RowsOf(this->Wanted.Data)) {
    if (this->Wanted.Data.Patches[patch].Writer == this->Ranks.Rank()) {
      this->Mine.push_back(patch);
      patches.push_back(this->Wanted.PatchOf[patch]);
    }
  }
  this->Batches = std::make_unique<PatchBatches>(
      this->From, patches, this->Wanted.VariableOf, this->Options.Threads, this->Options.BatchBytes);
  if (!this->Batches->Places().Problems.empty()) {
    throw Error(this->Batches->Places().Problems[0].Message);
  }
}

/// Of each variable; constants are stored as what the others are.
std::vector<ElementType> StepConversion::AgreeOnTypes() const
{
  const std::size_t variables = this->Wanted.VariableOf.size();
  const LocationTable& places = this->Batches->Places();
  std::vector<int> found(variables, -1);
  for (std::size_t i = 0; i < places.Locations.size(); ++i) {
    const Location& location = places.Locations[i];
    if (location.Kind != Encoding::Absent && location.Kind != Encoding::Constant) {
      found[i % variables] = std::max(found[i % variables], static_cast<int>(TypeOf(places, location)));
    }
  }
  const std::vector<int> all = this->Ranks.AllGather(found);
  for (std::size_t i = 0; i < all.size(); ++i) {
    found[i % variables] = std::max(found[i % variables], all[i]);
  }
  std::vector<ElementType> types;
  for (const int type : found) {
    types.push_back(type < 0 ? ElementType::Float32 : static_cast<ElementType>(type));
  }
  return types;
}

/// What the files turn out not to have, though the description of the step says so.
void StepConversion::AgreeOnAbsent()
{
  const std::size_t variables = this->Wanted.VariableOf.size();
  std::vector<int> absent;  // pairs of variable and patch
  for (std::size_t i = 0; i < this->Batches->Places().Locations.size(); ++i) {
    if (this->Batches->Places().Locations[i].Kind == Encoding::Absent) {
      absent.insert(absent.end(), {static_cast<int>(i % variables), this->Mine[i / variables]});
    }
  }
  absent = this->Ranks.AllGather(absent);
  for (std::size_t i = 0; i < absent.size(); i += 2) {
    this->Wanted.Data.SetPresence(absent[i], absent[i + 1], Presence::Absent);
  }
}

bool StepConversion::Next(LoadResult& loaded)
{
  const bool more = this->Batches->Next(loaded);
  if (more && !loaded.Faults.empty()) {
    throw Error(loaded.Faults[0].Message);
  }
  return more;
}

/// A batch is read while the one before it is written: the file that is written takes one writer at a time,
/// as systems have it, but others may be read meanwhile.
void StepConversion::Convert(StepWriter& step, LoadResult loaded, const std::function<void(double)>& progress)
{
  LoadResult written;
  std::future<void> writing;
  for (; this->More; this->More = this->Next(loaded)) {
    const std::vector<PatchValues> values = this->ValuesOf(loaded);
    if (writing.valid()) {
      writing.get();
    }
    written = std::move(loaded);
    writing =
        std::async(std::launch::async, [&step, values, this] { step.Write(values, this->Options.Threads); });
    progress(static_cast<double>(this->Batches->End()) / static_cast<double>(this->Mine.size()));
  }
}

std::vector<PatchValues> StepConversion::ValuesOf(const LoadResult& loaded) const
{
  std::vector<PatchValues> values;
  for (std::size_t row = this->Batches->First(); row < this->Batches->End(); ++row) {
    const int patch = this->Mine[row];
    for (std::size_t v = 0; v < this->Types.size(); ++v) {
      const LoadedArray& array = loaded.At(row - this->Batches->First(), v);
      if (array.Status == ArrayStatus::Read && array.Type != this->Types[v]) {
        throw Error(fmt::format(
            "{}: '{}' is {} on patch {} and {} elsewhere; a container has one type of values a variable.",
            this->From.Data().Path, PlainText(this->Wanted.Data.Variables[v].Name), NameOf(array.Type),
            this->Wanted.PatchOf[patch], NameOf(this->Types[v])));
      }
      if (array.Status == ArrayStatus::Read) {
        values.push_back({patch, static_cast<int>(v), array.Values.get()});
      }
    }
  }
  return values;
}

}  // namespace

ConversionResult ConvertStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    container::ContainerWriter& into, const std::function<void(double)>& progress)
{
  return StepConversion(ranks, from, options).Run(into, progress);
}

}  // namespace patchio::tools

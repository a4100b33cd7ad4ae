#include "Convert/StepConversion.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Formats/Container/StepLayout.h"
#include "Io/ReadTask.h"
#include "Plan/Partition.h"
#include "Read/PointCells.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

namespace patchio::tools {

namespace {

bool IsSelected(const Catalog& catalog, int variable, const std::set<std::string>& selected)
{
  const Variable& info = catalog.Variables[variable];
  return selected.empty() || selected.count(info.Name) > 0 || catalog.IsGeometry(variable) ||
         info.Role == MeshRole::Flags;
}

void CheckNames(const Catalog& catalog, const std::set<std::string>& selected)
{
  for (const std::string& name : selected) {
    if (catalog.FindVariable(name) < 0) {
      std::vector<std::string> names;
      for (const Variable& variable : catalog.Variables) {
        names.push_back(variable.Name);
      }
      throw Error(fmt::format("{} has no variable '{}'. The variables are {}.", catalog.Path, name,
          NameList(names, names.size())));
    }
  }
}

}  // namespace

SelectedStep::SelectedStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options)
    : From(from), Options(options)
{
  RunOnAllRanks(ranks, [&] {
    this->Select(from.Data(), ranks.Size());
    this->Locate(ranks.Rank());
  });
  this->GatherTypes(ranks);
  this->GatherAbsentArrays(ranks);
}

void SelectedStep::SelectPatches(const Catalog& all)
{
  const std::vector<bool> near = PatchesNear(all, this->Options.Region);
  Catalog& data = this->Selection;
  data.Levels.clear();
  data.LevelNames.clear();
  data.Patches.clear();
  data.Meshes.clear();
  const int last = std::min(this->Options.LastLevel, static_cast<int>(all.Levels.size()) - 1);
  for (int l = this->Options.FirstLevel; l <= last; ++l) {
    Level level = all.Levels[l];
    level.FirstPatch = static_cast<int>(data.Patches.size());
    level.PatchCount = 0;
    for (int p = all.Levels[l].FirstPatch; p < all.Levels[l].FirstPatch + all.Levels[l].PatchCount; ++p) {
      if (near[p]) {
        Patch& patch = data.Patches.emplace_back(all.Patches[p]);
        patch.Level = static_cast<int>(data.Levels.size());
        ++level.PatchCount;
        this->PatchInStep.push_back(p);
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
    throw Error(
        all.Path + ": no patch lies within the selected levels and region. Widen --levels or --region.");
  }
}

void SelectedStep::Select(const Catalog& all, int rankCount)
{
  CheckNames(all, this->Options.Variables);
  Catalog& data = this->Selection;
  data = all;
  data.FormatData.clear();
  data.ChildBegin.clear();
  data.Children.clear();
  data.StepInFile = 0;
  data.StepsInFile = 1;
  data.PatchesChange = false;
  this->SelectPatches(all);
  data.Variables.clear();
  data.CoordinatesVariable = -1;
  for (int v = 0; v < static_cast<int>(all.Variables.size()); ++v) {
    if (IsSelected(all, v, this->Options.Variables)) {
      data.CoordinatesVariable =
          v == all.CoordinatesVariable ? static_cast<int>(data.Variables.size()) : data.CoordinatesVariable;
      Variable& variable = data.Variables.emplace_back(all.Variables[v]);
      variable.Ghosts = {0, 0, 0};
      variable.Interleaved = variable.Components > 1;
      variable.Material = -1;
      this->VariableInStep.push_back(v);
    }
  }
  data.ResetPresence();
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      const bool there = all.PresenceOf(this->VariableInStep[v], this->PatchInStep[p]) != Presence::Absent;
      data.SetPresence(static_cast<int>(v), static_cast<int>(p), there ? Presence::Stored : Presence::Absent);
    }
  }
  const std::vector<int> homes = PreferredRanks(data, rankCount);
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    data.Patches[p].Writer = homes[p];
  }
}

void SelectedStep::Locate(int rank)
{
  std::vector<int> patches;
  for (const int patch : container::RowsOf(this->Selection)) {
    if (this->Selection.Patches[patch].Writer == rank) {
      this->RankPatches.push_back(patch);
      patches.push_back(this->PatchInStep[patch]);
    }
  }
  this->Batches = std::make_unique<PatchBatches>(this->From, patches, this->VariableInStep,
      this->Options.Threads, this->Options.BatchBytes, this->Options.InThreeDimensions);
  if (!this->Batches->Locations().Problems.empty()) {
    throw Error(this->Batches->Locations().Problems[0].Message);
  }
}

/// Sets the types of the variables, the same on all ranks: the type of the stored patches, or Float32 if the
/// variable is constant or absent on all patches. ArraysOf() rejects variables of several types. Collective:
/// every rank of the communicator calls it.
void SelectedStep::GatherTypes(Communicator& ranks)
{
  const std::size_t variables = this->VariableInStep.size();
  const LocationTable& locations = this->Batches->Locations();
  std::vector<double> found(variables, -1);
  for (std::size_t i = 0; i < locations.Locations.size(); ++i) {
    const Location& location = locations.Locations[i];
    if (location.Kind != Encoding::Absent && location.Kind != Encoding::Constant) {
      found[i % variables] = std::max(found[i % variables], double(TypeOf(locations, location)));
    }
  }
  for (const double type : ranks.Max(found)) {
    this->TypesOfVariables.push_back(type < 0 ? ElementType::Float32 : ElementType(int(type)));
  }
}

/// Marks the arrays that the catalog of the step has, but the files lack, as absent on all ranks. Collective:
/// every rank of the communicator calls it.
void SelectedStep::GatherAbsentArrays(Communicator& ranks)
{
  const std::size_t variables = this->VariableInStep.size();
  std::vector<int> absent;  // pairs of variable and patch
  for (std::size_t i = 0; i < this->Batches->Locations().Locations.size(); ++i) {
    if (this->Batches->Locations().Locations[i].Kind == Encoding::Absent) {
      absent.insert(absent.end(), {static_cast<int>(i % variables), this->RankPatches[i / variables]});
    }
  }
  absent = ranks.AllGather(absent);
  for (std::size_t i = 0; i < absent.size(); i += 2) {
    this->Selection.SetPresence(absent[i], absent[i + 1], Presence::Absent);
  }
}

bool SelectedStep::Next(LoadResult& loaded)
{
  const bool more = this->Batches->Next(loaded);
  if (more && !loaded.Faults.empty()) {
    throw Error(loaded.Faults[0].Message);
  }
  return more;
}

std::vector<PatchArrays> SelectedStep::ArraysOf(const LoadResult& loaded) const
{
  std::vector<PatchArrays> all;
  for (std::size_t row = this->Batches->First(); row < this->Batches->End(); ++row) {
    PatchArrays& one = all.emplace_back();
    one.Patch = this->RankPatches[row];
    for (std::size_t v = 0; v < this->TypesOfVariables.size(); ++v) {
      const LoadedArray& array = loaded.At(row - this->Batches->First(), v);
      if (array.Status == ArrayStatus::Read && array.Type != this->TypesOfVariables[v]) {
        throw Error(fmt::format(
            "{}: '{}' has the type {} on patch {}, but {} on other patches. The output needs one type per "
            "variable: leave the variable out (--variables).",
            this->Selection.Path, PlainText(this->Selection.Variables[v].Name), NameOf(array.Type),
            this->PatchInStep[one.Patch], NameOf(this->TypesOfVariables[v])));
      }
      if (array.Status == ArrayStatus::Read && this->Selection.Variables[v].Positions) {
        // Throws Error if a point is out of the domain.
        PointCells(this->Selection, array, PlainText(this->Selection.Variables[v].Name));
      }
      one.Arrays.push_back(array.Status == ArrayStatus::Read ? &array : nullptr);
    }
  }
  return all;
}

namespace {

using container::PatchValues;
using container::StepToWrite;
using container::StepWriter;

std::vector<PatchValues> ValuesOf(const std::vector<PatchArrays>& patches)
{
  std::vector<PatchValues> values;
  for (const PatchArrays& one : patches) {
    for (std::size_t v = 0; v < one.Arrays.size(); ++v) {
      if (one.Arrays[v]) {
        values.push_back({one.Patch, static_cast<int>(v), one.Arrays[v]->Values.get()});
      }
    }
  }
  return values;
}

/// Writes the values of this rank. Throws Error if values cannot be read. Reads a batch while the previous
/// batch is written: most systems allow only one writer of a file at a time, but reads of other files in
/// parallel. `more`: true if `loaded` has a batch.
void WriteValues(SelectedStep& from, bool more, LoadResult loaded, int threads, StepWriter& step,
    const std::function<void(double)>& progress)
{
  LoadResult written;
  std::future<void> writing;
  for (; more; more = from.Next(loaded)) {
    const std::vector<PatchValues> values = ValuesOf(from.ArraysOf(loaded));
    if (writing.valid()) {
      writing.get();
    }
    written = std::move(loaded);
    writing = std::async(std::launch::async, [&step, values, threads] { step.Write(values, threads); });
    progress(from.FractionRead());
  }
}

}  // namespace

VariableTexts DescribeVariables(const std::vector<Variable>& variables, const std::vector<ElementType>& types)
{
  VariableTexts words;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    words.insert(fmt::format("'{}' ({}{}, {})", PlainText(variables[v].Name),
        variables[v].Components > 1 ? fmt::format("{} components, ", variables[v].Components) : "",
        variables[v].Center == Centering::Cell ? "cell" : "node", NameOf(types[v])));
  }
  return words;
}

VariableTexts VariablesToWrite(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options)
{
  const SelectedStep selected(ranks, from, options);
  return DescribeVariables(selected.Data().Variables, selected.Types());
}

ConversionResult ResultOf(const SelectedStep& step)
{
  const Catalog& data = step.Data();
  ConversionResult result;
  result.Patches = data.Patches.size();
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      const std::uint64_t values = container::ValuesOf(data, static_cast<int>(v), static_cast<int>(p));
      result.Arrays += values > 0 ? 1 : 0;
      result.Bytes += values * SizeOf(step.Types()[v]);
    }
  }
  return result;
}

ConversionResult ConvertStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    container::ContainerWriter& into, const std::function<void(double)>& progress)
{
  SelectedStep selected(ranks, from, options);
  bool more = false;
  LoadResult first;
  std::vector<PatchValues> sample;
  RunOnAllRanks(ranks, [&] {
    more = selected.Next(first);
    sample = more ? ValuesOf(selected.ArraysOf(first)) : sample;
  });
  StepToWrite toWrite{selected.Data(), selected.Types(), {}};
  toWrite.Compression = container::ChooseCompression(ranks, toWrite, options.Compression, sample);
  const std::unique_ptr<StepWriter> step = into.Begin(std::move(toWrite));
  RunOnAllRanks(
      ranks, [&] { WriteValues(selected, more, std::move(first), options.Threads, *step, progress); });
  into.Commit(*step);
  ConversionResult result = ResultOf(selected);
  result.Record = step->GetRecord();
  return result;
}

}  // namespace patchio::tools

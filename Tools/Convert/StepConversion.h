// The selected part of a time step of any format. Each rank reads the values of its own patches with bounded
// memory.
#pragma once

#include "Base/Communicator.h"
#include "Convert/PatchBatches.h"
#include "Formats/Format.h"
#include "Plan/Interest.h"
#include "Read/OpenedStep.h"
#include "Write/ContainerWriter.h"
#include "Write/StepWriter.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace patchio::tools {

/// The selection of a part of a step, and the form in which the part is written.
struct ConversionOptions
{
  std::set<std::string> Variables;  ///< empty: all variables
  int FirstLevel = 0, LastLevel = 1 << 20;
  RegionOfInterest Region;  ///< patches that do not meet the region are left out
  int Threads = 4;          ///< threads of a rank
  bool AsShown = false;     ///< vectors and tensors of 2-D data become three-dimensional
  /// Compression of containers.
  container::CompressionChoice Compression = container::CompressionChoice::Off;
  /// Bytes of values that a rank reads at once. The rank holds two such batches.
  std::uint64_t BatchBytes = std::uint64_t(64) << 20;
};

/// The arrays of one patch, in the order of the variables.
struct PatchArrays
{
  int Patch = 0;
  std::vector<const LoadedArray*> Arrays;  ///< null if the patch does not have the variable
};

class SelectedStep
{
public:
  /// Collective: selects patches and variables, and locates their values. `from` and `options` must outlive
  /// this object. Throws Error, the same on all ranks, if the step lacks something that the options name, or
  /// if values cannot be located.
  SelectedStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options);

  /// Returns the catalog of the selection. Variables are without ghosts, with their components side by side,
  /// and Stored or Absent. Patch::Writer is the rank that reads the patch. The table of children is empty.
  const Catalog& Data() const { return this->Wanted; }
  const std::vector<ElementType>& Types() const { return this->TypesOfVariables; }
  /// Returns the number in the whole step of a patch of Data().
  int NumberInStep(int patch) const { return this->PatchOf[patch]; }

  /// Reads the next patches of this rank, in their order in a container. Returns false if there are no more.
  /// Throws Error if a file has a fault.
  bool Next(LoadResult& loaded);
  /// Returns the arrays of the patches that Next() has read last. Throws Error if the type of values is not
  /// that of the variable.
  std::vector<PatchArrays> ArraysOf(const LoadResult& loaded) const;
  /// Returns the fraction of this rank's patches that have been read, 0 .. 1. The rank must have patches.
  double PartRead() const
  {
    return static_cast<double>(this->Batches->End()) / static_cast<double>(this->Mine.size());
  }

private:
  void SelectPatches(const Catalog& all);
  void Select(const Catalog& all, int ranks);
  void Locate(int rank);
  void AgreeOnTypes(Communicator& ranks);
  void AgreeOnAbsent(Communicator& ranks);

  const OpenedStep& From;
  const ConversionOptions& Options;
  Catalog Wanted;
  std::vector<int> PatchOf, VariableOf;  ///< numbers in the whole step
  std::vector<ElementType> TypesOfVariables;
  std::vector<int> Mine;                  ///< patches of this rank
  std::unique_ptr<PatchBatches> Batches;  ///< reads Mine
};

/// Returns the steps with these numbers, or all steps if there are no numbers. Throws Error for numbers that
/// the series at `path` does not have.
std::vector<TimeStep> StepsToWrite(
    const Series& series, const std::string& path, const std::vector<std::int64_t>& numbers);

/// The amount of data of a conversion or an export.
struct ConversionResult
{
  std::uint64_t Patches = 0, Arrays = 0, Bytes = 0;  ///< sums over all ranks
  container::StepRecord Record;                      ///< the step that ConvertStep() has written; on rank 0
  std::uint64_t FileBytes = 0;                       ///< bytes of the record's files; on rank 0
};

/// The variables of a container as text, for comparison: name, centering, components and type of each
/// variable.
using VariablesInWords = std::set<std::string>;
VariablesInWords WordsOf(const std::vector<Variable>& variables, const std::vector<ElementType>& types);
/// Collective: returns the variables that ConvertStep() would write. Throws Error, the same on all ranks.
VariablesInWords VariablesToWrite(
    Communicator& ranks, const OpenedStep& from, const ConversionOptions& options);

/// Returns a result with Patches, Arrays and Bytes.
ConversionResult ResultOf(const SelectedStep& step);

/// Collective: writes a time step of any format into a container, with bounded memory. Layers of ghosts are
/// left out. progress: called on each rank with the fraction of its values that is done. Throws Error, the
/// same on all ranks.
ConversionResult ConvertStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    container::ContainerWriter& into, const std::function<void(double)>& progress);

}  // namespace patchio::tools

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
  RegionOfInterest Region;         ///< patches outside the region are left out
  int Threads = 4;                 ///< threads of a rank
  bool InThreeDimensions = false;  ///< vectors and tensors of 2-D data become three-dimensional
  /// Compression of containers.
  container::CompressionChoice Compression = container::CompressionChoice::Off;
  /// Approximate number of bytes of a batch of values. ConvertStep() holds two batches on each rank, one that
  /// is read and one that is written.
  std::uint64_t BatchBytes = std::uint64_t(64) << 20;
};

/// The arrays of one patch, in the order of the variables.
struct PatchArrays
{
  int Patch = 0;                           ///< number in SelectedStep::Data()
  std::vector<const LoadedArray*> Arrays;  ///< null if the patch does not have the variable
};

class SelectedStep
{
public:
  /// Selects patches and variables, and locates the values of the selection. `from` and `options` must
  /// outlive this object. Throws Error, the same on all ranks, if the step lacks a selected variable, if no
  /// patch is selected, or if values cannot be located. Collective: every rank of the communicator calls it.
  SelectedStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options);

  /// Returns the catalog of the selection. Variables have interleaved components, the presence Stored or
  /// Absent, and no ghosts. Patch::Writer is the rank that reads the patch. The table of children is empty.
  const Catalog& Data() const { return this->Selection; }
  const std::vector<ElementType>& Types() const { return this->TypesOfVariables; }
  /// Returns the number that a patch of Data() has in the whole step.
  int NumberInStep(int patch) const { return this->PatchInStep[patch]; }

  /// Reads the next patches of this rank, in their order in a container. Returns false if no patches are
  /// left. Throws Error if a file has a fault.
  bool Next(LoadResult& loaded);
  /// Returns the arrays of the patches that the last call of Next() has read into `loaded`, which must
  /// outlive the result. Throws Error if an array has another type than the variable, or if a point is
  /// outside the domain.
  std::vector<PatchArrays> ArraysOf(const LoadResult& loaded) const;
  /// Returns the fraction of this rank's patches that have been read, 0 .. 1. The rank must have patches.
  double FractionRead() const
  {
    return static_cast<double>(this->Batches->End()) / static_cast<double>(this->RankPatches.size());
  }

private:
  void SelectPatches(const Catalog& all);
  void Select(const Catalog& all, int rankCount);
  void Locate(int rank);
  void GatherTypes(Communicator& ranks);
  void GatherAbsentArrays(Communicator& ranks);

  const OpenedStep& From;
  const ConversionOptions& Options;
  Catalog Selection;
  std::vector<int> PatchInStep, VariableInStep;  ///< numbers in the whole step
  std::vector<ElementType> TypesOfVariables;
  std::vector<int> RankPatches;           ///< patches of this rank
  std::unique_ptr<PatchBatches> Batches;  ///< reads RankPatches
};

/// The amount of data of a conversion or an export.
struct ConversionResult
{
  std::uint64_t Patches = 0, Arrays = 0, Bytes = 0;  ///< sums over all ranks
  container::StepRecord Record;                      ///< the step that ConvertStep() has written; on rank 0
  std::uint64_t FileBytes = 0;                       ///< bytes of the record's files; ConvertStep() leaves 0
};

/// Texts that describe variables for a comparison: name, components, centering and type of each variable.
using VariableTexts = std::set<std::string>;
VariableTexts DescribeVariables(
    const std::vector<Variable>& variables, const std::vector<ElementType>& types);
/// Returns the variables that ConvertStep() would write. Throws Error like the constructor of SelectedStep.
/// Collective: every rank of the communicator calls it.
VariableTexts VariablesToWrite(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options);

/// Returns the numbers of patches, arrays and bytes of a step. The other members of the result are empty.
ConversionResult ResultOf(const SelectedStep& step);

/// Writes a time step of any format, without ghost layers, into a container, with bounded memory unless the
/// values are compressed. `progress`: called on each rank with the finished fraction of the rank's patches.
/// Throws Error, the same on all ranks, if values cannot be read or written. Collective: every rank of the
/// communicator calls it.
ConversionResult ConvertStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    container::ContainerWriter& into, const std::function<void(double)>& progress);

}  // namespace patchio::tools

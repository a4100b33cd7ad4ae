// One read of a time step by all ranks together, in stages. Each stage takes the result of the stage before:
//
//   PlanStep()    PlannedStep    the blocks, and which of them this rank reads
//   LocateStep()  LocatedStep    the locations of their values
//   LoadStep()    LoadedStep     the values
//
// Merged blocks contain only readable patches: if patches turn out to be broken, Replan() returns to the
// first stage. Functions are collective (every rank of the communicator calls them) unless they say
// otherwise. Functions throw Error, the same on all ranks.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Io/Progress.h"
#include "Read/OpenedStep.h"
#include "Read/RankRead.h"
#include "Read/ReadThreads.h"
#include "Read/StepPlan.h"
#include "Store/Fingerprint.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// The result of the first stage: the blocks, and this rank's part of them.
struct PlannedStep
{
  Communicator* Ranks = nullptr;
  std::shared_ptr<OpenedStep> Step;
  std::shared_ptr<const Catalog> SharedData;  ///< the catalog of the step; does not change
  StepOptions Options;
  ShownPatches Patches;
  /// All variables of the caller's request; Request lacks the time-invariant variables of kept grids.
  std::vector<VariableRequest> RequestedVariables;
  std::string KeptGrids;  ///< see ReadRequest
  StepPlan Plan;
  /// This rank's request. Tasks that a stopped read leaves behind share the request.
  std::shared_ptr<LoadRequest> Request;
  double PlanSeconds = 0;
  std::vector<std::string> BrokenTexts;  ///< reasons why patches are left out

  const Catalog& Data() const { return *this->SharedData; }
  /// A key of all that this rank's grids and time-invariant variables depend on; see StepPlan::GridsKey.
  const std::string& GridsKey() const { return this->Plan.GridsKey; }
};

/// The result of the second stage: the locations of the values of this rank's blocks.
struct LocatedStep : PlannedStep
{
  std::shared_ptr<RankRead> ReadOfRank;
};

enum class LoadOutcome
{
  Complete,
  Stopped,  ///< the user stopped the read on any rank
  Replan,   ///< the blocks have patches that cannot be read, or a prefetched step has any fault
};

/// The form of the array that stands for a variable on blocks that lack it, so that all blocks have the same
/// arrays.
struct SubstituteArray
{
  ElementType Type = ElementType::Float32;
  bool OfPoints = false;  ///< the variable lies on lists of points
};

/// The result of the third stage: the values of this rank's blocks.
struct LoadedStep : LocatedStep
{
  LoadOutcome Outcome = LoadOutcome::Complete;
  LoadResult Result;
  /// The substitute array of each variable of Variables(), in order; nullopt if no block lacks the variable,
  /// no block has it, or StepOptions::Partial is set.
  std::vector<std::optional<SubstituteArray>> Substitutes;
  bool HasUndefined = false;  ///< some values on some rank are undefined

  /// The variables that were read, in the order of the arrays.
  const std::vector<VariableRequest>& Variables() const { return this->Request->Variables; }
  /// Returns the array for the positions `block` in StepPlan::LocalBlocks and `variable` in Variables().
  LoadedArray& Array(std::size_t block, std::size_t variable) { return this->Result.At(block, variable); }
  /// Memory for arrays that are computed from the arrays that were read.
  MemoryPool& Memory() const { return *this->Request->Memory; }
  /// The report of this rank.
  IoReport& Report() { return this->Result.Report; }
  /// Completes the report. `seconds`: time that the caller needed to make the output from the blocks.
  void ReportAssembly(double seconds);
  /// Returns a text with the number of patches that cannot be read, and the reasons; empty if all patches can
  /// be read.
  std::string Warning() const;
  /// Returns the average number of cells of this rank's blocks; 0 if this rank has no blocks.
  double MeanCellsPerBlock() const;
};

/// Plans a read: level one of two-level reading. `request`: this rank's request without its Blocks.
/// `keptGrids`: see ReadRequest.
PlannedStep PlanStep(Communicator& ranks, std::shared_ptr<OpenedStep> step, const StepOptions& options,
    const LoadRequest& request, const std::string& keptGrids);
/// Plans the read again with the remaining patches.
PlannedStep Replan(PlannedStep planned);

/// Locates the values of this rank's blocks. Returns nothing if `progress` stops the ranks; see
/// RunUnlessStopped(). Plans again without patches that cannot be read. Throws Error if
/// StepOptions::SkipBroken is false and a patch cannot be read, or if the read of a rank fails as a whole.
std::optional<LocatedStep> LocateStep(PlannedStep planned, const ProgressCallback& progress = {});

/// Reads the values: level two of two-level reading, with NT threads. Returns when all ranks have read, or
/// when `progress` has returned false on any rank; then all ranks stop. Calls `progress` about every 10 ms
/// with the progress of all ranks together, and threads.End() after the read. Throws Error if a machine has
/// too little memory for the located values, or like LocateStep().
LoadedStep LoadStep(LocatedStep located, ReadThreads& threads, const ReadProgressCallback& progress = {});

/// A step that is read before the user asks for it.
struct PrefetchedStep
{
  std::size_t Number = 0;  ///< number in the series
  LocatedStep Located;
  std::vector<std::optional<FileState>> Files;  ///< states before the read; the describing file first

  /// Returns whether a read that begins now would give the same result on this rank: options and variables
  /// are equal, files have not changed, and `keptGrids` equals GridsKey() unless GridsKey() is empty. Not
  /// collective.
  bool IsUpToDate(const StepOptions& options, const std::vector<VariableRequest>& variables,
      const std::string& keptGrids) const;
};

/// Reserves memory for a prefetch. Any thread may then call RankRead::Start(). Throws Error if the values
/// need more than half of a machine's free memory, or if the memory of the reader would exceed 0.9 of its
/// limit.
PrefetchedStep ReservePrefetch(LocatedStep located, std::size_t number);

}  // namespace patchio

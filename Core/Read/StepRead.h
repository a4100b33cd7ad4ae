// One read of a time step by all ranks together, in stages. What a stage gives is what the next one takes:
//
//   PlanStep()    PlannedStep    the blocks, and which of them this rank reads
//   LocateStep()  LocatedStep    where their bytes lie
//   LoadStep()    LoadedStep     their values
//
// Merged blocks are made of what can be read: PlanAgain() leads from patches that turn out broken back to the
// first stage. All functions are collective unless they say otherwise, and throw Error, the same on all
// ranks.
#pragma once

#include "Catalog/Catalog.h"
#include "Io/Progress.h"
#include "Read/OpenedStep.h"
#include "Read/RankAgreement.h"
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

struct PlannedStep
{
  RankAgreement Ranks;
  std::shared_ptr<OpenedStep> Step;
  std::shared_ptr<const Catalog> SharedData;  ///< of the step; refers to no other
  StepOptions Options;
  ShownPatches Patches;
  std::vector<VariableRequest> AskedFor;  ///< all variables that the user wants
  std::string KeptGrids;                  ///< see ReadRequest
  StepPlan Plan;
  /// What this rank reads; a read that is stopped may leave tasks behind that keep it.
  std::shared_ptr<LoadRequest> Request;
  double PlanSeconds = 0;
  std::vector<std::string> BrokenTexts;  ///< why patches are left out

  const Catalog& Data() const { return *this->SharedData; }
  /// What the grids and the time-invariant variables of this rank depend on; see StepPlan.
  const std::string& GridsKey() const { return this->Plan.GridsKey; }
};

struct LocatedStep : PlannedStep
{
  std::shared_ptr<RankRead> Rank;
};

enum class LoadOutcome
{
  Complete,
  Stopped,    ///< by a user of any rank
  PlanAgain,  ///< the blocks have patches that cannot be read; of a step read ahead: anything is wrong
};

/// What stands for a variable on blocks whose patches lack it, so that all blocks have the same arrays.
struct BlankArray
{
  ElementType Type = ElementType::Float32;
  bool OfPoints = false;  ///< it lies on lists of points
};

struct LoadedStep : LocatedStep
{
  LoadOutcome Outcome = LoadOutcome::Complete;
  LoadResult Result;
  /// One a variable of Variables(); nullopt where none is needed, or partial arrays are wanted.
  std::vector<std::optional<BlankArray>> Blanks;
  bool HasUndefined = false;  ///< some block of any rank has values that are undefined

  /// Those that were read, in the order of the arrays.
  const std::vector<VariableRequest>& Variables() const { return this->Request->Variables; }
  /// By position in StepPlan::Mine and Variables().
  LoadedArray& Array(std::size_t block, std::size_t variable) { return this->Result.At(block, variable); }
  /// Memory for arrays that are made of those that were read.
  MemoryPool& Memory() const { return *this->Request->Memory; }
  /// This rank's.
  IoReport& Report() { return this->Result.Report; }
  /// Completes the report: the output was made of the blocks in so many seconds.
  void ReportAssembly(double seconds);
  /// What is left out, and why; empty when all is well.
  std::string Warning() const;
  /// Cells of a block of this rank, on the average; 0 where there are none.
  double CellsOfBlock() const;
};

/// Level one of two-level reading. request: what this rank reads, all but its Blocks. keptGrids: see
/// ReadRequest.
PlannedStep PlanStep(const RankAgreement& ranks, std::shared_ptr<OpenedStep> step, const StepOptions& options,
    const LoadRequest& request, const std::string& keptGrids);
/// The same with the patches that are left.
PlannedStep PlanAgain(PlannedStep before);

/// progress, see RunUnlessStopped(): nothing where it stops the ranks. Throws Error when nothing may be
/// shown.
std::optional<LocatedStep> LocateStep(PlannedStep planned, const ProgressCallback& progress = {});

/// Level two: NT threads. No rank is done before all are, or some was told to stop by its `progress`, which
/// is called about every 10 ms with how far all ranks together are; then all stop at once. `threads` learn
/// that the read has ended. Throws Error when some machine has too little memory for what was located, or
/// nothing may be shown.
LoadedStep LoadStep(LocatedStep located, ReadThreads& threads, const ReadProgressCallback& progress = {});

/// A step that is read before anybody asks for it.
struct PrefetchedStep
{
  std::size_t Number = 0;  ///< in the series
  LocatedStep Located;
  std::vector<std::optional<FileState>> Files;  ///< before they are read, the describing one first

  /// Whether this rank's part is what it would be if it began now: the same options and variables, files that
  /// have not changed since, grids that it relies on. Not collective.
  bool StillHolds(const StepOptions& options, const std::vector<VariableRequest>& variables,
      const std::string& keptGrids) const;
};

/// Takes memory, so that reading can begin: any thread may then call RankRead::Start(). Throws Error when
/// the arrays would take memory above the water mark, at which nothing is read that nobody asked for yet.
PrefetchedStep ReserveAhead(LocatedStep located, std::size_t number);

}  // namespace patchio

// Level one of two-level reading: the patches that a read shows, the blocks that it makes of them, and the
// blocks that this rank reads.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Catalog/Nesting.h"
#include "Plan/Blocks.h"
#include "Read/ReadRequest.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

/// The ranges of values that files state for variables. Keeps the ranges that were read last, for the
/// displayed step and for prefetched steps.
class RangeCache
{
public:
  /// Returns one flag per patch: whether it may have values of `variable` in the range `range` (see
  /// PatchesWithValues()). The list is empty if the files state no ranges. Throws Error, the same on all
  /// ranks, if the variable does not exist. Collective: every rank of the communicator calls it.
  std::vector<bool> PatchesWith(
      Communicator& ranks, const Catalog& catalog, const std::string& variable, const ValueRange& range);
  /// Forgets all ranges, because the files may have changed.
  void Forget() { this->Known.clear(); }

private:
  /// The ranges of one step's variable, one range per patch; empty if the files state no ranges.
  struct RangesOfStep
  {
    std::string Key;  ///< step and variable
    std::vector<ValueRange> Ranges;
  };
  static constexpr std::size_t MostKnown = 4;

  const std::vector<ValueRange>& RangesOf(Communicator& ranks, const Catalog& catalog, int variable);

  std::deque<RangesOfStep> Known;  ///< the latest first
};

/// The patches that are shown: the patches on the chosen levels, without patches of other grids and broken
/// patches. All ranks that make the same calls have the same patches.
class ShownPatches
{
public:
  /// Keeps a reference to `catalog`.
  ShownPatches(const Catalog& catalog, const StepOptions& options);

  /// Removes the levels that do not belong to the chosen grids; see ExcludedLevels(). `variables`: the
  /// variables that are read. Throws Error if a chosen grid does not exist.
  void LeaveOutGrids(const std::vector<int>& variables);
  /// Removes `patches`, which cannot be read. Returns whether any of these patches was shown.
  bool LeaveOutBroken(const std::vector<int>& patches);

  /// One flag per patch: whether it is shown.
  const std::vector<bool>& Flags() const { return this->Shown; }
  /// Returns one flag per patch: whether it is shown, touches the region and has values of interest. A shown
  /// patch that is not read still hides the cells that it covers, because coarse values in place of finer
  /// values would change the image.
  std::vector<bool> PatchesToRead() const;
  /// Returns one flag per patch: whether it is shown and touches the region.
  std::vector<bool> PatchesInRegion() const;

  /// Returns a message if the step has patches but PatchesToRead() marks no patch; otherwise an empty text.
  std::string EmptyText() const;
  /// The number of shown patches that proved broken.
  std::size_t CountBroken() const { return this->BrokenCount; }
  /// Returns a note with the number of shown patches that are not read; empty if all shown patches are read.
  std::string LeftOutText() const;

private:
  const Catalog* Data;
  int FirstLevel, LastLevel;
  std::string Grids;
  std::vector<bool> Shown;
  std::vector<bool> TouchesRegion;  ///< per patch: whether it touches the region
  std::vector<bool> WithValues;     ///< per patch: whether it has values of interest; empty: all patches have
  std::size_t BrokenCount = 0;
};

/// Level one of two-level reading: the blocks of a read, and the blocks of this rank. Pure functions compute
/// the plan, so that all ranks have the same plan, except for the members that depend on the piece of the
/// rank: LocalBlocks, GridsKey and the ghost layers of Blocks.
struct StepPlan
{
  std::unique_ptr<Nesting> Nests;  ///< the nesting of the shown patches; refers to the catalog
  std::vector<Block> Blocks;       ///< blocks of all pieces; only blocks of this piece have ghost layers
  /// True if the caller must slice the blocks by the region's plane. Blocks then hold only the cells near the
  /// plane, unless patches are deformed or there are lists of points.
  bool Sliced = false;
  std::vector<int> PieceOfBlock;
  std::vector<std::size_t> LocalBlocks;  ///< numbers of the blocks of this piece
  /// A key of all that the grids of this piece and their time-invariant variables depend on, except for the
  /// contents of the file. A reader drops kept grids when the key changes. Empty if grids are not worth
  /// keeping, because the file has only one step or its patches change.
  std::string GridsKey;
};

/// Makes the plan. `variables`: the variables that are read, as indices into Catalog::Variables; they
/// determine the cost of a block.
StepPlan MakePlan(const Catalog& catalog, const ShownPatches& patches, const StepOptions& options,
    const std::vector<int>& variables);

/// Returns whether patches are merged into boxes of cells without stored ghost layers.
bool MergesPatches(const Catalog& catalog, const StepOptions& options);
/// Returns whether blocks get a ghost layer.
bool AddsGhostLayer(const Catalog& catalog, const StepOptions& options);
/// Returns the reason why blocks get no ghost layer although `options` request a ghost layer; otherwise an
/// empty text.
std::string NoGhostLayerText(const Catalog& catalog, const StepOptions& options);

/// Returns the variables that make ghost layers incomplete because only some of the shown patches have them,
/// as a text; empty if all shown patches have all variables, or blocks get no ghost layer.
std::string PartialGhostLayerText(const Catalog& catalog, const ShownPatches& patches,
    const StepOptions& options, const std::vector<int>& variables);

/// Returns the number of patches in blocks of this piece. A patch in blocks of several pieces counts for the
/// piece of its first block.
std::uint64_t PatchesOfPiece(const StepPlan& plan, const Catalog& catalog, const StepOptions& options);

}  // namespace patchio

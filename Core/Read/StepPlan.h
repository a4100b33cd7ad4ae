// Level one of two-level reading: which patches a read shows, which blocks it makes of them, and which blocks
// this rank reads.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Catalog/Nesting.h"
#include "Plan/Blocks.h"
#include "Read/RankAgreement.h"
#include "Read/ReadRequest.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

/// What the files say of the variables that were asked for last is kept: of a step that is shown, and of
/// those that are read ahead.
class ValuesOfInterest
{
public:
  /// Collective. One flag per patch, see PatchesWithValues(); empty where the files do not say it. Throws
  /// Error, the same on all ranks, when there is no such variable.
  std::vector<bool> PatchesWith(const RankAgreement& ranks, const Catalog& catalog,
      const std::string& variable, const ValueRange& wanted);
  /// The files may have changed.
  void Forget() { this->Known.clear(); }

private:
  /// Per patch; empty where the files do not say them.
  struct RangesOfStep
  {
    std::string Key;  ///< step and variable
    std::vector<ValueRange> Ranges;
  };
  static constexpr std::size_t MostKnown = 4;

  const std::vector<ValueRange>& RangesOf(const RankAgreement& ranks, const Catalog& catalog, int variable);

  std::deque<RangesOfStep> Known;  ///< the latest first
};

/// Those of the levels that are wanted, until they are known to be idle or broken. The same on all ranks that
/// are told the same.
class ShownPatches
{
public:
  /// Keeps a reference to `catalog`.
  ShownPatches(const Catalog& catalog, const StepOptions& options);

  /// Levels that are no part of the wanted grids are not shown; see LevelsLeftOut(). Throws Error where there
  /// is no such grid.
  void LeaveOutGrids(const std::vector<int>& variables);
  /// These cannot be read. True when any of them was shown until now.
  bool LeaveOutBroken(const std::vector<int>& patches);

  /// One flag per patch.
  const std::vector<bool>& Flags() const { return this->Shown; }
  /// One flag per patch: shown, and of interest by its place and its values. What is not still hides what it
  /// covers: coarse values in place of finer ones that were not asked for would be another picture.
  std::vector<bool> ToRead() const;
  /// The same, whatever values a patch has.
  std::vector<bool> InRegion() const;

  /// What to say where there are patches, but none is shown; else empty.
  std::string EmptyText() const;
  /// How many were shown before they were known to be broken.
  std::size_t Broken() const { return this->BrokenCount; }
  /// How many are shown and not read, in words; empty when there are none.
  std::string LeftOutText() const;

private:
  const Catalog* Data;
  int FirstLevel, LastLevel;
  std::string Grids;
  std::vector<bool> Shown;
  std::vector<bool> Near;        ///< of interest by its place
  std::vector<bool> WithValues;  ///< of interest by its values; empty: all of them
  std::size_t BrokenCount = 0;
};

/// Level one of two-level reading: which blocks a read makes of the shown patches, and which of them this
/// rank reads. Pure functions: the same on all ranks, but for what is of one piece.
struct StepPlan
{
  std::unique_ptr<Nesting> Nests;  ///< of the shown patches; refers to the catalog
  std::vector<Block> Blocks;       ///< of all pieces; those of this piece with their ghost layers
  /// The blocks are to be sliced by the region's plane. They have no more than the cells near it, unless
  /// patches are deformed or there are lists of points.
  bool Sliced = false;
  std::vector<int> PieceOfBlock;
  std::vector<std::size_t> Mine;  ///< the blocks of this piece
  /// All that the grids of this piece and their time-invariant variables depend on, but for the contents of
  /// the file: a reader that sees it change forgets the grids. Empty where they are not worth keeping, as the
  /// file has only one step.
  std::string GridsKey;
};

/// variables: those that are read, indices into Catalog::Variables; they say what a block costs.
StepPlan MakePlan(const Catalog& catalog, const ShownPatches& patches, const StepOptions& options,
    const std::vector<int>& variables);

/// Whether patches are merged: boxes of cells without layers of their own.
bool Merges(const Catalog& catalog, const StepOptions& options);
/// Whether blocks get a ghost layer.
bool AddsGhostLayer(const Catalog& catalog, const StepOptions& options);
/// Why they get none although one is wanted; else empty.
std::string NoGhostLayerText(const Catalog& catalog, const StepOptions& options);

/// Which of the variables keep ghost layers from being whole, as some of the patches that are shown have them
/// and others lack them; empty where none does.
std::string PartialGhostLayerText(const Catalog& catalog, const ShownPatches& patches,
    const StepOptions& options, const std::vector<int>& variables);

/// Patches in blocks of this piece. One that lies in blocks of several pieces counts where its first block
/// is.
std::uint64_t PatchesOfPiece(const StepPlan& plan, const Catalog& catalog, const StepOptions& options);

}  // namespace patchio

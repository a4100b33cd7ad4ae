// Level one of two-level reading: which blocks a read makes of the shown patches, and which of them this
// rank reads. Pure functions: the same on all ranks, but for what is of one piece.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "Plan/Blocks.h"
#include "Read/ReadRequest.h"
#include "Read/ShownPatches.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

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

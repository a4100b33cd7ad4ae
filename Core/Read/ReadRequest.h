// Wishes of a user for a read: which variables, patches and form, and the observer that hears how it goes.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Plan/Blocks.h"
#include "Plan/Interest.h"
#include "Plan/ReadPlan.h"
#include "Plan/ThreadBudget.h"
#include "Read/LoadRequest.h"
#include "Tuning/ThreadPolicy.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace patchio {

/// What the user does not want to read. Steps of a series may have variables of their own, so all others are
/// read.
struct VariableChoice
{
  std::set<std::string> CellsOff;   ///< variables at cells
  std::set<std::string> PointsOff;  ///< variables at nodes

  bool Has(const Variable& variable) const
  {
    return (variable.Center == Centering::Cell ? this->CellsOff : this->PointsOff).count(variable.Name) == 0;
  }
};

/// The largest ghost width among the chosen variables; of curvilinear grids that of the coordinates.
Int3 GhostsOf(const Catalog& catalog, const VariableChoice& choice);

/// A variable in the form in which visualization wants it: vectors of 2-D data get a third component, 2-D
/// tensors (four components, row by row) become 3 x 3; all else stays as it is.
VariableRequest RequestInThreeDimensions(const Catalog& catalog, int variable, const Int3& ghosts);

/// The chosen variables, and those that say where things lie, in that form.
std::vector<VariableRequest> RequestsFor(
    const Catalog& catalog, const VariableChoice& choice, const Int3& ghosts);

/// What becomes of lists of points.
enum class PointForm
{
  Points,
  Image,
  Automatic  ///< an image where that is not much larger than the list
};

/// What is shown of one time step, and in which form.
struct StepOptions
{
  int FirstLevel = 0, LastLevel = 0;
  std::string Grids = AutomaticGrid;  ///< see LevelsLeftOut()
  Int3 Ghosts{0, 0, 0};               ///< layers to keep of those in the files; patches stay as they are then
  bool HideRefined = true;            ///< hide cells under finer patches
  bool SkipBroken = false;            ///< leave out what cannot be read
  bool Verify = false;                ///< what does not fit its checksum cannot be read
  bool GhostLayer = false;            ///< one layer of cells from neighbours around each block
  PointForm PointLists = PointForm::Automatic;
  bool HideUndefined = true;  ///< hide points that are undefined in all arrays of their block
  bool Sphere = false;        ///< put geographic grids on a sphere
  bool PatchIds = false;      ///< cell arrays that say which patch a cell is from
  bool Vectors = true;        ///< arrays of the vectors of VectorsAmong(), too
  bool Partial = false;       ///< blocks lack arrays of variables that their patches lack
  RegionOfInterest Region;
  bool Slice = false;  ///< of a region on a plane: show what that cuts, where that can be; see StepPlan
  std::vector<bool> WithValues;  ///< per patch: see PatchesWithValues(); empty: all of them
  BlockOptions Blocks;
  int Piece = 0, Pieces = 1;  ///< which part of all blocks this rank reads

  bool operator==(const StepOptions& other) const
  {
    const auto tie = [](const StepOptions& o) {
      return std::tie(o.FirstLevel, o.LastLevel, o.Grids, o.Ghosts, o.HideRefined, o.SkipBroken, o.Verify,
          o.GhostLayer, o.PointLists, o.HideUndefined, o.Sphere, o.PatchIds, o.Vectors, o.Partial,
          o.Region.Kind, o.Slice, o.Region.Lower, o.Region.Upper, o.Region.Origin, o.Region.Normal,
          o.WithValues, o.Blocks.Merge, o.Blocks.Cover.MostCells, o.Blocks.Cover.CellsWorthABox, o.Piece,
          o.Pieces);
    };
    return tie(*this) == tie(other);
  }
};

/// Only patches with such values are of interest.
struct WantedValues
{
  std::string Variable;
  ValueRange Range;
};

/// What the user wants of any step. Plain values: Core asks nobody back.
struct ReadRequest
{
  /// All but Ghosts and WithValues, which follow from the members below and from the step.
  StepOptions Options;
  VariableChoice Variables;
  bool GhostCells = false;  ///< keep as many of the ghost layers in the files as the widest variable has
  std::optional<WantedValues> Values;
  bool FindRanges = false;  ///< see LoadRequest
  /// PlannedStep::GridsKey() of the grids that the caller keeps; empty: none. Time-invariant variables of the
  /// same grids are not read again.
  std::string KeptGrids;

  ThreadSettings Threads;
  ThreadPolicy Policy = ThreadPolicy::Balanced;
  StorageModel Storage;
  std::uint64_t MemoryLimit = 0;  ///< bytes of the arrays of a rank; 0: none
  std::int64_t CacheMemory = -1;  ///< bytes that are kept of earlier reads; see ValueCache::SetLimit()
  int RanksOnMachine = 1;
  int PrefetchSteps = 0;  ///< at most
};

/// Hears how a read goes; both functions are set.
struct ReadObserver
{
  /// The stage of the read that runs now, in words, and the fraction of that stage, 0 to 1, that is done.
  /// Each stage begins at 0. False: the user stops the read.
  std::function<bool(double fraction, const std::string& text)> Progress;
  /// Some text for the user, the same on all ranks; may be empty.
  std::function<void(const std::string& text)> Warn;
};

}  // namespace patchio

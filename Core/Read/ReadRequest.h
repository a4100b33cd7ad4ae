// The user's request for a read: variables, patches and form; and the observer of its progress.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
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

/// The variables that the user has switched off. All other variables are read, because other steps of the
/// series may have more variables.
struct VariableChoice
{
  std::set<std::string> CellsOff;   ///< variables at cells
  std::set<std::string> PointsOff;  ///< variables at nodes

  bool Has(const Variable& variable) const
  {
    return (variable.Center == Centering::Cell ? this->CellsOff : this->PointsOff).count(variable.Name) == 0;
  }
};

/// Returns the largest ghost width per axis among the chosen variables, or, for curvilinear grids, the ghost
/// width of the coordinates.
Int3 GhostsOf(const Catalog& catalog, const VariableChoice& choice);

/// Returns a request for the variable in the form that visualization needs: vectors of 2-D data get a third
/// component, 2-D tensors (four components, row by row) become 3 x 3, other variables are unchanged.
/// `ghosts`: see VariableRequest::Ghosts.
VariableRequest RequestInThreeDimensions(const Catalog& catalog, int variable, const Int3& ghosts);

/// Returns requests as from RequestInThreeDimensions() for the chosen variables, for the variables of the
/// grids (Catalog::IsGeometry()), and for MeshRole::Flags.
std::vector<VariableRequest> RequestsFor(
    const Catalog& catalog, const VariableChoice& choice, const Int3& ghosts);

/// The form in which lists of points are shown.
enum class PointForm
{
  Points,
  Image,
  Automatic  ///< an image if the image is not much larger than the list
};

/// The part of a time step that is shown, and its form.
struct StepOptions
{
  int FirstLevel = 0, LastLevel = 0;
  std::string Grids = AutomaticGrid;  ///< see ExcludedLevels()
  Int3 Ghosts{0, 0, 0};               ///< stored ghost layers to keep; if not 0, patches are not merged
  bool HideRefined = true;            ///< hide cells under finer patches
  bool SkipBroken = false;            ///< leave out patches that cannot be read
  bool Verify = false;                ///< treat values that do not match their checksums as unreadable
  bool GhostLayer = false;            ///< one layer of cells from neighbours around each block
  PointForm PointLists = PointForm::Automatic;
  bool HideUndefined = true;  ///< hide points that are undefined in all arrays of their block
  bool Sphere = false;        ///< put geographic grids on a sphere
  bool PatchIds = false;      ///< add cell arrays with the number of each cell's patch
  bool Vectors = true;        ///< also add arrays of the vectors of ComposedVectors()
  bool Partial = false;       ///< add no arrays for variables that a block's patches lack
  RegionOfInterest Region;
  bool Slice = false;  ///< show only the slice by the region's plane, if possible; see StepPlan::Sliced
  std::vector<bool> WithValues;  ///< per patch: see PatchesWithValues(); empty: all patches
  BlockOptions Blocks;
  int Piece = 0, Pieces = 1;  ///< number of this rank's part of the blocks, and number of parts

  bool operator==(const StepOptions& other) const
  {
    const auto tie = [](const StepOptions& o) {
      return std::tie(o.FirstLevel, o.LastLevel, o.Grids, o.Ghosts, o.HideRefined, o.SkipBroken, o.Verify,
          o.GhostLayer, o.PointLists, o.HideUndefined, o.Sphere, o.PatchIds, o.Vectors, o.Partial,
          o.Region.Type, o.Slice, o.Region.Lower, o.Region.Upper, o.Region.Origin, o.Region.Normal,
          o.WithValues, o.Blocks.Merge, o.Blocks.Cover.MostCells, o.Blocks.Cover.BoxCostInCells, o.Piece,
          o.Pieces);
    };
    return tie(*this) == tie(other);
  }
};

/// A condition on values: only the patches that PatchesWithValues() marks for `Variable` and `Range` are
/// read.
struct ValueCondition
{
  std::string Variable;
  ValueRange Range;
};

/// The user's settings for all steps. The members are plain values, because Core does not depend on the user
/// interface.
struct ReadRequest
{
  /// All options except Ghosts and WithValues, which are derived from the members below and from the step.
  StepOptions Options;
  VariableChoice Variables;
  bool GhostCells = false;  ///< keep stored ghost layers; see GhostsOf()
  std::optional<ValueCondition> Values;
  bool FindRanges = false;  ///< see RequestedArrays
  /// PlannedStep::GridsKey() of the grids that the caller keeps; empty: no grids. Time-invariant variables of
  /// these grids are not read again.
  std::string KeptGrids;

  ThreadSettings Threads;
  ThreadPolicy Policy = ThreadPolicy::Balanced;
  StorageModel Storage;
  std::uint64_t MemoryLimit = 0;  ///< bytes of a rank's arrays; 0: no limit
  std::int64_t CacheMemory = -1;  ///< bytes to keep from earlier reads; see ValueCache::SetLimit()
  int RanksOnMachine = 1;
  int PrefetchSteps = 0;  ///< the most steps to prefetch
};

/// Receives the progress and the warnings of a read. Both functions must be set.
struct ReadObserver
{
  /// Receives the current stage of the read, in words, and the fraction of the stage that is done, 0 to 1.
  /// Each stage begins at 0. Returns false if the user stops the read.
  std::function<bool(double fraction, const std::string& text)> Progress;
  /// Receives a text for the user, the same on all ranks. The text may be empty.
  std::function<void(const std::string& text)> Warn;
};

}  // namespace patchio

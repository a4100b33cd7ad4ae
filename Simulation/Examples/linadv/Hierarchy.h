// Linear advection on adaptively refined patches: u_t + v . grad u = 0 with constant v.
#pragma once

#include "Base/Communicator.h"
#include "Patches.h"

#include <vector>

namespace patchio::linadv {

/// The parameters of the equation, of the initial data, and of the refinement.
struct Problem
{
  Geometry Space;
  Double3 Velocity{0, 0, 0};
  double TimeStep = 0.0;

  bool Smooth = false;  ///< true: a Gaussian profile; false: a sharp ball
  Double3 Centre{0, 0, 0};
  double Radius = 0.0;
  int Scalars = 1;

  int Levels = 1;             ///< maximum number of levels
  int TagBuffer = 2;          ///< number of cells around a tagged cell that are refined, too
  double TagThreshold = 0.0;  ///< difference to a neighbour above which a cell is tagged for refinement
};

/// The levels and their values. All levels take the same time step. The fluxes on both sides of a border
/// between levels are not matched, so the integral of a scalar is exactly constant only on a single periodic
/// level. With several levels, the integral changes by the difference of the fluxes, which is small because
/// values around the refined region are nearly constant.
///
/// The values are bitwise identical for any number of ranks.
class Hierarchy
{
public:
  /// Makes the levels and the initial data. `ranks` and `problem` must outlive this object. Collective: every
  /// rank of the communicator calls it.
  Hierarchy(Communicator& ranks, const Problem& problem);

  int LevelCount() const { return static_cast<int>(this->Levels.size()); }
  const Grid& Patches(int level) const { return this->Levels[level].Patches; }
  /// Returns the values on this rank's patches.
  const Field& Values(int level, int scalar) const { return this->Levels[level].Scalars[scalar]; }

  /// Returns the first scalar at the nodes of this rank's patches, axis 0 fastest: the means of the cells
  /// around each node. The result has one list per patch of the level, which is empty for a patch of another
  /// rank. Collective: every rank of the communicator calls it.
  std::vector<std::vector<double>> NodeValues(int level) const;

  /// Advances all values by the problem's time step. Collective: every rank of the communicator calls it.
  void Step();

  /// Moves levels 1, 2, ... to the cells that are tagged now (see Problem::TagThreshold), and makes at most
  /// one new level. Takes the values of a new patch from the old patches of its level, and elsewhere from the
  /// coarser level. Collective: every rank of the communicator calls it.
  void Regrid();

  /// Means over the domain of the first scalar and of its error.
  struct DomainMeans
  {
    double Value;
    double Error;  ///< mean of |value - exact|; with periodic boundaries the exact solution wraps
  };
  /// Returns the means, which are the same on all ranks and for any number of ranks. Collective: every rank
  /// of the communicator calls it.
  DomainMeans ComputeMeans(double time) const;

private:
  struct LevelData
  {
    Grid Patches;
    std::vector<Field> Scalars;
    std::vector<OwnedBox> Ghosted;  ///< patches with ghosts
    CopyPlan FromSame;
    std::vector<OwnedBox> CoarseBoxes;  ///< coarse cells below Ghosted; empty if the level has all ghosts
    CopyPlan FromCoarser;
  };

  LevelData MakeLevel(int level, const TileSet& tiles, const Grid* coarser) const;
  Field Allocate(const std::vector<OwnedBox>& boxes) const;
  Field GhostedValues(int level, int scalar) const;
  void FillFromCoarser(const Field& coarser, int coarserLevel, const std::vector<OwnedBox>& under,
      const CopyPlan& plan, Field& fine) const;
  template <typename FieldOfLevel>
  void AverageDown(FieldOfLevel fieldOf) const;
  void SetInitialValues();
  TileSet TagTiles(int level) const;
  std::vector<TileSet> ChooseTiles() const;
  void TransferValues(const LevelData& coarser, const LevelData* old, LevelData& fresh) const;

  Communicator& Ranks;
  const Problem& Setup;
  const Geometry& Space;
  std::vector<LevelData> Levels;
};

}  // namespace patchio::linadv

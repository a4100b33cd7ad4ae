// The levels and the values on them: ghost exchange, time step, change of levels.
#pragma once

#include "LinAdv/Exchange.h"
#include "LinAdv/Grid.h"
#include "LinAdv/Profile.h"

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace patchio::linadv {

/// The ghosts of a fine patch are interpolated from coarse cells up to this distance from the patch. So every
/// patch must be so many cells inside the next coarser level.
constexpr int NestingWidth = 2;

/// Tiles of one level: Morton keys, ascending, without repetition.
using TileList = std::vector<std::uint64_t>;

/// All levels take the same time step. The fluxes on both sides of a border between levels are not matched,
/// so the integral of a scalar is exactly constant only on a single level. With several levels it changes by
/// the difference of the fluxes, which is small because values around the refined region are nearly constant.
///
/// The values do not depend on the number of ranks, to the last bit.
/// Methods that are not const, and those marked so, are collective.
class Hierarchy
{
public:
  /// Level 0 only, with the profiles' initial values, one scalar a profile. `comm` must outlive this.
  Hierarchy(MPI_Comm comm, const Geometry& geometry, std::vector<Profile> profiles);

  int LevelCount() const { return static_cast<int>(this->Levels.size()); }
  int ScalarCount() const { return static_cast<int>(this->Profiles.size()); }
  const Profile& ProfileOf(int scalar) const { return this->Profiles[scalar]; }
  const Grid& Patches(int level) const { return this->Levels[level].Patches; }
  /// Values on this rank's patches.
  const Field& Values(int level, int scalar) const { return this->Levels[level].Scalars[scalar]; }

  /// Collective. Values on this rank's patches with GhostWidth filled ghost layers.
  Field Ghosted(int level, int scalar) const;

  void Step(double timeStep, const Double3& velocity);

  /// Replaces levels 1, 2, ... by these tiles, which must be nested (see NestingWidth). Values come from
  /// the old level where it was and by interpolation from the coarser level elsewhere.
  void Regrid(const std::vector<TileList>& tiles);

  /// Sets all values to the initial data.
  void Restart();

private:
  struct LevelData
  {
    Grid Patches;
    std::vector<Field> Scalars;
    std::vector<OwnedBox> Grown;  // patches with ghosts
    CopyPlan FromSame;
    std::vector<OwnedBox> Under;  // coarse cells below Grown; empty where the same level has all ghosts
    CopyPlan FromCoarser;
  };

  bool Mine(const OwnedBox& box) const { return box.Owner == this->Rank && !box.Cells.Empty(); }
  LevelData MakeLevel(int level, const TileList& tiles, const Grid* coarser) const;
  Field Allocate(const std::vector<OwnedBox>& boxes) const;
  void FillFromCoarser(const Field& coarser, const Grid& coarserGrid, const std::vector<OwnedBox>& under,
      const CopyPlan& plan, Field& fine) const;
  void Transfer(const LevelData& coarser, const LevelData* old, LevelData& fresh) const;
  void AverageDown(int scalar);

  MPI_Comm Comm;
  int Rank = 0;
  int Ranks = 1;
  Geometry Space;
  std::vector<Profile> Profiles;
  std::vector<LevelData> Levels;
};

}  // namespace patchio::linadv

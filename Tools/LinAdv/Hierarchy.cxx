#include "LinAdv/Hierarchy.h"

#include "LinAdv/Scheme.h"

#include <algorithm>

namespace patchio::linadv {
namespace {

TileList AllTiles(const Geometry& space)
{
  TileList tiles;
  ForCells(Coarsen(space.Domain(0), space.Patch), [&](int i, int j, int k) {
    tiles.push_back(MortonKey({i, j, k}));
  });
  std::sort(tiles.begin(), tiles.end());
  return tiles;
}

/// The coarse cells that interpolation to `boxes` needs, for each; none where `grid` itself has all cells.
std::vector<OwnedBox> CoarseCellsUnder(
    const std::vector<OwnedBox>& boxes, const Grid* grid, const Geometry& space)
{
  std::vector<OwnedBox> under;
  for (const OwnedBox& box : boxes) {
    const bool needed = !grid || !grid->Covers(box.Cells);
    under.push_back({needed ? Grown(Coarsen(box.Cells, space.Ratio), space.Layers(1)) : Box(), box.Owner});
  }
  return under;
}

}  // namespace

Hierarchy::Hierarchy(MPI_Comm comm, const Geometry& geometry, std::vector<Profile> profiles)
    : Comm(comm), Space(geometry), Profiles(std::move(profiles))
{
  MPI_Comm_rank(comm, &this->Rank);
  MPI_Comm_size(comm, &this->Ranks);
  this->Levels.push_back(this->MakeLevel(0, AllTiles(this->Space), nullptr));
  this->Restart();
}

Hierarchy::LevelData Hierarchy::MakeLevel(int level, const TileList& tiles, const Grid* coarser) const
{
  LevelData data{Grid(this->Space, level, tiles, this->Ranks), {}, {}, {}, {}, {}};
  for (const OwnedBox& patch : data.Patches.Patches()) {
    data.Grown.push_back({Grown(patch.Cells, this->Space.Layers(GhostWidth)), patch.Owner});
  }
  data.FromSame = CopyPlan(data.Patches, data.Grown, this->Rank);
  if (coarser) {
    data.Under = CoarseCellsUnder(data.Grown, &data.Patches, this->Space);
    data.FromCoarser = CopyPlan(*coarser, data.Under, this->Rank);
  }
  for (int scalar = 0; scalar < this->ScalarCount(); ++scalar) {
    data.Scalars.push_back(this->Allocate(data.Patches.Patches()));
  }
  return data;
}

Field Hierarchy::Allocate(const std::vector<OwnedBox>& boxes) const
{
  Field field(boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (this->Mine(boxes[i])) {
      field[i] = Array(boxes[i].Cells);
    }
  }
  return field;
}

void Hierarchy::FillFromCoarser(const Field& coarser, const Grid& coarserGrid,
    const std::vector<OwnedBox>& under, const CopyPlan& plan, Field& fine) const
{
  Field below = this->Allocate(under);
  plan.Run(this->Comm, coarser, below);
  for (std::size_t p = 0; p < under.size(); ++p) {
    if (this->Mine(under[p])) {
      if (!this->Space.Periodic) {
        FillOutside(below[p], this->Space.Domain(coarserGrid.Level()));
      }
      Interpolate(below[p], this->Space.Ratio, fine[p]);
    }
  }
}

Field Hierarchy::Ghosted(int level, int scalar) const
{
  const LevelData& data = this->Levels[level];
  Field ghosted = this->Allocate(data.Grown);
  if (level > 0) {
    const LevelData& coarser = this->Levels[level - 1];
    this->FillFromCoarser(coarser.Scalars[scalar], coarser.Patches, data.Under, data.FromCoarser, ghosted);
  }
  data.FromSame.Run(this->Comm, data.Scalars[scalar], ghosted);
  for (std::size_t p = 0; p < ghosted.size() && !this->Space.Periodic; ++p) {
    if (this->Mine(data.Grown[p])) {
      FillOutside(ghosted[p], this->Space.Domain(level));
    }
  }
  return ghosted;
}

void Hierarchy::Step(double timeStep, const Double3& velocity)
{
  for (int scalar = 0; scalar < this->ScalarCount(); ++scalar) {
    // All ghosts first: they must show the old time on every level.
    std::vector<Field> old;
    for (int level = 0; level < this->LevelCount(); ++level) {
      old.push_back(this->Ghosted(level, scalar));
    }
    for (int level = 0; level < this->LevelCount(); ++level) {
      const Double3 spacing = this->Space.SpacingOf(level);
      Double3 courant;
      for (int axis = 0; axis < 3; ++axis) {
        courant[axis] = velocity[axis] * timeStep / spacing[axis];
      }
      Field& values = this->Levels[level].Scalars[scalar];
      for (std::size_t p = 0; p < values.size(); ++p) {
        if (!values[p].Values.empty()) {
          Advance(old[level][p], values[p].Cells, courant);
          CopyCells(old[level][p], values[p]);
        }
      }
    }
    this->AverageDown(scalar);
  }
}

void Hierarchy::AverageDown(int scalar)
{
  for (int level = this->LevelCount() - 1; level > 0; --level) {
    const LevelData& fine = this->Levels[level];
    LevelData& coarse = this->Levels[level - 1];
    std::vector<OwnedBox> boxes;
    Field averages;
    for (std::size_t p = 0; p < fine.Patches.Patches().size(); ++p) {
      const OwnedBox& patch = fine.Patches.Patches()[p];
      boxes.push_back({Coarsen(patch.Cells, this->Space.Ratio), patch.Owner});
      averages.push_back(this->Mine(patch) ? Average(fine.Scalars[scalar][p], this->Space.Ratio) : Array());
    }
    CopyPlan(coarse.Patches, boxes, this->Rank).Reversed().Run(this->Comm, averages, coarse.Scalars[scalar]);
  }
}

void Hierarchy::Transfer(const LevelData& coarser, const LevelData* old, LevelData& fresh) const
{
  const std::vector<OwnedBox>& patches = fresh.Patches.Patches();
  const std::vector<OwnedBox> under = CoarseCellsUnder(patches, old ? &old->Patches : nullptr, this->Space);
  const CopyPlan fromCoarser(coarser.Patches, under, this->Rank);
  const CopyPlan fromOld = old ? CopyPlan(old->Patches, patches, this->Rank) : CopyPlan();
  for (int scalar = 0; scalar < this->ScalarCount(); ++scalar) {
    Field& values = fresh.Scalars[scalar];
    this->FillFromCoarser(coarser.Scalars[scalar], coarser.Patches, under, fromCoarser, values);
    if (old) {
      fromOld.Run(this->Comm, old->Scalars[scalar], values);
    }
  }
}

void Hierarchy::Regrid(const std::vector<TileList>& tiles)
{
  std::vector<LevelData> old = std::move(this->Levels);
  this->Levels.clear();
  this->Levels.push_back(std::move(old[0]));
  for (std::size_t l = 1; l <= tiles.size(); ++l) {
    LevelData fresh = this->MakeLevel(static_cast<int>(l), tiles[l - 1], &this->Levels.back().Patches);
    this->Transfer(this->Levels.back(), l < old.size() ? &old[l] : nullptr, fresh);
    this->Levels.push_back(std::move(fresh));
  }
}

void Hierarchy::Restart()
{
  for (int scalar = 0; scalar < this->ScalarCount(); ++scalar) {
    for (int level = 0; level < this->LevelCount(); ++level) {
      for (Array& values : this->Levels[level].Scalars[scalar]) {
        this->Profiles[scalar].Fill(level, 0.0, values);
      }
    }
    this->AverageDown(scalar);
  }
}

}  // namespace patchio::linadv

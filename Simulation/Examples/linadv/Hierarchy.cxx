#include "Hierarchy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace patchio::linadv {
namespace {

/// Ghost layers that the scheme needs along each axis of the problem.
constexpr int GhostWidth = 2;
/// Distance, in coarse cells, up to which the ghosts of a fine patch are interpolated. Every patch must be at
/// least NestingWidth cells inside the next coarser level.
constexpr int NestingWidth = 2;

// ---- the exact solution ----

constexpr double Inside = 80.0, Outside = 5.0;

/// Sets `values`, on cells of level `level`, to the exact solution for the scalar `scalar` at the time
/// `time`. Scalar 0 has the profile of the problem. The profiles of the other scalars are shifted and higher,
/// so that all scalars differ.
void FillWithSolution(const Problem& problem, int scalar, int level, double time, Array& values)
{
  const Geometry& space = problem.Space;
  Double3 centre = problem.Centre;
  if (scalar > 0) {
    // The shift is along one axis after another: first by 1/2 radius along each axis, then by 1 radius, then
    // by 3/2 radii. Then the sequence repeats.
    centre[scalar % space.Dimension] += 0.5 * problem.Radius * (1 + scalar / space.Dimension % 3);
  }
  for (int axis = 0; axis < 3; ++axis) {
    centre[axis] += problem.Velocity[axis] * time;
  }
  const double inside = Inside * (1.0 + 0.1 * scalar);
  const Double3 spacing = space.SpacingOf(level);
  std::size_t next = 0;
  ForCells(values.Cells, [&](const Int3& cell) {
    double distance2 = 0.0;  // squared distance from the centre, in squared radii
    for (int axis = 0; axis < space.Dimension; ++axis) {
      double distance = space.Origin[axis] + (cell[axis] + 0.5) * spacing[axis] - centre[axis];
      if (space.Periodic) {
        const double side = space.Cells[axis] * space.Spacing[axis];
        distance -= side * std::round(distance / side);
      }
      distance2 += distance * distance;
    }
    distance2 /= problem.Radius * problem.Radius;
    const double share = problem.Smooth ? std::exp(-2.0 * distance2) : (distance2 < 1.0 ? 1.0 : 0.0);
    values.Values[next++] = Outside + share * (inside - Outside);
  });
}

// ---- the scheme on one array ----

/// Returns the limited slope in a cell from the differences to the left and the right neighbour (B. van Leer,
/// "Towards the ultimate conservative difference scheme II", 1974).
double LimitedSlope(double left, double right)
{
  return left * right > 0.0 ? 2.0 * left * right / (left + right) : 0.0;
}

/// Returns the slope of the minmod limiter: the difference with the smaller absolute value, or 0 at extrema.
/// With this limiter, the sum of the slopes of several axes stays bounded.
double MinmodSlope(double left, double right)
{
  if (left * right <= 0.0) {
    return 0.0;
  }
  return std::abs(left) < std::abs(right) ? left : right;
}

/// Returns the flux through the face between the cells i and i + 1 in one step, in units of a cell's volume.
double Flux(const std::vector<double>& u, std::size_t i, double courant)
{
  const auto slope = [&u](std::size_t at) { return LimitedSlope(u[at] - u[at - 1], u[at + 1] - u[at]); };
  return courant >= 0.0 ? courant * (u[i] + 0.5 * (1.0 - courant) * slope(i))
                        : courant * (u[i + 1] - 0.5 * (1.0 + courant) * slope(i + 1));
}

/// Advances one line of cells with GhostWidth ghosts on both sides. `stride`: distance of neighbouring cells
/// in memory. `line`: memory for a copy of the line, of the same length.
void AdvanceLine(double* first, std::size_t stride, double courant, std::vector<double>& line)
{
  for (std::size_t i = 0; i < line.size(); ++i) {
    line[i] = first[i * stride];
  }
  double inflow = Flux(line, GhostWidth - 1, courant);
  for (std::size_t i = GhostWidth; i + GhostWidth < line.size(); ++i) {
    const double outflow = Flux(line, i, courant);
    first[i * stride] = line[i] + inflow - outflow;
    inflow = outflow;
  }
}

/// Advances `values` by one step: one sweep per axis, with the second-order upwind scheme and van Leer's
/// limiter, which makes no new extrema. `values` has GhostWidth filled ghost layers around `interior`.
/// Afterwards, the interior is new and the ghosts are undefined. `courant`: v dt / dx per axis, each in
/// [-1, 1].
void Advance(Array& values, const Box& interior, const Double3& courant)
{
  // A sweep needs ghosts that earlier sweeps have advanced. So each sweep also advances the ghosts along the
  // axes of later sweeps.
  Box starts = values.Cells;
  std::size_t stride = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (courant[axis] != 0.0) {
      std::vector<double> line(values.Cells.Width(axis));
      starts.Upper[axis] = starts.Lower[axis];
      ForCells(starts, [&](const Int3& start) {
        AdvanceLine(values.Values.data() + values.Offset(start), stride, courant[axis], line);
      });
    }
    starts.Lower[axis] = interior.Lower[axis];
    starts.Upper[axis] = interior.Upper[axis];
    stride *= values.Cells.Width(axis);
  }
}

/// Sets each cell outside `domain` to the value of the nearest cell inside `domain`.
void FillOutside(Array& values, const Box& domain)
{
  const Box inside = Intersect(values.Cells, domain);
  if (inside == values.Cells) {
    return;
  }
  ForCells(values.Cells, [&](const Int3& cell) {
    Int3 nearest;
    for (int axis = 0; axis < 3; ++axis) {
      nearest[axis] = std::clamp(cell[axis], inside.Lower[axis], inside.Upper[axis]);
    }
    values.At(cell) = values.At(nearest);
  });
}

/// Sets all values of `fine` from `coarse` by limited linear interpolation, which keeps the mean of every
/// coarse cell. `coarse` must extend one layer of cells (along axes with a ratio above 1) beyond the cells
/// under `fine`.
void Interpolate(const Array& coarse, const Int3& ratio, Array& fine)
{
  const std::size_t strides[3] = {
      1, std::size_t(coarse.Cells.Width(0)), std::size_t(coarse.Cells.Width(0) * coarse.Cells.Width(1))};
  ForCells(fine.Cells, [&](const Int3& cell) {
    const Int3 under = Coarsen({cell, cell}, ratio).Lower;
    const double* centre = coarse.Values.data() + coarse.Offset(under);
    double value = *centre;
    for (int axis = 0; axis < 3; ++axis) {
      if (ratio[axis] > 1) {
        const double left = *(centre - strides[axis]), right = *(centre + strides[axis]);
        const double place = (cell[axis] - under[axis] * ratio[axis] + 0.5) / ratio[axis] - 0.5;
        value += place * MinmodSlope(*centre - left, right - *centre);
      }
    }
    fine.At(cell) = value;
  });
}

/// Sets each cell of `means` to the sum of `values` over a box, times `weight`. boxOf(cell) returns the box
/// for a cell of `means`.
template <typename BoxOf>
void FillMeans(const Array& values, double weight, Array& means, BoxOf boxOf)
{
  ForCells(means.Cells, [&](const Int3& cell) {
    double sum = 0.0;
    ForCells(boxOf(cell), [&](const Int3& part) { sum += values.At(part); });
    means.At(cell) = sum * weight;
  });
}

/// Returns the largest absolute difference between a cell and its neighbours along the axes.
double LargestDifference(const Array& values, int dimension, const Int3& cell)
{
  double jump = 0.0;
  for (int axis = 0; axis < dimension; ++axis) {
    Int3 left = cell, right = cell;
    --left[axis];
    ++right[axis];
    jump = std::max(jump, std::abs(values.At(cell) - values.At(left)));
    jump = std::max(jump, std::abs(values.At(cell) - values.At(right)));
  }
  return jump;
}

/// Adds the tiles of `level` that overlap `box`, which has cells of that level.
void AddTiles(const Geometry& space, int level, const Box& box, TileSet& tiles)
{
  space.ForTiles(level, box, [&](const Int3& tile, const Int3&) { tiles.insert(tile); });
}

/// Returns, for each box, the coarse cells from which the box is interpolated, or an empty box if `grid`
/// contains all cells of the box. `grid`: patches of the level of the boxes; null: no patches.
std::vector<OwnedBox> CoarseCellsUnder(
    const std::vector<OwnedBox>& boxes, const Grid* grid, const Geometry& space)
{
  std::vector<OwnedBox> under;
  for (const OwnedBox& box : boxes) {
    const bool needed = !grid || !grid->Covers(box.Cells);
    under.push_back({needed ? Grow(Coarsen(box.Cells, space.Ratio), space.Layers(1)) : Box(), box.Owner});
  }
  return under;
}

}  // namespace

// ---- levels ----

Hierarchy::Hierarchy(Communicator& ranks, const Problem& problem)
    : Ranks(ranks), Setup(problem), Space(problem.Space)
{
  TileSet all;
  ForCells(Coarsen(this->Space.Domain(0), this->Space.Patch), [&](const Int3& tile) { all.insert(tile); });
  this->Levels.push_back(this->MakeLevel(0, all, nullptr));
  this->SetInitialValues();
  // The values of each level determine where the next level is needed.
  for (int level = 1; level < problem.Levels; ++level) {
    this->Regrid();
    this->SetInitialValues();
  }
}

Hierarchy::LevelData Hierarchy::MakeLevel(int level, const TileSet& tiles, const Grid* coarser) const
{
  LevelData data{Grid(this->Space, level, tiles, this->Ranks.Size()), {}, {}, {}, {}, {}};
  for (const OwnedBox& patch : data.Patches.Patches()) {
    data.Ghosted.push_back({Grow(patch.Cells, this->Space.Layers(GhostWidth)), patch.Owner});
  }
  data.FromSame = CopyPlan(data.Patches, data.Ghosted, this->Ranks.Rank());
  if (coarser) {
    data.CoarseBoxes = CoarseCellsUnder(data.Ghosted, &data.Patches, this->Space);
    data.FromCoarser = CopyPlan(*coarser, data.CoarseBoxes, this->Ranks.Rank());
  }
  for (int scalar = 0; scalar < this->Setup.Scalars; ++scalar) {
    data.Scalars.push_back(this->Allocate(data.Patches.Patches()));
  }
  return data;
}

Field Hierarchy::Allocate(const std::vector<OwnedBox>& boxes) const
{
  Field field(boxes.size());
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    if (boxes[b].Owner == this->Ranks.Rank() && !boxes[b].Cells.Empty()) {
      field[b] = Array(boxes[b].Cells);
    }
  }
  return field;
}

void Hierarchy::FillFromCoarser(const Field& coarser, int coarserLevel, const std::vector<OwnedBox>& under,
    const CopyPlan& plan, Field& fine) const
{
  Field below = this->Allocate(under);
  plan.Run(this->Ranks.Mpi(), coarser, below);
  ForEachLocalPatch(below, [&](std::size_t p, Array& values) {
    if (!this->Space.Periodic) {
      FillOutside(values, this->Space.Domain(coarserLevel));
    }
    Interpolate(values, this->Space.Ratio, fine[p]);
  });
}

Field Hierarchy::GhostedValues(int level, int scalar) const
{
  const LevelData& data = this->Levels[level];
  Field ghosted = this->Allocate(data.Ghosted);
  if (level > 0) {
    this->FillFromCoarser(
        this->Values(level - 1, scalar), level - 1, data.CoarseBoxes, data.FromCoarser, ghosted);
  }
  data.FromSame.Run(this->Ranks.Mpi(), data.Scalars[scalar], ghosted);
  if (!this->Space.Periodic) {
    ForEachLocalPatch(
        ghosted, [&](std::size_t, Array& values) { FillOutside(values, this->Space.Domain(level)); });
  }
  return ghosted;
}

std::vector<std::vector<double>> Hierarchy::NodeValues(int level) const
{
  std::vector<std::vector<double>> nodes(this->Patches(level).Patches().size());
  const Int3 one = this->Space.Layers(1);
  const Field ghosted = this->GhostedValues(level, 0);
  ForEachLocalPatch(ghosted, [&](std::size_t p, const Array& values) {
    // Node n lies between the cells n - 1 and n.
    Box range = this->Patches(level).Patches()[p].Cells;
    for (int axis = 0; axis < 3; ++axis) {
      range.Upper[axis] += one[axis];
    }
    Array means(range);
    FillMeans(values, this->Space.Dimension == 3 ? 0.125 : 0.25, means, [&](const Int3& node) {
      return Box{{node[0] - one[0], node[1] - one[1], node[2] - one[2]}, node};
    });
    nodes[p] = std::move(means.Values);
  });
  return nodes;
}

void Hierarchy::Step()
{
  for (int scalar = 0; scalar < this->Setup.Scalars; ++scalar) {
    // All ghosts are filled first, because the ghosts of every level must have the values of the old time.
    std::vector<Field> old;
    for (int level = 0; level < this->LevelCount(); ++level) {
      old.push_back(this->GhostedValues(level, scalar));
    }
    for (int level = 0; level < this->LevelCount(); ++level) {
      const Double3 spacing = this->Space.SpacingOf(level);
      Double3 courant;
      for (int axis = 0; axis < 3; ++axis) {
        courant[axis] = this->Setup.Velocity[axis] * this->Setup.TimeStep / spacing[axis];
      }
      ForEachLocalPatch(this->Levels[level].Scalars[scalar], [&](std::size_t p, Array& values) {
        Array& advanced = old[level][p];
        Advance(advanced, values.Cells, courant);
        ForCells(values.Cells, [&](const Int3& cell) { values.At(cell) = advanced.At(cell); });
      });
    }
    this->AverageDown([&](int level) -> Field& { return this->Levels[level].Scalars[scalar]; });
  }
}

/// Sets coarse cells below a finer level to the means of the fine cells. fieldOf(level) returns the field of
/// a level. Collective: every rank of the communicator calls it.
template <typename FieldOfLevel>
void Hierarchy::AverageDown(FieldOfLevel fieldOf) const
{
  const Int3& ratio = this->Space.Ratio;
  const double weight = 1.0 / (double(ratio[0]) * ratio[1] * ratio[2]);
  for (int level = this->LevelCount() - 1; level > 0; --level) {
    std::vector<OwnedBox> boxes;
    for (const OwnedBox& patch : this->Patches(level).Patches()) {
      boxes.push_back({Coarsen(patch.Cells, ratio), patch.Owner});
    }
    Field averages = this->Allocate(boxes);
    ForEachLocalPatch(averages, [&](std::size_t p, Array& means) {
      FillMeans(fieldOf(level)[p], weight, means, [&](const Int3& cell) {
        return Refine({cell, cell}, ratio);
      });
    });
    CopyPlan(this->Patches(level - 1), boxes, this->Ranks.Rank(), CopyPlan::ToGrid)
        .Run(this->Ranks.Mpi(), averages, fieldOf(level - 1));
  }
}

void Hierarchy::SetInitialValues()
{
  for (int scalar = 0; scalar < this->Setup.Scalars; ++scalar) {
    const auto fieldOf = [&](int level) -> Field& { return this->Levels[level].Scalars[scalar]; };
    for (int level = 0; level < this->LevelCount(); ++level) {
      ForEachLocalPatch(fieldOf(level),
          [&](std::size_t, Array& values) { FillWithSolution(this->Setup, scalar, level, 0.0, values); });
    }
    this->AverageDown(fieldOf);
  }
}

Hierarchy::DomainMeans Hierarchy::ComputeMeans(double time) const
{
  std::vector<Field> errors;
  for (int level = 0; level < this->LevelCount(); ++level) {
    errors.push_back(this->Allocate(this->Patches(level).Patches()));
    ForEachLocalPatch(errors.back(), [&](std::size_t p, Array& error) {
      FillWithSolution(this->Setup, 0, level, time, error);
      for (std::size_t i = 0; i < error.Values.size(); ++i) {
        error.Values[i] = std::abs(this->Values(level, 0)[p].Values[i] - error.Values[i]);
      }
    });
  }
  this->AverageDown([&](int level) -> Field& { return errors[level]; });
  // Level 0 has the means of the finer levels. Each patch is summed separately, so that the result does not
  // depend on the owners of patches.
  const auto mean = [&](const Field& field) {
    std::vector<double> sums(field.size(), 0.0);
    ForEachLocalPatch(field, [&](std::size_t p, const Array& values) {
      sums[p] = std::accumulate(values.Values.begin(), values.Values.end(), 0.0);
    });
    sums = this->Ranks.Sum(sums);
    return std::accumulate(sums.begin(), sums.end(), 0.0) / double(this->Space.Domain(0).CellCount());
  };
  return {mean(this->Values(0, 0)), mean(errors[0])};
}

// ---- change of levels ----

/// Returns the tiles of level `level` + 1 that contain the tagged cells of this rank's patches or cells
/// within TagBuffer of a tagged cell. Collective: every rank of the communicator calls it.
TileSet Hierarchy::TagTiles(int level) const
{
  TileSet tiles;
  for (int scalar = 0; scalar < this->Setup.Scalars; ++scalar) {
    const Field ghosted = this->GhostedValues(level, scalar);
    ForEachLocalPatch(ghosted, [&](std::size_t p, const Array& values) {
      ForCells(this->Patches(level).Patches()[p].Cells, [&](const Int3& cell) {
        if (LargestDifference(values, this->Space.Dimension, cell) > this->Setup.TagThreshold) {
          const Box around = Grow({cell, cell}, this->Space.Layers(this->Setup.TagBuffer));
          AddTiles(this->Space, level + 1, Refine(around, this->Space.Ratio), tiles);
        }
      });
    });
  }
  return tiles;
}

/// Returns nested tiles for levels 1, 2, ... around the cells that are tagged now; the same on all ranks.
/// Collective: every rank of the communicator calls it.
std::vector<TileSet> Hierarchy::ChooseTiles() const
{
  const int tagged = std::min(this->LevelCount(), this->Setup.Levels - 1);
  std::vector<TileSet> chosen(tagged);
  for (int level = 0; level < tagged; ++level) {
    const TileSet mine = this->TagTiles(level);
    const std::vector<Int3> all = GatherValues(this->Ranks, std::vector<Int3>(mine.begin(), mine.end()));
    chosen[level].insert(all.begin(), all.end());
  }
  for (int level = tagged - 1; level > 0; --level) {
    for (const Int3& tile : chosen[level]) {
      const Box below = Coarsen(this->Space.TileCells(level + 1, tile), this->Space.Ratio);
      AddTiles(this->Space, level, Grow(below, this->Space.Layers(NestingWidth)), chosen[level - 1]);
    }
  }
  // If a level is missing, all finer levels are missing, too, because levels are nested.
  chosen.erase(std::find(chosen.begin(), chosen.end(), TileSet()), chosen.end());
  return chosen;
}

void Hierarchy::TransferValues(const LevelData& coarser, const LevelData* old, LevelData& fresh) const
{
  const std::vector<OwnedBox>& patches = fresh.Patches.Patches();
  const std::vector<OwnedBox> under = CoarseCellsUnder(patches, old ? &old->Patches : nullptr, this->Space);
  const CopyPlan fromCoarser(coarser.Patches, under, this->Ranks.Rank());
  const CopyPlan fromOld = old ? CopyPlan(old->Patches, patches, this->Ranks.Rank()) : CopyPlan();
  for (int scalar = 0; scalar < this->Setup.Scalars; ++scalar) {
    Field& values = fresh.Scalars[scalar];
    this->FillFromCoarser(coarser.Scalars[scalar], coarser.Patches.Level(), under, fromCoarser, values);
    if (old) {
      fromOld.Run(this->Ranks.Mpi(), old->Scalars[scalar], values);
    }
  }
}

void Hierarchy::Regrid()
{
  const std::vector<TileSet> tiles = this->ChooseTiles();
  std::vector<LevelData> old = std::move(this->Levels);
  this->Levels.clear();
  this->Levels.push_back(std::move(old[0]));
  for (std::size_t l = 1; l <= tiles.size(); ++l) {
    LevelData fresh = this->MakeLevel(static_cast<int>(l), tiles[l - 1], &this->Levels.back().Patches);
    this->TransferValues(this->Levels.back(), l < old.size() ? &old[l] : nullptr, fresh);
    this->Levels.push_back(std::move(fresh));
  }
}

}  // namespace patchio::linadv

#include "Patches.h"

#include <algorithm>

namespace patchio::linadv {

bool MortonOrder::operator()(const Int3& a, const Int3& b) const
{
  // The axis whose indices differ in the highest bit decides. If the indices of several axes differ in that
  // bit, the last of these axes decides.
  int axis = 2;
  for (int other = 1; other >= 0; --other) {
    const unsigned here = a[axis] ^ b[axis], there = a[other] ^ b[other];
    if (here < there && here < (here ^ there)) {
      axis = other;
    }
  }
  return a[axis] < b[axis];
}

Box Geometry::Domain(int level) const
{
  Box domain;
  for (int axis = 0; axis < 3; ++axis) {
    int cells = this->Cells[axis];
    for (int l = 0; l < level; ++l) {
      cells *= this->Ratio[axis];
    }
    domain.Upper[axis] = cells - 1;
  }
  return domain;
}

Double3 Geometry::SpacingOf(int level) const
{
  Double3 spacing = this->Spacing;
  for (int l = 0; l < level; ++l) {
    for (int axis = 0; axis < 3; ++axis) {
      spacing[axis] /= this->Ratio[axis];
    }
  }
  return spacing;
}

Box Geometry::TileCells(int level, const Int3& tile) const
{
  return Intersect(Refine({tile, tile}, this->Patch), this->Domain(level));
}

Grid::Grid(const Geometry& geometry, int level, const TileSet& tiles, int rankCount)
    : SpaceGeometry(geometry), LevelNumber(level)
{
  for (const Int3& tile : tiles) {
    this->PatchOfTile.emplace(tile, static_cast<int>(this->PatchList.size()));
    this->PatchList.push_back({geometry.TileCells(level, tile), 0});
  }
  // The owner of a patch is the rank whose share of all cells contains the middle of the patch.
  const std::int64_t total = this->Cells();
  std::int64_t before = 0;
  for (OwnedBox& patch : this->PatchList) {
    const std::int64_t middle = 2 * before + patch.Cells.CellCount();
    patch.Owner = static_cast<int>(std::min<std::int64_t>(rankCount - 1, middle * rankCount / (2 * total)));
    before += patch.Cells.CellCount();
  }
}

std::int64_t Grid::Cells() const
{
  std::int64_t cells = 0;
  for (const OwnedBox& patch : this->PatchList) {
    cells += patch.Cells.CellCount();
  }
  return cells;
}

bool Grid::Covers(const Box& box) const
{
  const Box wanted =
      this->SpaceGeometry.Periodic ? box : Intersect(box, this->SpaceGeometry.Domain(this->LevelNumber));
  std::int64_t found = 0;
  this->ForOverlaps(wanted, [&](int, const Box& region, const Int3&) { found += region.CellCount(); });
  return found == wanted.CellCount();
}

// ---- copies ----

namespace {

/// Calls visit(values, count) for each row of the region along axis 0. `values`: the first value of the row.
/// `count`: number of values.
template <typename AnyArray, typename Visit>
void ForRows(AnyArray& array, const Box& region, Visit visit)
{
  Box starts = region;
  starts.Upper[0] = starts.Lower[0];
  ForCells(
      starts, [&](const Int3& start) { visit(array.Values.data() + array.Offset(start), region.Width(0)); });
}

template <typename Copies>
std::size_t CellsOf(const Copies& copies)
{
  std::size_t cells = 0;
  for (const auto& copy : copies) {
    cells += copy.Target.CellCount();
  }
  return cells;
}

template <typename Copies>
std::vector<double> Pack(const Field& source, const Copies& copies)
{
  std::vector<double> values;
  values.reserve(CellsOf(copies));
  for (const auto& copy : copies) {
    ForRows(source[copy.From], copy.Source,
        [&](const double* row, std::int64_t width) { values.insert(values.end(), row, row + width); });
  }
  return values;
}

template <typename Copies>
void Unpack(const std::vector<double>& values, const Copies& copies, Field& target)
{
  auto next = values.begin();
  for (const auto& copy : copies) {
    ForRows(target[copy.To], copy.Target, [&](double* row, std::int64_t width) {
      std::copy(next, next + width, row);
      next += width;
    });
  }
}

}  // namespace

CopyPlan::CopyPlan(const Grid& grid, const std::vector<OwnedBox>& boxes, int rank, Direction direction)
{
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    grid.ForOverlaps(boxes[b].Cells, [&](int patch, const Box& region, const Int3& shift) {
      Copy copy{patch, static_cast<int>(b), Shift(region, {-shift[0], -shift[1], -shift[2]}), region};
      int from = grid.Patches()[patch].Owner, to = boxes[b].Owner;
      if (direction == ToGrid) {
        std::swap(copy.From, copy.To);
        std::swap(copy.Source, copy.Target);
        std::swap(from, to);
      }
      if (from == rank && to == rank) {
        this->Local.push_back(copy);
      } else if (from == rank) {
        this->Sends[to].push_back(copy);
      } else if (to == rank) {
        this->Receives[from].push_back(copy);
      }
    });
  }
}

void CopyPlan::Run(MPI_Comm comm, const Field& source, Field& target) const
{
  std::map<int, std::vector<double>> outgoing, incoming;
  std::vector<MPI_Request> requests;
  for (const auto& [rank, copies] : this->Receives) {
    std::vector<double>& buffer = incoming[rank];
    buffer.resize(CellsOf(copies));
    requests.emplace_back();
    MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_DOUBLE, rank, 0, comm, &requests.back());
  }
  for (const auto& [rank, copies] : this->Sends) {
    const std::vector<double>& buffer = outgoing[rank] = Pack(source, copies);
    requests.emplace_back();
    MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_DOUBLE, rank, 0, comm, &requests.back());
  }
  for (const Copy& copy : this->Local) {
    const Copies one{copy};
    Unpack(Pack(source, one), one, target);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (const auto& [rank, copies] : this->Receives) {
    Unpack(incoming[rank], copies, target);
  }
}

}  // namespace patchio::linadv

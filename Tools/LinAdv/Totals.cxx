#include "LinAdv/Totals.h"

#include <cmath>
#include <numeric>

namespace patchio::linadv {
namespace {

/// Sum over the patch's cells that the finer level does not cover. Spoils `values`.
double VisibleSum(Array& values, const Grid* finer)
{
  if (finer) {
    const Int3& ratio = finer->Space().Ratio;
    finer->ForOverlaps(Refine(values.Cells, ratio), [&](int, const Box& region, const Int3&) {
      ForCells(Coarsen(region, ratio), [&](int i, int j, int k) { values.At(i, j, k) = 0.0; });
    });
  }
  return std::accumulate(values.Values.begin(), values.Values.end(), 0.0);
}

/// Sums in the order of the patches, so that who owns them makes no difference.
double SumOverPatches(std::vector<double> sums, MPI_Comm comm)
{
  std::vector<double> all(sums.size(), 0.0);
  MPI_Reduce(sums.data(), all.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, 0, comm);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

Totals LevelTotals(const Hierarchy& hierarchy, int level, double time, MPI_Comm comm)
{
  const Grid* finer = level + 1 < hierarchy.LevelCount() ? &hierarchy.Patches(level + 1) : nullptr;
  const Field& field = hierarchy.Values(level, 0);
  std::vector<double> sums(field.size(), 0.0), errors(field.size(), 0.0);
  for (std::size_t p = 0; p < field.size(); ++p) {
    if (field[p].Values.empty()) {
      continue;
    }
    Array values = field[p];
    Array error(values.Cells);
    hierarchy.ProfileOf(0).Fill(level, time, error);
    for (std::size_t i = 0; i < error.Values.size(); ++i) {
      error.Values[i] = std::abs(values.Values[i] - error.Values[i]);
    }
    sums[p] = VisibleSum(values, finer);
    errors[p] = VisibleSum(error, finer);
  }
  return {SumOverPatches(std::move(sums), comm), SumOverPatches(std::move(errors), comm)};
}

}  // namespace

Totals MakeTotals(const Hierarchy& hierarchy, double time, MPI_Comm comm)
{
  Totals totals;
  double weight = 1.0 / double(hierarchy.Patches(0).Space().Domain(0).Cells());
  for (int level = 0; level < hierarchy.LevelCount(); ++level) {
    const Totals part = LevelTotals(hierarchy, level, time, comm);
    totals.Mean += part.Mean * weight;
    totals.Error += part.Error * weight;
    const Int3& ratio = hierarchy.Patches(0).Space().Ratio;
    weight /= double(ratio[0]) * ratio[1] * ratio[2];
  }
  return totals;
}

}  // namespace patchio::linadv

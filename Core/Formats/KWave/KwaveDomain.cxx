#include "Formats/KWave/KwaveDomain.h"

#include "Formats/KWave/KwaveNames.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <cmath>

namespace patchio::kwave {

void ReadDomain(const KwaveFile& file, KwaveDescription& to)
{
  const char* const counts[] = {"Nx", "Ny", "Nz"};
  const char* const spacings[] = {"dx", "dy", "dz"};
  for (int axis = 0; axis < 3; ++axis) {
    to.Dims[axis] = file.Count(counts[axis]);
    const bool needed = axis == 0 || to.Dims[axis] > 1;
    to.Spacing[axis] = needed ? file.Number(spacings[axis]) : file.NumberOr(spacings[axis], to.Spacing[0]);
    if (!needed && !(to.Spacing[axis] > 0)) {
      to.Spacing[axis] = to.Spacing[0];
    }
    if (!(to.Spacing[axis] > 0) || !std::isfinite(to.Spacing[axis])) {
      throw FileError(to.Path, fmt::format("a positive grid spacing in '{}'", spacings[axis]),
          fmt::format("{}", to.Spacing[axis]), "The file is damaged");
    }
    // k-Wave's grid is centred: point i, from 0, lies at (i - floor(N/2)) d. Cells are centred at the points.
    to.Origin[axis] = -(static_cast<double>(to.Dims[axis] / 2) + 0.5) * to.Spacing[axis];
  }
  constexpr double mostPoints = 1e13;
  const double points =
      static_cast<double>(to.Dims[0]) * static_cast<double>(to.Dims[1]) * static_cast<double>(to.Dims[2]);
  if (points > mostPoints) {
    throw FileError(to.Path, "a domain of at most 10^13 grid points", fmt::format("{:.3g}", points),
        "The file is damaged");
  }
  if (file.NumberOr("axisymmetric_flag", 0) != 0) {
    to.Origin[1] = -0.5 * to.Spacing[1];
    to.Notes.emplace_back("the run is axisymmetric: y is the distance from the axis");
  }
  if (file.NumberOr("nonuniform_grid_flag", 0) != 0) {
    to.Warnings.push_back(to.Path + ": the grid is stretched, but is shown with equal spacing.");
  }
  to.TimeStep = file.NumberOr("dt", 0);
  if (!std::isfinite(to.TimeStep)) {
    to.TimeStep = 0;
  }
}

void ReadTimes(const KwaveFile& file, KwaveDescription& to)
{
  const DatasetInfo info = file.Describe(TimesName);
  const auto steps = static_cast<std::uint64_t>(to.Steps);
  if (steps == 0 || info.Dims.empty()) {
    return;
  }
  if (!info.Numbers || info.Values() < steps) {
    to.Notes.push_back(fmt::format(
        "'{}' has {} times for {} steps: times are those of Nt and dt", TimesName, info.Values(), steps));
    return;
  }
  to.Times = file.Doubles(TimesName, steps);
  if (!std::all_of(to.Times.begin(), to.Times.end(), [](double time) { return std::isfinite(time); })) {
    to.Notes.push_back(
        fmt::format("'{}' has a time that is not finite: times are those of Nt and dt", TimesName));
    to.Times.clear();
  }
}

}  // namespace patchio::kwave

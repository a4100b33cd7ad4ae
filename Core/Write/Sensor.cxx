#include "Write/Sensor.h"

#include "Base/Error.h"
#include "Formats/KWave/KwaveFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace patchio::output {
namespace {

void AddRows(const Box& cuboid, const Box& cells, int patch, std::vector<SensorRun>& runs)
{
  const Box part = Intersect(cuboid, cells);
  if (part.Empty()) {
    return;
  }
  for (int k = part.Lower[2]; k <= part.Upper[2]; ++k) {
    for (int j = part.Lower[1]; j <= part.Upper[1]; ++j) {
      const Int3 cell{part.Lower[0], j, k};
      runs.push_back({patch, cell, part.Width(0), static_cast<std::int64_t>(IndexIn(cuboid, cell))});
    }
  }
}

bool Holds(const Box& box, const Int3& cell)
{
  return !Intersect(box, Box{cell, cell}).Empty();
}

void AddPoints(const std::vector<std::int64_t>& points, const Catalog& data, const std::vector<int>& patches,
    std::vector<SensorRun>& runs)
{
  const Box grid = GridOf(data);
  for (std::size_t point = 0; point < points.size(); ++point) {
    const std::int64_t number = points[point] - 1;
    if (number >= grid.CellCount()) {
      continue;
    }
    const std::int64_t row = number / grid.Width(0);
    const Int3 cell{static_cast<int>(grid.Lower[0] + number % grid.Width(0)),
        static_cast<int>(grid.Lower[1] + row % grid.Width(1)),
        static_cast<int>(grid.Lower[2] + row / grid.Width(1))};
    for (const int patch : patches) {
      if (Holds(data.Patches[patch].Cells, cell)) {
        runs.push_back({patch, cell, 1, static_cast<std::int64_t>(point)});
        break;
      }
    }
  }
}

}  // namespace

Sensor ReadSensorMask(const std::string& path)
{
  constexpr std::uint64_t most = std::uint64_t(1) << 28;
  const kwave::KwaveFile file(path);
  Sensor sensor;
  if (file.Has("sensor_mask_index")) {
    sensor.Points = file.Integers("sensor_mask_index", most);
  }
  const std::vector<std::int64_t> corners = file.Has("sensor_mask_corners")
                                                ? file.Integers("sensor_mask_corners", most)
                                                : std::vector<std::int64_t>();
  for (std::size_t c = 0; c + 6 <= corners.size(); c += 6) {
    SensorCuboid& cuboid = sensor.Cuboids.emplace_back();
    for (int axis = 0; axis < 3; ++axis) {
      cuboid.Cells.Lower[axis] =
          static_cast<int>(std::clamp<std::int64_t>(corners[c + axis], 0, 1 << 30)) - 1;
      cuboid.Cells.Upper[axis] =
          static_cast<int>(std::clamp<std::int64_t>(corners[c + 3 + axis], 0, 1 << 30)) - 1;
    }
  }
  if (sensor.Empty()) {
    throw FileError(path, "'sensor_mask_index' or 'sensor_mask_corners' of k-Wave", "neither",
        "Use the input file of a k-Wave run, or another file with a sensor");
  }
  return sensor;
}

std::vector<SensorPortion> PortionsOf(const Sensor& sensor, const std::string& path)
{
  const auto named = [&](const std::string& what) {
    return std::filesystem::path(path).replace_extension(what + ".h5").string();
  };
  std::map<int, SensorPortion> byPeriod;
  for (const SensorCuboid& cuboid : sensor.Cuboids) {
    byPeriod[cuboid.Every].Cuboids.push_back(cuboid.Cells);
  }
  std::vector<SensorPortion> all;
  for (auto& [every, portion] : byPeriod) {
    portion.Path = all.empty() ? path : named(fmt::format(".every{}", every));
    portion.Every = every;
    all.push_back(std::move(portion));
  }
  if (!sensor.Points.empty()) {
    all.push_back({all.empty() ? path : named(".points"), 1, {}, sensor.Points});
  }
  return all;
}

Box GridOf(const Catalog& data)
{
  Box grid = data.Patches.empty() ? Box() : data.Patches.front().Cells;
  for (const Patch& patch : data.Patches) {
    for (int axis = 0; axis < 3 && patch.Level == 0; ++axis) {
      grid.Lower[axis] = std::min(grid.Lower[axis], patch.Cells.Lower[axis]);
      grid.Upper[axis] = std::max(grid.Upper[axis], patch.Cells.Upper[axis]);
    }
  }
  return grid;
}

std::vector<SensorRun> RunsIn(
    const SensorPortion& portion, std::size_t set, const Catalog& data, const std::vector<int>& patches)
{
  std::vector<SensorRun> runs;
  std::vector<int> coarsest;
  std::copy_if(patches.begin(), patches.end(), std::back_inserter(coarsest),
      [&](int patch) { return data.Patches[patch].Level == 0; });
  if (portion.Cuboids.empty()) {
    AddPoints(portion.Points, data, coarsest, runs);
  } else {
    const Box cuboid = Shift(portion.Cuboids[set], GridOf(data).Lower);
    for (const int patch : coarsest) {
      AddRows(cuboid, data.Patches[patch].Cells, patch, runs);
    }
  }
  std::sort(runs.begin(), runs.end(),
      [](const SensorRun& a, const SensorRun& b) { return a.Position < b.Position; });
  return runs;
}

}  // namespace patchio::output

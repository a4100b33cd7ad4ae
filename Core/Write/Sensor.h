// The cells that a channel of the format kwave samples (cuboids and points of the coarsest level), and the
// patches that contain the cells.
#pragma once

#include "Catalog/Catalog.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::output {

/// A cuboid of cells, and the steps at which a channel samples the cells.
struct SensorCuboid
{
  Box Cells;      ///< indices of the cells; the first cell of the grid is (0, 0, 0)
  int Every = 1;  ///< sampling period, in steps of the channel
};

/// The cells that a channel samples.
struct Sensor
{
  std::vector<SensorCuboid> Cuboids;
  std::vector<std::int64_t> Points;  ///< numbers of cells of the grid, from 1, axis 0 fastest

  bool Empty() const { return this->Cuboids.empty() && this->Points.empty(); }
};

/// Reads the sensor mask of a k-Wave file. Throws Error if the file cannot be read or has no mask.
Sensor ReadSensorMask(const std::string& path);

/// The portion of a sensor that one file contains. A k-Wave file contains either cuboids or points, sampled
/// with one period. For each variable, each cuboid is a data set, and all points together are one data set.
struct SensorPortion
{
  std::string Path;
  int Every = 1;
  std::vector<Box> Cuboids;
  std::vector<std::int64_t> Points;  ///< empty if Cuboids is not empty

  /// Returns the number of data sets of each variable.
  std::size_t SetCount() const { return this->Cuboids.empty() ? 1 : this->Cuboids.size(); }
  /// Returns the number of values of a data set at each step.
  std::int64_t ValueCount(std::size_t set) const
  {
    return this->Cuboids.empty() ? static_cast<std::int64_t>(this->Points.size())
                                 : this->Cuboids[set].CellCount();
  }
};

/// Divides a sensor into portions, one for each file. `path`: NAME.h5. The file NAME.h5 contains the cuboids
/// with the shortest period, a file NAME.everyN.h5 the cuboids with the period N, and NAME.points.h5 the
/// points. If the sensor has no cuboids, NAME.h5 contains the points.
std::vector<SensorPortion> PortionsOf(const Sensor& sensor, const std::string& path);

/// Returns the smallest box around all patches of the coarsest level.
Box GridOf(const Catalog& data);

/// Consecutive cells of a patch along axis 0 that belong to a data set.
struct SensorRun
{
  int Patch = 0;
  Int3 Cell{};                ///< the first cell
  std::int64_t Count = 0;     ///< number of cells
  std::int64_t Position = 0;  ///< index of the first cell in the data set
};

/// Returns the cells of the data set `set` that lie on `patches`, in the order of the data set. Ignores
/// patches of finer levels.
std::vector<SensorRun> RunsIn(
    const SensorPortion& portion, std::size_t set, const Catalog& data, const std::vector<int>& patches);

}  // namespace patchio::output

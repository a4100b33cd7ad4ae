// The cells that a channel of the format kwave samples (cuboids and points of the coarsest level), and the
// patches that hold these cells.
#pragma once

#include "Catalog/Catalog.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::output {

/// A cuboid of cells, and the steps at which a channel samples the cells.
struct SensorCuboid
{
  Box Cells;      ///< counted from 0 at the first cell of the grid
  int Every = 1;  ///< period in steps of the channel
};

/// The cells that a channel samples.
struct Sensor
{
  std::vector<SensorCuboid> Cuboids;
  std::vector<std::int64_t> Points;  ///< cell numbers of the grid from 1, axis 0 fastest

  bool Empty() const { return this->Cuboids.empty() && this->Points.empty(); }
};

/// Reads the sensor mask of a k-Wave file. Throws Error if the file has no mask.
Sensor SensorOfFile(const std::string& path);

/// The contents of one file. A k-Wave file has either cuboids or points, and one period. Each cuboid is a
/// data set; all points together are one data set.
struct SensorSeries
{
  std::string Path;
  int Every = 1;
  std::vector<Box> Cuboids;
  std::vector<std::int64_t> Points;  ///< empty if there are cuboids

  std::size_t Sets() const { return this->Cuboids.empty() ? 1 : this->Cuboids.size(); }
  std::int64_t ValueCount(std::size_t set) const
  {
    return this->Cuboids.empty() ? static_cast<std::int64_t>(this->Points.size())
                                 : this->Cuboids[set].Cells();
  }
};

/// Returns the files of a sensor. NAME.h5 has the cuboids with the shortest period, NAME.everyN.h5 those with
/// the period N. The points are in NAME.points.h5, or in NAME.h5 if there are no cuboids.
std::vector<SensorSeries> SeriesOf(const Sensor& sensor, const std::string& path);

/// Returns the smallest box around all patches of the coarsest level.
Box GridOf(const Catalog& data);

/// Consecutive cells of a patch along axis 0 that belong to a data set.
struct SensorRun
{
  int Patch = 0;
  Int3 Cell{};             ///< the first cell
  std::int64_t Count = 0;  ///< number of cells
  std::int64_t To = 0;     ///< position of the first cell in the data set
};

/// Returns the cells of a data set that lie on these patches of the coarsest level, in the order of the data
/// set.
std::vector<SensorRun> RunsIn(
    const SensorSeries& series, std::size_t set, const Catalog& data, const std::vector<int>& patches);

}  // namespace patchio::output

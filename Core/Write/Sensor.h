// What a channel of the format kwave samples: cuboids and points of the coarsest level, and which of their
// values are on which patch.
#pragma once

#include "Catalog/Catalog.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::output {

struct SensorCuboid
{
  Box Cells;      ///< counted from 0 at the first cell of the grid
  int Every = 1;  ///< of the channel's steps
};

struct Sensor
{
  std::vector<SensorCuboid> Cuboids;
  std::vector<std::int64_t> Points;  ///< cell numbers of the grid from 1, axis 0 fastest

  bool Empty() const { return this->Cuboids.empty() && this->Points.empty(); }
};

/// The sensor of a k-Wave file. Throws Error where there is none.
Sensor SensorOfFile(const std::string& path);

/// What goes to one file: k-Wave's have cuboids or points, and one period. Each cuboid is a data set, and all
/// points are one.
struct SensorSeries
{
  std::string Path;
  int Every = 1;
  std::vector<Box> Cuboids;
  std::vector<std::int64_t> Points;  ///< none where there are cuboids

  std::size_t Sets() const { return this->Cuboids.empty() ? 1 : this->Cuboids.size(); }
  std::int64_t ValuesOf(std::size_t set) const
  {
    return this->Cuboids.empty() ? static_cast<std::int64_t>(this->Points.size())
                                 : this->Cuboids[set].Cells();
  }
};

/// NAME.h5 has the cuboids of the shortest period, NAME.everyN.h5 those of others, and NAME.points.h5 the
/// points, where there are cuboids too.
std::vector<SensorSeries> SeriesOf(const Sensor& sensor, const std::string& path);

/// All cells of the coarsest level's patches, or the smallest box around them.
Box GridOf(const Catalog& data);

/// Cells of a patch, neighbours along axis 0, that a data set wants.
struct SensorRun
{
  int Patch = 0;
  Int3 Cell{};             ///< the first
  std::int64_t Count = 0;  ///< of cells
  std::int64_t To = 0;     ///< the place of the first in the data set
};

/// The values of a data set that these patches of the coarsest level have, in the order of the data set.
std::vector<SensorRun> RunsIn(
    const SensorSeries& series, std::size_t set, const Catalog& data, const std::vector<int>& patches);

}  // namespace patchio::output

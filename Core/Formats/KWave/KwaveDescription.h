// The contents of a k-Wave file: sets of values (the domain, the sensor, sources), quantities, time steps.
#pragma once

#include "Catalog/Catalog.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::kwave {

/// A contiguous set of values: the whole domain, one cuboid, or a list of points.
struct Part
{
  Box Cells;               ///< cells of the domain; for a list, axis 0 counts its points
  std::int64_t Grain = 1;  ///< planes across the last axis that can be read without their neighbours
};

/// The parts that form one level of the catalog.
struct PartSet
{
  std::string Name;  ///< name of the level, such as "domain"
  LevelRole Role = LevelRole::Refinement;
  std::vector<Part> Parts;
  /// For lists: Variable::StoredName of the points' positions. In another file of the folder:
  /// "in.h5/sensor_mask_index".
  std::string Positions;
};

/// A quantity on the parts of one set, such as the maximum of the pressure at the sensor.
struct Quantity
{
  std::string Name;
  int Set = 0;              ///< index into KwaveDescription::Sets
  bool Series = false;      ///< true: it has values for each sampled step
  std::vector<bool> Parts;  ///< whether each part of the set has the quantity
};

/// The description of a file.
struct KwaveDescription
{
  std::string Path;
  std::array<std::int64_t, 3> Dims{1, 1, 1};  ///< grid points along x, y, z
  Double3 Spacing{1, 1, 1}, Origin{0, 0, 0};
  std::vector<PartSet> Sets;
  std::vector<Quantity> Quantities;
  double TimeStep = 0;         ///< dt
  std::int64_t FirstStep = 1;  ///< number of the first sampled step, in k-Wave's count from 1
  std::int64_t Steps = 1;      ///< number of sampled steps; 1 if nothing was sampled
  std::vector<double> Times;   ///< times of all steps, if the file has them; see TimesName
  std::vector<std::string> Warnings, Notes;

  /// Returns the time of a step. `step`: number in k-Wave's count, as in FirstStep.
  double TimeOf(std::int64_t step) const
  {
    return this->Times.empty() ? this->TimeStep * static_cast<double>(step - 1)
                               : this->Times[static_cast<std::size_t>(step - this->FirstStep)];
  }
};

/// Reads an input or output file, and if necessary the mask from another file in its folder. Throws Error.
KwaveDescription ReadDescription(const std::string& path);

}  // namespace patchio::kwave

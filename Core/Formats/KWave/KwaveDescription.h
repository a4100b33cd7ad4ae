// What a k-Wave file means: sets of values (the domain, the sensor, sources), quantities, time steps.
#pragma once

#include "Catalog/Catalog.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::kwave {

/// Values that lie side by side: the whole domain, one cuboid, a list of points.
struct Part
{
  Box Cells;               ///< of the domain; of a list, axis 0 counts its points
  std::int64_t Grain = 1;  ///< planes across the last axis that can be read without their neighbours
};

/// One level of the catalog.
struct PartSet
{
  std::string Name;  ///< "domain"
  LevelRole Role = LevelRole::Refinement;
  std::vector<Part> Parts;
  std::string Positions;  ///< lists only: Variable::StoredName of their positions
};

struct Quantity
{
  std::string Name;
  int Set = 0;
  bool Series = false;      ///< has values for each sampled step
  std::vector<bool> Parts;  ///< of the set, which have it
};

struct KwaveDescription
{
  std::string Path;
  std::array<std::int64_t, 3> Dims{1, 1, 1};  ///< grid points along x, y, z
  Double3 Spacing{1, 1, 1}, Origin{0, 0, 0};
  std::vector<PartSet> Sets;
  std::vector<Quantity> Quantities;
  double TimeStep = 0;         ///< dt
  std::int64_t FirstStep = 1;  ///< as k-Wave counts, from 1: of the first sampled values
  std::int64_t Steps = 1;      ///< that have been sampled; 1 as well where nothing was
  std::vector<double> Times;   ///< of all steps, where the file has them: see TimesName
  std::vector<std::string> Warnings, Notes;

  double TimeOf(std::int64_t step) const
  {
    return this->Times.empty() ? this->TimeStep * static_cast<double>(step - 1)
                               : this->Times[static_cast<std::size_t>(step - this->FirstStep)];
  }
};

/// Reads an input or output file, and where needed the mask in another one beside it. Throws Error.
KwaveDescription ReadDescription(const std::string& path);

/// The catalog of all steps, turned to the first. Large parts are cut into several patches, so that ranks can
/// share them.
Catalog MakeCatalog(const KwaveDescription& description);

/// A data set of another file in the same folder, as Variable::StoredName: "in.h5/sensor_mask_index".
inline std::string NameInOtherFile(const std::string& file, const std::string& dataset)
{
  return file.empty() ? dataset : file + "/" + dataset;
}

}  // namespace patchio::kwave

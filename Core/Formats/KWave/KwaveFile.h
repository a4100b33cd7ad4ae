// A file of k-Wave, and the names of its data sets.
#pragma once

#include "Catalog/Catalog.h"
#include "Hdf5/File.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio::kwave {

/// A data set that only PatchIO writes: the times of all steps, of shape (steps,1,1,1). The times need not be
/// multiples of dt.
constexpr const char* TimesName = "sample_times";

/// Returns whether the data set has values of the whole domain, not of the sensor: "ux_max_all", "p_final".
bool IsOfDomain(const std::string& name);

/// Returns whether the data set has values at the sensor: "p", "uy_non_staggered", "p_max", "Iz_avg",
/// "Q_term".
bool IsOfSensor(const std::string& name);

/// Returns whether the data set has one value per point for all steps together: a maximum, an average or a
/// final value.
bool IsAggregate(const std::string& name);

/// Returns whether `name` names a single number in a file's header, such as "Nx", "dt" and "t_index".
bool IsHeader(const std::string& name);

/// Returns the name of the variable with the positions of a list of points.
inline std::string PositionsOf(const std::string& list)
{
  return list + " positions";
}

/// Returns the reason why PatchIO cannot write a sensor's variable with this name, as a phrase for messages;
/// empty if PatchIO can write the variable.
std::string FaultOfName(const std::string& name);

/// Returns whether the data set is a setting of the simulation. A setting is not a field, even if its shape
/// is that of a field.
bool IsSetting(const std::string& name);

/// The type of a k-Wave file, from its attributes.
enum class FileType
{
  None,  ///< not a k-Wave file
  Input,
  Output,
  Checkpoint
};

/// Returns the type of a file. A damaged HDF5 file that has k-Wave's attributes at its beginning counts as an
/// output; opening it reports the fault. Does not throw.
FileType TypeOfFile(const std::string& path);

/// The shape and the type of a data set.
struct DatasetInfo
{
  std::vector<std::uint64_t> Dims;    ///< slowest first
  std::vector<std::uint64_t> Chunks;  ///< empty: not chunked
  std::uint64_t Values = 0;           ///< product of Dims; 0 without dimensions
  bool IsNumeric = false;             ///< floats or integers of 4 or 8 bytes
  bool IsComplex = false;
};

/// A k-Wave file, opened for reading. All methods throw Error for damaged objects.
class KwaveFile : public hdf5::File
{
public:
  using hdf5::File::File;

  /// Returns a text attribute of the root without padding; empty if the root lacks the attribute.
  std::string Attribute(const std::string& name) const { return this->Text("/", name); }
  /// Returns the value of a data set with a single value, or `otherwise` if there is no such data set.
  double NumberOr(const std::string& name, double otherwise) const
  {
    return this->Has(name) ? this->Double(name) : otherwise;
  }
  /// Returns the value of a data set, a whole number from 1 to 2^30 - 1. Throws Error for other values.
  std::int64_t Count(const std::string& name) const;
  /// Returns the shape and type of a data set; no dimensions if there is no data set with this name.
  DatasetInfo InfoOf(const std::string& name) const;
  /// Returns all values of a data set of integers. Throws Error if the data set has no values or more than
  /// `most`.
  std::vector<std::int64_t> Integers(const std::string& name, std::uint64_t most) const;
};

/// A contiguous set of values: the whole domain, one cuboid, or a list of points.
struct GridRegion
{
  Box Cells;                      ///< cells of the domain; for a list, axis 0 counts its points
  std::int64_t PlanesPerCut = 1;  ///< cuts lie at multiples of this number of planes
};

/// The regions that form one level of the catalog.
struct RegionSet
{
  std::string Name;  ///< name of the level, such as "domain"
  LevelRole Role = LevelRole::Refinement;
  std::vector<GridRegion> Regions;
  /// Variable::StoredName of the points' positions, for lists. In another file of the folder:
  /// "in.h5/sensor_mask_index".
  std::string Positions;
};

/// A quantity on the regions of one set, such as the maximum of the pressure at the sensor.
struct Quantity
{
  std::string Name;
  int Set = 0;                ///< index into KwaveDescription::Sets
  bool TimeVarying = false;   ///< true: the quantity has values for each sampled step
  std::vector<bool> Regions;  ///< whether each region of the set has the quantity
};

/// The grid, the sampled quantities and the times of a k-Wave file, without the values.
struct KwaveDescription
{
  std::string Path;
  std::array<std::int64_t, 3> Dims{1, 1, 1};  ///< grid points along x, y, z
  Double3 Spacing{1, 1, 1}, Origin{0, 0, 0};
  std::vector<RegionSet> Sets;
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

/// Reads an input or output file, and if necessary the mask from another file in its folder. Throws Error if
/// the file is damaged or has nothing to show, for example because the mask is missing.
KwaveDescription ReadDescription(const std::string& path);

}  // namespace patchio::kwave

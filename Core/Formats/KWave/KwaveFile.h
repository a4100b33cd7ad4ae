// A file of k-Wave, and the names in it.
#pragma once

#include "Hdf5/File.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio::kwave {

/// PatchIO's own: the times of all steps, shape (steps,1,1,1), where they are not multiples of dt.
constexpr const char* TimesName = "sample_times";

/// "ux_max_all", "p_final": values of the whole domain, whatever the sensor.
bool IsOfDomain(const std::string& name);

/// "p", "uy_non_staggered", "p_max", "Iz_avg", "Q_term": values at the sensor.
bool IsOfSensor(const std::string& name);

/// One value a point, made of all steps: maxima, averages, final values.
bool IsAggregate(const std::string& name);

/// True for the names of single numbers in a file's header, such as "Nx", "dt" and "t_index".
bool IsHeader(const std::string& name);

/// The name of the variable with the positions of a list of points.
inline std::string PositionsOf(const std::string& list)
{
  return list + " positions";
}

/// Returns the reason why PatchIO cannot write a sensor's variable with this name, as a phrase for messages.
/// Empty: PatchIO can write it.
std::string FaultOfName(const std::string& name);

/// Data sets that say how the simulation is run; they are no fields, whatever their shapes.
bool IsSetting(const std::string& name);

/// What a k-Wave file holds, as its data sets and attributes say; nothing is concluded from it here.
enum class FileType
{
  None,  ///< not k-Wave's
  Input,
  Output,
  Checkpoint
};

/// What a path leads to. A file that HDF5 cannot open, but whose beginning has k-Wave's attributes in it, is
/// taken for an output: opening it will say what is wrong. Does not throw.
FileType TypeOfFile(const std::string& path);

/// A data set without its values.
struct DatasetInfo
{
  std::vector<std::uint64_t> Dims;    ///< slowest first
  std::vector<std::uint64_t> Chunks;  ///< empty: not in chunks
  bool Numbers = false;               ///< floats of 4 or 8 bytes, or integers of 4 or 8
  bool Complex = false;

  std::uint64_t Values() const;
};

class KwaveFile
{
public:
  /// Throws Error when the file cannot be opened.
  explicit KwaveFile(const std::string& path) : File(path) {}

  const std::string& Path() const { return this->File.Path(); }
  bool Has(const std::string& name) const { return this->File.Has(name); }
  /// A text attribute of the root without padding; empty when there is none.
  std::string Attribute(const std::string& name) const;
  /// The value of a data set of one value. Throws Error.
  double Number(const std::string& name) const { return this->File.Double(name); }
  double NumberOr(const std::string& name, double otherwise) const;
  /// A count of at least 1, and less than 2^30. Throws Error.
  std::int64_t Count(const std::string& name) const;

  /// Names in the root or in a group, in name order.
  std::vector<std::string> Names(const std::string& group = "/") const;
  bool IsGroup(const std::string& name) const { return this->File.IsGroup(name); }
  /// No dimensions when there is no such data set.
  DatasetInfo Describe(const std::string& name) const;

  /// All values of a data set of integers. Throws Error when there are more than `most`.
  std::vector<std::int64_t> Integers(const std::string& name, std::uint64_t most) const;
  /// The first `count` values of a data set that has as many. Throws Error.
  std::vector<double> Doubles(const std::string& name, std::uint64_t count) const;

private:
  hdf5::File File;
};

}  // namespace patchio::kwave

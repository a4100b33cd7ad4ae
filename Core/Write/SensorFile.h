// A k-Wave output file while it is written: laid out for all its steps, which ranks write into it.
#pragma once

#include "Base/PlainFile.h"
#include "Write/Sensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// Values lie in contiguous data sets, of which the file says that they have as many steps as are complete.
/// A step more is a few numbers that change in place, so that whoever opens the file sees whole steps.
class SensorFile
{
public:
  /// Lays the file out in memory, with room for so many steps; needs HDF5, and nothing else does. Throws
  /// Error.
  SensorFile(const SensorSeries& series, const Catalog& data, std::int64_t steps);

  /// Where the data sets of each variable begin, set by set.
  const std::vector<std::uint64_t>& Offsets() const { return this->Begins; }
  /// Makes the file, without steps. Throws Error.
  void Create(bool overwrite);
  /// From now on the file has these steps, too, whose values are on the storage. times: of all since the last
  /// call, at least one.
  void Commit(const std::vector<double>& times);
  /// That outlives the machine's failure.
  void Flush() const;

private:
  class Layout;

  const std::string Path;
  std::vector<std::uint64_t> Begins;
  std::vector<std::uint64_t> Lengths;  ///< places of the numbers of steps in the shapes of data sets
  /// The place of the address of a data set's values.
  struct AddressPlace
  {
    std::uint64_t At, Address;
  };
  std::vector<AddressPlace> Addresses;
  std::uint64_t All = 0, Done = 0, TimeStep = 0;  ///< places of the values of Nt, t_index and dt
  std::uint64_t Times = 0;                        ///< place of the times of all steps
  std::int64_t Steps = 0;                         ///< that the file has
  double First = 0;                               ///< time of the first of them
  std::vector<std::byte> Image;                   ///< all but values, as it is in the file
  std::uint64_t Size = 0;
  std::unique_ptr<PlainFile> File;
};

}  // namespace patchio::output

// How far a read is.
#pragma once

#include <cstdint>
#include <functional>

namespace patchio {

struct ReadProgress
{
  double Fraction = 0;            ///< 0..1, of the tasks
  std::uint64_t Bytes = 0;        ///< read from the storage so far; those of requests in flight do not count
  std::uint64_t BytesToRead = 0;  ///< in all; what the HDF5 library reads does not count
  double Seconds = 0;             ///< since the read began

  /// 0 while nothing has come.
  double BytesPerSecond() const { return this->Seconds > 0 ? this->Bytes / this->Seconds : 0; }
};

/// Called many times a second on the thread that reads. Returning false stops the read.
using ReadProgressCallback = std::function<bool(const ReadProgress&)>;

}  // namespace patchio

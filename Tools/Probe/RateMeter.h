// How fast this process gets bytes with a given number of requests in flight all the time.
#pragma once

#include "Io/Source.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace patchio::probe {

/// The blocks of one size that files are read in; what is left at a file's end is not read.
class ProbeBlocks
{
public:
  struct Place
  {
    int File;
    std::uint64_t Offset;
  };

  /// fileBytes[i]: length of file i; bytes: of a block, >= 1.
  ProbeBlocks(const std::vector<std::uint64_t>& fileBytes, std::uint64_t bytes);
  std::uint64_t Count() const { return this->Ends.empty() ? 0 : this->Ends.back(); }
  std::uint64_t Bytes() const { return this->BlockBytes; }
  /// index: 0 .. Count()-1, in file order.
  Place At(std::uint64_t index) const;

private:
  std::uint64_t BlockBytes;
  std::vector<std::uint64_t> Ends;  ///< blocks up to the end of each file
};

struct MeterSettings
{
  int Threads = 1;         ///< requests in flight, >= 0
  bool Scattered = false;  ///< far from each other, or one after another
  double Start = 0;        ///< where in the blocks to begin, 0 .. 1
  double WarmUp = 0.1;     ///< seconds that do not count
  double Seconds = 1;      ///< that count; longer where a request takes longer
  /// From the start; no request begins later, but for waiting for other ranks. Where some thread has not
  /// counted by then, all requests from the start on count, warm-up and end included.
  double MostSeconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* Cancel = nullptr;
  /// Called once, when all threads have counted, while all go on reading: waits for the other ranks.
  std::function<void()> AwaitOthers;
};

struct MeteredRate
{
  double Rate = 0;  ///< bytes a second of all threads; 0 when nothing was measured
  std::vector<double>
      Seconds;  ///< that single requests took, in no order; a part of them where there are many
  bool Cancelled = false;
  std::string Fault;  ///< what went wrong, for people; empty when nothing did
};

/// Reads over and over with so many threads. Each counts from the end of one request to the end of another,
/// and goes on until everyone has counted, so that all that counts is read with all requests in flight. Does
/// not throw: AwaitOthers is called whatever happens.
MeteredRate MeasureRate(Source& source, const ProbeBlocks& blocks, const MeterSettings& settings);

}  // namespace patchio::probe

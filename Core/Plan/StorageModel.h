// What one request to a storage costs, and what follows for the size of requests.
#pragma once

#include <cstdint>

namespace patchio {

/// A request of b bytes takes Latency + b / Bandwidth.
struct StorageModel
{
  double Latency = 20e-6;  ///< seconds before the first byte, >= 0
  double Bandwidth = 1e9;  ///< bytes a second of one request among as many as read at once, > 0
};

struct RequestLimits
{
  std::uint64_t Gap = 0;    ///< bytes that nobody wants but are read, rather than starting another request
  std::uint64_t Bytes = 1;  ///< of one request
};

/// Reading a gap of Latency x Bandwidth bytes costs as much as another request. A request of
/// gap x f / (1 - f) bytes spends the share f = 0.9 of its time on bytes; it is kept between 1 MiB, which is
/// what network and parallel file systems send at once, and 16 MiB; but each of the `threads` gets several
/// requests if there are bytes for that, down to 64 KiB a request.
RequestLimits LimitsOf(const StorageModel& storage, std::uint64_t totalBytes, int threads);

}  // namespace patchio

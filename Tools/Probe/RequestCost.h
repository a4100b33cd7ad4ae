// What one request costs, from the times that requests of several sizes took.
#pragma once

#include "Tuning/StorageProfile.h"

#include <cstdint>
#include <vector>

namespace patchio::probe {

/// How long one request took.
struct RequestTime
{
  std::uint64_t Bytes = 0;  ///< >= 1
  double Seconds = 0;       ///< > 0
};

/// T(b) = L + b / B as fitted.
struct RequestCost
{
  bool Known = false;            ///< two sizes at least, the greatest twice the least or more
  StorageModel Requests;         ///< L and B; the default where not known
  std::uint64_t BlockBytes = 0;  ///< BlockBytesFor(Requests)
  double Residual = 0;           ///< median of |time / T - 1| over the sizes
};

/// The size of requests that spend the share f = 0.9 of their time on bytes: L B f / (1 - f), rounded up to
/// whole 64 KiB, between LeastBlockBytes and MostBlockBytes.
std::uint64_t BlockBytesFor(const StorageModel& requests);

/// Fits L >= 0 and B to the median times of the sizes, with relative errors; sizes that fall out of line
/// count little. Where larger requests take no longer, B is very large. Times that are none (not positive
/// numbers, no bytes) are passed over.
RequestCost FitRequestCost(const std::vector<RequestTime>& times);

}  // namespace patchio::probe

// Measures a storage in a minute or two: its rate over the requests in flight, and what requests of several
// sizes cost.
#pragma once

#include "Base/Communicator.h"
#include "Tuning/StorageProfile.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace patchio::probe {

/// The duration of one request.
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

struct QuickProbeOptions
{
  /// Desired duration in seconds, >= 1. Slow storages, where single requests take long, need more: each
  /// measurement ends at three times its part, those that would take longer are left out, and after one and a
  /// half times as long no other begins.
  double Seconds = 80;
  /// Bytes of test files; at least 16 MiB. The folder needs a tenth more room. They are written for at most a
  /// sixth of Seconds, so there may be fewer.
  std::uint64_t TestBytes = std::uint64_t{1} << 30;
  /// Read these files (or all files in these folders) and write none; see FindProbeFiles.
  std::vector<std::string> ExistingFiles;
  int MostConcurrency = 128;       ///< the greatest N tried, >= 1
  std::uint64_t RequestBytes = 0;  ///< of the requests that N is tried with; 0: of the size found best
  unsigned Seed = 1;               ///< of the random order
  const std::atomic<bool>* Cancel = nullptr;  ///< ends it soon when it becomes true, on any rank
};

struct ProbeProgress
{
  double Fraction = 0;                               ///< 0 .. 1
  double SecondsLeft = 0;                            ///< as far as one can tell
  std::string Doing;                                 ///< "reading with 16 requests in flight"
  const std::vector<RateSample>* Samples = nullptr;  ///< so far; never null in calls
};

/// Called on rank 0, on the thread that called RunQuickProbe, every some seconds. Returning false cancels.
using ProbeProgressCallback = std::function<bool(const ProbeProgress&)>;

struct QuickProbeResult
{
  /// As far as it was measured. Its Concurrency is 0 where that was cut off before N* could be told, else it
  /// can be saved.
  StorageProfile Profile;
  RequestCost Alone;   ///< of one request at a time
  RequestCost AtBest;  ///< of one among N*
  bool Cancelled = false;
  bool CacheAnswered = false;      ///< the rates are those of this machine's memory
  bool OutOfTime = false;          ///< so that something was left out
  std::uint64_t RequestBytes = 0;  ///< of the requests that N was tried with; 0: none was
  double Seconds = 0;              ///< that it took
};

/// The bytes that must be free in DIR; 0 where existing files are read.
std::uint64_t RoomForQuickProbe(const QuickProbeOptions& options);

/// Collective; options but for Cancel alike on all ranks, the result too. N requests in flight are N threads,
/// spread over the ranks. Writes test files to `dir` and removes them, also when it throws or is cancelled
/// (not when the process is killed: they lie in a folder patchio_probe_HOST_PID). Sizes of requests first,
/// one at a time; then N = 1, 2, 4 .. in two passes, each in random order, and again near the peak; then
/// sizes of requests with N* in flight. Throws Error, the same on all ranks, when files cannot be written or
/// read.
QuickProbeResult RunQuickProbe(Communicator& comm, const std::string& dir, const QuickProbeOptions& options,
    const ProbeProgressCallback& progress = {});

}  // namespace patchio::probe

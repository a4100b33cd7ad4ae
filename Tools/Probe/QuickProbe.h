// Measures a storage in one or two minutes: its rate over the number of requests in flight, and the cost of
// requests of several sizes.
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

/// The fitted cost of a request of b bytes: T(b) = L + b / B.
struct RequestCost
{
  bool Known = false;     ///< L and B were fitted, to times of sizes that differ by a factor of 2 or more
  StorageModel Requests;  ///< L and B; default values if unknown
  std::uint64_t BlockBytes = 0;  ///< BlockBytesFor(Requests)
  double Residual = 0;           ///< median of |time / T - 1| over the sizes
};

/// Returns the size of requests that spend the share f = 0.9 of their time on the transfer of bytes: L B f /
/// (1 - f), rounded up to whole 64 KiB, between LeastBlockBytes and MostBlockBytes.
std::uint64_t BlockBytesFor(const StorageModel& requests);

/// Fits L >= 0 and B to the median times of the sizes, with relative errors and little weight on outliers. B
/// is very large if larger requests do not take longer. Ignores invalid times (not positive, or of 0 bytes).
RequestCost FitRequestCost(const std::vector<RequestTime>& times);

struct QuickProbeOptions
{
  /// Desired duration in seconds, >= 1. On a slow storage, whose requests take long, the probe takes longer:
  /// a measurement ends after three times its share of the time, the probe skips measurements that would take
  /// longer, and begins no measurement after one and a half times the duration.
  double Seconds = 80;
  /// Bytes of test files, at least 16 MiB. The folder needs a tenth more space. The files are smaller if a
  /// sixth of Seconds is too short for writing them.
  std::uint64_t TestBytes = std::uint64_t{1} << 30;
  /// Files, or folders of files, that the probe reads instead of test files; see FindProbeFiles().
  std::vector<std::string> ExistingFiles;
  int MostConcurrency = 128;       ///< the greatest N tried, >= 1
  std::uint64_t RequestBytes = 0;  ///< desired bytes of a request in the scan; 0: best size found, 1 to 4 MiB
  unsigned Seed = 1;               ///< seed of the random order
  const std::atomic<bool>* Cancel = nullptr;  ///< true on any rank ends the probe soon; may be null
};

struct ProbeProgress
{
  double Fraction = 0;                               ///< 0 .. 1
  double SecondsLeft = 0;                            ///< estimate
  std::string Activity;                              ///< "reading with 16 requests in flight"
  const std::vector<RateSample>* Samples = nullptr;  ///< the samples so far; never null in a callback
};

/// Receives the progress before the test files are written and before each measurement, on rank 0, on the
/// thread that has called RunQuickProbe(). Returns false to cancel the probe.
using ProbeProgressCallback = std::function<bool(const ProbeProgress&)>;

struct QuickProbeResult
{
  /// The measured profile. If the probe ended before N* was known, Concurrency is 0 and the profile must not
  /// be saved.
  StorageProfile Profile;
  RequestCost CostAlone;   ///< cost of a request with one request in flight
  RequestCost CostAtBest;  ///< cost of a request with N* requests in flight
  bool Cancelled = false;
  bool CacheAnswered = false;  ///< true: the data came from this machine's page cache, not from the storage
  bool OutOfTime = false;      ///< true: the probe skipped some measurements for lack of time
  std::uint64_t RequestBytes = 0;  ///< bytes of a request in the scan over N; 0: no scan took place
  double Seconds = 0;              ///< duration of the probe
};

/// Measures the storage of `dir`. Options other than Cancel must be the same on all ranks. All ranks return
/// the same rates and costs. N threads, divided among the ranks, keep N requests in flight. Unless the
/// options name existing files, writes test files to `dir` and removes the files, also after an error or a
/// cancellation. If the process is killed, the test files stay in a folder patchio_probe_HOST_PID. Measures
/// several sizes of single requests; then N = 1, 2, 4 .. in two passes in random order (on a slow storage,
/// the first pass in rising order), and again near the peak; then several sizes with N* requests in flight.
/// Throws Error, the same on all ranks, if files cannot be written or read. Collective: every rank of the
/// communicator calls it.
QuickProbeResult RunQuickProbe(Communicator& ranks, const std::string& dir, const QuickProbeOptions& options,
    const ProbeProgressCallback& progress = {});

}  // namespace patchio::probe

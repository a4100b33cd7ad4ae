// The estimation of NC, the load by other programs on a storage.
#pragma once

#include "Plan/ReadPlan.h"
#include "Tuning/Counters.h"
#include "Tuning/Mount.h"
#include "Tuning/StorageProfile.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchio {

/// F(N) of a storage, from its profile.
struct LoadCurve
{
  std::function<double(double)> Rate;  ///< F(N) in bytes per second for real N > 0
  double Most = 1;                     ///< greatest N that was measured
  double Best = 1;                     ///< N*
  double Residual = 0.05;              ///< relative deviation of F from the measurements at one N, >= 0
  double Noise = 0.05;                 ///< relative deviation of measurements at one N from each other, >= 0
  std::optional<StorageModel> CostOfRequest;  ///< cost of one request on the idle storage, if known
};

/// The rate of this reader's reads in an interval of time.
struct LoadWindow
{
  double InFlight = 0;  ///< N: mean number of own requests in flight
  double Rate = 0;      ///< own rate in bytes per second
};

/// The load by other programs that explains the rates of this reader.
struct InvertedLoad
{
  double Load = 0;        ///< median of the posterior distribution
  double Least = 0;       ///< 5 % quantile
  double Most = 0;        ///< 95 % quantile
  double Confidence = 0;  ///< 0..1, see InvertLoad()
  int Windows = 0;        ///< number of newest windows that the estimate uses
  bool Fits = false;      ///< false: no load explains the newest rate, or the arguments have no valid numbers
};

/// Estimates the load C by other programs from the rates of this reader. curve: F(N). windows: oldest first;
/// the estimate uses the newest 8. With N requests of this reader in flight, and all requests alike, its rate
/// is r = N / (N + C) F(N + C). The Bayesian estimate weighs each C >= 0 by how well C explains the rates of
/// all windows together, given the noise of the rates and the errors of the curve as a whole and from one N
/// to another. The result is broad if the rate hardly depends on C (as long as F is proportional to N), and
/// narrow if windows with different N agree. Ignores older windows that contradict the newest windows,
/// because the load has changed, and invalid windows (N or rate not positive and finite). Confidence is
/// max(0, 2 P - 1), P: probability that the load differs from Load by at most 2 or 25 %; times 0.8 if all
/// windows have about the same N.
InvertedLoad InvertLoad(const LoadCurve& curve, const std::vector<LoadWindow>& windows);

/// An estimate of NC, the number of requests that other programs keep in flight on a storage while PatchIO
/// reads from the storage.
struct LoadEstimate
{
  double Load = 0;        ///< NC: requests of other programs in flight, counted like PatchIO's own requests
  double Confidence = 0;  ///< 0: NC is unknown, and Load is 0; 1: NC is certain
  /// Origin in one line of plain words: "device sda: other programs read 120 MB/s of 400 MB/s".
  std::string Source;
};

/// The totals of this reader's reads since the previous sample, on a group of ranks.
struct OwnReadTotals
{
  std::uint64_t Bytes = 0;
  double InFlight = 0;         ///< mean number of requests in flight; 0: this reader did not read
  std::uint64_t Requests = 0;  ///< finished requests; 0: unknown
};

/// The reads of this reader since the previous sample, on all ranks and on this machine.
struct OwnReads
{
  OwnReadTotals AllRanks;
  std::optional<OwnReadTotals> ThisMachine;  ///< ranks on this machine; empty: all ranks
  /// Bytes that disks delivered to the ranks on this machine: the sum over these ranks of the increase of
  /// FetchedBytes() since the previous sample. Empty: unknown; the sensor then uses FetchedBytes() of its own
  /// process.
  std::optional<std::uint64_t> Fetched;
  /// False if N changed, or requests begun with another N may have been in flight. The rate then belongs to
  /// no single N, so the sensor uses only the counters.
  bool Steady = true;
};

/// Returns F(N) of a profile, or nothing if its fit is unknown.
std::optional<LoadCurve> CurveOf(const StorageProfile& profile);

/// Estimates the load by other programs on one mount, from successive windows of time. Each window lasts from
/// one sample to the next, tenths of a second to some seconds, with N nearly constant. Needs no privileges.
///
/// * Local disks: compares the requests in the device's queue with PatchIO's own. Rates alone would mislead,
///   because a disk may be unfair: of a sequential and a random reader, one may get almost nothing.
/// * NFS and Lustre: counts other processes of this machine in the client's counters, and infers other
///   machines from the rate.
/// * Other storages: infers the load from the rate, if F(N) is known (InvertLoad).
///
/// Counted loads take precedence over inferred loads; see CombineLoads(). Does not throw: counters that
/// cannot be read give "unknown", and Source says so. Not thread-safe.
class LoadSensor
{
public:
  /// Creates a sensor for `mount`. curve: F(N), if the storage has a profile. root: folder that contains
  /// proc, sys and dev.
  explicit LoadSensor(Mount mount, std::optional<LoadCurve> curve = {}, const std::string& root = "/");

  /// Replaces F(N), for example after the profile was created or changed.
  void SetCurve(std::optional<LoadCurve> curve) { this->Curve = std::move(curve); }
  /// Ends the window that the previous call began, and begins the next one. Returns the load in the window
  /// that ended; the first call, and a window of less than 0.02 s, give "unknown". own: the reads of this
  /// reader in the window. seconds: current time, on any monotonic clock.
  LoadEstimate Sample(const OwnReads& own, double seconds);
  /// Calls Sample() with the time of the steady clock.
  LoadEstimate Sample(const OwnReads& own);

  /// The kernel's counters at the end of a window.
  struct CounterValues
  {
    double Seconds = 0;
    std::optional<DiskCounters> Device;
    std::optional<ClientCounters> Client;
    std::optional<std::uint64_t> Fetched;  ///< bytes delivered to this process
  };

private:
  CounterValues ReadCounters(double seconds) const;
  /// Adds `window`, which ends at the time `seconds`, and infers the load from the windows of the last 30 s,
  /// at most 8. Gives "unknown" without F(N).
  LoadEstimate InferLoad(const LoadWindow& window, double seconds);

  Mount StorageMount;
  std::optional<LoadCurve> Curve;
  std::string Root;
  std::optional<Disk> Device;
  std::optional<CounterValues> Last;
  std::vector<LoadWindow> Windows;  ///< oldest first
  std::vector<double> WindowEnds;   ///< end of each window in seconds
};

/// Combines the load from counters (`counted`) with the load inferred from the rate (`inferred`). If only one
/// is known, returns this load. Agreement raises the confidence. If the loads disagree, returns `counted`
/// with less confidence, or "unknown" if the confidence of `counted` is below 0.5.
LoadEstimate CombineLoads(const LoadEstimate& counted, const LoadEstimate& inferred);

}  // namespace patchio

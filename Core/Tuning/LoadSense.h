// NC, the load that others put on a storage.
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

/// F(N) of a storage, as a profile knows it.
struct LoadCurve
{
  std::function<double(double)> Rate;  ///< F: bytes a second of all with N > 0 requests in flight, N real
  double Least = 1;                    ///< the range of N that was measured, > 0
  double Most = 1;
  double Best = 1;         ///< N*
  double Residual = 0.05;  ///< how far F lies from what was measured at one N, relative, >= 0
  double Noise = 0.05;     ///< how far measurements at one N lie from each other, relative, >= 0
  std::optional<StorageModel> Requests;  ///< what one request takes on the idle storage, if known
};

/// What we got for some time.
struct LoadWindow
{
  double InFlight = 0;  ///< N: own requests in flight, the mean
  double Rate = 0;      ///< own bytes a second
};

/// The load of others that explains own rates.
struct InvertedLoad
{
  double Load = 0;   ///< the median of what is likely
  double Least = 0;  ///< nine tenths of what is likely lies from here
  double Most = 0;   ///< to here
  double Sureness =
      0;  ///< 0..1: 2 P - 1 for the probability P that the load is within 2 or 25 % of Load; never below 0
  int Windows = 0;    ///< of how many windows, the newest ones
  bool Fits = false;  ///< false: no load explains the rates; the curve is of another storage or another time
};

/// With own N in flight beside C of others, all alike, we get r = N / (N + C) F(N + C). Every C >= 0 is
/// judged by how well it explains the rates of all windows together, given the noise of the rates and how
/// wrong the curve may be as a whole and from one N to another. The answer is thus broad where the rate says
/// little (as long as N + C stays where F is proportional to N, C makes no difference), and narrow where
/// windows of different N agree. Older windows that contradict the newest ones are left out: the load has
/// changed. Windows that make no sense (N or rate not above 0) are ignored. windows: oldest first; the newest
/// 8 are used.
InvertedLoad InvertLoad(const LoadCurve& curve, const std::vector<LoadWindow>& windows);

/// NC: how many requests others keep in flight on a storage while we read from it. Needs no special rights.
struct LoadEstimate
{
  double Load = 0;      ///< NC: requests of others in flight, counted as ours are
  double Sureness = 0;  ///< 0: unknown, and Load is 0; 1: sure
  std::string
      Source;  ///< where it is from, one line in plain words: "device sda: others read 120 MB/s of 400 MB/s"
};

/// What we have read since the sample before.
struct OwnShard
{
  std::uint64_t Bytes = 0;
  double InFlight = 0;         ///< requests in flight, the mean over the time; 0: did not read
  std::uint64_t Requests = 0;  ///< finished; 0: not known
};

struct OwnReads
{
  OwnShard All;                  ///< all ranks
  std::optional<OwnShard> Here;  ///< the ranks on this machine; none: all are here
  /// Bytes read on this machine that a disk delivered: FetchedBytes() of each rank, the difference to the
  /// sample before, added up. None: this process is the only one here, and asks itself.
  std::optional<std::uint64_t> Fetched;
  /// false: N changed, or requests of a greater N before were still coming in. Such a rate is of no N, and is
  /// not judged; counters are.
  bool Steady = true;
};

/// F(N) of a profile; none where the profile has no samples.
std::optional<LoadCurve> CurveOf(const StorageProfile& profile);

/// Watches one mount. It is asked about windows of time, one after another, each from one sample to the next:
/// tenths of a second to some seconds, N constant or nearly so.
///
/// * Local disks: the requests in the device's queue against our own. Rates alone would mislead, as the disk
///   need not share fairly: of two that read, one in order and one not, one may get next to nothing.
/// * NFS and Lustre: other processes of this machine by what the client counts, other machines by the rate.
/// * Everything else: by the rate alone, if the curve F(N) is known (InvertLoad).
///
/// What was counted goes before what was inferred; inferences that contradict each other give "unknown".
/// Nothing throws: what cannot be read is unknown, and Source says so.
class LoadSensor
{
public:
  /// curve: F(N), if there is a profile. root: the folder that holds proc, sys and dev.
  explicit LoadSensor(Mount mount, std::optional<LoadCurve> curve = {}, const std::string& root = "/");

  /// From now on another F(N), as profiles come and change.
  void UseCurve(std::optional<LoadCurve> curve) { this->Curve = std::move(curve); }
  /// Ends the window that the call before began, and begins the next. The first call only begins one, and
  /// returns "unknown". seconds: now, on any clock that does not jump.
  LoadEstimate Sample(const OwnReads& own, double seconds);
  /// The same, now.
  LoadEstimate Sample(const OwnReads& own);

  /// What the kernel says at the end of a window.
  struct Reading
  {
    double Seconds = 0;
    std::optional<DiskCounters> Device;
    std::optional<ClientCounters> Client;
    std::optional<std::uint64_t> Fetched;  ///< by this process
  };

private:
  Reading ReadCounters(double seconds) const;
  /// Remembers the window, and judges it with those before.
  LoadEstimate Infer(const LoadWindow& window, double seconds);

  Mount Where;
  std::optional<LoadCurve> Curve;
  std::string Root;
  std::optional<Disk> Device;
  std::optional<Reading> Last;
  std::vector<LoadWindow> Windows;  ///< oldest first
  std::vector<double> Ends;         ///< of the windows, seconds
};

/// One answer from what was counted (`counted`) and what the rate suggests (`inferred`).
LoadEstimate CrossChecked(const LoadEstimate& counted, const LoadEstimate& inferred);

}  // namespace patchio

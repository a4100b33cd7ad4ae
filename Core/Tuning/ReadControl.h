// Adapts the number of concurrent read tasks of all ranks together during a read.
#pragma once

#include "Base/Communicator.h"
#include "Base/Stopwatch.h"
#include "Io/Progress.h"
#include "Tuning/LoadSense.h"
#include "Tuning/ThreadController.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace patchio {

/// A change of the number of reads in flight, all ranks together.
struct ThreadChange
{
  double Seconds = 0;  ///< time since the read began
  int Threads = 0;
};

/// The observations of one window of a read, all ranks together.
struct ReadWindow
{
  double Seconds = 0;  ///< from the beginning of the read until the sum over the ranks was known
  double Rate = 0;     ///< bytes per second
  int Threads = 0;     ///< concurrent read tasks
  double Load = 0;     ///< NC as last reported on rank 0, see ReportLoad()
  /// PatchIO's own reads since the previous window.
  OwnReads Reads;
};

struct ReadControlOptions
{
  int MostThreadsOfRank = 256;  ///< greatest number of threads of a rank
  double FirstWindow = 1;       ///< seconds until the first window opens; shorter reads are not adapted
  /// True if this rank runs on rank 0's machine, whose disks the sensor observes.
  bool OnMachineOfRankZero = true;
};

/// Connects read tasks with a ThreadController. Each rank measures its reads in a window of time. A
/// nonblocking sum over the ranks combines the windows. All ranks then draw the same conclusion, because
/// their controllers are in the same state. Reads that end before the first window keep their initial number
/// of threads.
///
/// Ranks that have finished their reads take part until the last rank has finished. The controller learns
/// nothing during that time, because the remaining reads keep fewer threads busy than it requests. Not
/// thread-safe.
class ReadControl
{
public:
  /// Begins the control of a read. `controller` must be in the same state on all ranks. `ranks` and
  /// `controller` must outlive this object. Not collective.
  ReadControl(Communicator& ranks, ThreadController& controller, const ReadControlOptions& options);

  /// Returns the limit of concurrent read tasks on this rank.
  int Threads() const { return this->OwnThreads; }
  /// Returns the upper bound of Threads().
  int MostThreads() const { return this->Options.MostThreadsOfRank; }
  /// Observes the meter, and adapts the number of threads. Call this method many times per second on the
  /// waiting thread during the read. Not collective; does not block.
  void Update(const ReadMeter& meter);
  /// Replaces Update() after this rank has finished its reads or stopped: takes part in the windows of the
  /// other ranks. Returns true once all ranks have finished. Not collective; does not block.
  bool ServeOtherRanks();
  /// Serves the other ranks until all ranks have finished. Call this method once after the read, successful
  /// or not. Afterwards Changes() contains the changes up to the last byte of the last rank. Collective:
  /// every rank of the communicator calls it.
  void Finish();

  /// Receives each window in which all ranks read, on all ranks alike. Returns the new limit for the threads
  /// of all ranks together. May be null.
  std::function<int(const ReadWindow&)> OnWindow;
  /// Sets NC on rank 0; all ranks get NC with the next window.
  void ReportLoad(double load) { this->Load = load; }
  /// Returns the numbers of reads in flight, all ranks together, and when they changed; the first entry is
  /// the initial number.
  const std::vector<ThreadChange>& Changes() const { return this->History; }
  /// Returns the mean number of threads of this rank, from the beginning of its reads to its last request;
  /// the initial number if no time passed between these.
  double MeanThreads() const;
  /// Returns the windows that the controller has observed.
  const std::vector<ReadWindow>& Windows() const { return this->ObservedWindows; }

private:
  bool IsWindowComplete(const ReadMeter& meter) const;
  void SendWindow(const ReadMeter& meter);
  void ApplySum(const std::vector<double>& sum);
  void DivideThreads(int threads, int rankCount);
  void DropLateChanges();

  /// The values of the meter at a moment of the read.
  struct MeterValues
  {
    double Seconds = 0, Busy = 0, Work = 0;
    std::uint64_t Bytes = 0, Requests = 0;
  };
  MeterValues ValuesOf(const ReadMeter& meter) const;

  const ReadControlOptions Options;
  Communicator& Ranks;
  ThreadController& Controller;
  int OwnThreads = 1;  ///< see Threads()
  Stopwatch Watch;     ///< started with the read
  bool IsOpen = false, IsSending = false;
  bool AllFinished = false;  ///< true: all ranks have finished their reads
  double OpenTime;           ///< time in seconds before which no window opens
  /// Number of requests that must end before the next window opens, because these requests began with another
  /// number of threads.
  std::uint64_t SettlingRequests = 0;
  MeterValues WindowBegin;  ///< beginning of the window
  MeterValues PreviousEnd;  ///< end of the previous window
  std::optional<std::uint64_t> PreviousFetched = FetchedBytes();
  double Load = 0;
  int ThreadLimit;  ///< limit on the threads of all ranks together
  std::vector<ThreadChange> History;
  std::vector<ThreadChange> OwnHistory;  ///< changes of the number of threads of this rank
  std::optional<double> FirstUpdate;     ///< time in seconds
  double LastRead = 0;                   ///< time in seconds at which a finished request was last seen
  std::uint64_t RequestsSeen = 0;
  std::vector<ReadWindow> ObservedWindows;
};

}  // namespace patchio

// One number of threads for all ranks, adapted while they read.
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

/// How many reads are in flight, all ranks together, from a moment on.
struct ThreadChange
{
  double Seconds = 0;  ///< since the read began
  int Threads = 0;
};

/// What one window of a read showed, all ranks together.
struct ReadWindow
{
  double Seconds = 0;  ///< when it was known, since the read began
  double Rate = 0;     ///< bytes a second
  int Threads = 0;     ///< read tasks at once
  double Load = 0;     ///< NC as rank 0 last knew it, see ReportLoad()
  /// Since the window before ended.
  OwnReads Own;
};

struct ReadControlOptions
{
  int MostOfRank = 256;    ///< threads
  double FirstWindow = 1;  ///< seconds from the beginning of the read; what ends before is not adapted
  bool OnMachineOfRankZero = true;  ///< this rank; disks are watched there
};

/// The link between read tasks and a ThreadController. Each rank measures what it reads in a window of time;
/// a sum that no task waits for brings the windows of all ranks together; all ranks then draw the same
/// conclusion from it, as they all have the same controller. Reads that end before the first window keep the
/// number they began with.
///
/// Ranks that have read all they were to take part until the last has; the controller learns nothing then, as
/// what is left to read keeps fewer threads busy than it asks for.
class ReadControl
{
public:
  /// controller: in the same state on all ranks. Keeps references.
  ReadControl(Communicator& ranks, ThreadController& controller, const ReadControlOptions& options);

  /// The concurrency limit of this rank: read tasks at once.
  int Threads() const { return this->Mine; }
  /// What Threads() never exceeds.
  int MostThreads() const { return this->Options.MostOfRank; }
  /// Called on the calling thread many times a second.
  void Step(const ReadMeter& meter);
  /// In place of Step(), once this rank has read all that it was to, or stopped: takes part in the windows of
  /// the others. True once all ranks have come here. Not collective, and never waits.
  bool Serve();
  /// Collective, once, after the read, whatever its outcome: serves the other ranks until all have read.
  /// Changes() are then those up to the last byte of the last rank.
  void Finish();

  /// Called, on all ranks alike, with each window. What it gives is the limit for all threads together from
  /// then on.
  std::function<int(const ReadWindow&)> OnWindow;
  /// On rank 0: NC, for all ranks with the next window.
  void ReportLoad(double load) { this->Load = load; }
  /// From the beginning on; at least one.
  const std::vector<ThreadChange>& Changes() const { return this->History; }
  /// Threads of this rank, the mean over the time from when it began to read to its last request.
  double MeanThreads() const;
  /// Those that were learnt from.
  const std::vector<ReadWindow>& Windows() const { return this->Learnt; }

private:
  bool WindowIsComplete(const ReadMeter& meter) const;
  void SendWindow(const ReadMeter& meter);
  void Take(const std::vector<double>& sum);
  void Divide(int threads, int ranks);
  void ForgetWhatCameTooLate();

  /// What the meter said at a moment of the read.
  struct Mark
  {
    double Seconds = 0, Busy = 0, Work = 0;
    std::uint64_t Bytes = 0, Requests = 0;
  };
  Mark Now(const ReadMeter& meter) const;

  const ReadControlOptions Options;
  Communicator& Ranks;
  ThreadController& Controller;
  int Mine = 1;     ///< see Threads()
  Stopwatch Watch;  ///< from the beginning of the read
  bool Open = false, Sending = false;
  bool AllHaveRead = false;  ///< as Serve() has seen
  double OpensAt;            ///< seconds, of the next window
  /// Requests that must end before the next window opens: those that were begun while the number was another.
  std::uint64_t Settling = 0;
  Mark Opened;  ///< the window
  Mark Sent;    ///< the window before
  std::optional<std::uint64_t> FetchedThen = FetchedBytes();
  double Load = 0;
  int Limit;  ///< for the threads of all ranks
  std::vector<ThreadChange> History;
  std::vector<ThreadChange> OwnHistory;  ///< threads of this rank
  std::optional<double> FirstStep;       ///< seconds
  double LastRead = 0;                   ///< seconds: when requests were last seen to have ended
  std::uint64_t RequestsSeen = 0;
  std::vector<ReadWindow> Learnt;
};

}  // namespace patchio

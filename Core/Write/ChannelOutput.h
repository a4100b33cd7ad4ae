// Output of steps to the channels of a configuration, by the caller's thread or by one that writes while the
// next step is computed.
#pragma once

#include "Base/Communicator.h"
#include "Write/OutputConfig.h"
#include "Write/StepWriter.h"
#include "Write/Target.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace patchio::output {

/// Carries out jobs in the order of their arrival, on a thread of its own. The memory of pending jobs has a
/// limit, like the water mark of B. Yang et al. (2022): adding more waits. One thread at a time may add jobs;
/// the other methods are thread-safe.
class WritingThread
{
public:
  /// `most`: limit on the bytes of all jobs. `waitSeconds`: the longest wait of any call. `later`: false if
  /// Add() is to carry out its job at once, on the calling thread; then no call waits.
  WritingThread(std::uint64_t most, double waitSeconds, bool later = true)
      : Most(most), WaitSeconds(waitSeconds), Later(later)
  {
  }
  ~WritingThread() { this->Stop(); }
  WritingThread(const WritingThread&) = delete;
  WritingThread& operator=(const WritingThread&) = delete;

  bool IsLater() const { return this->Later; }
  /// Waits until there is room for a job of `bytes` bytes, at most `most`, in addition to the pending ones.
  /// Throws Error after the longest wait.
  void MakeRoom(std::uint64_t bytes);
  /// Adds a job that holds `bytes` bytes until it has run. Its exception is kept for TakeFaults().
  void Add(std::uint64_t bytes, std::function<void()> job);
  /// Waits until all jobs have run. Throws Error after the longest wait.
  void Finish();
  /// Waits until all jobs have run, however long. For jobs that use memory of the caller.
  void FinishInAnyTime();
  /// Waits for the running job, and drops the jobs after it. Nothing may be added after it.
  void Stop();
  /// Returns the errors of jobs since the last call, one per line; empty: none.
  std::string TakeFaults();
  /// The largest number of bytes that pending jobs held at a time.
  std::uint64_t Peak() const { return this->MostUsed; }

private:
  struct Job
  {
    std::uint64_t Bytes = 0;
    std::function<void()> Work;
  };

  void Run();
  void Keep(const std::string& fault);
  void WaitUntil(const std::function<bool()>& holds);

  const std::uint64_t Most;
  const double WaitSeconds;
  const bool Later;
  std::mutex Lock;
  std::condition_variable Changed;
  std::deque<Job> Jobs;  ///< the first one is running
  std::uint64_t Used = 0, MostUsed = 0;
  std::string Faults;
  bool Ends = false;
  std::thread Worker;  ///< started by the first job
};

/// The part of a step that goes to one channel.
struct StepPart
{
  std::size_t Channel = 0;
  PendingStep Writes{};
  container::HeldValues Values{};
  std::string Fault{};  ///< reason why this rank could not prepare the part; empty: it is prepared
};

/// The form in which a step's values are needed.
enum class ValueForm
{
  Copies,  ///< all at once, copied: the caller's values may change
  Whole,   ///< all at once, valid until the call returns
  Batches  ///< in any number of batches, each valid until the next one is taken; see HeldValues::Next
};

/// The targets of all channels, and the WritingThread that writes to them. Output prepares the parts of a
/// simulation's steps; ParaView's writer gives steps that catalogs describe. One thread must call all methods
/// but Await().
class ChannelOutput
{
public:
  /// Makes the targets. Collective: every rank of `ranks`, which must outlive this object, calls it. `later`:
  /// a thread of each rank writes; these threads communicate without MPI.
  ChannelOutput(const OutputConfig& config, Communicator& ranks, bool later);
  /// Makes an output for the formats that need no declarations by a simulation: containers and GrADS files,
  /// in the modes `direct` and `thread`. Throws Error, the same on all ranks, for other configurations.
  ChannelOutput(const OutputConfig& config, Communicator& ranks);
  /// Waits for the write in progress. Steps after it are lost, unless Finish() was called.
  ~ChannelOutput();
  ChannelOutput(const ChannelOutput&) = delete;
  ChannelOutput& operator=(const ChannelOutput&) = delete;

  const std::vector<Channel>& Channels() const { return this->Config.Channels; }
  Target& TargetOf(std::size_t channel) const { return *this->Sinks[channel].To; }
  WritingThread& Thread() const { return *this->Writer; }
  /// Returns the channels that write the step.
  std::vector<std::size_t> ChannelsFor(std::int64_t step) const;

  /// Writes a step to a channel. Collective: every rank calls it. `bytes`: size of this rank's values. `take`
  /// returns the values. Throws Error, the same on all ranks, for faults of this step and of earlier steps
  /// that were not thrown yet. A fault of an earlier step does not prevent the writing of this one.
  void Write(std::size_t channel, container::StepToWrite step, std::uint64_t bytes,
      const std::function<container::HeldValues(ValueForm form)>& take);
  /// Returns when all steps are on the storage. Collective: every rank calls it. Throws like Write().
  void Finish();
  /// Does the same for this rank alone, without MPI, which may have been finalized. Returns the text that
  /// Write() would throw.
  std::string FinishHere();

  /// Writes the parts of a step, which hold `bytes` bytes. Collective over the writing ranks. A channel that
  /// fails does not affect the other channels. The faults are kept for WritingThread::TakeFaults().
  void WriteParts(std::int64_t step, std::vector<StepPart> parts, std::uint64_t bytes);
  /// Informs the targets of channels that they lose a step. Not collective, but all ranks call it.
  void Lose(std::int64_t step, const std::vector<std::size_t>& channels);
  /// Writes the steps that the targets have gathered. Collective over the writing ranks.
  void Flush();
  /// Completes the files, after all jobs of the thread. Nothing may be written after it.
  void Close() { this->Sinks.clear(); }

  /// Waits until this process has tried to write all its steps in the folder or file. Call it before reading
  /// there. `path`: the folder or file, or a file in the folder. Not collective; thread-safe.
  static void Await(const std::string& path);

private:
  struct Sink
  {
    std::unique_ptr<Target> To;
    int Threads = 1;
  };

  Communicator& Writers() const { return this->Aside ? *this->Aside : this->Ranks; }
  void WritePart(std::int64_t step, StepPart& part);
  void ReportFaults();

  const OutputConfig Config;
  Communicator& Ranks;
  std::unique_ptr<Communicator> Aside;  ///< for writing threads; null: the caller's thread writes
  std::vector<Sink> Sinks;              ///< one per channel
  std::shared_ptr<WritingThread> Writer;
};

/// Throws Error with all faults, one per line, unless all are empty.
void ThrowFaults(std::vector<std::string> faults);

}  // namespace patchio::output

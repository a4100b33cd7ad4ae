// Output of steps to the channels of a configuration, by the caller's thread or by a thread that writes while
// the simulation computes the next step.
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

/// A thread that executes jobs in the order of their arrival. The memory of pending jobs has a limit, like
/// the water mark of B. Yang et al., "Input/Output analysis and optimization for GRAPES regional model"
/// (2022): the caller waits until a further job fits. One thread at a time may add jobs; the other methods
/// are thread-safe.
class WritingThread
{
public:
  /// `most`: limit on the bytes of all jobs. `waitSeconds`: the longest wait of any call, in seconds.
  /// `asynchronous`: false if Add() executes its job at once, on the calling thread; then no call waits.
  WritingThread(std::uint64_t most, double waitSeconds, bool asynchronous = true)
      : Most(most), WaitSeconds(waitSeconds), Asynchronous(asynchronous)
  {
  }
  ~WritingThread() { this->Stop(); }
  WritingThread(const WritingThread&) = delete;
  WritingThread& operator=(const WritingThread&) = delete;

  bool IsAsynchronous() const { return this->Asynchronous; }
  /// Waits until a job of `bytes` bytes fits into the memory limit together with the pending jobs. `bytes`
  /// must not exceed the limit. Throws Error after the longest wait.
  void MakeRoom(std::uint64_t bytes);
  /// Adds a job that holds `bytes` bytes until the job has run. TakeFaults() returns the text of its
  /// exception.
  void Add(std::uint64_t bytes, std::function<void()> job);
  /// Waits until all jobs have run. Throws Error after the longest wait.
  void Finish();
  /// Waits until all jobs have run, without a limit on the wait. For jobs that use memory of the caller.
  void FinishInAnyTime();
  /// Waits for the running job, and drops the jobs after it. Do not call Add() afterwards.
  void Stop();
  /// Returns the errors of jobs since the last call, one per line; empty: none.
  std::string TakeFaults();
  /// The largest number of bytes that pending jobs held at any time.
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
  const bool Asynchronous;
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
  std::string Fault{};  ///< reason why this rank could not prepare the part; empty: the part is prepared
};

/// The form in which a target needs the values of a step.
enum class ValueForm
{
  Copies,  ///< all at once, copied, because the caller's values may change
  Whole,   ///< all at once, valid until the call returns
  Batches  ///< in any number of batches, each valid until the next batch is taken; see HeldValues::Next
};

/// The targets of all channels, and the WritingThread that writes to them. Output prepares the parts of a
/// simulation's steps; ParaView's writer passes steps that catalogs describe. One thread must call all
/// methods except Await().
class ChannelOutput
{
public:
  /// Makes the targets. `ranks` must outlive this object. `asynchronous`: true if a thread of each rank
  /// writes; these threads communicate without MPI. Collective: every rank of `ranks` calls it.
  ChannelOutput(const OutputConfig& config, Communicator& ranks, bool asynchronous);
  /// Makes an output for the formats that need no declarations by a simulation: containers and GrADS files,
  /// in the modes `direct` and `thread`. Throws Error, the same on all ranks, for other configurations.
  /// Collective: every rank of `ranks` calls it.
  ChannelOutput(const OutputConfig& config, Communicator& ranks);
  /// Waits for the write in progress. Later steps are lost, unless Finish() was called.
  ~ChannelOutput();
  ChannelOutput(const ChannelOutput&) = delete;
  ChannelOutput& operator=(const ChannelOutput&) = delete;

  const std::vector<Channel>& Channels() const { return this->Config.Channels; }
  Target& TargetOf(std::size_t channel) const { return *this->Sinks[channel].To; }
  WritingThread& Thread() const { return *this->Writer; }
  /// Returns the channels that write the step.
  std::vector<std::size_t> ChannelsFor(std::int64_t step) const;

  /// Writes a step to a channel. `bytes`: size of this rank's values. `take` returns the values. Throws
  /// Error, the same on all ranks, for faults of this step, and for faults of earlier steps that were not
  /// thrown yet. Writes this step even after a fault of an earlier step. Collective: every rank calls it.
  void Write(std::size_t channel, container::StepToWrite step, std::uint64_t bytes,
      const std::function<container::HeldValues(ValueForm form)>& take);
  /// Returns when all steps are on the storage. Throws like Write(). Collective: every rank calls it.
  void Finish();
  /// Waits like Finish(), but for this rank alone, without MPI, which may have been finalized. Returns the
  /// text that Write() would throw. Not collective.
  std::string FinishHere();

  /// Writes the parts of a step, which hold `bytes` bytes. A channel that fails does not affect the other
  /// channels. WritingThread::TakeFaults() returns the faults. Collective: every writing rank calls it.
  void WriteParts(std::int64_t step, std::vector<StepPart> parts, std::uint64_t bytes);
  /// Informs the targets of channels that a step is lost. Not collective, but all ranks call it.
  void Lose(std::int64_t step, const std::vector<std::size_t>& channels);
  /// Writes the steps that the targets have gathered. Collective: every writing rank calls it.
  void Flush();
  /// Completes the files. Call it after all jobs of the thread; do not write steps afterwards.
  void Close() { this->Sinks.clear(); }

  /// Waits until this process has tried to write all its steps in the folder or file, so that they can be
  /// read. `path`: the folder or file, or a file in the folder. Not collective. Thread-safe.
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
  std::unique_ptr<Communicator> Aside;  ///< communicator of writing threads; null: the caller's thread writes
  std::vector<Sink> Sinks;              ///< one per channel
  std::shared_ptr<WritingThread> Writer;
};

/// Throws Error with all faults, one per line, unless all are empty.
void ThrowFaults(std::vector<std::string> faults);

}  // namespace patchio::output

// Writes steps to the channels of a configuration, on the caller's thread or on a thread that writes while
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

/// A thread that executes jobs in the order of their arrival. The memory of the pending jobs has a limit, as
/// in B. Yang et al., "Input/Output analysis and optimization for GRAPES regional model" (2022):
/// WaitForMemory() waits until a further job fits. One thread at a time may call Add(), Stop() and
/// PeakMemory(); the other methods are thread-safe.
class WritingThread
{
public:
  /// `memoryLimit`: limit on the bytes of all pending jobs. `waitSeconds`: the longest wait of
  /// WaitForMemory() and Finish(), in seconds. `asynchronous`: false if Add() runs its job at once, on the
  /// calling thread; then no call waits.
  WritingThread(std::uint64_t memoryLimit, double waitSeconds, bool asynchronous = true)
      : MemoryLimit(memoryLimit), WaitSeconds(waitSeconds), Asynchronous(asynchronous)
  {
  }
  ~WritingThread() { this->Stop(); }
  WritingThread(const WritingThread&) = delete;
  WritingThread& operator=(const WritingThread&) = delete;

  bool IsAsynchronous() const { return this->Asynchronous; }
  /// Waits until a job of `bytes` bytes fits into the memory limit together with the pending jobs. `bytes`
  /// must not exceed the limit. Throws Error after the longest wait.
  void WaitForMemory(std::uint64_t bytes);
  /// Adds a job, which holds `bytes` bytes of memory until its end. Runs the job at once if the system does
  /// not start the thread: without the job of this rank, the jobs of other ranks would wait. If the job
  /// throws an exception, TakeFaults() returns the message of the exception.
  void Add(std::uint64_t bytes, std::function<void()> job);
  /// Waits until all jobs have run. Throws Error after the longest wait.
  void Finish();
  /// Waits until all jobs have run, without a time limit. Call this method if jobs use memory of the caller.
  void FinishWithoutLimit();
  /// Waits for the running job, and drops all later jobs. Do not call Add() afterwards.
  void Stop();
  /// Returns the errors of the jobs since the last call, one per line; an empty text if no job has failed.
  std::string TakeFaults();
  /// Returns the largest number of bytes that the pending jobs have held at any time.
  std::uint64_t PeakMemory() const { return this->PeakBytes; }

private:
  struct Job
  {
    std::uint64_t Bytes = 0;
    std::function<void()> Work;
  };

  void Run();
  void WaitUntil(const std::function<bool()>& condition);

  const std::uint64_t MemoryLimit;
  const double WaitSeconds;
  const bool Asynchronous;
  std::mutex Lock;
  std::condition_variable Changed;
  std::deque<Job> Jobs;  ///< pending jobs; the first job is running
  std::uint64_t UsedBytes = 0, PeakBytes = 0;
  std::string Faults;
  bool Stopping = false;
  std::thread Worker;  ///< started by the first job
};

/// The part of a step that goes to one channel.
struct StepPart
{
  std::size_t Channel = 0;  ///< index of the channel
  PendingStep Write{};
  container::HeldValues Values{};
  std::string Fault{};  ///< reason why this rank could not prepare the part; empty: no fault
};

/// The form in which ChannelOutput::Write() needs the values of a step.
enum class ValueForm
{
  Copies,  ///< all values at once, copied, because the caller's values may change
  Whole,   ///< all values at once, valid until ChannelOutput::Write() returns
  Batches  ///< any number of batches, each valid until the next call of HeldValues::Next
};

/// The targets of all channels, and the WritingThread that writes to the targets. Output passes prepared
/// parts of a simulation's steps to WriteParts(); ParaView's writer passes steps that catalogs describe to
/// Write(). One thread must call all methods except WaitForWrites().
class ChannelOutput
{
public:
  /// Makes the targets. `ranks` must outlive this object. `asynchronous`: true if a separate thread of each
  /// rank writes; these threads communicate through sockets. Throws Error like MakeSocketCommunicator().
  /// Collective: every rank of `ranks` calls it.
  ChannelOutput(const OutputConfig& config, Communicator& ranks, bool asynchronous);
  /// Makes an output for the formats that need no declarations of a simulation (containers and GrADS files),
  /// in the modes `direct` and `thread`. Throws Error, the same on all ranks, for other configurations, and
  /// like CheckPaths() and MakeSocketCommunicator(). Collective: every rank of `ranks` calls it.
  ChannelOutput(const OutputConfig& config, Communicator& ranks);
  /// Waits for the write in progress. Pending steps after the write in progress are lost, unless Finish() has
  /// returned.
  ~ChannelOutput();
  ChannelOutput(const ChannelOutput&) = delete;
  ChannelOutput& operator=(const ChannelOutput&) = delete;

  const std::vector<Channel>& Channels() const { return this->Config.Channels; }
  Target& TargetOf(std::size_t channel) const { return *this->Sinks[channel].Destination; }
  WritingThread& Thread() const { return *this->Writer; }
  /// Returns the indices of the channels that write the step.
  std::vector<std::size_t> ChannelsFor(std::int64_t step) const;

  /// Writes a step to a channel. `bytes`: size of this rank's values. getValues(form) returns the values in
  /// the form `form`. Throws Error, the same on all ranks, if the step could not be prepared and will not be
  /// written; ThrowNewFaults() throws faults of the write. Collective: every rank of the communicator calls
  /// it.
  void Write(std::size_t channel, container::StepToWrite step, std::uint64_t bytes,
      const std::function<container::HeldValues(ValueForm form)>& getValues);
  /// Throws Error, the same on all ranks, with the known faults of writes that were not thrown yet. A fault
  /// in a separate thread may become known only in a later call. Collective: every rank of the communicator
  /// calls it.
  void ThrowNewFaults();
  /// Waits until all steps are written, except for steps that targets gather; see Flush(). Throws Error like
  /// ThrowNewFaults(), and after OutputConfig::WaitSeconds. Collective: every rank of the communicator calls
  /// it.
  void Finish();
  /// Waits like Finish(), but only for the writes of this rank, and without MPI, so that MPI may have been
  /// finalized. Returns the message of the Error that Finish() would throw, or an empty text. Not collective.
  std::string FinishLocally();

  /// Adds to Thread() a job that writes the parts of a step. The parts hold `bytes` bytes of memory. A
  /// fault of a channel does not affect the other channels. WritingThread::TakeFaults() returns the faults.
  /// Collective: every writing rank calls it.
  void WriteParts(std::int64_t step, std::vector<StepPart> parts, std::uint64_t bytes);
  /// Adds to Thread() a job that informs the targets of `channels` that a step is lost. Not collective, but
  /// all ranks must call it.
  void MarkLost(std::int64_t step, const std::vector<std::size_t>& channels);
  /// Adds to Thread() a job that writes the steps that the targets have gathered. Collective: every writing
  /// rank calls it.
  void Flush();
  /// Destroys the targets, and so closes the files and unlocks the containers. Call this method after all
  /// jobs of the thread. Do not write steps afterwards.
  void Close() { this->Sinks.clear(); }

  /// Waits until this process has tried to write all its steps to `path`, so that the steps can be read, or
  /// until a wait has taken OutputConfig::WaitSeconds. `path`: path of a channel, or of a file in the folder
  /// of a channel. Not collective. Thread-safe.
  static void WaitForWrites(const std::string& path);

private:
  struct Sink
  {
    std::unique_ptr<Target> Destination;
    int Threads = 1;
  };

  Communicator& WritingRanks() const { return this->ThreadRanks ? *this->ThreadRanks : this->Ranks; }
  void WritePart(std::int64_t step, StepPart& part);

  const OutputConfig Config;
  Communicator& Ranks;
  /// Communicator of the writing threads. Null: the callers' threads write.
  std::unique_ptr<Communicator> ThreadRanks;
  std::vector<Sink> Sinks;  ///< target and threads of each channel
  std::shared_ptr<WritingThread> Writer;
};

/// Throws Error with all faults that are not empty, one per line. Does nothing if all faults are empty.
void ThrowFaults(std::vector<std::string> faults);

}  // namespace patchio::output

// The thread of a rank that writes while the simulation computes.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace patchio::output {

/// Carries out jobs in the order of their arrival, on a thread of its own. The memory of pending jobs has a
/// limit, like the water mark of B. Yang et al. (2022): adding more waits. One thread at a time may call the
/// methods.
class WritingThread
{
public:
  /// `most`: limit on the bytes of all jobs. `waitSeconds`: the longest wait of any call.
  WritingThread(std::uint64_t most, double waitSeconds) : Most(most), WaitSeconds(waitSeconds) {}
  /// Waits for the running job, and drops the jobs after it.
  ~WritingThread();
  WritingThread(const WritingThread&) = delete;
  WritingThread& operator=(const WritingThread&) = delete;

  /// Waits until there is room for a job of `bytes` bytes, at most `most`, in addition to the pending ones.
  /// Throws Error after the longest wait.
  void MakeRoom(std::uint64_t bytes);
  /// Adds a job that holds `bytes` bytes until it has run. Its exception is kept for TakeFaults().
  void Add(std::uint64_t bytes, std::function<void()> job);
  /// Waits until all jobs have run. Throws Error after the longest wait.
  void Finish();
  /// Waits until all jobs have run, however long. For jobs that use memory of the caller.
  void FinishInAnyTime();
  /// Returns the errors of jobs since the last call, one per line; empty: none.
  std::string TakeFaults();
  /// The largest number of bytes that jobs held at a time.
  std::uint64_t Peak() const { return this->MostUsed; }

private:
  struct Job
  {
    std::uint64_t Bytes = 0;
    std::function<void()> Work;
  };

  void Run();
  void WaitUntil(const std::function<bool()>& holds);

  const std::uint64_t Most;
  const double WaitSeconds;
  std::mutex Lock;
  std::condition_variable Changed;
  std::deque<Job> Jobs;  ///< the first one is running
  std::uint64_t Used = 0, MostUsed = 0;
  std::string Faults;
  bool Ends = false;
  std::thread Worker;  ///< started by the first job
};

}  // namespace patchio::output

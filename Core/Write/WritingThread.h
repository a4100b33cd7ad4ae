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

/// Carries out jobs one after another, in their order. The memory of jobs that wait or are at work has a
/// limit, the water mark of the GRAPES I/O framework: who adds more waits. For one thread that adds.
class WritingThread
{
public:
  /// most: bytes of all jobs. waitSeconds: the longest wait of any call.
  WritingThread(std::uint64_t most, double waitSeconds) : Most(most), WaitSeconds(waitSeconds) {}
  /// Waits for the job at work; those that wait are not carried out.
  ~WritingThread();
  WritingThread(const WritingThread&) = delete;
  WritingThread& operator=(const WritingThread&) = delete;

  /// Returns when there is room for a job of so many bytes, at most `most`, beside the others. Throws Error
  /// after the longest wait.
  void MakeRoom(std::uint64_t bytes);
  /// A job that keeps so many bytes until it has been carried out. What it throws is kept for TakeFaults().
  void Add(std::uint64_t bytes, std::function<void()> job);
  /// Returns when all jobs have been carried out. Throws Error after the longest wait.
  void Finish();
  /// The same without a longest wait: for jobs that use memory of who added them.
  void FinishInAnyTime();
  /// What jobs have thrown since the last call, a line each; empty: nothing.
  std::string TakeFaults();
  /// The most bytes that jobs had together.
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
  std::deque<Job> Jobs;  ///< the first one is at work
  std::uint64_t Used = 0, MostUsed = 0;
  std::string Faults;
  bool Ends = false;
  std::thread Worker;  ///< begins with the first job
};

}  // namespace patchio::output

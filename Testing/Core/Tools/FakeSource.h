// A storage in memory with given behaviour: latency, a rate F(N) that depends on the requests in flight, and
// faults. Tests of executors and of thread control use it, because it has no noise like a disk.
#pragma once

#include "Io/Source.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <vector>

namespace patchio {

struct FakeBehaviour
{
  std::chrono::microseconds Latency{0};  ///< least duration of a request
  /// F(N): bytes per second of the whole storage with N requests in flight; empty: unlimited.
  std::function<double(int)> Rate;
  std::set<int> FailingFiles;  ///< files whose reads fail
};

class FakeSource : public Source
{
public:
  FakeSource(std::vector<std::vector<std::byte>> files, FakeBehaviour behaviour);
  std::shared_ptr<File> Open(int file) override;
  /// Returns the greatest number of requests that were in flight at once.
  int PeakInFlight() const { return this->Peak; }

private:
  class MemoryFile;
  void Wait(std::size_t bytes);

  std::vector<std::vector<std::byte>> Files;
  FakeBehaviour Behaviour;
  std::atomic<int> InFlight{0};
  std::atomic<int> Peak{0};
};

}  // namespace patchio

// Threads that wait for work and are used again.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace patchio {

/// Each piece of work has a thread of its own from its beginning to its end, however many there are and
/// whether they compute or wait for storage: what hangs keeps nothing else from starting. Thread-safe.
class ThreadPool
{
public:
  /// The one of this process. When the process exits, it first waits until all work has ended.
  static ThreadPool& OfProcess();

  ThreadPool() = default;
  /// Waits until all work has ended.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Runs `work`, which must not throw, at once, and destroys it on the same thread. False when the system
  /// grants no thread for it.
  bool Start(std::function<void()> work);

private:
  void Serve(std::function<void()> work);

  std::mutex Mutex;
  std::condition_variable Change;
  std::deque<std::function<void()>> Waiting;  ///< never more than there are idle threads
  std::size_t Idle = 0;
  bool Ending = false;
  std::vector<std::thread> Threads;
};

}  // namespace patchio

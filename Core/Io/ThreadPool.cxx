#include "Io/ThreadPool.h"

#include <exception>
#include <utility>

namespace patchio {

ThreadPool& ThreadPool::OfProcess()
{
  static ThreadPool pool;
  return pool;
}

ThreadPool::~ThreadPool()
{
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Ending = true;
    this->Change.notify_all();
  }
  for (std::thread& thread : this->Threads) {
    thread.join();
  }
}

bool ThreadPool::Start(std::function<void()> work)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  if (this->Waiting.size() < this->Idle) {
    this->Waiting.push_back(std::move(work));
    this->Change.notify_one();
    return true;
  }
  try {
    this->Threads.emplace_back(&ThreadPool::Serve, this, std::move(work));
  } catch (const std::exception&) {  // of a limit on threads or memory
    return false;
  }
  return true;
}

void ThreadPool::Serve(std::function<void()> work)
{
  for (;;) {
    work();
    work = nullptr;  // what it owns must not wait for the next
    std::unique_lock<std::mutex> lock(this->Mutex);
    ++this->Idle;
    this->Change.wait(lock, [this] { return this->Ending || !this->Waiting.empty(); });
    --this->Idle;
    if (this->Waiting.empty()) {
      return;
    }
    work = std::move(this->Waiting.front());
    this->Waiting.pop_front();
  }
}

}  // namespace patchio

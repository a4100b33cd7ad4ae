// A storage whose reads wait.
#pragma once

#include "Io/Source.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace patchio::testing {

/// A gate at which threads wait until it opens. Tests share its ownership with tasks, which may outlive the
/// test.
class Gate
{
public:
  void Wait()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    ++this->Came;
    this->Change.notify_all();
    this->Change.wait(lock, [this] { return this->IsOpen; });
  }
  /// Counts the calling thread, and returns whether this many threads come.
  bool Meet(int threads)
  {
    {
      const std::lock_guard<std::mutex> lock(this->Mutex);
      ++this->Came;
      this->Change.notify_all();
    }
    return this->AwaitWaiting(threads);
  }
  /// Returns whether this many threads come. The time limit only ends tests that have already failed.
  bool AwaitWaiting(int threads)
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    return this->Change.wait_for(lock, std::chrono::seconds(30), [&] { return this->Came >= threads; });
  }
  /// Returns the number of threads that have come.
  int Waiting()
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    return this->Came;
  }
  void Open()
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->IsOpen = true;
    this->Change.notify_all();
  }

private:
  std::mutex Mutex;
  std::condition_variable Change;
  bool IsOpen = false;
  int Came = 0;
};

/// Files whose requests hang until a gate opens.
class HangingSource : public Source
{
public:
  HangingSource(std::unique_ptr<Source> files, std::shared_ptr<Gate> gate)
      : Files(std::move(files)), Door(std::move(gate))
  {
  }
  std::shared_ptr<File> Open(int file) override
  {
    return std::make_shared<HangingFile>(this->Files->Open(file), this->Door);
  }

private:
  class HangingFile : public File
  {
  public:
    HangingFile(std::shared_ptr<File> file, std::shared_ptr<Gate> gate)
        : Real(std::move(file)), Door(std::move(gate))
    {
    }
    using File::Read;
    void Read(std::uint64_t offset, const std::vector<iovec>& buffers) override
    {
      this->Door->Wait();
      this->Real->Read(offset, buffers);
    }

  private:
    std::shared_ptr<File> Real;
    std::shared_ptr<Gate> Door;
  };

  std::unique_ptr<Source> Files;
  std::shared_ptr<Gate> Door;
};

}  // namespace patchio::testing

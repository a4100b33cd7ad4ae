// A storage whose reads wait.
#pragma once

#include "Io/Source.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace patchio::testing {

/// Files whose requests hang until a gate opens.
class HangingSource : public Source
{
public:
  struct Gate
  {
    std::mutex Mutex;
    std::condition_variable Change;
    bool IsOpen = false;
    int Waiting = 0;
  };

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
      {
        std::unique_lock<std::mutex> lock(this->Door->Mutex);
        ++this->Door->Waiting;
        this->Door->Change.notify_all();
        this->Door->Change.wait(lock, [this] { return this->Door->IsOpen; });
      }
      this->Real->Read(offset, buffers);
    }

  private:
    std::shared_ptr<File> Real;
    std::shared_ptr<Gate> Door;
  };

  std::unique_ptr<Source> Files;
  std::shared_ptr<Gate> Door;
};

inline void Open(HangingSource::Gate& gate)
{
  const std::lock_guard<std::mutex> lock(gate.Mutex);
  gate.IsOpen = true;
  gate.Change.notify_all();
}

}  // namespace patchio::testing

#include "Write/WritingThread.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>

namespace patchio::output {

WritingThread::~WritingThread()
{
  {
    const std::lock_guard<std::mutex> guard(this->Lock);
    this->Ends = true;
    this->Changed.notify_all();
  }
  if (this->Worker.joinable()) {
    this->Worker.join();
  }
}

void WritingThread::MakeRoom(std::uint64_t bytes)
{
  assert(bytes <= this->Most);
  this->WaitUntil([&] { return this->Used + bytes <= this->Most; });
}

void WritingThread::Add(std::uint64_t bytes, std::function<void()> job)
{
  const std::lock_guard<std::mutex> guard(this->Lock);
  this->Jobs.push_back({bytes, std::move(job)});
  this->Used += bytes;
  this->MostUsed = std::max(this->MostUsed, this->Used);
  if (!this->Worker.joinable()) {
    this->Worker = std::thread([this] { this->Run(); });
  }
  this->Changed.notify_all();
}

void WritingThread::Finish()
{
  this->WaitUntil([this] { return this->Jobs.empty(); });
}

void WritingThread::FinishInAnyTime()
{
  std::unique_lock<std::mutex> guard(this->Lock);
  this->Changed.wait(guard, [this] { return this->Jobs.empty(); });
}

std::string WritingThread::TakeFaults()
{
  const std::lock_guard<std::mutex> guard(this->Lock);
  return std::exchange(this->Faults, {});
}

void WritingThread::WaitUntil(const std::function<bool()>& holds)
{
  std::unique_lock<std::mutex> guard(this->Lock);
  if (!this->Changed.wait_for(guard, std::chrono::duration<double>(this->WaitSeconds), holds)) {
    throw Error(fmt::format(
        "The storage is too slow: writing {} of earlier steps ({} in total) took longer than {} s.",
        CountText(this->Jobs.size(), "write"), ByteText(static_cast<double>(this->Used)), this->WaitSeconds));
  }
}

void WritingThread::Run()
{
  std::unique_lock<std::mutex> guard(this->Lock);
  for (;;) {
    this->Changed.wait(guard, [this] { return this->Ends || !this->Jobs.empty(); });
    if (this->Ends) {
      return;
    }
    guard.unlock();
    const std::string fault = CatchError(this->Jobs.front().Work);
    guard.lock();
    this->Faults += (this->Faults.empty() || fault.empty() ? "" : "\n") + fault;
    this->Used -= this->Jobs.front().Bytes;
    this->Jobs.pop_front();
    this->Changed.notify_all();
  }
}

}  // namespace patchio::output

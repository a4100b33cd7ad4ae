#include "Probe/RateMeter.h"

#include "Probe/RawFile.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>

namespace patchio::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t MostTimes = 4096;  ///< kept of one thread

/// Which block comes next, for all threads.
class BlockOrder
{
public:
  BlockOrder(const ProbeBlocks& blocks, const MeterSettings& settings) : Blocks(blocks)
  {
    const std::uint64_t count = blocks.Count();
    this->First = static_cast<std::uint64_t>(settings.Start * static_cast<double>(count));
    if (settings.Scattered) {
      // Steps of the golden section come to all blocks, far from the ones before.
      this->Step = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(0.618 * static_cast<double>(count)));
      while (std::gcd(this->Step, count) != 1) {
        ++this->Step;
      }
    }
  }

  ProbeBlocks::Place Next()
  {
    const std::uint64_t count = this->Blocks.Count();
    return this->Blocks.At((this->First + this->Cursor++ % count * this->Step) % count);
  }

private:
  const ProbeBlocks& Blocks;
  std::uint64_t First = 0;
  std::uint64_t Step = 1;
  std::atomic<std::uint64_t> Cursor{0};
};

class Meter
{
public:
  Meter(Source& source, const ProbeBlocks& blocks, const MeterSettings& settings)
      : From(source), Blocks(blocks), Settings(settings), Order(blocks, settings)
  {
  }

  MeteredRate Run()
  {
    std::vector<std::thread> threads;
    this->Start(threads);
    this->AwaitCounts();
    if (this->Settings.AwaitOthers) {
      this->Settings.AwaitOthers();
    }
    this->Stop = true;
    for (std::thread& thread : threads) {
      thread.join();
    }
    return this->Result();
  }

private:
  /// What a thread has counted.
  struct Share
  {
    std::uint64_t Requests = 0;
    double Seconds = 0;     ///< 0 where it has not finished counting
    std::uint64_t All = 0;  ///< requests from the start to the end, counted or not
    double End = 0;         ///< of the last one, in seconds from the start
    std::vector<double> Times;
  };

  void Start(std::vector<std::thread>& threads)
  {
    try {
      this->Shares.resize(this->Settings.Threads);
      threads.reserve(this->Settings.Threads);
      for (Share& share : this->Shares) {
        threads.emplace_back([this, &share] { this->Work(share); });
      }
    } catch (const std::system_error& error) {
      this->Fail(std::string("The system refuses to start more threads: ") + error.what() + ".");
    } catch (const std::bad_alloc&) {
      this->Fail("Out of memory. Use fewer ranks or smaller --test-bytes.");
    }
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Change.notify_all();
    this->Begin = Clock::now();
    this->Started = true;
  }

  void Fail(const std::string& fault)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Fault = this->Fault.empty() ? fault : this->Fault;
    this->Stop = true;
    this->Change.notify_all();
  }

  bool IsCancelled() const { return this->Settings.Cancel && *this->Settings.Cancel; }

  /// Until all have counted, or nobody will.
  void AwaitCounts()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    // A rank without threads sleeps as long as the others read: waiting for a message takes a core from them.
    const auto idle = Clock::now() + Span(this->Settings.WarmUp + this->Settings.Seconds);
    const auto waits = [&] {
      const bool late =
          std::chrono::duration<double>(Clock::now() - this->Begin).count() > this->Settings.MostSeconds;
      return !late &&
             (this->Settings.Threads > 0 ? this->Counted < this->Settings.Threads : Clock::now() < idle);
    };
    while (waits() && !this->Stop) {
      this->Change.wait_for(lock, std::chrono::milliseconds(50));
      if (this->IsCancelled()) {
        this->Cancelled = true;
        this->Stop = true;
      }
    }
  }

  void Work(Share& share)
  {
    try {
      const AlignedMemory buffer = MakeAlignedMemory(this->Blocks.Bytes());
      this->Read(buffer.get(), this->AwaitStart(), share);
    } catch (const std::bad_alloc&) {
      this->Fail("Out of memory. Use fewer ranks or smaller --test-bytes.");
    } catch (const std::exception& error) {
      this->Fail(error.what());
    }
  }

  Clock::time_point AwaitStart()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    this->Change.wait(lock, [this] { return this->Started || this->Stop; });
    return this->Begin;
  }

  void Read(std::byte* buffer, Clock::time_point begin, Share& share)
  {
    const auto counting = begin + Span(this->Settings.WarmUp);
    auto first = Clock::time_point::max();
    auto last = begin;
    bool counted = false;
    while (!this->Stop) {
      const ProbeBlocks::Place place = this->Order.Next();
      this->From.Open(place.File)->Read(place.Offset, buffer, this->Blocks.Bytes());
      const auto now = Clock::now();
      ++share.All;
      share.End = std::chrono::duration<double>(now - begin).count();
      if (first == Clock::time_point::max()) {
        first = now >= counting ? now : first;
      } else if (!counted) {
        this->Count(share, std::chrono::duration<double>(now - last).count());
        if (now >= first + Span(this->Settings.Seconds)) {
          share.Seconds = std::chrono::duration<double>(now - first).count();
          counted = true;
          this->ReportCounted();
        }
      }
      last = now;
    }
  }

  static void Count(Share& share, double seconds)
  {
    // Later ones take turns in the places of the first.
    if (share.Times.size() < MostTimes) {
      share.Times.push_back(seconds);
    } else {
      share.Times[share.Requests % MostTimes] = seconds;
    }
    ++share.Requests;
  }

  void ReportCounted()
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    ++this->Counted;
    this->Change.notify_all();
  }

  static Clock::duration Span(double seconds)
  {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  MeteredRate Result() const
  {
    MeteredRate result;
    result.Cancelled = this->Cancelled;
    result.Fault = this->Fault;
    if (result.Cancelled || !result.Fault.empty()) {
      return result;
    }
    const auto block = static_cast<double>(this->Blocks.Bytes());
    const bool cut = std::any_of(
        this->Shares.begin(), this->Shares.end(), [](const Share& share) { return share.Seconds <= 0; });
    for (const Share& share : this->Shares) {
      result.Rate += cut ? 0 : static_cast<double>(share.Requests) * block / share.Seconds;
      result.Seconds.insert(result.Seconds.end(), share.Times.begin(), share.Times.end());
    }
    return cut ? this->CutResult(result, block) : result;
  }

  /// There was no time to count: what all threads have read from the start to the last one's end.
  MeteredRate CutResult(MeteredRate result, double block) const
  {
    double requests = 0, end = 0;
    for (const Share& share : this->Shares) {
      requests += static_cast<double>(share.All);
      end = std::max(end, share.End);
      if (share.Times.empty() && share.All > 0) {
        result.Seconds.push_back(share.End / static_cast<double>(share.All));
      }
    }
    result.Rate = end > 0 ? requests * block / end : 0;
    return result;
  }

  Source& From;
  const ProbeBlocks& Blocks;
  const MeterSettings& Settings;
  BlockOrder Order;
  std::vector<Share> Shares;
  std::mutex Mutex;  ///< of what follows
  std::condition_variable Change;
  Clock::time_point Begin;
  bool Started = false;
  int Counted = 0;
  std::string Fault;
  bool Cancelled = false;
  std::atomic<bool> Stop{false};
};

}  // namespace

ProbeBlocks::ProbeBlocks(const std::vector<std::uint64_t>& fileBytes, std::uint64_t bytes) : BlockBytes(bytes)
{
  std::uint64_t blocks = 0;
  for (const std::uint64_t length : fileBytes) {
    blocks += length / bytes;
    this->Ends.push_back(blocks);
  }
}

ProbeBlocks::Place ProbeBlocks::At(std::uint64_t index) const
{
  const auto file = std::upper_bound(this->Ends.begin(), this->Ends.end(), index);
  const std::uint64_t before = file == this->Ends.begin() ? 0 : *(file - 1);
  return {static_cast<int>(file - this->Ends.begin()), (index - before) * this->BlockBytes};
}

MeteredRate MeasureRate(Source& source, const ProbeBlocks& blocks, const MeterSettings& settings)
{
  return Meter(source, blocks, settings).Run();
}

}  // namespace patchio::probe

#include "Probe/StorageMeter.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Memory.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>

namespace patchio::probe {
namespace {

/// An open file whose reads bypass the page cache, or drop the read bytes from the cache.
class UncachedFile : public Source::File
{
public:
  UncachedFile(const std::string& path, CacheBypass bypass)
      : Path(path), Bypass(bypass), Opened(path, O_RDONLY | (bypass == CacheBypass::Direct ? O_DIRECT : 0))
  {
    if (!this->Opened.IsOpen()) {
      throw SystemError(path, "a readable file", errno);
    }
  }

  using File::Read;
  void Read(std::uint64_t offset, const std::vector<iovec>& buffers) override
  {
    for (const iovec& buffer : buffers) {
      this->ReadBuffer(offset, static_cast<char*>(buffer.iov_base), buffer.iov_len);
      if (this->Bypass == CacheBypass::Drop) {
        ::posix_fadvise(this->Opened, static_cast<off_t>(offset), static_cast<off_t>(buffer.iov_len),
            POSIX_FADV_DONTNEED);
      }
      offset += buffer.iov_len;
    }
  }

private:
  void ReadBuffer(std::uint64_t offset, char* into, std::size_t bytes) const
  {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got = ::pread(this->Opened, into + done, bytes - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno != EINTR) {
        throw SystemError(this->Path, fmt::format("{} bytes at {}", bytes, offset), errno);
      }
      if (got == 0) {
        throw FileError(this->Path, fmt::format("{} bytes at {}", bytes, offset), "the end of the file");
      }
      done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
  }

  std::string Path;
  CacheBypass Bypass;
  RawFile Opened;
};

class UncachedSource : public Source
{
public:
  UncachedSource(const ProbeFiles& files, CacheBypass bypass)
  {
    for (const std::string& path : files.Paths) {
      this->Opened.push_back(std::make_shared<UncachedFile>(path, bypass));
    }
  }
  std::shared_ptr<File> Open(int file) override { return this->Opened[file]; }

private:
  std::vector<std::shared_ptr<File>> Opened;
};

using Clock = std::chrono::steady_clock;

constexpr std::size_t MostTimes = 4096;  ///< maximum number of recorded request times per thread

/// The order in which all threads read the blocks.
class BlockOrder
{
public:
  BlockOrder(const ProbeBlocks& blocks, const MeterSettings& settings) : Blocks(blocks)
  {
    const std::uint64_t count = blocks.Count();
    this->First = static_cast<std::uint64_t>(settings.Start * static_cast<double>(count));
    if (settings.Scattered) {
      // Steps by the golden ratio reach all blocks, each far from the previous blocks.
      this->Step = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(0.618 * static_cast<double>(count)));
      while (std::gcd(this->Step, count) != 1) {
        ++this->Step;
      }
    }
  }

  ProbeBlocks::BlockLocation Next()
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
      : DataSource(source), Blocks(blocks), Settings(settings), Order(blocks, settings)
  {
  }

  MeteredRate Run()
  {
    std::vector<std::thread> threads;
    this->Start(threads);
    this->WaitForCounts();
    if (this->Settings.WaitForOtherRanks) {
      this->Settings.WaitForOtherRanks();
    }
    this->Stop = true;
    for (std::thread& thread : threads) {
      thread.join();
    }
    return this->Result();
  }

private:
  /// The requests and times that a thread has counted.
  struct ThreadCounts
  {
    std::uint64_t Requests = 0;
    double Seconds = 0;     ///< 0 if the thread has not finished counting
    std::uint64_t All = 0;  ///< number of all requests, counted or not
    double End = 0;         ///< end of the last request, in seconds from the start
    std::vector<double> Times;
  };

  void Start(std::vector<std::thread>& threads)
  {
    try {
      this->Counts.resize(this->Settings.Threads);
      threads.reserve(this->Settings.Threads);
      for (ThreadCounts& counts : this->Counts) {
        threads.emplace_back([this, &counts] { this->RunThread(counts); });
      }
    } catch (const std::system_error& error) {
      this->StopWithFault(fmt::format(
          "The system refuses to start more threads: {}. Raise the limit (ulimit -u).", error.what()));
    } catch (const std::bad_alloc&) {
      this->StopWithFault("Out of memory. Use fewer ranks or smaller --test-bytes.");
    }
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->StateChange.notify_all();
    this->Begin = Clock::now();
    this->Started = true;
  }

  void StopWithFault(const std::string& fault)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Fault = this->Fault.empty() ? fault : this->Fault;
    this->Stop = true;
    this->StateChange.notify_all();
  }

  bool IsCancelled() const { return this->Settings.Cancel && *this->Settings.Cancel; }

  /// Waits until all threads have finished counting, the time is over, a thread fails, or the user cancels.
  void WaitForCounts()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    // A rank without threads sleeps while the other ranks read, because waiting for a message would occupy a
    // core.
    const auto idle = Clock::now() + ToDuration(this->Settings.WarmUp + this->Settings.Seconds);
    const auto waits = [&] {
      const bool late =
          std::chrono::duration<double>(Clock::now() - this->Begin).count() > this->Settings.MostSeconds;
      return !late && (this->Settings.Threads > 0 ? this->FinishedThreads < this->Settings.Threads
                                                  : Clock::now() < idle);
    };
    while (waits() && !this->Stop) {
      this->StateChange.wait_for(lock, std::chrono::milliseconds(50));
      if (this->IsCancelled()) {
        this->Cancelled = true;
        this->Stop = true;
      }
    }
  }

  void RunThread(ThreadCounts& counts)
  {
    try {
      const AlignedMemory buffer = MakeAlignedMemory(this->Blocks.Bytes());
      this->Read(buffer.get(), this->WaitForStart(), counts);
    } catch (const std::bad_alloc&) {
      this->StopWithFault("Out of memory. Use fewer ranks or smaller --test-bytes.");
    } catch (const std::exception& error) {
      this->StopWithFault(error.what());
    }
  }

  Clock::time_point WaitForStart()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    this->StateChange.wait(lock, [this] { return this->Started || this->Stop; });
    return this->Begin;
  }

  void Read(std::byte* buffer, Clock::time_point begin, ThreadCounts& counts)
  {
    const auto counting = begin + ToDuration(this->Settings.WarmUp);
    auto first = Clock::time_point::max();
    auto last = begin;
    bool counted = false;
    while (!this->Stop) {
      const ProbeBlocks::BlockLocation location = this->Order.Next();
      this->DataSource.Open(location.File)->Read(location.Offset, buffer, this->Blocks.Bytes());
      const auto now = Clock::now();
      ++counts.All;
      counts.End = std::chrono::duration<double>(now - begin).count();
      if (first == Clock::time_point::max()) {
        first = now >= counting ? now : first;
      } else if (!counted) {
        this->Count(counts, std::chrono::duration<double>(now - last).count());
        if (now >= first + ToDuration(this->Settings.Seconds)) {
          counts.Seconds = std::chrono::duration<double>(now - first).count();
          counted = true;
          this->ReportFinished();
        }
      }
      last = now;
    }
  }

  static void Count(ThreadCounts& counts, double seconds)
  {
    // If the list is full, each new time replaces the oldest time.
    if (counts.Times.size() < MostTimes) {
      counts.Times.push_back(seconds);
    } else {
      counts.Times[counts.Requests % MostTimes] = seconds;
    }
    ++counts.Requests;
  }

  void ReportFinished()
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    ++this->FinishedThreads;
    this->StateChange.notify_all();
  }

  static Clock::duration ToDuration(double seconds)
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
    const bool cut = std::any_of(this->Counts.begin(), this->Counts.end(),
        [](const ThreadCounts& counts) { return counts.Seconds <= 0; });
    for (const ThreadCounts& counts : this->Counts) {
      result.Rate += cut ? 0 : static_cast<double>(counts.Requests) * block / counts.Seconds;
      result.Seconds.insert(result.Seconds.end(), counts.Times.begin(), counts.Times.end());
    }
    return cut ? this->CutResult(result, block) : result;
  }

  /// Returns the rate if a thread could not finish counting: all bytes that the threads have read, divided by
  /// the time from the start to the end of the last request.
  MeteredRate CutResult(MeteredRate result, double block) const
  {
    double requests = 0, end = 0;
    for (const ThreadCounts& counts : this->Counts) {
      requests += static_cast<double>(counts.All);
      end = std::max(end, counts.End);
      if (counts.Times.empty() && counts.All > 0) {
        result.Seconds.push_back(counts.End / static_cast<double>(counts.All));
      }
    }
    result.Rate = end > 0 ? requests * block / end : 0;
    return result;
  }

  Source& DataSource;
  const ProbeBlocks& Blocks;
  const MeterSettings& Settings;
  BlockOrder Order;
  std::vector<ThreadCounts> Counts;
  std::mutex Mutex;  ///< protects the following members
  std::condition_variable StateChange;
  Clock::time_point Begin;
  bool Started = false;
  int FinishedThreads = 0;
  std::string Fault;
  bool Cancelled = false;
  std::atomic<bool> Stop{false};
};

/// Number of quantiles of request times that a rank sends to the other ranks.
constexpr int TimesOfRank = 32;

/// Upper bounds of the durations of a measurement and of the whole probe, as multiples of the planned times.
constexpr double MostOfMeasurement = 3;
constexpr double MostOfProbe = 1.5;
constexpr double LeastBound = 0.3;  ///< seconds

int ThreadsOf(int concurrency, int rankCount, int rank)
{
  return concurrency / rankCount + (rank < concurrency % rankCount ? 1 : 0);
}

/// Returns `count` evenly spaced quantiles of the values; zeros if there are no values.
std::vector<double> QuantilesOf(std::vector<double> values, int count)
{
  std::sort(values.begin(), values.end());
  std::vector<double> quantiles(count, 0.0);
  for (int i = 0; i < count && !values.empty(); ++i) {
    quantiles[i] = values[static_cast<std::size_t>((i + 0.5) / count * static_cast<double>(values.size()))];
  }
  return quantiles;
}

}  // namespace

CacheBypass BypassFor(const ProbeFiles& files)
{
  const AlignedMemory memory = MakeAlignedMemory(PageBytes);
  for (std::size_t i = 0; i < files.Paths.size(); ++i) {
    const RawFile file(files.Paths[i], O_RDONLY | O_DIRECT);
    if (!file.IsOpen() || ::pread(file, memory.get(), PageBytes, 0) != static_cast<ssize_t>(PageBytes)) {
      return CacheBypass::Drop;
    }
  }
  return CacheBypass::Direct;
}

std::unique_ptr<Source> MakeUncachedSource(const ProbeFiles& files, CacheBypass bypass)
{
  return std::make_unique<UncachedSource>(files, bypass);
}

double RereadRate(const ProbeFiles& files)
{
  const auto longest = std::max_element(files.Bytes.begin(), files.Bytes.end());
  if (longest == files.Bytes.end()) {
    return 0;
  }
  const auto bytes = static_cast<std::size_t>(std::min(*longest, 8 * MiB));
  const AlignedMemory memory = MakeAlignedMemory(bytes);
  const RawFile file(files.Paths[longest - files.Bytes.begin()], O_RDONLY);
  double rate = 0;
  for (int pass = 0; pass < 3 && file.IsOpen(); ++pass) {
    const Stopwatch watch;
    const ssize_t got = ::pread(file, memory.get(), bytes, 0);
    const double seconds = watch.Seconds();
    rate = got > 0 && seconds > 0 ? std::max(rate, static_cast<double>(got) / seconds) : rate;
  }
  return rate;
}

ProbeBlocks::ProbeBlocks(const std::vector<std::uint64_t>& fileBytes, std::uint64_t bytes) : BlockBytes(bytes)
{
  std::uint64_t blocks = 0;
  for (const std::uint64_t length : fileBytes) {
    blocks += length / bytes;
    this->Ends.push_back(blocks);
  }
}

ProbeBlocks::BlockLocation ProbeBlocks::At(std::uint64_t index) const
{
  const auto file = std::upper_bound(this->Ends.begin(), this->Ends.end(), index);
  const std::uint64_t before = file == this->Ends.begin() ? 0 : *(file - 1);
  return {static_cast<int>(file - this->Ends.begin()), (index - before) * this->BlockBytes};
}

MeteredRate MeasureRate(Source& source, const ProbeBlocks& blocks, const MeterSettings& settings)
{
  return Meter(source, blocks, settings).Run();
}

StorageMeter::StorageMeter(Communicator& ranks, const std::string& dir, const QuickProbeOptions& options,
    const ProbeProgressCallback& progress, const std::vector<RateSample>& samples)
    : Ranks(ranks), Dir(dir), Options(options), Progress(progress), Samples(samples)
{
}

/// Returns whether the user has cancelled on any rank, or in the progress callback. Sets Elapsed to the time
/// on rank 0. isCancelled: true if this rank has noticed a cancellation. Collective: every rank of the
/// communicator calls it.
bool StorageMeter::ExchangeCancellation(bool isCancelled)
{
  const bool cancel =
      isCancelled || this->CallbackCancelled || (this->Options.Cancel && *this->Options.Cancel);
  const double seconds = this->Ranks.Rank() == 0 ? this->Watch.Seconds() : 0;
  const std::vector<double> all = this->Ranks.Max({cancel ? 1.0 : 0.0, seconds});
  this->IsCancelled = this->IsCancelled || all[0] > 0;
  this->Elapsed = all[1];  // of rank 0, so that all ranks make the same decisions
  return this->IsCancelled;
}

void StorageMeter::ReportProgress(const std::string& activity)
{
  if (!this->Progress || this->Ranks.Rank() != 0) {
    return;
  }
  ProbeProgress progress;
  progress.Fraction = std::min(this->Done, 1.0);
  // The time so far shows how much slower than planned the storage is.
  constexpr double enough = 0.2;
  const double planned = this->Options.Seconds * (1 - progress.Fraction);
  const double seen = this->Done > 0 ? this->Watch.Seconds() / this->Done * (1 - progress.Fraction) : planned;
  progress.SecondsLeft = this->Done < enough ? planned : seen;
  progress.Activity = activity;
  progress.Samples = &this->Samples;
  this->CallbackCancelled = this->CallbackCancelled || !this->Progress(progress);
}

void StorageMeter::Prepare(double share)
{
  if (this->Options.ExistingFiles.empty()) {
    this->ReportProgress(
        fmt::format("writing {} of test files", ByteText(static_cast<double>(this->Options.TestBytes))));
    this->WrittenFiles = std::make_unique<TestFiles>(
        this->Ranks, this->Dir, this->Options.TestBytes, share * this->Options.Seconds, this->Options.Cancel);
    this->FilesToRead = this->WrittenFiles->Files();
  } else {
    RunOnAllRanks(this->Ranks, [this] { this->FilesToRead = FindProbeFiles(this->Options.ExistingFiles); });
  }
  this->Done += share;
  if (!this->ExchangeCancellation(false)) {
    this->ChooseAccess();
  }
}

/// Chooses how reads bypass the page cache (O_DIRECT, or dropping the files), and the limit on buffer memory.
/// The choice is the same on all ranks. Collective: every rank of the communicator calls it.
void StorageMeter::ChooseAccess()
{
  double direct = 0;
  RunOnAllRanks(this->Ranks, [&] { direct = BypassFor(this->FilesToRead) == CacheBypass::Direct ? 1 : 0; });
  const std::vector<double> least =
      this->Ranks.Min({direct, static_cast<double>(AvailableMemory()) / (4.0 * this->Ranks.Size())});
  this->Bypass = least[0] > 0 ? CacheBypass::Direct : CacheBypass::Drop;
  this->MostBuffers = std::min(1024.0 * static_cast<double>(MiB), least[1]);
  RunOnAllRanks(
      this->Ranks, [this] { this->DataSource = MakeUncachedSource(this->FilesToRead, this->Bypass); });
}

bool StorageMeter::Fits(int concurrency, std::uint64_t bytes) const
{
  constexpr std::uint64_t leastBlocks = 4;
  const double threads = ThreadsOf(concurrency, this->Ranks.Size(), 0);
  return threads * static_cast<double>(bytes) <= this->MostBuffers &&
         ProbeBlocks(this->FilesToRead.Bytes, bytes).Count() >= leastBlocks;
}

bool StorageMeter::Measure(const Measurement& measurement, MeasurementResult& result)
{
  this->ReportProgress(measurement.Activity);
  if (this->Bypass == CacheBypass::Drop) {
    for (const std::string& path : this->FilesToRead.Paths) {
      DropFromPageCache(path);
    }
  }
  if (this->ExchangeCancellation(false)) {
    return false;
  }
  const ProbeBlocks blocks(this->FilesToRead.Bytes, measurement.Bytes);
  const MeteredRate ownRate = MeasureRate(*this->DataSource, blocks, this->SettingsOf(measurement));
  RunOnAllRanks(this->Ranks, [&ownRate] { ThrowFault(ownRate.Fault); });
  if (this->ExchangeCancellation(ownRate.Cancelled)) {
    return false;
  }
  this->Done += measurement.Share;
  this->GatherResults(ownRate, result);
  return true;
}

double StorageMeter::BoundOf(double share) const
{
  return std::max(MostOfMeasurement * share * this->Options.Seconds, LeastBound);
}

MeterSettings StorageMeter::SettingsOf(const Measurement& measurement)
{
  constexpr double mostWarmUp = 0.3;
  const double rankCount = this->Ranks.Size();
  const double seconds = measurement.Share * this->Options.Seconds;
  MeterSettings settings;
  settings.Threads = ThreadsOf(measurement.Concurrency, this->Ranks.Size(), this->Ranks.Rank());
  settings.Scattered = measurement.Scattered;
  // Each measurement begins at another block, and each rank begins in the part that another rank has written.
  const double turn = std::fmod(0.618 * ++this->MeasurementCount, 1.0) / rankCount;
  settings.Start = std::fmod((this->Ranks.Rank() + 1) / rankCount + turn, 1.0);
  settings.WarmUp = std::min(0.2 * seconds, mostWarmUp);
  settings.Seconds = seconds - settings.WarmUp;
  settings.MostSeconds = this->BoundOf(measurement.Share);
  settings.Cancel = this->Options.Cancel;
  settings.WaitForOtherRanks = [this] { this->Ranks.AllGather(std::vector<int>{0}); };
  return settings;
}

void StorageMeter::GatherResults(const MeteredRate& ownRate, MeasurementResult& result)
{
  std::vector<double> numbers = QuantilesOf(ownRate.Seconds, TimesOfRank);
  numbers.push_back(ownRate.Rate);
  const std::vector<double> all = this->Ranks.AllGather(numbers);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % numbers.size() == TimesOfRank) {
      result.Rate += all[i];
    } else if (all[i] > 0) {
      result.Times.push_back(all[i]);
    }
  }
}

bool StorageMeter::IsOutOfTime() const
{
  return this->Elapsed > MostOfProbe * this->Options.Seconds;
}

double StorageMeter::FastestReread()
{
  double again = 0;
  RunOnAllRanks(this->Ranks, [&] { again = RereadRate(this->FilesToRead); });
  return this->Ranks.Max({again})[0];
}

}  // namespace patchio::probe

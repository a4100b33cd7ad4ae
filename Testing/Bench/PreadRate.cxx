// patchio_pread_rate: measures the rate of N threads that read files with requests of one size, which is one
// point of F(N).
#include "Driver.h"

#include "Base/Error.h"
#include "Base/File.h"

#include <sys/mman.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace patchio::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Buffer = std::unique_ptr<char, decltype(&std::free)>;

struct Options
{
  std::vector<std::string> Files;
  int Threads = 1;
  std::size_t Request = 1 << 20;
  bool Keep = false;
  double Seconds = 0;
  double WarmUp = 0.5;
};

/// One request.
struct Block
{
  int File;
  std::uint64_t Offset;
  std::size_t Bytes;
};

/// Page-aligned memory whose pages exist already, so that no page fault is measured.
Buffer FaultedBuffer(std::size_t bytes)
{
  void* memory = nullptr;
  if (::posix_memalign(&memory, 2 << 20, bytes) != 0) {
    throw Error("There is no memory for a buffer of " + std::to_string(bytes) + " bytes.");
  }
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 1, bytes);
  return Buffer(static_cast<char*>(memory), std::free);
}

/// The reads of a thread in the measured time.
struct Share
{
  std::uint64_t Bytes = 0;
  std::uint64_t Requests = 0;
  double Seconds = 0;
  std::string Fault;
};

class Reading
{
public:
  explicit Reading(const Options& options) : How(options), Shares(options.Threads)
  {
    for (const std::string& path : options.Files) {
      this->Files.push_back(std::make_unique<PlainFile>(path));
      this->AddBlocks(static_cast<int>(this->Files.size()) - 1, this->Files.back()->Size());
    }
    if (this->Blocks.empty()) {
      throw Error("The files hold no bytes to read.");
    }
    const std::size_t buffers = options.Keep ? this->Blocks.size() : options.Threads;
    this->Memory = FaultedBuffer(buffers * this->How.Request);
  }

  nlohmann::json Run()
  {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < this->How.Threads; ++thread) {
      threads.emplace_back([this, thread] { this->Work(thread); });
    }
    this->StartTogether();
    for (std::thread& thread : threads) {
      thread.join();
    }
    this->Wall = std::chrono::duration<double>(Clock::now() - this->Start).count();
    for (const Share& share : this->Shares) {
      ThrowFault(share.Fault);
    }
    return this->Report();
  }

private:
  void AddBlocks(int file, std::uint64_t bytes)
  {
    for (std::uint64_t offset = 0; offset < bytes; offset += this->How.Request) {
      this->Blocks.push_back({file, offset, std::min<std::uint64_t>(this->How.Request, bytes - offset)});
    }
  }

  void StartTogether()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    this->Change.wait(lock, [this] { return this->Waiting == this->How.Threads; });
    this->Start = Clock::now();
    this->Started = true;
    this->Change.notify_all();
  }

  void AwaitStart()
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    ++this->Waiting;
    this->Change.notify_all();
    this->Change.wait(lock, [this] { return this->Started; });
  }

  void Work(int thread)
  {
    Share& share = this->Shares[thread];
    char* const buffer = this->Memory.get() + thread * this->How.Request;
    this->AwaitStart();
    share.Fault = CatchError([&] {
      this->How.Seconds > 0 ? this->ReadForSomeTime(buffer, share) : this->ReadAllOnce(buffer, share);
    });
    if (!share.Fault.empty()) {
      this->Failed = true;
    }
  }

  void ReadAllOnce(char* buffer, Share& share)
  {
    for (;;) {
      const std::size_t index = this->Cursor++;
      if (index >= this->Blocks.size() || this->Failed) {
        return;
      }
      char* const target = this->How.Keep ? this->Memory.get() + index * this->How.Request : buffer;
      this->ReadBlock(this->Blocks[index], target, share);
    }
  }

  /// Counts from the end of one request to the end of a later one, and continues until all threads have
  /// finished counting, so that all threads read during the counts.
  void ReadForSomeTime(char* buffer, Share& share)
  {
    const auto begin = this->Start + this->Span(this->How.WarmUp);
    Clock::time_point first = Clock::time_point::max();
    bool counted = false;
    while (this->Counted < this->How.Threads && !this->Failed) {
      const Block& block = this->Blocks[this->Cursor++ % this->Blocks.size()];
      if (counted) {
        Share ignored;
        this->ReadBlock(block, buffer, ignored);
        continue;
      }
      this->ReadBlock(block, buffer, share);
      const auto now = Clock::now();
      if (first == Clock::time_point::max() && now >= begin) {
        first = now;
        share = Share();
      } else if (first != Clock::time_point::max() && now >= first + this->Span(this->How.Seconds)) {
        share.Seconds = std::chrono::duration<double>(now - first).count();
        counted = true;
        ++this->Counted;
      }
    }
  }

  void ReadBlock(const Block& block, char* buffer, Share& share)
  {
    this->Files[block.File]->Read(block.Offset, buffer, block.Bytes);
    share.Bytes += block.Bytes;
    ++share.Requests;
  }

  Clock::duration Span(double seconds) const
  {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  nlohmann::json Report() const
  {
    std::uint64_t bytes = 0;
    std::uint64_t requests = 0;
    double rate = 0;
    for (const Share& share : this->Shares) {
      bytes += share.Bytes;
      requests += share.Requests;
      rate += share.Seconds > 0 ? static_cast<double>(share.Bytes) / share.Seconds : 0;
    }
    if (this->How.Seconds <= 0) {
      rate = static_cast<double>(bytes) / this->Wall;
    }
    return {{"MB_per_s", rate / 1e6}, {"bytes", bytes}, {"requests", requests}, {"seconds", this->Wall},
        {"threads", this->How.Threads}};
  }

  const Options& How;
  std::vector<std::unique_ptr<PlainFile>> Files;
  std::vector<Block> Blocks;
  Buffer Memory{nullptr, std::free};  ///< a buffer for each thread; with --keep, for each block
  std::vector<Share> Shares;
  std::atomic<std::size_t> Cursor{0};
  std::atomic<int> Counted{0};
  std::atomic<bool> Failed{false};
  std::mutex Mutex;
  std::condition_variable Change;
  int Waiting = 0;
  bool Started = false;
  Clock::time_point Start;
  double Wall = 0;
};

}  // namespace

Measurement Describe(CLI::App& program)
{
  const auto options = std::make_shared<Options>();
  program.description("Reads files with N threads and says how fast, as JSON");
  program.add_option("files", options->Files, "files to read")->required();
  program.add_option("--threads", options->Threads, "N: requests in flight")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  program.add_option("--request", options->Request, "bytes of a request")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30))
      ->capture_default_str();
  CLI::Option* seconds =
      program
          .add_option("--seconds", options->Seconds, "read the files over and over for so long; 0: all once")
          ->check(CLI::Range(0.0, 3600.0))
          ->capture_default_str();
  program
      .add_flag("--keep", options->Keep,
          "read each block into memory of its own, as programs that need the data do")
      ->excludes(seconds);
  program.add_option("--warm-up", options->WarmUp, "seconds before those of --seconds that do not count")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  return [options] { return Reading(*options).Run(); };
}

}  // namespace patchio::bench

// patchio_pread_rate: measures the rate of N threads that read files with requests of one size, which is one
// point of F(N).
#include "Base/Error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using patchio::FileError;
using patchio::SystemMessage;

struct Options
{
  std::vector<std::string> Files;
  int Threads = 1;
  std::size_t Request = 1 << 20;
  bool Direct = false;
  bool Drop = false;
  bool Keep = false;
  double Seconds = 0;
  double WarmUp = 0.5;
  std::uint64_t Shuffle = 0;
};

/// One request.
struct Block
{
  int File;
  off_t Offset;
  std::size_t Bytes;
};

class OpenedFile
{
public:
  OpenedFile(const std::string& path, const Options& options) : Path(path)
  {
    this->Descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (options.Direct ? O_DIRECT : 0));
    if (this->Descriptor < 0) {
      throw FileError(path, "a file to read", SystemMessage(errno));
    }
    if (options.Drop) {
      ::posix_fadvise(this->Descriptor, 0, 0, POSIX_FADV_DONTNEED);
    }
  }
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;
  ~OpenedFile() { ::close(this->Descriptor); }

  std::uint64_t Bytes() const
  {
    struct stat attributes;
    if (::fstat(this->Descriptor, &attributes) != 0) {
      throw FileError(this->Path, "a file to read", SystemMessage(errno));
    }
    return attributes.st_size;
  }

  /// Reads a block. most: length of the buffer, because with O_DIRECT even the last request must have the
  /// full length.
  void Read(const Block& block, char* into, std::size_t most, bool direct) const
  {
    std::size_t done = 0;
    while (done < block.Bytes) {
      const std::size_t wanted = direct ? most - done : block.Bytes - done;
      const ssize_t got = ::pread(this->Descriptor, into + done, wanted, block.Offset + done);
      if (got <= 0) {
        const std::string found =
            got < 0 ? SystemMessage(errno) : "its end at " + std::to_string(block.Offset + done);
        throw FileError(
            this->Path, std::to_string(block.Bytes) + " bytes at " + std::to_string(block.Offset), found);
      }
      done += got;
    }
  }

private:
  std::string Path;
  int Descriptor;
};

struct Freeing
{
  void operator()(char* memory) const { std::free(memory); }
};

/// Page-aligned memory whose pages exist already, so that no page fault is measured.
std::unique_ptr<char, Freeing> FaultedBuffer(std::size_t bytes)
{
  void* memory = nullptr;
  if (::posix_memalign(&memory, 2 << 20, bytes) != 0) {
    throw patchio::Error("There is no memory for a buffer of " + std::to_string(bytes) + " bytes.");
  }
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  std::memset(memory, 1, bytes);
  return std::unique_ptr<char, Freeing>(static_cast<char*>(memory));
}

/// The reads of a thread in the measured time.
struct Share
{
  std::uint64_t Bytes = 0;
  std::uint64_t Requests = 0;
  double Seconds = 0;
  std::vector<float> Milliseconds;
  std::exception_ptr Fault;
};

class Measurement
{
public:
  explicit Measurement(const Options& options) : How(options), Shares(options.Threads)
  {
    for (const std::string& path : options.Files) {
      this->Files.push_back(std::make_unique<OpenedFile>(path, options));
      this->AddBlocks(static_cast<int>(this->Files.size()) - 1, this->Files.back()->Bytes());
    }
    if (this->Blocks.empty()) {
      throw patchio::Error("The files hold no bytes to read.");
    }
    if (options.Shuffle != 0) {
      std::shuffle(this->Blocks.begin(), this->Blocks.end(), std::mt19937_64(options.Shuffle));
    }
    if (options.Keep) {
      this->Everything = FaultedBuffer(this->Blocks.size() * this->How.Request);
    }
  }

  nlohmann::json Run()
  {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < this->How.Threads; ++thread) {
      threads.emplace_back([this, thread] { this->Work(this->Shares[thread]); });
    }
    this->StartTogether();
    for (std::thread& thread : threads) {
      thread.join();
    }
    this->Wall = std::chrono::duration<double>(Clock::now() - this->Start).count();
    for (const Share& share : this->Shares) {
      if (share.Fault) {
        std::rethrow_exception(share.Fault);
      }
    }
    return this->Report();
  }

private:
  void AddBlocks(int file, std::uint64_t bytes)
  {
    for (std::uint64_t offset = 0; offset < bytes; offset += this->How.Request) {
      this->Blocks.push_back(
          {file, static_cast<off_t>(offset), std::min<std::uint64_t>(this->How.Request, bytes - offset)});
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

  void Work(Share& share)
  {
    std::unique_ptr<char, Freeing> buffer;
    try {
      buffer = FaultedBuffer(this->How.Request);
    } catch (...) {
      share.Fault = std::current_exception();
      this->Failed = true;
    }
    this->AwaitStart();
    try {
      if (buffer && this->How.Seconds > 0) {
        this->ReadForSomeTime(buffer.get(), share);
      } else if (buffer) {
        this->ReadAllOnce(buffer.get(), share);
      }
    } catch (...) {
      share.Fault = std::current_exception();
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
      char* const own = this->Everything ? this->Everything.get() + index * this->How.Request : buffer;
      this->ReadBlock(this->Blocks[index], own, share);
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
    const auto begin = Clock::now();
    this->Files[block.File]->Read(block, buffer, this->How.Request, this->How.Direct);
    share.Milliseconds.push_back(std::chrono::duration<float, std::milli>(Clock::now() - begin).count());
    share.Bytes += block.Bytes;
    ++share.Requests;
  }

  Clock::duration Span(double seconds) const
  {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  nlohmann::json Report() const
  {
    std::vector<float> times;
    std::uint64_t bytes = 0;
    std::uint64_t requests = 0;
    double rate = 0;
    for (const Share& share : this->Shares) {
      bytes += share.Bytes;
      requests += share.Requests;
      rate += share.Seconds > 0 ? static_cast<double>(share.Bytes) / share.Seconds : 0;
      times.insert(times.end(), share.Milliseconds.begin(), share.Milliseconds.end());
    }
    if (this->How.Seconds <= 0) {
      rate = static_cast<double>(bytes) / this->Wall;
    }
    std::sort(times.begin(), times.end());
    const auto quantile = [&times](double part) {
      return times[static_cast<std::size_t>(part * (times.size() - 1))];
    };
    return {{"MB_per_s", rate / 1e6}, {"bytes", bytes}, {"requests", requests}, {"seconds", this->Wall},
        {"threads", this->How.Threads}, {"request_bytes", this->How.Request}, {"direct", this->How.Direct},
        {"files", this->Files.size()},
        {"request_ms", {{"least", quantile(0)}, {"median", quantile(0.5)}, {"p95", quantile(0.95)},
                           {"most", quantile(1)}}}};
  }

  const Options& How;
  std::vector<std::unique_ptr<OpenedFile>> Files;
  std::vector<Block> Blocks;
  std::unique_ptr<char, Freeing> Everything;  ///< with --keep, room for all blocks
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

void AddOptions(CLI::App& program, Options& options)
{
  program.add_option("files", options.Files, "files to read")->required();
  program.add_option("--threads", options.Threads, "N: requests in flight")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  program.add_option("--request", options.Request, "bytes of a request")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30))
      ->capture_default_str();
  program.add_flag("--direct", options.Direct, "with O_DIRECT; the request must then be a multiple of 4096");
  program.add_flag("--drop", options.Drop, "ask the kernel to forget the files' pages first");
  CLI::Option* seconds =
      program
          .add_option("--seconds", options.Seconds, "read the files over and over for so long; 0: all once")
          ->check(CLI::Range(0.0, 3600.0))
          ->capture_default_str();
  program
      .add_flag(
          "--keep", options.Keep, "read each block into memory of its own, as programs that need the data do")
      ->excludes(seconds);
  program.add_option("--warm-up", options.WarmUp, "seconds before those of --seconds that do not count")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  program.add_option("--shuffle", options.Shuffle, "read in the random order of this seed; 0: in file order");
}

}  // namespace

int main(int argc, char** argv)
{
  Options options;
  CLI::App program("Reads files with N threads and says how fast, as JSON", "patchio_pread_rate");
  AddOptions(program, options);
  try {
    program.parse(argc, argv);
    if (options.Direct && options.Request % 4096 != 0) {
      throw patchio::Error("With --direct the request must be a multiple of 4096 bytes.");
    }
    std::puts(Measurement(options).Run().dump().c_str());
  } catch (const CLI::ParseError& error) {
    return program.exit(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "patchio_pread_rate: %s\n", error.what());
    return 1;
  }
  return 0;
}

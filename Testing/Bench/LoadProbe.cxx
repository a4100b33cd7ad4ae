// patchio_bench_load: reads files with N threads, and prints PatchIO's estimate of the load of other
// programs.
#include "Base/Error.h"
#include "Model.h"
#include "Tuning/LoadSense.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using patchio::FileError;
using patchio::SystemMessage;

struct Options
{
  std::vector<std::string> Files;
  std::vector<int> Threads{16};
  std::size_t Request = 1 << 20;
  bool Direct = false;
  double Seconds = 1;
  int Windows = 5;
  double Settle = 0.5;
  bool Law = false;
  bool Profile = false;
  double Latency = 2;
  double Stream = 50;
  double Total = 0;
  patchio::emulator::Model Storage;
  std::vector<std::string> Samples;
};

double Now()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Measures the bytes read, and the integral of the requests in flight over time.
class Meter
{
public:
  void Begin() { this->Step(1, 0); }
  void End(std::uint64_t bytes) { this->Step(-1, bytes); }

  /// Returns the measurements since the last call.
  patchio::OwnReadTotals Take()
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Advance();
    const double passed = this->Last - this->Begun;
    const patchio::OwnReadTotals share{this->Bytes, passed > 0 ? this->Area / passed : 0, this->Requests};
    this->Begun = this->Last;
    this->Bytes = 0;
    this->Requests = 0;
    this->Area = 0;
    return share;
  }

private:
  void Step(int change, std::uint64_t bytes)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Advance();
    this->InFlight += change;
    this->Bytes += bytes;
    this->Requests += change < 0 ? 1 : 0;
  }
  void Advance()
  {
    const double now = Now();
    this->Area += this->InFlight * (now - this->Last);
    this->Last = now;
  }

  std::mutex Mutex;
  int InFlight = 0;
  std::uint64_t Bytes = 0;
  std::uint64_t Requests = 0;
  double Area = 0;
  double Last = Now();
  double Begun = Last;
};

/// Threads that read the files repeatedly, as many at a time as Allow() sets.
class Readers
{
public:
  explicit Readers(const Options& options) : How(options)
  {
    for (const std::string& path : options.Files) {
      this->Open(path);
    }
    if (this->Blocks.empty()) {
      throw patchio::Error("The files hold no whole request.");
    }
    const int most = *std::max_element(options.Threads.begin(), options.Threads.end());
    for (int number = 0; number < most; ++number) {
      this->Threads.emplace_back([this, number] { this->Work(number); });
    }
  }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;
  ~Readers()
  {
    this->Allow(-1);
    for (std::thread& thread : this->Threads) {
      thread.join();
    }
    for (const int descriptor : this->Descriptors) {
      ::close(descriptor);
    }
  }

  /// Sets the number of threads that read; -1 ends all threads.
  void Allow(int threads)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Allowed = threads;
    this->Change.notify_all();
  }

  patchio::OwnReadTotals Take()
  {
    if (this->Failed) {
      throw patchio::Error("A file could not be read.");
    }
    return this->Counts.Take();
  }

private:
  struct Block
  {
    int Descriptor;
    off_t Offset;
  };

  void Open(const std::string& path)
  {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (this->How.Direct ? O_DIRECT : 0));
    struct stat attributes;
    if (descriptor < 0 || ::fstat(descriptor, &attributes) != 0) {
      throw FileError(path, "a file to read", SystemMessage(errno));
    }
    this->Descriptors.push_back(descriptor);
    const off_t request = static_cast<off_t>(this->How.Request);
    for (off_t offset = 0; offset + request <= attributes.st_size; offset += request) {
      this->Blocks.push_back({descriptor, offset});
    }
  }

  bool MayRead(int number)
  {
    std::unique_lock<std::mutex> lock(this->Mutex);
    this->Change.wait(lock, [&] { return this->Allowed < 0 || number < this->Allowed; });
    return this->Allowed >= 0 && !this->Failed;
  }

  void Work(int number)
  {
    // Uses huge pages like the reader, because direct requests into small pages are split.
    void* memory = nullptr;
    if (::posix_memalign(&memory, 2 << 20, this->How.Request) != 0) {
      this->Failed = true;
      return;
    }
    ::madvise(memory, this->How.Request, MADV_HUGEPAGE);
    const std::unique_ptr<void, void (*)(void*)> buffer(memory, std::free);
    std::memset(memory, 1, this->How.Request);
    while (this->MayRead(number)) {
      const Block& block = this->Blocks[this->Cursor++ % this->Blocks.size()];
      this->Counts.Begin();
      const ssize_t got = ::pread(block.Descriptor, memory, this->How.Request, block.Offset);
      this->Counts.End(got > 0 ? got : 0);
      if (got != static_cast<ssize_t>(this->How.Request)) {
        this->Failed = true;
      }
    }
  }

  const Options& How;
  std::vector<int> Descriptors;
  std::vector<Block> Blocks;
  std::vector<std::thread> Threads;
  Meter Counts;
  std::atomic<std::size_t> Cursor{0};
  std::atomic<bool> Failed{false};
  std::mutex Mutex;
  std::condition_variable Change;
  int Allowed = 0;
};

/// Interpolates F(N) linearly between measured points, in logarithms of N and F.
class Interpolation
{
public:
  explicit Interpolation(const std::vector<std::string>& samples)
  {
    for (const std::string& sample : samples) {
      double concurrency = 0, rate = 0;
      if (std::sscanf(sample.c_str(), "%lf:%lf", &concurrency, &rate) != 2 || !(concurrency > 0) ||
          !(rate > 0)) {
        throw patchio::Error("'" + sample + "' is no sample: N:MB/s is expected.");
      }
      this->Points[std::log(concurrency)] = std::log(rate * 1e6);
    }
    if (this->Points.size() < 2) {
      throw patchio::Error("A curve needs two samples at least.");
    }
  }

  double operator()(double concurrency) const
  {
    const double place = std::log(concurrency);
    auto after = this->Points.lower_bound(place);
    after = after == this->Points.begin() ? std::next(after)
            : after == this->Points.end() ? std::prev(after)
                                          : after;
    const auto before = std::prev(after);
    const double part = (place - before->first) / (after->first - before->first);
    return std::exp(before->second + part * (after->second - before->second));
  }
  double Most() const { return std::exp(this->Points.rbegin()->first); }

private:
  std::map<double, double> Points;
};

std::optional<patchio::LoadCurve> CurveFor(const Options& options)
{
  if (options.Profile) {
    const auto profile = patchio::FindProfile(options.Files.front());
    return profile ? patchio::CurveOf(*profile) : std::nullopt;
  }
  patchio::LoadCurve curve;
  if (!options.Samples.empty()) {
    const Interpolation points(options.Samples);
    curve.Rate = points;
    curve.Most = points.Most();
    curve.Residual = curve.Noise = 0.02;
    return curve;
  }
  if (!options.Law) {
    return {};
  }
  const patchio::emulator::Model& model = options.Storage;
  // The formula of Emulator/README.md, also for N that are not integers.
  curve.Rate = [model, bytes = options.Request](double concurrency) {
    const double alone = bytes / model.Service(bytes);
    return concurrency * alone * model.Speed(concurrency, concurrency * alone);
  };
  curve.Most = 128;
  curve.Best = model.Concurrency;
  curve.Residual = curve.Noise = 0.02;
  return curve;
}

patchio::Mount MountOfFiles(const Options& options)
{
  const auto mount = patchio::MountOf(options.Files.front());
  if (!mount) {
    throw FileError(options.Files.front(), "a file on a known mount", "no such mount");
  }
  return *mount;
}

nlohmann::json Measure(const Options& options)
{
  patchio::LoadSensor sensor(MountOfFiles(options), CurveFor(options));
  Readers readers(options);
  nlohmann::json windows = nlohmann::json::array();
  patchio::LoadEstimate estimate;
  for (int window = 0; window < options.Windows; ++window) {
    if (window == 0 || options.Threads.size() > 1) {
      readers.Allow(options.Threads[window % options.Threads.size()]);
      std::this_thread::sleep_for(std::chrono::duration<double>(options.Settle));
      patchio::OwnReads changing;
      changing.AllRanks = readers.Take();
      changing.Steady = false;
      sensor.Sample(changing);
    }
    const double begin = Now();
    std::this_thread::sleep_for(std::chrono::duration<double>(options.Seconds));
    patchio::OwnReads own;
    own.AllRanks = readers.Take();
    const double passed = Now() - begin;
    estimate = sensor.Sample(own);
    windows.push_back({{"in_flight", own.AllRanks.InFlight}, {"MB_per_s", own.AllRanks.Bytes / passed / 1e6},
        {"load", estimate.Load}, {"sureness", estimate.Confidence}, {"source", estimate.Source}});
  }
  return {{"load", estimate.Load}, {"sureness", estimate.Confidence}, {"source", estimate.Source},
      {"windows", windows}};
}

void AddOptions(CLI::App& program, Options& options)
{
  program.add_option("files", options.Files, "files to read, all on one mount")->required();
  program.add_option("--threads", options.Threads, "N of each window, over and over: 8,16,32")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  program.add_option("--request", options.Request, "bytes of a request")
      ->check(CLI::Range(std::size_t{4096}, std::size_t{1} << 26))
      ->capture_default_str();
  program.add_flag("--direct", options.Direct, "with O_DIRECT");
  program.add_option("--seconds", options.Seconds, "of a window")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  program.add_option("--windows", options.Windows, "how many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  program.add_option("--settle", options.Settle, "seconds before a window of another N")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  program.add_flag("--law", options.Law, "F(N) is the emulator's law with the following numbers");
  program.add_flag("--profile", options.Profile, "F(N) is that of the mount's profile");
  program.add_option("--latency", options.Latency, "L in ms")->capture_default_str();
  program.add_option("--stream", options.Stream, "B in MB/s")->capture_default_str();
  program.add_option("--total", options.Total, "W in MB/s; 0: none")->capture_default_str();
  program.add_option("--concurrency", options.Storage.Concurrency, "N*")->capture_default_str();
  program.add_option("--contention", options.Storage.Contention, "gamma")->capture_default_str();
  program.add_option("--samples", options.Samples, "F(N) as measured: N:MB/s,N:MB/s,...")->delimiter(',');
}

}  // namespace

int main(int argc, char** argv)
{
  Options options;
  CLI::App program("Reads files and estimates the load of others, as JSON", "patchio_bench_load");
  AddOptions(program, options);
  try {
    program.parse(argc, argv);
    options.Storage.Latency = options.Latency * 1e-3;
    options.Storage.Stream = options.Stream * 1e6;
    options.Storage.Total = options.Total * 1e6;
    patchio::emulator::CheckModel(options.Storage);
    std::puts(Measure(options).dump(1).c_str());
  } catch (const CLI::ParseError& error) {
    return program.exit(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "patchio_bench_load: %s\n", error.what());
    return 1;
  }
  return 0;
}

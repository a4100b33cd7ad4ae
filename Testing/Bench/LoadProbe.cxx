// patchio_bench_load: reads files on the emulated storage with N threads, and prints PatchIO's estimate of
// the load of other programs.
#include "Driver.h"
#include "Model.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Io/IoScheduler.h"
#include "Io/Progress.h"
#include "Tuning/LoadSense.h"

#include <chrono>
#include <thread>

namespace patchio::bench {
namespace {

struct Options
{
  std::vector<std::string> Files;
  std::vector<int> Threads{16};
  int Windows = 5;
  double Stream = 50;
  emulator::Model Storage;
};

constexpr std::size_t RequestBytes = 1 << 20;
constexpr std::chrono::seconds WindowTime(1);
constexpr std::chrono::milliseconds SettleTime(500);  ///< before a window of another N

/// Threads that read the files over and over, as many at a time as SetThreads() sets.
class Readers
{
public:
  explicit Readers(const std::vector<std::string>& paths)
  {
    for (const std::string& path : paths) {
      const auto file = std::make_shared<PlainFile>(path);
      for (std::uint64_t offset = 0; offset + RequestBytes <= file->Size(); offset += RequestBytes) {
        this->Blocks.push_back({file, offset});
      }
    }
    if (this->Blocks.empty()) {
      throw Error("The files hold no whole request.");
    }
  }
  ~Readers()
  {
    this->Reads.Cancel();
    while (!this->Reads.WaitFor(std::chrono::seconds(1))) {
    }
  }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  void SetThreads(int threads) { this->Reads.SetLimit(threads); }

  /// Returns the measurements since the last call.
  OwnReadTotals Take()
  {
    this->Reads.Rethrow();
    const double busy = this->Meter.BusySeconds();
    const std::uint64_t bytes = this->Meter.Bytes(), requests = this->Meter.Requests();
    const OwnReadTotals totals{bytes - this->LastBytes, (busy - this->LastBusy) / this->Watch.Seconds(),
        requests - this->LastRequests};
    this->LastBusy = busy;
    this->LastBytes = bytes;
    this->LastRequests = requests;
    this->Watch = Stopwatch();
    return totals;
  }

private:
  struct Block
  {
    std::shared_ptr<PlainFile> File;
    std::uint64_t Offset;
  };

  /// A page of memory. FUSE splits requests into memory that does not begin with a page.
  struct alignas(4096) Page
  {
    std::byte Bytes[4096];
  };

  void Read(std::size_t task)
  {
    thread_local std::vector<Page> buffer(RequestBytes / sizeof(Page));
    const Block& block = this->Blocks[task % this->Blocks.size()];
    const ReadMeter::Request request(this->Meter, RequestBytes);
    block.File->Read(block.Offset, buffer.data(), RequestBytes);
  }

  std::vector<Block> Blocks;
  ReadMeter Meter;
  double LastBusy = 0;
  std::uint64_t LastBytes = 0, LastRequests = 0;
  Stopwatch Watch;
  IoScheduler Reads{std::size_t(1) << 40, [this](std::size_t task) { this->Read(task); }};
};

/// Returns F(N) by the formula of Emulator/README.md, also for N that are not integers.
LoadCurve CurveOf(const emulator::Model& model)
{
  LoadCurve curve;
  curve.Rate = [model](double concurrency) {
    const double alone = RequestBytes / model.Service(RequestBytes);
    return concurrency * alone * model.Speed(concurrency, concurrency * alone);
  };
  curve.Most = 128;
  curve.Best = model.Concurrency;
  curve.Residual = curve.Noise = 0.02;
  return curve;
}

nlohmann::json Measure(const Options& options)
{
  const auto mount = MountOf(options.Files.front());
  if (!mount) {
    throw FileError(options.Files.front(), "a file on a known mount", "no such mount");
  }
  LoadSensor sensor(*mount, CurveOf(options.Storage));
  Readers readers(options.Files);
  LoadEstimate estimate;
  for (int window = 0; window < options.Windows; ++window) {
    OwnReads reads;
    if (window == 0 || options.Threads.size() > 1) {
      readers.SetThreads(options.Threads[window % options.Threads.size()]);
      std::this_thread::sleep_for(SettleTime);
      reads.AllRanks = readers.Take();
      reads.Steady = false;
      sensor.Sample(reads);
    }
    std::this_thread::sleep_for(WindowTime);
    reads.AllRanks = readers.Take();
    reads.Steady = true;
    estimate = sensor.Sample(reads);
  }
  return {{"load", estimate.Load}};
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  const auto options = std::make_shared<Options>();
  program.description("Reads files on the emulated storage and estimates the load of others, as JSON");
  program.add_option("files", options->Files, "files to read, all on one mount")->required();
  program.add_option("--threads", options->Threads, "N of each window, over and over: 8,16,32")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  program.add_option("--windows", options->Windows, "how many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  program.add_option("--stream", options->Stream, "B in MB/s")->capture_default_str();
  program.add_option("--concurrency", options->Storage.Concurrency, "N*")->capture_default_str();
  return [options] {
    options->Storage.Stream = options->Stream * 1e6;
    emulator::CheckModel(options->Storage);
    return Measure(*options);
  };
}

}  // namespace patchio::bench

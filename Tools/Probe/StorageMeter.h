// Measures the rate of a storage with a given number of requests in flight, in one process and on all ranks.
// Reads bypass this machine's page cache.
#pragma once

#include "Base/Stopwatch.h"
#include "Io/Source.h"
#include "Probe/QuickProbe.h"
#include "Probe/TestFiles.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace patchio::probe {

/// The method by which reads bypass this machine's page cache.
enum class CacheBypass
{
  Direct,  ///< O_DIRECT: offsets, lengths and addresses are multiples of 4 KiB
  Drop     ///< reads ask the kernel to drop their bytes from the cache afterwards
};

/// Returns Direct if O_DIRECT works for the files, otherwise Drop.
CacheBypass BypassFor(const ProbeFiles& files);

/// Returns a source that keeps all files open. Throws Error if a file cannot be opened.
std::unique_ptr<Source> MakeUncachedSource(const ProbeFiles& files, CacheBypass bypass);

/// Returns the rate in bytes/s of rereading the same bytes of the largest file, at most 8 MiB; 0 if unknown.
/// The rate is that of this machine's page cache if the file system uses the cache.
double RereadRate(const ProbeFiles& files);

// ---- one process
// --------------------------------------------------------------------------------------------------

/// The blocks of one size in several files. The remainder at the end of a file belongs to no block.
class ProbeBlocks
{
public:
  struct BlockLocation
  {
    int File;
    std::uint64_t Offset;
  };

  /// Divides the files into blocks. fileBytes[i]: length of file i in bytes. bytes: size of a block, >= 1.
  ProbeBlocks(const std::vector<std::uint64_t>& fileBytes, std::uint64_t bytes);
  std::uint64_t Count() const { return this->Ends.empty() ? 0 : this->Ends.back(); }
  std::uint64_t Bytes() const { return this->BlockBytes; }
  /// Returns the file and the offset of a block. index: 0 .. Count() - 1, in file order.
  BlockLocation At(std::uint64_t index) const;

private:
  std::uint64_t BlockBytes;
  std::vector<std::uint64_t> Ends;  ///< number of blocks up to the end of each file
};

struct MeterSettings
{
  int Threads = 1;         ///< requests in flight, >= 0
  bool Scattered = false;  ///< true: consecutive requests are far apart in the files; false: adjacent
  double Start = 0;        ///< fraction of the blocks before the first block to read, 0 .. 1
  double WarmUp = 0.1;     ///< seconds from the start until requests count
  double Seconds = 1;      ///< seconds during which requests count; longer if a single request takes longer
  /// Upper bound of the duration in seconds. After that time, new requests begin only while this process
  /// waits for other ranks. If a thread has not finished counting by then, all requests count, from the
  /// start to the end of the last one.
  double MostSeconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* Cancel = nullptr;  ///< true ends the measurement; may be null
  /// Function that waits for the other ranks; may be empty. MeasureRate() calls the function once, when all
  /// threads have finished counting or the time is over, while the threads continue to read.
  std::function<void()> WaitForOtherRanks;
};

struct MeteredRate
{
  double Rate = 0;              ///< bytes/s of all threads; 0 if nothing was measured
  std::vector<double> Seconds;  ///< times of single requests, unsorted; of many requests, only the last times
  bool Cancelled = false;
  std::string Fault;  ///< text of an error; empty on success
};

/// Reads blocks repeatedly with several threads. Each thread counts from the end of one request to the end of
/// a later request, and continues until all threads have finished counting, so that all threads read
/// while any thread counts. Does not throw, and always calls WaitForOtherRanks.
MeteredRate MeasureRate(Source& source, const ProbeBlocks& blocks, const MeterSettings& settings);

// ---- all ranks
// --------------------------------------------------------------------------------------------------

/// The parameters of one measurement.
struct Measurement
{
  int Concurrency = 1;            ///< N, the requests in flight on all ranks
  std::uint64_t Bytes = 1 << 20;  ///< bytes of a request
  bool Scattered = false;
  double Share = 0;      ///< fraction of the probe's time, 0 .. 1
  std::string Activity;  ///< text for the user, see ProbeProgress::Activity
};

struct MeasurementResult
{
  double Rate = 0;            ///< bytes/s of all ranks
  std::vector<double> Times;  ///< seconds of single requests: up to 32 quantiles from each rank
};

/// Makes measurements on all ranks together. Each rank has one StorageMeter, and all ranks call the same
/// methods in the same order.
class StorageMeter
{
public:
  /// Creates a meter for the storage of `dir`. Keeps references to all arguments, which must outlive this
  /// object. samples: the samples so far, for `progress`. Not collective.
  StorageMeter(Communicator& ranks, const std::string& dir, const QuickProbeOptions& options,
      const ProbeProgressCallback& progress, const std::vector<RateSample>& samples);

  /// Writes test files, or finds existing files. share: fraction of the probe's time for writing, 0 .. 1.
  /// Throws Error, the same on all ranks, if the files cannot be written or found. Collective: every rank of
  /// the communicator calls it.
  void Prepare(double share);
  /// Returns whether the files have at least 4 blocks of `bytes` bytes, and the ranks have enough memory for
  /// `concurrency` requests of `bytes` bytes.
  bool Fits(int concurrency, std::uint64_t bytes) const;
  /// Returns the maximum duration in seconds of a measurement with this share of the probe's time.
  double BoundOf(double share) const;
  /// Makes a measurement, and adds the rate and the times to `result`. Returns false if the user cancels.
  /// Throws Error, the same on all ranks, if a file cannot be read. Collective: every rank of the
  /// communicator calls it.
  bool Measure(const Measurement& measurement, MeasurementResult& result);
  /// Counts a skipped measurement with this share of the time as done.
  void Skip(double share) { this->Done += share; }
  /// Returns the greatest RereadRate() of all ranks, in bytes/s. Collective: every rank of the communicator
  /// calls it.
  double FastestReread();

  bool Cancelled() const { return this->IsCancelled; }
  /// Returns whether the time is over, so that no other measurement may begin; the same on all ranks.
  bool IsOutOfTime() const;
  /// Returns whether reads drop the files from the page cache, because O_DIRECT does not work.
  bool DropsCaches() const { return this->DataSource && this->Bypass == CacheBypass::Drop; }
  const ProbeFiles& Files() const { return this->FilesToRead; }
  /// Returns the seconds since the constructor.
  double Seconds() const { return this->Watch.Seconds(); }

private:
  bool ExchangeCancellation(bool isCancelled);
  void ReportProgress(const std::string& activity);
  void ChooseAccess();
  MeterSettings SettingsOf(const Measurement& measurement);
  void GatherResults(const MeteredRate& ownRate, MeasurementResult& result);

  Communicator& Ranks;
  const std::string& Dir;
  const QuickProbeOptions& Options;
  const ProbeProgressCallback& Progress;
  const std::vector<RateSample>& Samples;
  Stopwatch Watch;
  std::unique_ptr<TestFiles> WrittenFiles;
  ProbeFiles FilesToRead;
  CacheBypass Bypass = CacheBypass::Drop;
  std::unique_ptr<Source> DataSource;
  double MostBuffers = 0;  ///< maximum number of bytes for the requests of one rank
  double Done = 0;         ///< finished part of the probe, 0 .. 1
  double Elapsed = 0;      ///< seconds on rank 0
  int MeasurementCount = 0;
  bool IsCancelled = false;
  bool CallbackCancelled = false;  ///< true: the progress callback has returned false
};

}  // namespace patchio::probe

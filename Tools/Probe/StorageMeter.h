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

/// Returns a source that keeps all files open. Throws Error.
std::unique_ptr<Source> MakeUncachedSource(const ProbeFiles& files, CacheBypass bypass);

/// Returns the rate in bytes/s of rereading the same few bytes; 0 if unknown. This is the rate of this
/// machine's page cache if the file system uses the cache.
double RereadRate(const ProbeFiles& files);

// ---- one process
// --------------------------------------------------------------------------------------------------

/// The blocks of one size in several files. A rest at the end of a file belongs to no block.
class ProbeBlocks
{
public:
  struct Place
  {
    int File;
    std::uint64_t Offset;
  };

  /// fileBytes[i]: length of file i. bytes: size of a block, >= 1.
  ProbeBlocks(const std::vector<std::uint64_t>& fileBytes, std::uint64_t bytes);
  std::uint64_t Count() const { return this->Ends.empty() ? 0 : this->Ends.back(); }
  std::uint64_t Bytes() const { return this->BlockBytes; }
  /// Returns the file and the offset of a block. index: 0 .. Count() - 1, in file order.
  Place At(std::uint64_t index) const;

private:
  std::uint64_t BlockBytes;
  std::vector<std::uint64_t> Ends;  ///< number of blocks up to the end of each file
};

struct MeterSettings
{
  int Threads = 1;         ///< requests in flight, >= 0
  bool Scattered = false;  ///< true: consecutive requests are far apart; false: one after another
  double Start = 0;        ///< part of the blocks before the first one that is read, 0 .. 1
  double WarmUp = 0.1;     ///< seconds before the count begins
  double Seconds = 1;      ///< seconds that count; more if a single request takes longer
  /// Upper bound of the duration in seconds. After that time, new requests begin only while this process
  /// waits for other ranks. If a thread has not finished counting by then, all requests count, from the
  /// warm-up to the end.
  double MostSeconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* Cancel = nullptr;
  /// Function that waits for the other ranks. MeasureRate() calls it once, when all threads have finished
  /// counting, while the threads continue to read.
  std::function<void()> WaitForOthers;
};

struct MeteredRate
{
  double Rate = 0;              ///< bytes/s of all threads; 0 if nothing was measured
  std::vector<double> Seconds;  ///< times of single requests, unsorted; if there are many, the last ones
  bool Cancelled = false;
  std::string Fault;  ///< text of an error; empty on success
};

/// Reads blocks repeatedly with several threads. Each thread counts from the end of one request to the end of
/// a later one, and continues until all threads have finished counting, so that all requests are in flight
/// during the counts. Does not throw, and always calls WaitForOthers.
MeteredRate MeasureRate(Source& source, const ProbeBlocks& blocks, const MeterSettings& settings);

// ---- all ranks
// --------------------------------------------------------------------------------------------------

/// The parameters of one measurement.
struct Step
{
  int Concurrency = 1;            ///< N, the requests in flight on all ranks
  std::uint64_t Bytes = 1 << 20;  ///< bytes of a request
  bool Scattered = false;
  double Share = 0;  ///< part of the probe's time, 0 .. 1
  std::string Doing;
};

struct StepResult
{
  double Rate = 0;            ///< bytes/s of all ranks
  std::vector<double> Times;  ///< seconds of single requests, from all ranks
};

/// Makes measurements on all ranks together. Each rank has one such object, and all ranks call the same
/// functions in the same order.
class StorageMeter
{
public:
  /// Keeps references to all arguments, which must outlive this object.
  StorageMeter(Communicator& comm, const std::string& dir, const QuickProbeOptions& options,
      const ProbeProgressCallback& progress, const std::vector<RateSample>& samples);

  /// Collective: writes test files, or finds existing files. share: part of the probe's time for writing, 0
  /// .. 1. Throws Error, the same on all ranks.
  void Prepare(double share);
  /// Returns whether the files have enough blocks, and the ranks enough memory, for `concurrency` requests of
  /// `bytes` bytes.
  bool Fits(int concurrency, std::uint64_t bytes) const;
  /// Returns the maximum duration in seconds of a measurement with this share of the probe's time.
  double BoundOf(double share) const;
  /// Collective: makes a measurement. Returns false if the user cancels. Throws Error, the same on all ranks.
  bool Measure(const Step& step, StepResult& result);
  /// Counts a skipped measurement with this share of the time as done.
  void Skip(double share) { this->Done += share; }
  /// Collective: returns the greatest RereadRate() of all ranks, in bytes/s.
  double FastestReread();

  bool Cancelled() const { return this->IsCancelled; }
  /// Returns whether the time is over, so that no other measurement may begin; the same on all ranks.
  bool IsOutOfTime() const;
  /// Returns whether reads drop the files from the page cache, because O_DIRECT does not work.
  bool DropsCaches() const { return this->From && this->Bypass == CacheBypass::Drop; }
  const ProbeFiles& Files() const { return this->Read; }
  /// Returns the seconds since the constructor.
  double Seconds() const { return this->Watch.Seconds(); }

private:
  bool AnyCancels(bool mine);
  void Tell(const std::string& doing);
  void AgreeOnAccess();
  MeterSettings SettingsOf(const Step& step);
  void AddRanks(const MeteredRate& mine, StepResult& result);

  Communicator& Comm;
  const std::string& Dir;
  const QuickProbeOptions& Options;
  const ProbeProgressCallback& Progress;
  const std::vector<RateSample>& Samples;
  Stopwatch Watch;
  std::unique_ptr<TestFiles> Written;
  ProbeFiles Read;
  CacheBypass Bypass = CacheBypass::Drop;
  std::unique_ptr<Source> From;
  double MostBuffers = 0;  ///< maximum number of bytes for the requests of one rank
  double Done = 0;         ///< finished part of the probe, 0 .. 1
  double Elapsed = 0;      ///< seconds on rank 0
  int Steps = 0;
  bool IsCancelled = false;
  bool CallbackCancelled = false;  ///< the progress callback has returned false
};

}  // namespace patchio::probe

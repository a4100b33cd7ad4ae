// The rate of a storage: files read past this machine's cache, the rate of one process with a given
// number of requests in flight, and the measurements of all ranks, one after another.
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

/// The way past this machine's cache.
enum class CacheBypass
{
  Direct,  ///< O_DIRECT: offsets, lengths and memory are multiples of 4 KiB
  Drop     ///< the kernel is asked to forget what was read
};

/// Direct where the files can be read so.
CacheBypass BypassFor(const ProbeFiles& files);

/// All files, open as long as it lives. Throws Error.
std::unique_ptr<Source> MakeUncachedSource(const ProbeFiles& files, CacheBypass bypass);

/// Bytes a second of reading the same few bytes again: what this machine's cache gives, if the file system
/// has one. 0 where it cannot be found out.
double RereadRate(const ProbeFiles& files);

// ---- one process
// --------------------------------------------------------------------------------------------------

/// The blocks of one size that files are read in; what is left at a file's end is not read.
class ProbeBlocks
{
public:
  struct Place
  {
    int File;
    std::uint64_t Offset;
  };

  /// fileBytes[i]: length of file i; bytes: of a block, >= 1.
  ProbeBlocks(const std::vector<std::uint64_t>& fileBytes, std::uint64_t bytes);
  std::uint64_t Count() const { return this->Ends.empty() ? 0 : this->Ends.back(); }
  std::uint64_t Bytes() const { return this->BlockBytes; }
  /// index: 0 .. Count()-1, in file order.
  Place At(std::uint64_t index) const;

private:
  std::uint64_t BlockBytes;
  std::vector<std::uint64_t> Ends;  ///< blocks up to the end of each file
};

struct MeterSettings
{
  int Threads = 1;         ///< requests in flight, >= 0
  bool Scattered = false;  ///< far from each other, or one after another
  double Start = 0;        ///< where in the blocks to begin, 0 .. 1
  double WarmUp = 0.1;     ///< seconds that do not count
  double Seconds = 1;      ///< that count; longer where a request takes longer
  /// From the start; no request begins later, but for waiting for other ranks. Where some thread has not
  /// counted by then, all requests from the start on count, warm-up and end included.
  double MostSeconds = std::numeric_limits<double>::infinity();
  const std::atomic<bool>* Cancel = nullptr;
  /// Called once, when all threads have counted, while all go on reading: waits for the other ranks.
  std::function<void()> AwaitOthers;
};

struct MeteredRate
{
  double Rate = 0;  ///< bytes a second of all threads; 0 when nothing was measured
  std::vector<double>
      Seconds;  ///< that single requests took, in no order; a part of them where there are many
  bool Cancelled = false;
  std::string Fault;  ///< what went wrong, for people; empty when nothing did
};

/// Reads over and over with several threads. Each counts from the end of one request to the end of another,
/// and goes on until everyone has counted, so that all that counts is read with all requests in flight. Does
/// not throw: AwaitOthers is called whatever happens.
MeteredRate MeasureRate(Source& source, const ProbeBlocks& blocks, const MeterSettings& settings);

// ---- all ranks
// --------------------------------------------------------------------------------------------------

/// One measurement.
struct Step
{
  int Concurrency = 1;            ///< N
  std::uint64_t Bytes = 1 << 20;  ///< of a request
  bool Scattered = false;
  double Share = 0;  ///< of the time, 0 .. 1
  std::string Doing;
};

struct StepResult
{
  double Rate = 0;            ///< bytes a second of all ranks
  std::vector<double> Times;  ///< seconds of requests, from all ranks
};

/// All ranks hold one and call the same methods in the same order.
class StorageMeter
{
public:
  /// Keeps references.
  StorageMeter(Communicator& comm, const std::string& dir, const QuickProbeOptions& options,
      const ProbeProgressCallback& progress, const std::vector<RateSample>& samples);

  /// Collective. Writes test files, or finds those that are there, within this share of the time. Throws
  /// Error, the same on all ranks.
  void Prepare(double share);
  /// Returns whether `concurrency` requests of `bytes` bytes have enough blocks, and enough memory.
  bool Fits(int concurrency, std::uint64_t bytes) const;
  /// Seconds that a measurement with this share of the time may take.
  double BoundOf(double share) const;
  /// Collective. False when cancelled. Throws Error, the same on all ranks.
  bool Measure(const Step& step, StepResult& result);
  /// A measurement with this share of the time is left out.
  void Skip(double share) { this->Done += share; }
  /// The greatest rate of any rank that reads the same few bytes again. Collective.
  double FastestReread();

  bool Cancelled() const { return this->IsCancelled; }
  /// Returns whether no other measurement may begin. All ranks say the same.
  bool IsOutOfTime() const;
  /// Returns whether the kernel was asked to forget the files, as they cannot be read past its cache.
  bool DropsCaches() const { return this->From && this->Bypass == CacheBypass::Drop; }
  const ProbeFiles& Files() const { return this->Read; }
  /// Since this was made.
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
  double MostBuffers = 0;  ///< bytes for the requests of one rank
  double Done = 0;         ///< of the whole, 0 .. 1
  double Elapsed = 0;      ///< seconds, of rank 0
  int Steps = 0;
  bool IsCancelled = false;
  bool Vetoed = false;  ///< by the progress callback
};

}  // namespace patchio::probe

// One measurement of the quick probe after another: test files, all ranks reading, time and cancelling.
#pragma once

#include "Base/Stopwatch.h"
#include "Probe/ProbeFiles.h"
#include "Probe/QuickProbe.h"
#include "Probe/RateMeter.h"
#include "Probe/UncachedSource.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio::probe {

/// What one measurement is.
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
  /// Whether N requests of so many bytes have enough blocks, and enough memory.
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
  /// Whether no other measurement may begin. All ranks say the same.
  bool IsOutOfTime() const;
  /// Whether the kernel was asked to forget the files, as they cannot be read past its cache.
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

// Writes k-Wave output files. The layout of a file has space for all steps from the beginning, so that many
// ranks can write at the same time.
#pragma once

#include "Base/Communicator.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Plan/ReadPlan.h"
#include "Write/Aggregation.h"
#include "Write/Declaration.h"
#include "Write/FloatFile.h"
#include "Write/OutputConfig.h"
#include "Write/Sensor.h"
#include "Write/Shuffle.h"

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio::output {

/// A k-Wave file. The values lie in contiguous data sets, whose shapes contain the number of complete steps.
/// Commit() overwrites only a few numbers, so that readers see only complete steps.
class SensorFile
{
public:
  /// Makes the layout of the file in memory, with space for `steps` steps. Only the constructor uses HDF5.
  /// Throws Error.
  SensorFile(const SensorPortion& portion, const Catalog& data, std::int64_t steps);

  /// Returns the byte offset in the file of each HDF5 data set: variable by variable, and for each variable
  /// cuboid by cuboid, or one for a list of points.
  const std::vector<std::uint64_t>& Offsets() const { return this->Begins; }
  /// Makes the file, without steps. `overwrite`: true if the file may replace a file of an earlier run.
  /// Throws Error.
  void Create(bool overwrite);
  /// Adds steps, whose values must be on the storage, to the numbers of steps and to the times in the file.
  /// `times`: times of all steps since the last call; at least one. Throws Error.
  void Commit(const std::vector<double>& times);
  /// Flushes the file to the storage. Throws Error.
  void Flush() const;

private:
  class Layout;

  const std::string Path;
  std::vector<std::uint64_t> Begins;
  std::vector<std::uint64_t> LengthOffsets;  ///< offsets of the numbers of steps in the shapes of data sets
  /// The address of a data set's values, and the offset in the file at which the address is stored.
  struct StoredAddress
  {
    std::uint64_t Offset, Address;
  };
  std::vector<StoredAddress> Addresses;
  /// Offsets in the file of the values of Nt, t_index and dt.
  std::uint64_t TotalStepsOffset = 0, StepIndexOffset = 0, TimeStepOffset = 0;
  std::uint64_t TimesOffset = 0;  ///< offset in the file of the times of all steps
  std::int64_t Steps = 0;         ///< number of steps in the file
  double FirstTime = 0;           ///< time of the first step
  std::vector<std::byte> Image;   ///< bytes of the file, except for the values
  std::uint64_t Size = 0;
  std::unique_ptr<PlainFile> File;
};

/// The part of the sensor that lies on this rank's patches.
struct LocalSensor
{
  std::shared_ptr<const Declaration> Declared;
  std::vector<std::vector<std::vector<SensorRun>>> Runs;  ///< consecutive cells, by portion and set
  /// Number of values per variable and step, by portion and set.
  std::vector<std::vector<std::int64_t>> ValueCounts;
};

/// The values of a step on this rank.
struct SensorSample
{
  std::int64_t Index = 0;   ///< index among the steps of the channel, from 0
  std::int64_t Number = 0;  ///< the simulation's step number
  double Time = 0;
  std::shared_ptr<const LocalSensor> Local;  ///< null only if Fault is not empty
  std::vector<std::vector<float>> Values;    ///< values of each portion, variable by variable and set by set
  std::string Fault;                         ///< reason why this rank lacks the values; empty: no fault
};

/// Writes the samples of all steps to k-Wave files. All ranks gather the same steps. Then each writer that
/// PlanGathering() chooses receives one contiguous range of the values, and writes the range with concurrent
/// requests, while all ranks gather the next steps.
class SensorWriter
{
public:
  /// Makes a writer for the files of `channel`. `ranks` and `channel` must outlive this object.
  SensorWriter(Communicator& ranks, const Channel& channel);

  const std::vector<SensorPortion>& Portions() const { return this->AllPortions; }
  /// Returns whether the file of a portion contains the step of a sample.
  bool Includes(std::size_t portion, const SensorSample& sample) const
  {
    return sample.Index % this->AllPortions[portion].Every == 0;
  }
  /// Makes the layouts of the files, with HDF5. Call this method before the first Add(), on the simulation's
  /// thread. Throws Error. Not collective, but all ranks must call it; only rank 0 makes layouts.
  void LayOut(const Catalog& data);
  /// Returns memory for SensorSample::Values, which may be the memory of an earlier sample. Thread-safe.
  std::vector<std::vector<float>> AcquireMemory();

  /// Adds a step to the gathered steps, and begins a write when the number or the age of the gathered steps
  /// suffices, or when the patches have changed. If the age suffices, or if each write contains one step, the
  /// method returns after the write. If a write fails, the steps of the write and all later steps are lost,
  /// because the files have no gaps. `concurrency`: number of concurrent requests of each rank if all ranks
  /// write. Throws Error, the same on all ranks. Collective: every rank of the communicator calls it.
  void Add(SensorSample sample, int concurrency);
  /// Writes the gathered steps, waits for all writes, and flushes the files to the storage. Throws Error, the
  /// same on all ranks. Collective: every rank of the communicator calls it.
  void Flush();
  /// Records that a step is lost. If the next step of Add() is later than a lost step, Add() throws Error for
  /// all further steps. Not collective, but all ranks must call it.
  void MarkLost(std::int64_t step) { this->Lost.Add(step); }

private:
  struct Region;
  struct Request;
  /// The plan for the current patches; the same on all ranks, except for Local.
  struct SharedPlan
  {
    std::shared_ptr<const LocalSensor> Local;
    /// Number of values per variable and step, rank by rank and set by set.
    std::vector<std::int64_t> ValueCounts;
    Gathering Schedule;
    StorageModel Storage;
  };

  std::vector<std::uint64_t> VolumesOf(const std::vector<std::int64_t>& steps) const;
  void RunOrLoseSteps(const std::function<void()>& work);
  void Gather(SensorSample sample, int concurrency);
  void MakeSharedPlan(int concurrency);
  bool IsFlushDue() const;
  void CheckCoverage() const;
  void WriteGathered();
  std::string StepsText() const;
  void CheckSameSteps() const;
  void Open();
  void CheckSamples() const;
  std::vector<std::int64_t> CountSteps() const;
  std::vector<Region> RegionsOf(const std::vector<std::int64_t>& steps) const;
  void CheckCapacity(const std::vector<std::int64_t>& steps) const;
  void AddToShuffle(const std::vector<Region>& regions, Shuffle& shuffle);
  std::vector<Request> RequestsOf(
      const std::vector<Region>& regions, std::uint64_t begin, std::uint64_t count, int concurrency) const;
  void Write(const std::vector<Request>& requests, const std::byte* from, int concurrency);
  void FinishWrite(const std::function<void()>& work);
  void Commit(const std::vector<std::vector<double>>& times);
  void CountGathered();
  void ReleaseMemory(std::vector<std::vector<float>> values)
  {
    const std::lock_guard<std::mutex> guard(this->SpareLock);
    this->Spare.push_back(std::move(values));
  }

  Communicator& Ranks;
  const Channel& Config;
  const std::vector<SensorPortion> AllPortions;
  std::size_t Sets = 0;       ///< number of data sets of all portions
  std::size_t Variables = 0;  ///< number of variables, from LayOut()
  int LongestPeriod = 1;
  std::vector<std::int64_t> StepCapacity;  ///< by portion: number of steps for which the file has space

  std::vector<SensorFile> Files;               ///< by portion; only on rank 0
  std::vector<std::uint64_t> Offsets;          ///< SensorFile::Offsets() of all portions
  std::map<std::size_t, PlainFile> OpenFiles;  ///< files that this rank writes, by portion
  std::vector<SensorSample> Gathered;
  Stopwatch SinceOldest;  ///< runs since the first gathered step was added
  std::mutex SpareLock;
  std::vector<std::vector<std::vector<float>>> Spare;  ///< memory for AcquireMemory()
  Shuffle StepShuffle;
  SharedPlan Shared;
  /// By portion: number of steps in the file, including the write in progress.
  std::vector<std::int64_t> StepCounts;
  /// By portion: times of the steps that are in the file but not committed.
  std::vector<std::vector<double>> Times;
  LostSteps Lost;
  std::string Fault;  ///< reason why steps are lost; empty: no fault

  /// Work in progress on some steps.
  struct Task
  {
    std::string Steps;  ///< numbers of the steps, for messages
    std::future<void> Result;

    /// Waits for the work, if any. Throws Error with the numbers of the steps if the work fails.
    void Finish();
  };
  Task Writing;     ///< this rank's write; uses OpenFiles
  Task Committing;  ///< commit on rank 0; uses Files
};

}  // namespace patchio::output

// Writes k-Wave output files: lays the files out in advance for all steps, and lets many ranks fill them.
#pragma once

#include "Base/Communicator.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Plan/ReadPlan.h"
#include "Write/Aggregation.h"
#include "Write/Declaration.h"
#include "Write/FloatFile.h"
#include "Write/LineExchange.h"
#include "Write/OutputConfig.h"
#include "Write/Sensor.h"

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio::output {

/// A k-Wave file. Values lie in contiguous data sets; their shapes count the complete steps only. A new step
/// changes a few numbers in place, so that readers always see complete steps.
class SensorFile
{
public:
  /// Lays the file out in memory, with room for `steps` steps. Only this method uses HDF5. Throws Error.
  SensorFile(const SensorSeries& series, const Catalog& data, std::int64_t steps);

  /// Offsets of the data sets in the file, variable by variable and set by set.
  const std::vector<std::uint64_t>& Offsets() const { return this->Begins; }
  /// Makes the file, without steps. With `overwrite`, replaces a file of an earlier run. Throws Error.
  void Create(bool overwrite);
  /// Adds steps whose values are on the storage to the file's header. `times`: times of all steps since the
  /// last call, at least one.
  void Commit(const std::vector<double>& times);
  /// Flushes the header to the storage.
  void Flush() const;

private:
  class Layout;

  const std::string Path;
  std::vector<std::uint64_t> Begins;
  std::vector<std::uint64_t> Lengths;  ///< offsets of the numbers of steps in the shapes of data sets
  /// The address of a data set's values, and the offset in the file at which this address is stored (At).
  struct AddressPlace
  {
    std::uint64_t At, Address;
  };
  std::vector<AddressPlace> Addresses;
  std::uint64_t All = 0, Done = 0, TimeStep = 0;  ///< offsets of the values of Nt, t_index and dt
  std::uint64_t Times = 0;                        ///< offset of the times of all steps
  std::int64_t Steps = 0;                         ///< number of steps in the file
  double First = 0;                               ///< time of the first step
  std::vector<std::byte> Image;                   ///< the whole file except for the values
  std::uint64_t Size = 0;
  std::unique_ptr<PlainFile> File;
};

/// The part of the sensor that lies on this rank's patches.
struct SensorCut
{
  std::shared_ptr<const Declaration> Of;
  std::vector<std::vector<std::vector<SensorRun>>> Runs;  ///< by series and set
  std::vector<std::vector<std::int64_t>> Values;          ///< number of values of each of Runs' sets
};

/// The values of a step on this rank.
struct SensorSample
{
  std::int64_t Index = 0;  ///< number among the file's steps
  std::int64_t Number = 0;
  double Time = 0;
  std::shared_ptr<const SensorCut> What;
  std::vector<std::vector<float>> Values;  ///< by series: variable by variable, set by set
  std::string Fault;                       ///< reason why this rank lacks the values; empty: none
};

/// Writes the samples of all steps to k-Wave files. All ranks gather the same steps. Then each rank that the
/// plan chooses (PlanAggregation()) receives one contiguous range of the values, and writes this range with
/// many tasks, while all ranks gather the next steps.
class SensorWriter
{
public:
  /// `ranks` and `channel` must outlive this object.
  SensorWriter(Communicator& ranks, const Channel& channel);

  const std::vector<SensorSeries>& Series() const { return this->AllSeries; }
  /// Returns whether a step belongs to the files of a series.
  bool Takes(std::size_t series, const SensorSample& sample) const
  {
    return sample.Index % this->AllSeries[series].Every == 0;
  }
  /// Lays the files out, with HDF5. Call this method before the first Add(), on the simulation's thread.
  /// Throws Error.
  void LayOut(const Catalog& data);
  /// Returns memory for the values of a sample, if possible the memory of an earlier step. Thread-safe.
  std::vector<std::vector<float>> TakeMemory();

  /// Adds a step to the gathered steps, and begins to write when there are enough. Without gathering, this
  /// method returns after the write of the step. If a write fails, its steps and all later steps are lost,
  /// because the files have no gaps. `concurrency`: limit on the writes in flight. Throws Error, the same on
  /// all ranks. Collective: every rank of the communicator calls it.
  void Add(SensorSample sample, int concurrency);
  /// Writes the gathered steps. Throws Error, the same on all ranks. Collective: every rank of the
  /// communicator calls it.
  void Flush();
  /// See Target::Lose().
  void Lose(std::int64_t step) { this->Lost.Add(step); }

private:
  struct Region;
  struct Request;
  /// The plan for the current patches; the same on all ranks.
  struct Agreement
  {
    std::shared_ptr<const SensorCut> For;
    std::vector<std::int64_t> Values;  ///< number of values of each data set on each rank, rank by rank
    Gathering How;
    StorageModel Storage;
  };

  std::vector<std::uint64_t> VolumesOf(const std::vector<std::int64_t>& steps) const;
  void Try(const std::function<void()>& work);
  void Gather(SensorSample sample, int concurrency);
  void Agree(int concurrency);
  bool IsTime() const;
  void CheckCover() const;
  void WriteGathered();
  std::string StepsText() const;
  void CheckSameSteps() const;
  void Open();
  void CheckSamples() const;
  std::vector<std::int64_t> CountSteps() const;
  std::vector<Region> RegionsOf(const std::vector<std::int64_t>& steps) const;
  void CheckRoom(const std::vector<std::int64_t>& steps) const;
  void Give(const std::vector<Region>& regions, Shuffle& line);
  std::vector<Request> RequestsOf(
      const std::vector<Region>& regions, std::uint64_t begin, std::uint64_t count, int concurrency) const;
  void Write(const std::vector<Request>& requests, const std::byte* from, int concurrency);
  void EndWrite(const std::function<void()>& more);
  void Commit(const std::vector<std::vector<double>>& times);
  void CountGathered();
  void KeepMemory(std::vector<std::vector<float>> values)
  {
    const std::lock_guard<std::mutex> guard(this->SpareLock);
    this->Spare.push_back(std::move(values));
  }

  Communicator& Ranks;
  const Channel& Config;
  const std::vector<SensorSeries> AllSeries;
  std::size_t Sets = 0;       ///< number of data sets of all series
  std::size_t Variables = 0;  ///< number of variables; set by LayOut()
  int LongestPeriod = 1;
  std::vector<std::int64_t> Room;  ///< number of steps for which each series has room

  std::vector<SensorFile> Files;            ///< by series, on rank 0
  std::vector<std::uint64_t> Offsets;       ///< SensorFile::Offsets() of all series
  std::map<std::size_t, PlainFile> Opened;  ///< by series
  std::vector<SensorSample> Gathered;
  Stopwatch Oldest;  ///< time since the first gathered step arrived
  std::mutex SpareLock;
  std::vector<std::vector<std::vector<float>>> Spare;  ///< memory for TakeMemory()
  Shuffle Line;
  Agreement Agreed;
  std::vector<std::int64_t> Given;  ///< number of steps of each series, including the write in progress
  std::vector<std::vector<double>>
      Times;  ///< times of the steps that are written or being written, but not committed
  LostSteps Lost;
  std::string Fault;  ///< reason why steps are missing

  std::string Underway;          ///< numbers of the steps that are being written
  std::future<void> Writing;     ///< this rank's write in progress; uses Opened
  std::future<void> Committing;  ///< commit in progress, on rank 0; uses Files
};

}  // namespace patchio::output

// A k-Wave output file while it is written: laid out for all its steps, which ranks write into it.
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

/// Values lie in contiguous data sets, of which the file says that they have as many steps as are complete.
/// A step more is a few numbers that change in place, so that whoever opens the file sees whole steps.
class SensorFile
{
public:
  /// Lays the file out in memory, with room for so many steps; needs HDF5, and nothing else does. Throws
  /// Error.
  SensorFile(const SensorSeries& series, const Catalog& data, std::int64_t steps);

  /// Where the data sets of each variable begin, set by set.
  const std::vector<std::uint64_t>& Offsets() const { return this->Begins; }
  /// Makes the file, without steps. Throws Error.
  void Create(bool overwrite);
  /// From now on the file has these steps, too, whose values are on the storage. times: of all since the last
  /// call, at least one.
  void Commit(const std::vector<double>& times);
  /// That outlives the machine's failure.
  void Flush() const;

private:
  class Layout;

  const std::string Path;
  std::vector<std::uint64_t> Begins;
  std::vector<std::uint64_t> Lengths;  ///< places of the numbers of steps in the shapes of data sets
  /// The place of the address of a data set's values.
  struct AddressPlace
  {
    std::uint64_t At, Address;
  };
  std::vector<AddressPlace> Addresses;
  std::uint64_t All = 0, Done = 0, TimeStep = 0;  ///< places of the values of Nt, t_index and dt
  std::uint64_t Times = 0;                        ///< place of the times of all steps
  std::int64_t Steps = 0;                         ///< that the file has
  double First = 0;                               ///< time of the first of them
  std::vector<std::byte> Image;                   ///< all but values, as it is in the file
  std::uint64_t Size = 0;
  std::unique_ptr<PlainFile> File;
};

/// What this rank's patches have of the sensor.
struct SensorCut
{
  std::shared_ptr<const Declaration> Of;
  std::vector<std::vector<std::vector<SensorRun>>> Runs;  ///< by series and set
  std::vector<std::vector<std::int64_t>> Values;          ///< of them
};

/// This rank's values of a step.
struct SensorSample
{
  std::int64_t Index = 0;  ///< among the file's steps
  std::int64_t Number = 0;
  double Time = 0;
  std::shared_ptr<const SensorCut> What;
  std::vector<std::vector<float>> Values;  ///< by series: variable by variable, set by set
  std::string Fault;                       ///< why this rank does not have them
};

/// All ranks gather the same steps. Then those that the plan of paper 3 names get a range each of all that is
/// to be written, and write it by many tasks, as two-level reading reads, while the next steps are gathered.
class SensorWriter
{
public:
  /// Both must outlive it.
  SensorWriter(Communicator& ranks, const Channel& channel);

  const std::vector<SensorSeries>& Series() const { return this->AllSeries; }
  /// Whether a step is in the files of a series.
  bool Takes(std::size_t series, const SensorSample& sample) const
  {
    return sample.Index % this->AllSeries[series].Every == 0;
  }
  /// Before the first step is added, by a simulation's own thread: lays the files out, with HDF5. Throws
  /// Error.
  void LayOut(const Catalog& data);
  /// By any thread: memory for the values of a sample, of a step before where there was one.
  std::vector<std::vector<float>> TakeMemory();

  /// Collective: takes a step, and begins to write when there are enough; a single one is written when this
  /// returns. Steps that cannot be written are lost, and so are all later ones, as the files have no gaps.
  /// Throws Error, the same on all ranks.
  void Add(SensorSample sample, int threads);
  /// Collective: writes the steps that are gathered. Throws Error, the same on all ranks.
  void Flush();
  /// See Target.
  void Lose(std::int64_t step) { this->Lost.Add(step); }

private:
  struct Region;
  struct Request;
  /// The same on all ranks.
  struct Agreement
  {
    std::shared_ptr<const SensorCut> For;
    std::vector<std::int64_t> Values;  ///< of each data set on each rank, rank by rank
    Gathering How;
    StorageModel Storage;
  };

  std::vector<std::uint64_t> VolumesOf(const std::vector<std::int64_t>& steps) const;
  void Try(const std::function<void()>& work);
  void Gather(SensorSample sample, int threads);
  void Agree(int threads);
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
  void Give(const std::vector<Region>& regions, LineExchange& line);
  std::vector<Request> RequestsOf(
      const std::vector<Region>& regions, std::uint64_t begin, std::uint64_t count, int threads) const;
  void Write(const std::vector<Request>& requests, const std::byte* from, int threads);
  void EndWrite(const std::function<void()>& more);
  void Commit(const std::vector<std::vector<double>>& times);
  void CountGathered();
  void KeepMemory(std::vector<std::vector<float>> values)
  {
    const std::lock_guard<std::mutex> guard(this->SpareLock);
    this->Spare.push_back(std::move(values));
  }

  Communicator& Ranks;
  const Channel& What;
  const std::vector<SensorSeries> AllSeries;
  std::size_t Sets = 0;       ///< of all series
  std::size_t Variables = 0;  ///< from LayOut() on
  int LongestPeriod = 1;
  std::vector<std::int64_t> Room;  ///< for steps of each series

  std::vector<SensorFile> Files;            ///< by series, on rank 0
  std::vector<std::uint64_t> Offsets;       ///< see SensorFile::Offsets(), of one series after another
  std::map<std::size_t, PlainFile> Opened;  ///< by series
  std::vector<SensorSample> Gathered;
  Stopwatch Oldest;  ///< runs from when the first of them came
  std::mutex SpareLock;
  std::vector<std::vector<std::vector<float>>> Spare;  ///< see TakeMemory()
  LineExchange Line;
  Agreement Agreed;
  std::vector<std::int64_t> Given;  ///< steps of each series with what is being written
  std::vector<std::vector<double>>
      Times;  ///< of those that all ranks write, or have written, and no file has
  LostSteps Lost;
  std::string Fault;  ///< why steps are missing

  std::string Underway;          ///< the steps that are being written
  std::future<void> Writing;     ///< this rank's part of Given; uses Opened
  std::future<void> Committing;  ///< on rank 0; uses Files
};

}  // namespace patchio::output

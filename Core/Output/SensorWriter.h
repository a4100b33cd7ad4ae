// The steps of a sensor on their way to files: gathered over time and ranks into long ranges.
#pragma once

#include "Output/Aggregation.h"
#include "Output/Declaration.h"
#include "Output/LineExchange.h"
#include "Output/OutputConfig.h"
#include "Output/Sensor.h"
#include "Output/SensorFile.h"
#include "Plan/StorageModel.h"
#include "Support/Communicator.h"
#include "Support/PlainFile.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

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
  std::int64_t Index = 0;  ///< among the channel's steps
  std::int64_t Number = 0;
  double Time = 0;
  std::shared_ptr<const SensorCut> What;
  std::vector<std::vector<float>> Values;  ///< by series: variable by variable, set by set
};

/// All ranks gather the same steps. Then those that the plan of paper 3 names get a range each of all that is
/// to be written, and write it by many tasks, as two-level reading reads.
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

  /// Collective: takes a step, and writes when there are enough. Steps that cannot be written are lost, and
  /// so are all later ones, as the files have no gaps. Throws Error, the same on all ranks.
  void Add(SensorSample sample, int threads);
  /// Collective: writes the steps that are gathered. Throws Error, the same on all ranks.
  void Flush();

private:
  struct Region;
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
  void CheckCover() const;
  void WriteGathered();
  void Open();
  std::vector<std::int64_t> CountSteps() const;
  std::vector<Region> RegionsOf(const std::vector<std::int64_t>& steps) const;
  void CheckRoom(const std::vector<std::int64_t>& steps) const;
  void Give(const std::vector<Region>& regions, LineExchange& line);
  void WriteRange(const std::vector<Region>& regions, std::uint64_t begin, const LineExchange::Range& mine);
  void Commit(const std::vector<std::int64_t>& steps);

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
  Agreement Agreed;
  std::vector<std::int64_t> Written;         ///< steps of each series
  std::vector<std::array<double, 2>> Times;  ///< of the first and the last one
  std::int64_t Next = 0;                     ///< SensorSample::Index
  std::string Fault;                         ///< why steps are missing
};

}  // namespace patchio::output

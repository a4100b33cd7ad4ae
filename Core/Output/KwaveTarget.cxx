// Steps of a sensor, gathered over time and ranks into long ranges of k-Wave's files: paper 3, and two-level
// writing as of reading.
#include "Io/IoScheduler.h"
#include "Output/Aggregation.h"
#include "Output/LineExchange.h"
#include "Output/Sensor.h"
#include "Output/SensorFile.h"
#include "Output/Target.h"
#include "Storage/StorageProfile.h"
#include "Support/ByteText.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <numeric>

namespace patchio::output {
namespace {

/// Of one writer.
constexpr int MostThreads = 64;

/// What this rank's patches have of the sensor.
struct Cut
{
  std::shared_ptr<const Declaration> Of;
  std::vector<std::vector<std::vector<SensorRun>>> Runs;  ///< by series and set
  std::vector<std::vector<std::int64_t>> Values;          ///< of them

  std::int64_t ValuesOf(std::size_t series) const
  {
    return std::accumulate(this->Values[series].begin(), this->Values[series].end(), std::int64_t(0));
  }
};

/// This rank's values of a step.
struct Sample
{
  std::int64_t Index = 0;  ///< among the channel's steps
  std::int64_t Number = 0;
  double Time = 0;
  std::shared_ptr<const Cut> What;
  std::vector<std::vector<float>> Values;  ///< by series: variable by variable, set by set
};

template <typename T>
void CopyFloats(const void* from, std::size_t first, std::int64_t count, float* to)
{
  const T* values = static_cast<const T*>(from) + first;
  std::transform(values, values + count, to, [](T value) { return static_cast<float>(value); });
}

void CopyFloats(ElementType type, const void* from, std::size_t first, std::int64_t count, float* to)
{
  switch (type) {
    case ElementType::Float32:
      return CopyFloats<float>(from, first, count, to);
    case ElementType::Float64:
      return CopyFloats<double>(from, first, count, to);
    case ElementType::Int32:
      return CopyFloats<std::int32_t>(from, first, count, to);
    default:
      return CopyFloats<std::int64_t>(from, first, count, to);
  }
}

/// Values of a data set, for the steps of a flush: a range of a file.
struct Region
{
  std::size_t Series = 0;
  std::uint64_t Begin = 0;   ///< in the line of all regions
  std::uint64_t Offset = 0;  ///< in the file
  std::uint64_t Bytes = 0;
  std::uint64_t StepBytes = 0;
};

/// How steps are gathered; the same on all ranks.
struct Gathering
{
  std::vector<std::int64_t> Values;  ///< of each data set on each rank, rank by rank
  Aggregation Plan;
  int Steps = 1;    ///< at once
  int Threads = 1;  ///< of each writer
  StorageModel Storage;
};

/// Neighbours in the data set go together. Gives what comes after the values.
const float* GiveRuns(
    const std::vector<SensorRun>& runs, const float* values, std::uint64_t begin, LineExchange& line)
{
  for (std::size_t run = 0; run < runs.size();) {
    const std::int64_t first = runs[run].To;
    std::int64_t end = first;
    for (; run < runs.size() && runs[run].To == end; ++run) {
      end += runs[run].Count;
    }
    line.Add(begin + first * sizeof(float), values, (end - first) * sizeof(float));
    values += end - first;
  }
  return values;
}

class KwaveTarget : public PartsTarget
{
public:
  KwaveTarget(Communicator& ranks, const Channel& channel)
      : Ranks(ranks), What(channel), Series(SeriesOf(channel.Sees, channel.Path))
  {
    for (const SensorSeries& series : this->Series) {
      this->Sets += series.Sets();
      this->LongestPeriod = std::max(this->LongestPeriod, series.Every);
    }
  }

  std::uint64_t BytesOf(const std::shared_ptr<const Declaration>& what, std::size_t variables) override;
  std::unique_ptr<StepOnItsWay> Prepare(const container::StepToWrite& step,
      const std::shared_ptr<const Declaration>& what, const std::vector<GivenArray>& mine) override;
  void Flush(int threads) override;

private:
  class Step : public StepOnItsWay
  {
  public:
    Step(KwaveTarget& into, Sample sample) : Into(into), Values(std::move(sample)) {}
    void Write(const std::vector<container::PatchValues>&, int threads) override
    {
      this->Into.Add(std::move(this->Values), threads);
    }

  private:
    KwaveTarget& Into;
    Sample Values;
  };

  void Check(const Catalog& data);
  void LayOut(const Catalog& data);
  std::vector<float> ValuesOf(
      std::size_t series, const container::StepToWrite& step, const std::vector<GivenArray>& mine) const;
  bool Takes(std::size_t series, const Sample& sample) const
  {
    return sample.Index % this->Series[series].Every == 0;
  }
  void Add(Sample sample, int threads);
  void Try(const std::function<void()>& work);
  void Gather(Sample sample, int threads);
  void Agree(int threads);
  void CheckCover() const;
  int StepsThatFit(const std::vector<std::uint64_t>& volumes) const;
  void WriteGathered();
  void Open();
  std::vector<std::int64_t> StepsOfSeries() const;
  std::vector<Region> RegionsOf(const std::vector<std::int64_t>& steps) const;
  std::vector<std::uint64_t> RangesOf(const std::vector<std::int64_t>& steps) const;
  void Give(const std::vector<Region>& regions, LineExchange& line);
  void WriteRange(const std::vector<Region>& regions, std::uint64_t begin, const LineExchange::Range& mine);
  void FileOf(std::size_t series);

  Communicator& Ranks;
  const Channel& What;
  const std::vector<SensorSeries> Series;
  std::size_t Sets = 0;
  int LongestPeriod = 1;

  // Of the simulation's thread.
  std::shared_ptr<const Cut> Current;
  std::int64_t Prepared = 0;
  std::vector<std::string> Names;
  Box Grid;

  // Of those that write, from the first step on.
  std::vector<SensorFile> Files;                   ///< by series, on rank 0
  std::vector<std::uint64_t> Offsets;              ///< see SensorFile::Offsets(), of one series after another
  std::vector<std::unique_ptr<PlainFile>> Opened;  ///< by series
  std::vector<Sample> Gathered;
  std::shared_ptr<const Cut> AgreedOn;
  Gathering How;
  std::vector<std::int64_t> Written;         ///< steps of each series
  std::vector<std::array<double, 2>> Times;  ///< of the first and the last one
  std::int64_t Next = 0;                     ///< Sample::Index
  std::string Fault;                         ///< why steps are missing; nothing is written any more
};

std::uint64_t KwaveTarget::BytesOf(const std::shared_ptr<const Declaration>& what, std::size_t variables)
{
  if (!this->Current || this->Current->Of != what) {
    auto cut = std::make_shared<Cut>();
    cut->Of = what;
    cut->Runs.resize(this->Series.size());
    cut->Values.resize(this->Series.size());
    for (std::size_t series = 0; series < this->Series.size() && !what->Data().Patches.empty(); ++series) {
      for (std::size_t set = 0; set < this->Series[series].Sets(); ++set) {
        const auto& runs =
            cut->Runs[series].emplace_back(RunsIn(this->Series[series], set, what->Data(), what->Mine()));
        cut->Values[series].push_back(std::accumulate(runs.begin(), runs.end(), std::int64_t(0),
            [](std::int64_t sum, const SensorRun& run) { return sum + run.Count; }));
      }
    }
    this->Current = cut;
  }
  std::uint64_t bytes = 0;
  for (std::size_t series = 0; series < this->Series.size(); ++series) {
    bytes += this->Current->ValuesOf(series) * variables * sizeof(float);
  }
  return bytes;
}

std::unique_ptr<StepOnItsWay> KwaveTarget::Prepare(const container::StepToWrite& step,
    const std::shared_ptr<const Declaration>& what, const std::vector<GivenArray>& mine)
{
  Sample sample{this->Prepared++, step.Data.Step, step.Data.Time, nullptr, {}};
  this->Check(step.Data);
  this->BytesOf(what, step.Types.size());
  sample.What = this->Current;
  sample.Values.resize(this->Series.size());
  for (std::size_t series = 0; series < this->Series.size(); ++series) {
    if (this->Takes(series, sample)) {
      sample.Values[series] = this->ValuesOf(series, step, mine);
    }
  }
  return std::make_unique<Step>(*this, std::move(sample));
}

/// Steps of a file are all alike. The first one lays the files out.
void KwaveTarget::Check(const Catalog& data)
{
  const auto require = [&](bool holds, const std::string& expected, const std::string& found) {
    if (!holds) {
      throw FileError(
          this->What.Path, expected, found, "Change the sensor, or write this channel as a container");
    }
  };
  std::vector<std::string> names;
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    const Variable& variable = data.Variables[v];
    require(variable.Components == 1 && variable.Center == Centering::Cell, "scalars at the centres of cells",
        fmt::format("variable '{}'", PlainText(variable.Name)));
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      require(data.Patches[p].Level > 0 ||
                  data.PresenceOf(static_cast<int>(v), static_cast<int>(p)) == Presence::Stored,
          fmt::format("values of '{}' on all patches of the coarsest level", PlainText(variable.Name)),
          fmt::format("none on patch {}", p));
    }
    names.push_back(variable.Name);
  }
  require(!data.Patches.empty() && data.Patches[0].Level == 0, "patches of the coarsest level", "none");
  const Box grid = GridOf(data);
  if (this->Names.empty()) {
    this->Names = names;
    this->Grid = grid;
    this->LayOut(data);
  }
  require(names == this->Names && grid == this->Grid, "the same variables and cells at all steps",
      fmt::format("others at step {}", data.Step));
}

void KwaveTarget::LayOut(const Catalog& data)
{
  for (std::size_t series = 0; series < this->Series.size() && this->Ranks.Rank() == 0; ++series) {
    const std::int64_t every = this->Series[series].Every;
    this->Files.emplace_back(this->Series[series], data, (this->What.MostSteps() + every - 1) / every);
  }
}

std::vector<float> KwaveTarget::ValuesOf(
    std::size_t series, const container::StepToWrite& step, const std::vector<GivenArray>& mine) const
{
  const std::size_t patches = step.Data.Patches.size();
  std::vector<const GivenArray*> arrays(patches * step.Types.size(), nullptr);
  for (const GivenArray& array : mine) {
    arrays[array.Variable * patches + array.Patch] = &array;
  }
  std::vector<float> values(this->Current->ValuesOf(series) * step.Types.size());
  float* next = values.data();
  for (std::size_t variable = 0; variable < step.Types.size(); ++variable) {
    for (const std::vector<SensorRun>& runs : this->Current->Runs[series]) {
      for (const SensorRun& run : runs) {
        const GivenArray& array = *arrays[variable * patches + run.Patch];
        Int3 layers = array.Ghosts;
        std::fill(layers.begin() + step.Data.Dimension, layers.end(), 0);
        const Box box = Grown(step.Data.Patches[run.Patch].Cells, layers);
        CopyFloats(step.Types[variable], array.Values, IndexIn(box, run.Cell), run.Count, next);
        next += run.Count;
      }
    }
  }
  return values;
}

/// Collective.
void KwaveTarget::Add(Sample sample, int threads)
{
  if (sample.Index != this->Next && this->Fault.empty()) {
    this->Fault = "One of them was not taken.";
  }
  if (!this->Fault.empty()) {
    throw FileError(
        this->What.Path, "all earlier steps, as k-Wave's files have no gaps", "not all: " + this->Fault);
  }
  this->Next = sample.Index + 1;
  this->Try([&] { this->Gather(std::move(sample), threads); });
}

void KwaveTarget::Flush(int /*threads*/)
{
  if (!this->Gathered.empty()) {
    this->Try([this] { this->WriteGathered(); });
  }
}

/// Steps that could not be written are lost, and so are all later ones.
void KwaveTarget::Try(const std::function<void()>& work)
{
  this->Fault = CatchError(work);
  if (!this->Fault.empty()) {
    this->Gathered.clear();
    throw Error(this->Fault);
  }
}

void KwaveTarget::Gather(Sample sample, int threads)
{
  if (!this->Gathered.empty() && this->Gathered.back().What != sample.What) {
    this->WriteGathered();
  }
  this->Gathered.push_back(std::move(sample));
  if (this->AgreedOn != this->Gathered.back().What) {
    this->Agree(threads);
  }
  if (static_cast<int>(this->Gathered.size()) >= this->How.Steps) {
    this->WriteGathered();
  }
}

/// Collective: who writes, and how many steps at once, for the patches of the last sample.
void KwaveTarget::Agree(int threads)
{
  std::vector<std::int64_t> mine;
  for (const std::vector<std::int64_t>& sets : this->Gathered.back().What->Values) {
    mine.insert(mine.end(), sets.begin(), sets.end());
  }
  std::vector<double> storage;
  if (const auto profile = this->Ranks.Rank() == 0 ? FindProfile(this->What.Path, nullptr, this->Ranks.Size())
                                                   : std::nullopt) {
    const StorageModel model = profile->Requests.value_or(StorageModel());
    storage = {model.Latency, model.Bandwidth};
  }
  this->How.Values = GatherValues(this->Ranks, mine);
  storage = GatherValues(this->Ranks, storage);
  this->CheckCover();
  std::vector<std::uint64_t> volumes(this->Ranks.Size(), 0);
  for (std::size_t i = 0; i < this->How.Values.size(); ++i) {
    volumes[i / this->Sets] += this->How.Values[i] * this->Names.size() * sizeof(float);
  }
  this->How.Plan = PlanAggregation(volumes);
  const std::vector<std::uint64_t> written = WrittenBytes(this->How.Plan, volumes);
  const auto writers = static_cast<int>(written.size() - std::count(written.begin(), written.end(), 0u));
  this->How.Threads = std::clamp(threads * this->Ranks.Size() / std::max(writers, 1), 1, MostThreads);
  this->How.Storage = storage.empty() ? StorageModel() : StorageModel{storage[0], storage[1]};
  const int most = this->StepsThatFit(volumes);
  const std::uint64_t request = LimitsOf(this->How.Storage, ~std::uint64_t(0), 1).Bytes;
  this->How.Steps = this->What.StepsAtOnce > 0 ? std::min(this->What.StepsAtOnce, most)
                    : storage.empty()          ? 1
                                      : StepsAtOnce(this->How.Plan, this->How.Threads * request, most);
  if (this->How.Steps > this->LongestPeriod) {
    this->How.Steps -= this->How.Steps % this->LongestPeriod;
  }
  this->AgreedOn = this->Gathered.back().What;
}

/// Throws Error where cells of the sensor are on no patch.
void KwaveTarget::CheckCover() const
{
  std::size_t number = 0;
  for (const SensorSeries& series : this->Series) {
    for (std::size_t set = 0; set < series.Sets(); ++set, ++number) {
      std::int64_t found = 0;
      for (std::size_t i = number; i < this->How.Values.size(); i += this->Sets) {
        found += this->How.Values[i];
      }
      if (found != series.ValuesOf(set)) {
        throw FileError(series.Path,
            fmt::format("all {} values of {} on patches of the coarsest level", series.ValuesOf(set),
                series.Cuboids.empty() ? "the points" : fmt::format("cuboid {}", set + 1)),
            fmt::format("{}", found), "Change the sensor in the output configuration");
      }
    }
  }
}

/// A rank keeps its values and messages with them, and what it will write and messages of it.
int KwaveTarget::StepsThatFit(const std::vector<std::uint64_t>& volumes) const
{
  const std::vector<std::uint64_t> written = WrittenBytes(this->How.Plan, volumes);
  const std::uint64_t bytes = 2 * (*std::max_element(volumes.begin(), volumes.end()) +
                                      *std::max_element(written.begin(), written.end()));
  if (bytes > this->What.Memory) {
    throw FileError(this->What.Path,
        fmt::format("steps that take at most {} on a rank", ByteText(static_cast<double>(this->What.Memory))),
        ByteText(static_cast<double>(bytes)), "Raise \"memory\" in the output configuration");
  }
  constexpr std::uint64_t most = 1 << 20;
  return static_cast<int>(std::min(most, this->What.Memory / std::max<std::uint64_t>(bytes, 1)));
}

/// Collective.
void KwaveTarget::WriteGathered()
{
  this->Open();
  const std::vector<std::int64_t> counts = this->StepsOfSeries();
  const std::vector<Region> regions = this->RegionsOf(counts);
  const std::vector<std::uint64_t> ranges = this->RangesOf(counts);
  LineExchange line(this->Ranks, ranges);
  RunOnAllRanks(this->Ranks, [&] { this->Give(regions, line); });
  line.Exchange();
  RunOnAllRanks(this->Ranks, [&] { this->WriteRange(regions, ranges[this->Ranks.Rank()], line.Mine()); });
  for (const Sample& sample : this->Gathered) {
    for (std::size_t series = 0; series < this->Series.size(); ++series) {
      if (this->Takes(series, sample)) {
        this->Times[series][this->Written[series]++ > 0] = sample.Time;
      }
    }
  }
  RunOnAllRanks(this->Ranks, [&] {
    for (std::size_t series = 0; series < this->Files.size(); ++series) {
      if (counts[series] > 0) {
        this->Files[series].Commit(
            this->Written[series], this->Times[series][0], this->Times[series][this->Written[series] > 1]);
      }
    }
  });
  this->Gathered.clear();
}

/// Collective the first time: makes the files.
void KwaveTarget::Open()
{
  if (!this->Opened.empty()) {
    return;
  }
  std::vector<std::uint64_t> offsets;
  RunOnAllRanks(this->Ranks, [&] {
    for (SensorFile& file : this->Files) {
      file.Create(this->What.Overwrite);
      offsets.insert(offsets.end(), file.Offsets().begin(), file.Offsets().end());
    }
  });
  this->Offsets = GatherValues(this->Ranks, offsets);
  this->Opened.resize(this->Series.size());
  this->Written.resize(this->Series.size(), 0);
  this->Times.resize(this->Series.size());
}

/// Of the gathered ones.
std::vector<std::int64_t> KwaveTarget::StepsOfSeries() const
{
  std::vector<std::int64_t> steps;
  for (std::size_t series = 0; series < this->Series.size(); ++series) {
    steps.push_back(std::count_if(this->Gathered.begin(), this->Gathered.end(),
        [&](const Sample& sample) { return this->Takes(series, sample); }));
  }
  return steps;
}

/// Variable by variable and set by set of each series, as SensorFile::Offsets() has them.
std::vector<Region> KwaveTarget::RegionsOf(const std::vector<std::int64_t>& steps) const
{
  std::vector<Region> regions;
  std::uint64_t begin = 0;
  for (std::size_t series = 0; series < this->Series.size(); ++series) {
    for (std::size_t i = 0; i < this->Names.size() * this->Series[series].Sets(); ++i) {
      Region& region = regions.emplace_back();
      region.Series = series;
      region.StepBytes = this->Series[series].ValuesOf(i % this->Series[series].Sets()) * sizeof(float);
      region.Begin = begin;
      region.Offset = this->Offsets[regions.size() - 1] + this->Written[series] * region.StepBytes;
      region.Bytes = region.StepBytes * steps[series];
      begin += region.Bytes;
    }
  }
  return regions;
}

/// Who writes which part of all regions: as much as the plan has for each rank.
std::vector<std::uint64_t> KwaveTarget::RangesOf(const std::vector<std::int64_t>& steps) const
{
  std::vector<std::int64_t> stepsOfSet;
  for (std::size_t series = 0; series < this->Series.size(); ++series) {
    stepsOfSet.insert(stepsOfSet.end(), this->Series[series].Sets(), steps[series]);
  }
  std::vector<std::uint64_t> volumes(this->Ranks.Size(), 0);
  for (std::size_t i = 0; i < this->How.Values.size(); ++i) {
    volumes[i / this->Sets] +=
        this->How.Values[i] * stepsOfSet[i % this->Sets] * this->Names.size() * sizeof(float);
  }
  std::vector<std::uint64_t> begins{0};
  for (const std::uint64_t bytes : WrittenBytes(this->How.Plan, volumes)) {
    begins.push_back(begins.back() + bytes);
  }
  return begins;
}

/// This rank's values of all gathered steps.
void KwaveTarget::Give(const std::vector<Region>& regions, LineExchange& line)
{
  std::vector<std::uint64_t> done(this->Series.size(), 0);
  for (Sample& sample : this->Gathered) {
    std::size_t region = 0;
    for (std::size_t series = 0; series < this->Series.size(); ++series) {
      const std::size_t sets = this->Series[series].Sets(), count = this->Names.size() * sets;
      const float* next = sample.Values[series].data();
      for (std::size_t i = 0; i < count && this->Takes(series, sample); ++i) {
        const Region& to = regions[region + i];
        next =
            GiveRuns(sample.What->Runs[series][i % sets], next, to.Begin + done[series] * to.StepBytes, line);
      }
      done[series] += this->Takes(series, sample) ? 1 : 0;
      region += count;
    }
    sample.Values.assign(this->Series.size(), {});
  }
}

/// Cut into requests as large as the storage likes them. What has been written outlives the machine's
/// failure.
void KwaveTarget::WriteRange(
    const std::vector<Region>& regions, std::uint64_t begin, const LineExchange::Range& mine)
{
  struct Request
  {
    std::size_t Series = 0;
    std::uint64_t Offset = 0, From = 0, Bytes = 0;
  };
  const std::uint64_t most = LimitsOf(this->How.Storage, mine.Count, this->How.Threads).Bytes;
  std::vector<Request> requests;
  for (const Region& region : regions) {
    const std::uint64_t end = std::min(begin + mine.Count, region.Begin + region.Bytes);
    for (std::uint64_t at = std::max(begin, region.Begin); at < end; at += most) {
      requests.push_back(
          {region.Series, region.Offset + (at - region.Begin), at - begin, std::min(most, end - at)});
      this->FileOf(region.Series);
    }
  }
  std::mutex lock;
  std::string fault;
  RunTasks(requests.size(), this->How.Threads, [&](std::size_t task) {
    const Request& request = requests[task];
    const std::string problem = CatchError([&] {
      this->Opened[request.Series]->Write(request.Offset, mine.Bytes + request.From, request.Bytes);
    });
    const std::lock_guard<std::mutex> guard(lock);
    fault = fault.empty() ? problem : fault;
  });
  if (!fault.empty()) {
    throw Error(fault);
  }
  for (std::size_t series = 0; series < this->Series.size(); ++series) {
    if (std::any_of(requests.begin(), requests.end(), [&](const Request& r) { return r.Series == series; })) {
      this->Opened[series]->Flush();
    }
  }
}

void KwaveTarget::FileOf(std::size_t series)
{
  if (!this->Opened[series]) {
    this->Opened[series] = std::make_unique<PlainFile>(this->Series[series].Path, PlainFile::Purpose::Update);
  }
}

}  // namespace

std::unique_ptr<Target> MakeKwaveTarget(Communicator& ranks, const Channel& channel)
{
  return std::make_unique<KwaveTarget>(ranks, channel);
}

}  // namespace patchio::output

// What a sensor sees of a simulation's arrays, in files like k-Wave's.
#include "Output/SensorWriter.h"
#include "Output/Target.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace patchio::output {
namespace {

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

class KwaveTarget : public PartsTarget
{
public:
  KwaveTarget(Communicator& ranks, const Channel& channel) : Path(channel.Path), Writer(ranks, channel) {}

  std::uint64_t BytesOf(const std::shared_ptr<const Declaration>& what, std::size_t variables) override;
  std::unique_ptr<StepOnItsWay> Prepare(const container::StepToWrite& step,
      const std::shared_ptr<const Declaration>& what, const std::vector<GivenArray>& mine) override;
  void Flush(int /*threads*/) override { this->Writer.Flush(); }

private:
  class Step : public StepOnItsWay
  {
  public:
    Step(SensorWriter& into, SensorSample sample) : Into(into), Sample(std::move(sample)) {}
    void Write(const std::vector<container::PatchValues>&, int threads) override
    {
      this->Into.Add(std::move(this->Sample), threads);
    }

  private:
    SensorWriter& Into;
    SensorSample Sample;
  };

  std::shared_ptr<const SensorCut> CutOf(const std::shared_ptr<const Declaration>& what) const;
  void Check(const Catalog& data);
  std::vector<float> ValuesOf(
      std::size_t series, const container::StepToWrite& step, const std::vector<GivenArray>& mine) const;

  const std::string Path;
  SensorWriter Writer;
  std::shared_ptr<const SensorCut> Current;
  std::int64_t Prepared = 0;  ///< steps
  std::vector<std::string> Names;
  Box Grid;
};

std::uint64_t KwaveTarget::BytesOf(const std::shared_ptr<const Declaration>& what, std::size_t variables)
{
  if (!this->Current || this->Current->Of != what) {
    this->Current = this->CutOf(what);
  }
  std::uint64_t bytes = 0;
  for (const std::vector<std::int64_t>& sets : this->Current->Values) {
    bytes += std::accumulate(sets.begin(), sets.end(), std::int64_t(0)) * variables * sizeof(float);
  }
  return bytes;
}

std::shared_ptr<const SensorCut> KwaveTarget::CutOf(const std::shared_ptr<const Declaration>& what) const
{
  auto cut = std::make_shared<SensorCut>();
  cut->Of = what;
  for (const SensorSeries& series : this->Writer.Series()) {
    cut->Runs.emplace_back();
    cut->Values.emplace_back();
    for (std::size_t set = 0; set < series.Sets(); ++set) {
      const auto& runs = cut->Runs.back().emplace_back(RunsIn(series, set, what->Data(), what->Mine()));
      cut->Values.back().push_back(std::accumulate(runs.begin(), runs.end(), std::int64_t(0),
          [](std::int64_t sum, const SensorRun& run) { return sum + run.Count; }));
    }
  }
  return cut;
}

std::unique_ptr<StepOnItsWay> KwaveTarget::Prepare(const container::StepToWrite& step,
    const std::shared_ptr<const Declaration>& what, const std::vector<GivenArray>& mine)
{
  SensorSample sample{this->Prepared++, step.Data.Step, step.Data.Time, nullptr, {}};
  this->Check(step.Data);
  this->BytesOf(what, step.Types.size());
  sample.What = this->Current;
  sample.Values.resize(this->Writer.Series().size());
  for (std::size_t series = 0; series < this->Writer.Series().size(); ++series) {
    if (this->Writer.Takes(series, sample)) {
      sample.Values[series] = this->ValuesOf(series, step, mine);
    }
  }
  return std::make_unique<Step>(this->Writer, std::move(sample));
}

/// Steps of a file are all alike. The first one lays the files out.
void KwaveTarget::Check(const Catalog& data)
{
  const auto require = [&](bool holds, const std::string& expected, const std::string& found) {
    if (!holds) {
      throw FileError(this->Path, expected, found, "Change the sensor, or write this channel as a container");
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
    this->Writer.LayOut(data);
  }
  require(names == this->Names && grid == this->Grid, "the same variables and cells at all steps",
      fmt::format("others at step {}", data.Step));
}

std::vector<float> KwaveTarget::ValuesOf(
    std::size_t series, const container::StepToWrite& step, const std::vector<GivenArray>& mine) const
{
  const std::size_t patches = step.Data.Patches.size();
  std::vector<const GivenArray*> arrays(patches * step.Types.size(), nullptr);
  for (const GivenArray& array : mine) {
    arrays[array.Variable * patches + array.Patch] = &array;
  }
  const std::vector<std::int64_t>& sets = this->Current->Values[series];
  std::vector<float> values(std::accumulate(sets.begin(), sets.end(), std::int64_t(0)) * step.Types.size());
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

}  // namespace

std::unique_ptr<Target> MakeKwaveTarget(Communicator& ranks, const Channel& channel)
{
  return std::make_unique<KwaveTarget>(ranks, channel);
}

}  // namespace patchio::output

// The target for sensors, which sample a simulation's arrays and write files like k-Wave's.
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Formats/KWave/KwaveFile.h"
#include "Write/FloatFile.h"
#include "Write/SensorWriter.h"
#include "Write/Target.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace patchio::output {
namespace {

class KwaveTarget : public Target
{
public:
  KwaveTarget(Communicator& ranks, const Channel& channel)
      : Path(channel.Path), Uniform(channel.Path), Writer(ranks, channel)
  {
  }

  bool TakesParts() const override { return true; }
  std::uint64_t BytesOf(const std::shared_ptr<const Declaration>& what, std::size_t variables) override;
  PendingStep Prepare(container::StepToWrite step, const GivenArrays& given) override;
  void Flush(int /*threads*/) override { this->Writer.Flush(); }
  void Lose(std::int64_t step) override { this->Writer.Lose(step); }

private:
  std::shared_ptr<const SensorCut> CutOf(const std::shared_ptr<const Declaration>& what) const;
  void Check(const Catalog& data) const;
  void Require(bool holds, const std::string& expected, const std::string& found) const;
  void TakeValues(std::size_t series, const container::StepToWrite& step,
      const std::vector<GivenArray>& given, std::vector<float>& values) const;

  const std::string Path;
  UniformSteps Uniform;
  SensorWriter Writer;
  std::shared_ptr<const SensorCut> Current;
  std::int64_t Prepared = 0;  ///< number of prepared steps
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
      const auto& runs =
          cut->Runs.back().emplace_back(RunsIn(series, set, what->Data(), what->LocalPatches()));
      cut->Values.back().push_back(std::accumulate(runs.begin(), runs.end(), std::int64_t(0),
          [](std::int64_t sum, const SensorRun& run) { return sum + run.Count; }));
    }
  }
  return cut;
}

PendingStep KwaveTarget::Prepare(container::StepToWrite step, const GivenArrays& given)
{
  this->Uniform.Check(step.Data);
  this->Check(step.Data);
  SensorSample sample{this->Prepared++, step.Data.Step, step.Data.Time, nullptr, {}, given.Fault};
  this->BytesOf(given.What, step.Types.size());
  sample.What = this->Current;
  sample.Values = this->Writer.TakeMemory();
  const std::string problem = CatchError([&] {
    if (this->Uniform.IsEmpty()) {
      this->Writer.LayOut(step.Data);
    }
    for (std::size_t series = 0; series < this->Writer.Series().size() && given.Fault.empty(); ++series) {
      if (this->Writer.Takes(series, sample)) {
        this->TakeValues(series, step, given.Arrays, sample.Values[series]);
      }
    }
  });
  sample.Fault = given.Fault.empty() ? problem : given.Fault;
  this->Uniform.Add(step.Data);
  return [this, sample = std::move(sample)](const container::HeldValues&, int threads) mutable {
    this->Writer.Add(std::move(sample), threads);
  };
}

/// Throws Error if the format kwave does not support the step.
void KwaveTarget::Check(const Catalog& data) const
{
  for (const Variable& variable : data.Variables) {
    this->Require(variable.Components == 1 && variable.Center == Centering::Cell,
        "scalars at the centres of cells", fmt::format("variable '{}'", PlainText(variable.Name)));
    const std::string fault = kwave::FaultOfName(variable.Name);
    this->Require(fault.empty(), "names that the format kwave allows",
        fmt::format("'{}': {}", PlainText(variable.Name), fault));
  }
  this->Require(!data.Patches.empty() && data.Patches[0].Level == 0, "patches of the coarsest level", "none");
}

void KwaveTarget::Require(bool holds, const std::string& expected, const std::string& found) const
{
  if (!holds) {
    throw FileError(this->Path, expected, found, "Change the sensor, or write this channel as a container");
  }
}

void KwaveTarget::TakeValues(std::size_t series, const container::StepToWrite& step,
    const std::vector<GivenArray>& given, std::vector<float>& values) const
{
  const std::size_t patches = step.Data.Patches.size();
  std::vector<const GivenArray*> arrays(patches * step.Types.size(), nullptr);
  for (const GivenArray& array : given) {
    arrays[array.Variable * patches + array.Patch] = &array;
  }
  const std::vector<std::int64_t>& sets = this->Current->Values[series];
  values.resize(std::accumulate(sets.begin(), sets.end(), std::int64_t(0)) * step.Types.size());
  float* next = values.data();
  for (std::size_t variable = 0; variable < step.Types.size(); ++variable) {
    for (const std::vector<SensorRun>& runs : this->Current->Runs[series]) {
      for (const SensorRun& run : runs) {
        const GivenArray* const array = arrays[variable * patches + run.Patch];
        if (!array) {
          this->Require(false, "values of all variables on all patches of the coarsest level",
              fmt::format(
                  "no values of '{}' on patch {}", PlainText(step.Data.Variables[variable].Name), run.Patch));
        }
        Int3 layers = array->Ghosts;
        std::fill(layers.begin() + step.Data.Dimension, layers.end(), 0);
        const Box box = Grown(step.Data.Patches[run.Patch].Cells, layers);
        CopyFloats(step.Types[variable], array->Values, IndexIn(box, run.Cell), run.Count, next);
        next += run.Count;
      }
    }
  }
}

}  // namespace

std::unique_ptr<Target> MakeKwaveTarget(Communicator& ranks, const Channel& channel)
{
  return std::make_unique<KwaveTarget>(ranks, channel);
}

}  // namespace patchio::output

// The target of the format kwave, which samples a simulation's arrays at a sensor, and writes files like
// k-Wave's output.
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
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

  bool CopiesParts() const override { return true; }
  std::uint64_t BytesOf(const std::shared_ptr<const Declaration>& declared, std::size_t variables) override;
  PendingStep Prepare(container::StepToWrite step, const SimulationArrays& source) override;
  void Flush() override { this->Writer.Flush(); }
  void MarkLost(std::int64_t step) override { this->Writer.MarkLost(step); }

private:
  const std::shared_ptr<const LocalSensor>& LocalSensorOf(const std::shared_ptr<const Declaration>& declared);
  void CheckSupported(const Catalog& data) const;
  void Require(bool holds, const std::string& expected, const std::string& found) const;
  void CopyValues(std::size_t portion, const container::StepToWrite& step,
      const std::vector<SimulationArray>& source, std::vector<float>& values) const;

  const std::string Path;
  UniformSteps Uniform;
  SensorWriter Writer;
  std::shared_ptr<const LocalSensor> Current;
  std::int64_t Prepared = 0;  ///< number of prepared steps
};

std::uint64_t KwaveTarget::BytesOf(const std::shared_ptr<const Declaration>& declared, std::size_t variables)
{
  std::uint64_t bytes = 0;
  for (const std::vector<std::int64_t>& sets : this->LocalSensorOf(declared)->ValueCounts) {
    bytes += std::accumulate(sets.begin(), sets.end(), std::int64_t(0)) * variables * sizeof(float);
  }
  return bytes;
}

/// Returns the sensor on this rank's patches, and sets Current to the result.
const std::shared_ptr<const LocalSensor>& KwaveTarget::LocalSensorOf(
    const std::shared_ptr<const Declaration>& declared)
{
  if (this->Current && this->Current->Declared == declared) {
    return this->Current;
  }
  auto local = std::make_shared<LocalSensor>();
  local->Declared = declared;
  for (const SensorPortion& portion : this->Writer.Portions()) {
    local->Runs.emplace_back();
    local->ValueCounts.emplace_back();
    for (std::size_t set = 0; set < portion.SetCount(); ++set) {
      const auto& runs =
          local->Runs.back().emplace_back(RunsIn(portion, set, declared->Data(), declared->LocalPatches()));
      local->ValueCounts.back().push_back(std::accumulate(runs.begin(), runs.end(), std::int64_t(0),
          [](std::int64_t sum, const SensorRun& run) { return sum + run.Count; }));
    }
  }
  return this->Current = local;
}

PendingStep KwaveTarget::Prepare(container::StepToWrite step, const SimulationArrays& source)
{
  this->Uniform.CheckNumber(step.Data.Step);
  SensorSample sample{this->Prepared++, step.Data.Step, step.Data.Time, nullptr, {}, {}};
  sample.Fault = CatchError([&] {
    sample.Local = this->LocalSensorOf(source.Declared);
    ThrowFault(source.Fault);
    this->Uniform.CheckDescription(step.Data);
    this->CheckSupported(step.Data);
    if (this->Uniform.IsEmpty()) {
      this->Writer.LayOut(step.Data);
    }
    sample.Values = this->Writer.AcquireMemory();
    for (std::size_t portion = 0; portion < this->Writer.Portions().size(); ++portion) {
      if (this->Writer.Includes(portion, sample)) {
        this->CopyValues(portion, step, source.Arrays, sample.Values[portion]);
      }
    }
  });
  // A step with a fault counts, too, so that all ranks refuse the same numbers and lay the files out once.
  const std::string notAdded = CatchError([&] { this->Uniform.Add(step.Data); });
  sample.Fault = sample.Fault.empty() ? notAdded : sample.Fault;
  return [this, sample = std::move(sample)](const container::HeldValues&, int threads) mutable {
    this->Writer.Add(std::move(sample), threads);
  };
}

/// Throws Error if the format kwave does not support the step.
void KwaveTarget::CheckSupported(const Catalog& data) const
{
  for (const Variable& variable : data.Variables) {
    this->Require(variable.Components == 1 && variable.Center == Centering::Cell,
        "scalars at the centres of cells",
        fmt::format("'{}' with {} at {}", PlainText(variable.Name),
            CountText(variable.Components, "component"),
            variable.Center == Centering::Node ? "nodes" : "cells"));
    const std::string fault = kwave::FaultOfName(variable.Name);
    this->Require(fault.empty(), "names that the format kwave allows",
        fmt::format("'{}': {}", PlainText(variable.Name), fault));
  }
  this->Require(
      !data.Patches.empty() && data.Patches[0].Level == 0, "patches of the coarsest level", "no such patch");
}

void KwaveTarget::Require(bool holds, const std::string& expected, const std::string& found) const
{
  if (!holds) {
    throw FileError(this->Path, expected, found, "Change the sensor, or write this channel as a container");
  }
}

void KwaveTarget::CopyValues(std::size_t portion, const container::StepToWrite& step,
    const std::vector<SimulationArray>& source, std::vector<float>& values) const
{
  const std::size_t patches = step.Data.Patches.size();
  std::vector<const SimulationArray*> arrays(patches * step.Types.size(), nullptr);
  for (const SimulationArray& array : source) {
    arrays[array.Variable * patches + array.Patch] = &array;
  }
  const std::vector<std::int64_t>& sets = this->Current->ValueCounts[portion];
  values.resize(std::accumulate(sets.begin(), sets.end(), std::int64_t(0)) * step.Types.size());
  float* next = values.data();
  for (std::size_t variable = 0; variable < step.Types.size(); ++variable) {
    for (const std::vector<SensorRun>& runs : this->Current->Runs[portion]) {
      for (const SensorRun& run : runs) {
        const SimulationArray* const array = arrays[variable * patches + run.Patch];
        if (!array) {
          this->Require(false, "values of all variables on all patches of the coarsest level",
              fmt::format(
                  "no values of '{}' on patch {}", PlainText(step.Data.Variables[variable].Name), run.Patch));
        }
        Int3 layers = array->Ghosts;
        std::fill(layers.begin() + step.Data.Dimension, layers.end(), 0);
        const Box box = Grow(step.Data.Patches[run.Patch].Cells, layers);
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

#include "Write/Target.h"

#include "Base/Error.h"
#include "Tuning/StorageProfile.h"
#include "Write/ContainerWriter.h"

#include <fmt/format.h>

namespace patchio::output {
namespace {

class ContainerTarget : public Target
{
public:
  ContainerTarget(Communicator& ranks, const Channel& channel) : Ranks(ranks), Config(channel) {}

  PendingStep Prepare(container::StepToWrite step, const SimulationArrays&) override
  {
    if (step.Compression.empty()) {
      step.Compression.assign(step.Types.size(), this->Config.Compression);
    }
    const auto writing = std::make_shared<container::StepWriter>(
        this->Ranks, this->Config.Path, std::move(step), this->Config.RanksPerFile);
    return [this, writing](container::HeldValues values, int threads) {
      container::ContainerWriter& writer = this->Writer();
      writer.Begin(*writing);
      writing->Write(std::move(values), threads);
      writer.Commit(*writing);
    };
  }

private:
  /// Returns the writer of the container. The first call opens the container. Collective: every writing rank
  /// calls it.
  container::ContainerWriter& Writer()
  {
    if (!this->Opened) {
      this->Opened = std::make_unique<container::ContainerWriter>(this->Ranks, this->Config.Path,
          container::ContainerOptions{this->Config.Overwrite, this->Config.RanksPerFile});
    }
    return *this->Opened;
  }

  Communicator& Ranks;
  const Channel& Config;
  std::unique_ptr<container::ContainerWriter> Opened;
};

}  // namespace

int ThreadsFor(const OutputConfig& config, const Channel& channel, int rankCount)
{
  constexpr int unknown = 4;
  if (config.Threads > 0) {
    return config.Threads;
  }
  const auto profile = FindProfile(channel.Path, nullptr, rankCount);
  return profile ? profile->ThreadsFor(rankCount) : unknown;
}

std::unique_ptr<Target> MakeTarget(Communicator& ranks, const Channel& channel)
{
  if (channel.Format == TargetFormat::Grads) {
    return MakeGradsTarget(ranks, channel);
  }
  if (channel.Format == TargetFormat::Kwave) {
    return MakeKwaveTarget(ranks, channel);
  }
  return std::make_unique<ContainerTarget>(ranks, channel);
}

}  // namespace patchio::output

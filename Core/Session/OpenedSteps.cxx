#include "Session/OpenedSteps.h"

#include "Support/RunOnAllRanks.h"

#include <algorithm>

namespace patchio {
namespace {

/// What catalog and index of a step take, from the catalog alone, so that all ranks find the same.
std::uint64_t RoughBytes(const Catalog& catalog)
{
  constexpr std::uint64_t place = 40;  // of an extent
  return catalog.Patches.size() * (sizeof(Patch) + catalog.Variables.size() * place);
}

}  // namespace

std::shared_ptr<OpenedStep> OpenedSteps::Open(Communicator& comm, const std::string& path, ChannelMode mode)
{
  const auto found = std::find_if(
      this->Steps.begin(), this->Steps.end(), [&path](const Entry& entry) { return entry.Path == path; });
  std::shared_ptr<OpenedStep> step;
  if (found != this->Steps.end()) {
    step = found->Step;
    this->Steps.erase(found);
    // Ranks may see a file change at different times.
    const auto answer = BytesOfRankZero(
        comm, [&] { return std::vector<std::byte>(1, std::byte(step->Unchanged() ? 1 : 0)); });
    if (answer[0] == std::byte(0)) {
      step.reset();
    }
  }
  if (!step) {
    step = std::make_shared<OpenedStep>(comm, path, mode);
  }
  this->Steps.push_front({path, step});
  this->Trim();
  return step;
}

void OpenedSteps::Trim()
{
  std::uint64_t bytes = 0;
  for (std::size_t i = 1; i < this->Steps.size(); ++i) {
    bytes += RoughBytes(this->Steps[i].Step->Data());
    if (i == MostSteps || bytes > MostBytes) {
      this->Steps.resize(i);
    }
  }
}

}  // namespace patchio

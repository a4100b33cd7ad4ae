#include "Probe/StudyPlan.h"

#include "Support/Error.h"

#include <algorithm>

namespace patchio::probe {

StudyPlan::StudyPlan(const Settings& settings, const Communicator& ranks)
    : How(settings), Ranks(ranks), Chosen(CheckSettings(settings, ranks.Size()))
{
  for (const Function& function : this->Chosen.Functions) {
    for (const View view : this->Chosen.Views) {
      for (const std::uint64_t size : this->Chosen.Sizes) {
        for (const std::uint64_t block : this->Chosen.Blocks) {
          this->Consider(function, view, size, block);
        }
      }
    }
  }
  if (this->All.empty()) {
    throw Error(
        "The selected options leave nothing to measure. Shared pointers only support the view own, writes do "
        "not support the view whole, and a block must fit into the part of a rank.");
  }
}

void StudyPlan::Consider(const Function& function, View view, std::uint64_t size, std::uint64_t block)
{
  const Layout layout = this->LayoutOf(view, size);
  if (Applies(function, view) && block <= layout.PartBytes()) {
    this->All.push_back({{function.Name, view, size, block}, function});
  }
}

Layout StudyPlan::LayoutOf(View view, std::uint64_t size) const
{
  const int count = this->Ranks.Size();
  return {view, this->Ranks.Rank(), count, DivisibleSize(size, count, this->How.Piece), this->How.Piece};
}

std::uint64_t StudyPlan::BytesOfFiles() const
{
  std::uint64_t bytes = std::min(CacheCheckBytes, this->Chosen.Sizes.back());
  for (const std::uint64_t size : this->Chosen.Sizes) {
    bytes += size;
  }
  return bytes + (this->How.InfluenceSeconds > 0 ? 2 * this->Chosen.Sizes.back() : 0);
}

double StudyPlan::MostMemory() const
{
  double most = 0;
  for (const Planned& point : this->All) {
    const Layout layout = this->LayoutOf(point.Key.Shape, point.Key.FileBytes);
    const auto ring = static_cast<double>(std::max(RingBytes, point.Key.Block * (this->How.InFlight + 1)));
    most = std::max(most, std::min(ring, 2.0 * layout.ViewBytes()));
  }
  return most;
}

}  // namespace patchio::probe

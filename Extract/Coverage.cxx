#include "Extract/Coverage.h"

#include <algorithm>

namespace patchio::extract {
namespace {

constexpr int NumbersOfRun = 5;
constexpr std::size_t MostBins = 100000;

std::array<double, 2> EndsOf(const Block& block, int axis, int begin, int end)
{
  const double* const positions = block.PositionsOf(axis);
  const int last = block.Points[axis] - 1;
  return {positions[std::min(begin, last)], positions[std::min(end, last)]};
}

double MiddleOf(const Block& block, int axis, int cell)
{
  const std::array<double, 2> ends = EndsOf(block, axis, cell, cell + 1);
  return 0.5 * (ends[0] + ends[1]);
}

}  // namespace

int Coverage::KindOf(const AlignedCut& cut)
{
  return (cut.Of->Points[cut.Inner] > 1 ? 1 : 0) + (cut.Of->Points[cut.Outer] > 1 ? 2 : 0);
}

std::vector<double> Coverage::RunsOf(const std::vector<AlignedCut>& cuts)
{
  std::vector<double> runs;
  for (const AlignedCut& cut : cuts) {
    const int inner = cut.Of->Cells(cut.Inner);
    for (int o = 0; cut.Layer >= 0 && o < cut.Rows(); ++o) {
      const auto isVisible = [&](int i) { return cut.Of->IsVisible(cut.CellAt(cut.Layer, i, o)); };
      for (int begin = 0; begin < inner; ++begin) {
        if (!isVisible(begin)) {
          continue;
        }
        int end = begin + 1;
        while (end < inner && isVisible(end)) {
          ++end;
        }
        const std::array<double, 2> along = EndsOf(*cut.Of, cut.Inner, begin, end);
        const std::array<double, 2> across = EndsOf(*cut.Of, cut.Outer, o, o + 1);
        runs.insert(runs.end(), {static_cast<double>(KindOf(cut)), along[0], along[1], across[0], across[1]});
        begin = end;
      }
    }
  }
  return runs;
}

Coverage::Coverage(const std::vector<double>& runs)
{
  if (runs.empty()) {
    return;
  }
  double last = runs[4];
  this->First = runs[3];
  for (std::size_t r = 0; r + NumbersOfRun <= runs.size(); r += NumbersOfRun) {
    this->Runs.push_back({runs[r], {runs[r + 1], runs[r + 2]}, {runs[r + 3], runs[r + 4]}});
    this->First = std::min(this->First, runs[r + 3]);
    last = std::max(last, runs[r + 4]);
  }
  this->Bins.resize(std::min(this->Runs.size(), MostBins));
  this->BinsPerLength =
      last > this->First ? static_cast<double>(this->Bins.size()) / (last - this->First) : 0;
  const auto bin = [this](double outer) {
    return std::min(
        static_cast<std::size_t>((outer - this->First) * this->BinsPerLength), this->Bins.size() - 1);
  };
  for (std::size_t r = 0; r < this->Runs.size(); ++r) {
    for (std::size_t b = bin(this->Runs[r].Outer[0]); b <= bin(this->Runs[r].Outer[1]); ++b) {
      this->Bins[b].push_back(static_cast<int>(r));
    }
  }
}

void Coverage::FindRuns(double kind, double outer, std::vector<const Run*>& found) const
{
  found.clear();
  const double place = (outer - this->First) * this->BinsPerLength;
  if (this->Bins.empty() || !(place >= 0)) {
    return;
  }
  for (const int r : this->Bins[std::min(static_cast<std::size_t>(place), this->Bins.size() - 1)]) {
    const Run& run = this->Runs[static_cast<std::size_t>(r)];
    if (run.Kind == kind && run.Outer[0] <= outer && outer <= run.Outer[1]) {
      found.push_back(&run);
    }
  }
}

void Coverage::RemoveCovered(AlignedCut& cut) const
{
  std::vector<const Run*> found;
  auto below = cut.Below.begin();
  const int inner = cut.Of->Cells(cut.Inner);
  for (int o = 0; !cut.Below.empty() && o < cut.Rows(); ++o) {
    this->FindRuns(KindOf(cut), MiddleOf(*cut.Of, cut.Outer, o), found);
    for (int i = 0; i < inner; ++i, ++below) {
      if (*below) {
        const double middle = MiddleOf(*cut.Of, cut.Inner, i);
        *below = std::none_of(found.begin(), found.end(),
            [middle](const Run* run) { return run->Inner[0] <= middle && middle <= run->Inner[1]; });
      }
    }
  }
}

}  // namespace patchio::extract

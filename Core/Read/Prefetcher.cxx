#include "Read/Prefetcher.h"

#include <algorithm>
#include <utility>

namespace patchio {

Prefetcher::~Prefetcher()
{
  this->Clear();
}

void Prefetcher::RecordDisplayed(std::size_t step)
{
  if (this->LastDisplayed && *this->LastDisplayed != step) {
    this->Distance = static_cast<std::ptrdiff_t>(step) - static_cast<std::ptrdiff_t>(*this->LastDisplayed);
  }
  this->LastDisplayed = step;
}

std::vector<std::size_t> Prefetcher::NextSteps(std::size_t steps, int most) const
{
  std::vector<std::size_t> next;
  if (!this->LastDisplayed || this->Distance == 0) {
    return next;
  }
  auto step = static_cast<std::ptrdiff_t>(*this->LastDisplayed) + this->Distance;
  for (; step >= 0 && step < static_cast<std::ptrdiff_t>(steps) && static_cast<int>(next.size()) < most;
       step += this->Distance) {
    next.push_back(static_cast<std::size_t>(step));
  }
  return next;
}

bool Prefetcher::Contains(std::size_t step) const
{
  return std::any_of(this->Queue.begin(), this->Queue.end(),
      [step](const PrefetchedStep& ahead) { return ahead.Number == step; });
}

void Prefetcher::Add(PrefetchedStep step)
{
  step.Located.ReadOfRank->Start(this->Queue.empty() ? nullptr : this->Queue.back().Located.ReadOfRank.get());
  this->Queue.push_back(std::move(step));
}

std::optional<PrefetchedStep> Prefetcher::TakeStep(Communicator& ranks, std::size_t step)
{
  const bool here = !this->Stopped && !this->Queue.empty() && this->Queue.front().Number == step;
  const double least = ranks.Min({this->Stopped ? -1.0 : here ? 1.0 : 0.0})[0];
  if (least < 0) {
    this->Clear();
    return std::nullopt;
  }
  if (least == 0) {
    this->ClearQueue();
    return std::nullopt;
  }
  std::optional<PrefetchedStep> taken = std::move(this->Queue.front());
  this->Queue.pop_front();
  return taken;
}

bool Prefetcher::IsSameOnAllRanks(Communicator& ranks, int most)
{
  const std::vector<double> state{static_cast<double>(this->LastDisplayed.value_or(0)),
      static_cast<double>(this->Distance), static_cast<double>(this->Queue.size()), this->Stopped ? 1.0 : 0.0,
      static_cast<double>(most)};
  return ranks.Min(state) == ranks.Max(state) && !this->Stopped;
}

void Prefetcher::CancelReads()
{
  for (const PrefetchedStep& ahead : this->Queue) {
    ahead.Located.ReadOfRank->Cancel();
  }
}

void Prefetcher::Stop()
{
  this->CancelReads();
  this->Stopped = true;
  this->LastDisplayed.reset();
  this->Distance = 0;
}

void Prefetcher::ClearQueue()
{
  this->CancelReads();
  this->Queue.clear();
  this->Stopped = false;
}

void Prefetcher::Clear()
{
  this->Stop();
  this->ClearQueue();
}

}  // namespace patchio

#include "Session/Prefetcher.h"

#include "Support/RunOnAllRanks.h"

#include <algorithm>
#include <utility>

namespace patchio {

Prefetcher::~Prefetcher()
{
  this->Clear();
}

void Prefetcher::Shown(std::size_t step)
{
  if (this->Last && *this->Last != step) {
    this->Distance = static_cast<std::ptrdiff_t>(step) - static_cast<std::ptrdiff_t>(*this->Last);
  }
  this->Last = step;
}

std::vector<std::size_t> Prefetcher::Next(std::size_t steps, int most) const
{
  std::vector<std::size_t> next;
  if (!this->Last || this->Distance == 0) {
    return next;
  }
  auto step = static_cast<std::ptrdiff_t>(*this->Last) + this->Distance;
  for (; step >= 0 && step < static_cast<std::ptrdiff_t>(steps) && static_cast<int>(next.size()) < most;
       step += this->Distance) {
    next.push_back(static_cast<std::size_t>(step));
  }
  return next;
}

bool Prefetcher::Has(std::size_t step) const
{
  return std::any_of(
      this->Queue.begin(), this->Queue.end(), [step](const auto& ahead) { return ahead->Step == step; });
}

void Prefetcher::Add(std::unique_ptr<StepAhead> step)
{
  step->Update->StartAhead(this->Queue.empty() ? nullptr : this->Queue.back()->Update.get());
  this->Queue.push_back(std::move(step));
}

std::unique_ptr<StepAhead> Prefetcher::Take(Communicator& ranks, std::size_t step)
{
  const bool here = !this->Stopped && !this->Queue.empty() && this->Queue.front()->Step == step;
  const std::vector<int> all = ranks.AllGather(std::vector<int>{this->Stopped ? -1 : here ? 1 : 0});
  const int least = *std::min_element(all.begin(), all.end());
  if (least < 0) {
    this->Clear();
    return nullptr;
  }
  if (least == 0) {
    this->Drop();
    return nullptr;
  }
  std::unique_ptr<StepAhead> taken = std::move(this->Queue.front());
  this->Queue.pop_front();
  return taken;
}

bool Prefetcher::Agree(Communicator& ranks, int most)
{
  const std::vector<int> mine{static_cast<int>(this->Last.value_or(0)), static_cast<int>(this->Distance),
      static_cast<int>(this->Queue.size()), this->Stopped ? 1 : 0, most};
  const std::vector<int> all = ranks.AllGather(mine);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != all[i % mine.size()]) {
      return false;
    }
  }
  return !this->Stopped;
}

void Prefetcher::Stop()
{
  for (const auto& ahead : this->Queue) {
    ahead->Update->CancelAhead();
  }
  this->Stopped = true;
  this->Last.reset();
  this->Distance = 0;
}

void Prefetcher::Drop()
{
  for (const auto& ahead : this->Queue) {
    ahead->Update->CancelAhead();
  }
  this->Queue.clear();
  this->Stopped = false;
}

void Prefetcher::Clear()
{
  this->Stop();
  this->Drop();
}

}  // namespace patchio

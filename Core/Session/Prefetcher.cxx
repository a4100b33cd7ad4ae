#include "Session/Prefetcher.h"

#include "Support/RunOnAllRanks.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace patchio {

/// Who reads next. Lanes that have read a step start the one that waits, while the queue belongs to the
/// calling thread; so they share this.
struct Prefetcher::Turns
{
  std::mutex Mutex;
  std::deque<std::shared_ptr<PatchLoader>> Waiting;
  bool Busy = false;

  /// On any thread.
  static void Start(const std::shared_ptr<PatchLoader>& loader)
  {
    // What cannot be started is read when it is asked for.
    CatchError([&] { loader->Start(); });
  }

  static void Enter(const std::shared_ptr<Turns>& turns, std::shared_ptr<PatchLoader> loader)
  {
    loader->CallWhenRead([turns] { Turns::GoOn(turns); });
    {
      const std::lock_guard<std::mutex> lock(turns->Mutex);
      if (std::exchange(turns->Busy, true)) {
        turns->Waiting.push_back(std::move(loader));
        return;
      }
    }
    Turns::Start(loader);
  }

  static void GoOn(const std::shared_ptr<Turns>& turns)
  {
    std::shared_ptr<PatchLoader> next;
    {
      const std::lock_guard<std::mutex> lock(turns->Mutex);
      turns->Busy = !turns->Waiting.empty();
      if (turns->Busy) {
        next = std::move(turns->Waiting.front());
        turns->Waiting.pop_front();
      }
    }
    if (next) {
      Turns::Start(next);
    }
  }

  /// Nobody waits any more; those who do refer to their turns, and would keep each other for ever.
  void Empty()
  {
    std::deque<std::shared_ptr<PatchLoader>> gone;
    const std::lock_guard<std::mutex> lock(this->Mutex);
    gone.swap(this->Waiting);
  }
};

Prefetcher::Prefetcher() : Order(std::make_shared<Turns>()) {}

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
  Turns::Enter(this->Order, step->Update->SharedLoader());
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
  this->Order->Empty();
  for (const auto& ahead : this->Queue) {
    ahead->Update->CancelAhead();
  }
  this->Stopped = true;
  this->Last.reset();
  this->Distance = 0;
}

void Prefetcher::Drop()
{
  this->Order->Empty();
  for (const auto& ahead : this->Queue) {
    ahead->Update->CancelAhead();
  }
  this->Queue.clear();
  // Lanes that are still at it have the turns of before.
  this->Order = std::make_shared<Turns>();
  this->Stopped = false;
}

void Prefetcher::Clear()
{
  this->Stop();
  this->Drop();
}

}  // namespace patchio

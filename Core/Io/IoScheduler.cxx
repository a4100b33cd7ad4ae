#include "Io/IoScheduler.h"

#include "Base/Stopwatch.h"
#include "Io/IoThreads.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace patchio {

/// What the scheduler and its tasks have in common; each task that is at work keeps it alive.
struct IoScheduler::State : std::enable_shared_from_this<State>
{
  State(std::size_t tasks, TaskBody body, TaskPriority priority)
      : Tasks(tasks), Body(std::move(body)), Priority(priority)
  {
  }

  bool IsOver() const { return this->Cancelled || this->Next >= this->Tasks; }
  bool HasEnded() const { return this->Readers == 0 && this->IsOver(); }
  void SetLimit(int limit);
  int Begin(const std::vector<IoThreads::Slot*>& slots);
  void Read(IoThreads::Slot* slot);
  bool TakeTask();
  void Fail(std::exception_ptr fault);
  bool Retire(IoThreads::Slot* slot);
  void CallFollowers();
  void CallWhenDone(std::function<void()> follower);

  const std::size_t Tasks;
  const TaskBody Body;
  const TaskPriority Priority;
  std::atomic<std::size_t> Next{0};
  std::atomic<std::size_t> Finished{0};
  std::atomic<bool> Cancelled{false};
  std::atomic<int> Limit{0};
  std::atomic<int> Readers{0};  ///< that TBB has or will have at work; changed under the mutex

  // Under the mutex:
  std::mutex Mutex;
  std::condition_variable Change;
  int Width = 0;  ///< most readers at once
  int Refused = 0;
  std::vector<std::function<void()>> Followers;
  std::exception_ptr Fault;  ///< the first that a task has thrown
  bool HasBegun = false;
  Stopwatch Watch;
  double EndedAfter = 0;  ///< seconds
};

void IoScheduler::State::SetLimit(int limit)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  if (!std::exchange(this->HasBegun, true)) {
    this->Watch = Stopwatch();
  }
  this->Limit = static_cast<int>(std::min<std::size_t>(std::max(limit, 1), this->Tasks));
  if (this->Readers >= this->Limit || this->IsOver() || this->Refused > 0) {
    return;
  }
  const int wanted = this->Limit - this->Readers;
  const std::vector<IoThreads::Slot*> slots = IoThreads::OfProcess().Take(wanted, this->Priority);
  this->Readers += static_cast<int>(slots.size());
  const int begun = this->Begin(slots);
  this->Readers -= static_cast<int>(slots.size()) - begun;
  this->Refused = begun < wanted ? this->Limit.load() : 0;
  this->Width = std::max(this->Width, this->Readers.load());
}

/// How many of the slots have got a reader: fewer where memory runs out.
int IoScheduler::State::Begin(const std::vector<IoThreads::Slot*>& slots)
{
  std::size_t begun = 0;
  try {
    for (; begun < slots.size(); ++begun) {
      slots[begun]->Enqueue([self = this->shared_from_this(), slot = slots[begun]] { self->Read(slot); });
    }
  } catch (const std::bad_alloc&) {
    std::for_each(slots.begin() + static_cast<std::ptrdiff_t>(begun), slots.end(),
        [](IoThreads::Slot* slot) { IoThreads::OfProcess().PutBack(slot); });
  }
  return static_cast<int>(begun);
}

/// A reader is a task of TBB that carries out one task of the read after another.
void IoScheduler::State::Read(IoThreads::Slot* slot)
{
  do {
    while (this->Readers <= this->Limit && this->TakeTask()) {
    }
  } while (!this->Retire(slot));
}

/// False when there was none.
bool IoScheduler::State::TakeTask()
{
  if (this->IsOver() || IoThreads::OfProcess().Ends()) {
    return false;
  }
  const std::size_t task = this->Next++;
  if (task >= this->Tasks) {
    return false;
  }
  try {
    this->Body(task);
    if (++this->Finished == this->Tasks) {
      this->CallFollowers();
    }
  } catch (...) {
    this->Fail(std::current_exception());  // TBB would end the process
  }
  return true;
}

void IoScheduler::State::Fail(std::exception_ptr fault)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  if (!this->Fault) {
    this->Fault = std::move(fault);
  }
  this->Cancelled = true;
  this->Change.notify_all();
}

void IoScheduler::State::CallFollowers()
{
  std::vector<std::function<void()>> followers;
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    followers.swap(this->Followers);
  }
  for (const std::function<void()>& follower : followers) {
    follower();
  }
}

/// False when the reader is needed after all, as another one has retired before it.
bool IoScheduler::State::Retire(IoThreads::Slot* slot)
{
  IoThreads& threads = IoThreads::OfProcess();
  const std::lock_guard<std::mutex> lock(this->Mutex);
  if (!this->IsOver() && !threads.Ends() && this->Readers <= this->Limit) {
    return false;
  }
  threads.GiveBack(slot);
  if (--this->Readers == 0 && this->IsOver()) {
    this->EndedAfter = this->Watch.Seconds();
    this->Change.notify_all();
  }
  return true;
}

void IoScheduler::State::CallWhenDone(std::function<void()> follower)
{
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    if (this->Finished < this->Tasks) {
      this->Followers.push_back(std::move(follower));
      return;
    }
  }
  follower();
}

IoScheduler::IoScheduler(std::size_t tasks, TaskBody body, TaskPriority priority)
    : Shared(std::make_shared<State>(tasks, std::move(body), priority))
{
}

IoScheduler::~IoScheduler()
{
  this->Cancel();
}

void IoScheduler::SetLimit(int limit)
{
  this->Shared->SetLimit(limit);
}

void IoScheduler::SetLimitAfter(IoScheduler& before, int limit)
{
  before.Shared->CallWhenDone([follower = std::weak_ptr<State>(this->Shared), limit] {
    if (const std::shared_ptr<State> state = follower.lock()) {
      state->SetLimit(limit);
    }
  });
}

void IoScheduler::Cancel()
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  this->Shared->Cancelled = true;
  this->Shared->Change.notify_all();
}

bool IoScheduler::WaitFor(std::chrono::milliseconds most) const
{
  std::unique_lock<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->Change.wait_for(lock, most, [this] { return this->Shared->HasEnded(); });
}

bool IoScheduler::TakeTask()
{
  return this->Shared->TakeTask();
}

void IoScheduler::Rethrow() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  if (this->Shared->Fault) {
    std::rethrow_exception(this->Shared->Fault);
  }
}

bool IoScheduler::Cancelled() const
{
  return this->Shared->Cancelled;
}

bool IoScheduler::HasBegun() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->HasBegun;
}

int IoScheduler::Width() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->Width;
}

int IoScheduler::Refused() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->Refused;
}

double IoScheduler::Fraction() const
{
  const std::size_t tasks = this->Shared->Tasks;
  return tasks == 0 ? 1 : static_cast<double>(this->Shared->Finished) / static_cast<double>(tasks);
}

double IoScheduler::Seconds() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->HasEnded() ? this->Shared->EndedAfter : this->Shared->Watch.Seconds();
}

bool RunTasks(std::size_t tasks, int limit, const TaskBody& body, const ProgressCallback& progress)
{
  IoScheduler run(tasks, [&body](std::size_t task) { body(task); });
  // To start a thread and to wait for it takes longer than many a task.
  if (tasks > 1 && limit > 1) {
    run.SetLimit(progress ? limit : limit - 1);
  }
  if (!progress || run.Width() == 0) {
    while (run.TakeTask()) {
      if (progress && !progress(run.Fraction())) {
        run.Cancel();
      }
    }
  }
  while (!run.WaitFor(PollInterval)) {
    if (progress && !progress(run.Fraction())) {
      run.Cancel();
    }
  }
  run.Rethrow();
  if (progress && run.Width() > 0 && run.Fraction() > 0) {
    progress(run.Fraction());
  }
  return !run.Cancelled();
}

}  // namespace patchio

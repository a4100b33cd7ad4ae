#include "Io/IoThreads.h"

#include "Io/IoScheduler.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace patchio {
namespace {

/// What the system grants now, it is taken to grant for so long.
constexpr std::chrono::seconds ProofHolds(1);

/// Pieces of work that were given to slots.
std::atomic<std::size_t> HandedOver{0};

/// A thread is joined shortly before the system stops counting it.
void AwaitEnd(pid_t thread)
{
  while (::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0) {
    std::this_thread::yield();
  }
}

/// Whether the system lets this process start so many threads beside those that it has; if not, a number that
/// leaves a reserve to whatever else starts threads at the same time.
int ThreadsToHave(int wanted)
{
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::vector<std::thread> threads;
  std::vector<std::atomic<pid_t>> numbers(wanted);
  threads.reserve(wanted);
  try {
    while (static_cast<int>(threads.size()) < wanted) {
      threads.emplace_back([released, &number = numbers[threads.size()]] {
        number = static_cast<pid_t>(::syscall(SYS_gettid));
        released.wait();
      });
    }
  } catch (const std::system_error&) {
    wanted = static_cast<int>(threads.size()) / 2;
  }
  release.set_value();
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    AwaitEnd(numbers[i]);
  }
  return wanted;
}

// The limit is made when the program or the plugin that links this is loaded.
[[maybe_unused]] const IoThreads& MadeWhenLoaded = IoThreads::OfProcess();

}  // namespace

IoThreads& IoThreads::OfProcess()
{
  // Never destroyed: tasks may outlive everything else.
  static auto* const threads = new IoThreads;
  return *threads;
}

IoThreads::Slot::Slot(TaskPriority priority)
    : Priority(priority),
      Arena(1, 0,
          priority == TaskPriority::Read ? tbb::task_arena::priority::normal : tbb::task_arena::priority::low)
{
}

void IoThreads::Slot::Enqueue(std::function<void()> work)
{
  // TBB hands over in its library, where ThreadSanitizer sees nothing of it: so this counter does it once
  // more.
  struct Entry
  {
    Slot* Mine;
    __attribute__((no_sanitize("thread"))) void operator()() const { this->Mine->CarryOut(); }
  };
  this->Work = std::move(work);
  HandedOver.fetch_add(1, std::memory_order_release);
  this->Arena.enqueue(Entry{this});
}

void IoThreads::Slot::CarryOut()
{
  HandedOver.load(std::memory_order_acquire);
  const std::function<void()> work = std::move(this->Work);
  work();
}

IoThreads::IoThreads() : Handle(tbb::attach{})
{
  this->LimitTbb(MostThreads);
  // TBB looks for its helper libraries when it is used first, which takes a millisecond: better now than in a
  // read.
  tbb::task_arena(1, 0).initialize();
}

/// The thread that waits counts for TBB as one more.
void IoThreads::LimitTbb(int threads)
{
  constexpr auto parallelism = tbb::global_control::max_allowed_parallelism;
  this->Limit = std::make_unique<tbb::global_control>(parallelism, static_cast<std::size_t>(threads) + 1);
}

std::vector<IoThreads::Slot*> IoThreads::Take(int wanted, TaskPriority priority)
{
  static const struct AtExit
  {
    ~AtExit() { IoThreads::OfProcess().EndOfProcess(); }
  } atExit;  // made by the first read, so that what was there before it is there still when tasks end

  const std::lock_guard<std::mutex> lock(this->Mutex);
  std::vector<Slot*>& free = this->Free[static_cast<int>(priority)];
  // Slots that are free may still keep their threads for a moment, so they count.
  const int missing = std::max(wanted - static_cast<int>(free.size()), 0);
  const int most = this->MostOfSystem(static_cast<int>(this->Slots.size()) + missing);
  const int ofTbb =
      static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)) - 1;
  std::vector<Slot*> taken;
  taken.reserve(std::max(wanted, 0));
  while (this->InUse < std::min(most, ofTbb) && static_cast<int>(taken.size()) < wanted) {
    if (free.empty()) {
      free.push_back(&this->Slots.emplace_back(priority));
    }
    taken.push_back(free.back());
    free.pop_back();
    ++this->InUse;
  }
  return taken;
}

/// TBB aborts where no exception can be caught, so what the system grants is found out before.
int IoThreads::MostOfSystem(int threads)
{
  const auto now = std::chrono::steady_clock::now();
  const int seen = this->Seen;
  if (threads <= seen || (threads <= this->Proven && now < this->ProvenAt + ProofHolds)) {
    return threads;
  }
  this->Proven = seen + ThreadsToHave(threads - seen);
  this->ProvenAt = now;
  const bool refused = this->Proven < threads;
  if (refused || this->Refused) {
    this->Refused = refused;
    this->LimitTbb(refused ? this->Proven : MostThreads);
  }
  return this->Proven;
}

void IoThreads::GiveBack(Slot* slot)
{
  thread_local bool isSeen = false;
  if (!std::exchange(isSeen, true)) {
    ++this->Seen;
  }
  this->PutBack(slot);
}

void IoThreads::PutBack(Slot* slot)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Free[static_cast<int>(slot->Priority)].push_back(slot);
  --this->InUse;
  this->Change.notify_all();
}

/// Tasks that are at work may use what the end of the process destroys.
void IoThreads::EndOfProcess()
{
  std::unique_lock<std::mutex> lock(this->Mutex);
  this->Ending = true;
  if (this->Change.wait_for(lock, ExitGrace, [this] { return this->InUse == 0; })) {
    this->Slots.clear();
    tbb::finalize(this->Handle, std::nothrow);
  }
}

}  // namespace patchio

#include "Io/IoScheduler.h"

#include "Base/Stopwatch.h"

#include <signal.h>
#include <sys/syscall.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace patchio {

namespace {

/// Time for which a successful check of the system's limit on threads stays valid.
constexpr std::chrono::seconds CheckValidity(1);

/// Longest time for which an ending process waits for running tasks.
constexpr std::chrono::seconds ExitGrace{2};

/// Number of calls of Slot::Enqueue(), for ThreadSanitizer only.
std::atomic<std::size_t> EnqueueCalls{0};

/// The threads that TBB provides for reads in this process. Reads wait for storage, so they need many more
/// threads than there are cores. TBB fixes its greatest number of threads when it is first used in the
/// process, and aborts the process if the system refuses a thread. PatchIO therefore requests MostIoThreads
/// as soon as it is loaded, determines before each read how many threads TBB and the system allow, and never
/// uses more threads. Thread-safe.
class IoThreads
{
public:
  /// A TBB arena for one task at a time. In a wider arena a hanging task would cost other arenas a thread:
  /// when the other threads of the arena run out of work, TBB considers the entire arena idle and counts the
  /// hanging thread as free.
  struct Slot
  {
    explicit Slot(TaskPriority priority);
    /// Runs `work` on a thread of TBB. `work` must call Release() after its last task.
    void Enqueue(std::function<void()> work);

    const TaskPriority Priority;

  private:
    void RunWork();

    tbb::task_arena Arena;
    std::function<void()> Work;
  };

  static IoThreads& Instance();

  /// Returns `requested` free slots, or fewer slots if another user of TBB has set a lower limit or the
  /// system refuses threads (ulimit, cgroup, memory), and no slots when the process is ending. The caller
  /// must release each slot.
  std::vector<Slot*> Acquire(int requested, TaskPriority priority);
  /// Marks a slot as free. The work of the slot calls this method after its last task.
  void Release(Slot* slot);
  /// Marks a slot as free that got no task.
  void ReleaseUnused(Slot* slot);

  /// Returns true when the process is ending; the threads of TBB must not begin more tasks then.
  bool IsEnding() const { return this->Ending.load(std::memory_order_relaxed); }

private:
  IoThreads();
  int ThreadsAllowedBySystem(int threads);
  void LimitTbb(int threads);
  void WaitAtExit();

  std::unique_ptr<tbb::global_control> Limit;
  tbb::task_scheduler_handle Handle;  ///< keeps the threads alive between reads
  std::mutex Mutex;
  std::condition_variable Change;
  std::deque<Slot> Slots;
  std::vector<Slot*> Free[2];  ///< by priority
  int InUse = 0;
  bool WasRefused = false;  ///< the system refused threads in the last check
  int AllowedThreads = 0;   ///< total number of threads that the system allowed at CheckedAt
  std::chrono::steady_clock::time_point CheckedAt;
  /// Number of TBB threads that have carried out a task. These threads stay alive.
  std::atomic<int> StartedThreads{0};
  std::atomic<bool> Ending{false};
};

/// Waits until the system no longer counts `thread`. The system counts a thread for a moment after it was
/// joined. Waits at most 0.1 s, because another thread may have got the same number.
void WaitForEnd(pid_t thread)
{
  const Stopwatch watch;
  while (::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0 && watch.Seconds() < 0.1) {
    std::this_thread::yield();
  }
}

/// Starts and ends `requested` threads to find out whether the system allows them. Returns `requested`, or,
/// if the system refuses, half of the number that it allowed, which leaves a reserve for other threads
/// started at the same time.
int ProbeThreads(int requested)
{
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::vector<std::thread> threads;
  std::vector<std::atomic<pid_t>> numbers(requested);
  threads.reserve(requested);
  try {
    while (static_cast<int>(threads.size()) < requested) {
      threads.emplace_back([released, &number = numbers[threads.size()]] {
        number = static_cast<pid_t>(::syscall(SYS_gettid));
        released.wait();
      });
    }
  } catch (const std::system_error&) {
    requested = static_cast<int>(threads.size()) / 2;
  }
  release.set_value();
  for (std::size_t i = 0; i < threads.size(); ++i) {
    threads[i].join();
    WaitForEnd(numbers[i]);
  }
  return requested;
}

IoThreads& IoThreads::Instance()
{
  // The object is never destroyed, because tasks may outlive all other statics.
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
  // ThreadSanitizer does not see the synchronization inside the library of TBB. This counter repeats the
  // synchronization.
  struct Entry
  {
    Slot* Target;
    __attribute__((no_sanitize("thread"))) void operator()() const { this->Target->RunWork(); }
  };
  this->Work = std::move(work);
  EnqueueCalls.fetch_add(1, std::memory_order_release);
  this->Arena.enqueue(Entry{this});
}

void IoThreads::Slot::RunWork()
{
  EnqueueCalls.load(std::memory_order_acquire);
  const std::function<void()> work = std::move(this->Work);
  work();
}

IoThreads::IoThreads() : Handle(tbb::attach{})
{
  this->LimitTbb(MostIoThreads);
  // At its first use, TBB searches for its helper libraries for 1 ms. This call spares the first read this
  // time.
  tbb::task_arena(1, 0).initialize();
}

/// Sets TBB's limit. The waiting thread counts as one more thread.
void IoThreads::LimitTbb(int threads)
{
  constexpr auto parallelism = tbb::global_control::max_allowed_parallelism;
  this->Limit = std::make_unique<tbb::global_control>(parallelism, static_cast<std::size_t>(threads) + 1);
}

std::vector<IoThreads::Slot*> IoThreads::Acquire(int requested, TaskPriority priority)
{
  static const struct AtExit
  {
    ~AtExit() { IoThreads::Instance().WaitAtExit(); }
  } atExit;  // constructed by the first read, so that statics constructed earlier still exist when tasks end

  const std::lock_guard<std::mutex> lock(this->Mutex);
  if (this->Ending) {
    return {};
  }
  std::vector<Slot*>& free = this->Free[static_cast<int>(priority)];
  // Free slots may still keep their threads for a moment, so they count, too.
  const int missing = std::max(requested - static_cast<int>(free.size()), 0);
  const int most = this->ThreadsAllowedBySystem(static_cast<int>(this->Slots.size()) + missing);
  const int ofTbb =
      static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism)) - 1;
  std::vector<Slot*> taken;
  taken.reserve(std::max(requested, 0));
  while (this->InUse < std::min(most, ofTbb) && static_cast<int>(taken.size()) < requested) {
    if (free.empty()) {
      free.push_back(&this->Slots.emplace_back(priority));
    }
    taken.push_back(free.back());
    free.pop_back();
    ++this->InUse;
  }
  return taken;
}

/// Returns how many of `threads` threads the system allows, and adapts TBB's limit. TBB aborts where no
/// exception can be caught, so PatchIO checks the number beforehand.
int IoThreads::ThreadsAllowedBySystem(int threads)
{
  const auto now = std::chrono::steady_clock::now();
  const int seen = this->StartedThreads;
  if (threads <= seen || (threads <= this->AllowedThreads && now < this->CheckedAt + CheckValidity)) {
    return threads;
  }
  this->AllowedThreads = seen + ProbeThreads(threads - seen);
  this->CheckedAt = now;
  const bool refused = this->AllowedThreads < threads;
  if (refused || this->WasRefused) {
    this->WasRefused = refused;
    this->LimitTbb(refused ? this->AllowedThreads : MostIoThreads);
  }
  return this->AllowedThreads;
}

void IoThreads::Release(Slot* slot)
{
  thread_local bool isSeen = false;
  if (!std::exchange(isSeen, true)) {
    ++this->StartedThreads;
  }
  this->ReleaseUnused(slot);
}

void IoThreads::ReleaseUnused(Slot* slot)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Free[static_cast<int>(slot->Priority)].push_back(slot);
  --this->InUse;
  this->Change.notify_all();
}

/// Waits up to ExitGrace for running tasks, because the tasks may use objects that the end of the process
/// destroys.
void IoThreads::WaitAtExit()
{
  std::unique_lock<std::mutex> lock(this->Mutex);
  this->Ending = true;
  if (this->Change.wait_for(lock, ExitGrace, [this] { return this->InUse == 0; })) {
    this->Slots.clear();
    tbb::finalize(this->Handle, std::nothrow);
  }
}

// Sets the limit as soon as the program or the plugin that links this code is loaded.
[[maybe_unused]] const IoThreads& InstanceAtLoad = IoThreads::Instance();

}  // namespace

/// The state shared by the scheduler and its tasks. Each running task keeps the state alive.
struct IoScheduler::State : std::enable_shared_from_this<State>
{
  State(std::size_t tasks, TaskBody body, TaskPriority priority)
      : Tasks(tasks), Body(std::move(body)), Priority(priority)
  {
  }

  bool IsOver() const { return this->Cancelled || this->Next >= this->Tasks; }
  bool HasEnded() const { return this->Readers == 0 && this->IsOver(); }
  void SetLimit(int limit);
  int StartReaders(const std::vector<IoThreads::Slot*>& slots);
  void RunReader(IoThreads::Slot* slot);
  bool RunNextTask();
  void StoreFault(std::exception_ptr fault);
  bool Retire(IoThreads::Slot* slot);
  void Finish();
  void RunWhenFinished(std::function<void()> continuation);

  const std::size_t Tasks;
  const TaskBody Body;
  const TaskPriority Priority;
  std::atomic<std::size_t> Next{0};
  std::atomic<std::size_t> Finished{0};
  std::atomic<bool> Cancelled{false};
  std::atomic<int> Limit{0};
  std::atomic<int> Readers{0};  ///< readers that run or have been enqueued; changed under the mutex

  // Protected by the mutex:
  std::mutex Mutex;
  std::condition_variable Change;
  int PeakConcurrency = 0;  ///< most concurrent readers so far
  int RefusedLimit = 0;
  std::vector<std::function<void()>> Continuations;
  std::exception_ptr Fault;  ///< the first exception of a task
  bool HasBegun = false;
  Stopwatch Watch;
  std::optional<double> EndedAfter;  ///< seconds
};

void IoScheduler::State::SetLimit(int limit)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  if (!std::exchange(this->HasBegun, true)) {
    this->Watch = Stopwatch();
  }
  this->Limit = static_cast<int>(std::min<std::size_t>(std::max(limit, 1), this->Tasks));
  if (this->Readers >= this->Limit || this->IsOver() || this->RefusedLimit > 0) {
    return;
  }
  const int requested = this->Limit - this->Readers;
  const std::vector<IoThreads::Slot*> slots = IoThreads::Instance().Acquire(requested, this->Priority);
  this->Readers += static_cast<int>(slots.size());
  const int begun = this->StartReaders(slots);
  this->Readers -= static_cast<int>(slots.size()) - begun;
  this->RefusedLimit = begun < requested ? this->Limit.load() : 0;
  this->PeakConcurrency = std::max(this->PeakConcurrency, this->Readers.load());
}

/// Starts a reader on each slot. Returns the number of started readers, which is less than the number of
/// slots if memory runs out.
int IoScheduler::State::StartReaders(const std::vector<IoThreads::Slot*>& slots)
{
  std::size_t begun = 0;
  try {
    for (; begun < slots.size(); ++begun) {
      slots[begun]->Enqueue(
          [self = this->shared_from_this(), slot = slots[begun]] { self->RunReader(slot); });
    }
  } catch (const std::bad_alloc&) {
    std::for_each(slots.begin() + static_cast<std::ptrdiff_t>(begun), slots.end(),
        [](IoThreads::Slot* slot) { IoThreads::Instance().ReleaseUnused(slot); });
  }
  return static_cast<int>(begun);
}

/// The body of a reader: one TBB task that carries out tasks of the read one after another.
void IoScheduler::State::RunReader(IoThreads::Slot* slot)
{
  const IoThreads& threads = IoThreads::Instance();
  do {
    while (this->Readers <= this->Limit && !threads.IsEnding() && this->RunNextTask()) {
    }
  } while (!this->Retire(slot));
}

/// Carries out the next task. Returns false if no task is left or the read is cancelled.
bool IoScheduler::State::RunNextTask()
{
  if (this->IsOver()) {
    return false;
  }
  const std::size_t task = this->Next++;
  if (task >= this->Tasks) {
    return false;
  }
  try {
    this->Body(task);
    if (++this->Finished == this->Tasks) {
      this->Finish();
    }
  } catch (...) {
    this->StoreFault(std::current_exception());  // TBB would terminate the process
  }
  return true;
}

/// Stores the first exception of a task for Rethrow(), and cancels the read.
void IoScheduler::State::StoreFault(std::exception_ptr fault)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  if (!this->Fault) {
    this->Fault = std::move(fault);
  }
  this->Cancelled = true;
  this->Change.notify_all();
}

/// Records the time after the last task, and runs the continuations.
void IoScheduler::State::Finish()
{
  std::vector<std::function<void()>> continuations;
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->EndedAfter = this->Watch.Seconds();
    continuations.swap(this->Continuations);
  }
  for (const std::function<void()>& continuation : continuations) {
    continuation();
  }
}

/// Ends a reader. Returns false if the reader must continue because another reader has retired, or the limit
/// was raised, in the meantime.
bool IoScheduler::State::Retire(IoThreads::Slot* slot)
{
  IoThreads& threads = IoThreads::Instance();
  const std::lock_guard<std::mutex> lock(this->Mutex);
  if (!this->IsOver() && !threads.IsEnding() && this->Readers <= this->Limit) {
    return false;
  }
  threads.Release(slot);
  if (--this->Readers == 0 && this->IsOver()) {
    this->EndedAfter = this->Watch.Seconds();
    this->Change.notify_all();
  }
  return true;
}

void IoScheduler::State::RunWhenFinished(std::function<void()> continuation)
{
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    if (this->Finished < this->Tasks) {
      this->Continuations.push_back(std::move(continuation));
      return;
    }
  }
  continuation();
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

void IoScheduler::SetLimitAfter(IoScheduler& previous, int limit)
{
  previous.Shared->RunWhenFinished([continuation = std::weak_ptr<State>(this->Shared), limit] {
    if (const std::shared_ptr<State> state = continuation.lock()) {
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

bool IoScheduler::RunNextTask()
{
  return this->Shared->RunNextTask();
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

int IoScheduler::PeakConcurrency() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->PeakConcurrency;
}

int IoScheduler::RefusedLimit() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->RefusedLimit;
}

double IoScheduler::Fraction() const
{
  const std::size_t tasks = this->Shared->Tasks;
  return tasks == 0 ? 1 : static_cast<double>(this->Shared->Finished) / static_cast<double>(tasks);
}

double IoScheduler::Seconds() const
{
  const std::lock_guard<std::mutex> lock(this->Shared->Mutex);
  return this->Shared->EndedAfter.value_or(this->Shared->Watch.Seconds());
}

bool RunTasks(std::size_t tasks, int limit, const TaskBody& body, const ProgressCallback& progress)
{
  IoScheduler run(tasks, [&body](std::size_t task) { body(task); });
  // Starting a thread and waiting for it takes longer than many tasks.
  if (tasks > 1 && limit > 1) {
    run.SetLimit(progress ? limit : limit - 1);
  }
  const auto report = [&] {
    if (progress && !progress(run.Fraction())) {
      run.Cancel();
    }
  };
  if (!progress || run.PeakConcurrency() == 0) {
    while (run.RunNextTask()) {
      report();
    }
  }
  while (!run.WaitFor(PollInterval)) {
    report();
  }
  run.Rethrow();
  if (progress && run.PeakConcurrency() > 0 && run.Fraction() > 0) {
    progress(run.Fraction());
  }
  return !run.Cancelled();
}

}  // namespace patchio

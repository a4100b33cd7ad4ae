#include "Read/Prefetcher.h"

#include "DumpSeries.h"
#include "HangingSource.h"
#include "Io/FileSource.h"

#include <chrono>
#include <map>
#include <thread>

namespace patchio {
namespace {

using testing::DumpSeries;
using ::testing::ElementsAre;
using testing::Gate;
using testing::HangingSource;
using ::testing::IsEmpty;

/// Waits for a condition. If it never becomes true, the test fails by its time limit.
template <typename Condition>
void WaitUntil(Condition holds)
{
  while (!holds()) {
    std::this_thread::yield();
  }
}

class Prefetching : public ::testing::Test
{
protected:
  /// Returns a planned step that hangs at its first request until its gate opens.
  PrefetchedStep Prepared(int step)
  {
    auto opened = std::make_shared<OpenedStep>(*this->Alone, this->Series.Paths()[step], IndexMode::Off);
    LoadRequest request;
    request.Variables = {RequestAsStored(opened->Data(), 0)};
    request.Memory = this->Memory;
    request.IsPrefetch = true;
    request.MakeSource = [gate = this->GateOf(step)](const LocationTable& table) {
      return std::make_unique<HangingSource>(MakeFileSource(table.Files), gate);
    };
    StepOptions options;
    options.LastLevel = 1;
    return ReservePrefetch(*LocateStep(PlanStep(*this->Alone, opened, options, request, "")), step);
  }

  void Add(int step) { this->Ahead->Add(this->Prepared(step)); }
  std::optional<PrefetchedStep> Take(int step) { return this->Ahead->TakeStep(*this->Alone, step); }

  const std::shared_ptr<Gate>& GateOf(int step)
  {
    std::shared_ptr<Gate>& gate = this->Gates[step];
    if (!gate) {
      gate = std::make_shared<Gate>();
    }
    return gate;
  }
  void Open(int step) { this->GateOf(step)->Open(); }
  bool IsBegun(int step) { return this->GateOf(step)->Waiting() > 0; }
  /// Returns whether the step begins within a time that is long enough for a task that should not begin.
  bool IsBegunSoon(int step)
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return this->IsBegun(step);
  }
  /// Waits until abandoned tasks have released their memory.
  void WaitForTasks() const
  {
    WaitUntil([this] { return this->Memory.use_count() == 1; });
  }

  static LoadedStep Load(std::optional<PrefetchedStep> ahead)
  {
    ReadThreads threads(1);
    return LoadStep(std::move(ahead->Located), threads);
  }
  static void ExpectDensity(std::optional<PrefetchedStep> ahead, int step)
  {
    LoadedStep loaded = Load(std::move(ahead));
    ASSERT_EQ(loaded.Outcome, LoadOutcome::Complete);
    DumpSeries::ExpectDensity(loaded, step);
  }

  const DumpSeries Series{4};
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
  std::map<int, std::shared_ptr<Gate>> Gates;
  std::unique_ptr<Prefetcher> Ahead = std::make_unique<Prefetcher>();
};

}  // namespace

TEST_F(Prefetching, FollowsDirectionAndDistance)
{
  Prefetcher& ahead = *this->Ahead;
  EXPECT_THAT(ahead.NextSteps(10, 3), IsEmpty());
  ahead.RecordDisplayed(4);
  EXPECT_THAT(ahead.NextSteps(10, 3), IsEmpty()) << "one step has no direction";
  ahead.RecordDisplayed(5);
  EXPECT_THAT(ahead.NextSteps(10, 3), ElementsAre(6, 7, 8));
  EXPECT_THAT(ahead.NextSteps(10, 0), IsEmpty());
  EXPECT_THAT(ahead.NextSteps(8, 3), ElementsAre(6, 7)) << "the series ends";
  ahead.RecordDisplayed(5);
  EXPECT_THAT(ahead.NextSteps(10, 1), ElementsAre(6)) << "the same step once more says nothing";
  ahead.RecordDisplayed(3);
  EXPECT_THAT(ahead.NextSteps(10, 3), ElementsAre(1)) << "back, two at a time";
}

TEST_F(Prefetching, ReadsOneStepAfterAnother)
{
  for (const int step : {1, 2, 3}) {
    this->Add(step);
  }
  for (const int step : {1, 2, 3}) {
    WaitUntil([&] { return this->IsBegun(step); });
    EXPECT_FALSE(step < 3 && this->IsBegunSoon(step + 1));
    this->Open(step);
  }
  for (const int step : {1, 2, 3}) {
    EXPECT_TRUE(this->Ahead->Contains(step));
    std::optional<PrefetchedStep> taken = this->Take(step);
    ASSERT_TRUE(taken);
    EXPECT_FALSE(this->Ahead->Contains(step));
    ExpectDensity(std::move(taken), step);
  }
}

TEST_F(Prefetching, TakesAStepWhoseReadHasNotEnded)
{
  this->Add(1);
  this->Add(2);
  WaitUntil([this] { return this->IsBegun(1); });
  std::optional<PrefetchedStep> first = this->Take(1);
  std::optional<PrefetchedStep> second = this->Take(2);
  ASSERT_TRUE(first && second);
  this->Open(1);
  this->Open(2);
  ExpectDensity(std::move(second), 2);
  ExpectDensity(std::move(first), 1);
}

TEST_F(Prefetching, StopsWithoutWaitingAndGivesBackLater)
{
  this->Add(1);
  this->Add(2);
  WaitUntil([this] { return this->IsBegun(1); });
  this->Ahead->Stop();
  EXPECT_TRUE(this->Ahead->Contains(1)) << "memory is given back by all ranks together";
  this->Open(1);
  EXPECT_FALSE(this->IsBegunSoon(2));
  EXPECT_FALSE(this->Ahead->IsSameOnAllRanks(*this->Alone, 1)) << "stopped";
  EXPECT_FALSE(this->Take(1)) << "what was read of it is not all";
  EXPECT_FALSE(this->Ahead->Contains(1));
  this->WaitForTasks();
  EXPECT_FALSE(this->IsBegun(2));
  EXPECT_TRUE(this->Ahead->IsSameOnAllRanks(*this->Alone, 1)) << "as new";
}

TEST_F(Prefetching, MayBeDestroyedWhileRequestsHang)
{
  this->Add(1);
  this->Add(2);
  WaitUntil([this] { return this->IsBegun(1); });
  this->Ahead.reset();
  EXPECT_GT(this->Memory.use_count(), 1) << "the tasks have memory to write to";
  this->Open(1);
  this->WaitForTasks();
  EXPECT_FALSE(this->IsBegun(2));
}

/// The tasks of an ending step start the next one while the queue is destroyed.
TEST_F(Prefetching, MayBeDroppedAtAnyTime)
{
  for (const int step : {1, 2, 3}) {
    this->Open(step);
  }
  for (int round = 0; round < 60; ++round) {
    for (const int step : {1, 2, 3}) {
      this->Add(step);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20 * round));
    round % 3 == 0 ? this->Ahead->ClearQueue() : round % 3 == 1 ? this->Ahead->Clear() : this->Ahead->Stop();
    EXPECT_FALSE(this->Take(1));
  }
  this->WaitForTasks();
}

TEST_F(Prefetching, ReadsOnAfterAStepThatIsBroken)
{
  this->Add(1);
  PrefetchedStep broken = this->Prepared(2);
  for (const std::string& file : broken.Located.ReadOfRank->Files()) {
    std::filesystem::resize_file(file, 100);
  }
  this->Ahead->Add(std::move(broken));
  this->Add(3);
  for (const int step : {1, 2, 3}) {
    this->Open(step);
  }
  WaitUntil([this] { return this->IsBegun(3); });
  ExpectDensity(this->Take(1), 1);
  EXPECT_EQ(Load(this->Take(2)).Outcome, LoadOutcome::Replan);
  ExpectDensity(this->Take(3), 3);
}

}  // namespace patchio

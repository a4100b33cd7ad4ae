#include "Session/Prefetcher.h"

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
using testing::HangingSource;
using ::testing::IsEmpty;

/// Whoever waits here longer than the time limit of the test has found a fault.
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
  /// A step that is planned, and hangs at its first request until its gate opens.
  std::unique_ptr<StepAhead> Prepared(int step)
  {
    auto ahead = std::make_unique<StepAhead>();
    ahead->Step = step;
    ahead->Opened = std::make_shared<OpenedStep>(*this->Alone, this->Series.Paths()[step], ChannelMode::Off);
    ahead->Request.Variables = {RequestAsStored(ahead->Opened->Data(), 0)};
    ahead->Request.Memory = this->Memory;
    ahead->Request.Ahead = true;
    ahead->Request.Files = [gate = this->GateOf(step), this](const LocationTable& table) {
      this->FilesOfLast = table.Files;
      return std::make_unique<HangingSource>(MakeFileSource(table.Files), gate);
    };
    UpdateOptions options;
    options.LastLevel = 1;
    ahead->Update = std::make_unique<PatchUpdate>(*this->Alone, *ahead->Opened, options);
    ahead->Update->Plan(ahead->Request, "");
    ahead->Update->Locate();
    ahead->Update->AgreeOnFaults();
    ahead->Update->PrepareAhead();
    return ahead;
  }

  void Add(int step) { this->Ahead->Add(this->Prepared(step)); }
  std::unique_ptr<StepAhead> Take(int step) { return this->Ahead->Take(*this->Alone, step); }

  std::shared_ptr<HangingSource::Gate> GateOf(int step)
  {
    std::shared_ptr<HangingSource::Gate>& gate = this->Gates[step];
    if (!gate) {
      gate = std::make_shared<HangingSource::Gate>();
    }
    return gate;
  }
  void Open(int step) { testing::Open(*this->GateOf(step)); }
  bool IsBegun(int step)
  {
    const auto gate = this->GateOf(step);
    const std::lock_guard<std::mutex> lock(gate->Mutex);
    return gate->Waiting > 0;
  }
  /// Long enough for a task that should not begin.
  bool IsBegunSoon(int step)
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return this->IsBegun(step);
  }
  /// Tasks that were left behind have given back what they kept.
  void WaitForTasks() const
  {
    WaitUntil([this] { return this->Memory.use_count() == 1; });
  }

  static void ExpectDensity(StepAhead& ahead, int step)
  {
    ahead.Update->Read({});
    ahead.Update->AgreeOnFaults();
    DumpSeries::ExpectDensity(*ahead.Update, step);
  }

  const DumpSeries Series{4};
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
  std::map<int, std::shared_ptr<HangingSource::Gate>> Gates;
  std::vector<std::string> FilesOfLast;  ///< that was prepared
  std::unique_ptr<Prefetcher> Ahead = std::make_unique<Prefetcher>();
};

}  // namespace

TEST_F(Prefetching, FollowsDirectionAndDistance)
{
  Prefetcher& ahead = *this->Ahead;
  EXPECT_THAT(ahead.Next(10, 3), IsEmpty());
  ahead.Shown(4);
  EXPECT_THAT(ahead.Next(10, 3), IsEmpty()) << "one step has no direction";
  ahead.Shown(5);
  EXPECT_THAT(ahead.Next(10, 3), ElementsAre(6, 7, 8));
  EXPECT_THAT(ahead.Next(10, 0), IsEmpty());
  EXPECT_THAT(ahead.Next(8, 3), ElementsAre(6, 7)) << "the series ends";
  ahead.Shown(5);
  EXPECT_THAT(ahead.Next(10, 1), ElementsAre(6)) << "the same step once more says nothing";
  ahead.Shown(3);
  EXPECT_THAT(ahead.Next(10, 3), ElementsAre(1)) << "back, two at a time";
}

TEST_F(Prefetching, ForgetsTheDirectionWhenStoppedOnly)
{
  Prefetcher& ahead = *this->Ahead;
  ahead.Shown(0);
  ahead.Shown(1);
  ahead.Drop();
  EXPECT_THAT(ahead.Next(10, 1), ElementsAre(2));
  ahead.Stop();
  EXPECT_THAT(ahead.Next(10, 1), IsEmpty());
  ahead.Shown(5);
  EXPECT_THAT(ahead.Next(10, 1), IsEmpty()) << "the step before the stop does not count";
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
    EXPECT_TRUE(this->Ahead->Has(step));
    const std::unique_ptr<StepAhead> taken = this->Take(step);
    ASSERT_TRUE(taken);
    EXPECT_FALSE(this->Ahead->Has(step));
    ExpectDensity(*taken, step);
  }
}

TEST_F(Prefetching, TakesAStepWhoseReadHasNotEnded)
{
  this->Add(1);
  this->Add(2);
  WaitUntil([this] { return this->IsBegun(1); });
  const std::unique_ptr<StepAhead> first = this->Take(1);
  const std::unique_ptr<StepAhead> second = this->Take(2);
  ASSERT_TRUE(first && second);
  this->Open(1);
  this->Open(2);
  ExpectDensity(*second, 2);
  ExpectDensity(*first, 1);
}

TEST_F(Prefetching, DropsTheQueueForAnotherStep)
{
  this->Add(1);
  this->Add(2);
  WaitUntil([this] { return this->IsBegun(1); });
  EXPECT_FALSE(this->Take(2)) << "not the next one";
  EXPECT_FALSE(this->Ahead->Has(1));
  EXPECT_FALSE(this->Ahead->Has(2));
  this->Open(1);
  this->WaitForTasks();
  EXPECT_FALSE(this->IsBegun(2)) << "nobody wants it any more";

  this->Add(3);
  this->Open(3);
  const std::unique_ptr<StepAhead> taken = this->Take(3);
  ASSERT_TRUE(taken) << "the queue is of use again";
  ExpectDensity(*taken, 3);
}

TEST_F(Prefetching, StopsWithoutWaitingAndGivesBackLater)
{
  this->Add(1);
  this->Add(2);
  WaitUntil([this] { return this->IsBegun(1); });
  this->Ahead->Stop();
  EXPECT_TRUE(this->Ahead->Has(1)) << "memory is given back by all ranks together";
  this->Open(1);
  EXPECT_FALSE(this->IsBegunSoon(2));
  EXPECT_FALSE(this->Ahead->Agree(*this->Alone, 1)) << "stopped";
  EXPECT_FALSE(this->Take(1)) << "what was read of it is not all";
  EXPECT_FALSE(this->Ahead->Has(1));
  this->WaitForTasks();
  EXPECT_FALSE(this->IsBegun(2));
  EXPECT_TRUE(this->Ahead->Agree(*this->Alone, 1)) << "as new";
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

/// The tasks of a step that ends start the next one while the queue goes away.
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
    round % 3 == 0 ? this->Ahead->Drop() : round % 3 == 1 ? this->Ahead->Clear() : this->Ahead->Stop();
    EXPECT_FALSE(this->Take(1));
  }
  this->WaitForTasks();
}

TEST_F(Prefetching, ReadsOnAfterAStepThatIsBroken)
{
  this->Add(1);
  std::unique_ptr<StepAhead> broken = this->Prepared(2);
  for (const std::string& file : this->FilesOfLast) {
    std::filesystem::resize_file(file, 100);
  }
  this->Ahead->Add(std::move(broken));
  this->Add(3);
  for (const int step : {1, 2, 3}) {
    this->Open(step);
  }
  WaitUntil([this] { return this->IsBegun(3); });
  ExpectDensity(*this->Take(1), 1);
  const std::unique_ptr<StepAhead> second = this->Take(2);
  second->Update->Read({});
  EXPECT_FALSE(second->Update->SoundEverywhere());
  ExpectDensity(*this->Take(3), 3);
}

}  // namespace patchio

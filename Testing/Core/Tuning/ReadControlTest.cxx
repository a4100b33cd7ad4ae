#include "Tuning/ReadControl.h"

#include "TestTools.h"

#include <chrono>
#include <thread>

namespace patchio {
namespace {

/// One rank with 8 threads; after the first window, 1 thread is left.
class ReadControlTest : public ::testing::Test
{
protected:
  ReadControlTest()
  {
    this->Control.OnWindow = [](const ReadWindow&) { return 1; };
    this->Control.Update(this->Meter);  // begins the window
  }
  static ControllerOptions EightAtFirst()
  {
    ControllerOptions options;
    options.Start = 8;
    return options;
  }
  static ReadControlOptions FromTheBeginning()
  {
    ReadControlOptions options;
    options.FirstWindow = 0;
    return options;
  }
  /// Reads; 20 requests take longer than a window.
  void ReadABit(int requests = 20)
  {
    for (int i = 0; i < requests; ++i) {
      const ReadMeter::Task task(this->Meter);
      const ReadMeter::Request request(this->Meter, 1000);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
  ThreadController Controller{EightAtFirst()};
  ReadMeter Meter;
  ReadControl Control{*Alone, Controller, FromTheBeginning()};
};

TEST_F(ReadControlTest, TellsNoChangeThatCameAfterTheLastByte)
{
  this->ReadABit();
  this->Control.Update(this->Meter);  // sends the window
  this->Control.Finish();
  EXPECT_EQ(this->Control.Threads(), 1) << "decided";
  ASSERT_EQ(this->Control.Changes().size(), 1u) << "but never in force";
  EXPECT_EQ(this->Control.Changes()[0].Threads, 8);
  EXPECT_DOUBLE_EQ(this->Control.MeanThreads(), 8);
}

TEST_F(ReadControlTest, TellsTheThreadsOfTheWholeRead)
{
  this->ReadABit();
  this->Control.Update(this->Meter);  // sends the window
  this->Control.Update(this->Meter);  // receives the answer
  EXPECT_EQ(this->Control.Threads(), 1);
  this->ReadABit();
  this->Control.Update(this->Meter);
  this->Control.Finish();
  ASSERT_EQ(this->Control.Changes().size(), 2u);
  EXPECT_EQ(this->Control.Changes()[1].Threads, 1);
  EXPECT_GT(this->Control.MeanThreads(), 1.5);
  EXPECT_LT(this->Control.MeanThreads(), 7.5);
}

/// After a change from 8 threads to 1, requests of the 8 threads are still at work. No window begins before 8
/// requests have ended.
TEST_F(ReadControlTest, BeginsNoWindowWhileFormerRequestsRun)
{
  int windows = 0;
  this->Control.OnWindow = [&windows](const ReadWindow&) {
    ++windows;
    return 1;
  };
  this->ReadABit();
  this->Control.Update(this->Meter);  // sends the window
  this->Control.Update(this->Meter);  // receives the answer
  this->ReadABit(7);
  this->Control.Update(this->Meter);
  this->ReadABit();
  this->Control.Update(this->Meter);  // begins the second window
  this->Control.Update(this->Meter);
  EXPECT_EQ(windows, 1);
  this->ReadABit();
  this->Control.Update(this->Meter);
  this->Control.Update(this->Meter);
  EXPECT_EQ(windows, 2);
}

TEST_F(ReadControlTest, TellsTheFirstNumberWhereNothingWasRead)
{
  this->Control.Finish();
  EXPECT_DOUBLE_EQ(this->Control.MeanThreads(), 8);
  EXPECT_EQ(this->Control.Changes().size(), 1u);
}

}  // namespace
}  // namespace patchio

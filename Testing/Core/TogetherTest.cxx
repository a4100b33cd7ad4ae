#include "Support/Together.h"

#include "TestTools.h"

#include <new>

namespace patchio {
namespace {

/// One of three ranks; the test says what the other two send.
class OneOfThree : public Communicator
{
public:
  int Rank() const override { return 1; }
  int Size() const override { return 3; }
  void Broadcast(std::vector<std::byte>&) override {}
  std::vector<std::string> AllGather(const std::string& text) override
  {
    ++this->Gathered;
    return {this->Before, text, this->After};
  }
  std::vector<double> AllGather(const std::vector<double>& values) override { return values; }
  std::vector<int> AllGather(const std::vector<int>& values) override { return values; }

  std::string Before, After;
  int Gathered = 0;
};

void Fail()
{
  throw Error("mine");
}

}  // namespace

TEST(FaultOf, IsEmptyWhenAllWentWell)
{
  bool done = false;
  EXPECT_EQ(FaultOf([&] { done = true; }), "");
  EXPECT_TRUE(done);
}

TEST(FaultOf, IsTextForPeople)
{
  EXPECT_EQ(FaultOf(Fail), "mine");
  EXPECT_NE(FaultOf([] { throw Error(""); }), "");
  EXPECT_THAT(FaultOf([] { throw std::bad_alloc(); }), ::testing::HasSubstr("Out of memory"));
}

TEST(Together, PassesWhenNoRankFails)
{
  OneOfThree comm;
  int done = 0;
  Together(comm, [&] { ++done; });
  EXPECT_EQ(done, 1);
  EXPECT_EQ(comm.Gathered, 1);
}

TEST(Together, FailsOnEveryRankWithTheFirstRanksFault)
{
  OneOfThree comm;
  EXPECT_EQ(testing::MessageOf([&] { Together(comm, Fail); }), "mine");
  comm.After = "after";
  EXPECT_EQ(testing::MessageOf([&] { Together(comm, Fail); }), "mine");
  EXPECT_EQ(testing::MessageOf([&] { Together(comm, [] {}); }), "after");
  comm.Before = "before";
  EXPECT_EQ(testing::MessageOf([&] { Together(comm, Fail); }), "before");
}

TEST(BytesOfRankZero, FailOnEveryRankWhenRankZeroFails)
{
  OneOfThree comm;  // rank 1, which produces nothing itself
  comm.Before = "of rank 0";
  const auto produce = []() -> std::vector<std::byte> { throw Error("mine"); };
  EXPECT_EQ(testing::MessageOf([&] { BytesOfRankZero(comm, produce); }), "of rank 0");
}

TEST(BytesOfRankZero, AreWhatItMade)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  const std::vector<std::byte> bytes(3, std::byte{5});
  EXPECT_EQ(BytesOfRankZero(*alone, [&] { return bytes; }), bytes);
  EXPECT_EQ(testing::MessageOf(
                [&] { BytesOfRankZero(*alone, []() -> std::vector<std::byte> { throw Error("mine"); }); }),
      "mine");
}

}  // namespace patchio

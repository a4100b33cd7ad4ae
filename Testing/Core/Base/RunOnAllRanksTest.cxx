#include "Base/Communicator.h"

#include "TestTools.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

namespace patchio {
namespace {

/// One of three ranks. The test sets the messages of the other two.
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
  std::vector<double> Max(const std::vector<double>& values) override
  {
    const bool othersFail = !this->Before.empty() || !this->After.empty();
    return {std::max(values[0], othersFail ? 1.0 : 0.0)};
  }

  std::string Before, After;
  int Gathered = 0;
};

void Fail()
{
  throw Error("mine");
}

}  // namespace

TEST(CatchError, SaysWhyNoThreadStarts)
{
  const auto fault = [](std::errc reason) {
    return CatchError([reason] { throw std::system_error(std::make_error_code(reason)); });
  };
  EXPECT_THAT(fault(std::errc::resource_unavailable_try_again), ::testing::HasSubstr("memory"));
  EXPECT_THAT(fault(std::errc::permission_denied), ::testing::HasSubstr("denied"));
  EXPECT_THAT(CatchError([] {
    throw std::filesystem::filesystem_error(
        "cannot copy", "a.dat", std::make_error_code(std::errc::resource_unavailable_try_again));
  }),
      ::testing::AllOf(::testing::HasSubstr("a.dat"), ::testing::Not(::testing::HasSubstr("thread"))));
}

TEST(CatchError, IsEmptyWhenAllWentWell)
{
  bool done = false;
  EXPECT_EQ(CatchError([&] { done = true; }), "");
  EXPECT_TRUE(done);
}

TEST(CatchError, IsTextForPeople)
{
  EXPECT_EQ(CatchError(Fail), "mine");
  EXPECT_NE(CatchError([] { throw Error(""); }), "");
  EXPECT_THAT(CatchError([] { throw std::bad_alloc(); }), ::testing::HasSubstr("Out of memory"));
}

TEST(RunOnAllRanks, PassesWhenNoRankFails)
{
  OneOfThree comm;
  int done = 0;
  RunOnAllRanks(comm, [&] { ++done; });
  EXPECT_EQ(done, 1);
  EXPECT_EQ(comm.Gathered, 0) << "texts are for what goes wrong";
}

TEST(RunOnAllRanks, FailsOnEveryRankWithTheFirstRanksFault)
{
  OneOfThree comm;
  EXPECT_EQ(testing::MessageOf([&] { RunOnAllRanks(comm, Fail); }), "mine");
  comm.After = "after";
  EXPECT_EQ(testing::MessageOf([&] { RunOnAllRanks(comm, Fail); }), "mine");
  EXPECT_EQ(testing::MessageOf([&] { RunOnAllRanks(comm, [] {}); }), "after");
  comm.Before = "before";
  EXPECT_EQ(testing::MessageOf([&] { RunOnAllRanks(comm, Fail); }), "before");
}

}  // namespace patchio

#include "Base/Memory.h"

#include "Base/Communicator.h"
#include "Base/Error.h"

#include <gmock/gmock.h>

namespace patchio {
namespace {

/// Several ranks that all contribute the same as the tested rank.
class LikeMindedRanks : public Communicator
{
public:
  explicit LikeMindedRanks(int size) : Count(size) {}
  int Rank() const override { return 0; }
  int Size() const override { return this->Count; }
  void Broadcast(std::vector<std::byte>&) override {}
  std::vector<std::string> AllGather(const std::string& text) override
  {
    return std::vector<std::string>(this->Count, text);
  }
  std::vector<double> AllGather(const std::vector<double>& values) override { return this->Repeat(values); }
  std::vector<int> AllGather(const std::vector<int>& values) override { return this->Repeat(values); }

protected:
  std::unique_ptr<Communicator> SplitByMachine() const override
  {
    return std::make_unique<LikeMindedRanks>(this->Count);
  }

private:
  template <typename T>
  std::vector<T> Repeat(const std::vector<T>& values) const
  {
    std::vector<T> all;
    for (int rank = 0; rank < this->Count; ++rank) {
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  }

  int Count;
};

/// The first of two ranks on different machines. The memory of the other machine is full.
class RankBesideAFullMachine : public LikeMindedRanks
{
public:
  RankBesideAFullMachine() : LikeMindedRanks(2) {}
  std::vector<std::string> AllGather(const std::string& text) override { return {text, "b is full"}; }
  std::vector<double> Max(const std::vector<double>&) override { return {1}; }

protected:
  std::unique_ptr<Communicator> SplitByMachine() const override { return MakeSelfCommunicator(); }
};

TEST(Memory, IsLackingOnAllRanksWhereItIsOnOneMachine)
{
  RankBesideAFullMachine ranks;
  EXPECT_EQ(CatchError([&] { CheckMemoryOfMachines(ranks, 0); }), "b is full");
  EXPECT_THAT(CatchError([&] { CheckMemoryOfMachines(ranks, 1e18); }),
      ::testing::HasSubstr("on machine '" + MachineName() + "'"))
      << "the first rank's";
}

TEST(Memory, AddsUpWhatTheRanksOfAMachineNeed)
{
  const double third = AvailableMemory() / 3.0;
  LikeMindedRanks two(2), eight(8);
  EXPECT_NO_THROW(CheckMemoryOfMachines(two, third));
  EXPECT_THAT(
      CatchError([&] { CheckMemoryOfMachines(eight, third); }), ::testing::HasSubstr("The ranks need"));
}

TEST(Memory, GrantsALittleAndRefusesTheImpossible)
{
  const std::unique_ptr<Communicator> self = MakeSelfCommunicator();
  EXPECT_NO_THROW(CheckMemoryOfMachines(*self, 0));
  EXPECT_NO_THROW(CheckMemoryOfMachines(*self, 1000));
  EXPECT_THAT(CatchError([&] { CheckMemoryOfMachines(*self, 1e18, 1, "Use smaller blocks"); }),
      ::testing::EndsWith(". Use smaller blocks."));
}

}  // namespace
}  // namespace patchio

// Messages to I/O ranks: codes of variables, and the assignment of compute ranks to I/O ranks.
#include "Base/Error.h"
#include "Write/IoRoles.h"
#include "Write/OutputConfig.h"

#include "TestTools.h"

#include <algorithm>
#include <random>

namespace patchio::output {
namespace {

std::vector<std::string> Names(int count)
{
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(std::string(1, char('A' + i / 26)) + char('a' + i % 26));
  }
  return names;
}

/// Returns the number of compute ranks of each of `count` I/O ranks.
std::vector<int> CountsOf(const std::vector<int>& served, int count)
{
  std::vector<int> counts(count);
  for (const int server : served) {
    ++counts.at(server);
  }
  return counts;
}

/// Returns equal ranks that form a plane.
std::vector<ComputeRank> Plane(int nx, int ny)
{
  std::vector<ComputeRank> ranks;
  for (int i = 0; i < nx * ny; ++i) {
    ranks.push_back({{double(i % nx), double(i / nx), 0}, 1000, 0});
  }
  return ranks;
}

}  // namespace

TEST(VariableCode, IsThatOfThePaper)
{
  EXPECT_EQ(CodeOf({"a", "b", "c"}, {true, false, true}), (VariableCode{0b101}));
  EXPECT_EQ(CodeOf({"c", "b", "a"}, {false, false, true}), (VariableCode{0b100})) << "sorted by name";
  EXPECT_EQ(CodeOf({}, {}), VariableCode());
  EXPECT_EQ(CodeOf(Names(31), std::vector<bool>(31, true)), (VariableCode{2147483647}));
  std::vector<bool> wanted(33);
  wanted[0] = wanted[32] = true;
  EXPECT_EQ(CodeOf(Names(33), wanted), (VariableCode{1 << 30, 0b01}))
      << "the last group has zeros on its left";
}

TEST(VariableCode, ComesBack)
{
  std::mt19937 random(1);
  for (int count = 0; count < 100; ++count) {
    std::vector<std::string> names = Names(count);
    std::shuffle(names.begin(), names.end(), random);
    std::vector<bool> wanted(count);
    for (int i = 0; i < count; ++i) {
      wanted[i] = random() % 2 == 0;
    }
    const VariableCode code = CodeOf(names, wanted);
    EXPECT_TRUE(std::all_of(code.begin(), code.end(), [](int part) { return part >= 0; }));
    EXPECT_EQ(Decode(code, names), wanted) << count;
    EXPECT_NE(code, EndMark());
  }
}

TEST(VariableCode, RefusesWhatIsNone)
{
  for (const VariableCode& code : {EndMark(), VariableCode{8}, VariableCode{1, 1}, VariableCode{}}) {
    EXPECT_THAT(testing::MessageOf([&] {
      Decode(code, {"a", "b", "c"});
    }),
        ::testing::HasSubstr("an invalid set of the 3 variables"));
  }
}

TEST(RankMap, ChoosesIoRanks)
{
  const std::vector<int> machines{0, 0, 0, 1, 1, 1, 2};
  using Flags = std::vector<bool>;
  EXPECT_EQ(ChooseIoRanks(machines, 2, IoLayout::Independent), (Flags{0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(ChooseIoRanks(machines, 1, IoLayout::Shared), (Flags{0, 0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(ChooseIoRanks(machines, 2, IoLayout::Shared), (Flags{0, 0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(ChooseIoRanks(machines, 3, IoLayout::Shared), (Flags{0, 1, 1, 0, 0, 1, 0})) << "2 must compute";
  for (const IoLayout layout : {IoLayout::Independent, IoLayout::Shared}) {
    for (int count = 1; count < 7; ++count) {
      const Flags chosen = ChooseIoRanks(machines, count, layout);
      EXPECT_EQ(std::count(chosen.begin(), chosen.end(), true), count);
    }
  }
  EXPECT_EQ(DefaultIoRankCount(machines, IoLayout::Independent), 1);
  EXPECT_EQ(DefaultIoRankCount(machines, IoLayout::Shared), 2) << "one for each machine that can spare it";
  EXPECT_EQ(DefaultIoRankCount(std::vector<int>(1024), IoLayout::Independent), 64);
  EXPECT_EQ(DefaultIoRankCount({0, 1}, IoLayout::Shared), 1);
}

TEST(RankMap, IsBalancedAndLocal)
{
  // 4 I/O ranks for 4 x 4 ranks: each I/O rank serves a square quarter.
  const std::vector<int> served = MapRanks(Plane(4, 4), {0, 0, 0, 0});
  EXPECT_EQ(CountsOf(served, 4), (std::vector<int>{4, 4, 4, 4}));
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(served[i], served[i / 8 * 8 + i % 4 / 2 * 2]) << "rank " << i;
  }
  for (const int count : {1, 2, 3, 5, 7, 60}) {
    const std::vector<int> counts = CountsOf(MapRanks(Plane(32, 32), std::vector<int>(count)), count);
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    EXPECT_LE(*most - *least, count < 8 ? 2 : 6) << count;
    EXPECT_GT(*least, 0);
  }
}

TEST(RankMap, WeighsValues)
{
  std::vector<ComputeRank> ranks = Plane(8, 1);
  ranks[0].Cells = 7000;
  EXPECT_EQ(MapRanks(ranks, {0, 0}), (std::vector<int>{0, 1, 1, 1, 1, 1, 1, 1}));
  ranks[0].Cells = 1000000;
  EXPECT_EQ(CountsOf(MapRanks(ranks, {0, 0, 0, 0}), 4).front(), 1) << "and nobody is without ranks";
  const std::vector<int> counts = CountsOf(MapRanks(ranks, {0, 0, 0, 0}), 4);
  EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 0);
  for (ComputeRank& rank : ranks) {
    rank = {};  // no patches yet
  }
  EXPECT_EQ(CountsOf(MapRanks(ranks, {0, 0}), 2), (std::vector<int>{4, 4}));
  EXPECT_EQ(MapRanks({{}}, {0, 0}).size(), 1u) << "more I/O ranks than others";
}

TEST(RankMap, StaysOnTheMachine)
{
  std::vector<ComputeRank> ranks = Plane(6, 2);
  for (int i = 0; i < 12; ++i) {
    ranks[i].Machine = i % 3;  // the third one has no I/O rank
  }
  const std::vector<int> served = MapRanks(ranks, {0, 1, 1});
  for (int i = 0; i < 12; ++i) {
    EXPECT_TRUE(i % 3 == 2 || (served[i] == 0) == (i % 3 == 0)) << "rank " << i;
  }
}

}  // namespace patchio::output

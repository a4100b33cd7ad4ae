// Several time steps in one file: arrays set to one of them. Also separate levels.
#include "Catalog/Catalog.h"
#include "Catalog/CheckCatalog.h"
#include "Catalog/Location.h"
#include "Catalog/Nesting.h"
#include "Plan/Blocks.h"
#include "TestTools.h"

#include <algorithm>
#include <random>

namespace patchio {
namespace {

/// Returns the first and the last chunk with wanted values, by a loop over all values.
std::pair<std::uint64_t, std::uint64_t> ChunksByForce(const ChunkedArray& array)
{
  std::uint64_t least = ~std::uint64_t(0), most = 0;
  for (std::uint64_t value = array.First; value < array.First + array.Count; ++value) {
    std::uint64_t rest = value, number = 0, weight = 1;
    for (int axis = array.Rank - 1; axis >= 0; --axis) {
      number += rest % array.Dims[axis] / array.ChunkDims[axis] * weight;
      weight *= (array.Dims[axis] - 1) / array.ChunkDims[axis] + 1;
      rest /= array.Dims[axis];
    }
    least = std::min(least, number);
    most = std::max(most, number);
  }
  return {least, most};
}

TEST(ChunksHoldingValues, AreThoseThatHoldThem)
{
  std::mt19937 random(1);
  const auto upTo = [&](std::uint64_t most) { return random() % most + 1; };
  int exact = 0;
  for (int round = 0; round < 2000; ++round) {
    ChunkedArray array;
    array.Rank = static_cast<std::uint8_t>(upTo(4));
    std::uint64_t values = 1;
    for (int axis = 0; axis < array.Rank; ++axis) {
      array.Dims[axis] = upTo(6);
      array.ChunkDims[axis] = upTo(array.Dims[axis] + 1);
      values *= array.Dims[axis];
    }
    array.First = random() % values;
    array.Count = upTo(values - array.First);
    const ChunkRange range = ChunksHolding(array);
    const auto [least, most] = ChunksByForce(array);
    ASSERT_LE(range.Begin, least);
    ASSERT_GT(range.End, most);
    exact += range.Begin == least && range.End == most + 1 ? 1 : 0;
  }
  EXPECT_GT(exact, 500);
}

TEST(TurningToAStep, LeavesItsChunksAlone)
{
  // 5 steps of 2 x 6 values, with two chunks per step.
  ChunkedArray array;
  array.Rank = 3;
  array.Dims = {5, 2, 6, 0};
  array.ChunkDims = {1, 1, 6, 0};
  array.Count = 12;
  array.StepStride = 12;
  array.FirstChunk = 3;
  array.ChunkCount = 10;
  std::vector<Chunk> chunks(10);
  for (std::uint64_t i = 0; i < chunks.size(); ++i) {
    chunks[i].Number = i;
  }
  ChunkedArray third = array;
  SelectStep(third, chunks.data(), 3);
  EXPECT_EQ(third.First, 36u);
  EXPECT_EQ(third.FirstChunk, 3u + 6u);
  EXPECT_EQ(third.ChunkCount, 2u);
  EXPECT_EQ(third.StepStride, 0u);
  ChunkedArray beyond = array;
  SelectStep(beyond, chunks.data(), 99);
  EXPECT_EQ(beyond.ChunkCount, 0u) << "and nothing outside is looked at";
}

/// Returns a domain, two overlapping boxes, and a list of points.
Catalog SideBySide()
{
  Catalog catalog;
  testing::AddLevel(catalog, {{{0, 0, 0}, {9, 9, 9}}});
  testing::AddLevel(catalog, {{{2, 2, 2}, {5, 5, 5}}, {{4, 4, 4}, {9, 9, 9}}});
  testing::AddLevel(catalog, {{{0, 0, 0}, {6, 0, 0}}});
  catalog.Levels[1].Role = LevelRole::Separate;
  catalog.Levels[2].Role = LevelRole::Points;
  catalog.LevelNames = {"domain", "sensor", "source"};
  catalog.Lattice = {{0, 0, 0}, {9, 9, 9}};
  Variable positions;
  positions.Name = "places";
  positions.TimeInvariant = positions.Positions = true;
  catalog.Variables = {positions};
  catalog.StepsInFile = 4;
  catalog.StepInFile = 3;
  catalog.ResetPresence();
  catalog.SetPresence(0, 3, Presence::Stored);
  return catalog;
}

TEST(LevelsSideBySide, SurviveSerialization)
{
  const Catalog catalog = Catalog::Deserialize(SideBySide().Serialize());
  CheckCatalog(catalog);
  EXPECT_EQ(catalog.StepsInFile, 4);
  EXPECT_EQ(catalog.StepInFile, 3);
  EXPECT_EQ(catalog.RoleOf(2), LevelRole::Points);
  EXPECT_EQ(catalog.NameOfLevel(2), "source");
  EXPECT_EQ(catalog.PositionsVariable(2), 0);
  EXPECT_EQ(catalog.PositionsVariable(1), -1);
  EXPECT_EQ(catalog.Lattice, (Box{{0, 0, 0}, {9, 9, 9}}));
  EXPECT_TRUE(catalog.Variables[0].TimeInvariant && catalog.Variables[0].Positions);
}

TEST(LevelsSideBySide, AreChecked)
{
  const auto refused = [](auto change) {
    Catalog catalog = SideBySide();
    change(catalog);
    return !testing::MessageOf([&] { CheckCatalog(catalog); }).empty();
  };
  EXPECT_TRUE(refused([](Catalog& c) { c.StepInFile = 4; }));
  EXPECT_TRUE(refused([](Catalog& c) { c.StepsInFile = 0; }));
  EXPECT_TRUE(refused([](Catalog& c) { c.LevelNames.pop_back(); }));
  EXPECT_TRUE(refused([](Catalog& c) { c.Levels[1].Role = static_cast<LevelRole>(7); }));
  EXPECT_TRUE(refused([](Catalog& c) { c.Variables[0].Positions = false; }));
  EXPECT_TRUE(refused([](Catalog& c) { c.Variables[0].Components = 2; }));
  EXPECT_TRUE(refused([](Catalog& c) { c.Patches[3].Cells.Upper[1] = 3; }));
  EXPECT_TRUE(refused([](Catalog& c) { c.Lattice = Box(); }));
}

TEST(LevelsSideBySide, BecomeBlocksByTheirNumbers)
{
  Catalog catalog = SideBySide();
  catalog.Levels.resize(2);
  catalog.Patches.resize(3);
  // Two halves of one cuboid, and another cuboid that is adjacent to them.
  testing::AddLevel(catalog, {{{0, 0, 0}, {3, 3, 1}}, {{0, 0, 2}, {3, 3, 3}}, {{0, 0, 4}, {3, 3, 5}}});
  catalog.Levels[2].Role = LevelRole::Separate;
  catalog.Patches[3].Number = catalog.Patches[4].Number = 1;
  catalog.Patches[5].Number = 2;
  catalog.ResetPresence();
  const std::vector<int> kinds = PatchTypes(catalog, {0});
  EXPECT_EQ(kinds[3], kinds[4]);
  EXPECT_NE(kinds[4], kinds[5]);
  const std::vector<bool> shown{false, false, false, true, true, true};
  BlockOptions options;
  options.Merge = true;
  const std::vector<Block> blocks = MakeBlocks(catalog, shown, kinds, Nesting(catalog, shown), true, options);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(NameOfBlock(catalog, blocks[0]), "cuboid 1");
  EXPECT_EQ(blocks[0].Cells, (Box{{0, 0, 0}, {3, 3, 3}}));
  EXPECT_EQ(NameOfBlock(catalog, blocks[1]), "cuboid 2");
}

}  // namespace
}  // namespace patchio

// Values of patches in the arrays of merged blocks, from a file of raw values that the test writes.
#include "Read/BlockArrays.h"

#include "BlockArraysFixture.h"
#include "PagesInMemory.h"

namespace patchio {

using testing::BlockArraysLoading;
using testing::Dice;
using ::testing::HasSubstr;

TEST_F(BlockArraysLoading, BringsAllValuesToTheirPlaces)
{
  Dice dice(1);
  for (int round = 0; round < 120; ++round) {
    Catalog catalog = testing::LevelsAtRandom(dice);
    this->SetVariables(catalog, static_cast<int>(dice.Between(0, 2)));
    const std::vector<bool> shown = testing::ShownAtRandom(catalog, dice);
    const auto blocks = BlocksAtRandom(catalog, shown, true, round % 2 == 0, dice);
    this->SetOddities(catalog, round, {0, 1}, dice);
    const LoadRequest request = Wanting(blocks);
    LoadResult result = this->Load(catalog, request);
    this->ExpectValues(catalog, request, result);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
}

// VTK's Warp By Scalar reads values of cells as values of points.
TEST_F(BlockArraysLoading, HasRoomForAsManyValuesAsThereArePointsBehindArraysOfCells)
{
  Catalog catalog;
  catalog.Dimension = 2;
  testing::AddLevel(catalog, {{{0, 0, 0}, {3, 3, 0}}, {{4, 0, 0}, {200003, 0, 0}}});
  this->SetVariables(catalog, 0);
  std::vector<Block> blocks(2);
  for (int b = 0; b < 2; ++b) {
    blocks[b].Cells = catalog.Patches[b].Cells;
    blocks[b].Parts = {{blocks[b].Cells, b}};
    blocks[b].Full = true;
  }
  LoadResult result = this->Load(catalog, Wanting(blocks, {0, 2}));
  for (std::size_t v = 0; v < 2; ++v) {
    const LoadedArray& array = result.At(1, v);
    ASSERT_EQ(array.Tuples, 200000);
    const auto* const end = static_cast<const float*>(array.Values.get()) + array.Tuples;
    EXPECT_LT(testing::TouchedBytes(end, (2 * 200001 - array.Tuples) * sizeof(float)), 65536u);
  }
}

TEST_F(BlockArraysLoading, BringsValuesOfAPatchIntoSeveralBlocks)
{
  const Catalog catalog = this->Row();
  std::vector<Block> blocks(2);  // patch 1 is cut in two
  blocks[0].Cells = {{0, 0, 0}, {5, 3, 0}};
  blocks[0].Parts = {{{{0, 0, 0}, {3, 3, 0}}, 0}, {{{4, 0, 0}, {5, 3, 0}}, 1}};
  blocks[1].Cells = {{6, 0, 0}, {11, 3, 0}};
  blocks[1].Parts = {{{{6, 0, 0}, {7, 3, 0}}, 1}, {{{8, 0, 0}, {11, 3, 0}}, 2}};
  const LoadRequest request = Wanting(blocks);
  LoadResult result = this->Load(catalog, request);
  this->ExpectValues(catalog, request, result);
  EXPECT_EQ(result.Report.Patches, 3u);
  EXPECT_EQ(result.Report.Tasks, 9u) << "no patch is read twice";
}

TEST_F(BlockArraysLoading, NeedsNoNodesOfAPatchBetweenLargerNumbers)
{
  Catalog catalog;
  catalog.Dimension = 2;
  testing::AddLevel(catalog, {{{4, 0, 0}, {4, 3, 0}}, {{0, 0, 0}, {3, 3, 0}}, {{5, 0, 0}, {8, 3, 0}}});
  this->SetVariables(catalog, 0);
  const LoadRequest request = Wanting(MergeAll(catalog));
  ASSERT_EQ(request.Blocks.size(), 1u);
  for (const ElementType type : {ElementType::Float32, ElementType::Float64}) {
    this->Types = {{{0, 1}, type}, {{1, 1}, type}, {{2, 1}, type}};
    LoadResult result = this->Load(catalog, request);
    this->ExpectValues(catalog, request, result);
  }
}

TEST_F(BlockArraysLoading, RejectsTwoTypesInOneArray)
{
  const Catalog catalog = this->Row();
  this->Types[{2, 0}] = ElementType::Float64;
  LoadResult result = this->Load(catalog, Wanting(MergeAll(catalog)));
  ASSERT_EQ(result.Faults.size(), 1u);
  EXPECT_EQ(result.Faults[0].Patch, 2);
  EXPECT_EQ(result.Faults[0].Variable, 0);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("'cells'"));
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("another type on patch 2"));
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("As patches"));
  EXPECT_EQ(result.At(0, 0).Status, ArrayStatus::Failed);
  EXPECT_FALSE(result.At(0, 0).Values);
  EXPECT_EQ(result.At(0, 1).Status, ArrayStatus::Read);
}

TEST_F(BlockArraysLoading, RejectsAnArrayThatSomePatchesLack)
{
  // The planner does not merge such patches, so a file that merges them is damaged.
  const Catalog catalog = this->Row();
  const auto blocks = MergeAll(catalog);
  this->Change = [](const std::vector<PatchVariable>& requests, LocationTable& table) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].Patch == 3 && requests[i].Variable == 2) {
        table.Locations[i] = Location();
      }
    }
  };
  LoadResult result = this->Load(catalog, Wanting(blocks));
  ASSERT_EQ(result.Faults.size(), 1u);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("no values on patch 3"));
  EXPECT_EQ(result.At(0, 2).Status, ArrayStatus::Failed);
  EXPECT_EQ(result.At(0, 0).Status, ArrayStatus::Read);
}

TEST_F(BlockArraysLoading, HasNoArrayWhereAllPatchesLackIt)
{
  Catalog catalog = this->Row();
  for (int p = 0; p < 5; ++p) {
    catalog.SetPresence(0, p, Presence::Absent);
  }
  LoadResult result = this->Load(catalog, Wanting(MergeAll(catalog)));
  EXPECT_TRUE(result.Faults.empty());
  EXPECT_EQ(result.At(0, 0).Status, ArrayStatus::Absent);
  EXPECT_EQ(result.At(0, 1).Status, ArrayStatus::Read);
}

TEST_F(BlockArraysLoading, LosesOnlyTheBlocksOfABrokenPatch)
{
  const Catalog catalog = this->Row();
  std::vector<Block> blocks(2);
  blocks[0].Cells = {{0, 0, 0}, {7, 3, 0}};
  blocks[0].Parts = {{{{0, 0, 0}, {3, 3, 0}}, 0}, {{{4, 0, 0}, {7, 3, 0}}, 1}};
  blocks[1].Cells = {{8, 0, 0}, {15, 3, 0}};
  blocks[1].Parts = {{{{8, 0, 0}, {11, 3, 0}}, 2}, {{{12, 0, 0}, {15, 3, 0}}, 3}};
  this->Change = [](const std::vector<PatchVariable>& requests, LocationTable& table) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].Patch == 3 && requests[i].Variable == 0) {
        table.ByteRanges[table.Locations[i].First].Offset = std::uint64_t(1) << 40;
      }
    }
  };
  LoadResult result = this->Load(catalog, Wanting(blocks));
  ASSERT_EQ(result.Faults.size(), 1u);
  EXPECT_EQ(result.Faults[0].Patch, 3);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("the end of the file"));
  EXPECT_EQ(result.At(0, 0).Status, ArrayStatus::Read);
  EXPECT_EQ(result.At(1, 0).Status, ArrayStatus::Failed);
  EXPECT_EQ(result.At(1, 1).Status, ArrayStatus::Read);
}

TEST_F(BlockArraysLoading, TellsOfAMissingPatchThatNobodyExplains)
{
  const Catalog catalog = this->Row();
  this->Change = [](const std::vector<PatchVariable>&, LocationTable& table) {
    table.Locations[0].Kind = Encoding::Missing;
  };
  LoadResult result = this->Load(catalog, Wanting(MergeAll(catalog)));
  ASSERT_EQ(result.Faults.size(), 1u);
  EXPECT_EQ(result.At(0, 0).Status, ArrayStatus::Failed);
}

}  // namespace patchio

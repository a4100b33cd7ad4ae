#include "Read/ValueCache.h"

#include "BlockArraysFixture.h"

#include <array>
#include <cstring>

namespace patchio {
namespace {

using testing::Dice;

class ValueCaching : public testing::BlockArraysLoading
{
protected:
  ValueCaching() { this->Cache->SetLimit(-1, 1); }

  LoadRequest Cached(const std::vector<Block>& blocks, const std::vector<int>& variables = {0, 1, 2}) const
  {
    LoadRequest request = Wanting(blocks, variables);
    request.Cache = this->Cache;
    request.Memory = this->Memory;
    request.SettleSeconds = 0;
    request.Storage.Latency = 0;  // no bytes of gaps are read
    return request;
  }

  /// Loads values and compares them with the file. Returns the bytes that were read.
  std::uint64_t Show(const Catalog& catalog, const LoadRequest& request)
  {
    LoadResult result = this->LoadWritten(catalog, request);
    this->ExpectValues(catalog, request, result);
    return result.Report.Bytes;
  }

  /// Returns one level of `count` boxes of 4 x 4 x 4 cells in a row, for tests that count bytes.
  Catalog Cubes(int count)
  {
    Catalog catalog;
    std::vector<Box> boxes;
    for (int i = 0; i < count; ++i) {
      boxes.push_back({{4 * i, 0, 0}, {4 * i + 3, 3, 3}});
    }
    testing::AddLevel(catalog, boxes);
    this->SetVariables(catalog, 0);
    this->WriteFile(catalog);
    return catalog;
  }

  static std::vector<Block> Patches(const Catalog& catalog)
  {
    std::vector<int> all(catalog.Patches.size());
    for (std::size_t p = 0; p < all.size(); ++p) {
      all[p] = static_cast<int>(p);
    }
    return BlocksOfPatches(catalog, all);
  }

  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
  std::shared_ptr<ValueCache> Cache = std::make_shared<ValueCache>();
};

constexpr std::uint64_t CubeBytes = 64 * sizeof(float);

}  // namespace

TEST_F(ValueCaching, GivesTheVeryArraysOfTheSameBlocks)
{
  const Catalog catalog = this->Cubes(5);
  const LoadRequest request = this->Cached(MergeAll(catalog));
  LoadResult first = this->LoadWritten(catalog, request);
  LoadResult second = this->LoadWritten(catalog, request);
  this->ExpectValues(catalog, request, second);
  EXPECT_EQ(second.Report.Requests, 0u);
  EXPECT_EQ(second.Report.CachedArrays, first.Arrays.size());
  EXPECT_EQ(second.Report.CachedBytes, 5 * CubeBytes * 2 + 21 * 25 * 3 * sizeof(float));
  for (std::size_t a = 0; a < first.Arrays.size(); ++a) {
    EXPECT_EQ(first.Arrays[a].Values.get(), second.Arrays[a].Values.get());
  }
}

TEST_F(ValueCaching, ReadsOnlyTheVariableThatIsNew)
{
  const Catalog catalog = this->Cubes(5);
  const std::vector<Block> blocks = Patches(catalog);
  EXPECT_EQ(this->Show(catalog, this->Cached(blocks, {0})), 5 * CubeBytes);
  EXPECT_EQ(this->Show(catalog, this->Cached(blocks, {0, 2})), 5 * CubeBytes) << "one array more";
  EXPECT_EQ(this->Show(catalog, this->Cached(blocks, {2})), 0u) << "one off";
  EXPECT_EQ(this->Show(catalog, this->Cached(blocks, {0, 2})), 0u) << "and on again";
}

TEST_F(ValueCaching, MakesOtherBlocksOfWhatIsThere)
{
  const Catalog catalog = this->Cubes(6);
  EXPECT_EQ(this->Show(catalog, this->Cached(MergeAll(catalog), {0, 2})), 12 * CubeBytes);
  EXPECT_EQ(this->Show(catalog, this->Cached(Patches(catalog), {0, 2})), 0u);
  EXPECT_EQ(this->Show(catalog, this->Cached(MergeAll(catalog, 128), {0, 2})), 0u);
  EXPECT_EQ(this->Show(catalog, this->Cached(MergeAll(catalog), {0, 2})), 0u);
}

TEST_F(ValueCaching, ReadsTheRestOfAPatch)
{
  const Catalog catalog = this->Cubes(2);
  std::vector<Block> part(1);
  part[0].Cells = {{0, 0, 0}, {3, 3, 0}};  // a plane of four
  part[0].Parts = {{part[0].Cells, 0}};
  EXPECT_EQ(this->Show(catalog, this->Cached(part, {0})), CubeBytes / 4);
  EXPECT_EQ(this->Show(catalog, this->Cached(Patches(catalog), {0})), CubeBytes * 7 / 4);
  EXPECT_EQ(this->Show(catalog, this->Cached(part, {0})), 0u);
}

TEST_F(ValueCaching, TakesNodesFromThePatchesThatHaveGivenThem)
{
  const Catalog catalog = this->Cubes(3);
  EXPECT_GT(this->Show(catalog, this->Cached(Patches(catalog), {1})), 0u);
  EXPECT_EQ(this->Show(catalog, this->Cached(MergeAll(catalog), {1})), 0u);
  // Merged blocks do not read shared nodes of all patches.
  this->Cache->Clear();
  EXPECT_GT(this->Show(catalog, this->Cached(MergeAll(catalog), {1})), 0u);
  EXPECT_GT(this->Show(catalog, this->Cached(Patches(catalog), {1})), 0u);
}

TEST_F(ValueCaching, ShowsTheValuesOfTheFileWhateverWasShownBefore)
{
  Dice dice(7);
  for (int round = 0; round < 60; ++round) {
    Catalog catalog = testing::LevelsAtRandom(dice);
    this->SetVariables(catalog, static_cast<int>(dice.Between(0, 2)));
    this->SetOddities(catalog, round, {0}, dice);
    this->WriteFile(catalog);
    this->Cache->Clear();
    std::vector<LoadRequest> shown;
    for (int change = 0; change < 6; ++change) {
      const std::vector<bool> visible = testing::ShownAtRandom(catalog, dice);
      const auto blocks = BlocksAtRandom(catalog, visible, dice.Between(0, 2) > 0, change % 2 == 0, dice);
      shown.push_back(
          this->Cached(blocks, dice.Between(0, 1) == 0 ? std::vector<int>{0, 1, 2} : std::vector<int>{2, 0}));
      this->Show(catalog, shown.back());
      ASSERT_FALSE(HasFailure()) << "round " << round << ", change " << change;
      EXPECT_EQ(this->Show(catalog, shown.back()), 0u);
    }
    for (LoadRequest& request : shown) {
      request.Variables.erase(std::remove_if(request.Variables.begin(), request.Variables.end(),
                                  [](const VariableRequest& v) { return v.Variable == 1; }),
          request.Variables.end());
      EXPECT_EQ(this->Show(catalog, request), 0u) << "round " << round;
    }
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST_F(ValueCaching, ReadsTimeInvariantVariablesOnceForAllSteps)
{
  Catalog catalog = this->Cubes(3);
  catalog.StepsInFile = 2;
  catalog.Variables[2].TimeInvariant = true;
  EXPECT_EQ(this->Show(catalog, this->Cached(Patches(catalog), {0, 2})), 6 * CubeBytes);
  catalog.StepInFile = 1;
  EXPECT_EQ(this->Show(catalog, this->Cached(Patches(catalog), {0, 2})), 3 * CubeBytes);
  catalog.StepInFile = 0;
  EXPECT_EQ(this->Show(catalog, this->Cached(Patches(catalog), {0, 2})), 0u);
}

TEST_F(ValueCaching, DropsWhatWasShownLeastRecently)
{
  Catalog catalog = this->Cubes(512);  // 128 KiB a variable
  catalog.StepsInFile = 4;
  const auto show = [&](int step) {
    catalog.StepInFile = step;
    return this->Show(catalog, this->Cached(MergeAll(catalog), {0}));
  };
  const std::uint64_t bytes = 512 * CubeBytes;
  this->Cache->SetLimit(static_cast<std::int64_t>(bytes * 5 / 2), 1);  // two more than the displayed one
  for (const int step : {0, 1, 2}) {
    EXPECT_EQ(show(step), bytes);
  }
  EXPECT_EQ(show(0), 0u);
  EXPECT_EQ(show(3), bytes) << "step 1 makes room";
  EXPECT_EQ(show(2), 0u);
  EXPECT_EQ(show(0), 0u);
  EXPECT_EQ(show(1), bytes);
  this->Cache->SetLimit(static_cast<std::int64_t>(bytes * 3 / 2), 1);
  EXPECT_EQ(show(0), 0u);
  EXPECT_EQ(show(1), 0u);
  EXPECT_EQ(show(2), bytes);
  this->Cache->SetLimit(0, 1);
  EXPECT_EQ(show(2), 0u) << "what is shown costs nothing";
  EXPECT_EQ(show(1), bytes);
}

TEST_F(ValueCaching, GivesMemoryToTheNextReadBeforeThatNeedsMore)
{
  Catalog catalog = this->Cubes(512);
  catalog.StepsInFile = 5;
  this->Cache->SetLimit(0, 1);
  std::uint64_t total = 0;
  for (int step = 0; step < 5; ++step) {
    catalog.StepInFile = step;
    this->Show(catalog, this->Cached(MergeAll(catalog), {0, 2}));
    total = step == 0 ? this->Memory->TotalBytes() : total;
    EXPECT_EQ(this->Memory->TotalBytes(), total);
  }
  EXPECT_LT(static_cast<double>(total), 1.1 * 2 * 512 * CubeBytes);
}

TEST_F(ValueCaching, GivesBackTheMemoryOfOneVariable)
{
  const Catalog catalog = this->Cubes(512);
  this->Show(catalog, this->Cached(MergeAll(catalog), {0, 2}));
  const std::uint64_t both = this->Memory->TotalBytes();
  this->Cache->SetLimit(0, 1);
  this->Show(catalog, this->Cached(MergeAll(catalog), {2}));
  EXPECT_EQ(this->Memory->TotalBytes(), both / 2) << "of variable 0 nothing is left";
}

TEST_F(ValueCaching, LeavesWhatIsShownToReadsThatNobodyAskedForYet)
{
  Catalog catalog = this->Cubes(512);
  catalog.StepsInFile = 3;
  const auto read = [&](int step, bool ahead) {
    catalog.StepInFile = step;
    LoadRequest request = this->Cached(MergeAll(catalog), {0});
    request.IsPrefetch = ahead;
    RankRead([&](const std::vector<PatchVariable>& requests) { return this->Locate(catalog, requests); },
        catalog, request);
  };
  const auto show = [&](int step) {
    catalog.StepInFile = step;
    return this->Show(catalog, this->Cached(MergeAll(catalog), {0}));
  };
  show(0);
  show(1);
  this->Cache->SetLimit(0, 1);
  read(2, true);  // frees memory, and is not displayed
  EXPECT_EQ(show(1), 0u);
  EXPECT_GT(show(0), 0u);
  read(2, false);
  EXPECT_GT(show(0), 0u);
}

TEST_F(ValueCaching, StaysWithinTheMemoryLimit)
{
  Catalog catalog = this->Cubes(512);
  catalog.StepsInFile = 2;
  this->Show(catalog, this->Cached(MergeAll(catalog), {0, 2}));
  this->Memory->SetLimit(this->Memory->TotalBytes() * 5 / 4);
  catalog.StepInFile = 1;
  EXPECT_EQ(this->Show(catalog, this->Cached(MergeAll(catalog), {0, 2})), 2 * 512 * CubeBytes);
  // Other blocks of the same patches, without memory for both.
  EXPECT_EQ(this->Show(catalog, this->Cached(MergeAll(catalog, 4096), {0, 2})), 2 * 512 * CubeBytes);
}

TEST_F(ValueCaching, HoldsValuesOnceAfterTheBlocksHaveChanged)
{
  const Catalog catalog = this->Cubes(512);
  this->Show(catalog, this->Cached(MergeAll(catalog), {0, 2}));
  const std::uint64_t merged = this->Cache->Bytes();
  this->Show(catalog, this->Cached(MergeAll(catalog, 4096), {0, 2}));
  EXPECT_LE(static_cast<double>(this->Cache->Bytes()), 1.1 * static_cast<double>(merged));
}

TEST_F(ValueCaching, LeavesArraysToThoseWhoShowThem)
{
  const Catalog catalog = this->Cubes(5);
  const LoadRequest request = this->Cached(MergeAll(catalog));
  this->LoadWritten(catalog, request);
  LoadResult result = this->LoadWritten(catalog, request);
  this->Cache->Clear();
  EXPECT_GT(this->Memory->TotalBytes(), this->Memory->KeptBytes());
  this->Memory->SetKeptLimit(0);
  this->ExpectValues(catalog, request, result);
  result = LoadResult();
  EXPECT_EQ(this->Memory->TotalBytes(), 0u);
}

TEST_F(ValueCaching, ReadsAgainWhatHasChanged)
{
  const Catalog catalog = this->Cubes(3);
  const LoadRequest request = this->Cached(Patches(catalog), {0});
  this->Show(catalog, request);
  const std::string path = this->Folder / "data";
  const std::string zeros(std::filesystem::file_size(path), '\0');
  testing::WriteText(path, zeros);
  LoadResult result = this->LoadWritten(catalog, request);
  EXPECT_EQ(result.Report.Bytes, 3 * CubeBytes);
  EXPECT_EQ(this->Value(result.At(1, 0), 5, 0), 0);
}

TEST_F(ValueCaching, DoesNotTrustTheTimesOfNewFiles)
{
  const Catalog catalog = this->Cubes(3);
  LoadRequest request = this->Cached(Patches(catalog), {0});
  request.SettleSeconds = 1000;
  EXPECT_EQ(this->Show(catalog, request), 3 * CubeBytes);
  EXPECT_EQ(this->Show(catalog, request), 3 * CubeBytes);
}

TEST_F(ValueCaching, KeepsNothingThatIsBroken)
{
  const Catalog catalog = this->Cubes(3);
  const LoadRequest request = this->Cached(Patches(catalog), {0});
  this->Change = [](const std::vector<PatchVariable>& requests, LocationTable& table) {
    for (std::size_t r = 0; r < requests.size(); ++r) {
      if (requests[r].Patch == 1) {
        table.ByteRanges[table.Locations[r].First].Offset = 1 << 30;  // beyond the end
      }
    }
  };
  for (int i = 0; i < 2; ++i) {
    LoadResult result = this->LoadWritten(catalog, request);
    ASSERT_EQ(result.Faults.size(), 1u);
    EXPECT_EQ(result.At(1, 0).Status, ArrayStatus::Failed);
    EXPECT_EQ(result.At(2, 0).Status, ArrayStatus::Read);
  }
  this->Change = nullptr;
  EXPECT_EQ(this->Show(catalog, request), CubeBytes);
}

TEST_F(ValueCaching, KeepsFormsOfAVariableApart)
{
  Catalog catalog = this->Cubes(1);
  LoadRequest wide = this->Cached(Patches(catalog), {0});
  wide.Variables[0].OutputComponents = 3;
  LoadResult three = this->LoadWritten(catalog, wide);
  EXPECT_EQ(three.At(0, 0).Components, 3);
  LoadResult one = this->LoadWritten(catalog, this->Cached(Patches(catalog), {0}));
  EXPECT_EQ(one.At(0, 0).Components, 1);
  EXPECT_EQ(one.Report.Bytes, CubeBytes);
}

}  // namespace patchio

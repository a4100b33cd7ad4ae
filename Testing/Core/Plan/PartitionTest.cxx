#include "Plan/Partition.h"

#include "TestTools.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace patchio {
namespace {

using Weights = std::vector<std::int64_t>;

/// Returns nx x ny x nz patches of 8^3 cells, axis 0 fastest.
Catalog Grid(int nx, int ny, int nz)
{
  std::vector<Box> boxes;
  for (int k = 0; k < nz; ++k) {
    for (int j = 0; j < ny; ++j) {
      for (int i = 0; i < nx; ++i) {
        boxes.push_back({{8 * i, 8 * j, 8 * k}, {8 * i + 7, 8 * j + 7, 8 * k + 7}});
      }
    }
  }
  Catalog catalog;
  testing::AddLevel(catalog, boxes);
  return catalog;
}

std::vector<int> AllPatches(const Catalog& catalog)
{
  std::vector<int> patches(catalog.Patches.size());
  std::iota(patches.begin(), patches.end(), 0);
  return patches;
}

Weights LoadOf(const std::vector<int>& parts, const Weights& weights, int count)
{
  Weights load(count, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    load.at(parts[i]) += weights[i];
  }
  return load;
}

std::int64_t Spread(const Weights& load)
{
  return *std::max_element(load.begin(), load.end()) - *std::min_element(load.begin(), load.end());
}

Weights RandomWeights(std::size_t count)
{
  std::mt19937 engine(7);
  Weights weights;
  for (std::size_t i = 0; i < count; ++i) {
    weights.push_back(std::uniform_int_distribution<int>(1, 5000)(engine));
  }
  return weights;
}

}  // namespace

TEST(Partition, OfEqualWeightsDiffersByOnePatchAtMost)
{
  const Catalog catalog = Grid(5, 7, 3);
  const Weights ones(catalog.Patches.size(), 1);
  for (const std::int64_t weight : {0L, 1L, 2048L, 3'000'000'000L}) {
    const Weights weights(catalog.Patches.size(), weight);
    for (int parts = 1; parts <= 120; ++parts) {
      const auto result = PartitionPatches(catalog, AllPatches(catalog), weights, parts);
      EXPECT_LE(Spread(LoadOf(result, ones, parts)), 1) << parts << " parts";
    }
  }
}

TEST(Partition, SpreadsFewPatchesOverManyPartsFromPartZeroOn)
{
  const Catalog catalog = Grid(3, 1, 1);
  const auto result = PartitionPatches(catalog, AllPatches(catalog), {5, 5, 5}, 8);
  EXPECT_EQ(std::set<int>(result.begin(), result.end()).size(), 3u);
  EXPECT_EQ(std::count(result.begin(), result.end(), 0), 1);
  for (const int patch : {0, 1, 2}) {
    EXPECT_EQ(PartitionPatches(catalog, {patch}, {5}, 4), (std::vector<int>{0}));
  }
  EXPECT_TRUE(PartitionPatches(catalog, {}, {}, 3).empty());
}

TEST(Partition, LeavesNoPartEmptyBesideAGiant)
{
  const Catalog catalog = Grid(6, 1, 1);
  for (int giant = 0; giant < 6; ++giant) {
    Weights weights(6, 1);
    weights[giant] = 1000000;
    const std::vector<int> parts = PartitionPatches(catalog, AllPatches(catalog), weights, 5);
    for (int part = 0; part < 5; ++part) {
      EXPECT_GT(std::count(parts.begin(), parts.end(), part), 0) << "part " << part << ", giant " << giant;
    }
  }
}

TEST(Partition, DoesNotDependOnTheOrderOfThePatches)
{
  const Catalog catalog = Grid(6, 5, 4);
  std::vector<int> patches = AllPatches(catalog);
  const Weights byNumber = RandomWeights(patches.size());
  const auto result = PartitionPatches(catalog, patches, byNumber, 7);
  std::shuffle(patches.begin(), patches.end(), std::mt19937(3));
  Weights weights;
  for (const int p : patches) {
    weights.push_back(byNumber[p]);
  }
  const auto shuffled = PartitionPatches(catalog, patches, weights, 7);
  for (std::size_t i = 0; i < patches.size(); ++i) {
    EXPECT_EQ(shuffled[i], result[patches[i]]) << "patch " << patches[i];
  }
}

TEST(Partition, MovesOnlyTheSurplusOfASelection)
{
  const Catalog catalog = Grid(8, 8, 1);
  // Part 0 prefers rows 0 to 3, and part 1 rows 4 to 7. Each part may have 11 of the 20 patches, so no patch
  // moves.
  std::vector<int> patches(20);
  std::iota(patches.begin(), patches.begin() + 11, 0);
  std::iota(patches.begin() + 11, patches.end(), 40);
  std::vector<int> expected(20, 1);
  std::fill(expected.begin(), expected.begin() + 11, 0);
  EXPECT_EQ(PartitionPatches(catalog, patches, Weights(20, 5), 2), expected);
  // 15 patches are too many. Those above 11, a tenth more than the mean, move; they are the last ones.
  std::iota(patches.begin(), patches.begin() + 15, 0);
  std::iota(patches.begin() + 15, patches.end(), 40);
  EXPECT_EQ(PartitionPatches(catalog, patches, Weights(20, 5), 2), expected);
}

TEST(Partition, PutsAFinePatchBesideTheCoarseOneBelowIt)
{
  Catalog catalog = Grid(8, 1, 1);
  std::vector<Box> fine;
  for (const Patch& patch : catalog.Patches) {
    fine.push_back(Refine(patch.Cells, {4, 4, 4}));
  }
  testing::AddLevel(catalog, fine, {4, 4, 4});
  const auto result = PartitionPatches(catalog, AllPatches(catalog), Weights(16, 1), 4);
  for (int p = 0; p < 8; ++p) {
    EXPECT_EQ(result[p], result[8 + p]) << "patch " << p;
    EXPECT_EQ(result[p], p / 2);
  }
}

TEST(Partition, TakesAbsurdlyManyLevels)
{
  Catalog catalog;
  for (int level = 0; level < 400; ++level) {
    testing::AddLevel(catalog, {{{0, 0, 0}, {1, 1, 1}}, {{2, 0, 0}, {3, 1, 1}}}, {1000, 1000, 1000});
  }
  const auto result = PartitionPatches(catalog, {600, 601, 798, 799}, Weights(4, 1), 2);
  EXPECT_EQ(LoadOf(result, Weights(4, 1), 2), Weights(2, 2));
}

}  // namespace patchio

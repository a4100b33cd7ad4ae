// Values of patches in the arrays of merged blocks, from a file of raw values that is made up here.
#include "Read/BlockArrays.h"

#include "Formats/SAMRAI/SamraiFormat.h"
#include "Plan/GhostLayer.h"
#include "RandomLevels.h"
#include "Read/PatchLoader.h"
#include "SamraiDraft.h"

#include <limits>
#include <map>

namespace patchio {
namespace {

using testing::Dice;
using testing::DraftValue;
using ::testing::HasSubstr;

/// Which value is not as in the file.
struct Oddity
{
  int Patch = 0, Variable = 0;
  bool operator<(const Oddity& other) const
  {
    return std::make_pair(this->Patch, this->Variable) < std::make_pair(other.Patch, other.Variable);
  }
};

class BlockArraysLoading : public ::testing::Test
{
protected:
  /// Variables: 0 cells, 1 nodes x 2, 2 cells with ghosts.
  void SetVariables(Catalog& catalog, int ghosts) const
  {
    catalog.Path = this->Folder / "made up";
    catalog.Variables.clear();
    const Int3 layers{ghosts, ghosts, catalog.Dimension == 3 ? ghosts : 0};
    catalog.Variables.push_back({"cells", Centering::Cell, 1, {0, 0, 0}, "cells", -1});
    catalog.Variables.push_back({"nodes", Centering::Node, 2, {0, 0, 0}, "nodes", -1});
    catalog.Variables.push_back({"ghosts", Centering::Cell, 1, layers, "ghosts", -1});
    catalog.ResetPresence();
    for (std::size_t v = 0; v < 3; ++v) {
      for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
        catalog.SetPresence(v, p, Presence::Stored);
      }
    }
  }

  /// Four 4 x 4 patches in a row, and one below the third.
  Catalog Row() const
  {
    Catalog catalog;
    catalog.Dimension = 2;
    testing::AddLevel(catalog, {{{0, 0, 0}, {3, 3, 0}}, {{4, 0, 0}, {7, 3, 0}}, {{8, 0, 0}, {11, 3, 0}},
                                   {{12, 0, 0}, {15, 3, 0}}, {{8, -4, 0}, {11, -1, 0}}});
    this->SetVariables(catalog, 1);
    return catalog;
  }

  ElementType TypeOf(int patch, int variable) const
  {
    const auto found = this->Types.find({patch, variable});
    return found == this->Types.end() ? ElementType::Float32 : found->second;
  }

  void WriteFile(const Catalog& catalog)
  {
    std::string bytes;
    this->Offsets.clear();
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
        this->Offsets.push_back(bytes.size());
        for (int c = 0; c < catalog.Variables[v].Components; ++c) {
          for (const float value : testing::DraftValues(catalog, p, v, c)) {
            const double wide = value;
            this->TypeOf(p, v) == ElementType::Float64
                ? bytes.append(reinterpret_cast<const char*>(&wide), sizeof(wide))
                : bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
          }
        }
      }
    }
    testing::WriteText(this->Folder / "data", bytes);
  }

  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests) const
  {
    LocationTable table;
    table.Files = {this->Folder / "data"};
    for (const PatchVariable& request : requests) {
      const auto constant = this->Constants.find({request.Patch, request.Variable});
      Location& location = table.Locations.emplace_back();
      if (constant != this->Constants.end()) {
        location.Kind = Encoding::Constant;
        location.Value = constant->second;
        continue;
      }
      if (catalog.PresenceOf(request.Variable, request.Patch) == Presence::Absent) {
        continue;
      }
      const int components = catalog.Variables[request.Variable].Components;
      const ElementType type = this->TypeOf(request.Patch, request.Variable);
      location = {Encoding::Raw, static_cast<std::uint32_t>(table.Extents.size()),
          static_cast<std::uint32_t>(components), 0, 0};
      const std::uint64_t bytes = catalog.StoredTuples(request.Variable, request.Patch) * SizeOf(type);
      for (int c = 0; c < components; ++c) {
        const std::uint64_t offset =
            this->Offsets[request.Patch * catalog.Variables.size() + request.Variable] + c * bytes;
        table.Extents.push_back({offset, bytes, 0, type, false});
      }
    }
    return table;
  }

  LoadResult Load(const Catalog& catalog, const LoadRequest& request)
  {
    this->WriteFile(catalog);
    const auto locate = [&](const std::vector<PatchVariable>& requests) {
      LocationTable table = this->Locate(catalog, requests);
      if (this->Change) {
        this->Change(requests, table);
      }
      return table;
    };
    return PatchLoader(locate, catalog, request).Read();
  }

  static LoadRequest Wanting(const std::vector<Block>& blocks, const std::vector<int>& variables = {0, 1, 2})
  {
    LoadRequest request;
    request.Blocks = blocks;
    request.Threads = 3;
    for (const int v : variables) {
      const int components = v == 1 ? 2 : 1;
      request.Variables.push_back({v, v == 1 ? 3 : 1, {}, {0, 0, 0}});
      for (int c = 0; c < components; ++c) {
        request.Variables.back().Slots.push_back(c);
      }
    }
    return request;
  }

  static std::vector<Block> MergeAll(const Catalog& catalog, std::int64_t mostCells = 1 << 26)
  {
    const std::vector<bool> shown(catalog.Patches.size(), true);
    BlockOptions options;
    options.Merge = true;
    options.Cover.MostCells = mostCells;
    return MakeBlocks(
        catalog, shown, std::vector<int>(shown.size(), 0), Nesting(catalog, shown), false, options);
  }

  double Value(const LoadedArray& array, std::size_t tuple, int component) const
  {
    const std::size_t at = tuple * array.Components + component;
    return array.Type == ElementType::Float64 ? static_cast<const double*>(array.Values.get())[at]
                                              : static_cast<const float*>(array.Values.get())[at];
  }

  /// The value of a patch's variable at an index of its level.
  double Stored(const Catalog& catalog, int patch, int variable, int component, const Int3& index) const
  {
    const auto constant = this->Constants.find({patch, variable});
    if (constant != this->Constants.end()) {
      return constant->second;
    }
    const Variable& info = catalog.Variables[variable];
    Box stored = testing::Grown(catalog.Patches[patch].Cells, info.Ghosts);
    for (int axis = 0; axis < catalog.Dimension && info.Center == Centering::Node; ++axis) {
      ++stored.Upper[axis];
    }
    return DraftValue(patch, variable, component, static_cast<std::int64_t>(IndexIn(stored, index)));
  }

  /// Where parts or fringe say so, the values are theirs; elsewhere they are some of the array's own.
  void ExpectValues(const Catalog& catalog, const LoadRequest& request, LoadResult& result) const
  {
    ASSERT_TRUE(result.Faults.empty()) << result.Faults[0].Message;
    for (std::size_t b = 0; b < request.Blocks.size(); ++b) {
      for (std::size_t v = 0; v < request.Variables.size(); ++v) {
        const int variable = request.Variables[v].Variable;
        ASSERT_EQ(result.At(b, v).Status, ArrayStatus::Read);
        catalog.Variables[variable].Center == Centering::Cell
            ? this->ExpectCells(catalog, request.Blocks[b], variable, result.At(b, v))
            : this->ExpectNodes(catalog, request.Blocks[b], variable, result.At(b, v));
      }
    }
  }

  void ExpectCells(const Catalog& catalog, const Block& block, int variable, const LoadedArray& array) const
  {
    const Box grid = GridCells(block);
    ASSERT_EQ(array.Tuples, grid.Cells());
    std::vector<bool> known(grid.Cells(), false);
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    std::vector<Region> regions = block.Fringe;
    for (const OwnedBox& part : block.Parts) {
      regions.push_back({part.Cells, part.Owner, {1, 1, 1}});
    }
    for (const Region& region : regions) {
      testing::ForEachCell(region.Cells, [&](const Int3& cell) {
        const double expected =
            this->Stored(catalog, region.Owner, variable, 0, Coarsen({cell, cell}, region.Ratio).Lower);
        const std::size_t tuple = IndexIn(grid, cell);
        ASSERT_EQ(this->Value(array, tuple, 0), expected) << "patch " << region.Owner;
        known[tuple] = true;
        lowest = std::min(lowest, expected);
        highest = std::max(highest, expected);
      });
    }
    for (std::size_t tuple = 0; tuple < known.size(); ++tuple) {
      ASSERT_TRUE(this->Value(array, tuple, 0) >= lowest && this->Value(array, tuple, 0) <= highest);
    }
  }

  /// Own nodes come from the patch with the largest number. A third component is 0.
  void ExpectNodes(const Catalog& catalog, const Block& block, int variable, const LoadedArray& array) const
  {
    Box grid = GridCells(block);
    for (int axis = 0; axis < catalog.Dimension; ++axis) {
      ++grid.Upper[axis];
    }
    ASSERT_EQ(array.Tuples, grid.Cells());
    std::map<Int3, int> owners;
    for (const OwnedBox& part : block.Parts) {
      Box nodes = part.Cells;
      for (int axis = 0; axis < catalog.Dimension; ++axis) {
        ++nodes.Upper[axis];
      }
      testing::ForEachCell(
          nodes, [&](const Int3& node) { owners[node] = std::max(owners[node], part.Owner); });
    }
    for (const auto& [node, owner] : owners) {
      const std::size_t tuple = IndexIn(grid, node);
      for (int c = 0; c < 2; ++c) {
        ASSERT_EQ(this->Value(array, tuple, c), this->Stored(catalog, owner, variable, c, node));
      }
    }
    for (std::int64_t tuple = 0; tuple < array.Tuples; ++tuple) {
      ASSERT_EQ(this->Value(array, tuple, 2), 0);
    }
  }

  testing::TempFolder Folder;
  std::map<Oddity, ElementType> Types;
  std::map<Oddity, float> Constants;
  std::vector<std::uint64_t> Offsets;
  std::function<void(const std::vector<PatchVariable>&, LocationTable&)> Change;
};

}  // namespace

TEST_F(BlockArraysLoading, BringsAllValuesToTheirPlaces)
{
  Dice dice(1);
  for (int round = 0; round < 120; ++round) {
    Catalog catalog = testing::LevelsAtRandom(dice);
    this->SetVariables(catalog, static_cast<int>(dice.Between(0, 2)));
    const std::vector<bool> shown = testing::ShownAtRandom(catalog, dice);
    const std::vector<int> kinds(shown.size(), 0);
    const Nesting nesting(catalog, shown);
    BlockOptions options;
    options.Merge = true;
    options.Cover = {dice.Between(0, 1) == 0 ? 1 << 26 : 60, 100 * dice.Between(0, 2)};
    auto blocks = MakeBlocks(catalog, shown, kinds, nesting, dice.Between(0, 1) == 0, options);
    for (Block& block : blocks) {
      if (round % 2 == 0) {
        AddGhostLayer(catalog, nesting, kinds, block);
      }
    }
    this->Constants.clear();
    for (std::size_t p = 0; p < shown.size() && round % 3 == 0; ++p) {
      if (dice.Between(0, 3) == 0) {
        this->Constants[{static_cast<int>(p), 0}] = static_cast<float>(-1 - static_cast<int>(p));
      }
    }
    this->Types.clear();
    for (std::size_t p = 0; p < shown.size() && round % 4 < 2; ++p) {
      this->Types[{static_cast<int>(p), 0}] = ElementType::Float64;
      this->Types[{static_cast<int>(p), 1}] = ElementType::Float64;
    }
    const LoadRequest request = Wanting(blocks);
    LoadResult result = this->Load(catalog, request);
    this->ExpectValues(catalog, request, result);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
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

TEST_F(BlockArraysLoading, PutsConstantsIntoArraysOfEachTypeAtOnce)
{
  const Catalog catalog = this->Row();
  std::vector<Block> blocks(2);  // the constant patch 1 beside doubles, and by itself
  blocks[0].Cells = {{0, 0, 0}, {5, 3, 0}};
  blocks[0].Parts = {{{{0, 0, 0}, {3, 3, 0}}, 0}, {{{4, 0, 0}, {5, 3, 0}}, 1}};
  blocks[1].Cells = {{6, 0, 0}, {7, 3, 0}};
  blocks[1].Parts = {{{{6, 0, 0}, {7, 3, 0}}, 1}};
  this->Types[{0, 0}] = ElementType::Float64;
  this->Constants[{1, 0}] = 0.5f;
  const LoadRequest request = Wanting(blocks, {0});
  LoadResult result = this->Load(catalog, request);
  this->ExpectValues(catalog, request, result);
  EXPECT_EQ(result.At(0, 0).Type, ElementType::Float64);
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

TEST_F(BlockArraysLoading, NeedsNoNodesOfCoarserLevels)
{
  Catalog catalog;
  catalog.Dimension = 2;
  testing::AddLevel(catalog, {{{0, 0, 0}, {7, 7, 0}}});
  testing::AddLevel(catalog, {{{4, 4, 0}, {11, 11, 0}}}, {2, 2, 1});
  this->SetVariables(catalog, 0);
  const std::vector<bool> shown(2, true);
  Block block = BlockOfPatch(catalog, 1);
  AddGhostLayer(catalog, Nesting(catalog, shown), {0, 0}, block);
  ASSERT_FALSE(block.Fringe.empty());
  const LoadRequest request = Wanting({block});
  LoadResult result = this->Load(catalog, request);
  this->ExpectValues(catalog, request, result);
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
  // The planner keeps such patches apart; a file that says otherwise is broken.
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
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("none on patch 3"));
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
        table.Extents[table.Locations[i].First].Offset = std::uint64_t(1) << 40;
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

TEST(BlockArraysOfSamrai, HaveTheValuesOfTheirPatches)
{
  const testing::TempFolder folder;
  Catalog catalog = testing::SmallCatalog();
  catalog.Path = testing::WriteDump(folder.Path(), catalog);
  const std::vector<bool> shown(3, true);
  BlockOptions options;
  options.Merge = true;
  LoadRequest request;
  request.Blocks =
      MakeBlocks(catalog, shown, KindsOfPatches(catalog, {0, 1, 2}), Nesting(catalog, shown), false, options);
  request.Variables = {{0, 1, {0}, {0, 0, 0}}, {1, 2, {0, 1}, {0, 0, 0}}, {2, 1, {0}, {0, 0, 0}}};
  request.Threads = 2;
  ASSERT_EQ(request.Blocks.size(), 2u);
  LoadResult result = LoadPatches(samrai::SamraiFormat(), catalog, request);
  ASSERT_TRUE(result.Faults.empty());
  const auto* density = static_cast<const float*>(result.At(0, 0).Values.get());
  const auto* velocity = static_cast<const float*>(result.At(0, 1).Values.get());
  const auto* pressure = static_cast<const float*>(result.At(0, 2).Values.get());
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 7; ++i) {
      const int patch = i < 4 ? 0 : 1;
      const int width = i < 4 ? 4 : 3;
      const int column = i < 4 ? i : i - 4;
      EXPECT_EQ(density[j * 7 + i], DraftValue(patch, 0, 0, j * width + column));
      EXPECT_EQ(pressure[j * 7 + i], DraftValue(patch, 2, 0, j * (width + 2) + column + 1));
      EXPECT_EQ(velocity[2 * (j * 8 + i) + 1], DraftValue(patch, 1, 1, j * (width + 1) + column));
    }
  }
}

}  // namespace patchio

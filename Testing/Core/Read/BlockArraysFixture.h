// Made-up patches in a file of raw values, loaded into blocks, for tests of arrays of blocks.
#pragma once

#include "Plan/Blocks.h"
#include "RandomLevels.h"
#include "Read/RankRead.h"
#include "SamraiDraft.h"

#include <limits>
#include <map>

namespace patchio::testing {

/// The key of an array that a test makes different, of another type or constant: its patch and its variable.
using Oddity = std::pair<int, int>;

class BlockArraysLoading : public ::testing::Test
{
protected:
  /// Sets the variables: 0 cells, 1 nodes x 2, 2 cells with ghosts.
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

  /// Returns four 4 x 4 patches in a row, and one below the third.
  Catalog Row() const
  {
    Catalog catalog;
    catalog.Dimension = 2;
    AddLevel(catalog, {{{0, 0, 0}, {3, 3, 0}}, {{4, 0, 0}, {7, 3, 0}}, {{8, 0, 0}, {11, 3, 0}},
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
          for (const float value : DraftValues(catalog, p, v, c)) {
            const double wide = value;
            this->TypeOf(p, v) == ElementType::Float64
                ? bytes.append(reinterpret_cast<const char*>(&wide), sizeof(wide))
                : bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
          }
        }
      }
    }
    WriteText(this->Folder / "data", bytes);
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
      location = {Encoding::Raw, static_cast<std::uint32_t>(table.ByteRanges.size()),
          static_cast<std::uint32_t>(components), 0, 0};
      const std::uint64_t bytes = catalog.StoredTuples(request.Variable, request.Patch) * SizeOf(type);
      for (int c = 0; c < components; ++c) {
        const std::uint64_t offset =
            this->Offsets[request.Patch * catalog.Variables.size() + request.Variable] + c * bytes;
        table.ByteRanges.push_back({offset, bytes, 0, type, false});
      }
    }
    return table;
  }

  LoadResult Load(const Catalog& catalog, const LoadRequest& request)
  {
    this->WriteFile(catalog);
    return this->LoadWritten(catalog, request);
  }

  LoadResult LoadWritten(const Catalog& catalog, const LoadRequest& request)
  {
    const auto locate = [&](const std::vector<PatchVariable>& requests) {
      LocationTable table = this->Locate(catalog, requests);
      if (this->Change) {
        this->Change(requests, table);
      }
      return table;
    };
    LoadRequest withRanges = request;
    withRanges.FindRanges = true;
    LoadResult result = RankRead(locate, catalog, withRanges).Read();
    for (const LoadedArray& array : result.Arrays) {
      ExpectRange(array);
    }
    return result;
  }

  /// Expects that the known range is the range of all values, including those in gaps and layers.
  static void ExpectRange(const LoadedArray& array)
  {
    if (array.Status != ArrayStatus::Read || array.Type != ElementType::Float32) {
      return;
    }
    ASSERT_TRUE(array.Range.IsKnown(array.Components));
    const float* const values = static_cast<const float*>(array.Values.get());
    for (int c = 0; c < array.Components; ++c) {
      float least = values[c], greatest = values[c];
      for (std::int64_t t = 0; t < array.Tuples; ++t) {
        least = std::min(least, values[t * array.Components + c]);
        greatest = std::max(greatest, values[t * array.Components + c]);
      }
      EXPECT_EQ(array.Range.RangeOfComponent(c).Least, least);
      EXPECT_EQ(array.Range.RangeOfComponent(c).Greatest, greatest);
    }
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

  /// Returns the blocks of the shown patches with random options.
  static std::vector<Block> BlocksAtRandom(
      const Catalog& catalog, const std::vector<bool>& shown, bool merge, bool withGhostLayer, Dice& dice)
  {
    const std::vector<int> kinds(shown.size(), 0);
    const Nesting nesting(catalog, shown);
    BlockOptions options;
    options.Merge = merge;
    options.Cover = {dice.Between(0, 1) == 0 ? 1 << 26 : 60, 100 * dice.Between(0, 2)};
    std::vector<Block> blocks = MakeBlocks(catalog, shown, kinds, nesting, dice.Between(0, 1) == 0, options);
    for (Block& block : blocks) {
      if (withGhostLayer) {
        AddGhostLayer(catalog, nesting, kinds, block);
      }
    }
    return blocks;
  }

  /// Makes some arrays constant in each third round, and all arrays of these variables doubles in half of the
  /// rounds.
  void SetOddities(const Catalog& catalog, int round, const std::vector<int>& doubles, Dice& dice)
  {
    this->Constants.clear();
    this->Types.clear();
    for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
      if (round % 3 == 0 && dice.Between(0, 3) == 0) {
        this->Constants[{p, 0}] = static_cast<float>(-1 - p);
      }
      for (const int variable : doubles) {
        if (round % 4 < 2) {
          this->Types[{p, variable}] = ElementType::Float64;
        }
      }
    }
  }

  double Value(const LoadedArray& array, std::size_t tuple, int component) const
  {
    const std::size_t at = tuple * array.Components + component;
    return array.Type == ElementType::Float64 ? static_cast<const double*>(array.Values.get())[at]
                                              : static_cast<const float*>(array.Values.get())[at];
  }

  /// Returns the value of a patch's variable at an index of its level.
  double Stored(const Catalog& catalog, int patch, int variable, int component, const Int3& index) const
  {
    const auto constant = this->Constants.find({patch, variable});
    if (constant != this->Constants.end()) {
      return constant->second;
    }
    const Variable& info = catalog.Variables[variable];
    Box stored = Grow(catalog.Patches[patch].Cells, info.Ghosts);
    for (int axis = 0; axis < catalog.Dimension && info.Center == Centering::Node; ++axis) {
      ++stored.Upper[axis];
    }
    return DraftValue(patch, variable, component, static_cast<std::int64_t>(IndexIn(stored, index)));
  }

  /// Expects the values of the owners in the parts and the fringe of blocks. Values elsewhere must lie
  /// between the least and the greatest of these.
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
    ASSERT_EQ(array.Tuples, grid.CellCount());
    std::vector<bool> known(grid.CellCount(), false);
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    std::vector<Region> regions = block.GhostRegions;
    for (const OwnedBox& part : block.Parts) {
      regions.push_back({part.Cells, part.Owner, {1, 1, 1}});
    }
    for (const Region& region : regions) {
      ForEachCell(region.Cells, [&](const Int3& cell) {
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

  /// Expects that nodes come from the patch with the largest number, and that a third component is 0.
  void ExpectNodes(const Catalog& catalog, const Block& block, int variable, const LoadedArray& array) const
  {
    Box grid = GridCells(block);
    for (int axis = 0; axis < catalog.Dimension; ++axis) {
      ++grid.Upper[axis];
    }
    ASSERT_EQ(array.Tuples, grid.CellCount());
    std::map<Int3, int> owners;
    for (const OwnedBox& part : block.Parts) {
      Box nodes = part.Cells;
      for (int axis = 0; axis < catalog.Dimension; ++axis) {
        ++nodes.Upper[axis];
      }
      ForEachCell(nodes, [&](const Int3& node) { owners[node] = std::max(owners[node], part.Owner); });
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

  TempFolder Folder;
  std::map<Oddity, ElementType> Types;
  std::map<Oddity, float> Constants;
  std::vector<std::uint64_t> Offsets;
  std::function<void(const std::vector<PatchVariable>&, LocationTable&)> Change;
};

}  // namespace patchio::testing

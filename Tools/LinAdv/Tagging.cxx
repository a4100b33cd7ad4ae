#include "LinAdv/Tagging.h"

#include "LinAdv/Scheme.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <unordered_set>

namespace patchio::linadv {
namespace {

using TileSet = std::set<std::uint64_t>;

/// Adds the tiles of `level` that lie over `box`, cells of that level.
template <typename Set>
void AddTiles(const Geometry& space, int level, const Box& box, Set& tiles)
{
  space.ForTiles(level, box, [&](const Int3& tile, const Int3&) { tiles.insert(MortonKey(tile)); });
}

/// Tiles of the next finer level over the tagged cells of this rank's patches and their surroundings.
std::unordered_set<std::uint64_t> TagPatches(const Hierarchy& hierarchy, int level, int buffer)
{
  std::unordered_set<std::uint64_t> tiles;
  const Grid& grid = hierarchy.Patches(level);
  const Geometry& space = grid.Space();
  for (int scalar = 0; scalar < hierarchy.ScalarCount(); ++scalar) {
    const double threshold = hierarchy.ProfileOf(scalar).TagDifference();
    const Field values = hierarchy.Ghosted(level, scalar);
    for (std::size_t p = 0; p < values.size(); ++p) {
      if (values[p].Values.empty()) {
        continue;
      }
      ForCells(grid.Patches()[p].Cells, [&](int i, int j, int k) {
        if (Jump(values[p], space.Dimension, i, j, k) > threshold) {
          const Box around = Grown({{i, j, k}, {i, j, k}}, space.Layers(buffer));
          AddTiles(space, level + 1, Refine(around, space.Ratio), tiles);
        }
      });
    }
  }
  return tiles;
}

/// The tiles of all ranks.
TileSet Union(const std::unordered_set<std::uint64_t>& mine, Communicator& ranks)
{
  const std::vector<std::uint64_t> keys(mine.begin(), mine.end());
  const std::string bytes(reinterpret_cast<const char*>(keys.data()), keys.size() * sizeof(std::uint64_t));
  TileSet all;
  for (const std::string& part : ranks.AllGather(bytes)) {
    for (std::size_t at = 0; at < part.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t key = 0;
      std::memcpy(&key, part.data() + at, sizeof(key));
      all.insert(key);
    }
  }
  return all;
}

/// What level `level` needs so that every tile of the next finer one is nested in it.
void AddNest(const Geometry& space, int level, const TileSet& finer, TileSet& tiles)
{
  for (std::uint64_t key : finer) {
    const Box cells = Coarsen(space.TileCells(level + 1, TileOfKey(key)), space.Ratio);
    AddTiles(space, level, Grown(cells, space.Layers(NestingWidth)), tiles);
  }
}

}  // namespace

std::vector<TileList> ChooseTiles(const Hierarchy& hierarchy, const Options& options, Communicator& ranks)
{
  const int tagged = std::min(hierarchy.LevelCount(), options.Levels - 1);
  std::vector<TileSet> tiles(tagged);
  for (int level = 0; level < tagged; ++level) {
    tiles[level] = Union(TagPatches(hierarchy, level, options.TagBuffer), ranks);
  }
  const Geometry& space = hierarchy.Patches(0).Space();
  for (int level = tagged - 1; level > 0; --level) {
    AddNest(space, level, tiles[level], tiles[level - 1]);
  }
  std::vector<TileList> result;
  for (const TileSet& set : tiles) {
    if (set.empty()) {
      break;  // and so are the finer ones, since they are nested
    }
    result.emplace_back(set.begin(), set.end());
  }
  return result;
}

}  // namespace patchio::linadv

// Files written through shared pointers, and what was read through them: right in any order, but all of it
// once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::probe {

/// A stretch of a file.
struct Tile
{
  std::uint64_t Offset, Bytes;
};

/// Whether the tiles, in some order, follow each other from offset 0 without gap or overlap; so do none.
bool TilesFromZero(std::vector<Tile> tiles);

/// How blocks of ranks are named by offsets: rank r's k-th block has the name r x Part + k x Block.
struct BlockNames
{
  std::uint64_t Part, Block, End;
};

/// Throws Error unless the file's values at `offset` .. `offset` + `bytes` are those of `seed`.
void CheckStretch(const std::string& path, std::uint64_t seed, std::uint64_t offset, std::uint64_t bytes);

/// Throws Error unless the first `bytes` bytes of the file are blocks of `seed` with names, each once, in any
/// order.
void CheckShuffled(const std::string& path, std::uint64_t seed, const BlockNames& names, std::uint64_t bytes);

}  // namespace patchio::probe

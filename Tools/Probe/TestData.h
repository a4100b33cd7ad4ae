// The bytes of a study's test files: which of them each rank sees, and in which order; values whose place in
// the file can be told from themselves; and whether files are as they should be after writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace patchio::probe {

enum class View
{
  Own,         ///< a contiguous part for each rank
  Whole,       ///< the whole file for every rank; for reading only
  Interleaved  ///< piece after piece to the ranks in turn, so that each sees holes
};

constexpr View AllViews[] = {View::Own, View::Whole, View::Interleaved};

/// "own", "whole", "interleaved".
const char* NameOf(View view);
/// Throws Error on another name.
View ViewNamed(const std::string& name);

/// The part of a file that one rank sees.
struct Layout
{
  View Shape = View::Own;
  int Rank = 0;
  int Ranks = 1;
  std::uint64_t FileBytes = 0;    ///< a multiple of Ranks x 8 and of Ranks x Piece
  std::uint64_t Piece = 1 << 10;  ///< bytes between holes in the interleaved view

  /// Bytes of a rank's share of the file.
  std::uint64_t PartBytes() const { return this->FileBytes / this->Ranks; }
  /// Bytes of the rank's view.
  std::uint64_t ViewBytes() const { return this->Shape == View::Whole ? this->FileBytes : this->PartBytes(); }

  /// A stretch that is contiguous in the file and in memory; `Begin` counts from the range's first byte.
  struct Run
  {
    std::uint64_t FileOffset, Begin, Bytes;
  };
  /// Calls `take` with the runs of `bytes` bytes of the view from `offset` on, in order.
  void ForRuns(std::uint64_t offset, std::uint64_t bytes, const std::function<void(const Run&)>& take) const;
};

/// The largest size up to `wanted` that every view of `ranks` ranks can divide; 0 where there is none.
std::uint64_t DivisibleSize(std::uint64_t wanted, int ranks, std::uint64_t piece);

// ---- values
// --------------------------------------------------------------------------------------------------

/// The content of a file: another one for each seed, and for each seed no 8 aligned bytes twice.
class Pattern
{
public:
  explicit Pattern(std::uint64_t seed) : Seed(seed) {}

  /// The bytes at `offset` .. `offset` + `bytes` of the file.
  void Fill(std::uint64_t offset, std::byte* bytes, std::size_t count) const;
  /// Returns the index of the first wrong byte, counted from `bytes`; nothing if all are right.
  std::optional<std::size_t> FindWrong(std::uint64_t offset, const std::byte* bytes, std::size_t count) const;
  /// The offset in the file that these 8 bytes come from; any number when they are not of this pattern.
  std::uint64_t OffsetOf(const std::byte* bytes) const;

private:
  std::uint64_t Word(std::uint64_t index) const { return (index ^ this->Seed) * Factor; }
  std::byte Byte(std::uint64_t offset) const;

  static constexpr std::uint64_t Factor = 0x9e3779b97f4a7c15u;
  std::uint64_t Seed;
};

// ---- files that were written, blocks that were read
// --------------------------------------------------------------------------------------------------

/// A stretch of a file.
struct Tile
{
  std::uint64_t Offset, Bytes;
};

/// Returns whether the tiles, in some order, follow each other from offset 0 without gap or overlap. No tiles
/// do.
bool TilesFromZero(std::vector<Tile> tiles);

/// Names of the blocks of ranks: rank r's k-th block has the name r x Part + k x Block.
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

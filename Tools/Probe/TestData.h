// The bytes of a study's test files: the part that each rank sees, values that identify their offset in the
// file, and checks of written files.
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
  Own,         ///< each rank sees a contiguous part of the file
  Whole,       ///< each rank sees the whole file; only for reading
  Interleaved  ///< pieces belong to the ranks in turn; each rank's view has holes
};

/// Returns "own", "whole" or "interleaved".
const char* NameOf(View view);
/// Returns the view with the name `name`. Throws Error for unknown names.
View ViewNamed(const std::string& name);

/// The part of a file that one rank sees.
struct Layout
{
  View FileView = View::Own;
  int Rank = 0;
  int Ranks = 1;
  std::uint64_t FileBytes = 0;         ///< a multiple of Ranks x 8 and of Ranks x PieceBytes
  std::uint64_t PieceBytes = 1 << 10;  ///< number of bytes between two holes of an interleaved view

  /// Returns the number of bytes of a rank's part of the file.
  std::uint64_t PartBytes() const { return this->FileBytes / this->Ranks; }
  /// Returns the number of bytes of the rank's view.
  std::uint64_t ViewBytes() const
  {
    return this->FileView == View::Whole ? this->FileBytes : this->PartBytes();
  }

  /// A range that is contiguous in the file and in memory. `Begin` counts from the first byte of the
  /// requested range.
  struct Run
  {
    std::uint64_t FileOffset, Begin, Bytes;
  };
  /// Calls `visit` for each run of the `bytes` bytes at `offset` in the view, in order.
  void ForEachRun(
      std::uint64_t offset, std::uint64_t bytes, const std::function<void(const Run&)>& visit) const;
};

/// Returns the largest file size up to `size` bytes that `rankCount` ranks can share equally in each view; 0
/// if no such size exists. `piece`: bytes of a piece in View::Interleaved.
std::uint64_t DivisibleSize(std::uint64_t size, int rankCount, std::uint64_t piece);

// ---- values
// --------------------------------------------------------------------------------------------------

/// The content of a test file, which depends on a seed. All aligned groups of 8 bytes in a pattern differ.
class Pattern
{
public:
  explicit Pattern(std::uint64_t seed) : Seed(seed) {}

  /// Sets `bytes` to the `count` bytes at `offset` of the pattern.
  void Fill(std::uint64_t offset, std::byte* bytes, std::size_t count) const;
  /// Returns the index in `bytes` of the first wrong byte; nullopt if all bytes are correct.
  std::optional<std::size_t> FindWrongByte(
      std::uint64_t offset, const std::byte* bytes, std::size_t count) const;
  /// Returns the offset in the pattern of the aligned group of 8 bytes at `bytes`; an arbitrary number if the
  /// bytes are not from this pattern.
  std::uint64_t OffsetOf(const std::byte* bytes) const;

private:
  std::uint64_t Word(std::uint64_t index) const { return (index ^ this->Seed) * Factor; }
  std::byte Byte(std::uint64_t offset) const;

  static constexpr std::uint64_t Factor = 0x9e3779b97f4a7c15u;
  std::uint64_t Seed;
};

// ---- checks of written files and of read blocks
// --------------------------------------------------------------------------------------------------

/// A range of bytes of a file.
struct FileRange
{
  std::uint64_t Offset, Bytes;
};

/// Returns whether the ranges, which may have any order, cover the bytes from offset 0 on without gaps or
/// overlaps; true for an empty list.
bool AreContiguousFromZero(std::vector<FileRange> ranges);

/// The blocks that ranks write through a shared pointer: the k-th block of rank r has the bytes at offset r x
/// PartBytes + k x BlockBytes of the pattern.
struct PatternBlocks
{
  std::uint64_t PartBytes, BlockBytes, FileBytes;
};

/// Throws Error unless the `bytes` bytes at `offset` of the file are the bytes at `offset` of the pattern of
/// `seed`.
void CheckRange(const std::string& path, std::uint64_t seed, std::uint64_t offset, std::uint64_t bytes);

/// Throws Error unless the first `bytes` bytes of the file are blocks of the pattern of `seed` at the offsets
/// of `blocks`, each block at most once, in any order.
void CheckShuffledBlocks(
    const std::string& path, std::uint64_t seed, const PatternBlocks& blocks, std::uint64_t bytes);

}  // namespace patchio::probe

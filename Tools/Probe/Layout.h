// Which bytes of the file each rank sees, and in which order: the three views of the study.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

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

/// What one rank sees of a file.
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

}  // namespace patchio::probe

#include "Probe/Layout.h"

#include "Base/Error.h"

#include <algorithm>
#include <numeric>

namespace patchio::probe {

const char* NameOf(View view)
{
  switch (view) {
    case View::Own:
      return "own";
    case View::Whole:
      return "whole";
    case View::Interleaved:
      break;
  }
  return "interleaved";
}

View ViewNamed(const std::string& name)
{
  for (const View view : AllViews) {
    if (name == NameOf(view)) {
      return view;
    }
  }
  throw Error("Unknown view '" + name + "'. Use own, whole or interleaved.");
}

void Layout::ForRuns(
    std::uint64_t offset, std::uint64_t bytes, const std::function<void(const Run&)>& take) const
{
  if (this->Shape != View::Interleaved) {
    const std::uint64_t first = this->Shape == View::Own ? this->Rank * this->PartBytes() : 0;
    take({first + offset, 0, bytes});
    return;
  }
  for (std::uint64_t begin = 0; begin < bytes;) {
    const std::uint64_t piece = (offset + begin) / this->Piece;
    const std::uint64_t within = (offset + begin) % this->Piece;
    const std::uint64_t length = std::min(bytes - begin, this->Piece - within);
    take({(piece * this->Ranks + this->Rank) * this->Piece + within, begin, length});
    begin += length;
  }
}

std::uint64_t DivisibleSize(std::uint64_t wanted, int ranks, std::uint64_t piece)
{
  const std::uint64_t unit = std::lcm(piece, std::uint64_t{8}) * ranks;
  return wanted / unit * unit;
}

}  // namespace patchio::probe
